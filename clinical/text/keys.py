"""Keys by which tokens of a text are compared: numbers by their value as written, words by stem, names by spelling."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from clinical.text.dates import parse_date
from clinical.text.vocabulary import QUALIFIERS, TIMES, side_of

Derived = TypeVar("Derived")

_COMMA = re.compile(r"(?<![\d.,]),|(?<!\d)(\d++),(\d*+)(?!,)")
"""A decimal comma, the digits before and behind it: each run of digits is read once, from its beginning."""


def number_key(raw: str) -> str:
    """`5,0` is `5`, `1'000` is `1000`, `12.3.24` is a day, `½ - 0 - ½` is `1/2-0-1/2`; nothing is rounded."""
    if len(raw) >= 6 and (day := parse_date(raw)):
        return "#" + day
    if raw.isdigit() and raw.isascii():
        return "#" + raw
    text = raw.replace("½", "1/2").replace("¼", "1/4").replace("¾", "3/4")
    text = "".join(
        str(int(char)) if char.isdigit() else char for char in text if not char.isspace() and char not in "'’"
    )
    text = text.replace("–", "-").replace("—", "-")
    text = _COMMA.sub(_decimal, text)
    return "#" + text


def _decimal(match: re.Match[str]) -> str:
    whole, part = match[1] or "", (match[2] or "").rstrip("0")
    return f"{whole}.{part}" if part else whole


_ENDINGS = frozenset(("en", "em", "er", "es"))


def word_key(word: str) -> str:
    """Key of a spelled word in free text: its stem, with the OCR pairs rn/m and lost umlaut dots folded.

    Stems of at least four characters; endings are those of German declension.
    """
    named = side_of(word) or TIMES.get(word) or QUALIFIERS.get(word)
    if named or len(word) < 5:
        return named or word
    folded = word.replace("rn", "m").replace("ae", "a").replace("oe", "o").replace("ue", "u")
    if len(folded) <= 5:
        return folded
    if folded[-2:] in _ENDINGS:
        return folded[:-2]
    return folded[:-1] if folded[-1] in "ens" else folded


def name_key(word: str) -> str:
    """Key of a spelled word of a name: the word itself, with the OCR pair rn/m folded. `strasse` is `str`."""
    word = word[:-7] + "str" if word.endswith("strasse") else word
    return word.replace("rn", "m")


def of_each(key: Callable[[str], Derived], words: Iterable[str]) -> dict[str, Derived]:
    """Apply `key` once to each distinct word of one text; the result lives no longer than the text does."""
    return {word: key(word) for word in set(words)}


def places_of(words: Iterable[str]) -> dict[str, list[int]]:
    """Places of each word, in the order of the text."""
    places: dict[str, list[int]] = {}
    for i, word in enumerate(words):
        if word in places:
            places[word].append(i)
        else:
            places[word] = [i]
    return places


def by_key(word_places: Mapping[str, list[int]], keys: Mapping[str, str]) -> dict[str, list[int]]:
    """Places by key, of the places of each word; a word without a key is its own. What one word alone has is shared,
    not copied: nobody changes it."""
    places = dict(word_places)
    moved = [(word, key) for word, key in keys.items() if key != word]
    for word, _ in moved:
        del places[word]
    joined: dict[str, list[list[int]]] = {}
    for word, key in moved:
        joined.setdefault(key, [places[key]] if key in places else []).append(word_places[word])
    for key, lists in joined.items():
        places[key] = lists[0] if len(lists) == 1 else sorted(i for where in lists for i in where)
    return places
