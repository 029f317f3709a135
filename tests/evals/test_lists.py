"""Fixed lists on letters and referrals that nobody here wrote: what is stated stays, every other value goes."""

import json

import pytest

from clinical.letters import DOCUMENTS, judge
from clinical.letters.grounding.enumerations.phrases import table, values
from evals.letters.negatives import answer_of

FOLDERS = {"letters": "grascco", "referrals": "referrals"}
LISTS = tuple(dict.fromkeys(phrase.field for phrase in table()))
LIES_PASSED = GOLD_REMOVED = 0.01
"""Largest shares that pass."""


def annotated(folder, name):
    """(letter's text, document type, gold data, accepted variants) of every annotated letter."""
    for line in (folder / f"{name}.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        text = (folder / FOLDERS[name] / f"{row['id']}.txt").read_text("utf-8")[:20_000]
        yield text, DOCUMENTS[row["document_type"]], row["data"], row.get("accept") or {}


def kept(path, value, text, document, surname):
    findings = judge(answer_of(path, value, surname), text, document=document)
    return next(one for one in findings if one.path == path).kept


@pytest.mark.parametrize("name", FOLDERS)
def test_lies_about_lists_go_and_what_is_stated_stays(shared_data, name):
    told, passed, stated, removed = 0, [], 0, []
    for text, document, data, accept in annotated(shared_data / "eval-dev", name):
        for path in LISTS:
            outer, _, inner = path.partition(".")
            if outer not in data:
                continue
            gold, allowed = (data[outer][inner] if inner else data[outer]), accept.get(path) or []
            for value in values(path):
                stays = kept(path, value, text, document, data["patient"]["nachname"])
                if value == gold:
                    stated += 1
                    removed += [] if stays else [(path, value)]
                elif value not in allowed:
                    told += 1
                    passed += [(path, value)] if stays else []
    assert told > 150
    assert stated > 30
    assert len(passed) <= LIES_PASSED * told, passed
    assert len(removed) <= GOLD_REMOVED * stated, removed
