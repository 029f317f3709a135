"""The two calls to a vendor: code -> token, token -> claims (contract, section 4). Every fault of the vendor becomes an
`ErrorPage` here; none carries anything the vendor sent but its `error` code.

oauthlib makes the parameters; they go over `webapp.wire` without the sessions of requests-oauthlib, which keep cookies,
follow redirects, read `.netrc` and parse the answer more leniently than the contract does.
"""

import json
import re
from base64 import b64encode
from collections.abc import Callable
from typing import Any
from urllib.parse import quote_plus

from oauthlib.oauth2 import WebApplicationClient

from webapp.errors import ErrorPage
from webapp.sso.models import Provider, TokenAuthMethod
from webapp.sso.sealing import unseal
from webapp.wire import Answer, NoAnswer, OutgoingCalls

USABLE_TOKEN = re.compile(r"[\x21-\x7e]{1,8192}")  # RFC 6750 allows less; anything else cannot stand in a header
ERROR_CODE = re.compile(r"[\x20-\x21\x23-\x5b\x5d-\x7e]{1,100}")  # RFC 6749, appendix A.7
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class VendorCalls:
    """The calls of one sign-in to its vendor, bounded by the `deadline` around them. `observer` sees every answer as it
    came, for a dry run alone."""

    def __init__(self, provider: Provider, redirect_uri: str) -> None:
        self.provider, self.redirect_uri = provider, redirect_uri
        self.client = WebApplicationClient(provider.client_id)
        self.observer: Callable[[Answer], None] | None = None

    def leaving(self, state: str, **more: str) -> str:
        """The URL a person is sent to; `more` is added to its query."""
        there, scopes = self.provider.authorization_url, self.provider.scopes
        return str(self.client.prepare_request_uri(there, self.redirect_uri, scopes, state, **more))

    def claims(self, line: OutgoingCalls, code: str, verifier: str) -> dict[str, Any]:
        """Code -> token -> the userinfo object. The token is used here and kept nowhere. Raises ErrorPage."""
        return self._userinfo(line, self.token(line, code, verifier))

    def token(self, line: OutgoingCalls, code: str, verifier: str) -> str:
        """Trade the authorization code for an access token. Raises ErrorPage."""
        provider, secret = self.provider, unseal(self.provider.client_secret_encrypted)
        given: dict[str, Any] = {"code_verifier": verifier} if verifier else {}
        basic = provider.token_auth_method is TokenAuthMethod.BASIC
        if not basic:
            given |= {"client_secret": secret}
        body = self.client.prepare_request_body(
            code=code, redirect_uri=self.redirect_uri, include_client_id=not basic, **given
        )
        headers = FORM | ({"Authorization": _basic(provider, secret)} if basic else {})
        return _token_in(self._call(line, "POST", provider.token_url, headers, body))

    def _userinfo(self, line: OutgoingCalls, token: str) -> dict[str, Any]:
        answer = self._call(line, "GET", self.provider.userinfo_url, {"Authorization": f"Bearer {token}"})
        if answer.status in (401, 403):
            raise ErrorPage("invalid_token", 502, reason=f"userinfo {answer.status}")
        claims = read_json(answer.body) if answer.status == 200 else None
        if not isinstance(claims, dict):
            raise ErrorPage("vendor_answer", 502, reason=f"userinfo {answer.status}")
        return claims

    def _call(self, line: OutgoingCalls, method: str, url: str, headers: dict[str, str], body: str = "") -> Answer:
        """One answer that is no redirect. Raises ErrorPage."""
        try:
            answer = line.ask(method, url, headers, body)
        except NoAnswer as error:
            raise ErrorPage("vendor_unreachable", 502, reason=str(error)) from None
        if self.observer is not None:
            self.observer(answer)
        if 300 <= answer.status < 400:
            raise ErrorPage("vendor_answer", 502, reason="redirect")
        return answer


def read_json(body: bytes) -> Any:
    """The JSON value in `body`, None when it is none: also when nested too deep or with numbers too long."""
    try:
        return json.loads(body.decode("utf-8-sig"), parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def error_code(value: Any) -> str:
    """A vendor's error code when it is one by RFC 6749, else "": it will be shown and written to the audit trail."""
    return value if isinstance(value, str) and ERROR_CODE.fullmatch(value) else ""


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


def _basic(provider: Provider, secret: str) -> str:
    user, password = provider.client_id, secret
    if provider.basic_percent_encode:
        user, password = quote_plus(user), quote_plus(password)
    return "Basic " + b64encode(f"{user}:{password}".encode()).decode("ascii")


def _token_in(answer: Answer) -> str:
    """The access token of a token endpoint's answer, of which nothing else is kept: not a changed scope, an odd
    `expires_in`, a refresh token. Raises ErrorPage."""
    given = read_json(answer.body)
    if not isinstance(given, dict):
        raise ErrorPage("vendor_answer", 502, reason=f"token {answer.status}, no JSON object")
    if answer.status != 200 or "error" in given:
        raise _token_refusal(answer.status, error_code(given.get("error")))
    token, kind = given.get("access_token"), given.get("token_type")
    if not isinstance(kind, str) or kind.lower() != "bearer":  # RFC 6749, 5.1: the value is case insensitive
        raise ErrorPage("vendor_answer", 502, reason="token_type is not Bearer")
    if not isinstance(token, str) or not USABLE_TOKEN.fullmatch(token) or _is_expired(given.get("expires_in")):
        raise ErrorPage("invalid_token", 502, reason="access_token missing, malformed or expired")
    return token


def _is_expired(lifetime: Any) -> bool:
    return isinstance(lifetime, (int, float)) and not isinstance(lifetime, bool) and lifetime <= 0


def _token_refusal(status: int, code: str) -> ErrorPage:
    key = {"invalid_grant": "invalid_grant", "invalid_client": "vendor_client", "unauthorized_client": "vendor_client"}
    return ErrorPage(key.get(code, "vendor_answer"), 502, code=code, reason=f"token {status} {code}".strip())
