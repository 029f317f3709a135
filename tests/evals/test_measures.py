"""Measures of coding: by hand on a few outcomes, by well-known libraries on many, and what intervals promise."""

from __future__ import annotations

import random

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from scipy.stats import bootstrap as scipy_bootstrap
from sklearn.metrics import brier_score_loss, f1_score, precision_score, recall_score
from sklearn.preprocessing import MultiLabelBinarizer

from evals.coding.outcomes import Nearness, Outcome, distance_of, frame_of, path_of
from evals.coding.targets import Coded
from evals.data.examples import Example
from evals.measures import calibration as cal
from evals.measures.intervals import clustered, clusters_of, mean, ratio, share
from evals.measures.queries import label_rows, rows_of
from evals.measures.results import SCHEMA, checked, table
from evals.reading.inputs import frame_of as texts_of
from tests.fakes import tiny_catalog

CATALOG = tiny_catalog()


def outcome(
    codes: str, found: str | None, probability: float | None = None, *, level: str = "high", **more: object
) -> Outcome:
    """The outcome of a query with these right codes, and the codes found for it (None: it failed)."""
    hits = None if found is None else tuple(Coded(code, level, True, probability) for code in found.split())
    known = {"overlap": 0.5, "verbatim": False, **more}
    return Outcome(Example("Frage", frozenset(codes.split())), hits, **known)


def measured(outcomes: list[Outcome]) -> dict[tuple[str, str], float]:
    return {(row.measure, row.set): row.value for row in rows_of(frame_of(outcomes, CATALOG))}


# --- by hand ----------------------------------------------------------------------------------------------------------

FEW = [
    outcome("I10.90", "I10.90 I10.00", overlap=1.0, verbatim=True),
    outcome("E11.90", "E11.91 E11.90", overlap=0.1),
    outcome("J18.9 J20.9", "A00.0 B00.1 C61 J18.9", level="low", overlap=0.3),
    outcome("K37", "A00.0", level="low"),
    outcome("G43.9", ""),
    outcome("B02.9", None),
]


def test_a_failed_query_is_left_out_and_a_first_code_of_the_category_counts_there():
    rows = {row.measure: row for row in rows_of(frame_of(FEW, CATALOG)) if row.set == "all"}
    assert (rows["failed"].n, rows["failed"].value) == (6, 1)
    assert (rows["top_1"].n, rows["top_1"].value) == (5, 1 / 5)
    assert rows["top_1_category"].value == 2 / 5


def test_labels_by_hand():
    asked = frame_of(FEW[:-1], CATALOG)
    high = {row.measure: row.value for row in label_rows(asked, "high")}
    assert (high["high_precision"], high["high_coverage"], high["high_of_all_codes"]) == (1 / 2, 2 / 5, 2 / 4)
    assert [row.measure for row in label_rows(asked, "medium")] == ["medium_coverage"]


def test_the_rows_are_a_table_of_the_schema_and_each_measure_has_an_interval():
    rows = table(rows_of(frame_of(FEW, CATALOG)), "coding", "python -m evals coding", "0" * 64)
    assert {name: str(kind) for name, kind in rows.dtypes.items()} == SCHEMA
    assert set(rows["catalog"]) == {"0" * 12}
    basic = rows[rows["measure"].isin(["top_1", "top_10", "top_1_category", "mrr", "recall_10"])]
    assert len(basic) > 20
    assert ((basic["low"] >= 0) & (basic["low"] <= basic["value"]) & (basic["high"] <= 1)).all()
    mrr = rows[rows["measure"] == "mrr"].set_index("set")["n"]
    assert mrr["not verbatim in the index"] == 4
    assert mrr[mrr.index.str.startswith("overlap ")].sum() == 5
    for broken in (rows.drop(columns="n"), rows.assign(value=9.0), rows.iloc[[0, 0]]):
        with pytest.raises(ValueError, match=r"columns|interval|twice"):
            checked(broken)


def test_of_nothing_there_is_no_measure_and_of_one_value_no_interval():
    assert measured([outcome("I10", None)]) == {("failed", "all"): 1}
    assert measured([]) == {("failed", "all"): 0}
    assert (share(0, 0), mean([]), ratio([0], [0], ["a"])) == (None, None, None)
    for measure in (cal.expected_calibration_error, cal.area_under_risk_coverage, cal.brier):
        assert measure([], []) is None
    assert cal.calibration_error_by_chance([]) is None
    assert cal.reliability([], []) == []
    assert mean([0.5] * 30) == (0.5, 0.5, 0.5)


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


