"""Generated texts: mentions and claims that are found, and the worth of labels.

The grammar is that of training, the seed is not; texts that people wrote are read worse (`evals.reading.inputs`).
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from catalog_build.training.texts import NOT_CODED, Text, TextWriter, WrittenMention
from clinical.icd import NONE, category
from clinical.reading import Elsewhere, SearchIndex
from evals.measures.intervals import clustered, share


def generated(index: SearchIndex, texts: int, seed: int) -> list[Text]:
    """Texts of the index's own wordings; the grammar is that of training, the seed is not."""
    names = index.wordings.tables.code
    codes = index.catalog.codes
    wordings = [(index.wordings.text(number), codes[names[number]].code) for number in range(len(names))]
    writer = TextWriter(wordings, seed)
    return [writer.write() for _ in range(texts)]


def found_in(index: SearchIndex, texts: Sequence[Text]) -> dict[str, Counter[str]]:
    """Counts by kind of text and by claim: said, exact, touched, found, claims_right, claims."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for text in texts:
        mentions = index.read(text.text).mentions
        places = {(mention.start, mention.end): mention for mention in mentions}
        counts[text.kind]["found"] += len(mentions)
        for said in text.said:
            exact = places.get((said.start, said.end))
            near = exact or next((m for m in mentions if m.start < said.end and said.start < m.end), None)
            for name in (text.kind, f"claim {said.claim}"):
                counts[name] += Counter(said=1, exact=exact is not None, touched=near is not None)
                if near is not None:
                    counts[name] += Counter(claims=1, claims_right=near.claim == said.claim)
    return counts


# --- diagnoses as systems print them ---------------------------------------------------------------------------------

PRINTED: Final = {
    "titles in lines": ("Diagnosen:\n- {}", "\n- ", "{title}"),
    "titles in a sentence": ("Aufnahme wegen {}.", "; ", "{title}"),
    "code before the title": ("Dauerdiagnosen\n{}", "\n", "{code} {letter} {title}"),
    "code behind the title": ("Diagnosen: {}", "; ", "{title} ({code} {letter})"),
}
"""By class of text: the text, what parts its diagnoses, and one of them."""
TOGETHER: Final = 4
DISEASES: Final = "19"
"""The last chapter of diseases and injuries."""
LETTERS: Final = "GGGVVA"
CLAIMED: Final = {"G": "present", "V": "suspected", "A": "excluded"}
"""Certainties of German outpatient coding."""


def printed_diagnoses(index: SearchIndex, texts: int, seed: int) -> list[dict[str, Any]]:
    """So many inputs (`evals.reading.inputs`) of each class: official titles of diseases that are spoken of often."""
    chance, found = random.Random(seed), list[dict[str, Any]]()  # noqa: S311 - a sample, no secret
    codes = [code for code in index.catalog if code.terminal and code.everyday and code.chapter <= DISEASES]
    for kind, (text, between, one) in PRINTED.items():
        for _ in range(texts):
            letters = LETTERS if "{letter}" in one else "G"
            said = [(code, chance.choice(letters)) for code in chance.sample(codes, TOGETHER)]
            lines = [one.format(title=code.title, code=code.code, letter=letter) for code, letter in said]
            row: dict[str, Any] = {"class": kind, "text": text.format(between.join(lines)), "codes": [], "absent": []}
            for code, letter in said:
                one_said = {"codes": [code.code], "text": code.title, "claim": CLAIMED[letter]}
                row["absent" if letter == "A" else "codes"].append(one_said)
            found.append(row)
    return found


# --- the worth of labels ---------------------------------------------------------------------------------------------

LEVELS: Final = ("high", "medium")


class ShownCode(NamedTuple):
    """A code that is shown, how surely, and whether the text means it."""

    kind: str
    level: str
    code: str
    probability: float
    right: bool


def shown_of(index: SearchIndex, texts: Sequence[Text]) -> list[ShownCode]:
    """Every code of high or medium confidence; right is what some mention that it overlaps means."""
    meant, found = _Meant(index), []
    for text in texts:
        for hit in index.search(text.text, 10):
            if hit.confidence != "low":
                near = [said for said in text.said if said.start < hit.end and hit.start < said.end]
                right = any(hit.code in meant.codes(said) for said in near)
                found.append(ShownCode(text.kind, hit.confidence, hit.code, hit.probability, right))
    return found


def bands(index: SearchIndex, texts: Sequence[Text]) -> dict[str, dict[str, Any]]:
    """By kind of text and for `all`: `stated` mentions that ask for a code, the share of them that is shown, and for
    each level its number of codes, their precision [value, low, high] and the mean of their probabilities."""
    found, meant, result = shown_of(index, texts), _Meant(index), {}
    for kind in (*sorted({text.kind for text in texts}), "all"):
        own = [one for one in found if kind in (one.kind, "all")]
        stated = sum(bool(meant.codes(said)) for text in texts if kind in (text.kind, "all") for said in text.said)
        right = sum(one.right for one in own)
        result[kind] = {"stated": stated, "coverage": share(min(right, stated), stated)} | {
            level: _band([one for one in own if one.level == level]) for level in LEVELS
        }
    return result


def _band(own: Sequence[ShownCode]) -> dict[str, Any]:
    believed = round(sum(one.probability for one in own) / len(own), 4) if own else None
    precision = clustered([one.right for one in own], [category(one.code) for one in own])
    return {"codes": len(own), "precision": precision, "believed": believed}


class _Meant:
    """The codes that a mention of a generated text asks for."""

    def __init__(self, index: SearchIndex) -> None:
        self._catalog, self._elsewhere = index.catalog, Elsewhere(index.catalog, index.wordings)

    def codes(self, said: WrittenMention) -> set[str]:
        if said.claim == "excluded" or said.code == NOT_CODED:
            return set()
        if said.claim == "present" or said.claim == "suspected":
            return {said.code}
        target = self._elsewhere.family if said.claim == "family" else self._elsewhere.past
        number = int(target[self._catalog.number(said.code)])
        return {self._catalog.codes[number].code} if number != NONE else set()
