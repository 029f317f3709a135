"""Generated texts: mentions lie where they say with every claim, a seed always writes the same, frames are our own."""

import random
import re

import pytest

from catalog_build.training import framed, texts
from catalog_build.training.authors import CLAIMS, LabelledMention, LabelledText
from tests.catalog_build.runs import measured_with, runs

NAMES = ("Gicht", "Asthma", "Migräne", "Fußpilz")
LABELLED = [
    LabelledText("a", f"Heute {name} da", (LabelledMention(6, 6 + len(name), "present", None, (), ()),))
    for name in NAMES
]
WORDINGS = [("Akute Pankreatitis", "K85.90"), ("Gicht", "M10.99"), ("Diabetes mellitus Typ 2", "E11.90")]
WRITERS = {
    "framed": (lambda seed: framed.FramedWriter(LABELLED, seed=seed), "mentions", set(CLAIMS)),
    "texts": (
        lambda seed: texts.TextWriter(WORDINGS, seed=seed), "said",
        {"present", "suspected", "excluded", "history", "family"},
    ),
}  # fmt: skip
SHARED = {"framed": 6, "texts": 5}
"""Words in a row that a frame may not share with a text that somebody wrote to measure with."""


@pytest.mark.parametrize("name", WRITERS)
def test_mentions_lie_where_they_say_and_have_every_claim(name):
    made, mentions, claims = WRITERS[name]
    writer, again = made(1), made(1)
    written = [writer.write() for _ in range(400)]
    assert written[:20] == [again.write() for _ in range(20)], "the same seed writes the same texts"
    for text in written:
        assert not re.search(r"\[[psehfoy][*+\]/=]|@\w+|\(\w*\|", text.text), text.text
        ends = 0
        for one in getattr(text, mentions):
            assert ends <= one.start < one.end <= len(text.text)
            ends = one.end
    assert {one.claim for text in written for one in getattr(text, mentions)} == claims


def test_every_frame_can_be_drawn():
    known = framed.frames()
    assert len(known.sentences) > 1_000
    for frame in known.sentences:
        assert "|" not in framed.drawn(frame, known.lists, random.Random(0)), frame
        assert set(re.findall(r"@(\w+)", frame)) <= set(known.lists), frame


@pytest.mark.parametrize("name", WRITERS)
def test_no_frame_is_taken_from_texts_to_measure_with(name, shared_data):
    own = (
        framed.frames().sentences if name == "framed" else [row for rows in texts.frames().values() for _, row in rows]
    )
    theirs = {run for text in measured_with(shared_data) for run in runs(text, SHARED[name])}
    assert len(theirs) > 1_000
    assert [frame for frame in own if runs(frame, SHARED[name], slots=True) & theirs] == []
