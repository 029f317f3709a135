"""The start page and the login page."""

from flask import Blueprint, render_template, request

from webapp.config import settings
from webapp.demo.vendor import PROVIDER
from webapp.sso import attempts
from webapp.sso.blueprint import vendor_host
from webapp.sso.providers import active_providers, find

home = Blueprint("home", __name__)


@home.get("/")
def index() -> str:
    """The home page: introduces Befund and links to its parts."""
    return render_template("home.html", demo=settings().development and find(PROVIDER) is not None)


@home.get("/accounts/login/")
def login() -> str:
    """The active vendors, each a link that starts its sign-in."""
    wanted = attempts.local_path(request.args.get("next", ""))
    return render_template("login.html", providers=active_providers(), host=vendor_host, next=wanted)
