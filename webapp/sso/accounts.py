"""Resolves a vendor's identity to an account, by the contract, section 1, hardened as in the decisions.

known identity                        its account, whatever address the vendor now reports
new identity, vouched address         the account of that address is linked, else a new one is made
the same, and an operator's account   pending: the vendor's word alone never opens an account with that power
new identity, no or doubtful address  pending: the person must prove an address by a one-time code first

Whoever's account a vendor was linked to is told so by mail.
"""

import uuid
from dataclasses import replace
from typing import cast

from blinker import signal
from sqlalchemy import Table, bindparam, delete, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, joinedload, make_transient_to_detached

from webapp import audit
from webapp.errors import ErrorPage
from webapp.extensions import db
from webapp.models import BrowserSession, User, email_key, utcnow
from webapp.sso.mail import tell_linked
from webapp.sso.models import Identity, Provider
from webapp.sso.profile import Profile

NAMES = ("given_name", "family_name", "preferred_username", "picture")
IDENTITIES, PEOPLE = cast(Table, Identity.__table__), cast(Table, User.__table__)
KNOWN = (
    select(PEOPLE, IDENTITIES.c.id.label("identity"))
    .join(IDENTITIES, IDENTITIES.c.user_id == PEOPLE.c.id)
    .where(IDENTITIES.c.provider_id == bindparam("provider"), IDENTITIES.c.subject == bindparam("subject"))
)
SEEN = update(IDENTITIES).where(IDENTITIES.c.id == bindparam("identity")).values(signed_in_at=bindparam("now"))
RACES = 4  # two first sign-ins of one person at the same moment: the loser finds the winner's rows on the next round

credentials_ended = signal("befund-credentials-ended")
"""Sent as (session, user=...) inside the writing transaction: whoever keeps tokens of that person must end them."""


def resolve(provider: Provider, profile: Profile, proven_email: str = "") -> User | None:
    """The account that signs in, stored with its identity; None where the person has to prove an address first.
    `proven_email`: one that was just proven by a code. Raises ErrorPage when the account is switched off."""
    known = _known(provider, profile)
    if known is not None:
        return known
    for _ in range(RACES):
        try:
            with db.write() as session:
                found, linked = _resolve_once(session, provider, profile, proven_email)
        except IntegrityError:
            continue
        if linked and found is not None:
            tell_linked(found, provider)
        return found
    raise ErrorPage("try_again", 503, reason="accounts changed at the same moment")


def _known(provider: Provider, profile: Profile) -> User | None:
    """The account of an identity that is there, active, and needs no change but the time: nearly every sign-in, and by
    statements alone, which take a third of the time. The account is for reading and belongs to no session."""
    with db.write_rows() as rows:
        found = rows.execute(KNOWN, {"provider": provider.id, "subject": profile.subject}).one_or_none()
        if found is None or not found.active:
            return None
        values = dict(found._mapping)
        identity = values.pop("identity")
        if any(new not in ("", values[name]) for name, new in _names(profile)):
            return None
        user = User(**values)
        rows.execute(SEEN, {"identity": identity, "now": utcnow()})
        audit.record(rows, "signed_in", user=user, provider_id=provider.id)
    make_transient_to_detached(user)
    return user


def end_sessions(session: Session, user: User) -> None:
    """End all of a person's browser sessions."""
    session.execute(delete(BrowserSession).where(BrowserSession.user_id == user.id))


def unlink(session: Session, user: User, identity_id: uuid.UUID) -> bool:
    """Remove one of the person's identities while another way to sign in remains; whether it was removed."""
    session.get(User, user.id, with_for_update=True)  # two unlinks at once must not remove both ways
    ways = session.scalars(select(Identity).where(Identity.user_id == user.id)).all()
    chosen = next((identity for identity in ways if identity.id == identity_id), None)
    if chosen is None or len(ways) < 2:
        return False
    session.delete(chosen)
    audit.record(session, "unlinked", user=user, provider_id=chosen.provider_id)
    return True


def _resolve_once(
    session: Session, provider: Provider, profile: Profile, proven_email: str
) -> tuple[User | None, bool]:
    """The account that signs in, if any, and True when the vendor was linked to an existing account."""
    linked = False
    identity = _find(session, provider.id, profile.subject)
    if identity is not None:
        user = _signed_in(session, identity, profile)
    elif email := proven_email or _vouched(session, provider, profile):
        user, linked = _link_or_create(session, provider, replace(profile, email=email))
    else:
        return None, False
    if not user.active:
        raise ErrorPage("account_inactive", 403, reason="account is switched off")
    audit.record(session, "signed_in", user=user, provider_id=provider.id)
    return user, linked


def _find(session: Session, provider_id: str, subject: str) -> Identity | None:
    return session.scalars(
        select(Identity)
        .where(Identity.provider_id == provider_id, Identity.subject == subject)
        .options(joinedload(Identity.user))
    ).one_or_none()


def _vouched(session: Session, provider: Provider, profile: Profile) -> str:
    """The vendor's address where its word is enough: not for an operator's account, whatever the vendor says."""
    if not provider.trust_email or profile.email_verified is False or not profile.email:
        return ""
    owner = User.of(session, profile.email)
    return "" if owner is not None and owner.is_operator else profile.email


def _signed_in(session: Session, identity: Identity, profile: Profile) -> User:
    """The names follow the vendor while it is the only one; with several they would flap between them."""
    identity.signed_in_at = utcnow()
    user = identity.user
    if any(new not in ("", getattr(user, field)) for field, new in _names(profile)):
        ways = session.scalar(select(func.count()).select_from(Identity).where(Identity.user_id == user.id))
        _take_over(user, profile, overwrite=ways == 1)
    return user


def _link_or_create(session: Session, provider: Provider, profile: Profile) -> tuple[User, bool]:
    user = User.of(session, profile.email)
    if user is None:
        user = User(email=profile.email, email_key=email_key(profile.email), email_verified_at=utcnow())
        event = "created"
        session.add(user)
    else:
        event = "linked"
        if not user.active:
            raise ErrorPage("account_inactive", 403, reason="account is switched off")
        if user.email_verified_at is None:  # somebody may have made it for an address that was not theirs
            end_sessions(session, user)
            credentials_ended.send(session, user=user)
            user.email_verified_at = utcnow()
    _take_over(user, profile, overwrite=event == "created")
    session.flush()
    session.add(Identity(provider_id=provider.id, subject=profile.subject, user_id=user.id))
    audit.record(session, event, user=user, provider_id=provider.id)
    session.flush()
    return user, event == "linked"


def _take_over(user: User, profile: Profile, overwrite: bool) -> None:
    for field, new in _names(profile):
        if new and (overwrite or not getattr(user, field)):
            setattr(user, field, new)


def _names(profile: Profile) -> list[tuple[str, str]]:
    return [(field, getattr(profile, field)) for field in NAMES]
