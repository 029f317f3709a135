"""Our measures are those of well-known libraries, where these have them: compared on answers drawn by chance."""

from __future__ import annotations

import random

import ir_measures
import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from scipy.stats import bootstrap as scipy_bootstrap
from sklearn.metrics import brier_score_loss, f1_score, precision_score, recall_score
from sklearn.preprocessing import MultiLabelBinarizer

from evals.coding.outcomes import Outcome, frame_of
from evals.coding.targets import Coded
from evals.data.examples import Example
from evals.measures.calibration import brier
from evals.measures.intervals import mean, share
from evals.measures.queries import rows_of
from evals.reading.inputs import frame_of as texts_of
from tests.fakes import tiny_catalog

CODES = [code.code for code in tiny_catalog().codes if code.terminal]
CHANCE = random.Random(8)


def _drawn(number: int) -> Outcome:
    """Up to three right codes, up to ten found ones, of which the surest are shown."""
    right = CHANCE.sample(CODES, CHANCE.randint(1, 3))
    found = CHANCE.sample(CODES, CHANCE.randint(0, min(10, len(CODES))))
    shown = CHANCE.randint(0, len(found))
    hits = tuple(Coded(code, "high", place < shown, 0.9 - place / 20) for place, code in enumerate(found))
    return Outcome(Example(f"query {number}", frozenset(right)), hits, 0.5, False)


OUTCOMES = [_drawn(number) for number in range(200)]


@pytest.fixture(scope="module")
def ours() -> dict[str, float]:
    rows = rows_of(frame_of(OUTCOMES, tiny_catalog()))
    return {row.measure: row.value for row in rows if row.set == "all"}


def test_ranks_are_those_of_ir_measures(ours):
    names = {"top_1": "Success@1", "top_3": "Success@3", "top_5": "Success@5", "top_10": "Success@10"}
    names |= {"mrr": "RR", "recall_10": "R@10"}
    qrels = [ir_measures.Qrel(one.example.query, code, 1) for one in OUTCOMES for code in sorted(one.example.codes)]
    run = [
        ir_measures.ScoredDoc(one.example.query, hit.code, -place)
        for one in OUTCOMES
        for place, hit in enumerate(one.found)
    ]
    known = ir_measures.calc_aggregate(map(ir_measures.parse_measure, names.values()), qrels, run)
    theirs = {str(measure): value for measure, value in known.items()}
    assert len(theirs) == 6
    for own, name in names.items():
        assert ours[own] == pytest.approx(theirs[name], abs=1e-4), own


def test_sets_are_those_of_scikit_learn(ours):
    labels = MultiLabelBinarizer().fit([CODES])
    right = labels.transform([one.example.codes for one in OUTCOMES])
    shown = labels.transform([[hit.code for hit in one.found if hit.shown] for one in OUTCOMES])
    theirs = {
        "set_precision": precision_score(right, shown, average="samples", zero_division=0),
        "set_recall": recall_score(right, shown, average="samples", zero_division=0),
        "f1": f1_score(right, shown, average="samples", zero_division=0),
        "micro_f1": f1_score(right, shown, average="micro"),
    }
    for name, value in theirs.items():
        assert ours[name] == pytest.approx(value, abs=1e-4), name


def test_the_brier_score_is_that_of_scikit_learn(ours):
    asked = [(one.found[0].probability, one.rank == 1) for one in OUTCOMES if one.found]
    chances, right = zip(*asked, strict=True)
    assert ours["brier"] == brier(chances, right)[0] == pytest.approx(brier_score_loss(right, chances), abs=1e-4)


def test_precision_and_recall_of_statements_are_those_of_scikit_learn():
    rows, shown = [], {}
    for one in OUTCOMES:
        codes = sorted(one.example.codes)
        text = " ".join([one.example.query, *codes])
        said = [{"codes": [code], "text": code, "claim": "present"} for code in codes]
        rows.append({"text": text, "class": "some", "codes": said})
        shown[text] = [(hit.code, "high") for hit in one.found if hit.shown]
    labels = MultiLabelBinarizer().fit([CODES])
    right = labels.transform([one.example.codes for one in OUTCOMES])
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


def test_there_is_something_to_compare():
    assert pd.Series([one.rank for one in OUTCOMES]).nunique() > 5
