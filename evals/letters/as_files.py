"""`python -m evals letters FILE TEXTS --as pdf|docx|scan`: annotated letters set as files, judged on values and boxes.

Each program sets every letter (`evals.letters.printed`); the file is opened as a server opens it, in a process apart,
and its text goes through extraction. Values are counted as those of the text; boxes are held against the words that
Poppler, a reader that shares nothing with ours, finds in the PDF before it was scanned: a box should hold the words of
its value and no others.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from clinical.contract import TEXT_MAX, ExtractRequest
from clinical.errors import SettingError
from clinical.letters import FileReader, FileRefused, PageText
from evals.letters.fields import Asked, FieldCounts, answers, compared
from evals.letters.printed import (
    Chromium,
    PrintedWord,
    Scan,
    html_of,
    printed_words,
    reportlab_pdf,
    scanned,
    typst_pdf,
    word_file,
)
from evals.measures.intervals import share
from evals.measures.results import Row, row
from evals.rules_model import RulesModel

Kind = Literal["pdf", "docx", "scan"]
KINDS: tuple[Kind, ...] = ("pdf", "docx", "scan")
DPIS = (300, 150)
Maker = Callable[[str], bytes]


class FileSet(NamedTuple):
    """One way of setting letters: its name, the PDF (None for Word), and the file that is read."""

    name: str
    make: Maker
    dpi: int | None = None


@dataclass
class BoxCounts:
    """Words in boxes: right, too many, missing; and values whose boxes hold their words and no others."""

    right: int = 0
    more: int = 0
    missing: int = 0
    values: int = 0
    held: int = 0

    def rows(self, of: str) -> list[Row]:
        """Word-level precision, recall and F1 of boxes, and the share of values whose boxes hold their words."""
        both = 2 * self.right + self.more + self.missing
        found = row("box_words_precision", of, self.right + self.more, share(self.right, self.right + self.more))
        found += row("box_words_recall", of, self.right + self.missing, share(self.right, self.right + self.missing))
        found += row("box_words_f1", of, both, 2 * self.right / both if both else 0.0)
        return found + row("box_holds_value", of, self.values, share(self.held, self.values))


@dataclass
class FileReport:
    """Values, boxes and times of letters as files."""

    values: FieldCounts = field(default_factory=FieldCounts)
    boxes: BoxCounts = field(default_factory=BoxCounts)
    seconds: list[float] = field(default_factory=list)
    """Of each file's reading, by page."""

    def rows(self, of: str) -> list[Row]:
        """Every measure, of a way of setting."""
        found = [one._replace(set=f"{of}: {one.set}") for one in self.values.rows() if one.set.startswith("all ")]
        found += self.boxes.rows(of) if self.boxes.values else []
        spent = 1_000 * statistics.median(self.seconds) if self.seconds else 0.0
        return found + row("milliseconds_a_page", of, len(self.seconds), spent)


def sets_of(kind: Kind, stack: ExitStack) -> Iterator[FileSet]:
    """The ways of setting a kind of file. Raises SettingError where a program is missing."""
    if kind == "docx":
        yield FileSet("python-docx", word_file)
        return
    if shutil.which("chromium") is None:
        raise SettingError("chromium is not installed", "chromium", "apt-get install chromium")
    chromium = stack.enter_context(Chromium())
    pdfs = [
        FileSet("ReportLab", reportlab_pdf),
        FileSet("Chromium", lambda text: chromium.pdf(html_of(text))),
        FileSet("Chromium, letterhead, justified", lambda text: chromium.pdf(html_of(text, "right", True, True))),
        FileSet("Chromium, letterhead at the left", lambda text: chromium.pdf(html_of(text, "left"))),
        FileSet("Typst, letterhead", lambda text: typst_pdf(text, True)),
    ]
    if kind == "pdf":
        yield from pdfs
        return
    for dpi in DPIS:
        yield FileSet(f"ReportLab, {dpi} dpi", reportlab_pdf, dpi)
        yield FileSet(f"Chromium, {dpi} dpi", pdfs[1].make, dpi)


