"""Generated texts: their mentions lie where they say, and no frame is a sentence of an evaluation set."""

import json
import re
from pathlib import Path

import pytest

from catalog_build.training.texts import TextWriter, frames

WORDINGS = [("Akute Pankreatitis", "K85.90"), ("Gicht", "M10.99"), ("Diabetes mellitus Typ 2", "E11.90")]
INPUTS = Path(__file__).resolve().parents[3] / "shared" / "data" / "eval-dev" / "queries.jsonl"
SHARED = 5
"""Words in a row that a frame may not share with a written input."""


def test_mentions_lie_where_they_say_and_do_not_overlap():
    writer = TextWriter(WORDINGS, seed=1)
    texts = [writer.write() for _ in range(300)]
    assert sum(len(text.said) for text in texts) > 300
    for text in texts:
        ends = 0
        for said in text.said:
            assert ends <= said.start < said.end <= len(text.text)
            assert said.code in {code for _, code in WORDINGS}
            assert said.claim in {"present", "suspected", "excluded", "history", "family"}
            ends = said.end


def test_the_same_seed_writes_the_same_texts():
    one, other = TextWriter(WORDINGS, seed=5), TextWriter(WORDINGS, seed=5)
    assert [one.write() for _ in range(20)] == [other.write() for _ in range(20)]


@pytest.mark.skipif(not INPUTS.exists(), reason="the written inputs are not at hand")
def test_no_frame_is_taken_from_the_written_inputs():
    inputs = [json.loads(line)["text"] for line in INPUTS.read_text("utf-8").splitlines()]
    runs = {run for text in inputs for run in _runs(text)}
    own = [frame for rows in frames().values() for _, frame in rows]
    assert not [frame for frame in own if _runs(frame) & runs]


def _runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+|\{\w+\}", text.casefold())
    return {tuple(words[at : at + SHARED]) for at in range(len(words) - SHARED + 1)}
