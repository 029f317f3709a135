"""Claims of marked mentions: what is counted as right, hidden and leaking, by author; and that the tagger learns."""

import json

import pytest

from catalog_build.training.authors import LabelledMention, LabelledText
from clinical.claims import Reading
from evals.reading.claims import confusion, figures, judged, labelled, main, measured_rows, ruled, tagged


def text(marked: str, *claims: tuple[str, str, str | None]) -> LabelledText:
    mentions = [
        LabelledMention(at := marked.index(words), at + len(words), claim, second, (), ())
        for words, claim, second in claims
    ]
    return LabelledText("a-001", marked, tuple(mentions))


TEXTS = [
    text("Husten, kein Fieber, Vater Gicht", ("Husten", "present", None), ("Fieber", "excluded", None)),
    text("Vater Gicht. V. a. Angina", ("Gicht", "family", None), ("Angina", "present", "suspected")),
    text("Kein Asthma. Ekzem", ("Asthma", "present", None), ("Ekzem", "hypothetical", None)),
]


def test_either_claim_is_right_and_the_two_errors_that_count_are_told_apart():
    rows = list(judged("a", TEXTS, ruled))
    assert [row.right for row in rows] == [True, True, True, True, False, False]
    found = figures(rows)
    assert {name: found[name][0] for name in ("right", "there_as_not", "not_as_there", "family")} == {
        "right": pytest.approx(4 / 6, abs=1e-4),
        "there_as_not": pytest.approx(1 / 3, abs=1e-4),
        "not_as_there": pytest.approx(1 / 3, abs=1e-4),
        "family": 1.0,
    }
    assert found["history"] is None
    assert confusion(rows) == {("present", "excluded"): 1, ("hypothetical", "present"): 1}


def test_each_author_has_rows_and_each_claim_says_what_is_read_instead():
    rows = [*judged("a", TEXTS[:2], ruled), *judged("b", TEXTS[2:], ruled)]
    found = {(row.measure, row.set): (row.n, row.value) for row in measured_rows(rows)}
    assert found["claim_right", "a"] == (4, 1.0)
    assert found["claim_right", "b"] == (2, 0.0)
    assert found["claim_not_as_there", "authors"][1] == pytest.approx(1 / 3, abs=1e-4)
    assert found["claim_read_as_excluded", "authors: present"] == (3, pytest.approx(1 / 3, abs=1e-4))
    assert ("claim_read_as_family", "authors: present") not in found


def test_a_file_is_an_author_in_either_form(tmp_path, capsys):
    (tmp_path / "one.txt").write_text("Kein {Fieber|excluded}, {Husten|present}\n===\n{Asthma|excluded}\n", "utf-8")
    row = {"id": "x", "text": "V. a. Gicht", "mentions": [{"start": 6, "end": 11, "claim": "suspected", "also": []}]}
    (tmp_path / "two.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    assert [one.text for one in labelled(tmp_path / "two.jsonl")] == ["V. a. Gicht"]
    assert main([str(tmp_path / "one.txt"), str(tmp_path / "two.jsonl")]) == 0
    said = capsys.readouterr().out
    assert "\none  " in said
    assert "\ntwo  " in said
    assert " ".join(said.split()).count("authors: excluded claim_read_as_present 2 0.5") == 1


def test_a_tagger_learns_from_the_words_around_a_mention():
    pytest.importorskip("torch", reason="torch (extra 'train') is not installed")
    from catalog_build.training.claims import Material, Recipe, train_claims

    names = ["Gicht", "Asthma", "Migräne", "Ekzem", "Fieber", "Husten", "Angina", "Rheuma"]
    lessons = [text(f"Blorp {name} heute", (name, "other", None)) for name in names[:6]]
    lessons += [text(f"Heute {name} da", (name, "present", None)) for name in names[:6]]
    tagger = train_claims(Material(lessons), Recipe(nets=1, epochs=30, rate=1e-2, framed=30, mixed=1))
    ask = tagged(tagger)
    for marked, claim in (("Blorp Rheuma heute", "other"), ("Heute Angina da", "present")):
        reading, at = Reading.of(marked), marked.index("R" if claim == "other" else "A")
        assert ask(reading, LabelledMention(at, at + 6, claim, None, (), ())) == claim
    assert ask(Reading.of("..."), LabelledMention(0, 3, "present", None, (), ())) == "present"
    still = train_claims(Material(lessons), Recipe(nets=1, epochs=1, rate=0.0, framed=30, mixed=1), tagger)
    assert (still.layers == tagger.layers).all()
    assert (still.grams == tagger.grams).all()
