"""Find codes that say no more than another code of the same text: the general one beside the specific one is dropped.

A text often names a disease twice, in a heading and in its sentence ("Hepatitis" above "wegen einer alkoholischen
Hepatitis"), or by a general word and by what it turns out to be. German outpatient coding takes the most specific code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from clinical.icd import INJURIES, category, ends_unspecified, is_catch_all, is_residual
from clinical.text import folded_words

if TYPE_CHECKING:
    from clinical.icd import Catalog, Code
    from clinical.reading.candidate import Candidate

_BEHIND_HEAD: Final = re.compile(r"\b(?:bei|mit|nach|durch|ohne|infolge|wegen|im|in|am|an|unter)\b")


def without_general(found: Sequence[Candidate], text: str, catalog: Catalog) -> list[Candidate]:
    """The candidates without those that a shown one beside them makes general. `text`: what was read."""
    shown = [(one, catalog.codes[catalog.number(one.code)]) for one in found if one.confidence != "low"]
    if len(shown) < 2:
        return list(found)
    vague = [own for own in shown if ends_unspecified(own[1].title) or is_catch_all(own[1].title)]
    exact = [own for own in shown if own not in vague]
    general = {own[0].code for own in vague if any(_is_general(own, other) for other in exact)}
    general |= {own[0].code for own in shown if any(_is_part_of(own, other, text) for other in shown)}
    return [one for one in found if one.code not in general]


_Shown = tuple["Candidate", "Code"]


def _is_general(one: _Shown, other: _Shown) -> bool:
    """True for a vague code beside an exact one: F32.9 beside F32.1, F99 beside any other of its chapter; of two places
    of the text I50.9 beside I50.12 too, but no injury, for those of one category are injuries of different parts."""
    (general, code), (specific, more) = one, other
    if is_catch_all(code.title):
        return code.chapter == more.chapter
    apart = general.end <= specific.start or specific.end <= general.start
    return code.parent == more.parent or (
        apart and code.code not in INJURIES and category(code.code) == category(more.code)
    )


def _is_part_of(one: _Shown, other: _Shown, text: str) -> bool:
    """True if an unspecified code was found by words that the other one's mention, or the wording it was found by, has
    as its head among more ("Niereninsuffizienz" in "chronischer Niereninsuffizienz"), in the same block."""
    (general, code), (specific, more) = one, other
    if code.code == more.code or code.block != more.block or {general.claim, specific.claim} != {"present"}:
        return False
    if not is_residual(code):
        return False
    own = _words(text[general.start : general.end])
    return any(own < _words(_head(long)) for long in (text[specific.start : specific.end], specific.text))


def _head(phrase: str) -> str:
    """Head of a phrase, before the first preposition: "Delir bei Demenz" is a delirium."""
    cut = _BEHIND_HEAD.search(phrase)
    return phrase[: cut.start()] if cut and cut.start() else phrase


def _words(phrase: str) -> set[str]:
    return set(folded_words(phrase))
