"""Access tokens for programs by a signed assertion: OAuth 2.0 client credentials with `private_key_jwt`, as in SMART
Backend Services (SMART App Launch 2.2, backend services; RFC 6749 section 4.4, RFC 7521, RFC 7523).

    GET  <base>/.well-known/smart-configuration     where and how; by RFC 9728 and RFC 8414 too
    POST /<organization>/oauth2/token               assertion -> access token of five minutes
"""

import hashlib
import time
import uuid
from typing import Any

import orjson
from flask import Blueprint, Response, jsonify, request
from joserfc import jws, jwt
from joserfc.errors import JoseError
from sqlalchemy import delete
from sqlalchemy.exc import IntegrityError

from clinical.errors import SettingError
from webapp import audit
from webapp.extensions import db, limiter
from webapp.fhir.access import parse_id
from webapp.fhir.callers import LIFETIME
from webapp.fhir.dates import MICROS
from webapp.fhir.machines import scopes
from webapp.fhir.machines.accounts import ServiceAccount, UsedAssertion
from webapp.fhir.machines.keys import KeysBusy, public_keys
from webapp.fhir.service import fhir_base, public_base, service

oauth = Blueprint("oauth2", __name__)
SCOPES = [*(f"system/{kind}.rs" for kind in scopes.TYPES), "system/Binary.c", "system/Patient.cu",
          "system/DocumentReference.cud"]  # fmt: skip
CAPABILITIES = ["client-confidential-asymmetric", "permission-v1", "permission-v2"]
ALGORITHMS = ["RS384", "ES384"]  # those SMART demands of a server
ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
LONGEST_S = 300  # how far ahead an assertion may end
SKEW_S = 30  # between two clocks
LONGEST_ASSERTION = 16 * 1024
LONGEST_JTI = 255
NO_ORGANIZATION = "the path names no organization"
PER_ADDRESS = "600 per minute"  # a program asks every five minutes; each refusal is a row of the audit trail
BUSY = "temporarily_unavailable"
STATUS = {"invalid_client": 401, BUSY: 503}  # RFC 6749, section 5.2: all others 400
BUSY_S = 2
UNPROVEN = "the client is not known here, or none of its keys verifies the assertion"


class TokenRefused(Exception):
    """A token is refused with an error code of RFC 6749, section 5.2. `reason` is our own words, for the trail and, as
    `error_description`, for the program: what is wrong with the request itself is told to everybody, what is wrong
    with its claims to whoever signed for the account, and of what is known here (`secret`) nobody is told more than
    UNPROVEN. ASCII without quotes and backslashes, as the section demands."""

    def __init__(self, code: str, reason: str, account: str = "", *, secret: bool = False) -> None:
        self.code, self.reason, self.account = code, reason, account
        self.told = UNPROVEN if secret else reason
        super().__init__(code)


@oauth.get("/<organization>/fhir/r4/.well-known/smart-configuration")
def smart_configuration(organization: str) -> Response:
    """SMART configuration, the first thing that clients ask for; needs no token."""
    return jsonify(_server(organization) | {"capabilities": CAPABILITIES})


@oauth.get("/.well-known/oauth-authorization-server/<organization>")
def authorization_server(organization: str) -> Response:
    """Metadata of the server that gives tokens (RFC 8414)."""
    return jsonify(_server(organization) | {"response_types_supported": []})


@oauth.get("/.well-known/oauth-protected-resource/<organization>/fhir/r4")
def protected_resource(organization: str) -> Response:
    """Metadata of the FHIR base as a protected resource (RFC 9728): a refused call names this address."""
    server = _server(organization)
    return jsonify(
        resource=fhir_base(uuid.UUID(organization)), authorization_servers=[server["issuer"]],
        bearer_methods_supported=["header"], scopes_supported=SCOPES,
    )  # fmt: skip


def _server(organization: str) -> dict[str, Any]:
    organization_id = parse_id(organization)
    if organization_id is None:
        raise TokenRefused("invalid_request", NO_ORGANIZATION)
    return {
        "issuer": f"{public_base()}/{organization_id}",
        "token_endpoint": token_endpoint(organization_id),
        "token_endpoint_auth_methods_supported": ["private_key_jwt"],
        "token_endpoint_auth_signing_alg_values_supported": ALGORITHMS,
        "grant_types_supported": ["client_credentials"],
        "scopes_supported": SCOPES,
    }


@oauth.post("/<organization>/oauth2/token")
@limiter.limit(PER_ADDRESS)
def token(organization: str) -> Response:
    """An access token for a program that signed for it."""
    organization_id = parse_id(organization)
    if organization_id is None:
        raise TokenRefused("invalid_client", NO_ORGANIZATION)
    given = _form()
    if given.get("grant_type") != "client_credentials":
        raise TokenRefused("unsupported_grant_type", "grant_type must be client_credentials")
    if given.get("client_assertion_type") != ASSERTION or not given.get("client_assertion"):
        raise TokenRefused("invalid_client", f"client_assertion must be a JWT, client_assertion_type {ASSERTION}")
    base = fhir_base(organization_id)
    if given.get("resource", base).rstrip("/") != base:
        raise TokenRefused("invalid_target", f"resource must be {base}")
    account = _signer(organization_id, given["client_assertion"])
    granted = scopes.granted(account.scopes, given.get("scope", ""))
    if not granted:
        raise TokenRefused("invalid_scope", "the account has none of the scopes that were asked for", account.id)
    audit.record_alone("service_token", detail=f"{account.id}: {granted}")
    answer = jsonify(
        access_token=service().callers.token(account, granted), token_type="bearer",  # noqa: S106 - a name
        expires_in=LIFETIME, scope=granted,
    )  # fmt: skip
    answer.headers.update({"Cache-Control": "no-store", "Pragma": "no-cache"})
    return answer


