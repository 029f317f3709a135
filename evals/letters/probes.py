"""Free text that differs from the letter by a few words, true and invented: what the grounding thresholds decide.

The labelled negatives and positives (`negatives`, `positives`) come out the same at any overlap, since other rules
decide them. Here the value and the text differ by one to five plain words. Both sides look alike to the validator: a
word that a page break swallowed and a word that a model invented are each a word of the value that the text lacks. So
the contract's 60 % is a trade, and this is what it is measured on.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any, NamedTuple

from clinical.claims import Reading
from clinical.letters import Kind, find_statement
from clinical.thresholds import NOTEBOOKS, GroundingThresholds, ThresholdSection
from evals.letters import grounding
from evals.letters.generator import Letter, letters
from evals.letters.negatives import stands_in, values_of

FIELDS: Mapping[str, Kind] = {
    "diagnosen": "diagnosis", "eingriffe.bezeichnung": "diagnosis", "procedere": "statement",
    "fragestellung": "statement",
}  # fmt: skip
"""Free text, and how it is judged. Of medication nearly every word counts by itself, of institutions each does."""
REMARKS = ("bekannter", "langjähriger", "anamnestisch", "bildgebend", "dokumentierter")
"""Plain words that a letter may put in between without making it another thing."""
INVENTED = ("traumatischer", "metastasierter", "rupturierter", "septischer", "hämorrhagischer", "toxischer")
"""Words that make it another thing."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A value and a text that differ by `words` words; `true`: the letter meant it."""

    kind: str
    words: int
    true: bool
    path: str
    value: str
    text: str


class CountedProbes(NamedTuple):
    """Counts of one class and field under some thresholds: `n` probes judged, `wrong` of them wrongly."""

    overlap: float
    skip: int
    window: int
    kind: str
    words: int
    true: bool
    field: str
    n: int
    wrong: int


Maker = Callable[[random.Random, list[str], str, int], "tuple[str, str] | None"]
"""(chance, the value's words, the text with the value in it, how many words) -> (value, text)."""


def _put_between(chance: random.Random, value: list[str], text: str, words: int) -> tuple[str, str] | None:
    """The letter has words in between: `Fraktur [bekannter] distaler Radius`."""
    at = chance.randrange(1, len(value))
    longer = [*value[:at], *chance.sample(REMARKS, words), *value[at:]]
    return " ".join(value), text.replace(" ".join(value), " ".join(longer), 1)


def _lost(chance: random.Random, value: list[str], text: str, words: int) -> tuple[str, str] | None:
    """Words inside are missing in the text, as behind a fold of the paper."""
    if len(value) < words + 2:
        return None
    at = chance.randrange(1, len(value) - words)
    return " ".join(value), text.replace(" ".join(value), " ".join(value[:at] + value[at + words :]), 1)


def _invented(chance: random.Random, value: list[str], text: str, words: int) -> tuple[str, str] | None:
    """Words inside that no letter says: `Tiefe [septischer] Beinvenenthrombose`."""
    at = chance.randrange(1, len(value))
    return " ".join([*value[:at], *chance.sample(INVENTED, words), *value[at:]]), text


def _lost_here(chance: random.Random, value: list[str], text: str, words: int) -> tuple[str, str] | None:
    """Words inside are missing in the stretch, but stand elsewhere in the letter."""
    lost = _lost(chance, value, text, words)
    if lost is None or lost[1] == text:
        return None
    return lost[0], f"{lost[1]}\n\nStichworte\n" + "\n".join(value[1:-1])


def _borrowed(chance: random.Random, value: list[str], text: str, words: int) -> tuple[str, str] | None:
    """Words inside that the letter says elsewhere: `Tiefe [Kontrolle] Beinvenenthrombose`."""
    others = [word for word in re.findall(r"[^\W\d_]{5,}", text) if word not in value]
    at = chance.randrange(1, len(value))
    return " ".join([*value[:at], *chance.sample(others, words), *value[at:]]), text


def _picked(chance: random.Random, value: list[str], text: str, words: int) -> tuple[str, str] | None:
    """Two or three words of one paragraph, in order, each with `words` others left out between them."""
    paragraphs = [re.findall(r"[^\W\d_]{4,}", one) for one in text.split("\n\n")]
    length = chance.choice((2, 3))
    stride = words + 1
    long_enough = [one for one in paragraphs if len(one) > stride * (length - 1)]
    if not long_enough:
        return None
    there = chance.choice(long_enough)
    start = chance.randrange(len(there) - stride * (length - 1))
    return " ".join(there[start : start + stride * length : stride][:length]), text


MAKERS: dict[str, tuple[bool, Maker]] = {
    "words put in between": (True, _put_between),
    "words lost in the text": (True, _lost),
    "words lost here, standing elsewhere": (True, _lost_here),
    "words invented inside": (False, _invented),
    "words of elsewhere put inside": (False, _borrowed),
    "words picked from a paragraph": (False, _picked),
}
SIZES = (1, 2, 3, 4, 5)


