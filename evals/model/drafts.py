"""Drafts of letters under three instructions, and what can be told of them without a second model.

Whether a draft is good, a person says: the drafts are written into the folder. Counted are answers, German, and three
signs of invention and loss: numbers that the letter has not, categories of diseases (as tier 1 reads them) that only
the draft has, and those that only the letter has.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Final, NamedTuple

from bentos.check_model import GERMAN, GERMAN_LEAST
from clinical.contract import QUERY_MAX, GenerateRequest
from clinical.errors import LanguageModelError
from clinical.generation import generate
from clinical.icd import category
from clinical.llm import LanguageModel
from clinical.progress import progress
from clinical.reading import SearchIndex
from evals.coding.costs import Metered
from evals.exchange import gathered
from evals.letters.fields import Asked
from evals.letters.generator import MONTHS
from evals.measures.intervals import mean, ratio, share
from evals.measures.results import Row, row
from evals.reading.judged import shown

INSTRUCTIONS: Final[Mapping[str, str]] = {
    "summary": "Fasse diesen Brief in fünf Sätzen für die weiterbehandelnde Ärztin zusammen. Nur was dasteht.",
    "epicrisis": "Schreibe aus diesem Text eine Epikrise in ganzen Sätzen: Anlass, Verlauf, Procedere. Ergänze nichts.",
    "plain words": "Erkläre der Patientin oder dem Patienten in einfachem Deutsch, was in diesem Brief steht.",
}
"""By name: what is asked of each letter."""


class DraftedLetter(NamedTuple):
    """A draft and what it was made of; `draft` is None where the model failed. `name`: letter and instruction."""

    name: str
    instruction: str
    text: str
    draft: str | None
    metered: Metered


async def drafted(model: LanguageModel, letters: Sequence[Asked], at_once: int) -> list[DraftedLetter]:
    """Every letter under every instruction, so many at once."""

    async def one(asked: tuple[str, Asked]) -> DraftedLetter:
        (instruction, letter), metered = asked, Metered(model)
        text = letter.request.text
        try:
            draft = (await generate(GenerateRequest(text=text, prompt=INSTRUCTIONS[instruction]), metered)).output
        except LanguageModelError:
            draft = None
        return DraftedLetter(f"{letter.name} {instruction}".replace("/", "-"), instruction, text, draft, metered)

    every = list(product(INSTRUCTIONS, letters))
    return await gathered(one, every, at_once, progress(None, "drafts", "drafts", total=len(every)))


def rows_of(index: SearchIndex, made: Sequence[DraftedLetter]) -> list[Row]:
    """The signs by instruction, each with its interval over drafts."""
    rows = list[Row]()
    for name in INSTRUCTIONS:
        own = [one for one in made if one.instruction == name]
        there = [(one.text, one.draft) for one in own if one.draft is not None]
        rows += row("failed", name, len(own), float(len(own) - len(there)))
        rows += row("german", name, len(there), share(sum(is_german(draft) for _, draft in there), len(there)))
        rows += row("words", name, len(there), mean([len(draft.split()) for _, draft in there]))
        names = [str(number) for number in range(len(there))]
        counts = [(len(numbers(draft) & numbers(text)), len(numbers(draft))) for text, draft in there]
        rows += _ratio("numbers_of_the_letter", name, counts, names)
        read = [(_categories(index, text), _categories(index, draft)) for text, draft in there]
        rows += _ratio("diseases_of_the_letter", name, [(len(a & b), len(b)) for a, b in read], names)
        rows += _ratio("diseases_kept", name, [(len(a & b), len(a)) for a, b in read], names)
    return rows


def _ratio(measure: str, of: str, counts: Sequence[tuple[int, int]], names: Sequence[str]) -> list[Row]:
    found = ratio([part for part, _ in counts], [whole for _, whole in counts], names) if counts else None
    return row(measure, of, sum(whole for _, whole in counts), found)


def is_german(text: str) -> bool:
    """Return True where a text has the function words that running German has."""
    words = re.findall(r"[a-zäöüß]+", text.lower())
    return bool(words) and sum(word in GERMAN for word in words) >= GERMAN_LEAST * len(words)


_LISTED = re.compile(r"(?m)^\s*\d{1,2}[.)]\s")
_ABBREVIATED = 3
_MONTHS = {month[:_ABBREVIATED].casefold(): number for number, month in enumerate(MONTHS, start=1)}


def numbers(text: str) -> set[int]:
    """The numbers of a text, months by name among them; what numbers the lines of a list is none."""
    written = {int(digits) for digits in re.findall(r"\d{1,9}", _LISTED.sub(" ", text))}
    return written | {_MONTHS[word] for word in re.findall(r"\b[a-zäö]{3}", text.casefold()) if word in _MONTHS}


def _categories(index: SearchIndex, text: str) -> set[str]:
    return {category(code) for code, _ in shown(index, text[:QUERY_MAX])}
