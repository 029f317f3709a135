"""A vendor inside the webapp, for trying sign-in without one: pick an invented person and come back.

It plays by the contract (codes once and for a minute, client secret, redirect URI, PKCE), so what is seen with it is
what a real vendor will show. It is never registered in production.
"""

import base64
import hashlib
import hmac
import time
from threading import Lock
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, abort, jsonify, redirect, render_template, request, session, url_for
from itsdangerous import BadSignature, URLSafeTimedSerializer
from werkzeug.wrappers import Response as BaseResponse

from webapp.config import settings
from webapp.sso.blueprint import callback_url
from webapp.sso.providers import find
from webapp.sso.sealing import keyed_hash

CLIENT_ID = "befund-demo"
CODE_S, TOKEN_S = 60, 600
PROVIDER = "demo"
CHOSEN = "demo_person"
PEOPLE: dict[str, dict[str, Any]] = {
    "erika": {"email": "erika@example.org", "given_name": "Erika", "family_name": "Mustermann"},
    "max": {"email": "max@example.org", "given_name": "Max", "family_name": "Beispiel"},
    "otto": {"given_name": "Otto", "family_name": "Ohnepost"},
    "olga": {"email": "olga@example.org", "email_verified": False, "given_name": "Olga", "family_name": "Offen"},
}

demo_vendor = Blueprint("demo_vendor", __name__, url_prefix="/development/vendor")
_used: dict[str, float] = {}
_lock = Lock()


def client_secret() -> str:
    """The demo client's secret: derived from the server's own, so nothing needs to be kept."""
    return keyed_hash("demo-vendor", CLIENT_ID)


@demo_vendor.post("/as/<person>")
def sign_in_as(person: str) -> BaseResponse:
    """One click from the start page: the vendor will not ask who it is."""
    if person not in PEOPLE:
        abort(404)
    session[CHOSEN] = person
    return redirect(url_for("vendor_oauth2.login", provider_id=PROVIDER, next=url_for("coding.page", example="")))


@demo_vendor.route("/authorize", methods=["GET", "POST"])
def authorize() -> str | BaseResponse:
    """Choose who to be, or refuse."""
    if request.args.get("client_id") != CLIENT_ID or request.args.get("redirect_uri") != callback_url(find(PROVIDER)):
        abort(400)
    person = request.form.get("person", "") if request.method == "POST" else session.pop(CHOSEN, "")
    if request.method == "GET" and person not in PEOPLE:
        return render_template("demo_vendor.html", people=PEOPLE)
    answer = {"error": "access_denied"}
    if person in PEOPLE:
        grant = {"sub": person, "challenge": request.args.get("code_challenge", "")}
        answer = {"code": _signer("code").dumps(grant)}
    return redirect(f"{callback_url(find(PROVIDER))}?{urlencode({**answer, 'state': request.args.get('state', '')})}")


@demo_vendor.post("/token")
def token() -> tuple[Response, int]:
    """Code -> access token. Exempt from CSRF: a server calls it, with a secret of its own."""
    form = request.form
    if not hmac.compare_digest(form.get("client_secret", "").encode(), client_secret().encode()):
        return jsonify(error="invalid_client"), 401
    try:
        grant = _signer("code").loads(form.get("code", ""), max_age=CODE_S)
    except BadSignature:
        grant = None
    if grant is None or not _first_use(form["code"]) or not _pkce_fits(grant["challenge"], form):
        return jsonify(error="invalid_grant"), 400
    return jsonify(access_token=_signer("token").dumps(grant["sub"]), token_type="Bearer", expires_in=TOKEN_S), 200  # noqa: S106


@demo_vendor.get("/userinfo")
def userinfo() -> tuple[Response, int]:
    """Access token -> claims."""
    bearer = request.headers.get("Authorization", "").removeprefix("Bearer ")
    try:
        subject = _signer("token").loads(bearer, max_age=TOKEN_S)
    except BadSignature:
        return jsonify(error="invalid_token"), 401
    return jsonify(sub=subject, **PEOPLE[subject]), 200


def _signer(purpose: str) -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(settings().secret, salt=f"demo-vendor-{purpose}")


def _first_use(code: str) -> bool:
    """Return True when the code is new to this process; with several processes, each accepts a code once."""
    now = time.monotonic()
    with _lock:
        for old in [known for known, until in _used.items() if until < now]:
            del _used[old]
        return _used.setdefault(code, now + CODE_S) == now + CODE_S


def _pkce_fits(challenge: str, form: Any) -> bool:
    if not challenge:
        return "code_verifier" not in form
    digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == challenge
