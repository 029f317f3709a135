"""Counts of `evals reading`."""

import json

import pytest

from clinical.errors import SourceError
from evals.forms import FORMS
from evals.reading import claims
from evals.reading.inputs import frame_of, read_inputs, statements
from evals.reading.judged import CAUSES, errors_of, shown
from evals.reading.measure import main

ROW = {
    "class": "denied",
    "text": "Hypertonie, Kopfschmerz, kein Diabetes",
    "codes": [
        {"codes": ["I10.90"], "also": ["I10.00"], "claim": "present", "text": "Hypertonie"},
        {"codes": ["R51"], "also": [], "claim": "present", "text": "Kopfschmerz"},
    ],
    "optional": ["Kopfschmerz"],
    "absent": [{"codes": ["E14.90"], "text": "Diabetes"}],
}


def test_an_authors_coded_texts_are_inputs(tmp_path):
    texts = "{Husten|present|R05}, kein {Asthma|excluded|J45.99}, kein {Husten|excluded|R05}\n===\n{Gicht|present}\n"
    (tmp_path / "a99.txt").write_text(texts, "utf-8")
    (row,) = read_inputs(tmp_path / "a99.txt")
    assert [(said["text"], said["codes"]) for said in row["codes"]] == [("Husten", ["R05"])]
    assert [said["text"] for said in row["absent"]] == ["Asthma"]
    assert row["class"] == "a99"


def test_what_is_stated_shown_right_silent_and_absent():
    counts = frame_of([ROW], lambda text: [("I10.00", "high"), ("E14.90", "medium")]).iloc[0]
    expected = {"statements": 1, "found": 1, "shown": 2, "right": 1, "high": 1, "high_right": 1, "absent_shown": 1}
    assert {name: counts[name] for name in expected} == expected
    silent = frame_of([ROW], lambda text: []).iloc[0]
    assert (silent["silent"], silent["found"], silent["absent_shown"]) == (1, 0, 0)


def test_the_category_of_what_is_denied_counts_too():
    assert frame_of([ROW], lambda text: [("E14.91", "high")])["absent_shown"][0] == 1


def test_errors_of_a_text_are_those_that_are_counted_and_each_has_its_cause(index):
    texts = {
        "Gonarthrose links, kein Asthma bronchiale, Hypertonie": {
            "Asthma bronchiale": ("J45.99", "claim"),  # its author says that it is there
            "Hypertonie": ("I10.91", "sibling"),
        },
        "Qwrtzu seit gestern": {"gestern": ("I10.90", "no mention")},
        "Migräne": {"Migräne": ("X99", "unknown code")},
    }
    rows = []
    for text, said in texts.items():
        own = [{"text": words, "codes": [code], "claim": "present"} for words, (code, _) in said.items()]
        rows.append({"text": text, "class": "some", "codes": own})
    found = [one for row in rows for one in errors_of(index, row)]
    causes = {one.words: one.cause for one in found if one.error == "missed"}
    assert causes == {words: cause for said in texts.values() for words, (_, cause) in said.items()}
    wrong = {one.found: one for one in found if one.error == "wrong"}
    knee = wrong["M17.9"]
    assert (knee.words, knee.cause, knee.right) == ("Gonarthrose links", "not stated", ())
    assert wrong["I10.90"].cause == "sibling"
    assert wrong["I10.90"].wording
    assert set(CAUSES) >= {one.cause for one in found}
    counts = frame_of(rows, lambda text: shown(index, text)).sum(numeric_only=True)
    assert len(causes) == counts["statements"] - counts["found"]
    assert len(wrong) == counts["shown"] - counts["right"]


def test_codes_of_another_target_are_judged_without_places(index):
    row = {"text": "Gonarthrose links", "class": "", "codes": [{"text": "Gonarthrose links", "codes": ["M17.1"]}]}
    found = errors_of(index, row, ["M17.9", "G35.9", "E66.99"])
    assert [(one.found, one.cause) for one in found if one.error == "wrong"] == [
        ("M17.9", "sibling"), ("G35.9", "elsewhere"), ("E66.99", "elsewhere"),
    ]  # fmt: skip
    assert errors_of(index, row, ["M17.1"]) == []


