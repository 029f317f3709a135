"""Errors of a text that states several things: each missed statement and each wrong code, with the first cause.

A cause is looked for by what would have happened: the words of a missed statement are searched by themselves, so that
an error of the search is told from one of the spans, of the claims or of the text around.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from clinical.coding import Hit, most_probable, with_written_codes
from clinical.contract import TIER1_MAX_CODES
from clinical.icd import SYMPTOMS, category
from clinical.reading import Candidate, Mentioned, SearchIndex, Understood
from evals.reading.inputs import StatedCode, absent_places, right_of, statements

MISSED: Final = "missed"
WRONG: Final = "wrong"
CAUSES: Final = {
    "unknown code": "no right code is a terminal code of this catalog: another year, or a category",
    "limit": f"the right code is found and left out: an answer holds {TIER1_MAX_CODES} codes",
    "said more precisely": "the right code is found and left out: another code of the text says more",
    "no mention": "no mention was found where the text states it",
    "claim": "the text was read as claiming something else there: denied, over, of a relative, or the other way round",
    "span cut": "its words alone give the right code; the mention that was found ends elsewhere",
    "merged": "its words alone give the right code; the mention that was found holds more than the statement",
    "symptom": "a symptom of what the text diagnoses: asked for and left out, or shown and not asked for",
    "sibling": "the category is right, the code below it is not",
    "not among ten": "its words alone do not give the right code among ten",
    "other category": "a code of another category is shown there; the right one is among the ten of its words",
    "below threshold": "the right code is among the ten of its words, and not probable enough to be shown",
    "written": "the text spells the code out",
    "not stated": "nothing is stated where the code was found",
    "elsewhere": "the target says no place for its codes, and none of the statements has this category",
}
"""Causes of a missed statement and of a wrong code; the first that holds is given."""
_ALIKE: Final = ("present", "suspected")


class TextError(NamedTuple):
    """A missed statement, or a wrong code. `words`, `start`, `end`: of the statement, or of what the code was found
    by; `right`: the codes of which one was asked for, there; `found`: the code shown there, None for none; `wording`:
    of the catalog, that it rests on; `rank`: of the right code among the ten of the statement's words; `said`, `read`:
    the claim of the text, and the one that was read."""

    error: str
    cause: str
    words: str
    start: int
    end: int
    right: tuple[str, ...]
    found: str | None
    confidence: str | None
    probability: float | None
    wording: str | None
    rank: int | None
    said: str | None
    read: str | None


class ReadText(NamedTuple):
    """An input, what tier 1 read in it, and its codes with their places: all, and those that are shown."""

    row: Mapping[str, Any]
    understood: Understood
    hits: list[Hit]
    sent: list[Hit]


def read_text(index: SearchIndex, row: Mapping[str, Any]) -> ReadText:
    """Read the text of an input as tier 1 does."""
    read = index.read(row["text"])
    hits = with_written_codes(row["text"], read.codes, index.catalog, read.reading)
    return ReadText(row, read, hits, most_probable(hits, TIER1_MAX_CODES))


def shown(index: SearchIndex, text: str) -> list[tuple[str, str]]:
    """The codes that tier 1 shows, with their confidence: those of its mentions, and those that the text spells out."""
    return [(hit.code, hit.confidence) for hit in read_text(index, {"text": text}).sent]


def errors_of(index: SearchIndex, row: Mapping[str, Any], got: Sequence[str] | None = None) -> list[TextError]:
    """The missed statements of an input in its order, then the wrong codes. `got`: the codes that another target than
    tier 1 shows; the causes are still those of tier 1, whose codes the others choose from."""
    text = read_text(index, row)
    codes = {hit.code for hit in text.sent} if got is None else set(got)
    missed = [_missed(index, text, one) for one in statements(row) if not one.codes & codes]
    right = right_of(row)
    sent = {hit.code: hit for hit in text.sent}
    wrong = [code for code in dict.fromkeys(sent if got is None else got) if code not in right]
    return missed + [_wrong(index, text, sent[code]) if code in sent else _placeless(row, code) for code in wrong]


# --- missed statements ------------------------------------------------------------------------------------------------


def _missed(index: SearchIndex, text: ReadText, said: StatedCode) -> TextError:
    own = _nearest(text.understood.mentions, said)
    alone = index.search(said.words, TIER1_MAX_CODES)
    there = max(_near(text, said, own), key=lambda hit: hit.probability, default=None)
    cause = _cause_of_missed(index, text, said, own, alone)
    rank = next((place for place, hit in enumerate(alone, start=1) if hit.code in said.codes), None)
    right, read = tuple(sorted(said.codes)), own.claim if own else None
    missed = TextError(
        MISSED, cause, said.words, said.start, said.end, right, None, None, None, None, rank, said.claim, read
    )
    if there is None:
        return missed
    sure = there.confidence, there.probability
    return missed._replace(found=there.code, confidence=sure[0], probability=sure[1], wording=_wording(text, there))


def _cause_of_missed(
    index: SearchIndex, text: ReadText, said: StatedCode, own: Mentioned | None, alone: Sequence[Candidate]
) -> str:
    if not any((code := index.catalog.get(name)) and code.terminal for name in said.codes):
        return "unknown code"
    if said.codes & {hit.code for hit in text.hits}:
        return "limit"
    if said.codes & text.understood.general:
        return "said more precisely"
    if own is None:
        return "no mention"
    if _reads_otherwise(said.claim, own.claim):
        return "claim"
    enough = any(hit.code in said.codes and hit.confidence != "low" for hit in alone)
    if enough and (span := _span_fault(said, own.start, own.end)):
        return span
    if enough and not own.codes and all(code in SYMPTOMS for code in said.codes):
        return "symptom"
    there = {hit.code for hit in _near(text, said, own)}
    if set(map(category, there)) & set(map(category, said.codes)):
        return "sibling"
    if not any(hit.code in said.codes for hit in alone):
        return "not among ten"
    return "other category" if there else "below threshold"


def _nearest(mentions: Iterable[Mentioned], said: StatedCode) -> Mentioned | None:
    """The mention that shares most with a statement."""
    shared = [(min(one.end, said.end) - max(one.start, said.start), one) for one in mentions]
    return max((both for both in shared if both[0] > 0), key=lambda both: both[0], default=(0, None))[1]


def _reads_otherwise(said: str, read: str) -> bool:
    """Return True when a claim was read that has other codes than the one that was made."""
    return read != said and not {said, read} <= set(_ALIKE)


def _span_fault(said: StatedCode, start: int, end: int) -> str:
    """The difference of a found span from a statement; empty where there is none."""
    if (start, end) == (said.start, said.end):
        return ""
    return "merged" if start <= said.start and end >= said.end else "span cut"


def _near(text: ReadText, said: StatedCode, own: Mentioned | None) -> list[Hit]:
    """The shown codes that were found at a statement's words."""
    return [hit for hit in text.sent if _meet(hit, said.start, said.end) or (own and hit.code in own.codes)]


