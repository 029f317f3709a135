"""Database, translation, login, forms and limits as Flask extensions; `create_app` gives each its application."""

from flask_babel import Babel
from flask_limiter import Limiter
from flask_limiter.util import get_remote_address
from flask_login import LoginManager
from flask_wtf import CSRFProtect

from webapp.database import Database

db = Database()
babel = Babel()
login_manager = LoginManager()
csrf = CSRFProtect()
limiter = Limiter(key_func=get_remote_address, strategy="fixed-window", headers_enabled=False)