def test_words_that_stand_twice_have_a_place_each():
    said = {"codes": ["M17.9"], "text": "Knie"}
    first, second = statements({"text": "Knie re., Knie li.", "codes": [said, said]})
    assert (first.start, second.start) == (0, 10)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "is no JSON"),
        ('{"text": "Gicht", "codes": ["M10.99"]}', "is no written input"),
        ('{"text": "Gicht", "codes": [{"codes": ["M10.99"], "text": "Rheuma"}]}', "words do not stand in the text"),
        ('{"text": "Gicht", "codes": [{"codes": [], "text": "Gicht"}]}', "a statement without codes"),
        ('{"text": "Gicht", "codes": [{"codes": ["M1"], "text": "Gicht"}]}', "the malformed code 'M1'"),
    ],
)
def test_a_line_that_is_no_input_is_refused_by_its_number(tmp_path, line, said):
    (tmp_path / "own.jsonl").write_text(json.dumps(ROW) + "\n" + line + "\n", "utf-8")
    with pytest.raises(SourceError, match=f"line 2: .*{said}"):
        read_inputs(tmp_path / "own.jsonl")


def test_the_command_gives_rows_of_every_part(starter_artifact, tmp_path, capsys):
    (tmp_path / "inputs.jsonl").write_text(json.dumps(ROW) + "\n")
    assert main(["--catalog", str(starter_artifact), "--inputs", str(tmp_path / "inputs.jsonl"), "--json"]) == 0
    found = {(row["measure"], row["set"]): row for row in json.loads(capsys.readouterr().out)}
    assert found["stated_shown", "ALL"]["n"] == 1
    assert found["absent_shown", "denied"]["value"] == 0.0
    assert {"there_read_as_not", "not_there_read_as_there"} <= {name for name, _ in found}


def test_inputs_are_read_in_every_form_of_typing(starter_artifact, tmp_path, capsys):
    (tmp_path / "inputs.jsonl").write_text(json.dumps(ROW) + "\n")
    asked = ["--catalog", str(starter_artifact), "--inputs", str(tmp_path / "inputs.jsonl"), "--forms", "--json"]
    assert main(asked) == 0
    found = {(row["measure"], row["set"]): row["n"] for row in json.loads(capsys.readouterr().out)}
    assert {name for measure, name in found if measure == "stated_shown"} == {*FORMS, "ALL"}
    assert found["stated_shown", "ALL"] == len(FORMS)


@pytest.mark.parametrize(("name", "copied"), [
    ("without commas", "Gürtelrose u.a. Gicht.\nFuß"),
    ("umlauts lost", "G\ufffdrtelrose, u.a. Gicht.\nFu\ufffd"),
    ("UTF-8 read as Windows-1252", "GÃ¼rtelrose, u.a. Gicht.\nFuÃŸ"),
    ("entities of HTML", "G&#252;rtelrose, u.a. Gicht.\nFu&#223;"),
    ("quoted in a mail", "> Gürtelrose, u.a. Gicht.\n> Fuß"),
])  # fmt: skip
def test_a_form_changes_what_its_name_says(name, copied):
    assert FORMS[name]("Gürtelrose, u.a. Gicht.\nFuß") == copied


def test_what_is_there_and_read_as_not_there_is_counted_and_what_leaks():
    stated = [{"text": word, "codes": ["X"], "claim": "present"} for word in ("Hypertonie", "Gicht")]
    rows = [
        {"text": "Hypertonie, kein Gicht, Husten", "codes": stated, "absent": [{"text": "Husten", "claim": "denied"}]}
    ]
    counts = claims.of_written(rows)
    assert counts == {"there": 2, "hidden": 1, "absent": 1, "leaked": 1}
    found = {measure: (n, value) for measure, _, n, value, _, _ in claims.written_rows("own", counts)}
    assert found == {"there_read_as_not": (2, 0.5), "not_there_read_as_there": (1, 1.0)}
