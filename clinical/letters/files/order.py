"""From words on pages to the text as a reader wants it: columns, tables, paragraphs, running heads once.

A page is cut where nothing is printed: from top to bottom where blocks stand beside each other, else from left to right
between blocks (the XY-cut of Nagy and Seth, 1984). Blocks beside each other are rows of a table where most of their
lines stand on one height, and columns otherwise. What was wrapped is joined again: a line goes on where the first word
of the next one had no room on it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from statistics import median
from typing import NamedTuple

import numpy as np

from clinical.letters.files.page_text import NO_PAGE, SURE, Box, PageText, SheetPage
from clinical.letters.files.words import PageWords, Word
from clinical.letters.labels import heading_field, label_of

GUTTER = 1.0
"""Width of an empty strip between columns or cells, in heights of a line: three spaces, and more than between any two
words of justified text."""
RUN_GUTTER, RUN_GUTTER_OF_TWO = 0.5, 0.9
"""The same for a gutter that three or more rows, or two, have in common: chance makes none so wide between words."""
SURE_GAP, STANDS_OUT, FEW_GAPS = 2.0, 1.6, 4
"""Heights from which on a gap always divides cells; below, the multiple of a line's usual gap, of at least so many."""
STANDS_FAR_OUT = 2.4
"""Multiple of a line's usual gap above which three spaces stand there, where the line has so many gaps."""
ALIGNED = 0.3
"""Heights of a line by which two cells of a column may begin otherwise."""
CELL_PADDING = 0.3
"""Free space between a column's text and the next column, in heights of a line, at least."""
STRIP = 0.45
"""Height of an empty strip between blocks, in heights of a line."""
EMPTY_LINE = 1.4
"""A distance of two lines, in usual distances, from which on an empty line stands between them."""
ROWS_SHARED = 0.6
"""Share of the lines of neighbouring blocks that hold more than one of them, from which on they are rows."""
PROSE_WORDS, PROSE_WIDTH = 5, 0.8
"""Words of a line, and share of its column's width, from which on the half of a column's lines make it running text."""
FULL_LINE = 0.7
"""Share of the page's width that the longest line reaches where lines are wrapped at all."""
WIDE = 0.55
"""Share of the page's width from which on a column is its text."""
FEW_ROWS = 3
"""Lines up to which a block of one line beside them makes columns: a number at the foot of a page does not."""
RIGHT_SIDE = 0.4
"""Share of the page's width right of which a block is an address or a date, and not wrapped at the page's margin."""
NEARER = 0.94
"""Share of the least distance of two rows of a table below which two lines are of one cell."""
MARGIN_LINES, MARGIN_HEIGHTS, MARGIN_WORDS = 3, 2.0, 4
"""Lines that end this near to the longest one, in heights, where a narrow column is wrapped, and words of its lines."""
HEAD_GAPS = 12
"""Empty strips from the top of columns in which the end of a head above them is looked for."""
SMALL_PRINT, OVERPRINTED = 0.85, 0.3
"""Height of a word, in heights of the highest on its row, below which it may be printed over it; and the shared part of
two neighbours' width, in widths of the narrower, from which on one is."""
SAME_HEIGHT = 0.02
"""Share of the page's height by which a running line may stand otherwise on another page."""
HEAD, FOOT = 0.14, 0.86
"""Parts of a page above and below which lines that come again are running heads and feet."""


@dataclass
class Line:
    """One line of the text: its cells, the words of each from left to right, and the right margin it is wrapped at."""

    cells: list[list[Word]]
    page: SheetPage
    block: int
    limit: float | None = None
    gap: bool = False
    """True if an empty line stands above it."""

    @property
    def words(self) -> list[Word]:
        return [word for cell in self.cells for word in cell]

    @property
    def box(self) -> Box:
        return _around(self.words)

    @property
    def text(self) -> str:
        return "\t".join(" ".join(word.text for word in cell) for cell in self.cells)


