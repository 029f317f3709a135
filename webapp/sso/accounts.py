"""Who signs in: identity -> account. The rules of the contract, section 1, held safe as in the decisions.

known identity                        its account, whatever address the vendor now reports
new identity, vouched address         the account of that address is linked, else a new one is made
new identity, no or doubtful address  pending: the person must prove an address by a one-time code first
"""

import uuid
from dataclasses import dataclass, replace

from blinker import signal
from sqlalchemy import delete, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, joinedload

from webapp import audit
from webapp.errors import Outcome
from webapp.extensions import db
from webapp.models import User, utcnow
from webapp.sso.models import BrowserSession, Identity, Provider
from webapp.sso.profile import Profile, email_key

NAMES = ("given_name", "family_name", "preferred_username", "picture")
RACES = 4  # two first sign-ins of one person at the same moment: the loser finds the winner's rows on the next round

credentials_ended = signal("befund-credentials-ended")
"""Sent as (session, user=...) inside the writing transaction: whoever keeps tokens of that person must end them."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A sign-in that waits for a proven address. `profile.email` is the doubtful address, "" when there is none."""

    profile: Profile


def resolve(provider: Provider, profile: Profile, proven_email: str = "") -> User | Pending:
    """The account that signs in, stored with its identity, or Pending. `proven_email`: an address the person has just
    proven by a code. Raises Outcome when the account is switched off."""
    for _ in range(RACES):
        try:
            with db.write() as session:
                return _resolve_once(session, provider, profile, proven_email)
        except IntegrityError:
            continue
    raise Outcome("try_again", 503, reason="accounts changed at the same moment")


def end_sessions(session: Session, user: User, keep: str | None = None) -> None:
    """End all of a person's browser sessions but the one with row key `keep`, and their tokens."""
    session.execute(
        delete(BrowserSession).where(BrowserSession.user_id == user.id, BrowserSession.id_hash != (keep or ""))
    )


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


def _resolve_once(session: Session, provider: Provider, profile: Profile, proven_email: str) -> User | Pending:
    identity = _find(session, provider.id, profile.subject)
    if identity is not None:
        user = _signed_in(session, identity, profile)
    elif email := proven_email or _vouched(provider, profile):
        user = _link_or_create(session, provider, replace(profile, email=email))
    else:
        return Pending(profile)
    if not user.active:
        raise Outcome("account_inactive", 403, reason="account is switched off")
    audit.record(session, "signed_in", user=user, provider_id=provider.id)
    return user


def _find(session: Session, provider_id: str, subject: str) -> Identity | None:
    return session.scalars(
        select(Identity)
        .where(Identity.provider_id == provider_id, Identity.subject == subject)
        .options(joinedload(Identity.user))
    ).one_or_none()


def _vouched(provider: Provider, profile: Profile) -> str:
    return profile.email if provider.trust_email and profile.email_verified is not False else ""


def _signed_in(session: Session, identity: Identity, profile: Profile) -> User:
    """The names follow the vendor while it is the only one; with several they would flap between them."""
    identity.signed_in_at = utcnow()
    user = identity.user
    if any(new not in ("", getattr(user, field)) for field, new in _names(profile)):
        ways = session.scalar(select(func.count()).select_from(Identity).where(Identity.user_id == user.id))
        _take_over(user, profile, overwrite=ways == 1)
    return user


def _link_or_create(session: Session, provider: Provider, profile: Profile) -> User:
    user = session.scalars(select(User).where(User.email_key == email_key(profile.email))).one_or_none()
    if user is None:
        user = User(email=profile.email, email_key=email_key(profile.email), email_verified_at=utcnow())
        event = "created"
        session.add(user)
    else:
        event = "linked"
        if not user.active:
            raise Outcome("account_inactive", 403, reason="account is switched off")
        if user.email_verified_at is None:  # somebody may have made it for an address that was not theirs
            end_sessions(session, user)
            credentials_ended.send(session, user=user)
            user.email_verified_at = utcnow()
    _take_over(user, profile, overwrite=event == "created")
    session.flush()
    session.add(Identity(provider_id=provider.id, subject=profile.subject, user_id=user.id))
    audit.record(session, event, user=user, provider_id=provider.id)
    session.flush()
    return user


def _take_over(user: User, profile: Profile, overwrite: bool) -> None:
    for field, new in _names(profile):
        if new and (overwrite or not getattr(user, field)):
            setattr(user, field, new)


def _names(profile: Profile) -> list[tuple[str, str]]:
    return [(field, getattr(profile, field)) for field in NAMES]
