"""Texts with claims written from frames, to learn from beside the authors' own texts.

An author says "zu keinem Zeitpunkt" once in a hundred texts and "Fehlablage" once in a thousand; a frame
(`claim_frames/`, a file a hand) says them as often as they are needed, around mentions of the authors, between their
texts. Lists, headings, boxes and joints are drawn by chance, and so are lower case, umlauts written as two letters, and
slips.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from catalog_build.training.authors import LabelledMention, LabelledText

FRAMES: Final = Path(__file__).with_name("claim_frames")
LETTERS: Final = {
    **{"p": "present", "s": "suspected", "e": "excluded", "h": "history"},
    **{"f": "family", "o": "other", "y": "hypothetical"},
}
OWN_TEXT, FILLER, ENDED = 0.4, 0.08, 0.8
"""Shares of pieces that are a whole short text of an author, that name nothing, and that end with a full stop."""
LOWER, SPELLED, SHARP, SLIPS = 0.12, 0.05, 0.05, 0.1
"""Shares of texts in lower case, with ae for ä, with ss for ß, and with slips of the keyboard."""
UNPARTED, CLOSE = 0.1, 0.1
"""Shares of texts without commas, semicolons and full stops (in a hurry nobody sets them), and of those without the
blanks behind these: "KHK,aHT"; so a text is read, too, in which a joint has been found (`clinical.reading.joints`)."""
SLIP: Final = 0.03
"""Share of letters that a slip changes."""
RENAMED: Final = 0.5
"""Share of the names in an author's text that become others."""
SHORT: Final = 160
"""Characters of an author's text below which it stands between frames."""
COMMON, LONGEST = 4, 3
"""Times at most that one name is in the pool, and words of the longest name."""
PLANNED: Final = ("-", "impfung", "prophylaxe", "gefahr", "risiko", "screening", "vorsorge", "verdacht")
"""Endings of what says its claim itself, or is cut off."""
_PLAIN: Final = r"(?:[^()|]|\([^()|]*\))*"
_CHOICE: Final = re.compile(rf"\(({_PLAIN}(?:\|{_PLAIN})+)\)")
"""A choice without another one within; brackets without a bar are part of the text."""
_LIST: Final = re.compile(r"@(\w+)")
_SLOT: Final = re.compile(r"\[([psehfoy])(?:/([psehfoy]))?([*+]?)(?:=([^\]]*))?\]")
_BLANKS: Final = re.compile(r"(?<=\S)  +")
_PARTING: Final = re.compile(r"[,;](?=\s)|(?<=[^\W\d_]{4})\.(?=\s|$)")
"""Marks that part clauses; dots of short words stay, which may be abbreviations."""
_BLANK_BEHIND: Final = re.compile(r"(?<=[,;]) (?!\d)")
_UMLAUTS: Final = {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"}
_COUNTS: Final = {"": (1,), "*": (1, 1, 1, 2, 2, 3, 4), "+": (2, 2, 3, 3, 4, 5)}
_BETWEEN: Final = (", ", ", ", ", ", "/", "; ", " - ")
_LAST: Final = (" und ", " oder ", " u. ", " sowie ", ", ")
_PAIR: Final = (", ", ", ", ", ", "/", " und ", " + ", "; ", " u. ")
_PIECES: Final = (1, 1, 2, 2, 3, 3, 4, 5, 6, 8)
_JOINTS: Final = (" ", " ", " ", "\n", "\n- ", "; ")


class Frames(NamedTuple):
    """All files of frames: lists by name, and sentences."""

    lists: Mapping[str, tuple[str, ...]]
    sentences: tuple[str, ...]


@cache
def frames() -> Frames:
    """The frames as they are shipped."""
    lists, sentences = {}, []
    for line in "\n".join(file.read_text("utf-8") for file in sorted(FRAMES.glob("*.txt"))).splitlines():
        name, is_list, several = line.partition(" = ")
        if not line or line.startswith("#"):
            continue
        if is_list and name.startswith("@") and " " not in name:
            lists[name[1:]] = tuple(several.split("|"))
        else:
            sentences.append(line.replace("\\n", "\n"))
    return Frames(lists, tuple(sentences))


class FramedWriter:
    """Writes texts with claims, deterministic for a seed: from frames, with names and short texts of these authors."""

    def __init__(self, texts: Iterable[LabelledText], seed: int = 0) -> None:
        given = tuple(texts)
        named = (
            text.text[one.start : one.end] for text in given for one in text.mentions if one.claim != "hypothetical"
        )
        counts = Counter(name for name in named if _is_name(name))
        self._names = [name for name, count in counts.items() for _ in range(min(count, COMMON))]
        self._short = [(text.text, text.mentions) for text in given if len(text.text) < SHORT]
        self._chance, self._frames = random.Random(seed), frames()  # noqa: S311 - nothing is kept secret by it

    def write(self) -> LabelledText:
        """One text of one to eight pieces."""
        chance, joint = self._chance, self._chance.choice(_JOINTS)
        text, mentions = "", list[LabelledMention]()
        for _ in range(chance.choice(_PIECES)):
            piece, own = self._piece()
            if text:
                ends = joint == " " and text[-1] not in ".:?!;\n" and chance.random() < ENDED
                text += ". " if ends else "\n" if "\n" in piece else joint
            mentions += [one._replace(start=one.start + len(text), end=one.end + len(text)) for one in own]
            text += piece
        return self._spoiled(LabelledText("framed", text, tuple(mentions)))

    def _piece(self) -> tuple[str, Sequence[LabelledMention]]:
        chance = self._chance
        if self._short and chance.random() < OWN_TEXT:
            return self._renamed(*chance.choice(self._short))
        if chance.random() < FILLER:
            return chance.choice(self._frames.lists["fill"]), ()
        return self._filled(drawn(chance.choice(self._frames.sentences), self._frames.lists, chance).lstrip())

    def _renamed(self, text: str, mentions: Sequence[LabelledMention]) -> tuple[str, Sequence[LabelledMention]]:
        """An author's text in which some mentions have other names, so that no name has a claim of its own."""
        chance, written, found, at = self._chance, "", list[LabelledMention](), 0
        for one in mentions:
            written += text[at : one.start]
            at, name = one.end, text[one.start : one.end]
            if one.claim != "hypothetical" and _is_name(name) and chance.random() < RENAMED:
                name = chance.choice(self._names)
            found.append(one._replace(start=len(written), end=len(written) + len(name)))
            written += name
        return written + text[at:], found

    def _filled(self, frame: str) -> tuple[str, Sequence[LabelledMention]]:
        """A frame with names in its slots."""
        chance, text, mentions, at = self._chance, "", list[LabelledMention](), 0
        for slot in _SLOT.finditer(frame):
            text += frame[at : slot.start()]
            at = slot.end()
            claim, second, several, words = slot.groups()
            names = [words] if words else [chance.choice(self._names) for _ in range(chance.choice(_COUNTS[several]))]
            between = chance.choice(_PAIR if len(names) == 2 else _BETWEEN)
            for number, name in enumerate(names):
                if number:
                    text += chance.choice(_LAST) if number == len(names) - 1 and between == ", " else between
                place = len(text), len(text) + len(name)
                mentions.append(LabelledMention(*place, LETTERS[claim], LETTERS.get(second), (), ()))
                text += name
        return text + frame[at:], mentions

    def _spoiled(self, text: LabelledText) -> LabelledText:
        """A text as somebody in a hurry types it, now and then."""
        chance = self._chance
        if chance.random() < LOWER:
            text = text._replace(text=text.text.lower())
        form = chance.random()
        if form < UNPARTED + CLOSE:
            text = without(_PARTING if form < UNPARTED else _BLANK_BEHIND, text)
        kind = chance.random()
        if kind < SPELLED:
            return _respelled(text, [_UMLAUTS.get(character, character) for character in text.text])
        if kind < SPELLED + SHARP:
            return _respelled(text, ["ss" if character == "ß" else character for character in text.text])
        if kind < SPELLED + SHARP + SLIPS:
            return _respelled(text, [self._slipped(text.text, at) for at in range(len(text.text))])
        return text

    def _slipped(self, text: str, at: int) -> str:
        """The character at a place, or what a slip makes of it: lost, doubled, another, or the next one."""
        chance = self._chance
        if not text[at].isalpha() or chance.random() >= SLIP:
            return text[at]
        return chance.choice(("", "", 2 * text[at], chance.choice("enirtsa"), (text[at : at + 2])[-1]))


def drawn(frame: str, lists: Mapping[str, Sequence[str]], chance: random.Random) -> str:
    """A frame with its choices made, the inner ones first, and one of each list that it names."""
    while (match := _CHOICE.search(frame)) is not None:
        frame = frame[: match.start()] + chance.choice(match[1].split("|")) + frame[match.end() :]
    frame = _LIST.sub(lambda one: chance.choice(lists[one[1]]) if one[1] in lists else one[0], frame)
    return _BLANKS.sub(" ", frame)


def _is_name(words: str) -> bool:
    """True if a mention can stand in any frame: a few words that begin with a capital, nothing cut off."""
    return len(words.split()) <= LONGEST and words[0].isupper() and not words.endswith(PLANNED)


def without(pattern: re.Pattern[str], text: LabelledText) -> LabelledText:
    """A text without the characters that a pattern finds."""
    marks = {match.start() for match in pattern.finditer(text.text)}
    return _respelled(text, ["" if at in marks else character for at, character in enumerate(text.text)])


def _respelled(text: LabelledText, characters: Sequence[str]) -> LabelledText:
    """A text with each of its characters replaced; mentions of which nothing is left are left out."""
    places = [0]
    for one in characters:
        places.append(places[-1] + len(one))
    moved = (one._replace(start=places[one.start], end=places[one.end]) for one in text.mentions)
    return text._replace(text="".join(characters), mentions=tuple(one for one in moved if one.start < one.end))
