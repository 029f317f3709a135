"""Read the codes of a text beside each other: the kind of a disease that the text tells elsewhere, and what says less.

A text often names a disease twice, in a heading and in its sentence ("Hepatitis" above "wegen einer alkoholischen
Hepatitis"), or by a general word and by what it turns out to be. German outpatient coding takes the most specific code.
Of what a code leaves open, another one may say the kind: "diabetische Retinopathie" (E14.30) beside "Diabetes mellitus
Typ 2" (E11.90) is E11.30, and E11.90, without complications, is not so any more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from clinical.icd import INJURIES, category, is_catch_all, says_kind, says_less

if TYPE_CHECKING:
    from clinical.icd import Catalog, Code
    from clinical.reading.candidate import Candidate, Mentioned


class Compared(NamedTuple):
    """The candidates that are left, best first, none twice; the codes that say less than others of the text; and the
    code that took the place of each code whose kind the text tells elsewhere."""

    codes: list[Candidate]
    general: frozenset[str]
    instead: Mapping[str, str]

    def told(self, mention: Mentioned) -> Mentioned:
        """The mention with the codes that took the place of its own."""
        codes = dict.fromkeys(self.instead.get(code, code) for code in mention.codes)
        return mention._replace(codes=tuple(codes))


def compared(found: Sequence[Candidate], catalog: Catalog) -> Compared:
    """The candidates (best first) as they are beside each other; only what is stated and shown tells something."""
    if sum(one.confidence != "low" for one in found) < 2:
        return Compared(list(found), frozenset(), {})
    instead = _instead(found, catalog)
    sharper = _once([replace(one, code=instead.get(one.code, one.code)) for one in found]) if instead else found
    shown = _shown(sharper, catalog)
    stated: dict[str, list[_Shown]] = {}
    for one in shown:
        if one.candidate.claim == "present":
            stated.setdefault(one.code.chapter, []).append(one)
    beside = ((one, stated.get(one.code.chapter, ())) for one in shown)
    general = {one.code.code for one, others in beside if any(_is_general(one, other) for other in others)}
    return Compared([one for one in sharper if one.code not in general], frozenset(general), instead)


def _instead(found: Sequence[Candidate], catalog: Catalog) -> dict[str, str]:
    """For each shown code of a category that leaves the kind of a disease open, the code of the one kind that the text
    states elsewhere which says the same of it; nothing where the text states several kinds."""
    shown = _shown(found, catalog)
    stated: dict[str, list[Code]] = {}
    for one in shown:
        if one.candidate.claim == "present":
            stated.setdefault(one.code.block, []).append(one.category)
    instead = {}
    for one in shown:
        kinds = {other.code for other in stated.get(one.code.block, ()) if says_kind(one.category, other)}
        if len(kinds) == 1:
            code = one.code
            same = catalog.get(kinds.pop() + code.code.removeprefix(one.category.code))
            if same is not None and same.title.partition(": ")[2] == code.title.partition(": ")[2]:
                instead[code.code] = same.code
    return instead


def _once(found: Sequence[Candidate]) -> list[Candidate]:
    """The best candidate of each code."""
    return list({one.code: one for one in reversed(found)}.values())[::-1]


class _Shown(NamedTuple):
    """A candidate that is shown, its code, and the category of that."""

    candidate: Candidate
    code: Code
    category: Code


def _shown(found: Sequence[Candidate], catalog: Catalog) -> list[_Shown]:
    codes = [(one, catalog.codes[catalog.number(one.code)]) for one in found if one.confidence != "low"]
    return [_Shown(one, code, catalog.codes[catalog.number(category(code.code))]) for one, code in codes]


def _is_general(one: _Shown, other: _Shown) -> bool:
    """True for a code that says less than another one of its chapter: F32.9 beside F32.1, F99 beside any other, L25.9
    beside L23.0; of two places of the text I50.9 beside I50.12 too, but no injury, for those of one category are
    injuries of different parts."""
    code, more = one.code, other.code
    if is_catch_all(code.title):
        return not is_catch_all(more.title)
    if says_kind(one.category, other.category):
        return True
    related = code.parent == more.parent or (
        one.category is other.category and code.code not in INJURIES and _are_apart(one.candidate, other.candidate)
    )
    return related and says_less(code.title, more.title)


def _are_apart(one: Candidate, other: Candidate) -> bool:
    return one.end <= other.start or other.end <= one.start
