"""Results: a JSON file that says what was measured, on what, with what, and how each query came out."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from clinical import __version__
from clinical.errors import SourceError
from evals.reports.files import readable, write_text

SCHEMA = 1
ROOT = Path(__file__).resolve().parents[2]


def provenance(kind: str) -> dict[str, Any]:
    """What every result says of itself: schema, kind, when it was made, and by which code."""
    made = datetime.now(UTC).isoformat(timespec="seconds")
    return {"schema": SCHEMA, "kind": kind, "made_at": made, "code": code_version()}


def code_version() -> dict[str, Any]:
    """Version of the package; commit and whether files differ from it, both None outside a git checkout."""
    commit = _git("rev-parse", "HEAD") if (ROOT / ".git").exists() else None
    dirty = None if commit is None else bool(_git("status", "--porcelain", "--untracked-files=no"))
    return {"version": __version__, "commit": commit, "dirty": dirty}


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def write_result(path: Path, result: dict[str, Any]) -> None:
    """In one step; one line per query, so that a difference of two files can be read."""
    head = {key: value for key, value in result.items() if key != "queries"}
    text = readable(head)
    if "queries" in result:
        lines = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in result["queries"])
        text = f'{text[:-2]},\n "queries": [\n{lines}\n ]\n}}'
    write_text(path, text + "\n")


def read_result(path: Path) -> dict[str, Any]:
    """What `write_result` wrote. Raises SourceError for anything else."""
    remedy = "make it with python -m evals coding ... --out FILE"
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SourceError(path.name, None, error.strerror or "cannot be read", "a result", remedy) from None
    except ValueError:
        raise SourceError(path.name, None, "is not JSON", "a result", remedy) from None
    if not isinstance(tree, dict) or tree.get("schema") != SCHEMA or "kind" not in tree:
        raise SourceError(path.name, None, "is no result of this version", f"schema {SCHEMA}", remedy)
    return tree
