"""Fits the probability of the first code, and the thresholds of the bands, on a hospital's own reviewed texts.

In the shape of a scikit-learn estimator, so that GridSearchCV, cross_val_predict and the like run it.
"""

# ruff: noqa: N803 - scikit-learn calls the texts X

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from catalog_build.training.calibration import HIGH_PRECISION, MEDIUM_PRECISION, choose
from clinical.errors import SettingError
from evals.lab.opened import codes_of
from evals.lab.searched import first

METHODS: Final = ("isotonic", "sigmoid", "as-is")
LEAST: Final = 1e-6
"""Distance from 0 and 1 that probabilities keep before their log odds are taken."""


class CalibratedSearch(BaseEstimator):  # type: ignore[misc]
    """The first code of each text, with a probability fitted on texts whose right codes are known.

    X: texts, or what `lab.first(texts)` gave (searched once, fitted often); y: right codes of each, a string with
    commas between several, or a collection. `method`: isotonic (Zadrozny and Elkan 2002), sigmoid (Platt 1999) or
    as-is, the shipped probability. `high_precision`, `medium_precision`: the share right that the bands keep on the
    fitted texts; a band needs at least 50 of them.
    """

    def __init__(
        self,
        catalog: str | Path | None = None,
        method: str = "isotonic",
        high_precision: float = HIGH_PRECISION,
        medium_precision: float = MEDIUM_PRECISION,
    ) -> None:
        self.catalog, self.method = catalog, method
        self.high_precision, self.medium_precision = high_precision, medium_precision

    def fit(self, X: Any, y: Iterable[Any]) -> Self:
        """Raises SettingError for an unknown method, and where all first codes are right or all wrong."""
        if self.method not in METHODS:
            raise SettingError(f"method {self.method}", ", ".join(METHODS), "name one of them")
        found = self._first(X)
        shown, right = found["code"].notna().to_numpy(), _right(found, y)
        raw = found["probability"].fillna(0.0).to_numpy()
        if self.method != "as-is" and len(set(right[shown].tolist())) < 2:
            remedy = "fit on more texts, or with method as-is"
            raise SettingError("every first code has the same outcome", "right and wrong ones", remedy)
        self.calibrator_ = _calibrator(self.method, raw[shown], right[shown])
        probability = self.predict_proba(found)[:, 1].astype(np.float32)
        targets = self.high_precision, self.medium_precision
        self.thresholds_, self.bands_ = choose(probability, right, *targets)
        self.classes_ = np.array([False, True])
        return self

    def predict(self, X: Any) -> NDArray[np.object_]:
        """The first code of each text, None where there is none."""
        codes = self._first(X)["code"]
        return np.array([code if isinstance(code, str) else None for code in codes], dtype=object)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """(texts, 2): that the first code is wrong, and that it is right; a text without codes is surely wrong."""
        found = self._first(X)
        raw = found["probability"].fillna(0.0).to_numpy()
        right = np.where(found["code"].notna(), _applied(self.calibrator_, raw), 0.0)
        return np.column_stack([1.0 - right, right])

    def levels(self, X: Any) -> NDArray[np.object_]:
        """high, medium or low for each text, by the fitted thresholds."""
        right = self.predict_proba(X)[:, 1].astype(np.float32)
        high, medium = right >= np.float32(self.thresholds_.high), right >= np.float32(self.thresholds_.medium)
        return np.where(high, "high", np.where(medium, "medium", "low")).astype(object)

    def score(self, X: Any, y: Iterable[Any]) -> float:
        """Brier score (1950) with its sign turned, so that more is better; 0 is best."""
        found = self._first(X)
        return -float(np.mean((self.predict_proba(found)[:, 1] - _right(found, y)) ** 2))

    def _first(self, X: Any) -> pd.DataFrame:
        known = isinstance(X, pd.DataFrame) and {"code", "probability"} <= set(X.columns)
        return X if known else first(X, self.catalog)


def _right(found: pd.DataFrame, y: Iterable[Any]) -> NDArray[np.bool_]:
    return np.array([code in codes_of(right) for code, right in zip(found["code"], y, strict=True)], dtype=bool)


def _calibrator(method: str, raw: NDArray[np.float64], right: NDArray[np.bool_]) -> Any:
    if method == "isotonic":
        return IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(raw, right)
    return LogisticRegression().fit(_log_odds(raw), right) if method == "sigmoid" else None


def _applied(calibrator: Any, raw: NDArray[np.float64]) -> NDArray[np.float64]:
    if calibrator is None:
        return raw
    if isinstance(calibrator, LogisticRegression):
        return np.asarray(calibrator.predict_proba(_log_odds(raw))[:, 1])
    return np.asarray(calibrator.predict(raw))


def _log_odds(raw: NDArray[np.float64]) -> NDArray[np.float64]:
    kept = np.clip(raw, LEAST, 1 - LEAST)
    return np.log(kept / (1 - kept)).reshape(-1, 1)
