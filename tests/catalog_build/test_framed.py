"""Framed texts: their mentions lie where they say, every frame is filled, and none is a sentence of an evaluation."""

import json
import re

import pytest

from catalog_build.training.authors import CLAIMS, LabelledMention, LabelledText
from catalog_build.training.framed import FramedWriter, frames

NAMES = ("Gicht", "Asthma", "Migräne", "Fußpilz")
TEXTS = [
    LabelledText("a", f"Heute {name} da", (LabelledMention(6, 6 + len(name), "present", None, (), ()),))
    for name in NAMES
]
SHARED = 6
"""Words in a row that a frame may not share with a text that somebody wrote to measure with."""


def test_mentions_lie_where_they_say_and_have_every_claim():
    writer = FramedWriter(TEXTS, seed=1)
    texts = [writer.write() for _ in range(400)]
    for text in texts:
        assert not re.search(r"\[[psehfoy][*+\]/=]|@\w+|\(\w*\|", text.text), text.text
        ends = 0
        for one in text.mentions:
            assert ends <= one.start < one.end <= len(text.text)
            assert one.claim in CLAIMS
            ends = one.end
    assert {one.claim for text in texts for one in text.mentions} == set(CLAIMS)


def test_the_same_seed_writes_the_same_texts():
    one, other = FramedWriter(TEXTS, seed=5), FramedWriter(TEXTS, seed=5)
    assert [one.write() for _ in range(20)] == [other.write() for _ in range(20)]


def test_every_frame_can_be_drawn():
    known = frames()
    for frame in known.sentences:
        assert frame.count("(") == frame.count(")"), frame
        assert set(re.findall(r"@(\w+)", frame)) <= set(known.lists), frame


def test_no_frame_is_taken_from_texts_to_measure_with(shared_data):
    rows = [
        json.loads(line)["text"]
        for name in (
            "queries.jsonl",
            *(f"claims/{one.name}" for one in (shared_data / "eval-dev" / "claims").glob("*")),
        )
        for line in (shared_data / "eval-dev" / name).read_text("utf-8").splitlines()
    ]
    if not rows:
        pytest.skip("no texts to measure with are at hand")
    theirs = {run for text in rows for run in _runs(text)}
    assert [frame for frame in frames().sentences if _runs(frame) & theirs] == []


def _runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+|[\[\]|]", text.casefold())
    runs = {tuple(words[at : at + SHARED]) for at in range(len(words) - SHARED + 1)}
    return {run for run in runs if not {"[", "]", "|"} & set(run)}
