"""The contract's two endpoints, and a callback per vendor beside the shared one: a Flask-Dance blueprint for any number
of vendors, safe under threads and tabs.

Flask-Dance 7.1 keeps the OAuth session and the PKCE values on the blueprint, where threads share them, and its state in
the browser's session, where tabs overwrite each other. So this subclass has no OAuth session: what a sign-in says to
its vendor is made from the provider's row (`webapp.sso.vendor`), and what it has to remember is in
`webapp.sso.attempts`; no token is ever stored.
"""

from typing import Any
from urllib.parse import urlsplit

from flask import after_this_request, redirect, request, url_for
from flask_dance.consumer import OAuth2ConsumerBlueprint
from flask_dance.consumer.storage import NullStorage
from flask_login import current_user
from werkzeug.wrappers import Response

from webapp import audit
from webapp.errors import ErrorPage, is_outage
from webapp.extensions import db, limiter
from webapp.sso import accounts, attempts, dry_run, mail
from webapp.sso.attempts import Attempt
from webapp.sso.completion import ask_for_address, signed_in
from webapp.sso.models import Provider
from webapp.sso.profile import Profile, SubjectMissing, read_profile
from webapp.sso.providers import find_active, find_allowed, mixed_up, several_undefended, undefended
from webapp.sso.sealing import unseal
from webapp.sso.vendor import VendorCalls, error_code
from webapp.urls import external_url
from webapp.watching import SIGN_INS
from webapp.wire import deadline

PER_ADDRESS = "3000 per minute"  # a whole clinic comes from one address
REFUSED_PER_ADDRESS = "300 per minute"  # each is a row of the audit trail; people who err are slower
LONGEST_CODE = 8192
OWN_CALLBACK = "authorized_own"


def _is_refusal(response: Any) -> bool:
    """Return True for an error response that is no outage: the storage of the counts may be the part that is down."""
    return bool(response.status_code >= 400) and not is_outage()


class VendorBlueprint(OAuth2ConsumerBlueprint):  # type: ignore[misc] # no types there
    """`login/` leaves for the vendor, `login/callback/` comes back."""

    def __init__(self) -> None:
        super().__init__(
            "vendor_oauth2",
            __name__,
            url_prefix="/accounts/vendor_oauth2",
            login_url="/login/",
            authorized_url="/login/callback/",
            storage=NullStorage(),
        )
        self.add_url_rule("/login/callback/<provider_id>/", endpoint=OWN_CALLBACK, view_func=self.authorized_own)

    @limiter.limit(PER_ADDRESS)
    def login(self) -> Response:
        """Contract, section 4: redirect to the vendor's authorization endpoint. Query: `provider_id`, and `next`, a
        path on this site to go to afterwards."""
        provider = _usable(request.args.get("provider_id", ""))
        if _needs_mail(provider) and not mail.can_send():
            raise ErrorPage("no_mail", 503)
        return self.leave(provider, attempts.local_path(request.args.get("next", "")))

    def leave(self, provider: Provider, next_path: str, **more: str) -> Response:
        """Store an attempt and redirect to the vendor; `more` is added to the query."""
        calls = VendorCalls(provider, callback_url(provider))
        started = attempts.start(provider.id, next_path, provider.pkce)
        if started.verifier:
            challenge = calls.client.create_code_challenge(started.verifier, "S256")
            more |= {"code_challenge": challenge, "code_challenge_method": "S256"}
        response = redirect(calls.leaving(started.state, **more))
        attempts.remember(response, request, started)
        return response

    @limiter.limit(PER_ADDRESS)
    @limiter.limit(REFUSED_PER_ADDRESS, deduct_when=_is_refusal)
    def authorized_own(self, provider_id: str) -> Response:
        """The same, at the callback that only `provider_id` knows."""
        return self._arrived(provider_id)

    @limiter.limit(PER_ADDRESS)
    @limiter.limit(REFUSED_PER_ADDRESS, deduct_when=_is_refusal)
    def authorized(self) -> Response:
        """Contract, section 4: the vendor sent the person back, with `code` or `error`, and `state`."""
        return self._arrived("")

    def _arrived(self, at: str) -> Response:

        @after_this_request
        def tidy(response: Any) -> Any:
            attempts.forget(response, request)
            return response

        attempt = attempts.take(request)
        if attempt is None:
            SIGN_INS.labels("expired").inc()
            audit.record_alone("refused", detail="state missing, unknown, used or expired")
            raise ErrorPage("expired", 400)
        if attempt.next_path.startswith(dry_run.MARK):
            return self._try_out(attempt, at)
        try:
            return self._come_back(attempt, at)
        except ErrorPage as outcome:
            SIGN_INS.labels(outcome.key).inc()
            reason = outcome.values.get("reason", outcome.code)
            audit.record_alone("refused", provider_id=attempt.provider_id, detail=f"{outcome.key}: {reason}")
            raise

    def _come_back(self, attempt: Attempt, at: str) -> Response:
        provider = _usable(attempt.provider_id)
        _refuse_mixed_up(provider, at)
        profile = _profile(self._ask(provider, attempt))
        found = accounts.resolve(provider, profile)
        if found is not None:
            return signed_in(found, attempt.next_path)
        if not mail.can_send():
            raise ErrorPage("no_mail", 503, reason="an address must be proven")
        return ask_for_address(provider, profile, attempt.next_path)

    def _ask(self, provider: Provider, attempt: Attempt, observer: dry_run.Observer | None = None) -> Any:
        """Code -> token -> claims. Raises ErrorPage."""
        code = _authorization_code(provider)
        calls = VendorCalls(provider, callback_url(provider))
        calls.observer = observer
        db.release()
        with deadline() as line:
            return calls.claims(line, code, attempt.code_verifier)

    def _try_out(self, attempt: Attempt, at: str) -> Response:
        """The end of an operator's dry run: all the checks of a sign-in, then a record instead of an account."""
        provider = find_allowed(attempt.provider_id)
        if provider is None or not current_user.is_authenticated or not current_user.is_operator:
            raise ErrorPage("expired", 400)
        steps, said, claims = [dry_run.callback_step(request)], "", None
        hidden = {attempt.code_verifier, unseal(provider.client_secret_encrypted), *request.args.getlist("code")}
        try:
            _refuse_mixed_up(provider, at)
            claims = self._ask(provider, attempt, lambda response: steps.append(dry_run.step(response, hidden)))
            _profile(claims)
        except ErrorPage as outcome:
            said = f"{outcome.key}: {outcome.values.get('reason', outcome.code)}"
        dry_run.keep(provider, attempt.next_path.removeprefix(dry_run.MARK), steps, claims, said, hidden)
        audit.record_alone("dry_run", user=current_user, provider_id=provider.id, detail=said or "answered")
        return redirect(url_for("dry_run.show", provider_id=provider.id))


