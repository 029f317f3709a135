"""A long text as overlapping parts, each short enough to be one diagnosis.

A diagnosis is a run of words without a full stop in it. Every clause is therefore covered by windows of two lengths,
each moved on by half of itself; function words at their edges are cut away, and what has no content is left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Final, NamedTuple

from clinical.text.folding import Token, words

WHOLE: Final = 6
"""Content words up to which a text or a clause is also searched as a whole."""
WINDOWS: Final = (2, 4)
"""Content words of a window; with 1 single words of long sentences win too often, with 7 nothing more is found."""

_STOP_WORDS = """
aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes anderm andern anderr
anders auch auf aus bei bin bis bist da damit dann das dass dasselbe dazu daß dein deine deinem deinen deiner deines
dem demselben den denn denselben der derer derselbe derselben des desselben dessen dich die dies diese dieselbe
dieselben diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines einig einige einigem
einigen einiger einiges einmal er es etwas euch euer eure eurem euren eurer eures für gegen gewesen hab habe haben hat
hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im in indem ins ist jede jedem jeden
jeder jedes jene jenem jenen jener jenes jetzt kann kein keine keinem keinen keiner keines können könnte machen man
manche manchem manchen mancher manches mein meine meinem meinen meiner meines mich mir mit muss musste nach nicht
nichts noch nun nur ob oder ohne sehr sein seine seinem seinen seiner seines selbst sich sie sind so solche solchem
solchen solcher solches soll sollte sondern sonst um und uns unser unsere unserem unseren unseres unter viel vom von
vor war waren warst was weg weil weiter welche welchem welchen welcher welches wenn werde werden wie wieder will wir
wird wirst wo wollen wollte während würde würden zu zum zur zwar zwischen über
"""
_NARRATION = """
seit unter wegen bereits kommt stellt stellte leidet klagt zeigt zeigte besteht bestand erhielt erhält erfolgt erfolgte
bekannt bekannte bekannter bekannten patient patientin patienten herr frau jahre jahren jährige jähriger jährigen monate
monaten wochen tage tagen heute gestern praxis ambulanz klinik krankenhaus arzt hausarzt termin vorstellung untersuchung
untersuchungen kontrolle behandlung behandelt therapie verordnung verordnet diagnose diagnosen befund befunde hinweis
hinweise nebendiagnosen hauptdiagnose anamnese eigenanamnese beurteilung verlauf aufenthalt entlassung aufnahme
ausschluss verdacht aktuell aktuelle links rechts beidseits beidseitig linke rechte linken rechten
v a dd bds re li ca ggf bzw etwa zwei drei vier fünf sechs sieben acht neun zehn elf zwölf mehrere einige wenige
"""
FUNCTION_WORDS: Final = frozenset(f"{_STOP_WORDS} {_NARRATION}".split())
"""Words that say nothing about which code is meant: the German stop words of bm25s (MIT),
and the narration of a visit."""

# The dot of an abbreviation ("Z. n. Herzinfarkt") ends nothing.
_BOUNDARY: Final = re.compile(
    r"(?<=[^\W\d_]{3})\.|(?<=[\d)%])\.|[;:!?,()\[\]/•·|]|\n|\s[-–—]\s|\b(?:sowie|und|oder|bei|mit|wegen|durch|"
    r"infolge)\b",
    re.I,
)
_STOP: Final = re.compile(r"[^\W\d_]{4}[.;:!?]\s|\n\s*\S")
"""A stop inside a short text: behind a word too long for an abbreviation, or a new line."""
_LETTERS: Final = re.compile(r"[^\W\d_]{2,}")
_INSIDE_NUMBER: Final = re.compile(r"(?<=\d)[.,](?=\d)")


class Part(NamedTuple):
    """A run of words; `start` inclusive, `end` exclusive, in code points of the original.

    `noun`: it holds a capital, or nothing in the whole text does; and it is not numbers alone.
    """

    text: str
    start: int
    end: int
    noun: bool = True


def content_words(text: str, written: Sequence[Token] | None = None) -> list[Token]:
    """The words that carry meaning; a text of function words alone gives none. `written`: its words, where known."""
    return [
        word
        for word in (words(text) if written is None else written)
        if text[word.start : word.end].casefold() not in FUNCTION_WORDS
    ]


def has_more_content(text: str, written: Sequence[Token], most: int) -> bool:
    """True if more than so many words of a text carry meaning; a long one is not read to its end."""
    content = (word for word in written if text[word.start : word.end].casefold() not in FUNCTION_WORDS)
    return next(islice(content, most, None), None) is not None


def cut(text: str) -> list[Part]:
    """All parts of a text, each once, in the order of their first word; a short text without a stop is one part."""
    found = content_words(text)
    if len(found) <= WHOLE and not _STOP.search(text.strip()):
        return [Part(text, 0, len(text))]
    if not found:
        return [Part(text, 0, len(text))]
    places = dict.fromkeys(span for clause in _clauses(text, found) for span in _spans(clause))
    lower = text.islower()
    return [Part(text[start:end], start, end, has_noun(text[start:end], lower)) for start, end in sorted(places)]


def has_noun(part: str, lower: bool) -> bool:
    """True if a part of a text has a capitalized word, or any word where the whole text is in lower case."""
    words = _LETTERS.findall(part)
    return any(lower or word[0].isupper() for word in words)


def _clauses(text: str, found: list[Token]) -> list[list[Token]]:
    """Words between boundaries; the clause around soft boundaries (und, mit, ...) stays whole where it is short."""
    numbers = {match.start() for match in _INSIDE_NUMBER.finditer(text)}
    borders = [match.start() for match in _BOUNDARY.finditer(text) if match.start() not in numbers]
    hard = [at for at in borders if not text[at].isalpha()]
    return _between(found, borders) + [clause for clause in _between(found, hard) if len(clause) <= WHOLE]


def _between(found: list[Token], borders: list[int]) -> list[list[Token]]:
    clauses: list[list[Token]] = []
    at, last = 0, -1
    for word in found:
        while at < len(borders) and borders[at] < word.start:
            at += 1
        if at != last:
            clauses.append([])
            last = at
        clauses[-1].append(word)
    return clauses


def _spans(clause: list[Token]) -> list[tuple[int, int]]:
    spans = [(clause[0].start, clause[-1].end)] if len(clause) <= WHOLE else []
    for size in WINDOWS:
        step = max(1, size // 2)
        for first in range(0, max(0, len(clause) - size) + 1, step):
            window = clause[first : first + size]
            spans.append((window[0].start, window[-1].end))
    return spans