def ordered(pages: Sequence[PageWords]) -> PageText:
    """The text of the pages with its places."""
    body, feet = _without_running(pages)
    lines: list[Line] = []
    for page in body:
        lines += _Sheet(page).lines(first_block=len(lines))
    for page in [*feet, *(part for one in pages for part in one.aside)]:
        lines += _Sheet(page).lines(first_block=len(lines))
    return _written(lines, tuple(page.page for page in pages))


# --- running heads and feet -------------------------------------------------------------------------------------------


def _without_running(pages: Sequence[PageWords]) -> tuple[list[PageWords], list[PageWords]]:
    """The pages without heads and feet that an earlier page has, and the first such feet, which go to the end."""
    known: dict[str, _Running] = {}
    feet: dict[int, list[Word]] = {}
    body = [list(page.words) for page in pages]
    at_foot: dict[str, tuple[int, list[Word]]] = {}
    for n, page in enumerate(pages):
        for row in _rows(page.words):
            share = _middle(row) / max(1.0, page.page.read_size[1])
            if HEAD < share < FOOT:
                continue
            line = " ".join(word.text for word in row)
            told = _NUMBER.sub("0", line)
            if _PAGE_NUMBER.fullmatch(told):
                body[n] = _less(body[n], row)
                continue
            if len(pages) == 1:
                continue
            running = _Running(n, share, tuple(map(int, _NUMBER.findall(line))))
            if told in known and known[told].comes_again(running):
                body[n] = _less(body[n], row)
                if told in at_foot:
                    first, words = at_foot.pop(told)
                    body[first] = _less(body[first], words)
                    feet.setdefault(first, []).extend(words)
            else:
                known[told] = running
                if share >= FOOT:
                    at_foot[told] = n, row
    kept = [PageWords(page.page, words) for page, words in zip(pages, body, strict=True)]
    return kept, [PageWords(pages[n].page, words) for n, words in sorted(feet.items())]


_NUMBER = re.compile(r"\d{1,9}")


class _Running(NamedTuple):
    """A line that may come again on later pages: its page, its height as a share of it, and its numbers."""

    page: int
    share: float
    numbers: tuple[int, ...]

    def comes_again(self, later: _Running) -> bool:
        """True if the later line is the same at the same height, but for a page's number: a table has such rows too."""
        pages = later.page - self.page
        counted = all(b - a in (0, pages) for a, b in zip(self.numbers, later.numbers, strict=True))
        return abs(self.share - later.share) < SAME_HEIGHT and counted


_PAGE_NUMBER = re.compile(r"(?:Seite|S\.|Blatt|Page)?\s?[-–]?\s?0\s?(?:(?:von|/|of)\s?0)?\s?[-–]?", re.IGNORECASE)
"""A line of a page's number and nothing else, its digits as 0."""


def _less(words: list[Word], row: list[Word]) -> list[Word]:
    gone = {id(word) for word in row}
    return [word for word in words if id(word) not in gone]


def _middle(words: Sequence[Word]) -> float:
    box = _around(words)
    return (box.top + box.bottom) / 2


def _around(words: Sequence[Word]) -> Box:
    return Box(
        min(word.box.left for word in words),
        min(word.box.top for word in words),
        max(word.box.right for word in words),
        max(word.box.bottom for word in words),
    )


def _rows(words: Sequence[Word]) -> list[list[Word]]:
    """Words on one height together, from top to bottom, each row from left to right."""
    rows: list[list[Word]] = []
    top = bottom = 0.0
    for word in sorted(words, key=_height_of_middle):
        _, above, _, below = word.box
        if rows:
            overlap = min(bottom, below) - max(top, above)
            if overlap > 0.55 * min(bottom - top, below - above):
                count = len(rows[-1])
                rows[-1].append(word)
                top, bottom = (top * count + above) / (count + 1), (bottom * count + below) / (count + 1)
                continue
        rows.append([word])
        top, bottom = above, below
    return [line for row in rows for line in _overprinted(sorted(row, key=_left))]


