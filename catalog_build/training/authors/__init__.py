"""Clinical texts labelled by many independent authors: each mention with its claim, for half of the texts with codes.

One file an author (`a01.txt`), all listed with setting, country and split in `authors.tsv`; `BRIEF.md` is all that an
author sees. A file holds texts divided by lines of `===`; a mention is marked where it stands:

    Seit 3 Tagen {Husten|present}, kein {Fieber|excluded}. V. a. {Pneumonie|suspected/present|J18.9}
    ===
    Mutter mit {Brustkrebs|family|Z80.3}

The second field is the claim, after `/` another that is defensible; the third the codes, right ones separated by
spaces, defensible ones after `/`. The split of an author is given once and for all: nothing is fitted or chosen on
`report`, only thresholds and hyperparameters on `tune`. Mistakes are named by file and line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final, Literal, NamedTuple

from clinical.claims import LABELS
from clinical.errors import SourceError
from clinical.icd import EXAMPLE

FOLDER: Final = Path(__file__).parent
CLAIMS: Final = LABELS
SPLITS: Final = ("train", "tune", "report", "heads")
"""The last: of letters, files that hold heads and feet alone, to learn from."""
DIVIDER: Final = re.compile(r"={3,}\s*")
COLUMNS: Final = ("author", "split", "country", "coded", "setting")
_MARK: Final = re.compile(r"\{([^{}|\n]+)\|([a-z]+)(?:/([a-z]+))?(?:\|([^{}|\n]*))?\}")
_CODE: Final = re.compile(r"[A-Z]\d{2}(?:\.\d{1,2})?")
_FORM: Final = "{words of the text|claim} or {words|claim/second claim|CODE CODE / CODE}"


class LabelledMention(NamedTuple):
    """A condition named in a text: code point offsets, its claim, and further attributes.

    `codes` are right (the first is the primary one), `also` are defensible; both are empty where the author gave none.
    """

    start: int
    end: int
    claim: str
    second: str | None
    codes: tuple[str, ...]
    also: tuple[str, ...]


class LabelledText(NamedTuple):
    """A text as its author wrote it, without the marks, and its mentions in order."""

    ident: str
    text: str
    mentions: tuple[LabelledMention, ...]


class Author(NamedTuple):
    """A row of `authors.tsv`. `coded`: `no`; `yes`: most mentions have codes; `all`: one without codes is not coded."""

    ident: str
    split: str
    country: str
    coded: Literal["no", "yes", "all"]
    setting: str


@cache
def authors() -> tuple[Author, ...]:
    """Everybody in `authors.tsv`, in its order. Raises SourceError."""
    found = []
    for number, cells in author_rows(FOLDER, COLUMNS):
        if cells[3] not in ("yes", "no", "all"):
            raise wrong_row(number, cells, COLUMNS)
        found.append(Author(*cells))  # type: ignore[arg-type] # looked at above
    return tuple(found)


def read(split: str, folder: Path = FOLDER) -> dict[str, tuple[LabelledText, ...]]:
    """The texts of all authors of a split whose file is there, by author. Raises SourceError."""
    files = {author.ident: folder / f"{author.ident}.txt" for author in authors() if author.split == split}
    return {ident: parse(file) for ident, file in files.items() if file.exists()}


def parse(file: Path, codes: Collection[str] | None = None) -> tuple[LabelledText, ...]:
    """The texts of one file; with `codes`, every code given must be among them. Raises SourceError by file and line."""
    texts: list[LabelledText] = []
    for begin, block in blocks(file):
        marked = "\n".join(block).strip("\n")
        if marked.strip():
            first = begin + next(at for at, one in enumerate(block) if one.strip("\n"))
            texts.append(_text(f"{file.stem}-{len(texts) + 1:03d}", marked, file.name, first, codes))
    return tuple(texts)


def _text(ident: str, marked: str, file: str, first: int, codes: Collection[str] | None) -> LabelledText:
    plain: list[str] = []
    mentions: list[LabelledMention] = []
    length = at = 0
    for mark in _MARK.finditer(marked):
        line = first + marked.count("\n", 0, mark.start())
        plain.append(marked[at : mark.start()])
        length += mark.start() - at
        at = mark.end()
        words, claim, second, given = mark.groups()
        for one in (claim, second):
            if one is not None and one not in CLAIMS:
                raise SourceError(file, line, f"the claim {one!r}", f"one of {', '.join(CLAIMS)}")
        if words != words.strip():
            raise SourceError(file, line, f"a mention that begins or ends with a space: {words!r}", "its words alone")
        right, also = _codes(given or "", file, line, codes)
        plain.append(words)
        mentions.append(LabelledMention(length, length + len(words), claim, second, right, also))
        length += len(words)
    plain.append(marked[at:])
    text = "".join(plain)
    if "{" in text or "}" in text or "|" in text:
        at = next(at for at, char in enumerate(text) if char in "{}|")
        raise SourceError(file, first + text.count("\n", 0, at), f"a mark that is none: {text[at : at + 30]!r}", _FORM)
    return LabelledText(ident, text, tuple(mentions))


def _codes(given: str, file: str, line: int, known: Collection[str] | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    right, _, also = given.partition("/")
    found = tuple(right.split()), tuple(also.split())
    for code in (*found[0], *found[1]):
        if not _CODE.fullmatch(code):
            raise SourceError(file, line, f"the code {code!r}", f"a code as the catalog writes it, such as {EXAMPLE}")
        if known is not None and code not in known:
            raise SourceError(file, line, f"the code {code}", "a terminal code of the catalog")
    return found


def summary(texts: Sequence[LabelledText]) -> str:
    """One line: texts, mentions by claim, how many have codes."""
    mentions = [mention for text in texts for mention in text.mentions]
    counts = Counter(mention.claim for mention in mentions)
    by_claim = ", ".join(f"{claim} {counts[claim]}" for claim in CLAIMS)
    coded = sum(bool(mention.codes) for mention in mentions)
    return f"{len(texts)} texts, {len(mentions)} mentions ({by_claim}), {coded} with codes"


# --- inputs of the second stage of calibration, which learns of them what no grammar has; of split train -------------


class WrittenInput(NamedTuple):
    """A text, the codes that are right for anything it states, its author, the places (start, end in code points) that
    it states something at without a code being known for it, and the place and claim of each of its mentions."""

    text: str
    right: frozenset[str]
    source: str
    open: tuple[tuple[int, int], ...] = ()
    claims: tuple[tuple[int, int, str], ...] = ()

    def says(self, start: int, end: int, claim: str) -> bool:
        """True if no mention is marked at a place, or one that claims this; what is suspected counts as present."""
        there = {label for first, last, label in self.claims if first < end and start < last}
        return not there or claim in {"present" if label == "suspected" else label for label in there}


@cache
def written_inputs() -> tuple[WrittenInput, ...]:
    """The texts with codes of the authors to learn from, author by author: whoever measures on them measures what was
    learnt from. What is kept apart for measuring is in none of them."""
    texts = read("train")
    return tuple(
        as_input(one, author.ident, author.coded == "all")
        for author in authors()
        for one in texts.get(author.ident, ())
        if is_coded(one)
    )


STATED: Final = ("present", "suspected", "history", "family")
"""Claims under which a mention's codes are right to show."""


