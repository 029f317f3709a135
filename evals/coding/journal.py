"""Answers of a slow target, kept as they come: a measurement that was interrupted goes on where it stopped.

The journal lies beside the result (`OUT.partial`) and is removed when that is written. It holds hashes of the queries
and codes, no text. Its first line says what answered (target, tier, model, prompts, artifact); with anything else it is
begun anew. A query that failed is not kept: it is asked again.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from evals.coding.at_once import in_order
from evals.coding.targets import Coded, Target

CodedSets = tuple[Coded, ...]


def place_of(out: Path) -> Path:
    """Where the journal of a result lies."""
    return out.with_name(f"{out.name}.partial")


def journalled(
    target: Target, queries: Sequence[str], path: Path, about: Mapping[str, str], concurrency: int = 1
) -> Iterator[CodedSets | None]:
    """The answers to the queries in their order; those of the journal are not asked for again. Each is kept when it
    comes, not when its turn does."""
    before = _read(path, about)
    known, one_at_a_time = before or {}, threading.Lock()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a" if before is not None else "w", encoding="utf-8") as file:
        if before is None:
            file.write(json.dumps(dict(about), sort_keys=True))
        file.write("\n")  # ends a line that was torn

        def answer(query: str) -> CodedSets | None:
            name = hashlib.sha256(query.encode()).hexdigest()
            if name not in known:
                found = target.ask(query)
                if found is None:
                    return None
                with one_at_a_time:
                    known[name] = found
                    if not file.closed:  # who waited while the measurement was stopped
                        file.write(json.dumps([name, found]) + "\n")
                        file.flush()
            return known[name]

        yield from in_order(answer, queries, concurrency)


def _read(path: Path, about: Mapping[str, str]) -> dict[str, CodedSets] | None:
    """Answers by the hash of their query; None where there is no journal of this target. A torn last line is lost."""
    if not path.is_file():
        return None
    lines = path.read_text(encoding="utf-8").split("\n")
    if lines[0] != json.dumps(dict(about), sort_keys=True):
        return None
    found: dict[str, CodedSets] = {}
    for line in lines[1:]:
        try:
            name, rows = json.loads(line)
            found[name] = tuple(Coded(*row) for row in rows)
        except (ValueError, TypeError):
            continue
    return found
