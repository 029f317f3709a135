"""Find codes that say no more than another code of the same text: the general one beside the specific one is dropped.

A text often names a disease twice, in a heading and in its sentence ("Hepatitis" above "wegen einer alkoholischen
Hepatitis"), or by a general word and by what it turns out to be. German outpatient coding takes the most specific code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from clinical.text import folded_words

if TYPE_CHECKING:
    from clinical.icd import Catalog, Code
    from clinical.reading.index import Candidate

UNSPECIFIED: Final = "nicht näher bezeichnet"
"""The end of the title of a code that leaves open what its siblings say."""
_CATCH_ALL: Final = "ohne nähere Angabe"
"""The end of the title of a residual category of a chapter."""
_BEHIND_HEAD: Final = re.compile(r"\b(?:bei|mit|nach|durch|ohne|infolge|wegen|im|in|am|an|unter)\b")


def without_general(found: Sequence[Candidate], text: str, catalog: Catalog) -> list[Candidate]:
    """The candidates without those that a shown one beside them makes general. `text`: what was read."""
    shown = [(one, catalog.codes[catalog.number(one.code)]) for one in found if one.confidence != "low"]
    general = {
        one.code
        for one, code in shown
        if any(_is_general((one, code), other) or _is_part_of((one, code), other, text) for other in shown)
    }
    return [one for one in found if one.code not in general]


_INJURIES: Final = "ST"
_Shown = tuple["Candidate", "Code"]


def _is_general(one: _Shown, other: _Shown) -> bool:
    """F32.9 beside F32.1, F99 beside any other of its chapter; of two places of the text I50.9 beside I50.12 too, but
    no injury, for those of one category are injuries of different parts."""
    (general, code), (specific, more) = one, other
    if more.code == code.code or more.title.endswith((UNSPECIFIED, _CATCH_ALL)):
        return False
    if code.title.endswith(_CATCH_ALL):
        return code.chapter == more.chapter
    apart = general.end <= specific.start or specific.end <= general.start
    alike = code.parent == more.parent or (apart and code.code[:3] == more.code[:3] and code.code[0] not in _INJURIES)
    return code.title.endswith(UNSPECIFIED) and alike


def _is_part_of(one: _Shown, other: _Shown, text: str) -> bool:
    """True if an unspecified code was found by words that the other one's mention, or the wording it was found by, has
    as its head among more ("Niereninsuffizienz" in "chronischer Niereninsuffizienz"), in the same block."""
    (general, code), (specific, more) = one, other
    if code.code == more.code or code.block != more.block or {general.claim, specific.claim} != {"present"}:
        return False
    if not (UNSPECIFIED[:-1] in code.title.casefold() or code.code.endswith(".9")):
        return False
    own = _words(text[general.start : general.end])
    return any(own < _words(_head(long)) for long in (text[specific.start : specific.end], specific.text))


def _head(phrase: str) -> str:
    """Head of a phrase, before the first preposition: "Delir bei Demenz" is a delirium."""
    cut = _BEHIND_HEAD.search(phrase)
    return phrase[: cut.start()] if cut and cut.start() else phrase


def _words(phrase: str) -> set[str]:
    return set(folded_words(phrase))
