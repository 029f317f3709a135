"""Names of people and places, and street addresses: evidenced by the name as such, never by a part of another.

"Meier" is not in "Meierhofer" nor in "Meier-Huber"; "Hauptstr. 8" not in "Hauptstr. 18", "8a" or "Alte Hauptstr. 8".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from clinical.letters.grounding.literal import TokenMatch, stands_literally, tokens_of
from clinical.text import (
    COMMA,
    LINE,
    SALUTATIONS,
    SPACE,
    STOP,
    TITLES,
    SourceText,
    find_pieces,
    lowered,
    name_key,
    word_set,
)

MOST_PLACES: Final = 400
"""Places of one name that are looked at: a text that repeats its first word more often is made to be slow, and what has
not been found by then is not evidenced."""
MOST_TITLES: Final = 6
"""Titles in a row that a name may leave out."""

_LEFT_OUT = TITLES | word_set("kollege kollegin kollegen")
"""Words between the parts of a name that a value may leave out: `Frau Kollegin Muster`."""
_OTHER_STREET = word_set("alte alter neue obere oberer untere unterer grosse kleine hintere vordere lange")
_SCANNED_NUMBER = re.compile(r"\b(?:\d[lIO]|[lIO]\d)\w*$")
"""A house number with characters that a scan takes for digits (`1l`): evidenced as it stands alone."""
_MAIL_LOOKALIKES = {"l": re.compile("[l1|i]"), "m": re.compile("m|rn"), "-": re.compile("[-–‐]")}
"""Characters that a scan mistakes for one of an address: letters only, a digit of an address is never made up for."""
_MAIL_BEFORE, _MAIL_BEHIND = re.compile(r"(?<![\w.+@-])"), re.compile(r"(?![\w@-]|\.\w)")


def find_name(source: SourceText, text: str, *, person: bool = False) -> TokenMatch | None:
    """A name, token by token in order; of a person also in the order of registers (`Muster, Anna`)."""
    value = SourceText(text)
    least = 1 if person else 2
    proper = (word for word in value.words if word not in SALUTATIONS and word not in TITLES)
    if not any(word[0].isalpha() and len(word) >= least for word in proper):
        return None
    orders = [list(range(len(value)))]
    if person and len(value) > 1 and "," not in text:
        orders += [[*range(cut, len(value)), *range(cut)] for cut in range(1, len(value)) if not value.is_hyphened(cut)]
    for number, order in enumerate(orders):
        for found in _places(source, value, order):
            if _stands_alone(source, found) and _is_written_as_a_name(source, value, found):
                turned = number > 0 and not _is_register_order(source, found)
                if not turned:
                    return TokenMatch(found.first, found.last, whole=number == 0 and found.whole)
    return tokens_of(source, stands_literally(source.text, text)) if len(value) > 1 else None


def _places(source: SourceText, value: SourceText, order: list[int]) -> Iterator[TokenMatch]:
    first = order[0]
    starts = set(source.name_places.get(value.name(first), ()))
    starts.update(source.merged_places.get(value.words[first], ()))
    starts.update(source.merged_name_places.get(value.name(first), ()))
    starts.update(i for joined, _ in value.merged.get(first, ()) for i in source.name_places.get(joined, ()))
    if value.words[first] in SALUTATIONS:
        starts.update(i for word in SALUTATIONS for i in source.word_places.get(word, ()))
    only_titles = _LEFT_OUT.issuperset(value.words)
    for start in sorted(starts)[:MOST_PLACES]:
        if not only_titles and _LEFT_OUT.issuperset(source.words[start : start + len(order) + MOST_TITLES + 1]):
            continue  # nothing but titles, as far as a walk would go
        found = _walk(source, value, order, start)
        if found is not None:
            yield found


def _walk(source: SourceText, value: SourceText, order: list[int], start: int) -> TokenMatch | None:
    i, n, whole, titles = start, 0, True, 0
    while n < len(order):
        if n and i > start and value.is_hyphened(order[n]) and not _is_dashed(source, i):
            return None
        step = _match(source, value, order[n], i) if i < len(source) else None
        if step is None:
            if i >= len(source) or i == start or source.words[i] not in _LEFT_OUT or source.gap(i) > LINE:
                return None
            i, whole, titles = i + 1, False, titles + 1  # `Dr. [med.] Anna Muster`
            if titles > MOST_TITLES:
                return None
            continue
        i, n = i + step[0], n + step[1]
        if n < len(order) and i < len(source) and not _goes_on(source, i, value.gap(order[n])):
            return None
    return TokenMatch(start, i - 1, whole)


def _is_dashed(source: SourceText, i: int) -> bool:
    return i < len(source) and any(dash in source.glue(i) for dash in "-‐‑–")


def _goes_on(source: SourceText, i: int, divided_in_value: int) -> bool:
    gap, glue = source.gap(i), source.glue(i)
    if gap <= LINE or (gap == STOP and source.name(i - 1) in TITLES):
        return True
    if "\t" in glue or "|" in glue:
        return "\n" not in glue
    return gap == COMMA and ("," in glue or divided_in_value == COMMA) and not any(c in glue for c in "()/")


def _match(source: SourceText, value: SourceText, k: int, i: int) -> tuple[int, int] | None:
    for joined, behind in source.merged.get(i, ()):
        if name_key(joined) == value.name(k):
            return behind - i, 1
    for joined, behind in value.merged.get(k, ()):
        if name_key(joined) == source.name(i):
            return 1, behind - k
    if value.name(k) == source.name(i) or {value.words[k], source.words[i]} <= {"herr", "herrn"}:
        return 1, 1
    return None


def _stands_alone(source: SourceText, found: TokenMatch) -> bool:
    """No hyphen ties the name to another word, at either end, on one line or over two."""
    before, after = found.first, found.last + 1
    tied = (before > 0 and _is_tied(source, before)) or (after < len(source) and _is_tied(source, after))
    return not tied


def _is_tied(source: SourceText, i: int) -> bool:
    if source.is_hyphened(i):
        return True
    glue = source.glue(i)
    return glue in ("", "'", "’", "_", "@") and source.words[i][0].isalpha() and source.words[i - 1][0].isalpha()


def _is_written_as_a_name(source: SourceText, value: SourceText, found: TokenMatch) -> bool:
    """A name written with a capital does not stand in lower case: Herr Kurz is not in "kurz nach"."""
    heads = [value.text[start] for start, word in zip(value.start, value.words, strict=True) if word not in TITLES]
    if not any(head.isupper() for head in heads):
        return True
    here = (source.view[source.start[i]] for i in range(found.first, found.last + 1) if source.words[i] not in TITLES)
    return sum(char.isupper() for char in here) >= min(1, len(heads))


def _is_register_order(source: SourceText, found: TokenMatch) -> bool:
    """`Muster, Anna`, `Muster Anna`: one entry on one line."""
    return all(source.gap(i) in (SPACE, COMMA) for i in range(found.first + 1, found.last + 1))


def find_street(source: SourceText, text: str) -> TokenMatch | None:
    """Street and number together, the number whole."""
    value = SourceText(text)
    if not any(word[0].isalpha() for word in value.words):
        return None
    for found in _places(source, value, list(range(len(value)))):
        if _number_is_whole(source, found) and not _is_another_street(source, found, value):
            return found
    scanned = _SCANNED_NUMBER.search(text) is not None
    return tokens_of(source, stands_literally(source.text, text)) if scanned else None


def _number_is_whole(source: SourceText, found: TokenMatch) -> bool:
    after = found.last + 1
    if after >= len(source):
        return True
    glue, word = source.glue(after), source.words[after]
    if source.words[found.last][0] == "#":
        letter = len(word) == 1 and word.isalpha() and source.text[source.start[after]].islower() and glue in ("", " ")
        return not (letter or glue in ("-", "/", "–", ""))
    return not (source.is_hyphened(after) or glue == "")


def _is_another_street(source: SourceText, found: TokenMatch, value: SourceText) -> bool:
    if found.first == 0:
        return False
    before = source.words[found.first - 1]
    return source.is_hyphened(found.first) or (
        source.gap(found.first) == SPACE and before in _OTHER_STREET and before not in value.words
        and before not in ("am", "an", "im")
    )  # fmt: skip


def find_mail(source: SourceText, text: str) -> tuple[int, int] | None:
    """An electronic address as such: code points of the text."""
    mail = text.strip()
    if "@" not in mail:
        return None
    pieces = [_MAIL_LOOKALIKES.get(char, char) for char in lowered(mail)]
    return find_pieces(lowered(source.text), pieces, before=_MAIL_BEFORE, behind=_MAIL_BEHIND)
