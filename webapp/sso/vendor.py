"""The two calls to a vendor: code -> token, token -> claims (contract, section 4). Every fault of the vendor becomes an
`ErrorPage` here; none carries anything the vendor sent but its `error` code.
"""

import json
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any
from urllib.parse import quote_plus

import requests
import urllib3
from flask_dance.consumer.requests import OAuth2Session
from oauthlib.oauth2 import OAuth2Error
from requests.auth import HTTPBasicAuth

from webapp.errors import ErrorPage
from webapp.sso.models import Provider, TokenAuthMethod
from webapp.sso.sealing import unseal
from webapp.wire import CONNECT_S, SILENCE_S, AnswerTooLarge, BoundedAdapter, read_answer

USABLE_TOKEN = re.compile(r"[\x21-\x7e]{1,8192}")  # RFC 6750 allows less; anything else cannot stand in a header
ERROR_CODE = re.compile(r"[\x20-\x21\x23-\x5b\x5d-\x7e]{1,100}")  # RFC 6749, appendix A.7
BROKEN = (requests.RequestException, urllib3.exceptions.HTTPError, OSError, AnswerTooLarge)


class VendorSession(OAuth2Session):  # type: ignore[misc] # no types there
    """requests-oauthlib's session with our bounds on every call. One per sign-in, closed with the request. `observer`
    sees every answer as it came, for a dry run alone."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.observer: Callable[[requests.Response], None] | None = None
        adapter = BoundedAdapter()
        for prefix in ("https://", "http://"):
            self.mount(prefix, adapter)
        self.register_compliance_hook("access_token_response", _checked_token_answer)

    def request(self, method: str, url: str, data: Any = None, headers: Any = None, **kwargs: Any) -> requests.Response:
        """As in requests, but never redirected, never waiting long, never reading much. Raises Outcome."""
        kwargs |= {"allow_redirects": False, "stream": True, "timeout": (CONNECT_S, SILENCE_S)}
        headers = {"Accept": "application/json", "Accept-Encoding": "identity", **(headers or {})}
        try:
            response: requests.Response = super().request(method, url, data=data, headers=headers, **kwargs)
            response._content = read_answer(response)
        except BROKEN as error:
            raise ErrorPage("vendor_unreachable", 502, reason=type(error).__name__) from None
        response._content_consumed = True
        if self.observer is not None:
            self.observer(response)
        if 300 <= response.status_code < 400:
            raise ErrorPage("vendor_answer", 502, reason="redirect")
        return response

    def merge_environment_settings(self, url: str, proxies: Any, stream: Any, verify: Any, cert: Any) -> dict[str, Any]:
        """As in requests, but what the environment says about proxies and certificates is read once per URL."""
        return {**_of_environment(url), "stream": stream, "cert": cert}


@lru_cache(maxsize=256)
def _of_environment(url: str) -> dict[str, Any]:
    with requests.Session() as plain:
        return dict(plain.merge_environment_settings(url, {}, None, None, None))


def exchange_code(session: VendorSession, provider: Provider, code: str, verifier: str) -> None:
    """Trade the authorization code for an access token, which stays in `session` alone. Raises Outcome."""
    secret = unseal(provider.client_secret_encrypted)
    extra = {"code_verifier": verifier} if verifier else {}
    try:
        if provider.token_auth_method is TokenAuthMethod.BASIC:
            session.fetch_token(provider.token_url, code=code, auth=_basic(provider, secret), **extra)
        else:
            session.fetch_token(
                provider.token_url, code=code, include_client_id=True, client_secret=secret, **extra
            )  # fmt: skip
    except OAuth2Error as error:  # the hook below leaves it nothing to complain of; its text would quote the answer
        raise ErrorPage("vendor_answer", 502, reason=type(error).__name__) from None


def fetch_claims(session: VendorSession, provider: Provider) -> dict[str, Any]:
    """The userinfo object. Raises Outcome when there is none."""
    response = session.get(provider.userinfo_url)
    if response.status_code in (401, 403):
        raise ErrorPage("invalid_token", 502, reason=f"userinfo {response.status_code}")
    claims = read_json(response.content) if response.status_code == 200 else None
    if not isinstance(claims, dict):
        raise ErrorPage("vendor_answer", 502, reason=f"userinfo {response.status_code}")
    return claims


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


def _basic(provider: Provider, secret: str) -> HTTPBasicAuth:
    user, password = provider.client_id, secret
    if provider.basic_percent_encode:
        user, password = quote_plus(user), quote_plus(password)
    return HTTPBasicAuth(user.encode(), password.encode())  # bytes: requests would encode text as Latin-1


def _checked_token_answer(response: requests.Response) -> requests.Response:
    """Hook of requests-oauthlib, before its own lenient parsing: leaves only what the contract asks for.

    What else the vendor sent (a changed scope, an odd `expires_in`, a refresh token) is dropped here.
    """
    answer = read_json(response.content)
    if not isinstance(answer, dict):
        raise ErrorPage("vendor_answer", 502, reason=f"token {response.status_code}, no JSON object")
    if response.status_code != 200 or "error" in answer:
        raise _token_refusal(response.status_code, error_code(answer.get("error")))
    token, kind = answer.get("access_token"), answer.get("token_type")
    if not isinstance(kind, str) or kind.lower() != "bearer":  # RFC 6749, 5.1: the value is case insensitive
        raise ErrorPage("vendor_answer", 502, reason="token_type is not Bearer")
    if not isinstance(token, str) or not USABLE_TOKEN.fullmatch(token) or _is_expired(answer.get("expires_in")):
        raise ErrorPage("invalid_token", 502, reason="access_token missing, malformed or expired")
    response._content = json.dumps({"access_token": token, "token_type": "Bearer"}).encode()
    response.encoding = "utf-8"
    return response


def _is_expired(lifetime: Any) -> bool:
    return isinstance(lifetime, (int, float)) and not isinstance(lifetime, bool) and lifetime <= 0


def _token_refusal(status: int, code: str) -> ErrorPage:
    key = {"invalid_grant": "invalid_grant", "invalid_client": "vendor_client", "unauthorized_client": "vendor_client"}
    return ErrorPage(key.get(code, "vendor_answer"), 502, code=code, reason=f"token {status} {code}".strip())
