"""The metrics of coding on a few outcomes, each figure done by hand."""

from __future__ import annotations

import pytest

from evals.coding.outcomes import Nearness, Outcome, distance_of, frame_of, path_of
from evals.coding.targets import Coded
from evals.data.examples import Example
from evals.measures.queries import rows_of
from tests.fakes import tiny_catalog

CATALOG = tiny_catalog()


def measured(outcomes: list[Outcome]) -> dict[tuple[str, str], float]:
    return {(row.measure, row.set): row.value for row in rows_of(frame_of(outcomes, CATALOG))}


def outcome(codes: str, found: str, probability: float | None = None, wordings: int = 0, shown: bool = True) -> Outcome:
    hits = tuple(Coded(code, "high", shown, probability) for code in found.split())
    return Outcome(Example(codes, frozenset(codes.split())), hits, 0.5, False, wordings)


def test_steps_along_the_tree():
    assert path_of("E11.90", CATALOG) == ("chapter E", "block E", "E11", "E11.9", "E11.90")
    for codes, found, steps in (
        ("E11.90", "E11.90", 0),
        ("E11.90", "E11.91", 2),
        ("E11.90", "E11.9", 1),
        ("E11.90", "J18.9", 9),
        ("E11.90 J18.9", "J18.9", 0),
        ("E11.90", "", 5),
    ):
        assert distance_of(outcome(codes, found), CATALOG) == steps


def test_a_code_of_another_year_hangs_where_it_would_be():
    assert path_of("E11.777", CATALOG)[:3] == ("chapter E", "block E", "E11")
    assert path_of("Y99.1", CATALOG)[-2:] == ("Y99", "Y99.1")


def test_chapters_count_alike_whatever_their_size():
    found = measured([outcome("E11.90", "E11.90")] * 9 + [outcome("R05", "E11.90")])
    assert found["top_1", "all"] == 0.9
    assert found["top_1", "mean over chapters"] == 0.5
    assert (found["top_1", "chapter E"], found["top_1", "chapter R"]) == (1, 0)


def test_bands_of_wordings():
    rows = [outcome("R05", "R05", wordings=1), outcome("R05", "J18.9", wordings=3), outcome("R05", "R05", wordings=99)]
    bands = {of: value for (measure, of), value in measured(rows).items() if measure == "top_1" and "wordings " in of}
    assert bands == {"wordings 1": 1.0, "wordings 2 to 3": 0.0, "wordings 32 and more": 1.0}


def test_calibration_is_there_only_where_the_target_says_how_sure_it_is():
    assert ("calibration_error", "all") not in measured([outcome("R05", "R05")])
    found = measured([outcome("R05", "R05", 0.9), outcome("R05", "J18.9", 0.9), outcome("R05", "")])
    assert found["calibration_error", "all"] == pytest.approx(0.4)


def test_nearness_of_the_index(index):
    wording = index.wordings.text(0)
    code = index.catalog.codes[int(index.wordings.tables.code[0])].code
    rows = [
        Example(wording, frozenset({code})),
        Example(f"{wording} xyzzy", frozenset({code})),
        Example("xyzzy", frozenset({code})),
    ]
    nearness = Nearness(index, rows)
    found = [nearness.of(row) for row in rows]
    assert found[0][:2] == (1.0, True)
    assert 0 < found[1][0] < 1
    assert found[2][:2] == (0.0, False)
    assert not found[1][1]
    assert (found[0][3], found[2][3]) == (True, False)
    assert len({wordings for _, _, wordings, _ in found}) == 1 <= found[0][2]
