"""Annotated letters in other words and lines: marks move with their words."""

import numpy as np

from catalog_build.training.letters import exchanged, misread, parse_letters, relined, values_by_field

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