def measured_as(letters: Sequence[Asked], kind: Kind) -> dict[str, FileReport]:
    """Every letter in every way of setting a kind of file, read by the rules, by the name of the way."""
    with ExitStack() as stack:
        return {one.name: _measured(letters, one, kind) for one in sets_of(kind, stack)}


def _measured(letters: Sequence[Asked], made: FileSet, kind: Kind) -> FileReport:
    report = FileReport()
    printed = [made.make(letter.request.text) for letter in letters]
    scans = [scanned(pdf, made.dpi, seed) for seed, pdf in enumerate(printed)] if made.dpi else []
    with ThreadPoolExecutor(1) as pool:  # the browser runs an event loop in this thread
        files = pool.submit(asyncio.run, _read([one.data for one in scans] or printed, report)).result()
    read = [(n, file) for n, file in enumerate(files) if file is not None]
    asked = [
        ExtractRequest(document_type=letters[n].request.document_type, text=file.text[:TEXT_MAX], evidence=True)
        for n, file in read
    ]
    report.values.failed += [letters[n].name for n, file in enumerate(files) if file is None]
    for (n, file), answer in zip(read, answers(asked, RulesModel()), strict=True):
        if answer is None:
            report.values.failed.append(letters[n].name)
            continue
        compared(report.values, letters[n], answer.data.model_dump())
        if kind != "docx":
            words = _moved(printed_words(printed[n]), scans[n] if scans else None)
            for one in answer.evidence or ():
                _held(report.boxes, file, one.start, one.end, words, made.dpi is not None)
    return report


async def _read(files: Sequence[bytes], report: FileReport) -> list[PageText | None]:
    """The texts of the files; None for one that was refused."""
    reader, found = FileReader(), list[PageText | None]()
    for data in files:
        began = time.perf_counter()
        try:
            text = await reader.text(data)
        except FileRefused:
            found.append(None)
            continue
        found.append(text)
        report.seconds.append((time.perf_counter() - began) / max(1, len(text.pages)))
    reader.close()
    return found


def _moved(words: list[PrintedWord], scan: Scan | None) -> list[PrintedWord]:
    if scan is None:
        return words
    found = []
    for one in words:
        corners = [scan.moved(x, y) for x in (one.left, one.right) for y in (one.top, one.bottom)]
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        found.append(PrintedWord(one.text, one.page, min(xs), min(ys), max(xs), max(ys)))
    return found


def _held(counts: BoxCounts, file: PageText, start: int, end: int, words: list[PrintedWord], scan: bool) -> None:
    """Count one value: the words whose middle lies in its boxes against the words of its text.

    Both are whole words: `geb.12.3.` is one word in the print, whichever part of it the value is.
    """
    while start > 0 and not file.text[start - 1].isspace():
        start -= 1
    while end < len(file.text) and not file.text[end].isspace():
        end += 1
    inside = [
        one
        for place in file.places(start, end)
        for one in words
        if one.page == place.page
        and any(
            box.left <= (one.left + one.right) / 2 <= box.right and box.top <= (one.top + one.bottom) / 2 <= box.bottom
            for box in place.boxes
        )
    ]
    want, have = Counter(file.text[start:end].split()), Counter(one.text for one in inside)
    if scan:  # what was recognised may be spelled otherwise: as many words as there should be
        right = min(want.total(), have.total())
    else:
        right = (want & have).total()
        if _squashed(want) == _squashed(have):  # a word divided at a line's end is two in the print
            right = have.total()
            want = have
    counts.right += right
    counts.more += have.total() - right
    counts.missing += want.total() - right
    counts.values += 1
    counts.held += right == have.total() == want.total()


def _squashed(words: Counter[str]) -> str:
    return re.sub(r"[-\xad\s]", "", "".join(words.elements()))
