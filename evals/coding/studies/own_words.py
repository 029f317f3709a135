"""Queries that are own synonyms of the measured catalog: figures on them say that the file was read, not more."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable
from pathlib import Path

from catalog_build.own_synonyms import spelled
from catalog_build.vocabulary import FILE
from evals.coding.datasets import Example


def own_queries(catalog: Path, examples: Iterable[Example]) -> int:
    """How many queries are, word for word, lines of the vocabularies the catalog was built with; says so on stderr."""
    path = catalog / FILE
    if not path.is_file():
        return 0
    with path.open(encoding="utf-8", newline="") as file:
        own = {spelled(row["text"]) for row in csv.DictReader(file, delimiter="\t") if row["state"] == "taken"}
    asked = list(examples)
    found = sum(spelled(example.query) in own for example in asked)
    if found:
        print(f"{found} of {len(asked)} queries are own synonyms of this catalog: they are measured on themselves; "
              "leave them out, or take the evaluation set of evals feedback", file=sys.stderr)  # fmt: skip
    return found
