"""The application on SQLite and on PostgreSQL, from the same migrations; `login` goes through the real session."""

import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import create_engine, text
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from tests.webapp import postgres
from webapp import create_app
from webapp.cli import upgrade_schema
from webapp.extensions import db as database
from webapp.extensions import limiter
from webapp.models import Base, BrowserSession, Membership, Organization, Role, User, utcnow
from webapp.sessions import SESSION_COOKIE, digest

DATABASES = ("sqlite", "postgresql")
ONE_DATABASE = pytest.mark.parametrize("database_url", DATABASES[:1], indirect=True)
"""For tests of what is decided before or beside the database: on the other kind they could only say the same."""
MADE: list[Flask] = []
"""Applications of the test that runs."""
SHARED: dict[tuple[str, str], Flask] = {}
"""Applications by the kind of their database and their settings, for all tests that ask for the same ones."""
SHARED_AT_MOST = 8
SECRET = "only-for-tests-and-nothing-else-4711-Xyz"


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """URL of a migrated, empty PostgreSQL database, one for the whole run."""
    if postgres.missing():
        pytest.skip(postgres.missing())
    with postgres.running_postgres() as server:
        engine = create_engine(f"{server}/postgres".replace("://", "+psycopg://"), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text("CREATE DATABASE befund"))
        engine.dispose()
        url = f"{server}/befund"
        _migrate(url)
        yield url


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated, empty SQLite file to copy."""
    path = tmp_path_factory.mktemp("sqlite") / "template.sqlite3"
    _migrate(f"sqlite:///{path}")
    return path


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[Any]:
    """The webapp under gunicorn with a real vendor, for the browser tests (`tests.webapp.browser.Stage`)."""
    from tests.webapp.browser import staged  # it needs `make_app`

    with staged(tmp_path_factory.mktemp("stage"), sqlite_template) as stage:
        yield stage


@pytest.fixture(autouse=True)
def ended() -> Iterator[None]:
    """Every application that a test has made gives its connections back, and those to an SQLite file of the test."""
    yield
    for app in (*MADE, *(app for (kind, _), app in SHARED.items() if kind == "sqlite")):
        _release(app)
    MADE.clear()


@pytest.fixture
def sqlite_url(tmp_path: Path, sqlite_template: Path) -> str:
    """URL of a migrated, empty SQLite file of the test's own."""
    path = tmp_path / "webapp.sqlite3"
    shutil.copy(sqlite_template, path)
    return f"sqlite:///{path}"


@pytest.fixture(params=DATABASES)
def database_url(request: pytest.FixtureRequest) -> str:
    """URL of a migrated, empty database; tests that ask for it (or for `app`) run once per kind of database."""
    if request.param == "postgresql":
        url: str = request.getfixturevalue("postgres_url")
        _empty(url)
        return url
    return str(request.getfixturevalue("sqlite_url"))


@pytest.fixture
def app_settings() -> dict[str, Any]:
    """Settings on top of the defaults; a test module overrides this fixture to change them."""
    return {}


@pytest.fixture(scope="session")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A link to the folder of the test that runs."""
    return tmp_path_factory.mktemp("shared") / "here"


@pytest.fixture
def app(database_url: str, tmp_path: Path, app_settings: dict[str, Any], here: Path) -> Flask:
    """The application in development mode, with everything it writes under the test's own folder. Making one takes
    longer than most tests, so those with the same settings share one, whose folder is a link to theirs."""
    kind, _, file = database_url.partition(":///")
    if "limits_url" in app_settings or (kind == "sqlite" and Path(file).parent != tmp_path):
        return make_app(database_url, tmp_path, **app_settings)
    here.unlink(missing_ok=True)  # the settings follow a link that is there when they are read
    wanted = kind, repr(sorted(app_settings.items()))
    if wanted not in SHARED:
        if len(SHARED) >= SHARED_AT_MOST:
            _end_shared()
        url = f"sqlite:///{here}/{Path(file).name}" if kind == "sqlite" else database_url
        SHARED[wanted] = _made(url, here, **app_settings)
    here.symlink_to(tmp_path)
    limiter.reset()
    return SHARED[wanted]


class Outside:
    """The application's database seen from outside: no application context stays open, which requests of the test
    client would share (with it `flask.g`, hence the signed-in person of the request before)."""

    def __init__(self, app: Flask) -> None:
        self.app = app
        self._session = Session(app.extensions["befund_engine"])

    @property
    def session(self) -> Session:
        """For reading: every access sees what is committed now."""
        self._session.rollback()
        return self._session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A writing transaction, as in the application."""
        self._session.rollback()
        with self.app.app_context(), database.write() as session:
            yield session

    def close(self) -> None:
        """Give the connection back."""
        self._session.close()


