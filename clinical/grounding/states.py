"""The state of every field that has no value: the letter says no, or nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from clinical.contract import FieldState
from clinical.grounding.enumerations import Circumstances, is_denied_choice, says
from clinical.grounding.policy import Grounded
from clinical.language import spelling

_ANSWER: Final = r"[ \t]*[:|\t–-][ \t|]*\n?[ \t]*(?:(?P<word>[^\W\d_]+)(?P<known>[ \t]bekannt\b)?|∅)"
_LABELS: Final[Mapping[str, str]] = {
    "diagnosen": r"(?:haupt|neben)?diagnosen?", "medikation": r"\w*(?:medikation|medikamente)",
    "procedere": r"pro[cz]edere|empfehlungen",
    "eingriffe": r"eingriffe|operationen", "fragestellung": r"frage(?:stellung)?",
    "versicherung.name": r"versicherung|krankenkasse|kostenträger", "patient.fallnummer": r"fall-?(?:nummer|nr\.?)",
    "patient.versichertennummer": r"(?:versicherten|ahv|sv)-?(?:nummer|nr\.?)",
    "kostengutsprache": r"kostengutsprache|kogu|kostenübernahme", "dringlichkeit": r"dringlichkeit|priorität",
    "versicherung.klasse": r"(?:versicherungs)?klasse", "patient.geschlecht": r"geschlecht",
}  # fmt: skip
"""Labels behind which a no denies the field: "Medikation: keine"."""


def with_silent_fields(grounded: Grounded, letter: Circumstances) -> Grounded:
    """The answer with a state for every field: what has none yet is `denied` or `not_mentioned`."""
    named = {state.path.partition("[")[0] for state in grounded.states}
    silent = [path for path in _paths(grounded.data.model_dump()) if path not in named]
    more = tuple(
        FieldState(path=path, state="denied" if _is_denied(path, letter) else "not_mentioned") for path in silent
    )
    return replace(grounded, states=(*grounded.states, *more))


def _paths(data: Mapping[str, Any]) -> Iterator[str]:
    for key, value in data.items():
        if isinstance(value, Mapping):
            yield from (f"{key}.{inner}" for inner in value)
        else:
            yield key


def _is_denied(path: str, letter: Circumstances) -> bool:
    label = _LABELS.get(path)
    for answer in re.finditer(rf"(?im)^[ \t]*(?:{label})(?={_ANSWER})", letter.source.text) if label else ():
        word = spelling((answer["word"] or "") + (answer["known"] or "").strip())
        if not word or says("@answered_no", word):
            return True
    return is_denied_choice(letter, path)
