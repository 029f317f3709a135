"""Grounding on annotated letters; labelled negatives and positives are compared class by class in `test_thresholds`."""

import json
import re

import pytest

from clinical.letters import judge
from clinical.text import parse_date
from evals.letters.fields import annotated
from evals.letters.grounding import invented_words
from evals.letters.negatives import answer_of, stands_in

KEPT, REMOVED = 0.03, 0.01
"""Largest shares of annotated letters; what is reached stands in docs/measured.md."""


@pytest.mark.parametrize(("name", "texts"), [("letters", "grascco"), ("referrals", "referrals")])
def test_a_word_that_stands_nowhere_fails_its_value_in_annotated_letters(shared_data, name, texts):
    folder = shared_data / "eval-dev"
    found = invented_words(annotated(folder / f"{name}.jsonl", folder / texts), seed=3)
    assert found.invented > 100
    assert len(found.kept) <= KEPT * found.invented, found.kept
    assert len(found.removed) <= REMOVED * found.true, found.removed


PATHS = {"NAME_PATIENT": "absender.name", "NAME_DOCTOR": "absender.name", "DATE": "eingriffe.datum"}


def stated(row):
    """Names, and dates that name a day, as a model would give them: (path, value)."""
    given = [(PATHS[one["kind"]], one["text"]) for one in row["phi"] if one["kind"] in PATHS and len(one["text"]) > 2]
    days = [(path, parse_date(text)) if path == PATHS["DATE"] else (path, text) for path, text in given]
    return {one for one in days if one[1]}


def holds(text, path, value):
    """The test's own idea of a text that states a name or a day; nothing of it is the validator's."""
    if path != PATHS["DATE"]:
        return stands_in(value, text)
    year, month, day = value.split("-")
    plain = rf"0?{int(day)}\.?\s?[./-]\s?0?{int(month)}\.?\s?[./ -]\s?(?:{year}|{year[2:]})"
    return re.search(rf"{plain}|\b0?{int(day)}\.\s?(?:0?{int(month)}\.)?\s?(?:-|–|bis|und)", text) is not None


def test_names_and_days_stay_in_their_own_letter_and_go_in_another(shared_data):
    """GraSCCo (Modersohn et al. 2022): the marked names and days of each letter, against it and the next five."""
    folder = shared_data / "eval-dev"
    rows = [json.loads(line) for line in (folder / "grascco_phi.jsonl").read_text("utf-8").splitlines()]
    letters = [((folder / "grascco" / f"{row['doc']}.txt").read_text("utf-8"), stated(row)) for row in rows]

    def kept(text, path, value):
        return all(one.kept for one in judge(answer_of(path, value, None), text))

    own = [(text, *one) for text, values in letters for one in values]
    next_five = [(letters[n][0], letters[(n + step) % len(letters)][1] - letters[n][1])
                 for n in range(len(letters)) for step in range(1, 6)]  # fmt: skip
    foreign = {(text, *one) for text, others in next_five for one in others}
    for path in set(PATHS.values()):
        true = [one for one in own if one[1] == path]
        assert sum(kept(*one) for one in true) >= 0.99 * len(true) > 100
        swapped = [one for one in foreign if one[1] == path and not holds(*one)]
        assert len(swapped) > 400
        assert not [one[1:] for one in swapped if kept(*one)]