# --- wrong codes ------------------------------------------------------------------------------------------------------


def _wrong(index: SearchIndex, text: ReadText, hit: Hit) -> TextError:
    said = _meant(text, hit)
    cause = _cause_of_wrong(index, text, hit, said)
    right = tuple(sorted(said.codes)) if said else ()
    words = text.row["text"][hit.start : hit.end]
    rank = None
    if said is not None:
        alone = index.search(said.words, TIER1_MAX_CODES)
        rank = next((place for place, one in enumerate(alone, start=1) if one.code in said.codes), None)
    return TextError(
        WRONG, cause, words, hit.start, hit.end, right, hit.code, hit.confidence, hit.probability,
        _wording(text, hit), rank, said.claim if said else None, hit.claim,
    )  # fmt: skip


def _cause_of_wrong(index: SearchIndex, text: ReadText, hit: Hit, said: StatedCode | None) -> str:
    if hit.code not in {one.code for one in text.understood.codes}:
        return "written"
    if said is None:
        if any(_meet(hit, start, end) for start, end in absent_places(text.row)):
            return "claim"
        return "symptom" if hit.code in SYMPTOMS else "not stated"
    if category(hit.code) in {category(code) for code in said.codes}:
        return "sibling"
    if _reads_otherwise(said.claim, hit.claim):
        return "claim"
    alone = {one.code for one in index.search(said.words, TIER1_MAX_CODES) if one.confidence != "low"}
    if hit.code not in alone and (span := _span_fault(said, hit.start, hit.end)):
        return span
    return "other category"


def _meant(text: ReadText, hit: Hit) -> StatedCode | None:
    """The statement that a code's evidence shares most with, one of the code's own category if there is one."""
    near = [
        (
            category(hit.code) in {category(code) for code in one.codes},
            min(one.end, hit.end) - max(one.start, hit.start),
            one,
        )
        for one in statements(text.row, every=True)
        if _meet(hit, one.start, one.end)
    ]
    best = max(near, key=lambda each: each[:2], default=None)
    return best[2] if best else None


def _placeless(row: Mapping[str, Any], code: str) -> TextError:
    """A wrong code of a target that says no places."""
    alike = [one for one in statements(row, every=True) if category(code) in {category(own) for own in one.codes}]
    cause, right = ("sibling", tuple(sorted(alike[0].codes))) if alike else ("elsewhere", ())
    return TextError(WRONG, cause, "", 0, 0, right, code, None, None, None, None, None, None)


def _meet(hit: Hit, start: int, end: int) -> bool:
    return hit.start < end and start < hit.end


def _wording(text: ReadText, hit: Hit) -> str | None:
    return next((one.text for one in text.understood.codes if one.code == hit.code), None)
