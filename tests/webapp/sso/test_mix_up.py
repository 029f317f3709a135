"""Mix-up (RFC 9700, 4.4): an answer of one vendor never reaches the token endpoint of another."""

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import select

from tests.webapp.conftest import ONE_DATABASE, command
from tests.webapp.sso.conftest import CALLBACK, LOGIN, callback_of, come_back, leave, person
from webapp.models import AuditEvent, User
from webapp.sso.models import Provider

HONEST, HOSTILE = "https://honest.example", "https://hostile.example"

pytestmark = ONE_DATABASE


def token_calls(vendor):
    """Paths of the token endpoints that were called."""
    return [path for path, _, _ in vendor.requests if path.endswith("/token")]


def forwarded(client, vendor, app, at):
    """The attack: the victim starts at the hostile vendor, which forwards to the honest one with the challenge of an
    attempt of the attacker's. The answer the honest vendor then gives for the victim, with the victim's own state."""
    attacker = app.test_client()
    victims = parse_qs(urlsplit(leave(client, "hostile")).query)
    answer = vendor.grant(leave(attacker, at), person(1, email="victim@example.org"))
    return {"code": answer["code"], "state": victims["state"][0]}


@pytest.mark.parametrize(
    ("honest", "hostile"),
    [
        ({"issuer": HONEST}, {"own_callback": True}),
        ({"issuer": HONEST}, {"issuer": HOSTILE}),
        ({"own_callback": True}, {"own_callback": True}),
        ({"own_callback": True}, {"issuer": HOSTILE}),
        ({"issuer": HONEST, "own_callback": True}, {"issuer": HOSTILE}),
        ({}, {"issuer": HOSTILE}),
        ({}, {"own_callback": True}),
    ],
)
@pytest.mark.parametrize("sends_iss", [True, False])
def test_an_honest_code_is_never_posted_to_a_hostile_vendor(
    app, client, db, add_provider, vendor, honest, hostile, sends_iss
):
    add_provider("honest", **{"own_callback": False, **honest})
    add_provider("hostile", mode="hostile", **{"own_callback": False, **hostile})
    stolen = forwarded(client, vendor, app, "honest")
    where = callback_of(leave(app.test_client(), "honest"))
    issuer = {"iss": HONEST} if sends_iss else {}
    answer = client.get(where, query_string={**stolen, **issuer})
    assert answer.status_code == 400
    assert "Antwort eines anderen Anbieters" in answer.get_data(as_text=True)
    assert token_calls(vendor) == []
    assert db.session.scalars(select(User)).all() == []


def test_an_issuer_of_another_row_is_refused_even_where_nothing_else_is_configured(
    app, client, db, add_provider, vendor
):
    """The finding as it was: rows of an older version, the hostile one without issuer, both at the shared callback."""
    add_provider("honest", issuer=HONEST)
    add_provider("hostile", mode="hostile")
    with db.write() as session:
        session.get(Provider, "hostile").own_callback = False
    stolen = forwarded(client, vendor, app, "honest")
    assert client.get(CALLBACK, query_string={**stolen, "iss": HONEST}).status_code == 400
    assert token_calls(vendor) == []
    events = db.session.scalars(select(AuditEvent).where(AuditEvent.event == "refused")).all()
    assert [event.detail for event in events] == ["wrong_issuer: iss missing, doubled or of another vendor"]


ISSUERS: dict[str, tuple[Callable[[str], str], int]] = {
    "right": (lambda iss: f"&iss={iss}", 302),
    "missing": (lambda iss: "", 400),
    "empty": (lambda iss: "&iss=", 400),
    "doubled": (lambda iss: f"&iss={iss}&iss={iss}", 400),
    "doubled, right first": (lambda iss: f"&iss={iss}&iss=https://hostile.example", 400),
    "doubled, right last": (lambda iss: f"&iss=https://hostile.example&iss={iss}", 400),
    "other": (lambda iss: "&iss=https://hostile.example", 400),
    "slash": (lambda iss: f"&iss={iss}/", 400),
    "capitals": (lambda iss: f"&iss={iss.upper()}", 400),
    "port": (lambda iss: f"&iss={iss}:443", 400),
    "space": (lambda iss: f"&iss=%20{iss}", 400),
    "nul": (lambda iss: f"&iss={iss}%00", 400),
    "http": (lambda iss: f"&iss={iss.replace('https', 'http')}", 400),
    "other name": (lambda iss: f"&ISS={iss}&issuer={iss}", 400),
    "fullwidth": (lambda iss: f"&iss={iss.replace('h', '%EF%BD%88', 1)}", 400),
    "userinfo": (lambda iss: f"&iss={iss.replace('//', '//x@')}", 400),
    "list": (lambda iss: f"&iss[]={iss}", 400),
}


