"""Find codes that say no more than another code of the same text: the general one beside the specific one is dropped.

A text often names a disease twice, in a heading and in its sentence ("Hepatitis" above "wegen einer alkoholischen
Hepatitis"), or by a general word and by what it turns out to be. German outpatient coding takes the most specific code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from clinical.icd import INJURIES, category, ends_unspecified, is_catch_all

if TYPE_CHECKING:
    from clinical.icd import Catalog, Code
    from clinical.reading.candidate import Candidate


def without_general(found: Sequence[Candidate], catalog: Catalog) -> list[Candidate]:
    """The candidates without those that a shown one beside them makes general."""
    shown = [(one, catalog.codes[catalog.number(one.code)]) for one in found if one.confidence != "low"]
    if len(shown) < 2:
        return list(found)
    vague = [own for own in shown if ends_unspecified(own[1].title) or is_catch_all(own[1].title)]
    exact = [own for own in shown if own not in vague]
    general = {own[0].code for own in vague if any(_is_general(own, other) for other in exact)}
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
