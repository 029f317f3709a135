"""Letters read field by field: what is right, wrong and missing, and what the rules make of generated letters."""

import json

import pytest

from catalog_build.training.letters import letter_authors
from clinical.contract import ExtractRequest
from clinical.errors import ModelTimeout
from clinical.letters import messages_for
from evals.__main__ import main
from evals.letters.fields import Asked, FieldCounts, alike, authored, compared, generated, measured
from evals.letters.generator import FILES, letters
from tests.fakes import FakeModel

ROW = {
    "id": "one",
    "data": {
        "dokument": {"typ": "Arztbrief", "datum": None},
        "patient": {"nachname": "Kern", "plz": "8006"},
        "absender": {"institution": "Spital Seeblick"},
        "fragestellung": None,
        "diagnosen": ["Gicht", "Arterielle Hypertonie"],
        "eingriffe": [{"bezeichnung": "Gastroskopie", "datum": None}],
    },
    "accept": {"dokument.typ": ["Bericht"], "patient.plz": [None], "diagnosen": ["Husten"]},
}
NOTHING = {"dokument": {}, "patient": {}, "absender": {}, "diagnosen": [], "eingriffe": []}


def counted(got):
    report, request = FieldCounts(), ExtractRequest(document_type="arztbrief", text="x")
    compared(report, Asked("one", request, ROW["data"], ROW["accept"]), {**NOTHING, **got})
    return {path: sums for path, *sums in report.by_field().itertuples() if any(sums)}


def test_a_missing_value_counts_unless_null_is_accepted():
    assert counted({}) == {
        "dokument.typ": [0, 0, 1],
        "patient.nachname": [0, 0, 1],
        "absender.institution": [0, 0, 1],
        "diagnosen": [0, 0, 2],
        "eingriffe": [0, 0, 1],
    }


def test_variants_are_right_and_other_values_are_wrong_and_missing():
    got = counted({"dokument": {"typ": "Bericht", "datum": "2024-01-01"}, "patient": {"nachname": "Kernn", "plz": "1"}})
    assert got["dokument.typ"] == [1, 0, 0]
    assert got["dokument.datum"] == [0, 1, 0]
    assert got["patient.nachname"] == [0, 1, 1]
    assert got["patient.plz"] == [0, 1, 0]


def test_entries_of_lists_are_matched_once_and_parts_are_neither_right_nor_wrong():
    got = counted({"diagnosen": ["Gicht", "Gicht", "Husten", "Asthma", "Hypertonie"]})
    assert got["diagnosen"] == [1, 1, 1]


def test_wordings_are_alike_but_for_a_few_words():
    assert alike("Spital Seeblick AG Bern Nord", "Spital Seeblick AG Bern")
    assert not alike("Spital Seeblick", "Spital Lindenau")


