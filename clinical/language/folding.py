"""German clinical text: folding for search, tokens with offsets into the original.

`fold` is many-to-one on purpose: spellings that German medicine uses side by side (ä/ae, Karzinom/Carcinom,
ph/f, th/t, ß/ss) fall together, so that a variant costs nothing at search time.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple


class Token(NamedTuple):
    """A run of letters or of digits; `start` inclusive, `end` exclusive, in code points of the original."""

    text: str
    start: int
    end: int


_TOKEN = re.compile(r"[^\W\d_]+|\d+")


def tokens(text: str) -> list[Token]:
    """Split into letter runs and digit runs with their places in `text`."""
    return [Token(match.group(), match.start(), match.end()) for match in _TOKEN.finditer(text)]


def canonical(text: str) -> str:
    """NFKC and case folding: the same characters however they were typed (Unicode TR 15, TR 21)."""
    return unicodedata.normalize("NFKC", text).casefold()


_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "œ": "oe", "æ": "ae"})
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))


@lru_cache(maxsize=65_536)
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


_WORDISH = re.compile(r"(?<![\w|])(?=[^\W\d_]*[01|])(?:[^\W\d_]|[01|]){4,}(?![\w|])")
_NUMBERISH = re.compile(
    r"(?<![^\W\d_])(?=[OoIl|\d.,:/–-]*\d)(?=[\d.,:/–-]*[OoIl|])[OoIl|\d][OoIl|\d.,:/–-]*(?![^\W\d_])"
)
_WORD_HINT = re.compile(r"[01|](?=[^\W\d_])")
_NUMBER_HINT = re.compile(r"[OoIl|](?=[.,:/–-]?\d)|\d[.,:/–-]?[OoIl|]")
"""Where a mixed-up character may be: cheap to search for, so that the patterns above see few pieces of a text."""
_INNER_I = re.compile(r"I(?=[a-zäöü])")
_INITIAL_L = re.compile(r"l(?=[bcdfghjkmnpqrstvwxz][a-zäöüß]{2})")
_NOT_A_NUMBER = re.compile(r"[1-9]?\d(?:[.,]\d+)?l|[IO]\d{1,2}(?:\.\d{1,2})?[.,:]?|[Oo][.,:]?")
_TO_DIGIT = str.maketrans("OoIl|", "00111")


def without_lookalikes(text: str) -> str:
    """The text with the characters that OCR mixes up set right where the rest of the word leaves no doubt.

    Same length, so offsets hold. `C0PD`, `Hyperto1le` are words, `2O24`, `l0` are numbers; `KIein`, `lnfarkt` have the
    wrong stroke. A code (`I10`, `T1N0`), a gas (`O2`) and litres (`5l`) are left alone.
    """
    text = _in_pieces(text, _WORD_HINT, _WORDISH, _word_set_right)
    text = _in_pieces(text, _NUMBER_HINT, _NUMBERISH, _number_set_right)
    return _INITIAL_L.sub(_initial_set_right, _INNER_I.sub(_inner_set_right, text))


def _in_pieces(text: str, hint: re.Pattern[str], pattern: re.Pattern[str], mend: Callable[[re.Match[str]], str]) -> str:
    """`pattern.sub(mend, text)`, looked for only in the pieces between white space that hold the hint."""
    parts: list[str] = []
    done = 0
    for match in hint.finditer(text):
        start, end = match.span()
        if start < done:
            continue
        while start > done and not text[start - 1].isspace():
            start -= 1
        while end < len(text) and not text[end].isspace():
            end += 1
        parts += (text[done:start], pattern.sub(mend, text[start:end]))
        done = end
    return "".join((*parts, text[done:])) if parts else text


def _inner_set_right(match: re.Match[str]) -> str:
    """`FIüssigkeit`, `KIein`: a capital behind a letter and before small ones; not `KI` and not `HIV`."""
    text, i = match.string, match.start()
    before = text[i - 1 : i]
    if not before.isalpha():
        return "I"
    alone = i < 2 or not text[i - 2].isalnum()
    return (
        "l" if before.islower() or (alone and text[i + 1 : i + 4].isalpha() and text[i + 1 : i + 4].islower()) else "I"
    )


def _initial_set_right(match: re.Match[str]) -> str:
    """`lnfarkt`: no German word begins so, unless a hyphen at a line end began it."""
    text, i = match.string, match.start()
    begins = i == 0 or not (text[i - 1].isalnum() or text[i - 1] == "_")
    return "I" if begins and not text.endswith(("-\n", "-\r\n"), 0, i) else "l"


def _word_set_right(match: re.Match[str]) -> str:
    word = match.group()
    wrong = sum(char in "01|" for char in word)
    letters = len(word) - wrong
    at_edge = word[-1] in "01|" or (word[0] in "01|" and (letters < 5 or not word[1].islower() or word[:2] == "1m"))
    if at_edge or letters < 3 * wrong:
        return word
    zero, one = ("O", "I") if word.upper() == word else ("o", "l")
    return word.replace("0", zero).replace("1", one).replace("|", one)


def _number_set_right(match: re.Match[str]) -> str:
    number = match.group()
    if match.string[: match.start()].endswith("+"):
        return number.translate(_TO_DIGIT)
    return number if _NOT_A_NUMBER.fullmatch(number) else number.translate(_TO_DIGIT)


_WORD = re.compile(r"(?:[^\W_](?:[\u0300-\u036f\u00ad\u200b-\u200f]|-\s*\n\s*(?=[a-zäöüß])(?!und\b|oder\b|bzw\b))*)+")
"""A run of letters and digits; combining marks, soft hyphens, invisible marks and the hyphen of a line break do not
end it ("Herz-\ninsuffizienz")."""

LONGEST_WORD = 80
"""Code points; the longest word of the official wordings has 52."""

_FOLDS = (
    *(("aee", "a"), ("oee", "o"), ("uee", "u")),  # Diarrhoeen, Diarrhöen
    *(("ae", "a"), ("oe", "o"), ("ue", "u"), ("ph", "f"), ("th", "t"), ("rh", "r")),
)
_LETTERS = str.maketrans({"y": "i", "c": "k", "z": "k", "ø": "o", "æ": "a", "œ": "o", "ı": "i", "đ": "d", "ł": "l"})


def fold(word: str) -> str:
    """The search form of one word: `Cystitis`, `Zystitis` and `ZYSTITIS` are one; letters and digits only.

    c, k and z fall together (Carcinom, Karzinom and every mixture), ä/ae/a, ö/oe/o, ü/ue/u, ph/f, th/t, rh/r, y/i.
    """
    folded = word.casefold()
    if not folded.isascii():
        decomposed = unicodedata.normalize("NFKD", folded).casefold()
        folded = "".join(character for character in decomposed if character.isalnum())
    elif not folded.isalnum():
        folded = "".join(character for character in folded if character.isalnum())
    for written, kept in _FOLDS:
        folded = folded.replace(written, kept)
    return folded.translate(_LETTERS)


def words(text: str, folds: dict[str, str] | None = None) -> list[Token]:
    """The folded words of a text with their places in the original; what folds to nothing is left out.

    So is what is longer than LONGEST_WORD: no word, and its n-grams would drown all others. `folds` is filled with the
    words met and their folded forms: for a caller that reads overlapping pieces of one text, and drops it with them.
    """
    known = {} if folds is None else folds
    found = []
    for run in _WORD.finditer(text):
        start, end = run.span()
        if end - start > LONGEST_WORD:
            continue
        word = run.group()
        folded = known.get(word)
        if folded is None:
            folded = known[word] = fold(word)
        if folded:
            found.append(Token(folded, start, end))
    return found


def replaced(text: str, others: Sequence[tuple[Token, str]]) -> str:
    """The text with each of these words, in their order, replaced; everything between them stays as it is."""
    pieces, at = [], 0
    for word, other in others:
        pieces += [text[at : word.start], other]
        at = word.end
    return "".join([*pieces, text[at:]])
