"""German clinical text: folding for search, tokens with offsets into the original.

`fold` is many-to-one on purpose: spellings that German medicine uses side by side (ä/ae, Karzinom/Carcinom,
ph/f, th/t, ß/ss) fall together, so that a variant costs nothing at search time.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Token(NamedTuple):
    """A run of alphabetic characters or of digits; `start` inclusive, `end` exclusive, in code points of the text."""

    text: str
    start: int
    end: int


_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "œ": "oe", "æ": "ae"})
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))


def spelling(word: str) -> str:
    """One word however it was typed: Unicode form, case, ß/ss, ä/ae, other accents, soft hyphens.

    For comparison only; unlike `fold` it never lets two different words fall together. NFKC and case folding:
    Unicode TR 15 and TR 21.
    """
    if word.isascii():
        return word.lower()
    word = unicodedata.normalize("NFKC", word.translate(_INVISIBLE)).casefold()
    word = unicodedata.normalize("NFC", word).translate(_UMLAUTS)
    if word.isascii():
        return word
    return "".join(char for char in unicodedata.normalize("NFD", word) if not unicodedata.combining(char))


def spellings(words: Sequence[str]) -> list[str]:
    """The spelling of each word without line ends. Those of plain characters are spelled in one string, in a fraction
    of the time."""
    if not words:
        return []
    together = "\n".join(words).lower()
    for one, two in (("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("ß", "ss")):
        together = together.replace(one, two)
    found = together.split("\n")
    if together.isascii():
        return found
    return [one if one.isascii() else spelling(word) for one, word in zip(found, words, strict=True)]


_WORD = re.compile(r"(?:[^\W_](?:[\u0300-\u036f\u00ad\u200b-\u200f]|-\s*\n\s*(?=[a-zäöüß])(?!und\b|oder\b|bzw\b))*)+")
"""A run of alphabetic characters and digits; combining marks, soft hyphens, invisible marks and the hyphen of a line
break do not end it ("Herz-\ninsuffizienz")."""
_PLAIN_WORD = re.compile(r"[^\W_]+")
"""The same for a text without such marks and line breaks, in a fraction of the time."""
_MARKS = re.compile("[\u0300-\u036f\u00ad\u200b-\u200f]")

LONGEST_WORD = 80
"""Code points; the longest word of the official wordings has 52."""

_FOLDS = (
    *(("aee", "a"), ("oee", "o"), ("uee", "u")),  # Diarrhoeen, Diarrhöen
    *(("ae", "a"), ("oe", "o"), ("ue", "u"), ("ph", "f"), ("th", "t"), ("rh", "r")),
    *(("y", "i"), ("c", "k"), ("z", "k")),
)
_LETTERS = str.maketrans({"ø": "o", "æ": "a", "œ": "o", "ı": "i", "đ": "d", "ł": "l"})


def fold(word: str) -> str:
    """The search form of one word: `Cystitis`, `Zystitis` and `ZYSTITIS` are one. Alphabetic characters, digits.

    c, k and z fall together (Carcinom, Karzinom and every mixture), ä/ae/a, ö/oe/o, ü/ue/u, ph/f, th/t, rh/r, y/i.
    """
    folded = _without_dots(word.casefold())  # as below, in a tenth of the time
    if not folded.isascii():
        decomposed = unicodedata.normalize("NFKD", folded).casefold()
        folded = "".join(character for character in decomposed if character.isalnum())
    elif not folded.isalnum():
        folded = "".join(character for character in folded if character.isalnum())
    return _without_variants(folded)


def _without_dots(text: str) -> str:
    return text if text.isascii() else text.replace("ä", "a").replace("ö", "o").replace("ü", "u")


def _without_variants(folded: str) -> str:
    for written, kept in _FOLDS:
        folded = folded.replace(written, kept)
    return folded if folded.isascii() else folded.translate(_LETTERS)


def folds_of(words: Sequence[str]) -> list[str]:
    """The folded form of each of many words. Those of plain characters are folded in one string, in a fraction of the
    time."""
    together = _without_dots(" ".join(words).casefold())
    if together.isascii() and "".join(pieces := together.split(" ")).isalnum() and len(pieces) == len(words):
        return _without_variants(together).split(" ")
    plain = [word for word in words if word.isascii() and word.isalnum()]
    known = dict(zip(plain, folds_of(plain), strict=True)) if plain else {}
    return [known[word] if word in known else fold(word) for word in words]


def _known_folds(written: Iterable[str], folds: dict[str, str] | None) -> dict[str, str]:
    """The folded form of each of these words; of what is too long for one, none. `folds` as in `words`."""
    known = {} if folds is None else folds
    fresh = [word for word in dict.fromkeys(written) if word not in known]
    if fresh:
        known.update(zip(fresh, folds_of(fresh), strict=True))
        if len(max(fresh, key=len)) > LONGEST_WORD:
            known.update((word, "") for word in fresh if len(word) > LONGEST_WORD)
    return known


def words(text: str, folds: dict[str, str] | None = None) -> list[Token]:
    """The folded words of a text with their places in the original; what folds to nothing is left out.

    So is what is longer than LONGEST_WORD: no word, and its n-grams would drown all others. `folds` is filled with the
    words met and their folded forms: for a caller that reads overlapping pieces of one text, and drops it with them.
    """
    runs = [*_word_in(text).finditer(text)]
    written = [run.group() for run in runs]
    known = _known_folds(written, folds)
    return [Token(folded, *run.span()) for run, word in zip(runs, written, strict=True) if (folded := known[word])]


def folded_words(text: str, folds: dict[str, str] | None = None) -> list[str]:
    """Folded words of a text: as `words`, without the places, in half of its time."""
    written = _word_in(text).findall(text)
    known = _known_folds(written, folds)
    return [folded for word in written if (folded := known[word])]


def _word_in(text: str) -> re.Pattern[str]:
    """Return the pattern that finds the words of a text."""
    broken = "\n" in text and "-" in text
    return _WORD if broken or (not text.isascii() and _MARKS.search(text)) else _PLAIN_WORD


def replaced(text: str, others: Sequence[tuple[Token, str]]) -> str:
    """The text with each of these words, in their order, replaced; everything between them stays as it is."""
    pieces, at = [], 0
    for word, other in others:
        pieces += [text[at : word.start], other]
        at = word.end
    return "".join([*pieces, text[at:]])
