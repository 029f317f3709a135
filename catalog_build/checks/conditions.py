"""The conditions that hold of the tables, what a result says, and the plain runner of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from clinical.icd import CODE_PATTERN

EXAMPLES: Final = 5
DRIFT: Final = 0.02  # a new year changes far less than 2 % of the codes; a cut-off file changes more

Rule = Literal["matches", "unique", "filled", "true", "within"]
Table = dict[str, list[Any]]  # column name -> values; the first column names the row in examples


@dataclass(frozen=True)
class Condition:
    """`column` of `table` obeys `rule`; one that is not `fatal` is reported and stops nothing."""

    name: str
    sentence: str
    table: str
    column: str
    rule: Rule
    fatal: bool = True


CONDITIONS: Final = (
    Condition("code-pattern", "a code is a letter, two digits, and up to two behind a dot", "codes", "code", "matches"),
    Condition("code-unique", "a code comes once and so has exactly one title", "codes", "code", "unique"),
    Condition("title-present", "every code has a title", "codes", "title", "filled"),
    Condition("parent-exists", "the parent of every code is in the catalog", "codes", "parent_exists", "true"),
    Condition("terminal-fits", "a code is terminal exactly when nothing is below it", "codes", "terminal_fits", "true"),
    Condition("terminal-usable", "a terminal code may be used by §295 or §301", "codes", "usable", "true"),
    Condition("text-present", "every wording has a text", "texts", "text", "filled"),
    Condition("synonym-lives", "every synonym is coded with terminal codes of the catalog", "texts", "lives", "true"),
    Condition("one-code", "a wording stands under one terminal code only", "texts", "one_code", "true", fatal=False),
    Condition("counts-stable", "no count differs by more than 2 % from before", "counts", "change", "within"),
)


@dataclass(frozen=True)
class CheckResult:
    """Result of a condition: rows examined, rows against it, and examples of these."""

    name: str
    holds: bool
    fatal: bool
    examined: int
    against: int
    examples: tuple[str, ...]


def run_plain(tables: Mapping[str, Table]) -> Iterator[CheckResult]:
    """Examine each table in plain Python; results in the order of CONDITIONS."""
    for condition in CONDITIONS:
        if (table := tables.get(condition.table)) is None:
            continue
        values, names = table[condition.column], next(iter(table.values()))
        against = [name for name, holds in zip(names, _holds(condition.rule, values), strict=True) if not holds]
        examples = tuple(str(name) for name in against[:EXAMPLES])
        yield CheckResult(condition.name, not against, condition.fatal, len(values), len(against), examples)


def _holds(rule: Rule, values: list[Any]) -> list[bool]:
    if rule == "matches":
        return [re.fullmatch(CODE_PATTERN, value) is not None for value in values]
    if rule == "unique":
        often = Counter(values)
        return [often[value] == 1 for value in values]
    if rule == "filled":
        return [value is not None for value in values]
    if rule == "within":
        return [abs(value) <= DRIFT for value in values]
    return [bool(value) for value in values]