def test_the_command_reads_a_file_and_its_texts(tmp_path, capsys):
    text = "Spital Seeblick\n\nArztbrief\n\nDiagnosen:\n- Gicht\n- Arterielle Hypertonie\n"
    (tmp_path / "one.txt").write_text(text, "utf-8")
    row = {**ROW, "document_type": "arztbrief"}
    (tmp_path / "letters.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    assert main(["letters", str(tmp_path / "letters.jsonl"), str(tmp_path), "--faults"]) == 0
    shown = capsys.readouterr().out
    assert "one | patient.nachname | missing | got None | want 'Kern'" in shown
    assert main(["letters", str(tmp_path / "letters.jsonl"), str(tmp_path), "--json"]) == 0
    rows = {(row["measure"], row["set"]): row for row in json.loads(capsys.readouterr().out)}
    assert (rows["recall", "diagnosen"]["n"], rows["recall", "diagnosen"]["value"]) == (2, 1.0)
    assert rows["failed", "all single values"]["value"] == 0


def test_prompts_are_written_and_the_answers_to_them_are_measured_behind_grounding(tmp_path, capsys):
    text = "Spital Seeblick\n\nArztbrief\n\nDiagnosen:\n- Gicht\n- Arterielle Hypertonie\n"
    for name in ("one", "two"):
        (tmp_path / f"{name}.txt").write_text(text, "utf-8")
    rows = [{**ROW, "document_type": "arztbrief", "id": name} for name in ("one", "two")]
    (tmp_path / "letters.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    letters = ["letters", str(tmp_path / "letters.jsonl"), str(tmp_path)]
    assert main([*letters, "--write-prompts", str(tmp_path / "asked")]) == 0
    prompt = (tmp_path / "asked" / "two.prompt.txt").read_text("utf-8")
    system, user = messages_for("arztbrief", text)
    assert system.content in prompt
    assert user.content in prompt
    assert '"additionalProperties": false' in prompt

    answer = {"absender": {"institution": "Spital Seeblick"}, "diagnosen": ["Gicht", "Asthma"]}
    (tmp_path / "asked" / "one.answer.json").write_text(json.dumps(answer), "utf-8")
    capsys.readouterr()
    assert main([*letters, "--answers", str(tmp_path / "asked"), "--faults"]) == 0
    shown = capsys.readouterr().out
    assert "one | diagnosen | removed | 'Asthma' ('Asthma',)" in shown
    assert "one | diagnosen | missing | got None | want 'Arterielle Hypertonie'" in shown
    assert "two |" not in shown


# --- figures ---------------------------------------------------------------------------------------------------------


def test_figures_by_hand_and_letters_are_drawn_whole():
    count = FieldCounts()
    for number in range(40):
        count.add(f"letter {number}", "x", right=10 if number % 2 else 0, missing=0 if number % 2 else 10)
    rows = {row.measure: row for row in count.rows() if row.set == "x"}
    assert (rows["precision"].value, rows["recall"].value) == (1.0, 0.5)
    assert rows["f1"].value == pytest.approx(2 * 200 / (2 * 200 + 200), abs=1e-3)
    apart = FieldCounts()
    for number in range(400):
        apart.add(f"letter {number}", "x", right=number % 2, missing=1 - number % 2)
    (other,) = [row for row in apart.rows() if (row.measure, row.set) == ("f1", "x")]
    assert rows["f1"].high - rows["f1"].low > 1.5 * (other.high - other.low)
    assert [row.measure for row in FieldCounts().rows()] == ["failed"]


def test_letters_of_one_hand_are_drawn_together_where_there_are_several_hands():
    """Six authors, of whom each is always or never read right: that is six observations, not sixty."""

    def intervals(hands):
        count = FieldCounts(hands=hands)
        for number in range(60):
            right = number % 6 < 3
            count.add(f"letter {number}", "x", right=5 * right, wrong=5 * (not right), missing=5 * (not right))
        return {row.measure: (row.value, row.high - row.low) for row in count.rows() if row.set == "x"}

    known = intervals({f"letter {number}": f"author {number % 6}" for number in range(60)})
    nobody, few = intervals({}), intervals({f"letter {number}": f"author {number % 2}" for number in range(60)})
    for measure in ("precision", "recall", "f1"):
        assert known[measure][0] == nobody[measure][0] == pytest.approx(0.5)
        assert known[measure][1] > 2 * nobody[measure][1]
        assert few[measure] == nobody[measure], "of two authors nothing can be said"
    assert {one.hand for one in authored("train")} == {row.ident for row in letter_authors() if row.split == "train"}


def test_a_letter_without_an_answer_is_failed_not_wrong():
    made = generated([letter for letter in letters(40, 5) if letter.document_type == "arztbrief"][:3])
    model = FakeModel(Arztbrief=[ModelTimeout("no answer"), {"patient": {}}, ModelTimeout("no answer")])
    report = measured(made, model)
    assert report.failed == [made[0].name, made[2].name]
    assert {fault.letter for fault in report.faults} == {made[1].name}


# --- generated letters -----------------------------------------------------------------------------------------------

LAYOUTS = 20
"""Templates of each file."""


def test_every_file_has_its_layouts_and_a_seed_always_gives_the_same_letters():
    made = letters(LAYOUTS * len(FILES), 7)
    assert made == letters(LAYOUTS * len(FILES), 7)
    assert made != letters(LAYOUTS * len(FILES), 8)
    assert len({letter.layout.partition("/")[0] for letter in made}) == LAYOUTS * len(FILES)
    assert [one.text for one in letters(1, 7, (FILES[0],))] == [made[0].text]


def test_what_was_drawn_stands_in_the_letter():
    made = letters(2 * LAYOUTS * len(FILES))
    assert len(made) == 160
    for letter in made:
        plain = " ".join(letter.text.split())
        assert letter.truth["patient"]["nachname"] in plain
        assert letter.truth["patient"]["vorname"] in plain
        assert "{" not in letter.text
        assert "[[" not in letter.text
        assert None not in letter.truth["patient"].values()