def _height_of_middle(word: Word) -> float:
    return word.middle


def _left(word: Word) -> float:
    return word.box.left


def _overprinted(row: list[Word]) -> list[list[Word]]:
    """The row, or the two lines that it is where a smaller one is printed over it: a stamp, a foot."""
    largest = max(word.height for word in row)
    small = [word for word in row if word.height < SMALL_PRINT * largest]
    if not small or not any(_share_width(before, word) for before, word in pairwise(row)):
        return [row]
    return [[word for word in row if word.height >= SMALL_PRINT * largest], small]


def _share_width(before: Word, word: Word) -> bool:
    """True if the second word begins well before the first one ends."""
    narrow = min(before.box.right - before.box.left, word.box.right - word.box.left)
    return before.box.right - word.box.left > OVERPRINTED * narrow


# --- one page ---------------------------------------------------------------------------------------------------------

Span = tuple[float, float]


def _gaps(spans: Sequence[Span], least: float) -> list[Span]:
    """The empty strips, at least so wide, between spans on one axis."""
    found: list[Span] = []
    reached: float | None = None
    for first, last in sorted(spans):
        if reached is not None and first - reached >= least:
            found.append((reached, first))
        reached = last if reached is None else max(reached, last)
    return found


@dataclass
class _Sheet:
    """One page on its way to lines."""

    page: PageWords
    usual: float = 0.0
    """Usual distance of two lines in heights of a line."""
    found: list[Line] = field(default_factory=list)
    block: int = 0

    @cached_property
    def width(self) -> float:
        """Width of the page as it is read."""
        return self.page.page.read_size[0]

    def lines(self, first_block: int = 0) -> list[Line]:
        """The lines in reading order."""
        words = self.page.words
        if not words:
            return []
        self.block = first_block
        rows = _rows(words)
        ratios = [_distance(above, below) for above, below in pairwise(rows)]
        near = [ratio for ratio in ratios if 0.6 < ratio < 2.2]
        self.usual = min(1.7, max(0.95, float(np.percentile(near, 35)))) if near else 1.1
        right = max(word.box.right for word in words)
        self._cut(words, right if right > FULL_LINE * self.width else None, 0)
        return self.found

    def _cut(self, words: Sequence[Word], limit: float | None, depth: int) -> None:
        """Cut a region in the order in which it is read, down to lines."""
        height = median(word.height for word in words)
        columns = self._columns(words, height) if depth < 12 else [words]
        if len(columns) > 1 and (parts := _head_and_body(words, columns, height)):
            for part in parts:
                self._cut(part, limit, depth + 1)
            return
        if len(columns) > 1 and not _is_table(columns, self.page.page):
            for column in columns:
                self._cut(column, self._limit(column), depth + 1)
            return
        if len(columns) > 1:
            self._table(columns, limit)
            return
        if limit and min(word.box.left for word in words) > RIGHT_SIDE * self.width:
            limit = _margin(words)
        strips = self._strips(words, height)
        if len(strips) == 1 or depth >= 12:
            self._runs(words, limit, height)
            return
        for strip in strips:
            self._cut(strip, limit, depth + 1) if len(strip) < len(words) else self._plain(strip, limit, height)

    def _limit(self, words: Sequence[Word]) -> float | None:
        """The right margin of a column: its own right edge where it is as wide as a page's text."""
        box = _around(words)
        return box.right if box.right - box.left > WIDE * self.width else _margin(words)

    def _columns(self, words: Sequence[Word], height: float) -> list[Sequence[Word]]:
        gutters = _gaps([(word.box.left, word.box.right) for word in words], GUTTER * height)
        gutters = [one for one in gutters if not _behind_marks(words, one)]
        if not gutters:
            return [words]
        columns = _parted(words, gutters)
        rows = len(_rows(words))
        return columns if rows <= FEW_ROWS or all(len(_rows(one)) > 1 for one in columns) else [words]

    def _strips(self, words: Sequence[Word], height: float) -> list[Sequence[Word]]:
        """Blocks from top to bottom; those with a gutter in common stay together."""
        cuts = [(a + b) / 2 for a, b in _gaps([(one.box.top, one.box.bottom) for one in words], STRIP * height)]
        strips: list[list[Word]] = [[] for _ in range(len(cuts) + 1)]
        for word in words:
            strips[sum(word.middle > cut for cut in cuts)].append(word)
        joined: list[list[Word]] = []
        for strip in strips:
            if joined and self._go_together(joined[-1], strip, height):
                joined[-1] = [*joined[-1], *strip]
            else:
                joined.append(strip)
        if len(joined) == 1:
            return [words] if len(strips) == 1 else self._by_rows(strips)
        return list(joined)

    def _by_rows(self, strips: list[list[Word]]) -> list[Sequence[Word]]:
        return list(strips)

    def _go_together(self, above: Sequence[Word], below: Sequence[Word], height: float) -> bool:
        return all(len(self._columns(one, height)) > 1 for one in (above, below, [*above, *below]))

    def _runs(self, words: Sequence[Word], limit: float | None, height: float) -> None:
        """Lines of one block, of which some below each other may be rows of a table."""
        rows = _rows(words)
        plain: list[list[Word]] = []
        n = 0
        while n < len(rows):
            end, gutters = _run(rows, n, height)
            if end - n < 2:
                plain.append(rows[n])
                n += 1
                continue
            if plain:
                self._emit([_cells(row, GUTTER * height) for row in plain], limit)
                plain = []
            self._table(_parted(_flat(rows[n:end]), gutters), limit)
            n = end
        if plain:
            self._emit([_cells(row, GUTTER * height) for row in plain], limit)

    def _plain(self, words: Sequence[Word], limit: float | None, height: float) -> None:
        """Lines of one column; what stands far apart on a line are cells."""
        self._emit([_cells(row, GUTTER * height) for row in _rows(words)], limit)

    def _table(self, columns: Sequence[Sequence[Word]], limit: float | None) -> None:
        """The rows of a table, a cell for every column up to the last one filled."""
        own = {id(word): n for n, column in enumerate(columns) for word in column}
        rows: list[list[list[Word]]] = []
        for row in _rows([word for column in columns for word in column]):
            cells: list[list[Word]] = [[] for _ in columns]
            for word in row:
                cells[own[id(word)]].append(word)
            rows.append(cells)
        height = median(word.height for column in columns for word in column)
        lefts = [min(word.box.left for word in column) for column in columns[1:]]
        margins = [*(left - CELL_PADDING * height for left in lefts), limit or _margin(columns[-1])]
        whole = _wrapped_cells(rows, margins, _wrapped_within(rows))
        self._emit([[part for cell in row for part in _cells(cell, GUTTER * height)] for row in whole], limit)

    def _emit(self, rows: Sequence[Sequence[list[Word]]], limit: float | None) -> None:
        self.block += 1
        distances = [_distance(_flat(above), _flat(below)) for above, below in pairwise(rows)]
        near = [one for one in distances if one < 3 * self.usual]
        usual = max(self.usual, min(median(near), 2.4 * self.usual)) if len(rows) > 2 and near else self.usual
        for n, cells in enumerate(rows):
            kept = list(cells)
            while kept and not kept[-1]:
                kept.pop()
            apart = n == 0 or distances[n - 1] > EMPTY_LINE * usual
            if n == 0 and self.found:
                apart = self._is_apart(_flat(kept))
            self.found.append(Line(kept, self.page.page, self.block, limit, apart))

    def _is_apart(self, words: Sequence[Word]) -> bool:
        """True if a block stands apart from the one before: beside it, or an empty line below."""
        above, box = self.found[-1].box, _around(words)
        if box.top < above.top or box.left > above.right or box.right < above.left:
            return True
        return _distance(self.found[-1].words, words) > EMPTY_LINE * self.usual


