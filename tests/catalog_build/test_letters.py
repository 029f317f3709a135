"""The authors' annotated letters, and in other words: marks become values at their places, and move with them."""

import re

import numpy as np
import pytest

from catalog_build.training.letters import letter_authors, parse_letters, read_letters
from catalog_build.training.letters.varied import exchanged, misread, relined, values_by_field
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


LETTERS = """### arztbrief
{Klinikum Aurach|absender.institution}      {Tor 4|absender.strasse}
{Klinik für Neurologie|absender.abteilung}\tTel. {09841 55-120|absender.telefon}

{4. März 2026|dokument.datum=2026-03-04}

   Pat. {Ilse|patient.vorname} {Brandt|patient.nachname}, geb. {01.02.1950|patient.geburtsdatum=1950-02-01}

Frau Brandt war bei uns, und wir berichten über ihren Aufenthalt und über alles, was wir fanden und was wir rieten.
Diagnose: {Mediainfarkt bei
Vorhofflimmern|diagnosen}
===
### arztbrief
{Haus Sonnwend|absender.institution}, {Seeweg 12|absender.strasse}
{Anna|patient.vorname} {Sommer|patient.nachname} war hier.
"""


def both(tmp_path):
    file = tmp_path / "l99.txt"
    file.write_text(LETTERS, "utf-8")
    return parse_letters(file)


def said(letter):
    """Every value by its field, as the text has it at its place."""
    return {one.field: letter.text[one.start : one.end] for one in letter.values}


def test_values_are_exchanged_for_those_of_letters_of_the_kind_wherever_they_are_said(tmp_path):
    first, second = both(tmp_path)
    values = values_by_field((second,))
    every = [exchanged(first, values, np.random.default_rng(seed)) for seed in range(40)]
    fields = ("absender.institution", "patient.nachname", "absender.strasse", "patient.vorname")
    for one in every:
        assert all(value.words == one.text[value.start : value.end] for value in one.values)
        for field, words in said(one).items():
            assert words in ((said(first)[field], said(second)[field]) if field in fields else (said(first)[field],))
    moved = [one for one in every if said(one)["patient.nachname"] == "Sommer"]
    assert 0 < len(moved) < len(every)
    assert all("Frau Sommer war" in one.text and "Brandt" not in one.text for one in moved)
    assert any(said(one) == {**said(first), **{field: said(second)[field] for field in fields}} for one in every)


def test_lines_are_set_anew_and_every_word_stays(tmp_path):
    first, _ = both(tmp_path)
    every = [relined(first, np.random.default_rng(seed)) for seed in range(40)]
    for one in every:
        assert {name: words.split() for name, words in said(one).items()} == {
            name: words.split() for name, words in said(first).items()
        }
        assert max(map(len, one.text.split("\n"))) < 112
        left = [word for word in one.text.split() if word in set(first.text.split())]
        assert sum(word in left for word in first.text.split()) == len(first.text.split())
    assert len({one.text for one in every}) > 30
    assert any("Klinikum Aurach\nTor 4" in one.text for one in every)
    assert any("Klinikum Aurach   Tor 4" in one.text for one in every)


def test_a_few_characters_are_misread_at_their_places(tmp_path):
    first, _ = both(tmp_path)
    every = [misread(first, np.random.default_rng(seed)) for seed in range(40)]
    assert all(value.words == one.text[value.start : value.end] for one in every for value in one.values)
    assert any(one.text != first.text for one in every)
    assert all(abs(len(one.text) - len(first.text)) < 10 for one in every)
    assert all(said(one)["dokument.datum"].endswith("2026") for one in every)
