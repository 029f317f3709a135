"""A text prepared once for every value that is to be looked up in it: tokens with keys, places, and what divides them.

A token's key is what it is compared by: numbers by their value as written (`#5`, `#1-0-1`, `#2024-03-12`), sides and
units by one key for all spellings, words by spelling, stem and OCR look-alikes. All offsets are code points of the
original text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import accumulate
from typing import TypeVar

from clinical.text.abbreviations import is_abbreviation
from clinical.text.dates import MONTH_NAMES, DateMention, dates_among, days_in, parse_date
from clinical.text.folding import spellings
from clinical.text.looked import LookedFor
from clinical.text.ocr import without_lookalikes
from clinical.text.vocabulary import QUALIFIERS, ROMAN, SIDE_STEMS, SIDES, STAGE_WORDS, TIMES, UNITS, side_of, word_set

_SCHEME = r"[\d½¼¾]{1,3}(?:[/.,]\d{1,2})?(?:\s?[-–—]\s?[\d½¼¾]{1,3}(?:[/.,]\d{1,2})?){2,3}(?![\d½]|[-–][\d½])"
_DATE = r"\d{4}-\d{2}-\d{2}|\d{1,2}\.\s?\d{1,2}\.\s?(?:\d{4}|\d{2})(?!\d)"
_NUMBER = r"\d+(?:[.,'’]\d+)*(?:[-–]\d+(?:[.,]\d+)*)?(?:[/:]\d+(?:[.,]\d+)*)*|[½¼¾]"
_LATIN = "A-Za-zÀ-ÖØ-öø-ÿ"
"""Nearly all words are made of these: looked through in half the time of a class of everything alphabetic."""
_WORD = rf"[{_LATIN}]++[^\W\d_½¼¾]*+"
_MARKED_WORD = r"[^\W\d_½¼¾](?:[^\W\d_½¼¾]|[\u0300-\u036f\u00ad\u200b-\u200d\u2060\ufeff])*"
_OTHER = rf"(?=[\d½¼¾])(?:{_DATE}|{_SCHEME}|{_NUMBER})|[%♂♀]"
_TOKEN = re.compile(rf"({_WORD}|(?![ .,\n:()/;-])(?:{_OTHER}|[^\W\d_½¼¾]++))")
_MARKED_TOKEN = re.compile(rf"({_MARKED_WORD}|{_OTHER})")
"""One group: a text divided by them is what stands between, token, what stands between, ..."""
_MARKS = re.compile("[\u0300-\u036f\u00ad\u200b-\u200d\u2060\ufeff]")
_BULLET = re.compile(r"(?m)\n[ \t]*(?:[-•*·–▪o]|\d{1,2}[.)])[ \t]+(?=[A-ZÄÖÜ(\d])(?!\d{1,2}[.)]?\s*$)")
"""With the line end before it, by which the search skips everything else at once."""
_DAY_OF_MONTH = re.compile(rf"\s*\d{{1,2}}\.\s+(?:{MONTH_NAMES})\.?\s*\d", re.IGNORECASE)
_DASHES = "–—‐‑−"

SPACE, LINE, COMMA, COLON, STOP, BREAK = range(6)
"""Dividers between two tokens, in rising order of strength: nothing or a space or hyphen, a line end, a comma or
bracket, a colon, the end of a sentence, a new list item or a blank line."""

HEAD = 3
"""Characters of a word by which words and abbreviations are looked up: the least of an abbreviation that may stand for
a longer word (`art.` for `arterielle`)."""
SHORT = 4
"""Characters of the longest word that counts as cut off before a full stop in a line without capitals."""
WRAPPED_LINE = 45
"""Characters from which a line that ends without a full stop counts as wrapped, not finished."""

ARROW = "[-=]>|[→⇒➔]"
"""A pattern of what leads to a conclusion or to an answer."""
BOX_SIGNS = "[]☐☒☑□■"
"""Signs of which the boxes of a form are typed."""
_PARTING = frozenset(",()/" + BOX_SIGNS)
_HEADED_LINE = re.compile(r"(?:\d{1,2} )?[A-ZÄÖÜ][\w-]{2,25}(?: [\w-]{2,15})?:")
_HYPHENS = "-‐‑¬–"
_BRACKET = re.compile(r"[()]")
_FINAL = re.compile(r"[.!?][\"“”’»«']?(?:\s|$)|;")
_NEW_ITEM = re.compile(r"\n[ \t]*(?:[-•*·–▪o]|\d{1,2}[.)])[ \t]|\n\s*\n|\r\n\s*\r\n|[|\u2028\u2029]|\t|\n\s*[-–•*]")


# --- keys: numbers by their value as written, words by stem, names by spelling ----------------------------------------

Derived = TypeVar("Derived")

DIGITS_OF_A_DAY = 8
"""Digits of a day that is written in one piece (`12032024`)."""
_COMMA = re.compile(r"(?<![\d.,]),|(?<!\d)(\d++),(\d*+)(?!,)")
"""A decimal comma, the digits before and behind it: each run of digits is read once, from its beginning."""


def number_key(raw: str) -> str:
    """`5,0` is `5`, `1'000` is `1000`, `12.3.24` is a day, `½ - 0 - ½` is `1/2-0-1/2`; nothing is rounded."""
    plain = raw.isascii()
    if plain and raw.isdigit() and len(raw) != DIGITS_OF_A_DAY:  # most are
        return "#" + raw
    if len(raw) >= 6 and (day := parse_date(raw)):
        return "#" + day
    text = "".join(raw.split()).replace("'", "")
    if not plain:
        text = text.replace("½", "1/2").replace("¼", "1/4").replace("¾", "3/4").replace("’", "")
        text = "".join(str(int(char)) if char.isdigit() else char for char in text)
        text = text.replace("–", "-").replace("—", "-")
    return "#" + (_COMMA.sub(_decimal, text) if "," in text else text)


def _decimal(match: re.Match[str]) -> str:
    whole, part = match[1] or "", (match[2] or "").rstrip("0")
    return f"{whole}.{part}" if part else whole


_ENDINGS = frozenset(("en", "em", "er", "es"))
_ENDED = ("", *_ENDINGS, *"ens")
"""Endings that a word may have lost in its key."""
_NAMED = {**QUALIFIERS, **TIMES, **SIDES}
_NAMES_OF = {key: tuple(word for word, own in _NAMED.items() if own == key) for key in {*_NAMED.values()}}


def word_key(word: str) -> str:
    """Key of a spelled word in free text: its stem, with the OCR pairs rn/m and lost umlaut dots folded.

    Stems of at least four characters; endings are those of German declension.
    """
    named = _NAMED.get(word) or (side_of(word) if len(word) >= _SIDED_FROM else None)
    if named or len(word) < 5:
        return named or word
    folded = _without_pairs(word)
    if len(folded) <= 5:
        return folded
    if folded[-2:] in _ENDINGS:
        return folded[:-2]
    return folded[:-1] if folded[-1] in "ens" else folded


_SIDE_KEYS = frozenset(SIDES.values())
_SIDED_FROM = min(map(len, SIDE_STEMS))
"""Characters of the shortest word that names a side by its stem."""


def _without_pairs(text: str) -> str:
    return text.replace("rn", "m").replace("ae", "a").replace("oe", "o").replace("ue", "u")


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


# --- the text ----------------------------------------------------------------------------------------------------


class SourceText:
    """A text, its tokens and the indexes over them. Built in one pass, linear in the length of the text."""

    followed = False
    """True for a run of a text's tokens behind which there are more."""

    def __init__(self, text: str) -> None:
        self.text = text
        for dash in _DASHES if not text.isascii() else ():
            text = text.replace(dash, "-")
        self.view = without_lookalikes(text)
        self.start: list[int] = []
        self.end: list[int] = []
        self.words: list[str] = []
        """Spelled words; numbers as their key."""
        self._tokenise()

    def _tokenise(self) -> None:
        view = self._without_bullets()
        pattern = _MARKED_TOKEN if _MARKS.search(view) else _TOKEN
        pieces = pattern.split(view)
        written = pieces[1::2]
        ends = list(accumulate(map(len, pieces)))
        self.start += ends[:-1:2]
        self.end += ends[1::2]
        known = _spelled({*written})
        self.words += [known[raw] for raw in written]

    def _without_bullets(self) -> str:
        def blank(match: re.Match[str]) -> str:
            if _DAY_OF_MONTH.match(match.string, match.start()):
                return match.group()
            return "\n" + " " * (len(match.group()) - 1)

        return _BULLET.sub(blank, "\n" + self.view)[1:]

    def __len__(self) -> int:
        return len(self.words)

    def key(self, i: int) -> str:
        """The free-text key of a token: a word by `word_key`, a unit behind a number by its unit."""
        word = self.words[i]
        key = self._keys.get(word)
        if key is None:
            key = self._keys[word] = word if word[0] == "#" else word_key(word)
        return self._key_at(i, word, key) if _is_by_place(word) else key

    @cached_property
    def _keys(self) -> dict[str, str]:
        """The key of each word asked for so far, wherever it stands."""
        return {}

    def _key_at(self, i: int, word: str, key: str) -> str:
        """The key of a token that depends on what stands beside it, else the key of its word."""
        if i and word in UNITS and self.words[i - 1][0] == "#" and self._beside(i):
            return "§unit " + UNITS[word]
        if len(word) == 1 and self._is_grade_letter(i):
            return "#" + word
        if word in ROMAN and self._is_stage(i):
            return "#" + ROMAN[word]
        if word in ("r", "l") and self._is_lone_side(i):
            return SIDES["re" if word == "r" else "li"]
        if word in ("re", "li", "sin") and self.text[self.end[i] : self.end[i] + 1] == "-":
            return word  # Re-Staging
        return key

    def _beside(self, i: int) -> bool:
        """Nothing but white space divides the token from the one before it, and no empty line."""
        glue = self.glue(i)
        return not glue.strip() and not self._apart(i)

    def _is_grade_letter(self, i: int) -> bool:
        """`Typ A`, `Hepatitis B`, the character of `G3a` and `12b`."""
        if not i or self.words[i] in ROMAN:
            return False
        before = self.words[i - 1]
        return (before in STAGE_WORDS and self.glue(i) != "" and self._beside(i)) or (
            before[0] == "#" and self.glue(i) == ""
        )

    def _apart(self, i: int) -> bool:
        return bool(_NEW_ITEM.search(self.glue(i)))

    def _is_stage(self, i: int) -> bool:
        raw = self.view[self.start[i] : self.end[i]]
        if not raw.isupper():
            return False
        near = [self.words[j] for j in (i - 1, i + 1) if 0 <= j < len(self) and not self._apart(max(i, j))]
        return len(raw) > 1 or any(word in STAGE_WORDS for word in near)

    def _is_lone_side(self, i: int) -> bool:
        """`Knie R`, `Gonarthrose l.`: a capital or a dotted character behind a word, not `L4` or `5 l`."""
        raw, after = self.text[self.start[i] : self.end[i]], self.text[self.end[i] : self.end[i] + 1]
        behind_word = i > 0 and self.words[i - 1][0].isalpha() and self.glue(i) == " "
        before_number = i + 1 < len(self) and self.words[i + 1][0] == "#" and self.start[i + 1] - self.end[i] <= 1
        return behind_word and not before_number and (raw.isupper() or after == ".") and after not in ("-", "/")

    def places(self, key: str) -> list[int]:
        """The tokens of a free-text key, in the order of the text."""
        known = self.word_places
        found = {i for word in self._may_have(key) if word in known for i in known[word]}
        if key[0] in "#§" or _is_by_place(key):
            found.update(self._by_place)
        return sorted(i for i in found if self.key(i) == key)

    def _may_have(self, key: str) -> Iterator[str]:
        """Words that may have a key wherever they stand: those of the text are among them."""
        yield from _NAMES_OF.get(key, ())
        if key in _SIDE_KEYS:
            yield from (word for word in self.word_places if side_of(word) == key)
        for ending in _ENDED:
            yield key + ending
            yield from self._with_pairs.get(key + ending, ())

    @cached_property
    def _with_pairs(self) -> dict[str, list[str]]:
        """The words with a pair of characters that a key folds, by what they are without it."""
        words = [word for word in self.word_places if word[0] != "#"]
        folded: dict[str, list[str]] = {}
        for one, word in zip(_without_pairs("\n".join(words)).split("\n"), words, strict=False):
            if one != word:
                folded.setdefault(one, []).append(word)
        return folded

    @cached_property
    def _by_place(self) -> list[int]:
        """The tokens whose key may depend on what stands beside them."""
        known = self.word_places
        words = [*(_BY_PLACE & known.keys()), *(word for word in known if len(word) == 1 and word not in _BY_PLACE)]
        return [i for word in words for i in known[word]]

    def name(self, i: int) -> str:
        """The name key of a token."""
        word = self.words[i]
        return self._name_keys.get(word, word)

    @cached_property
    def _name_keys(self) -> dict[str, str]:
        return {word: name_key(word) for word in self.word_places if "rn" in word or word.endswith("strasse")}

    @cached_property
    def name_places(self) -> dict[str, list[int]]:
        """Token numbers by name key."""
        return by_key(self.word_places, self._name_keys)

    @cached_property
    def word_places(self) -> dict[str, list[int]]:
        """Token numbers by spelled word."""
        return places_of(self.words)

    @cached_property
    def dates(self) -> tuple[DateMention, ...]:
        """Every date of the text."""
        return dates_among(self.days, self.view)

    @cached_property
    def days(self) -> LookedFor[DateMention]:
        """All that is written as a date (`days_in`)."""
        return LookedFor(days_in(self.view))

    @cached_property
    def merged(self) -> dict[int, tuple[tuple[str, int], ...]]:
        """Words that are written apart: (joined word, token number behind it) by the token they begin with.

        Joined by a hyphen (`Herz-Kreislauf`), by one at a line end (`Herz-` / `insuffizienz`), or by a line end alone.
        """
        chains: dict[int, tuple[tuple[str, int], ...]] = {}
        glues = self.glues
        for i in reversed([i for i in self.marked if glues[i] and glues[i][0] in _HYPHENS]):
            apart = len(self.glue(i)) == 1 and not self.text[self.start[i]].isalnum()  # `25-%`
            if apart or not self.is_hyphened(i):
                continue
            joined = self.words[i - 1] + self.words[i]
            further = tuple((self.words[i - 1] + word, behind) for word, behind in chains.get(i, ())[:2])
            chains[i - 1] = ((joined, i + 1), *further)
        return chains

    @cached_property
    def merged_places(self) -> dict[str, list[int]]:
        """Token numbers by the joined words that begin there."""
        places: defaultdict[str, list[int]] = defaultdict(list)
        for i, chains in self.merged.items():
            for word, _ in chains:
                places[word].append(i)
        return dict(places)

    @cached_property
    def merged_name_places(self) -> dict[str, list[int]]:
        """Token numbers by the name key of the joined words that begin there."""
        return by_key(self.merged_places, of_each(name_key, self.merged_places))

    @cached_property
    def by_head(self) -> dict[str, list[str]]:
        """The text's spelled words by their first HEAD characters."""
        heads: defaultdict[str, list[str]] = defaultdict(list)
        for word in self.word_places:
            heads[word[:HEAD]].append(word)
        return dict(heads)

    @cached_property
    def abbreviations_by_head(self) -> dict[str, list[int]]:
        """Abbreviations by their first HEAD characters."""
        heads: defaultdict[str, list[int]] = defaultdict(list)
        for i in self.abbreviations:
            heads[self.words[i][:HEAD]].append(i)
        return dict(heads)

    @cached_property
    def abbreviations(self) -> tuple[int, ...]:
        """Tokens of three and more characters with a full stop behind them."""
        glues = self.glues
        dotted = [i - 1 for i in self.marked if glues[i][:1] == "."]
        if self.end and self.text.startswith(".", self.end[-1]):
            dotted.append(len(self) - 1)
        return tuple(i for i in dotted if len(self.words[i]) >= 3 and self.words[i][0] != "#")

    @cached_property
    def depths(self) -> list[int]:
        """Number of open brackets at each token."""
        depths = [0] * len(self)
        depth = at = 0
        for match in _BRACKET.finditer(self.text):
            first = bisect_left(self.start, match.start(), at)
            if depth:
                depths[at:first] = [depth] * (first - at)
            depth, at = max(0, depth + (1 if match.group() == "(" else -1)), first
        if depth:
            depths[at:] = [depth] * (len(self) - at)
        return depths

    def is_hyphened(self, i: int) -> bool:
        """True if token `i` is joined to the one before by a hyphen, at a line end or not."""
        if self.words[i][0] == "#" or self.words[i - 1][0] == "#":
            return False
        glue = self.glue(i)
        return (
            bool(glue) and glue[0] in _HYPHENS and (len(glue) == 1 or (glue.count("\n") == 1 and not glue[1:].strip()))
        )

    def glue(self, i: int) -> str:
        """The characters between token `i - 1` and token `i`."""
        return self.glues[i]

    @cached_property
    def glues(self) -> list[str]:
        """The characters between each token and the one before it; none before the first."""
        text = self.text
        glues = [text[end:start] for end, start in zip([0, *self.end], self.start, strict=False)]
        glues[:1] = [""]
        return glues

    @cached_property
    def marked(self) -> list[int]:
        """The tokens that more than one space divides from the one before: most are not."""
        return [i for i, glue in enumerate(self.glues) if glue != " "]

    @cached_property
    def gaps(self) -> list[int]:
        """Divider between each token and the one before it (SPACE .. BREAK)."""
        gaps = [SPACE] * len(self.glues)
        for i in self.marked:
            gaps[i] = self.gap(i)
        return gaps

    def gap(self, i: int) -> int:
        """`gaps` of one token: who asks for few does not wait for all."""
        glue = self.glues[i]
        if glue not in self._signs:
            self._signs[glue] = _sign_of(glue)
        final, gap = self._signs[glue]
        return STOP if final and not self._is_abbreviation(i - 1, i, glue) else gap

    @cached_property
    def _signs(self) -> dict[str, tuple[bool, int]]:
        """The signs between words as `_sign_of` tells them: few different ones stand in a text."""
        return {}

    def _is_abbreviation(self, i: int, following: int, glue: str) -> bool:
        """True if the full stop behind token `i` marks an abbreviation or an ordinal, not the end of a sentence."""
        if glue[0] != "." or ";" in glue:
            return False
        if "\n" in glue:
            return self._is_cut(i)
        word, raw = self.words[i], self.text[self.start[following] : self.end[following]]
        if raw[0].isupper() and not _STAGES.isdisjoint(self.words[max(0, i - 3) : i]):
            return False  # `Adipositas Grad I. Eine Depression ...`: a stage ends a sentence as any noun does
        if raw[0].isupper() and (_YEAR.fullmatch(word) or (word[0] == "#" and i and self.glue(i) == "")):
            return False  # `Appendektomie 1998. Allergien keine`, `Stenose C6. Eine ...`: no ordinals
        street = word.endswith(("str", "pl"))
        small = raw.islower() and (len(word) <= SHORT or not self._is_small(i))
        return street or small or self._is_ordinal(i) or word in ROMAN or self._is_cut(i)

    def _is_cut(self, i: int) -> bool:
        """True if a word before a full stop is an abbreviation."""
        word = self.words[i]
        return word.isalpha() and is_abbreviation(word, self.text[self.start[i] : self.end[i]])

    def _is_ordinal(self, i: int) -> bool:
        """True if a number may be the ordinal of a day or place ("am 3. Tag", "am 12.3. Sturz"); a value ("Hb 8,2.")
        ends its sentence."""
        return _ORDINAL.fullmatch(self.text, self.start[i], self.end[i]) is not None

    def _is_small(self, i: int) -> bool:
        """True if the line of a token is typed without capitals: a small letter behind its full stop then tells
        nothing."""
        start = self.view.rfind("\n", 0, self.start[i]) + 1
        if start not in self._small_lines:
            end = self.view.find("\n", start)
            self._small_lines[start] = self.view[start : end if end >= 0 else len(self.view)].islower()
        return self._small_lines[start]

    @cached_property
    def _small_lines(self) -> dict[int, bool]:
        """True for a line that is typed without capitals, by its start, of each asked for so far."""
        return {}

    @cached_property
    def ends_clause(self) -> list[bool]:
        """For each token, true if a sentence, item or finished line ends before it."""
        ends = [False] * len(self.glues)
        for i in self.marked:
            ends[i] = self._ends_before(i, self.gaps[i])
        return ends

    def ends_before(self, i: int) -> bool:
        """`ends_clause` of one token."""
        return self._ends_before(i, self.gap(i))

    def _ends_before(self, i: int, gap: int) -> bool:
        return gap >= STOP or (gap > SPACE and "\n" in self.glues[i] and self._ends_line(i))

    def _ends_line(self, i: int) -> bool:
        """True if a finished line ends before token `i`."""
        glue = self.glue(i)
        line_start = self.text.rfind("\n", 0, self.end[i - 1]) + 1
        if self.text.find(":", line_start, self.start[i - 1]) >= 0 and _HEADED_LINE.match(self.text, self.start[i]):
            return True  # `Allergien: keine` / `6 Diagnosen: ...`
        dotted = self.text[self.end[i] : self.end[i] + 1] == "."  # `rezid. Erbrechen`: a new item, not a wrapped line
        small = self.text[self.start[i]].islower() and not dotted
        if glue[0] == "." and self.words[i - 1] in _CLOSING and not small:
            return True  # `Schwerhörigkeit bds.` / `Schluckdiagnostik o.B.`
        long = self.end[i - 1] - line_start
        wrapped = small or (long >= WRAPPED_LINE and long + self.end[i] - self.start[i] >= self._width - 1)
        open_end = glue.lstrip()[:1] in (",", "-", "(") or self.words[i - 1] in _OPEN_ENDS or ":" in glue
        return not (wrapped or open_end)

    @cached_property
    def _width(self) -> int:
        """Characters that a wrapped line of this text has at most: a line that the next word would still have gone
        into was finished. Longer lines are not wrapped, so that every short one of such a text was finished too."""
        return max(map(len, self.text.split("\n")), default=0)