@pytest.mark.parametrize("form", ISSUERS)
def test_a_row_with_an_issuer_wants_exactly_that_one_once(client, db, add_provider, vendor, form):
    add_provider(issuer=HONEST)
    query, status = ISSUERS[form]
    answer = vendor.grant(leave(client), person())
    back = client.get(f"{CALLBACK}?code={answer['code']}&state={answer['state']}{query(HONEST)}")
    assert back.status_code == status
    assert len(token_calls(vendor)) == (status == 302)
    assert len(db.session.scalars(select(User)).all()) == (status == 302)


@pytest.mark.parametrize("form", ["missing", "doubled", "other"])
def test_an_error_of_another_vendor_is_not_shown_as_this_ones(client, add_provider, vendor, form):
    add_provider(issuer=HONEST)
    state = vendor.grant(leave(client), person())["state"]
    back = client.get(f"{CALLBACK}?error=access_denied&state={state}{ISSUERS[form][0](HONEST)}")
    assert back.status_code == 400
    assert "access_denied" not in back.get_data(as_text=True)


def test_a_callback_of_its_own_is_offered_beside_the_contracts(client, db, add_provider, vendor):
    add_provider("acme")
    add_provider("globex")
    assert callback_of(leave(client, "acme")) == CALLBACK
    location = leave(client, "globex")
    assert callback_of(location) == f"{CALLBACK}globex/"
    assert come_back(client, vendor, location, person(2)).headers["Location"] == "/accounts/"
    _, form, _ = next(seen for seen in vendor.requests if seen[0].endswith("/token"))
    assert form["redirect_uri"] == f"http://localhost{CALLBACK}globex/"


@pytest.mark.parametrize("at", ["", "acme/", "nobody/", "GLOBEX/", "globex%00/", "%67lobex./"])
def test_an_answer_at_another_callback_is_refused(client, db, add_provider, vendor, at):
    add_provider("acme")
    add_provider("globex")
    answer = vendor.grant(leave(client, "globex"), person())
    assert client.get(f"{CALLBACK}{at}", query_string=answer).status_code in (400, 404)
    assert token_calls(vendor) == []
    assert db.session.scalars(select(User)).all() == []


def test_the_shared_callbacks_answer_is_refused_at_an_own_one(client, add_provider, vendor):
    add_provider("acme")
    answer = vendor.grant(leave(client, "acme"), person())
    assert client.get(f"{CALLBACK}acme/", query_string=answer).status_code == 400


def test_two_vendors_that_nothing_tells_apart_are_refused_and_the_operator_is_told(app, client, db, add_provider):
    add_provider("acme")
    given = [f"--{name}-url=https://sso.example/{name}" for name in ("authorization", "token", "userinfo")]
    add = ["providers", "add", "globex", "--name=G", "--client-id=c", "--client-secret=secret-of-globex", *given]
    refused = command(app, *add, fails=True)
    assert "issuer" in refused
    assert "RFC 9700" in refused
    stored = command(app, *add, "--own-callback")
    assert f"{CALLBACK}globex/" in stored
    assert "warning: acme has neither issuer nor own callback" in stored
    with db.write() as session:  # as an older version may have left them
        session.get(Provider, "globex").own_callback = False
    for provider_id in ("acme", "globex"):
        refused_page = client.get(LOGIN, query_string={"provider_id": provider_id})
        assert refused_page.status_code == 503
        assert "eigene Callback-URL" in refused_page.get_data(as_text=True)
    command(app, "providers", "deactivate", "globex")
    assert client.get(LOGIN, query_string={"provider_id": "acme"}).status_code == 302
    assert "RFC 9700" in command(app, "providers", "activate", "globex", fails=True)
