"""What `evals reading` counts."""

from evals.reading.inputs import scored

ROW = {
    "class": "denied",
    "text": "Hypertonie, kein Diabetes",
    "codes": [
        {"codes": ["I10.90"], "also": ["I10.00"], "claim": "present", "text": "Hypertonie"},
        {"codes": ["R51"], "also": [], "claim": "present", "text": "Kopfschmerz"},
    ],
    "optional": ["Kopfschmerz"],
    "absent": [{"codes": ["E14.90"]}],
}


def test_what_is_stated_shown_right_silent_and_absent():
    counts = scored([ROW], lambda text: [("I10.00", "high"), ("E14.90", "medium")])["ALL"]
    expected = {"statements": 1, "found": 1, "shown": 2, "right": 1, "high": 1, "high_right": 1, "absent_shown": 1}
    assert {name: counts[name] for name in expected} == expected
    silent = scored([ROW], lambda text: [])["denied"]
    assert (silent["silent"], silent["found"], silent["absent_shown"]) == (1, 0, 0)


def test_the_category_of_what_is_denied_counts_too():
    assert scored([ROW], lambda text: [("E14.91", "high")])["ALL"]["absent_shown"] == 1
