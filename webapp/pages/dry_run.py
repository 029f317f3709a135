"""The operator's page of dry runs, which show the vendor's actual answers before people sign in with it."""

from typing import cast

from flask import Blueprint, abort, current_app, redirect, render_template, url_for
from werkzeug.wrappers import Response

from webapp import guards
from webapp.errors import ErrorPage
from webapp.sso import dry_run as runs
from webapp.sso.blueprint import VendorBlueprint, callback_url
from webapp.sso.models import Provider
from webapp.sso.providers import all_providers, find_allowed, undefended

dry_run = Blueprint("dry_run", __name__, url_prefix="/operator/providers/<provider_id>/dry-run")
dry_run.before_request(guards.operator)


@dry_run.get("/")
def show(provider_id: str) -> str:
    """The runs of the last half hour, and what they prove."""
    provider = _found(provider_id)
    found = runs.runs_of(provider)
    return render_template(
        "dry_run.html", provider=provider, runs=found, verdict=runs.verdict(found), callback=callback_url(provider)
    )


@dry_run.get("/<any(A, B):account>/")
def leave(provider_id: str, account: str) -> Response:
    """Leave for the vendor, as a sign-in does: a link, since the CSP lets no form lead to another site."""
    provider = _found(provider_id)
    if undefended(provider) and any(row.active for row in all_providers() if row.id != provider.id):
        raise ErrorPage("mix_up", 503, reason="neither issuer nor own callback")
    vendors = cast(VendorBlueprint, current_app.blueprints["vendor_oauth2"])
    login = {"prompt": "login"} if "openid" in provider.scopes.split() else {}  # OpenID Connect Core, 3.1.2.1
    response = vendors.leave(provider, runs.MARK + account, **login)
    runs.left(account, response.location or "")
    return response


@dry_run.post("/forget/")
def forget(provider_id: str) -> Response:
    """Begin anew."""
    runs.forget(_found(provider_id))
    return redirect(url_for("dry_run.show", provider_id=provider_id))


def _found(provider_id: str) -> Provider:
    provider = find_allowed(provider_id)
    if provider is None:
        abort(404)
    return provider