def _head_and_body(
    words: Sequence[Word], columns: Sequence[Sequence[Word]], height: float
) -> tuple[list[Word], list[Word]] | None:
    """The parts above and below where a head without running text stands over columns of it; None elsewhere."""
    found = None
    for first, last in _gaps([(one.box.top, one.box.bottom) for one in words], STRIP * height)[:HEAD_GAPS]:
        cut = (first + last) / 2
        above = [[word for word in column if word.middle < cut] for column in columns]
        below = [[word for word in column if word.middle > cut] for column in columns]
        if any(map(_is_prose, filter(None, above))):
            break
        if any(len(_rows(one)) > 1 for one in above) and sum(map(_is_prose, filter(None, below))) > 1:
            found = _flat(above), _flat(below)
    return found


def _parted(words: Sequence[Word], gutters: Sequence[Span]) -> list[Sequence[Word]]:
    """The words between gutters, from left to right."""
    edges = [(first + last) / 2 for first, last in gutters]
    columns: list[list[Word]] = [[] for _ in range(len(edges) + 1)]
    for word in words:
        columns[sum(word.box.left > edge for edge in edges)].append(word)
    return [column for column in columns if column]


def _run(rows: Sequence[Sequence[Word]], first: int, height: float) -> tuple[int, list[Span]]:
    """(end, gutters) of the longest run of rows from one on that share a gutter with words on both its sides."""
    spans: list[Span] = []
    end, found = first, list[Span]()
    for n in range(first, len(rows)):
        spans += [(word.box.left, word.box.right) for word in rows[n]]
        count = n + 1 - first
        least = (RUN_GUTTER if count > 2 else RUN_GUTTER_OF_TWO) * height
        kept = [one for one in _gaps(spans, RUN_GUTTER * height) if not _behind_marks(_flat(rows[first : n + 1]), one)]
        kept = [one for one in kept if 3 * _astride(rows[first : n + 1], one) >= count]
        if not kept:
            break
        if count > 1 and any(last - start >= least for start, last in kept):
            end, found = n + 1, kept
    return end, found


