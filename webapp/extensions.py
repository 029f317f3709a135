"""Database, translation, login, forms and limits as Flask extensions; `create_app` gives each its application."""

import ipaddress

from flask import request
from flask_babel import Babel
from flask_limiter import Limiter
from flask_login import LoginManager
from flask_wtf import CSRFProtect

from webapp.database import Database


def network() -> str:
    """Whom limits count: an IPv4 address, or the /64 of an IPv6 one, which one person has to choose addresses from."""
    try:
        address = ipaddress.ip_address(request.remote_addr or "")
    except ValueError:
        return ""
    if isinstance(address, ipaddress.IPv6Address):
        mapped = address.ipv4_mapped
        return str(mapped or ipaddress.ip_network((address, 64), strict=False))
    return str(address)


db = Database()
babel = Babel()
login_manager = LoginManager()
csrf = CSRFProtect()
limiter = Limiter(key_func=network, strategy="fixed-window", headers_enabled=False)
