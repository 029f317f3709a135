"""`providers test`: ask a vendor's three endpoints harmless questions and say what is wrong with them."""

from collections.abc import Mapping
from dataclasses import dataclass

from webapp.errors import ErrorPage
from webapp.sso.models import Provider
from webapp.sso.vendor import VendorCalls, error_code, read_json
from webapp.wire import NO_MORE, NoAnswer, OutgoingCalls, deadline

BOGUS = "befund-providers-test"


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """The result of probing one endpoint: `good` or not, and a sentence."""

    endpoint: str
    good: bool
    sentence: str


def probe(provider: Provider, callback: str) -> list[ProbeResult]:
    """One finding per endpoint. Nobody is signed in and nothing is stored."""
    calls = VendorCalls(provider, callback)
    with deadline() as line:
        return [_authorization(line, calls), _token(line, calls), _userinfo(line, provider)]


def _authorization(line: OutgoingCalls, calls: VendorCalls) -> ProbeResult:
    status, _ = _get(line, calls.leaving(BOGUS))
    if status == 0:
        return ProbeResult("authorization", False, "cannot be reached; check the URL, DNS and the certificate")
    if status in (404, 405, 410) or status >= 500:
        return ProbeResult("authorization", False, f"answers {status}; check the URL")
    if status >= 400:
        return ProbeResult("authorization", False, f"answers {status}; check client id, scopes and the callback URL")
    return ProbeResult("authorization", True, f"answers {status}")


def _token(line: OutgoingCalls, calls: VendorCalls) -> ProbeResult:
    """A made-up code: a good server knows the client and refuses the code."""
    try:
        calls.token(line, BOGUS, BOGUS * 3)
    except ErrorPage as outcome:
        return _token_finding(outcome)
    return ProbeResult("token", False, "gave a token for a made-up code: this is no safe vendor")


def _token_finding(outcome: ErrorPage) -> ProbeResult:
    if outcome.key == "invalid_grant":
        return ProbeResult("token", True, "knows the client and refuses a made-up code, as it should")
    if outcome.key == "vendor_client":
        return ProbeResult("token", False, "refuses the client; check client id, client secret and the auth method")
    if outcome.key == "vendor_unreachable":
        return ProbeResult("token", False, "cannot be reached; check the URL, DNS and the certificate")
    return ProbeResult("token", False, f"does not answer like a token endpoint ({outcome.values.get('reason', '')})")


def _userinfo(line: OutgoingCalls, provider: Provider) -> ProbeResult:
    status, body = _get(line, provider.userinfo_url, {"Authorization": f"Bearer {BOGUS}"})
    if status in (400, 401, 403):
        return ProbeResult("userinfo", True, f"refuses a made-up token with {status}, as it should")
    if status == 0:
        return ProbeResult("userinfo", False, "cannot be reached; check the URL, DNS and the certificate")
    said = error_code((read_json(body) or {}).get("error")) if isinstance(read_json(body), dict) else ""
    return ProbeResult(
        "userinfo", False, f"answers {status} {said} to a made-up token; expected 401".replace("  ", " ")
    )


def _get(line: OutgoingCalls, url: str, headers: Mapping[str, str] = NO_MORE) -> tuple[int, bytes]:
    """Status and body; status 0 when there is no answer."""
    try:
        answer = line.ask("GET", url, headers)
    except NoAnswer:
        return 0, b""
    return answer.status, answer.body