@oauth.errorhandler(TokenRefused)
def _refused(error: TokenRefused) -> tuple[Response, int]:
    """RFC 6749, section 5.2."""
    audit.record_alone("refused", detail=f"service token: {error.code}, {error.reason} {error.account}".strip())
    answer = jsonify(error=error.code, error_description=error.told)
    answer.headers["Cache-Control"] = "no-store"
    if error.code == BUSY:
        answer.headers["Retry-After"] = str(BUSY_S)
    return answer, STATUS.get(error.code, 400)


def token_endpoint(organization_id: uuid.UUID) -> str:
    """Its absolute URL, which is the audience of an assertion."""
    return f"{public_base()}/{organization_id}/oauth2/token"


def _form() -> dict[str, str]:
    """The posted parameters. A repeated one is malformed (RFC 6749, section 3.2)."""
    if request.mimetype != "application/x-www-form-urlencoded":
        raise TokenRefused("invalid_request", "the body must be application/x-www-form-urlencoded")
    if any(len(values) > 1 for values in request.form.listvalues()):
        raise TokenRefused("invalid_request", "a parameter is there twice")
    return {name: value for name, value in request.form.items() if value}


def _signer(organization_id: uuid.UUID, assertion: str) -> ServiceAccount:
    """The account that signed, once everything about the assertion is right. Raises TokenRefused."""
    if len(assertion) > LONGEST_ASSERTION:
        raise TokenRefused("invalid_client", f"the assertion is longer than {LONGEST_ASSERTION} characters")
    header, claims = _unverified(assertion)
    kid = header.get("kid")
    if header.get("alg") not in ALGORITHMS:
        raise TokenRefused("invalid_client", f"alg of the assertion must be {' or '.join(ALGORITHMS)}")
    if not isinstance(kid, str) or not kid:
        raise TokenRefused("invalid_client", "kid of the assertion must name one of the keys of the client")
    client = claims.get("iss")
    account = db.session.get(ServiceAccount, client) if isinstance(client, str) and client.isalnum() else None
    if account is None or account.organization_id != organization_id or not account.active:
        raise TokenRefused("invalid_client", "unknown account", secret=True)
    db.release()
    try:
        keys = public_keys.of(account, kid)
        jwt.decode(assertion, keys, algorithms=ALGORITHMS)
    except SettingError as error:
        raise TokenRefused("invalid_client", str(error)[:150], account.id, secret=True) from None
    except KeysBusy:
        raise TokenRefused(BUSY, "too many ask for keys that take long to fetch; try again", account.id) from None
    except (JoseError, ValueError, RecursionError):
        raise TokenRefused("invalid_client", "the signature", account.id, secret=True) from None
    _check(account, claims, token_endpoint(organization_id))
    return account


def _unverified(assertion: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and claims of a compact JWS, before its signature can be checked: whose key is asked for."""
    try:
        read = jws.extract_compact(assertion.encode("ascii"))
        return dict(read.headers()), {**orjson.loads(read.payload)}
    except (JoseError, ValueError, TypeError, RecursionError):  # the library reads a header of any depth
        raise TokenRefused("invalid_client", "client_assertion is no JWT") from None


def _check(account: ServiceAccount, claims: dict[str, Any], audience: str) -> None:
    """The claims of RFC 7523, section 3, and that this assertion was not used before."""
    now, ends, jti = time.time(), claims.get("exp"), claims.get("jti")
    if claims.get("sub") != account.id or claims.get("aud") not in (audience, [audience]):
        raise TokenRefused("invalid_client", f"sub must be the client, aud {audience}", account.id)
    if not isinstance(ends, int | float) or not now - SKEW_S < ends <= now + LONGEST_S + SKEW_S:
        raise TokenRefused("invalid_client", f"exp must be ahead, by at most {LONGEST_S} s", account.id)
    starts = claims.get("nbf", 0)
    if not isinstance(starts, int | float) or starts > now + SKEW_S:
        raise TokenRefused("invalid_client", "nbf is ahead", account.id)
    if not isinstance(jti, str) or not 0 < len(jti) <= LONGEST_JTI:
        raise TokenRefused("invalid_client", f"jti must be a text of 1 to {LONGEST_JTI} characters", account.id)
    key = hashlib.sha256(f"{account.id}\0{jti}".encode("utf-8", "surrogatepass")).digest()
    try:
        with db.write() as session:
            session.execute(delete(UsedAssertion).where(UsedAssertion.expires_at < int((now - SKEW_S) * MICROS)))
            session.add(UsedAssertion(key=key, expires_at=int((ends + SKEW_S) * MICROS)))
    except IntegrityError:
        raise TokenRefused("invalid_client", "this assertion was used before (its jti)", account.id) from None