def _spelled(written: Collection[str]) -> dict[str, str]:
    """Each token as it is compared: a number as its key, a word as it is spelled."""
    known = {raw: number_key(raw) for raw in written if raw[0].isdecimal() or raw[0] in "½¼¾"}
    named = [raw for raw in written if raw not in known]
    known.update(zip(named, spellings(named), strict=True))
    return known


def _sign_of(glue: str) -> tuple[bool, int]:
    """Return true if the characters between two words may end a sentence, and else their divider."""
    if glue in ("", " ", "-"):
        return False, SPACE
    if _NEW_ITEM.search(glue):
        return False, BREAK
    gap = LINE if "\n" in glue else SPACE
    if not _PARTING.isdisjoint(glue):
        gap = COMMA
    if ":" in glue:
        gap = COLON
    return _FINAL.search(glue) is not None, gap


_BY_PLACE = frozenset((*UNITS, *ROMAN, "r", "l", "re", "li", "sin"))


def _is_by_place(word: str) -> bool:
    """True if the key of a word may depend on what stands beside it, as that of a unit and of a single character."""
    return len(word) == 1 or word in _BY_PLACE


_CLOSING = word_set("bds beids beidseits re li bek unauff neg pos")
"""Words that end a statement with their full stop at the end of a line."""
_YEAR = re.compile(r"#(?:19|20)\d\d")
_ORDINAL = re.compile(r"\d{1,2}(?:[./-]\d{1,2})*")
_STAGES = word_set("grad stadium nyha child klasse gold stufe ccs kellgren")
_OPEN_ENDS = word_set(
    """auf fuer von und oder sowie mit bei der die das des dem den ein eine einer eines einem kein keine keinen
    keiner ohne weder noch im in am an zum zur nach hinweis anhalt nachweis zeichen anzeichen verdacht nicht vater
    mutter bruder schwester akute akuten akuter akutes chronische chronischen bekannte ausschluss"""
)