@pytest.fixture
def db(app: Flask) -> Iterator[Outside]:
    """The database, for looking and for preparing."""
    outside = Outside(app)
    yield outside
    outside.close()


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    """A browser without cookies."""
    return app.test_client()


def make_app(database_url: str, folder: Path, **settings: Any) -> Flask:
    """An application of the test's own; `settings` are fields of `clinical.settings.Settings`. The extensions are its
    from then on, so that the shared ones are made anew for the tests behind it."""
    _end_shared()
    app = _made(database_url, folder, **settings)
    MADE.append(app)
    return app


def _made(database_url: str, folder: Path, **settings: Any) -> Flask:
    given = {"env": "development", "secret_key": SECRET, "database_url": database_url, "var": str(folder), **settings}
    if given["env"] == "production":
        given.setdefault("public_url", "https://befund.example")
    app = create_app(given)
    app.config["TESTING"] = False  # errors become pages here as in production
    return app


def add_user(app: Flask, email: str = "erika@example.org", **values: Any) -> User:
    """A stored person with a verified address."""
    user = User(
        **{"email": email, "email_key": email.lower(), "email_verified_at": utcnow(), "given_name": "Erika",
           "family_name": "Mustermann", **values}
    )  # fmt: skip
    with app.app_context(), database.write() as session:
        session.add(user)
    return user


def add_organization(app: Flask, name: str = "Praxis am Beispielplatz", **members: User) -> Organization:
    """A stored organization; keyword `member=user` or `operator=user` adds people."""
    organization = Organization(name=name)
    with app.app_context(), database.write() as session:
        session.add(organization)
        session.flush()
        for role, user in members.items():
            session.add(Membership(user_id=user.id, organization_id=organization.id, role=Role(role)))
    return organization


def login(client: FlaskClient, user: User) -> None:
    """Sign `user` in: a session row as the server writes it, and its cookie."""
    client.set_cookie(SESSION_COOKIE, new_session(client.application, user.id))


def new_session(app: Flask, user: uuid.UUID) -> str:
    """The value of the cookie of a new session of that person."""
    value = uuid.uuid4().hex
    data = f'{{"_user_id": "{user}", "_fresh": true}}'
    with app.app_context(), database.write() as session:
        session.add(BrowserSession(id_hash=digest(value), user_id=user, data=data))
    return value


@pytest.fixture
def operator(app: Flask, client: FlaskClient) -> FlaskClient:
    """The browser of an operator."""
    user = add_user(app, "betrieb@example.org", given_name="Ottilie", family_name="Operator")
    add_organization(app, "Betrieb", operator=user)
    login(client, user)
    return client


def command(app: Flask, *arguments: object, fails: bool = False) -> str:
    """The words of a command, as `flask --app webapp` runs it, which ends well unless it `fails`, with words too."""
    done = app.test_cli_runner().invoke(args=[str(one) for one in arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert (done.exit_code != 0) == fails, done.output
    return done.output


def submit(client: FlaskClient, page: str, to: str = "", **fields: Any) -> TestResponse:
    """Open `page`, take its CSRF token, post `fields` to `to` (default: the page itself)."""
    html = client.get(page).get_data(as_text=True)
    token = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', html)
    assert token, f"{page} has no form"
    return client.post(to or page, data={"csrf_token": token[1], **fields})


def _end_shared() -> None:
    while SHARED:
        _release(SHARED.popitem()[1])


def _release(app: Flask) -> None:
    app.extensions["befund_engine"].dispose()
    app.extensions["befund_fhir"].origins._reader.close()


def _migrate(url: str) -> None:
    app = make_app(url, Path(url.removeprefix("sqlite:///")).parent if url.startswith("sqlite") else Path("var"))
    with app.app_context():
        upgrade_schema()
    _release(app)


def _empty(url: str) -> None:
    """Delete what the test before left: for so few rows far faster than TRUNCATE, which makes new files."""
    tables = reversed(Base.metadata.sorted_tables)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("; ".join(f"DELETE FROM {table.name}" for table in tables))
