"""Figures of the documentation: each stands beside a command that gives it again, and is what its result says."""

import hashlib
import re
import shlex
from pathlib import Path

import pytest

from evals.lab.pages import declared, page, read_records

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
RECORDS = read_records(DOCS)
each_record = pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)


def test_the_page_of_the_notebooks_is_what_its_records_say():
    assert (DOCS / "notebooks.md").read_text("utf-8") == page(RECORDS)


def test_every_notebook_has_a_record():
    assert [record.name for record in RECORDS] == sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))


@each_record
def test_a_notebook_on_the_page_has_its_pictures_and_a_command_of_parameters_that_it_takes(record):
    for name, digest in record.pictures.items():
        assert hashlib.sha256((DOCS / "pictures" / f"{name}.png").read_bytes()).hexdigest() == digest
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", record.date)
    assert record.on["artifact"]
    given = dict(word.split("=", 1) for word in shlex.split(record.command)[2:])
    known = {*declared(ROOT / "notebooks" / record.name), "CATALOG", "SOURCE", "HOLDOUT", "EARLIER", "ONLY"}
    assert set(given) <= known
    assert record.name.startswith(given["ONLY"])


# --- docs/measured.md: every table has a command, and every command is there ---------------------------------------

MEASURED = (DOCS / "measured.md").read_text("utf-8")
SECTIONS = {part.split("\n", 1)[0].lstrip("# "): part for part in re.split(r"^(?=##+ )", MEASURED, flags=re.MULTILINE)}
WITH_FIGURES = {name: part for name, part in SECTIONS.items() if re.search(r"^\|.*\d", part, re.MULTILINE)}
COMMAND = re.compile(r"`(?:python -m \w|make [a-z]|pytest |tests/)")


def test_the_page_is_tables_of_today_and_no_diary():
    assert len(MEASURED.split()) <= 2_500
    assert not re.search(r"20\d\d-\d\d-\d\d|\bbefore\b(?! anybody)|\bonce\b", MEASURED), "that is for evals/LOG.md"
    assert len((ROOT / "evals" / "LOG.md").read_text("utf-8").split()) <= 8_000
    rows = re.findall(r"^\| (?!-|\|)[^|]+\|.*\|$", MEASURED, re.MULTILINE)
    assert len(rows) > 80


@pytest.mark.parametrize("section", WITH_FIGURES)
def test_figures_stand_beside_a_command(section):
    """That the commands and their options are there is tested for all pages in test_docs."""
    assert COMMAND.search(WITH_FIGURES[section]), "which command measures these figures again?"


def test_the_tests_that_the_page_names_are_there():
    named = re.findall(r"\btests/[\w/.]+", MEASURED)
    assert len(named) >= 15
    assert [path for path in named if not (ROOT / path.rstrip(".")).exists()] == []


# --- all other pages: a measured figure stands in one place ----------------------------------------------------------

HOMES = {
    "measured.md": "the tests above",
    "notebooks.md": "its records",
    "benchmark.md": "tests/evals/test_benchmark.py",
}
"""Pages of figures, and what compares them with what they rest on."""
MEASURED_FIGURE = re.compile(
    r"(?:0\.\d{2,}|\d[\d.,]* (?:ms\b|(?:texts |streams |requests )?a second\b|/s\b|% of (?:queries|texts|codes)))"
)
STATED = {"lab.md": {"0.01"}, "operate.md": {"0.15"}, "workbench.md": {"30 ms"}}
"""Figures that nobody measured: a level of significance, a bound to watch, a pause."""


def _pages():
    return [ROOT / "README.md", *sorted(path for path in DOCS.glob("*.md") if path.name not in HOMES)]


@pytest.mark.parametrize("path", _pages(), ids=lambda path: path.name)
def test_a_measured_figure_stands_on_the_pages_of_figures_alone(path):
    """Else it grows old there: every page of figures is compared with what it rests on."""
    prose = re.sub(r"^```.*?^```|`[^`]*`|\]\([^)]*\)", "", path.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    found = set(MEASURED_FIGURE.findall(prose)) - STATED.get(path.name, set())
    assert found == set(), f"put them into docs/measured.md beside their command: {found}"
