"""The state of every field that has no value: the letter says no, or nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from clinical.contract import FieldState
from clinical.letters.fields import Fields
from clinical.letters.grounding.enumerations import Circumstances, is_denied_choice, says
from clinical.letters.grounding.policy import Grounded
from clinical.letters.labels import heading_field, key, label_of
from clinical.text import spelling

_ANSWER = re.compile(
    r"(?m)^[ \t]*(?P<label>[^\W\d_][^\n:|\t–-]{1,40}?(?:-[^\W\d_]{2,12}\.?)?)"
    r"[ \t]*[:|\t–-][ \t|]*\n?[ \t]*(?:(?P<word>[^\W\d_]+)(?P<known>[ \t]bekannt\b)?|∅)"
)
"""A label with what answers it: "Medikation: keine"."""


def with_silent_fields(grounded: Grounded, letter: Circumstances, fields: Fields) -> Grounded:
    """The answer with a state for every field: what has none yet is `denied` or `not_mentioned`."""
    named = {state.path.partition("[")[0] for state in grounded.states}
    silent = [path for path in _paths(grounded.data.model_dump()) if path not in named]
    denied = _denied_labels(letter.source.text) if silent else frozenset()
    more = tuple(
        FieldState(path=path, state="denied" if _is_denied(path, denied, letter, fields) else "not_mentioned")
        for path in silent
    )
    return replace(grounded, states=(*grounded.states, *more))


def _paths(data: Mapping[str, Any]) -> Iterator[str]:
    for name, value in data.items():
        if isinstance(value, Mapping):
            yield from (f"{name}.{inner}" for inner in value)
        else:
            yield name


def _denied_labels(text: str) -> frozenset[str]:
    """Fields and words named by those labels of the letter that are answered with a no."""
    named: set[str | None] = set()
    for answer in _ANSWER.finditer(text):
        word = spelling((answer["word"] or "") + (answer["known"] or "").strip())
        if not word or says("@answered_no", word):
            label = answer["label"]
            named |= {label_of(label), heading_field(label), key(label)}
    return frozenset(name for name in named if name)


def _is_denied(path: str, denied: frozenset[str], letter: Circumstances, fields: Fields) -> bool:
    labels = {row.label for row in fields.values() if path in (row.path, row.part) and row.label}
    return bool(labels & denied) or is_denied_choice(letter, path)
