"""Results: a JSON file that says what was measured, on what, with what, and how each query came out.

Queries are named by a hash, so that two results can be paired without holding a text. A hash keeps a text out of sight,
not secret: who guesses it can confirm it. Texts are stored only where they are asked for (`--keep-texts`).
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from clinical import __version__
from clinical.catalog import Catalog
from clinical.errors import SourceError
from evals.coding.measures.hierarchy import distance_of
from evals.coding.measures.sets import CODE, f1_of
from evals.coding.outcomes import Outcome
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


def records(outcomes: Sequence[Outcome], catalog: Catalog, keep_texts: bool = False) -> list[dict[str, Any]]:
    """One object per query: its name, the right codes, the first code found, and what the measures made of it."""
    seen: Counter[str] = Counter()
    rows = []
    for outcome in outcomes:
        name = name_of(outcome)
        seen[name] += 1
        text = {"text": outcome.example.query} if keep_texts else {}
        row = {"id": f"{name}.{seen[name]}", **text, "codes": sorted(outcome.example.codes)}
        rows.append(row | (_scores(outcome, catalog) if outcome.found is not None else {"failed": True}))
    return rows


def name_of(outcome: Outcome) -> str:
    """16 hexadecimal digits of the SHA-256 of the text and its right codes."""
    whole = "\0".join([outcome.example.query, *sorted(outcome.example.codes)])
    return hashlib.sha256(whole.encode()).hexdigest()[:16]


def _scores(outcome: Outcome, catalog: Catalog) -> dict[str, Any]:
    first, right = outcome.first, outcome.example.codes
    return {
        "first": first.code if first else None,
        "confidence": first.confidence if first else None,
        "probability": round(first.probability, 4) if first and first.probability is not None else None,
        "rank": outcome.rank,
        "category": first is not None and first.code[:3] in {code[:3] for code in right},
        "recall_10": round(len(right & {hit.code for hit in outcome.found or ()}) / len(right), 4),
        "f1": round(f1_of(outcome, CODE), 4),
        "distance": distance_of(outcome, catalog),
    }


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
