"""Sources of settings: the environment, `.env`, the file of a running `make up`, files with one secret each."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from dotenv import dotenv_values, find_dotenv

from clinical.errors import SettingError
from clinical.running import RUNNING, is_held

ROOT = Path(__file__).resolve().parents[2]
PREFIX = "BEFUND_"

FROM_FILES = (
    "secret_key",
    "secret_key_previous",
    "internal_key",
    "database_url",
    "api_database_url",
    "limits_url",
    "mail_url",
    "llm_api_key",
    "workbench_api_key",
    "traces_url",
)
"""Settings that may hold a password: `BEFUND_..._FILE` names a file with the value, as containers mount secrets."""

NO_SETTINGS = (
    "BEFUND_API_KEY",
    "BEFUND_BUNDLE",
    "BEFUND_LOAD",
    "BEFUND_POLLER_KILLS",
    "BEFUND_SHARED_DATA",
    "BEFUND_VLLM_VENV",
)
"""Names that other programs of the project read: clients of the API, tests and measurements."""
NO_SETTINGS_BEGIN = ("BEFUND_NOTEBOOK_", "BEFUND_VLLM_")
"""Prefixes of the settings that notebooks and the Bento of the GPU host have of their own, and read there."""


def given() -> dict[str, str]:
    """Settings of the environment and `.env`, the environment first: names `BEFUND_*` and values that are not empty."""
    file = find_dotenv(usecwd=True)
    return {**written(Path(file) if file else None), **_ours(os.environ)}


def _ours(values: Mapping[str, str | None]) -> dict[str, str]:
    return {name.upper(): value for name, value in values.items() if name.upper().startswith(PREFIX) and value}


def running(var: Path) -> Path | None:
    """File with the settings of the `make up` that runs with this folder; None when none runs."""
    return file if is_held(file := var / RUNNING) else None


def written(file: Path | None) -> dict[str, str]:
    """Settings of a file: names `BEFUND_*` and values that are not empty."""
    return _ours(dotenv_values(file)) if file else {}


def without(beside: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """Settings of `beside` that `given` does not have in another form, as a file."""
    either = [{f"{PREFIX}{field.upper()}", f"{PREFIX}{field.upper()}_FILE"} for field in FROM_FILES]
    said = {name for pair in either if pair & set(given) for name in pair}
    return {name: value for name, value in beside.items() if name not in said}


def from_files(values: Mapping[str, str]) -> dict[str, str]:
    """The values of `BEFUND_..._FILE`, by field."""
    found = {}
    for field in FROM_FILES:
        name = f"{PREFIX}{field.upper()}"
        file = values.get(f"{name}_FILE")
        if file is None:
            continue
        if name in values:
            raise SettingError(f"{name} and {name}_FILE are both set", "one of them", "keep one")
        try:
            found[field] = Path(file).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise SettingError(f"{name}_FILE names a file that cannot be read ({type(error).__name__})") from None
        if not found[field]:
            raise SettingError(f"{name}_FILE names an empty file", "the value in it", "write it there, or unset this")
    return found
