"""Letters set as files: their values and boxes are judged by what another reader finds in the print."""

from __future__ import annotations

import shutil

import pytest

from clinical.letters.files.page_text import Box, PageBoxes
from evals.letters import as_files, printed
from evals.letters.as_files import BoxCounts, FileSet
from evals.letters.fields import generated, measured
from evals.letters.generator import letters
from tests.conftest import stay_out

SINGLE = "all single values"


@pytest.fixture(scope="module", autouse=True)
def poppler():
    if shutil.which("pdftotext") is None:
        stay_out("pdftotext is not installed (apt-get install poppler-utils)")


def test_letters_as_pdf_are_read_as_their_text_and_boxes_hold_their_words():
    asked = generated(letters(8, 3, ("letters_a",)))
    (report,) = [as_files._measured(asked, FileSet("ReportLab", printed.reportlab_pdf), "pdf")]
    of = {one.measure: one.value for one in report.rows("R") if one.set in ("R", f"R: {SINGLE}")}
    text = {one.measure: one.value for one in measured(asked).rows() if one.set == SINGLE}
    assert of["f1"] > text["f1"] - 0.05
    assert of["box_words_f1"] > 0.95
    assert of["box_holds_value"] > 0.97


class _File:
    """A text of three words on one line, 10 points for each character."""

    text = "eins zwei drei"

    def places(self, start, end):
        return (PageBoxes(1, (Box(10.0 * start, 0.0, 10.0 * end, 10.0),)),)


WORDS = [printed.PrintedWord(word, 1, 50.0 * n, 0.0, 50.0 * n + 40, 10.0) for n, word in enumerate(_File.text.split())]


def counted(words, start, end):
    counts = BoxCounts()
    as_files._held(counts, _File(), start, end, words, False)
    return counts.right, counts.more, counts.missing, counts.held


def test_a_box_over_other_words_or_none_counts_against_it():
    assert counted(WORDS, 0, 9) == (2, 0, 0, 1)
    assert counted(WORDS[1:], 0, 9) == (1, 0, 1, 0)
    assert counted([*WORDS, printed.PrintedWord("mehr", 1, 20.0, 0.0, 30.0, 10.0)], 0, 4) == (1, 1, 0, 0)


def test_a_part_of_a_word_and_a_divided_word_are_held_against_whole_words():
    assert counted(WORDS, 1, 3) == (1, 0, 0, 1)
    divided = [printed.PrintedWord(word, 1, at, 0.0, at + 20, 10.0) for at, word in ((50.0, "zw\xad"), (70.0, "ei"))]
    assert counted([WORDS[0], *divided, WORDS[2]], 5, 9) == (2, 0, 0, 1)
    assert counted([WORDS[0], divided[0], WORDS[2]], 5, 9) == (0, 1, 1, 0)


def test_a_scan_knows_where_its_words_went():
    scan = printed.Scan(b"", 0.5)
    left, right = scan.moved(0, printed.HEIGHT / 2), scan.moved(printed.WIDTH, printed.HEIGHT / 2)
    assert left[1] > printed.HEIGHT / 2 > right[1]  # turned to the left: the right side goes up
    assert scan.moved(printed.WIDTH / 2, printed.HEIGHT / 2) == pytest.approx((printed.WIDTH / 2, printed.HEIGHT / 2))
