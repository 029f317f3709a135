"""Files of results, written whole or not at all."""

from __future__ import annotations

import errno
import json
import os
import re
from pathlib import Path
from typing import Any


def check_place(path: Path) -> None:
    """Before a long measurement: raises OSError where its result could not be written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() or not os.access(path.parent, os.W_OK):
        raise OSError(errno.EISDIR if path.is_dir() else errno.EACCES, "cannot be written", str(path))


def write_text(path: Path, text: str) -> None:
    """Replace the file in one step: an interruption leaves the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        half.write_text(text, encoding="utf-8")
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)


def write_json(path: Path, tree: Any) -> None:
    """One value, as `readable` spells it."""
    write_text(path, readable(tree) + "\n")


def readable(tree: Any) -> str:
    """JSON with a line per entry, so that changes show in version control; a list of numbers is one line."""
    return _NUMBERS.sub(lambda match: " ".join(match.group().split()), json.dumps(tree, ensure_ascii=False, indent=1))


_NUMBERS = re.compile(r"\[\s[-\d.,\se]+\]")
