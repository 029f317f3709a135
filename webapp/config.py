"""The settings of the current application; `clinical.settings` reads them."""

from collections.abc import Mapping
from typing import Any, cast

from flask import current_app

from clinical.settings import Settings

__all__ = ["Settings", "load_settings", "settings"]


def load_settings(overrides: Mapping[str, Any] | None = None) -> Settings:
    """The settings with `overrides` (field name -> value) on top, and with the secret that a webapp needs.

    Raises SettingError when a value is malformed, or missing or unsafe in production.
    """
    return Settings.read(**(overrides or {})).with_secret()


def settings() -> Settings:
    """The settings of the current application."""
    return cast(Settings, current_app.config["BEFUND"])
