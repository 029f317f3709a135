"""People: the Flask web application (vendor sign-in, FHIR document retrieval, workbench)."""

import sys
from collections.abc import Callable, Mapping
from typing import Any

from clinical.loaded import loading

with loading(keep=True):  # to look for garbage between a thousand modules took a fifth of a second of each start
    import click
    import orjson
    from flask import Flask, abort, g, request
    from flask.json.provider import DefaultJSONProvider
    from flask_babel import format_datetime, get_locale
    from sqlalchemy.orm import Session
    from werkzeug.middleware.proxy_fix import ProxyFix

    from clinical.errors import SettingError
    from webapp import audit, cli, errors, extensions, headers, logs, pages
    from webapp.config import Settings, load_settings, trusted_hosts
    from webapp.demo import cli as demo
    from webapp.extracting import pages as extracting
    from webapp.fhir import plugin as fhir
    from webapp.fhir.tokens import revoke
    from webapp.models import User
    from webapp.pages.error_words import error_words
    from webapp.sessions import DatabaseSessions
    from webapp.sso import plugin as sso
    from webapp.sso.accounts import credentials_ended
    from webapp.urls import UnderPrefix, prefix_of
    from webapp.watching import Probes, Watched, need, need_room
    from webapp.workbench import plugin as workbench

LANGUAGES = ("de", "en")
LARGEST_BODY = 1024 * 1024  # a form; views that take files set request.max_content_length themselves


def create_app(overrides: Mapping[str, Any] | None = None) -> Flask:
    """The application. `overrides` are field names of `clinical.settings.Settings`, on top of the environment.

    Raises SettingError when a setting is missing, malformed or unsafe in production.
    """
    under_flask = click.get_current_context(silent=True) is not None
    try:
        if under_flask and "--help" in sys.argv:
            return _made(Settings.read(**(overrides or {})))  # without a secret, `cli.NeedsSecret` runs no command
        return _made(load_settings(overrides))
    except SettingError as error:
        if not under_flask:
            raise
        # Under `flask --app webapp ...`: Flask would print every error of a factory as a traceback.
        click.echo(f"befund: {error}", err=True)
        raise SystemExit(1) from None


def _made(settings: Settings) -> Flask:
    app = Webapp(__name__)
    app.json = Json(app)
    app.config.update(
        BEFUND=settings,
        SECRET_KEY=settings.secret,
        TRUSTED_HOSTS=trusted_hosts(settings),
        MAX_CONTENT_LENGTH=LARGEST_BODY,
        RATELIMIT_STORAGE_URI=settings.limits_url.replace("memory://", f"{extensions.SCHEME}://"),
        RATELIMIT_STORAGE_OPTIONS=extensions.patience(settings.limits_url),
        WTF_CSRF_TIME_LIMIT=None,  # as long as the session
        WTF_CSRF_SSL_STRICT=False,  # it compares the Referer, which our own Referrer-Policy withholds
        BABEL_DEFAULT_LOCALE="de",
        BABEL_DEFAULT_TIMEZONE="Europe/Berlin",
    )
    app.session_interface = DatabaseSessions()
    app.before_request(_refuse_what_cannot_be)
    _wrap(app, settings)
    _init_extensions(app)
    for part in (logs, errors, headers, sso, pages, fhir, workbench, extracting, cli, demo):
        part.init_app(app)
    need(app, "database", extensions.db.well)
    need(app, "limits", extensions.limiter.storage.check)
    need_room(app, settings)
    return app


@credentials_ended.connect
def _end_tokens(session: Session, user: User) -> None:
    """Revoke a person's access tokens when sign-in ends their sessions."""
    if number := revoke(session, user.id):
        audit.record(session, "tokens_revoked", user=user, detail=f"{number} at once")


def _wrap(app: Flask, settings: Settings) -> None:
    """Put the middleware around the application: headers of the proxy in front, the prefix, counts, ids, probes."""
    if prefix := prefix_of(settings):
        app.wsgi_app = UnderPrefix(app.wsgi_app, prefix)  # type: ignore[method-assign]
    if count := settings.trusted_proxies:
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=count, x_proto=count, x_host=count, x_prefix=count)  # type: ignore[method-assign]
    app.wsgi_app = Probes(Watched(app.wsgi_app), app, settings)  # type: ignore[method-assign]


def _init_extensions(app: Flask) -> None:
    extensions.db.init_app(app)
    extensions.babel.init_app(app, locale_selector=_language)
    app.jinja_env.globals.update(get_locale=get_locale, error_words=error_words)
    app.jinja_env.filters["datetimeformat"] = format_datetime
    extensions.csrf.init_app(app)
    extensions.limiter.init_app(app)
    pages.init_login(app)


class Webapp(Flask):
    """Flask without the look, at each hook of each request, whether it is a coroutine: none here is."""

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """The same."""
        return func


class Json(DefaultJSONProvider):
    """Reads as strictly as the FHIR routes do: no depths that end in an error of the interpreter, no NaN."""

    def loads(self, s: str | bytes, **_: Any) -> Any:
        """The value. Raises ValueError."""
        return orjson.loads(s)


def _refuse_what_cannot_be() -> None:
    """No path of ours holds U+0000, and PostgreSQL takes none as a value to look for. Who has a session that could not
    be read is not somebody without one."""
    if "\0" in request.path:
        abort(404)
    if lost := g.pop("session_lost", None):
        raise lost


def _language() -> str:
    return request.accept_languages.best_match(LANGUAGES) or LANGUAGES[0]