# --- by libraries -----------------------------------------------------------------------------------------------------

CODES = [code.code for code in CATALOG.codes if code.terminal]
CHANCE = random.Random(8)


def _drawn(number: int) -> Outcome:
    """Up to three right codes, up to ten found ones, of which the surest are shown."""
    right = CHANCE.sample(CODES, CHANCE.randint(1, 3))
    found = CHANCE.sample(CODES, CHANCE.randint(0, min(10, len(CODES))))
    shown = CHANCE.randint(0, len(found))
    hits = tuple(Coded(code, "high", place < shown, 0.9 - place / 20) for place, code in enumerate(found))
    return Outcome(Example(f"query {number}", frozenset(right)), hits, 0.5, False)


MANY = [_drawn(number) for number in range(200)]


@pytest.fixture(scope="module")
def ours() -> dict[str, float]:
    rows = rows_of(frame_of(MANY, CATALOG))
    return {row.measure: row.value for row in rows if row.set == "all"}


def test_ranks_are_those_of_ir_measures(ours):
    names = {"top_1": "Success@1", "top_3": "Success@3", "top_5": "Success@5", "top_10": "Success@10"}
    names |= {"mrr": "RR", "recall_10": "R@10"}
    qrels = [ir_measures.Qrel(one.example.query, code, 1) for one in MANY for code in sorted(one.example.codes)]
    run = [
        ir_measures.ScoredDoc(one.example.query, hit.code, -place)
        for one in MANY
        for place, hit in enumerate(one.found)
    ]
    known = ir_measures.calc_aggregate(map(ir_measures.parse_measure, names.values()), qrels, run)
    theirs = {str(measure): value for measure, value in known.items()}
    assert len(theirs) == 6
    assert len({one.rank for one in MANY}) > 5
    for own, name in names.items():
        assert ours[own] == pytest.approx(theirs[name], abs=1e-4), own


def test_sets_are_those_of_scikit_learn(ours):
    labels = MultiLabelBinarizer().fit([CODES])
    right = labels.transform([one.example.codes for one in MANY])
    shown = labels.transform([[hit.code for hit in one.found if hit.shown] for one in MANY])
    theirs = {
        "set_precision": precision_score(right, shown, average="samples", zero_division=0),
        "set_recall": recall_score(right, shown, average="samples", zero_division=0),
        "f1": f1_score(right, shown, average="samples", zero_division=0),
        "micro_f1": f1_score(right, shown, average="micro"),
    }
    for name, value in theirs.items():
        assert ours[name] == pytest.approx(value, abs=1e-4), name


def test_the_brier_score_is_that_of_scikit_learn(ours):
    asked = [(one.found[0].probability, one.rank == 1) for one in MANY if one.found]
    chances, right = zip(*asked, strict=True)
    assert ours["brier"] == cal.brier(chances, right)[0] == pytest.approx(brier_score_loss(right, chances), abs=1e-4)


def test_precision_and_recall_of_statements_are_those_of_scikit_learn():
    rows, shown = [], {}
    for one in MANY:
        codes = sorted(one.example.codes)
        text = " ".join([one.example.query, *codes])
        said = [{"codes": [code], "text": code, "claim": "present"} for code in codes]
        rows.append({"text": text, "class": "some", "codes": said})
        shown[text] = [(hit.code, "high") for hit in one.found if hit.shown]
    labels = MultiLabelBinarizer().fit([CODES])
    right = labels.transform([one.example.codes for one in MANY])
    found = labels.transform([[code for code, _ in shown[row["text"]]] for row in rows])
    counts = texts_of(rows, shown.__getitem__).sum(numeric_only=True)
    assert counts["found"] / counts["statements"] == pytest.approx(recall_score(right, found, average="micro"))
    assert counts["right"] / counts["shown"] == pytest.approx(precision_score(right, found, average="micro"))


def test_intervals_are_those_of_scipy():
    for hits, of in ((3, 17), (0, 9), (40, 40), (512, 1024)):
        theirs = binomtest(hits, of).proportion_ci(method="wilson")
        assert share(hits, of)[1:] == pytest.approx((theirs.low, theirs.high), abs=1e-4)
    values = np.random.default_rng(1).gamma(2, size=300)
    theirs = scipy_bootstrap((values,), np.mean, method="percentile", n_resamples=4_000, rng=0).confidence_interval
    assert mean(values.tolist())[1:] == pytest.approx(tuple(theirs), abs=0.02)