def probes(made: Sequence[Letter], statements: Sequence[str], count: int, seed: int) -> list[Probe]:
    """`count` of each class and number of words; `statements`: wordings of a catalog, put in as diagnoses."""
    chance = random.Random(seed)  # noqa: S311 - reproducible, not secret
    long_enough = [one for one in statements if len(_plain(one)) == len(one.split()) >= 3]
    found: list[Probe] = []
    for kind, (true, maker) in MAKERS.items():
        for words in SIZES:
            one_class: list[Probe] = []
            for _ in range(40 * count):
                if len(one_class) == count:
                    break
                probe = _probe(chance, chance.choice(made), chance.choice(long_enough), maker, words)
                if probe is not None and (true or not stands_in(probe[1], probe[2])):
                    one_class.append(Probe(kind, words, true, *probe))
            found += one_class
    return found


def _plain(value: str) -> list[str]:
    """The value's words of four letters or more, without numbers and abbreviations."""
    return re.findall(r"(?<!\S)[^\W\d_]{4,}(?:-[^\W\d_]{4,})*(?!\S)", value)


def _probe(
    chance: random.Random, letter: Letter, statement: str, maker: Maker, words: int
) -> tuple[str, str, str] | None:
    there = [(path, value) for path, value in values_of(letter.truth) if path in FIELDS and value in letter.text]
    if not there:
        return None
    path, value = chance.choice(there)
    text = letter.text
    if path == "diagnosen":
        text, value = text.replace(value, statement, 1), statement
    value = value.rstrip("?.")
    if len(value.split()) < 2 or len(_plain(value)) < len(value.split()):
        return None
    changed = maker(chance, value.split(), text, words)
    return (path, *changed) if changed else None


def counted(found: Iterable[Probe], options: Sequence[GroundingThresholds]) -> list[CountedProbes]:
    """Under each of the thresholds, every class, number of words and field with its count of wrong judgements: a true
    value that is removed, an invented one that is kept."""
    sums: dict[tuple[Any, ...], list[int]] = {}
    for one in found:
        source = Reading.of(one.text)  # once for all thresholds: it takes most of the time
        for thresholds in options:
            kept = find_statement(source, one.value, FIELDS[one.path], thresholds) is not None
            row = sums.setdefault((*astuple(thresholds), one.kind, one.words, one.true, one.path), [0, 0])
            row[0] += 1
            row[1] += kept != one.true
    return [CountedProbes(*key, *row) for key, row in sums.items()]


class Size(NamedTuple):
    """Size of a measurement: letters, tries of each class, and the seed of both."""

    letters: int
    tries: int
    seed: int


FULL, SMALL = Size(240, 200, 2026), Size(36, 15, 2026)
"""Sizes of the measurement behind the section of `clinical/thresholds.json`, and of the one that a test repeats."""


def measured(thresholds: GroundingThresholds, size: Size, statements: Sequence[str]) -> dict[str, Any]:
    """Errors of the thresholds by class: [wrong, of]."""
    made = letters(size.letters, size.seed)
    by_class: dict[str, list[int]] = {}
    for row in counted(probes(made, statements, size.tries, size.seed), [thresholds]):
        one = by_class.setdefault(f"{row.kind}: {row.words}", [0, 0])
        one[:] = one[0] + row.wrong, one[1] + row.n
    return {"size": size._asdict(), **labelled(thresholds, made, size), "probes_wrong": by_class}


def labelled(thresholds: GroundingThresholds, made: list[Letter], size: Size) -> dict[str, dict[str, list[int]]]:
    """Errors of the thresholds on labelled negatives and positives about letters, by class: [wrong, of]."""
    found = list(grounding.labelled(made, size.tries, size.seed, thresholds))
    names = {"lies_passed": "lies_kept", "truths_removed": "truths_removed"}
    return {name: {one.kind: [one.wrong, one.of] for one in found if one.measure == of} for name, of in names.items()}


def digest(size: Size, statements: Sequence[str]) -> str:
    """SHA-256 of what was measured on: the letters with their true fields, and the wordings."""
    sha = hashlib.sha256()
    for letter in letters(size.letters, size.seed):
        sha.update(f"{letter.text}\0{sorted(values_of(letter.truth))}\0".encode())
    sha.update("\0".join(statements).encode())
    return sha.hexdigest()


def section(thresholds: GroundingThresholds, statements: Sequence[str]) -> ThresholdSection:
    """The section `grounding` of `clinical/thresholds.json`; `statements`: the synonyms of the starter catalog."""
    sizes = {"full": FULL, "small": SMALL}
    data = {"what": "generated letters, with wordings of the starter catalog put in as diagnoses"}
    data |= {name: digest(size, statements) for name, size in sizes.items()}
    metrics = {name: measured(thresholds, size, statements) for name, size in sizes.items()}
    return ThresholdSection(thresholds, data, metrics, NOTEBOOKS["grounding"])