def _astride(rows: Sequence[Sequence[Word]], gutter: Span) -> int:
    """Rows with words on both sides of a gutter, and those that begin on its right where such a row goes on."""
    middle = (gutter[0] + gutter[1]) / 2
    count, goes_on = 0, -1.0
    for row in rows:
        gaps = _widths(row)
        behind = next(
            (
                word
                for n, (before, word) in enumerate(pairwise(row))
                if before.box.left < middle < word.box.left and _stands_out(gaps[n], gaps, word.height)
            ),
            None,
        )
        goes_on = behind.box.left if behind else goes_on
        count += behind is not None or abs(row[0].box.left - goes_on) < ALIGNED * row[0].height
    return count


def _widths(row: Sequence[Word]) -> list[float]:
    return [word.box.left - before.box.right for before, word in pairwise(row)]


def _stands_out(gap: float, gaps: Sequence[float], height: float) -> bool:
    """True if a gap is wider than those between the words of its line, which justified text makes wide."""
    return gap >= SURE_GAP * height or len(gaps) < FEW_GAPS or gap > STANDS_OUT * median(gaps)


def _flat(cells: Sequence[Sequence[Word]]) -> list[Word]:
    return [word for cell in cells for word in cell]


def _distance(above: Sequence[Word], below: Sequence[Word]) -> float:
    """Distance of two lines, foot to foot, in heights of the lower one; of a row of several lines its first."""
    ends = min(word.box.bottom for word in below)
    line = [word for word in below if word.box.top < ends]
    height = max(1.0, median(word.height for word in line))
    return (_around(line).bottom - _around(above).bottom) / height


