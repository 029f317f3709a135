"""The leaderboard of judges on a small scale, and what a peer must answer."""

import sys

import pytest

from clinical.errors import SettingError
from evals.extraction.judges.leaderboard import as_worded, cases, ours, overlap_alone, peer, shown, table

ECHO = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({"id": asked["id"], "kept": asked["value"] in asked["text"]}))
"""


def test_the_project_keeps_no_lie_and_loses_fewer_truths_than_the_bare_rules():
    asked = cases(24, 10, seed=3)
    found = table({"ours": ours, "worded": as_worded, "overlap": overlap_alone}, asked)
    assert found["ours"]["lies_kept"][0] == 0
    assert found["ours"]["truths_lost"][0] <= 0.005 * found["ours"]["truths_lost"][1]
    for name in ("worded", "overlap"):
        assert found[name]["lies_kept"][0] > 0.2 * found[name]["lies_kept"][1]
        assert found[name]["truths_lost"][0] > found["ours"]["truths_lost"][0]
    review = {"named": 1, "wrong": 2, "true": 3, "false_alarms": 0}
    assert "| ours | 0 of" in shown(found, review)


def test_a_peer_is_any_program_that_answers_every_line(tmp_path):
    program = tmp_path / "peer.py"
    program.write_text(ECHO)
    asked = cases(6, 2, seed=3)
    assert peer(f"{sys.executable} {program}")(asked) == [one.value in one.text for one in asked]
    program.write_text("print()")
    with pytest.raises(SettingError, match="one JSON object with id and kept"):
        peer(f"{sys.executable} {program}")(asked)


def test_a_text_made_of_one_title_is_judged_in_a_moment():
    from clinical.grounding.names import MOST_PLACES, find_name
    from clinical.language import Reading

    reading = Reading.of("Dr. " * 5_000 + "Anna Muster")
    assert find_name(reading, "Dr. Anna Muster", person=True) is None or MOST_PLACES < 5_000
