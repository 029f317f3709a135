"""Mail over TLS, to a real mail server (aiosmtpd) with a certificate made for the test."""

import ssl
from collections.abc import Callable
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

from tests.certificates import certificate as made
from tests.serving import free_port
from tests.webapp.conftest import make_app
from webapp.sso import mail

USER, PASSWORD = "befund@example.org", "p:w/ä@1"
IN_URL = "befund%40example.org:p%3Aw%2F%C3%A4%401"


class Server:
    """Mail that reached the server: recipients, whether over TLS, and every user and password that was tried."""

    def __init__(self):
        self.mails: list[tuple[list[str], bool]] = []
        self.tried: list[tuple[bytes, bytes]] = []

    async def handle_DATA(self, server, session, envelope):  # noqa: N802 - aiosmtpd calls it so
        secured = server.transport.get_extra_info("ssl_object") is not None
        self.mails.append((envelope.rcpt_tos, secured))
        return "250 OK"

    def check(self, _server, _session, _envelope, _mechanism, given):
        self.tried.append((given.login, given.password))
        right = [(USER.encode(), PASSWORD.encode()), (USER.encode(), b"plain")]
        return AuthResult(success=(given.login, given.password) in right, handled=False)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A self-signed certificate for 127.0.0.1 and its key, in one PEM file."""
    return made(tmp_path_factory.mktemp("tls"), "127.0.0.1")


Start = Callable[..., tuple[Server, int]]


@pytest.fixture
def start(certificate):
    """Start a mail server: `tls` is "starttls", "smtps" or "". Logging in is possible, without TLS too."""
    running: list[Controller] = []

    def start(tls):
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate)
        server, port = Server(), free_port()
        options: dict[str, Any] = {"authenticator": server.check, "auth_require_tls": False}
        options |= {
            "starttls": {"tls_context": context, "require_starttls": True},
            "smtps": {"ssl_context": context},
        }.get(tls, {})
        running.append(Controller(server, hostname="127.0.0.1", port=port, **options))
        running[-1].start()
        return server, port

    yield start
    for controller in running:
        controller.stop()


@pytest.fixture
def trusted(monkeypatch, certificate):
    """The certificate is among those that this machine trusts."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))


def send(folder, url):
    app = make_app(f"sqlite:///{folder}/unused.sqlite3", folder, mail_url=url)
    with app.app_context():
        mail.send("erika@example.org", "Ihr Code", "Der Code ist 123456.")


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize(("tls", "scheme"), [("starttls", "smtp"), ("smtps", "smtps")])
@pytest.mark.parametrize(("in_url", "password"), [(IN_URL, PASSWORD), (f"{IN_URL.partition(':')[0]}:plain", "plain")])
def test_mail_and_password_go_over_tls(start, tmp_path, tls, scheme, in_url, password):
    server, port = start(tls)
    send(tmp_path, f"{scheme}://{in_url}@127.0.0.1:{port}")
    assert server.mails == [(["erika@example.org"], True)]
    assert server.tried == [(USER.encode(), password.encode())]


@pytest.mark.usefixtures("trusted")
def test_tls_is_used_where_it_is_offered_also_without_a_password(start, tmp_path):
    server, port = start("starttls")
    send(tmp_path, f"smtp://127.0.0.1:{port}")
    assert server.mails == [(["erika@example.org"], True)]


@pytest.mark.parametrize(("tls", "scheme"), [("starttls", "smtp"), ("smtps", "smtps")])
def test_a_server_with_a_certificate_nobody_vouches_for_gets_nothing(start, tmp_path, tls, scheme):
    server, port = start(tls)
    with pytest.raises(mail.MailFailed, match="SSLCertVerificationError"):
        send(tmp_path, f"{scheme}://{IN_URL}@127.0.0.1:{port}")
    assert (server.mails, server.tried) == ([], [])


@pytest.mark.usefixtures("trusted")
def test_a_certificate_for_another_name_is_refused(start, tmp_path):
    server, port = start("smtps")
    with pytest.raises(mail.MailFailed, match="SSLCertVerificationError"):
        send(tmp_path, f"smtps://{IN_URL}@localhost:{port}")
    assert server.tried == []


def test_a_password_is_never_said_in_the_clear(start, tmp_path):
    server, port = start("")
    with pytest.raises(mail.MailFailed, match="no STARTTLS"):
        send(tmp_path, f"smtp://{IN_URL}@127.0.0.1:{port}")
    assert (server.mails, server.tried) == ([], [])
    send(tmp_path, f"smtp://127.0.0.1:{port}")
    assert server.mails == [(["erika@example.org"], False)]


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("given", ["jemand:falsch", "jemand:f%C3%A4lsch"])
def test_a_wrong_password_is_a_failed_mail(start, tmp_path, given):
    server, port = start("starttls")
    with pytest.raises(mail.MailFailed, match="SMTPAuthenticationError"):
        send(tmp_path, f"smtp://{given}@127.0.0.1:{port}")
    assert server.mails == []
