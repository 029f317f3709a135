"""Annotated letters: what counts as right, wrong and missing."""

import json

from clinical.extraction import messages_for
from evals.__main__ import main
from evals.extraction.annotated import FieldCounts, alike, compared

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
    report = FieldCounts()
    compared(report, ROW, {**NOTHING, **got})
    return {path: (one.right, one.wrong, one.missing) for path, one in report.fields.items() if any(vars(one).values())}


def test_a_missing_value_counts_unless_null_is_accepted():
    assert counted({}) == {
        "dokument.typ": (0, 0, 1),
        "patient.nachname": (0, 0, 1),
        "absender.institution": (0, 0, 1),
        "diagnosen": (0, 0, 2),
        "eingriffe": (0, 0, 1),
    }


def test_variants_are_right_and_other_values_are_wrong_and_missing():
    got = counted({"dokument": {"typ": "Bericht", "datum": "2024-01-01"}, "patient": {"nachname": "Kernn", "plz": "1"}})
    assert got["dokument.typ"] == (1, 0, 0)
    assert got["dokument.datum"] == (0, 1, 0)
    assert got["patient.nachname"] == (0, 1, 1)
    assert got["patient.plz"] == (0, 1, 0)


def test_entries_of_lists_are_matched_once_and_parts_are_neither_right_nor_wrong():
    got = counted({"diagnosen": ["Gicht", "Gicht", "Husten", "Asthma", "Hypertonie"]})
    assert got["diagnosen"] == (1, 1, 1)


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
    assert json.loads(capsys.readouterr().out)["diagnosen"]["right"] == 2


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
