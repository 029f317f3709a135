"""True answers against the same letter written otherwise: all of it has to stay."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable

from clinical.letters import judge
from clinical.thresholds import GroundingThresholds
from evals.letters.generator import MONTHS, Letter

LOOKALIKES = (("0", "O"), ("1", "l"), ("l", "1"), ("O", "0"), ("rn", "m"), ("m", "rn"), ("I", "l"))
MONTH_CHARS = 3
"""Characters of the name of a month that is cut short."""
RATES = {1: 0.003, 2: 0.01, 3: 0.03}
"""Share of places at which a scan goes wrong, by strength."""


def scanned(text: str, strength: int, seed: int) -> str:
    """The text as OCR gives it: look-alikes, doubled spaces, words broken at line ends, typographic dashes."""
    chance = random.Random(seed)  # noqa: S311 - reproducible, not secret
    rate = RATES[strength]
    out, i = [], 0
    while i < len(text):
        if chance.random() < rate:
            pair = next((p for p in LOOKALIKES if text.startswith(p[0], i) and _in_context(text, i, p)), None)
            if pair:
                out.append(pair[1])
                i += len(pair[0])
                continue
            if text[i] == " ":
                out.append("  ")
                i += 1
                continue
            if _may_break(text, i):
                out.append(text[i] + "-\n")
                i += 1
                continue
        out.append("–" if text[i] == "-" and chance.random() < rate else text[i])
        i += 1
    return "".join(out)


def _in_context(text: str, i: int, pair: tuple[str, str]) -> bool:
    """Among digits, a digit turns into an alphabetic character; within a word, that into a digit or another one."""
    before, after = text[max(0, i - 1) : i], text[i + len(pair[0]) : i + len(pair[0]) + 1]
    if pair[0] in ("0", "1"):
        return before.isdigit() or after.isdigit()
    return before.isalpha() and after.isalpha()


def _may_break(text: str, i: int) -> bool:
    around = text[max(0, i - 3) : i + 5]
    return len(around) == 8 and around.isalpha() and around[4:].islower()


def _same(letter: Letter) -> str:
    return letter.text


def _decomposed(letter: Letter) -> str:
    return unicodedata.normalize("NFD", letter.text)


def _short_sides(letter: Letter) -> str:
    text = re.sub(r"\brechts\b", "re.", re.sub(r"\blinks\b", "li.", letter.text))
    return re.sub(r"\bbeidseits\b", "bds.", text)


def _broken_words(letter: Letter) -> str:
    chance = random.Random(letter.seed)  # noqa: S311 - reproducible, not secret

    def cut(match: re.Match[str]) -> str:
        word = match.group()
        if chance.random() > 0.15:
            return word
        i = chance.randrange(3, len(word) - 3)
        return f"{word[:i]}-\n{word[i:]}"

    return re.sub(r"(?<![@.-])\b[A-ZÄÖÜ]?[a-zäöüß]{7,}\b(?![@.]\w|-)", cut, letter.text)


def _umlauts_spelled_out(letter: Letter) -> str:
    table = {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"}
    return "".join(table.get(char, char) for char in letter.text)


def _shouted(letter: Letter) -> str:
    return letter.text.replace(letter.truth["patient"]["nachname"], letter.truth["patient"]["nachname"].upper())


def _other_dates(letter: Letter) -> str:
    """Every ISO or dotted date in another of the common notations."""
    chance = random.Random(letter.seed)  # noqa: S311 - reproducible, not secret

    def other(match: re.Match[str]) -> str:
        parts = match.group().replace("-", ".").split(".")
        year, month, day = map(int, parts if len(parts[0]) == 4 else reversed(parts))
        month_name = MONTHS[month - 1]
        return chance.choice(
            (
                f"{day:02}.{month:02}.{year}", f"{day}. {month_name} {year}", f"{day:02}/{month:02}/{year}",
                f"{year}-{month:02}-{day:02}", f"{day}. {month_name[:MONTH_CHARS]}. {year}",
                f"{day:02}{month:02}{year}", f"{day}. {month}. {year}",
                f"{day}. {month_name.replace('Januar', 'Jänner')} {year}",
            )
        )  # fmt: skip

    return re.sub(r"(?<![\d.])(?:\d{1,2}\.\d{1,2}\.\d{4}|\d{4}-\d{2}-\d{2})(?![\d.])", other, letter.text)


POSITIVES: dict[str, Callable[[Letter], str]] = {
    "clean": _same,
    "other date notation": _other_dates,
    "words broken at line ends": _broken_words,
    "decomposed umlauts": _decomposed,
    "umlauts spelled out": _umlauts_spelled_out,
    "abbreviated sides": _short_sides,
    "surname in capitals": _shouted,
    "OCR strength 1": lambda letter: scanned(letter.text, 1, letter.seed),
    "OCR strength 2": lambda letter: scanned(letter.text, 2, letter.seed),
    "OCR strength 3": lambda letter: scanned(letter.text, 3, letter.seed),
}


def removed_positives(
    kind: str, letters: list[Letter], thresholds: GroundingThresholds | None = None
) -> tuple[int, list[tuple[str, str, str]]]:
    """The number of true values judged, and (path, value, text) of those removed."""
    total, removed = 0, []
    for letter in letters:
        text = POSITIVES[kind](letter)
        findings = judge(letter.truth, text, thresholds)
        total += len(findings)
        removed += [(finding.path, finding.value, text) for finding in findings if not finding.kept]
    return total, removed
