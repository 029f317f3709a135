"""Clinical texts generated from wordings: to learn where mentions begin and end, and to measure how texts are read.

A grammar of our own (`frames.tsv`): wordings alone, lists in many layouts, sentences of anamnesis, findings and
epicrisis, denials, relatives, suspicion, history, drugs with doses, and filler that names no disease. Nothing of it is
taken from an evaluation set; a test compares them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from catalog_build.training.augmentation import Augmenter
from clinical.icd import SYMPTOMS

HERE: Final = Path(__file__).parent
SEPARATORS: Final = (
    *(", ", ", ", "; ", " / ", "/", " + ", " und ", " u. ", " sowie ", "\n", "\n", "\n- ", "\n• ", "\n* "),
    *(" - ", " & ", " · ", ". ", " ", " ", " "),
)
"""Between the items of a list; commas and lines are the most frequent in notes."""
JOINTS: Final = (
    *(" und ", " und ", ", ", " bei ", " bei ", " mit ", " nach ", " im Rahmen einer ", " sowie ", " infolge "),
    *(", daneben ", "; "),
)
"""Between two mentions of one sentence."""
COMPOSED, LED = 0.38, 0.06
"""Shares of sentences that are composed of an opening, mentions and a closing, and in which symptoms lead to a disease;
the others are whole frames."""
NOT_CODED: Final = ""
"""Code of a mention that is not coded: of a symptom beside the disease that explains it (coding guidelines D003)."""
NAMES: Final = ["Meier", "Schulze", "Winkler", "Brandt", "Keller", "Vogt", "Huber", "Franke", "Lorenz", "Busch"]
_SLOT: Final = re.compile(r"\{(\w+)\}")
_ADJECTIVE: Final = re.compile(r"^([A-ZÄÖÜ][a-zäöüß]{3,})(e|er|es)(?= [A-ZÄÖÜ])")
PLAIN, LISTED = 0.15, 0.35
"""Shares of texts that are one wording, and lists; the rest are sentences."""
VARIED, LOWERED, CUT = 0.12, 0.06, 0.12
"""Shares of wordings with a slip, of texts in lower case, of wordings with a word cut off by a dot."""


class WrittenMention(NamedTuple):
    """A mention of a generated text: `start` inclusive, `end` exclusive, in code points."""

    start: int
    end: int
    code: str
    claim: str


class Text(NamedTuple):
    """A generated text; `kind`: wording, list or sentences."""

    text: str
    said: tuple[WrittenMention, ...]
    kind: str


@cache
def frames() -> dict[str, tuple[tuple[str, str], ...]]:
    """Kind -> (claim, frame) of `frames.tsv`."""
    found: dict[str, list[tuple[str, str]]] = {}
    for line in (HERE / "frames.tsv").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            kind, claim, text = line.split("\t")
            found.setdefault(kind, []).append((claim, text))
    return {kind: tuple(rows) for kind, rows in found.items()}


@cache
def drugs() -> tuple[str, ...]:
    """Names of substances and products, as notes write them."""
    return tuple((HERE / "drugs.txt").read_text("utf-8").split())


class TextWriter:
    """Writes one text after the other from a seeded source of chance; `wordings` are (text, code)."""

    def __init__(self, wordings: Sequence[tuple[str, str]], seed: int) -> None:
        self._wordings = [pair for pair in wordings if speakable(pair[0])]
        self._symptoms = [text for text, code in self._wordings if code in SYMPTOMS]
        self._weights = [1 / (1 + len(text.split())) for text, _ in self._wordings]
        self._chance = random.Random(seed)  # noqa: S311 - reproducible training, not a secret
        self._augmenter = Augmenter(seed)
        self._drawn: list[tuple[str, str]] = []

    def write(self) -> Text:
        """The next text."""
        chance = self._chance.random()
        kind = "wording" if chance < PLAIN else "list" if chance < PLAIN + LISTED else "sentences"
        draft = {"wording": self._alone, "list": self._list, "sentences": self._sentences}[kind]()
        text = draft.text.lower() if self._chance.random() < LOWERED else draft.text
        same = text if len(text) == len(draft.text) else draft.text
        return Text(same, tuple(draft.said), kind)

    def _alone(self) -> _Draft:
        draft = _Draft()
        self._item(draft, self._chance.random() < 0.4)
        return draft

    def _list(self) -> _Draft:
        draft, chance = _Draft(), self._chance
        separator = chance.choice(SEPARATORS)
        numbered = separator in ("\n", " ") and chance.random() < 0.4
        number_form = chance.choice(("{}. ", "{}. ", "{}) ", "Diagnose {}: ", "Dg. {}: ", "({}) "))
        if chance.random() < 0.3:
            draft.add(self._filled(chance.choice(frames()["h"])[1]) + (" " if separator == ", " else "\n"))
        marked = chance.random() < 0.4
        for number in range(chance.choice((2, 2, 2, 3, 3, 4, 5, 6, 8, 12))):
            if number:
                draft.add(" und " if separator == ", " and chance.random() < 0.1 else separator)
            if numbered:
                draft.add(number_form.format(number + 1))
            if chance.random() < 0.06:
                draft.add(self._filled(chance.choice(("{drug} {dose}", "{drug}", "{drug} {dose} 1-0-0"))))
            else:
                self._item(draft, marked and chance.random() < 0.5)
        return draft

    def _item(self, draft: _Draft, marked: bool) -> None:
        """A wording, on some occasions with what stands before and behind it in lists."""
        claim, chance = "present", self._chance
        before = chance.choice(frames()["p"]) if marked and chance.random() < 0.4 else None
        behind = chance.choice(frames()["q"]) if marked and (before is None or chance.random() < 0.3) else None
        for part in (before, behind):
            claim = part[0] if part and part[0] != "present" else claim
        draft.add(self._filled(before[1]) if before else "")
        draft.mention(*self._wording(), claim)
        draft.add(self._filled(behind[1]) if behind else "")

    def _sentences(self) -> _Draft:
        draft, chance = _Draft(), self._chance
        for number in range(chance.choice((1, 1, 1, 2, 3, 4, 6))):
            if number:
                draft.add(chance.choice((" ", " ", "\n")))
            drawn = chance.random()
            if drawn < LED and self._symptoms:
                self._framed(draft, *chance.choice(frames()["l"]))
            elif drawn < LED + COMPOSED:
                self._composed(draft)
            else:
                self._framed(draft, *chance.choice(frames()["f" if chance.random() < 0.45 else "s"]))
        return draft

    def _framed(self, draft: _Draft, claim: str, frame: str) -> None:
        """A frame with its slots filled; now and then without its full stop."""
        frame, at = frame.removesuffix(".") if self._chance.random() < 0.3 else frame, 0
        for slot in _SLOT.finditer(frame):
            draft.add(frame[at : slot.start()])
            at = slot.end()
            if slot[1] == "y":
                draft.mention(self._chance.choice(self._symptoms), NOT_CODED, claim)
            elif slot[1] in "dne":
                self._mention(draft, claim, slot[1])
            else:
                draft.add(self._value(slot[1]))
        draft.add(frame[at:])

    def _composed(self, draft: _Draft) -> None:
        """An opening, one to three mentions joined as prose joins them, a closing."""
        chance = self._chance
        claim, behind = chance.choice(frames()["c"])
        draft.add(self._filled(chance.choice(frames()["o"])[1]))
        count = chance.choice((1, 1, 1, 2, 2, 3))
        for number in range(1, count + 1):
            self._mention(draft, claim if number == count else "present", chance.choice("ddne"))
            draft.add(chance.choice(JOINTS) if number < count else "")
        draft.add(self._filled(behind) + chance.choice((".", ".", ";", ",", "")))

    def _mention(self, draft: _Draft, claim: str, slot: str) -> None:
        """A wording, some with an adjective before it or in lower case, as people write them."""
        text, code = self._wording()
        text = _inflected(text, slot)
        if self._chance.random() < 0.15 and text[:1].isupper():
            text = self._chance.choice(frames()["x"])[1] + text
        draft.mention(text, code, claim)

    def _wording(self) -> tuple[str, str]:
        if not self._drawn:
            self._drawn = self._chance.choices(self._wordings, self._weights, k=2_000)
        text, code = self._drawn.pop()
        chance = self._chance.random()
        if chance < VARIED:
            text = self._augmenter.typo(text)
        elif chance < VARIED + CUT:
            text = self._abbreviated(text)
        return text, code

    def _abbreviated(self, text: str) -> str:
        """Some words cut off, with a dot or without one ("chron. Pankreatitis")."""
        words, dot = text.split(), self._chance.choice((".", ".", ""))
        return " ".join(
            word[: self._chance.randint(4, 6)] + dot
            if len(word) > 7 and word.isalpha() and self._chance.random() < 0.6
            else word
            for word in words
        )

    def _filled(self, frame: str) -> str:
        return _SLOT.sub(lambda slot: self._value(slot[1]), frame)

    def _value(self, slot: str) -> str:
        chance = self._chance
        return {
            "year": lambda: str(chance.randint(1985, 2026)),
            "mon": lambda: f"{chance.randint(1, 12):02d}",
            "date": lambda: f"{chance.randint(1, 28):02d}.{chance.randint(1, 12):02d}.{chance.randint(2015, 2026)}",
            "num": lambda: str(chance.randint(2, 12)),
            "num2": lambda: str(chance.randint(35, 190)),
            "age": lambda: str(chance.randint(18, 95)),
            "drug": lambda: chance.choice(drugs()),
            "dose": lambda: f"{chance.choice((2.5, 5, 10, 20, 40, 50, 100, 500))} mg".replace(".", ","),
            "anrede": lambda: chance.choice(("Herr ", "Frau ")) + chance.choice(NAMES),
        }[slot]()


class _Draft:
    """A text that grows, and its mentions."""

    def __init__(self) -> None:
        self.text = ""
        self.said: list[WrittenMention] = []

    def add(self, text: str) -> None:
        self.text += text

    def mention(self, text: str, code: str, claim: str) -> None:
        self.said.append(WrittenMention(len(self.text), len(self.text) + len(text), code, claim))
        self.text += text


def speakable(text: str) -> bool:
    """True if people write such a wording: short, without the brackets and colons of the classification."""
    return len(text.split()) <= 6 and not re.search(r"[\[\]:;/()]", text) and len(text) <= 60


def _inflected(text: str, slot: str) -> str:
    """The first adjective after a preposition (n) or an article (e); other wordings as they are."""
    if slot == "d":
        return text
    ending = {"n": {"e": "er", "er": "em", "es": "em"}, "e": {"e": "en", "er": "en", "es": "en"}}[slot]
    return _ADJECTIVE.sub(lambda match: match[1].lower() + ending[match[2]], text)


BEGUN_LEAST: Final = 3
"""Characters that are typed of the last word, at least: fields search from the third one on."""


def begun_queries(wordings: Sequence[tuple[str, str]], seed: int) -> list[tuple[str, str]]:
    """Each wording (text, what it means) that people would type: whole, and as far as a search field gets it, stopped
    within its last word, anywhere equally likely. Deterministic."""
    chance = random.Random(seed)  # noqa: S311 - reproducible training, not a secret
    found = []
    for text, meant in wordings:
        if not speakable(text):
            continue
        found.append((text, meant))
        last = text.split()[-1]
        if last.isalpha() and len(last) > BEGUN_LEAST + 1:
            found.append((text[: len(text) - len(last) + chance.randint(BEGUN_LEAST, len(last) - 1)], meant))
    return found