# --- intervals that draw clusters -------------------------------------------------------------------------------------


def test_intervals_are_wider_where_mistakes_come_together():
    right = [True] * 90 + [False] * 10
    apart = clustered(right, [str(n) for n in range(100)])
    together = clustered(right, [str(n // 10) for n in range(100)])
    assert apart is not None
    assert together is not None
    assert together[0] == apart[0] == pytest.approx(0.9)
    assert together[2] - together[1] > 1.5 * (apart[2] - apart[1])


def test_a_ratio_has_the_interval_of_a_share_where_texts_differ_by_chance_alone_and_a_wider_one_elsewhere():
    counts = [1] * 90 + [0] * 10
    apart = ratio(counts, [1] * 100, [str(n) for n in range(100)])
    assert apart[0] == 0.9
    assert apart == pytest.approx(share(90, 100), abs=0.01)
    together = ratio(counts, [1] * 100, [str(n // 10) for n in range(100)])
    assert together[2] - together[1] > 1.5 * (apart[2] - apart[1])
    sure = ratio([5] * 20, [5] * 20, [str(n) for n in range(20)])
    assert share(20, 20)[1] > sure[1] > 0.8, "all right is no certainty: a text counts once"


def test_authors_are_drawn_where_there_are_several_of_them():
    texts = [str(number) for number in range(10)]
    few, many = ([str(number % authors) for number in range(10)] for authors in (3, 5))
    assert clusters_of(texts, few) == texts
    assert clusters_of(texts, many) == many


# --- calibration ------------------------------------------------------------------------------------------------------

COLUMNS = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60)


def sample(size: int, truth=lambda p: p) -> tuple[list[float], list[bool]]:
    chance = np.random.default_rng(7)
    probability = chance.random(size)
    return probability.tolist(), (chance.random(size) < truth(probability)).tolist()


def test_calibration_by_hand():
    probability, right = [0.95, 0.95, 0.85, 0.15], [True, False, True, False]
    # bins 0.9-1.0: |0.95 - 0.5| of 2; 0.8-0.9: |0.85 - 1| of 1; 0.1-0.2: |0.15 - 0| of 1
    assert cal.expected_calibration_error(probability, right)[0] == pytest.approx((0.9 + 0.15 + 0.15) / 4)
    coverage, risk = cal.risk_coverage(probability, right)
    assert coverage.tolist() == [0.5, 0.75, 1.0]
    assert risk.tolist() == pytest.approx([0.5, 1 / 3, 0.5])
    assert cal.area_under_risk_coverage(probability, right)[0] == pytest.approx((2 * 0.5 + 1 / 3 + 0.5) / 4, abs=1e-4)
    assert [(bin["low"], bin["n"]) for bin in cal.reliability(probability, right)] == [(0.1, 1), (0.8, 1), (0.9, 2)]


def test_true_probabilities_have_the_error_of_chance_and_bent_ones_more():
    probability, right = sample(3_000)
    error, low, high = cal.expected_calibration_error(probability, right)
    assert low <= error <= high
    assert error < 2 * cal.calibration_error_by_chance(probability)
    bent = cal.expected_calibration_error(*sample(3_000, lambda p: p**2))
    assert bent[1] > 0.1 < bent[0]
    assert bent[0] == pytest.approx(1 / 2 - 1 / 3, abs=0.03)  # the mean of p - p**2


def test_the_interval_of_the_area_holds_the_areas_of_other_samples():
    probability, right = sample(400)
    area, low, high = cal.area_under_risk_coverage(probability, right)
    whole = cal.area_under_risk_coverage(*sample(20_000))[0]
    assert low < whole < high
    assert low < area < high


@settings(max_examples=30, deadline=None)
@given(COLUMNS)
def test_bounds_hold_for_anything(rows):
    probability, right = [p for p, _ in rows], [r for _, r in rows]
    error, low, high = cal.expected_calibration_error(probability, right)
    assert 0 <= low <= error <= high <= 1.0001
    assert sum(bin["n"] for bin in cal.reliability(probability, right)) == len(rows)
    coverage, risk = cal.risk_coverage(probability, right)
    assert coverage[-1] == 1.0
    assert risk[-1] == pytest.approx(1 - np.mean(right), abs=1e-4)
    assert (risk >= 0).all()
    assert (risk <= 1).all()
