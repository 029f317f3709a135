"""Provider rows: validates and stores them. Used by the operator's page and the command line alike."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, cast

from sqlalchemy import Table, bindparam, func, select
from sqlalchemy.orm import Session

from clinical.errors import SettingError
from webapp import audit
from webapp.extensions import db
from webapp.models import NAME_LENGTH, User
from webapp.sso.models import Provider, TokenAuthMethod
from webapp.sso.sealing import seal, unseal
from webapp.wire import url_problem

PROVIDER_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*")  # RFC 6749, 3.3
DEFAULT_SCOPES = "openid email profile"
URL_FIELDS = ("authorization_url", "token_url", "userinfo_url")
LIMITS = {"name": NAME_LENGTH, "client_id": 500, "scopes": 1000, "issuer": 2000, **dict.fromkeys(URL_FIELDS, 2000)}

PROVIDERS = cast(Table, Provider.__table__)
FINDING = select(PROVIDERS).where(PROVIDERS.c.id == bindparam("id"))
UNDEFENDED = select(func.count()).where(Provider.active, Provider.issuer == "", Provider.own_callback.is_(False))

BAD_ID = "letters, digits, dot, dash and underscore, 64 at most"
BAD_LINE = "one line of text is needed"
BAD_SCOPES = "words separated by single spaces"
BAD_METHOD = "post or basic"
BAD_SECRET = "a client secret is needed"  # noqa: S105 - words, not a secret
TOO_LONG = "this is too long"
MIX_UP = "with a second vendor, each needs its issuer or a callback of its own (RFC 9700, 4.4)"
MOVED = "the token URL changed: enter the client secret again, it must not go to a host it was not given for"


@dataclass(frozen=True, slots=True)
class ProviderFields:
    """Everything an operator agrees with a vendor. `client_secret` "" at an edit keeps the stored one."""

    id: str
    name: str
    authorization_url: str
    token_url: str
    userinfo_url: str
    client_id: str
    client_secret: str = ""
    scopes: str = DEFAULT_SCOPES
    token_auth_method: str = "post"  # noqa: S105 - the name of a method
    issuer: str = ""
    pkce: bool = True
    trust_email: bool = True
    basic_percent_encode: bool = False
    own_callback: bool = False


def secrets_open() -> bool:
    """Return True when BEFUND_SECRET_KEY decrypts the secret of any active vendor, or none is active: if all failed,
    nobody could sign in. A single failure concerns only that vendor, and is reported when somebody signs in there."""
    sealed = list(db.session.scalars(select(Provider.client_secret_encrypted).where(Provider.active)))
    return not sealed or any(_opens(one) for one in sealed)


def _opens(sealed: str) -> bool:
    try:
        unseal(sealed)
    except SettingError:
        return False
    return True


def find_active(provider_id: str) -> Provider | None:
    """The active provider of this id; None for everything else, also for one whose URLs are not allowed here (plain
    HTTP of a development database in production)."""
    provider = find_allowed(provider_id)
    return provider if provider is not None and provider.active else None


def find_allowed(provider_id: str) -> Provider | None:
    """The provider of this id, active or not, when its URLs are allowed here: what a dry run may be tried with."""
    provider = find(provider_id)
    if provider is None or any(url_problem(getattr(provider, field)) for field in URL_FIELDS):
        return None
    return provider


def find(provider_id: str) -> Provider | None:
    """The provider of this id, active or not, for reading: no session knows it. None also for what could never be an
    id."""
    if not PROVIDER_ID.fullmatch(provider_id):
        return None
    with db.read_rows() as rows:
        row = rows.execute(FINDING, {"id": provider_id}).one_or_none()
    return None if row is None else Provider(**row._mapping)


def active_providers() -> list[Provider]:
    """For the login page, by name."""
    return list(db.session.scalars(select(Provider).where(Provider.active).order_by(Provider.name, Provider.id)))


def all_providers() -> list[Provider]:
    """For the operator, by id."""
    return list(db.session.scalars(select(Provider).order_by(Provider.id)))


def undefended(row: Provider | ProviderFields) -> bool:
    """Return True when this vendor's answers cannot be told from another's: no issuer, no callback of its own."""
    return not row.issuer and not row.own_callback


def exposed(rows: Iterable[Provider]) -> list[Provider]:
    """Active vendors that nothing protects from a mix-up with another active one (RFC 9700, 4.4)."""
    active = [row for row in rows if row.active]
    return [row for row in active if undefended(row)] if len(active) > 1 else []


def several_undefended() -> bool:
    """Return True when more than one active vendor is `undefended`: then none of them can be used."""
    with db.read_rows() as rows:
        return bool(rows.execute(UNDEFENDED).scalar_one() > 1)


def mixed_up(provider: Provider, issuers: list[str]) -> bool:
    """Return True when the `iss` values of a callback are not this vendor's (RFC 9207, 2.4; RFC 9700, 4.4.2)."""
    if provider.issuer:
        return issuers != [provider.issuer]
    if len(issuers) > 1:
        return True
    return bool(issuers) and any(row.issuer in issuers for row in all_providers() if row.id != provider.id)