def _margin(words: Sequence[Word]) -> float | None:
    """The right margin at which a narrow column is wrapped; None where its lines end anywhere."""
    rows = _rows(words)
    ends = [row[-1].box.right for row in rows]
    height = median(word.height for word in words)
    near = sum(max(ends) - end < MARGIN_HEIGHTS * height for end in ends)
    told = median(len(row) for row in rows) >= MARGIN_WORDS
    return max(ends) if told and near >= MARGIN_LINES and 2 * near >= len(rows) else None


def _cells(row: Sequence[Word], least: float) -> list[list[Word]]:
    """The parts of a row that stand apart; one empty part of an empty row."""
    cells: list[list[Word]] = [list(row[:1])]
    gaps = _widths(row)
    sure = STANDS_FAR_OUT * median(gaps) if len(gaps) >= FEW_GAPS else least
    for gap, (before, word) in zip(gaps, pairwise(row), strict=True):
        apart = (
            (gap >= least or (gap > sure and gap > RUN_GUTTER * word.height))
            and _stands_out(gap, gaps, word.height)
            and not (len(cells[-1]) == 1 and _MARK.fullmatch(before.text))
        )
        if apart:
            cells.append([word])
        else:
            cells[-1].append(word)
    return cells


_MARK = re.compile(r"[-–—•*·▪►>+o○●■□‣∙]|\d{1,2}[.)]{1,2}|[A-Za-z]\)")
"""Marks and numbers of list items, which stand far before their text."""


def _behind_marks(words: Sequence[Word], gutter: Span) -> bool:
    """True if nothing but the marks of list items stands on the left of a gutter, up to the next one."""
    left = [word for word in words if word.box.right <= gutter[0] + 0.1]
    return all(_MARK.fullmatch(word.text) for word in left)


_REACHING = (None, "telefon", "fax", "email")
"""Beginnings of a line below the place: no label, or one of these."""
_PLACED = re.compile(r"^(?:[AD]-|CH-)?\d{4,5}$")


def _is_table(columns: Sequence[Sequence[Word]], page: SheetPage) -> bool:
    """True if blocks beside each other are rows of a table or a form, false if they are read one after the other."""
    own = {id(word): n for n, column in enumerate(columns) for word in column}
    rows = _rows([word for column in columns for word in column])
    filled = [len({own[id(word)] for word in row}) for row in rows]
    shared = sum(count > 1 for count in filled)
    if _labels(columns[0]) and 2 * shared >= len(rows):
        return True
    if shared < ROWS_SHARED * len(rows):
        return False
    if sum(map(_is_prose, columns)) > 1:
        return False
    return not (len(rows) > 2 and len(columns) == 2 and any(map(_is_address, columns)))


def _labels(column: Sequence[Word]) -> bool:
    """True if at least half of the lines of a column are labels or headings of a form."""
    lines = [" ".join(word.text for word in row) for row in _rows(column)]
    known = sum(one.endswith(":") or label_of(one) is not None or heading_field(one) is not None for one in lines)
    return 2 * known >= len(lines)


def _is_prose(column: Sequence[Word]) -> bool:
    rows = _rows(column)
    box = _around(column)
    wide = max(1.0, box.right - box.left)
    full = sum(len(row) >= PROSE_WORDS and row[-1].box.right - row[0].box.left > PROSE_WIDTH * wide for row in rows)
    return len(rows) > 2 and 2 * full >= len(rows)


def _is_address(column: Sequence[Word]) -> bool:
    """True if a postcode and a place end a block of lines, but for ways to reach who lives there."""
    rows = _rows(column)
    if len(rows) < 3 or _labels(column) or any(row[0].text.endswith(":") for row in rows[1:]):
        return False
    placed = next((n for n, row in enumerate(rows) if len(row) > 1 and _PLACED.match(row[0].text)), None)
    return placed is not None and all(label_of(row[0].text) in _REACHING for row in rows[placed + 1 :])


