"""The patient, the letter's date, sender and recipient: invented heads of letters in many layouts.

`letter_heads.txt` holds them, each under a line `### kind | date | surname | first name | sender | recipient`; `-`
where a head does not say it. Sender and recipient count where what was read holds, or is part of, what is expected.
"""

from pathlib import Path

import pytest

from clinical.letters import read_letter

HEADS = [
    part.split("\n", 1) for part in (Path(__file__).parent / "letter_heads.txt").read_text("utf-8").split("### ")[1:]
]


def _party(found: dict[str, str | None]) -> str:
    return " / ".join(value for key in ("institution", "abteilung", "name") if (value := found[key]))


@pytest.mark.parametrize(("expected", "text"), HEADS, ids=[head.split(" | ")[2] for head, _ in HEADS])
def test_a_head_is_read(expected: str, text: str) -> None:
    kind, day, last, first, sender, recipient = expected.strip().split(" | ")
    found = read_letter(text, kind)
    assert found["dokument"]["datum"] == day
    read = tuple((found["patient"][key] or "").casefold() for key in ("nachname", "vorname"))
    assert read == (last.casefold(), first.casefold())
    assert sender == "-" or sender.casefold() in _party(found["absender"]).casefold(), found["absender"]
    assert recipient == "-" or recipient.removeprefix("Herrn ") in _party(found["empfaenger"]), found["empfaenger"]


NAMED = [line.split("\t") for line in (Path(__file__).parent / "named_patients.tsv").read_text("utf-8").splitlines()]
"""Surname, first name (`-` where it is not told), a short letter with its line breaks and tabs as `\\n` and `\\t`."""


def test_the_patient_is_named() -> None:
    read = []
    for *_, text in NAMED:
        found = read_letter(text.replace("\\n", "\n").replace("\\t", "\t"), "arztbrief")["patient"]
        read.append([found["nachname"], found["vorname"] or "-", text])
    assert read == NAMED