def problems(given: ProviderFields, stored: Provider | None, others: Iterable[Provider] = ()) -> dict[str, str]:
    """Field name -> what is wrong with it, in English; empty when all is well. `stored` is the row that is changed."""
    checks = {
        "id": "" if PROVIDER_ID.fullmatch(given.id) else BAD_ID,
        "name": "" if _is_line(given.name) else BAD_LINE,
        "client_id": "" if _is_line(given.client_id) else BAD_LINE,
        "scopes": "" if SCOPE.fullmatch(given.scopes) else BAD_SCOPES,
        "token_auth_method": "" if given.token_auth_method in set(TokenAuthMethod) else BAD_METHOD,
        "client_secret": _secret_problem(given, stored),
        "issuer": MIX_UP if undefended(given) and any(row.active for row in others) else "",
        **{field: url_problem(getattr(given, field)) for field in URL_FIELDS},
    }
    too_long = {field: TOO_LONG for field, limit in LIMITS.items() if len(getattr(given, field)) > limit}
    return {field: problem for field, problem in (checks | too_long).items() if problem}


def _secret_problem(given: ProviderFields, stored: Provider | None) -> str:
    if given.client_secret:
        return ""
    if stored is None:
        return BAD_SECRET
    return MOVED if given.token_url != stored.token_url else ""


def store(session: Session, given: ProviderFields, *, by: User | None = None, active: bool = True) -> Provider:
    """Add or change a provider in a writing transaction; a new one is `active` or waits for its dry run. Raises
    SettingError naming every faulty field."""
    row = session.get(Provider, given.id)
    others = session.scalars(select(Provider).where(Provider.id != given.id)).all()
    faults = problems(given, row, () if row is not None and not row.active else others)
    if faults:
        said = "; ".join(f"{field}: {problem}" for field, problem in faults.items())
        raise SettingError(f"the provider cannot be stored: {said}")
    changed = _changes(row, given)
    event, detail = ("provider_changed", ", ".join(_public(changed))) if row else ("provider_added", "")
    if row is None:
        row = Provider(id=given.id, active=active)
        session.add(row)
    for field, value in changed.items():
        setattr(row, field, value)
    audit.record(session, event, user=by, provider_id=given.id, detail=detail)
    return row


def set_active(session: Session, provider_id: str, active: bool, *, by: User | None = None) -> bool:
    """Switch a provider on or off; whether there is one."""
    row = session.get(Provider, provider_id) if PROVIDER_ID.fullmatch(provider_id) else None
    if row is None:
        return False
    others = session.scalars(select(Provider).where(Provider.active, Provider.id != provider_id)).all()
    if active and not row.active and others and undefended(row):
        raise SettingError(f"{provider_id} cannot be switched on: {MIX_UP}")
    row.active = active
    event = "provider_activated" if active else "provider_deactivated"
    audit.record(session, event, user=by, provider_id=provider_id)
    return True


def _changes(row: Provider | None, given: ProviderFields) -> Mapping[str, Any]:
    values: dict[str, Any] = {field.name: getattr(given, field.name) for field in fields(given)}
    secret = values.pop("client_secret")
    values["token_auth_method"] = TokenAuthMethod(given.token_auth_method)
    changed = {name: value for name, value in values.items() if row is None or getattr(row, name) != value}
    if secret:
        changed["client_secret_encrypted"] = seal(secret)
    return changed


def _public(changed: Mapping[str, Any]) -> list[str]:
    """Names of changed fields only: their values have no place in the audit trail."""
    return sorted("client_secret" if name == "client_secret_encrypted" else name for name in changed)


def _is_line(text: str) -> bool:
    return bool(text.strip()) and text.isprintable()