def _wrapped_cells(
    rows: list[list[list[Word]]], margins: Sequence[float | None], within: Mapping[int, float]
) -> list[list[list[Word]]]:
    """Rows whose every cell goes on with the one above it joined to the row above. `within`: rows that are lines of the
    row above, with the margin at which its cell is wrapped."""
    found: list[list[list[Word]]] = []
    for at, row in enumerate(rows):
        filled = [n for n, cell in enumerate(row) if cell]
        limits = [within.get(at)] * len(row) if at in within else margins
        if (
            found
            and filled
            and len(filled) < len(row) + (not row[0])
            and not _begins_row(row[0])
            and all(_goes_on(found[-1][n], row[n], limits[n]) for n in filled)
        ):
            for n in filled:
                found[-1][n] = [*found[-1][n], *row[n]]
        else:
            found.append([list(cell) for cell in row])
    return found


def _begins_row(cell: Sequence[Word]) -> bool:
    """True for a first cell that is, or begins with, a label or heading: it goes on with nothing."""
    if not cell:
        return False
    whole = " ".join(word.text for word in cell)
    return any(label_of(one) is not None or heading_field(one) is not None for one in (whole, cell[0].text))


def _wrapped_within(rows: Sequence[Sequence[Sequence[Word]]]) -> dict[int, float]:
    """The numbers of rows that stand nearer to the one above than rows do that begin with a first cell, with the margin
    of their lines: where the cells of a table are wrapped, the lines of one are nearer than two cells."""
    distances = [_distance(_flat(above), _flat(below)) for above, below in pairwise(rows)]
    begun = [distance for distance, row in zip(distances, rows[1:], strict=True) if row[0]]
    if not begun:
        return {}
    near = [n for n, one in enumerate(distances, 1) if not rows[n][0] and one < NEARER * min(begun)]
    found: dict[int, float] = {}
    for column in range(1, len(rows[0])):
        own = [n for n in near if [at for at, cell in enumerate(rows[n]) if cell] == [column] and rows[n - 1][column]]
        above = [rows[n - 1][column] for n in own]
        margin = max((cell[-1].box.right for cell in above), default=0.0)
        ends = [cell for cell in above if margin - cell[-1].box.right < MARGIN_HEIGHTS * cell[-1].height]
        widest = all(row[column][-1].box.right <= margin for row in rows if row[column])
        if len(ends) > 1 or (widest and any(len(cell) >= MARGIN_WORDS for cell in ends)):
            found |= dict.fromkeys(own, margin)
    return found


# --- lines to text ----------------------------------------------------------------------------------------------------


_RULE = re.compile(r"[-_=*~#.·–—]{4,}")
_SPACE = 0.26
"""Width of a space in heights of a line."""


def _goes_on(above: Sequence[Word], below: Sequence[Word], limit: float | None) -> bool:
    """True if the second line goes on with the first: its first word had no room on it, or a word is divided."""
    if not above or not below or _MARK.fullmatch(below[0].text):
        return False
    if _RULE.fullmatch(above[-1].text) or _RULE.fullmatch(below[0].text):
        return False
    if _is_labelled(below):
        return False
    last, first = above[-1], below[0]
    if _is_divided(last.text, first.text) and (limit is None or last.box.right > 0.6 * limit):
        return True
    if limit is None:
        return False
    room = limit - last.box.right
    return room < (first.box.right - first.box.left) + _SPACE * last.height - 0.5


def _is_labelled(words: Sequence[Word]) -> bool:
    """True if a line begins with a label or heading and a colon."""
    for count, word in enumerate(words[:4], start=1):
        if word.text.endswith(":"):
            head = " ".join(one.text for one in words[:count]).rstrip(":")
            return label_of(head) is not None or heading_field(head) is not None
    return False


def _is_divided(last: str, first: str) -> bool:
    return len(last) > 2 and last[-1] in "-\u00ad\u2010" and last[-2].isalpha() and first[0].islower()


_NO_DIVISION = frozenset(["und", "oder", "bzw", "beziehungsweise", "sowie", "bis", "als", "u", "o"])