def is_coded(text: LabelledText) -> bool:
    """True where the author gave codes; a text without any says nothing about them."""
    return any(mention.codes for mention in text.mentions)


def as_input(text: LabelledText, author: str, whole: bool = False) -> WrittenInput:
    """The text of an author as an input. `whole`: a mention without a code is none that is coded; else nobody knows."""
    stated = [one for one in text.mentions if one.claim in STATED or one.second in STATED]
    right = frozenset(code for one in stated for code in (*one.codes, *one.also))
    left = () if whole else tuple((one.start, one.end) for one in stated if not one.codes)
    claims = tuple((one.start, one.end, one.claim) for one in text.mentions)
    return WrittenInput(text.text, right, author, left, claims)


# --- the form that files of authors share, those of letters too ------------------------------------------------------


def author_rows(folder: Path, columns: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield line and cells of each row of the folder's table; author and split are the first two of `columns`.

    Raises SourceError for a row with another number of cells or an unknown split.
    """
    for number, line in enumerate((folder / "authors.tsv").read_text("utf-8").splitlines(), 1):
        if line.startswith("#") or not line.strip():
            continue
        cells = line.split("\t")
        if len(cells) != len(columns) or cells[1] not in SPLITS:
            raise wrong_row(number, cells, columns)
        yield number, cells


def wrong_row(number: int, cells: Sequence[str], columns: Sequence[str]) -> SourceError:
    """Name a row of the table that is none."""
    return SourceError("authors.tsv", number, f"a row of {len(cells)} cells", ", ".join(columns))


def blocks(file: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines of each text of a file, with the number of the first of them."""
    block: list[str] = []
    for number, line in enumerate([*file.read_text("utf-8").split("\n"), "==="], 1):
        if DIVIDER.fullmatch(line):
            yield number - len(block), block
            block = []
        else:
            block.append(line)
