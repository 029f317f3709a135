"""Characters that OCR mixes up, set right where the rest of the word leaves no doubt: `C0PD`, `2O24`, `lnfarkt`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

_WORDISH = re.compile(r"(?<![\w|])(?=[^\W\d_]*[01|])(?:[^\W\d_]|[01|]){4,}(?![\w|])")
_RUN = re.compile(r"[OoIl|\d.,:/–-]++")
_MIXED_UP = re.compile(r"[OoIl|]")
_DIGIT = re.compile(r"\d")
_WORD_HINT = re.compile(r"[01|](?=[^\W\d_])")
_NUMBER_HINT = re.compile(r"[OoIl|](?:(?=[.,:/–-]?\d)|(?<=\d.)|(?<=\d[.,:/–-].))")
"""Places where a character may be mixed up: cheap to search for, so the patterns above see few pieces of a text."""
_INNER_I = re.compile(r"I(?<=\wI)(?=[a-zäöü])")
_INITIAL_L = re.compile(r"l(?<!\wl)(?=[bcdfghjkmnpqrstvwxz][a-zäöüß]{2})")
_NOT_A_NUMBER = re.compile(r"[1-9]?\d(?:[.,]\d+)?l|[IO]\d{1,2}(?:\.\d{1,2})?[.,:]?|[Oo][.,:]?")
_TO_DIGIT = str.maketrans("OoIl|", "00111")
_BEHIND: Final = 3
"""Lower-case characters behind a capital stroke that make it an l: `KIein`, but not `IIa`, a stage.
By tests/clinical/text/test_ocr.py."""


def without_lookalikes(text: str) -> str:
    """The text with the characters that OCR mixes up set right where the rest of the word leaves no doubt.

    Same length, so offsets hold. `C0PD`, `Hyperto1le` are words, `2O24`, `l0` are numbers; `KIein`, `lnfarkt` have the
    wrong stroke. A code (`I10`, `T1N0`), a gas (`O2`) and litres (`5l`) are left alone.
    """
    text = _in_pieces(text, _WORD_HINT, _WORDISH, _word_set_right)
    text = _in_pieces(text, _NUMBER_HINT, _RUN, _number_in_run)
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
    """`FIüssigkeit`, `KIein`: a capital behind another character and before lower-case ones; not `KI` and not `HIV`."""
    text, i = match.string, match.start()
    before = text[i - 1 : i]
    if not before.isalpha():
        return "I"
    alone, behind = i < 2 or not text[i - 2].isalnum(), text[i + 1 : i + 4]
    within = len(behind) == _BEHIND and behind.isalpha() and behind.islower()
    return "l" if before.islower() or (alone and within) else "I"


def _initial_set_right(match: re.Match[str]) -> str:
    """Mend `lnfarkt`: no German word begins so, unless a hyphen at a line end began it."""
    text, i = match.string, match.start()
    return "l" if text.endswith(("-\n", "-\r\n"), 0, i) else "I"


def _word_set_right(match: re.Match[str]) -> str:
    word = match.group()
    wrong = sum(char in "01|" for char in word)
    characters = len(word) - wrong
    at_edge = word[-1] in "01|" or (word[0] in "01|" and (characters < 5 or not word[1].islower() or word[:2] == "1m"))
    if at_edge or characters < 3 * wrong:
        return word
    zero, one = ("O", "I") if word.upper() == word else ("o", "l")
    return word.replace("0", zero).replace("1", one).replace("|", one)


def _number_in_run(match: re.Match[str]) -> str:
    """The run with its number set right."""
    text, (begin, last) = match.string, _number_place(match)
    number = text[begin:last]
    plus = begin > 0 and text[begin - 1] == "+"
    if begin == last or (not plus and _NOT_A_NUMBER.fullmatch(number)):
        return match.group()
    return text[match.start() : begin] + number.translate(_TO_DIGIT) + text[last : match.end()]


def _number_place(match: re.Match[str]) -> tuple[int, int]:
    """A run of digits, look-alikes and marks holds one number at most: between characters not of the alphabet, with
    a digit and a look-alike behind its beginning. Where it begins and ends, two equal places when there is none. Each
    character is looked at a fixed number of times, however long the run."""
    text, (start, end) = match.string, match.span()
    after_letter = start > 0 and _is_letter(text[start - 1])
    before_letter = end < len(text) and _is_letter(text[end])
    begin = start
    while begin < end and (after_letter or not _starts_number(text[begin])):
        after_letter = _is_letter(text[begin])
        begin += 1
    last = end
    if before_letter:  # the number ends before the last character of the run that is no letter
        last -= 1
        while last > begin and _is_letter(text[last]):
            last -= 1
    if last <= begin or not _DIGIT.search(text, begin, end) or not _MIXED_UP.search(text, begin, end):
        return begin, begin
    return begin, last


def _starts_number(char: str) -> bool:
    return char in "OoIl|" or char.isdecimal()


def _is_letter(char: str) -> bool:
    """As the other patterns see it: also a superscript, which is a character of a word and no decimal digit."""
    return char.isalnum() and not char.isdecimal()