def _joint(last: str, first: str) -> tuple[bool, str]:
    """(whether the last sign of the line goes, what stands between both words)."""
    if last[-1] in "-\u2010" and len(last) > 1 and last[-2].isalnum() and "@" not in last:
        if first[0].islower() and last[-2].isalpha():
            return (False, " ") if first.rstrip(".,") in _NO_DIVISION else (True, "")
        return False, ""
    if (last[-1] == "/" and len(last) > 1) or (last[-1] in "-\u2010" and "@" in last):
        return False, ""
    return False, " "


_NOWHERE = Box(0.0, 0.0, 0.0, 0.0)


class _Writer:
    """The text as it grows, with the place of every character."""

    def __init__(self) -> None:
        self.signs: list[str] = []
        self.pages: list[int] = []
        self.boxes: list[Box] = []
        self.sure: list[float] = []

    def sign(self, sign: str, page: int = NO_PAGE, box: Box = _NOWHERE, confidence: float = SURE) -> None:
        self.signs.append(sign)
        self.pages.append(page)
        self.boxes.append(box)
        self.sure.append(confidence)

    def drop(self) -> None:
        for one in (self.signs, self.pages, self.boxes, self.sure):
            one.pop()

    def word(self, word: Word, page: SheetPage) -> None:
        count = len(word.boxes)
        self.signs += word.text
        self.pages += [page.number] * count
        boxes = [box.lowered(word.raised) for box in word.boxes] if word.raised else word.boxes
        self.boxes += [page.to_show(box) for box in boxes] if page.turn else boxes
        self.sure += [word.confidence] * count

    def cells(self, cells: Sequence[Sequence[Word]], page: SheetPage) -> None:
        for n, cell in enumerate(cells):
            if n:
                self.sign("\t")
            before: Word | None = None
            for word in cell:
                if before is not None:
                    self._between(before, word, page)
                self.word(word, page)
                before = word

    def _between(self, before: Word, word: Word, page: SheetPage) -> None:
        """A space, or what joins a divided word where the cell's text ran over a line's end."""
        if word.box.left > before.box.left and word.box.top < before.box.bottom:
            gap = Box(before.box.right, before.box.top, max(before.box.right, word.box.left), before.box.bottom)
            self.sign(" ", page.number, page.to_show(gap.lowered(before.raised)))
            return
        self.joint(before.text, word.text)

    def joint(self, last: str, first: str) -> None:
        drop, between = _joint(last, first)
        if drop:
            self.drop()
        for sign in between:
            self.sign(sign)

    def text(self, pages: tuple[SheetPage, ...]) -> PageText:
        return PageText(
            "".join(self.signs),
            pages,
            np.array(self.pages, np.int16),
            np.array(self.boxes, np.float32).reshape(-1, 4),
            np.array(self.sure, np.float32),
        )


def _written(lines: Sequence[Line], pages: tuple[SheetPage, ...]) -> PageText:
    writer = _Writer()
    for n, line in enumerate(lines):
        if n:
            above = lines[n - 1]
            if _continues(above, line):
                writer.joint(above.cells[-1][-1].text, line.cells[0][0].text)
            else:
                for sign in "\n\n" if line.gap and above.page == line.page else "\n":
                    writer.sign(sign)
                if above.page != line.page:
                    writer.sign("\n")
        writer.cells(line.cells, line.page)
    return writer.text(pages)


def _continues(above: Line, line: Line) -> bool:
    """True if a line goes on with the one above, on the same page or over its end."""
    if len(above.cells) > 1 or len(line.cells) > 1 or not line.cells[0] or not above.cells[0]:
        return False
    if above.page == line.page:
        if line.gap or above.limit != line.limit or not _is_below(above.box, line.box):
            return False
    elif (
        above.page.number == line.page.number
        or above.limit is None
        or line.limit is None
        or line.cells[0][0].text[0].isupper()
    ):
        return False
    return _goes_on(above.cells[0], line.cells[0], above.limit)


def _is_below(above: Box, box: Box) -> bool:
    return box.top >= above.top and box.left < above.right and box.right > above.left
