"""The guarantee of extraction on a small scale; `python -m evals extraction` is the full measure."""

from collections import Counter

import pytest

from clinical.errors import ModelTimeout
from evals.extraction.fields import ScoredLetter, answered, measured
from evals.extraction.letters import LAYOUTS, letters
from evals.extraction.lies import APART, LIES, lies, passes
from evals.extraction.measure import foreign_letters, rehearsal
from evals.extraction.truths import TRUTHS, removed_truths
from tests.fakes import FakeModel

LETTERS = letters(2 * len(LAYOUTS), seed=5)
TRIES = 150
LOST = {"OCR strength 2": 0.02, "OCR strength 3": 0.05}
"""Share of truths a scan may cost; written otherwise, half a percent."""


@pytest.mark.parametrize("kind", LIES)
def test_no_lie_passes(kind):
    made = list(lies(kind, LETTERS, TRIES, seed=5))
    assert len(made) == TRIES
    assert [(lie.path, lie.value) for lie in made if passes(lie)] == []


@pytest.mark.parametrize("kind", TRUTHS)
def test_truths_stay(kind):
    total, removed = removed_truths(kind, LETTERS)
    assert len(removed) <= LOST.get(kind, 0.005) * total, removed[:5]


def test_a_value_in_the_wrong_field_is_known_to_pass():
    """The contract does not cover it: if this fails, docs/measured.md promises too little."""
    for kind in APART:
        assert any(passes(lie) for lie in lies(kind, LETTERS, 20, seed=5))


def test_the_same_seed_is_the_same_letter_and_all_layouts_come():
    assert letters(3, seed=5) == LETTERS[:3]
    assert {letter.layout for letter in LETTERS} == set(LAYOUTS)
    assert len(LAYOUTS) >= 30


def test_the_rehearsal_model_is_a_baseline():
    found = rehearsal(LETTERS)
    assert found["f1"][0] >= 0.9
    assert found["fields"] == sum(row["fields"] for row in found["by_type"].values())
    for kind, rows in found["by_field"].items():
        assert found["by_type"][kind]["fields"] == sum(row["fields"] for row in rows.values())


def test_fields_by_hand():
    def row(got: str, want: str) -> ScoredLetter:
        return ScoredLetter(
            "arztbrief", *(Counter(("a.b" if v.islower() else "c", v) for v in text) for text in (got, want))
        )

    found = measured([row("xyZ", "xz"), row("x", "xxQ")])
    assert (found["fields"], found["extra"], found["missing"]) == (5, 2, 3)
    assert found["precision"][0] == 0.5
    assert found["recall"][0] == 0.4
    assert found["f1"][0] == pytest.approx(2 * 2 / (4 + 5), abs=1e-4)
    assert found["by_field"]["arztbrief"]["a.b"]["f1"][0] == pytest.approx(2 * 2 / (3 + 4), abs=1e-4)
    assert found["by_field"]["arztbrief"]["c"]["recall"][:1] == (0.0,)
    assert measured([])["f1"] is None


def test_a_letter_without_an_answer_is_failed_not_wrong():
    made = [letter for letter in LETTERS if letter.document_type == "arztbrief"][:3]
    empty = {"diagnosen": made[1].truth["diagnosen"]}
    model = FakeModel(Arztbrief=[ModelTimeout("no answer"), empty, ModelTimeout("no answer")])
    found = measured(answered(made, model))
    assert (found["letters"], found["failed"]) == (3, 2)
    assert found["precision"][0] == 1.0
    assert found["by_field"]["arztbrief"]["diagnosen"]["recall"][0] == 1.0
    assert found["recall"][0] < 0.9


def test_letters_nobody_here_wrote(shared_data):
    report = foreign_letters(shared_data / "eval-dev")
    for kind in ("name", "date"):
        row = report[kind]
        assert row["true"] > 100
        assert row["kept"] >= 0.99 * row["true"]
        assert row["swapped_removed"] == row["swapped"] > 1_000
