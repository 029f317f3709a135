"""The running text of a letter: its paragraphs as one line each, its sentences, and what the text claims of them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from clinical.claims import Claim, Reading
from clinical.letters.labels import key
from clinical.letters.layout import LetterLayout, marked
from clinical.letters.reader.narrative.phrases import PlacedWord, words_of
from clinical.letters.reader.sentences import sentences

SENTENCE_MAX = 700
"""Characters of a sentence that is read; a longer one is a table or a list without stops."""
SENTENCE_MIN = 2
"""Characters of the shortest name that is looked for in sentences: `PE`, a procedure."""
_STOPS = ".,;:!?"
_WRAPPED = 50
"""Characters from which a line may continue in the next one."""
_EXAMINED = re.compile(
    r"status|befund|labor|röntgen|roentgen|ekg|sono|echo|^ct|^mr|skopie|graph?ie|histolog|bildgebung|untersuchung|"
    r"vital|familien|allergi|noxen|fremdanamnese|sozial|impf|technik|makroskop|mikroskop|beilage|anlage|kopie"
)
"""Sections of findings, of relatives and of habits: what they name is no diagnosis of the letter."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence on one line; `start` is its place in the sheet's text, `paragraph` the number of its paragraph."""

    text: str
    start: int
    paragraph: int
    examined: bool = False
    """True if it stands in a section of findings, relatives or habits."""


class Body:
    """The text between salutation and closing formula, each sentence read by itself.

    The whole text where there is no salutation.
    """

    def __init__(self, sheet: LetterLayout) -> None:
        self.sheet = sheet
        self._readings: dict[int, Reading] = {}
        self._words: dict[int, list[PlacedWord]] = {}
        self._titles: dict[str, bool] = {}

    def claim(self, sentence: Sentence, start: int, end: int) -> Claim:
        """Return the claim of the part of a sentence from `start` to `end`."""
        known = self._readings.get(sentence.start)
        if known is None:
            known = self._readings[sentence.start] = Reading.of(sentence.text)
        return known.ruled(start, end)

    def words(self, sentence: Sentence) -> list[PlacedWord]:
        """The words of one of the body's sentences, divided once for all who look for names in it."""
        known = self._words.get(sentence.start)
        if known is None:
            known = self._words[sentence.start] = words_of(sentence.text)
        return known

    @cached_property
    def sentences(self) -> list[Sentence]:
        return list(self._sentences())

    @cached_property
    def telling(self) -> list[Sentence]:
        """The sentences that are long enough to name a disease, a drug or a procedure."""
        return [one for one in self.sentences if len(one.text.rstrip(_STOPS)) >= SENTENCE_MIN]

    def _sentences(self) -> Iterator[Sentence]:
        for number, (start, text, examined) in enumerate(self._paragraphs()):
            at = 0
            for one in sentences(text):
                at = max(text.find(one, at), 0)
                if len(one) <= SENTENCE_MAX:
                    yield Sentence(one, start + at, number, examined)
                at += len(one)

    def _paragraphs(self) -> Iterator[tuple[int, str, bool]]:
        """(place, text, whether of findings): lines that continue in the next one are one paragraph."""
        sheet = self.sheet
        first = sheet.greeting + 1 if sheet.greeting < len(sheet.lines) else 0
        starts = sheet.starts
        begun = first
        lines = sheet.lines[: sheet.closing]
        for n in range(first, len(lines)):
            line = lines[n]
            if not (len(line) >= _WRAPPED and n + 1 < len(lines) and self._goes_on(line, lines[n + 1])):
                text = sheet.text[starts[begun] : starts[n] + len(line)].replace("\n", " ")
                if text.strip():
                    yield starts[begun], text, self._examined(begun)
                begun = n + 1

    def _goes_on(self, line: str, following: str) -> bool:
        bare = following.strip()
        return (
            bool(bare)
            and line.rstrip()[-1:] not in ".:!?"
            and not marked(following)
            and not marked(line)
            and (len(line) < 200 or bare[0].islower())
        )

    def _examined(self, n: int) -> bool:
        number = bisect_right(self._section_starts, n) - 1
        if number < 0:
            return False
        section = self.sheet.sections[number]
        if section.running and self._last_blank[n] >= section.at:
            return False  # what began on the heading's own line ends with its paragraph
        return self._of_findings(section.title)

    def _of_findings(self, title: str) -> bool:
        known = self._titles.get(title)
        if known is None:
            known = self._titles[title] = _EXAMINED.search(key(title)) is not None
        return known

    @cached_property
    def _section_starts(self) -> list[int]:
        return [one.at for one in self.sheet.sections]

    @cached_property
    def _last_blank(self) -> list[int]:
        """For each line the number of the last blank one before it, -1 where there is none."""
        found, last = [], -1
        for n, line in enumerate(self.sheet.lines):
            found.append(last)
            last = last if line.strip() else n
        return found
