"""The networks of a letter's single values: what an author marked becomes lessons, is learned, and kept in a file."""

import zlib

import numpy as np
import pytest

from catalog_build.training.letters import parse_letters
from catalog_build.training.values import (
    read_letter_by_rules,
    train_values,
    value_lesson,
    value_lessons,
    values_left_out,
)
from clinical.letters import DILATIONS, LEARNED, VALUE_STATES, ValueNet, ValueTagger, known_rows, settled

LETTER = """### arztbrief
{{Haus Sonnwend|absender.institution}}, {{{street} 4|absender.strasse}}, {{8006|absender.plz}} {{Zürich|absender.ort}}

{{{day}. März 2026|dokument.datum=2026-03-{day:02d}}}

Betr.: {{Anna|patient.vorname}} {{{name}|patient.nachname}}, geb. {{03.04.1950|patient.geburtsdatum=1950-04-03}}

Sehr geehrter Herr {{Moos|empfaenger.name?}}, die Patientin Anna {name} war bei uns.
"""


def letters(folder, name, count=4):
    file = folder / f"{name}.txt"
    people = ("Kern", "Brunner", "Sommer", "Winter")
    told = (LETTER.format(day=n + 3, name=people[n], street=("Seeweg", "Hofgasse")[n % 2]) for n in range(count))
    file.write_text("\n===\n".join(told), "utf-8")
    return parse_letters(file)


def test_marks_become_states_of_words_and_what_stands_elsewhere_or_may_be_left_out_is_not_learned(tmp_path):
    read = read_letter_by_rules(letters(tmp_path, "l98")[0])
    lesson = value_lesson(read)
    text = read.features.sheet.text
    states = [(text[one.start : one.end], int(at)) for one, at in zip(read.features.words, lesson.states, strict=True)]
    begins = {field: 1 + 2 * n for n, field in enumerate(LEARNED)}
    house = begins["absender.institution"]
    assert states[:2] == [("Haus", house), ("Sonnwend", house + 1)]
    assert [at for word, at in states if word == "Kern"] == [begins["patient.nachname"], -1]
    assert [at for word, at in states if word == "Moos"] == [-1]
    assert [at for word, at in states if word == "geehrter"] == [0]
    assert len(lesson.features) == len(lesson.of_rules) == lesson.ends[-1]


def test_each_letter_is_learned_as_it_was_written_and_in_other_words_and_lines(tmp_path):
    read = [read_letter_by_rules(one) for one in letters(tmp_path, "l98")]
    lessons = value_lessons(read)
    assert [len(each) for each in lessons] == [4] * len(read)
    begins = {1 + 2 * n for n in range(len(LEARNED))}
    for one, each in zip(read, lessons, strict=True):
        written, *varied = each
        assert written.features.tolist() == value_lesson(one).features.tolist()
        marked = {int(state) for state in written.states} & begins
        assert all(marked == {int(state) for state in other.states} & begins for other in varied[:2])
        assert any(other.features.tolist() != written.features.tolist() for other in varied)


def test_a_word_is_judged_by_the_features_that_it_has_as_a_lesson(tmp_path):
    read = read_letter_by_rules(letters(tmp_path, "l98")[0])
    lesson, groups = value_lesson(read), read.features.groups
    by_group = np.split(groups.features, groups.starts[1:])
    begins = 0
    for ends, own in zip(lesson.ends, groups.of_words, strict=True):
        judged = sorted(int(one) for at in own for one in by_group[at] if one)
        assert judged == sorted(lesson.features[begins:ends].tolist())
        begins = ends


def test_a_feature_that_was_not_learned_is_as_none():
    known = np.array([3, 7, 9], dtype=np.uint32)
    assert known_rows(known, np.array([7, 0, 3, 8, 9, 10], dtype=np.uint32)).tolist() == [1, 3, 0, 3, 2, 3]


def test_what_several_letters_have_is_learned_by_itself(tmp_path):
    first, *others = letters(tmp_path, "l98")
    first = first._replace(text=first.text.replace("war bei uns.", "war einmal bei uns."))
    tagger = train_values([first, *others], nets=1)
    haus, moos, einmal = (zlib.crc32(f"w {word}".encode()) for word in ("haus", "moos", "einmal"))
    assert einmal in value_lesson(read_letter_by_rules(first)).features
    assert {haus, moos} <= {*tagger.known.tolist()}
    assert einmal not in tagger.known
    assert len(tagger.nets[0].table) == len(tagger.known) + 1
    assert not tagger.nets[0].table[-1].any()


def test_a_value_of_the_rules_that_the_network_sees_nowhere_is_none(tmp_path):
    read = read_letter_by_rules(letters(tmp_path, "l98")[0])
    size = 4
    outside = np.zeros(VALUE_STATES, dtype=np.float32)
    outside[0] = 20
    layers = ((np.zeros((3 * size, size), dtype=np.float32), np.zeros(size, dtype=np.float32)),) * len(DILATIONS)
    net = ValueNet(
        np.zeros((2, size), dtype=np.int8), np.ones(size), layers, np.zeros((2 * size, VALUE_STATES)), outside
    )
    found = settled(read.features, read.form, ValueTagger(np.ones(1, dtype=np.uint32), (net,)))
    assert read.form["absender"]["institution"] == "Haus Sonnwend"
    assert (read.form["absender"]["ort"], read.form["patient"]["nachname"]) == ("Zürich", "Kern")
    of_house = dict.fromkeys(f"absender.{one}" for one in ("institution", "strasse", "plz", "ort"))
    assert found == {**of_house, "empfaenger.name": None}  # the others are found by label and form


@pytest.mark.filterwarnings("ignore:Detected call of `lr_scheduler")
def test_what_was_marked_is_found_again_and_the_file_judges_as_what_was_learned(tmp_path):
    every = [one for name in ("l97", "l98", "l99") for one in letters(tmp_path, name)]
    tagger = train_values(every * 4, nets=2)
    read = read_letter_by_rules(every[1])
    empty = {name: {} for name in ("dokument", "patient", "versicherung", "absender", "empfaenger")}
    found = settled(read.features, empty, tagger)
    assert found["absender.institution"] == "Haus Sonnwend"
    assert found["absender.strasse"] == "Hofgasse 4"
    assert found["patient.nachname"] == "Brunner"
    assert found["patient.geburtsdatum"] == "1950-04-03"
    assert found["dokument.datum"] == "2026-03-04"
    assert "empfaenger.email" not in found
    tagger.save(tmp_path / "w.safetensors")
    likely, again = (one.judge(read.features) for one in (tagger, ValueTagger.load(tmp_path / "w.safetensors")))
    assert likely.shape == (len(read.features.words), VALUE_STATES)
    np.testing.assert_allclose(again, likely, atol=0.05)


def test_each_author_is_judged_by_networks_of_others(tmp_path):
    authors = {name: letters(tmp_path, name) for name in ("l97", "l98", "l99")}
    sums = values_left_out(authors)
    assert set(sums) == {"rules", "values"}
    for right, _, missing in sums.values():
        assert 12 * 8 <= right + missing <= 12 * 9
