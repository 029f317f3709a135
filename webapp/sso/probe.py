"""`providers test`: ask a vendor's three endpoints harmless questions and say what is wrong with them."""

from collections.abc import Mapping

from webapp.errors import ErrorPage
from webapp.sso.models import Provider
from webapp.sso.vendor import VendorCalls, error_code, read_json
from webapp.wire import NO_MORE, NoAnswer, OutgoingCalls, deadline

BOGUS = "befund-providers-test"
Finding = tuple[bool, str]
"""An endpoint is as it should be or not, and a sentence."""
UNREACHABLE: Finding = (False, "cannot be reached; check the URL, DNS and the certificate")
REFUSALS: dict[str, Finding] = {
    "invalid_grant": (True, "knows the client and refuses a made-up code, as it should"),
    "vendor_client": (False, "refuses the client; check client id, client secret and the auth method"),
    "vendor_unreachable": UNREACHABLE,
}


def probe(provider: Provider, callback: str) -> dict[str, Finding]:
    """One finding per endpoint, by its name. Nobody is signed in and nothing is stored."""
    calls = VendorCalls(provider, callback)
    with deadline() as line:
        return {
            "authorization": _authorization(line, calls),
            "token": _token(line, calls),
            "userinfo": _userinfo(line, provider),
        }


def _authorization(line: OutgoingCalls, calls: VendorCalls) -> Finding:
    status, _ = _get(line, calls.leaving(BOGUS))
    if status == 0:
        return UNREACHABLE
    if status in (404, 405, 410) or status >= 500:
        return False, f"answers {status}; check the URL"
    if status >= 400:
        return False, f"answers {status}; check client id, scopes and the callback URL"
    return True, f"answers {status}"


def _token(line: OutgoingCalls, calls: VendorCalls) -> Finding:
    """A made-up code: a good server knows the client and refuses the code."""
    try:
        calls.token(line, BOGUS, BOGUS * 3)
    except ErrorPage as outcome:
        reason = outcome.values.get("reason", "")
        return REFUSALS.get(outcome.key, (False, f"does not answer like a token endpoint ({reason})"))
    return False, "gave a token for a made-up code: this is no safe vendor"


def _userinfo(line: OutgoingCalls, provider: Provider) -> Finding:
    status, body = _get(line, provider.userinfo_url, {"Authorization": f"Bearer {BOGUS}"})
    if status in (400, 401, 403):
        return True, f"refuses a made-up token with {status}, as it should"
    if status == 0:
        return UNREACHABLE
    told = read_json(body)
    said = error_code(told.get("error")) if isinstance(told, dict) else ""
    return False, f"answers {status} {said} to a made-up token; expected 401".replace("  ", " ")


def _get(line: OutgoingCalls, url: str, headers: Mapping[str, str] = NO_MORE) -> tuple[int, bytes]:
    """Status and body; status 0 when there is no answer."""
    try:
        answer = line.ask("GET", url, headers)
    except NoAnswer:
        return 0, b""
    return answer.status, answer.body