def callback_url(provider: Provider | None = None) -> str:
    """The redirect URI: the vendor compares it exactly, with its trailing slash. Without `provider`, the shared one."""
    if provider is not None and provider.own_callback:
        return external_url(f"vendor_oauth2.{OWN_CALLBACK}", provider_id=provider.id)
    return external_url("vendor_oauth2.authorized")


def _usable(provider_id: str) -> Provider:
    """The active vendor of this id. One that nothing tells apart is safe beside others that are told apart; two are
    not. Raises ErrorPage."""
    provider = find_active(provider_id)
    if provider is None:
        raise ErrorPage("provider_not_found", 404)
    if undefended(provider) and several_undefended():
        raise ErrorPage("mix_up", 503, reason="two vendors without issuer and own callback")
    return provider


def _refuse_mixed_up(provider: Provider, at: str) -> None:
    """An answer that is not this vendor's: at another's callback, or with an `iss` not its own. Raises ErrorPage."""
    if at != (provider.id if provider.own_callback else ""):
        raise ErrorPage("wrong_issuer", 400, reason="at the callback of another vendor")
    if mixed_up(provider, request.args.getlist("iss")):
        raise ErrorPage("wrong_issuer", 400, reason="iss missing, doubled or of another vendor")


def _profile(claims: Any) -> Profile:
    try:
        return read_profile(claims)
    except SubjectMissing:
        raise ErrorPage("user_not_created", 502, reason="no usable sub or id") from None


def _authorization_code(provider: Provider) -> str:
    """`code` of the callback. Raises ErrorPage for what came instead of it."""
    if "error" in request.args:
        raise _denial(provider, error_code(request.args["error"]))
    codes = request.args.getlist("code")
    if len(codes) != 1 or not codes[0] or len(codes[0]) > LONGEST_CODE:
        raise ErrorPage("vendor_answer", 502, reason="callback without one code")
    return codes[0]


def _denial(provider: Provider, code: str) -> ErrorPage:
    if code in ("redirect_uri_mismatch", "invalid_redirect_uri"):
        return ErrorPage("redirect_mismatch", 403, code, callback=callback_url(provider))
    return ErrorPage("denied" if code == "access_denied" else "vendor_error", 403, code)


def _needs_mail(provider: Provider) -> bool:
    """Return True when every first sign-in with this vendor needs a proven address."""
    return not provider.trust_email or "email" not in provider.scopes.split()


def vendor_host(provider: Provider) -> str:
    """The host a person is sent to, shown on the login page."""
    return urlsplit(provider.authorization_url).hostname or ""
