"""The authors' annotated letters: marks become values at their places, mistakes are named by their line."""

import re

import pytest

from catalog_build.training.letters import letter_authors, parse_letters, read_letters
from clinical.errors import SourceError

LETTER = """### arztbrief
{Klinikum Aurach|absender.institution}, {4. März 2026|dokument.datum=2026-03-04}
{Z. n. Appendektomie|diagnosen eingriffe?}, am 3.4.26 {Gastroskopie|eingriffe=2026-04-03}
{Die Antikoagulation mit {Apixaban 5 mg|medikation} bitte
fortführen.|procedere}
{OÄ Dr. Muff|absender.name} {Dr. Hau|absender.name?}
===

### zuweisung
{Frau|patient.geschlecht=w} Brandt, {stationär|aufenthalt.art?=stationaer}
"""


@pytest.fixture
def file(tmp_path):
    return tmp_path / "l99.txt"


def test_marks_become_values_at_their_places(file):
    file.write_text(LETTER, "utf-8")
    first, second = parse_letters(file)
    assert (first.ident, first.kind, second.ident, second.kind) == ("l99-01", "arztbrief", "l99-02", "zuweisung")
    assert "{" not in first.text
    assert all(first.text[one.start : one.end] == one.words for one in first.values)
    assert [one.field for one in first.values] == [
        *("absender.institution", "dokument.datum", "diagnosen", "eingriffe", "eingriffe"),
        *("procedere", "medikation", "absender.name", "absender.name"),
    ]


def test_values_are_in_the_shape_of_the_contract_and_optional_ones_apart(file):
    file.write_text(LETTER, "utf-8")
    first, second = parse_letters(file)
    assert first.data["dokument"]["datum"] == "2026-03-04"
    assert first.data["eingriffe"] == [{"bezeichnung": "Gastroskopie", "datum": "2026-04-03"}]
    assert first.data["procedere"] == ["Die Antikoagulation mit Apixaban 5 mg bitte\nfortführen."]
    assert first.data["absender"]["name"] == "OÄ Dr. Muff"
    assert first.accept == {
        "eingriffe": [{"bezeichnung": "Appendektomie", "datum": None}],
        "absender.name": ["Dr. Hau"],
    }
    assert second.data["patient"]["geschlecht"] == "w"
    assert second.accept == {"aufenthalt.art": ["stationaer", None]}


@pytest.mark.parametrize(
    ("marked", "line", "said"),
    [
        ("gut\n{Sonographie}", 3, "a mark that is none"),
        ("{Lyse|eingriffe", 2, "the fields ''"),
        ("{Lyse", 2, "a mark without an end"),
        ("a | b", 2, "a mark that is none"),
        ("{ Lyse|eingriffe}", 2, "begins or ends with a space"),
        ("{Lyse|prozeduren}", 2, "the field 'prozeduren'"),
        ("{bald|dringlichkeit}", 2, "the field 'dringlichkeit'"),
        ("{3.4.26|dokument.datum=3.4.26}", 2, "the day '3.4.26'"),
        ("{Frau|patient.geschlecht}", 2, "patient.geschlecht: 'Frau'"),
    ],
)
def test_a_mistake_is_named_by_its_line(file, marked, line, said):
    file.write_text(f"### arztbrief\n{marked}\n", "utf-8")
    with pytest.raises(SourceError, match=re.escape(said)) as refused:
        parse_letters(file)
    assert refused.value.line == line


def test_a_document_without_its_kind_is_named(file):
    file.write_text("### arztbrief\ngut\n===\nFrau Brandt\n", "utf-8")
    with pytest.raises(SourceError, match="no kind of letter") as refused:
        parse_letters(file)
    assert refused.value.line == 4


def test_every_listed_author_has_letters():
    listed = letter_authors()
    assert len({one.ident for one in listed}) == len(listed)
    for split in {one.split for one in listed}:
        assert all(read_letters(split).values())
