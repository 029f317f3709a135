"""Fit the second stage of calibration: what is served for generated texts, and whether it is right.

The mixture: wordings alone, lists and sentences of our own grammar (with sides, dates, markers, cut-off words, slips,
filler, drugs), half of their wordings unseen by index, encoder and ranking model, the others verbatim.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from tqdm import tqdm

from catalog_build.training.texts import TextWriter, WrittenMention
from clinical.search import Confidence, SearchIndex, Vectors

TEXTS: Final = 3_500
"""Texts that are read: some ten thousand mentions, one and a half minutes."""
UNSEEN: Final = 0.5
"""Share of wordings that search has not seen; the others stand in the index as people mostly write."""
STRENGTH: Final = 1.0
"""Inverse of the regularisation; with thousands of examples and 17 columns it hardly matters."""
BATCH: Final = 32


def examples(
    index: SearchIndex, wordings: Sequence[tuple[str, str]], accepted: Mapping[str, set[str]], seed: int, texts: int
) -> tuple[Vectors, NDArray[np.bool_]]:
    """Columns of the mentions that search finds in generated texts, and whether each one's first code is right."""
    writer, rows, right = TextWriter(wordings, seed), [], []
    for _ in tqdm(range(texts), desc="texts read", unit="text", disable=None):
        text = writer.write()
        for start, end, code, own in index.first_codes(text.text):
            said = _at(text.said, start, end)
            if said is not None and said.claim == "history":
                continue  # which code of the past is right the grammar does not know
            rows.append(own)
            right.append(said is not None and _is_right(said, code, accepted))
    return np.stack(rows), np.array(right)


def _is_right(said: WrittenMention, code: str, accepted: Mapping[str, set[str]]) -> bool:
    """Of relatives' diseases any code of family history counts: which one the grammar does not know."""
    if said.claim == "family":
        return "Z80" <= code[:3] <= "Z84"
    return said.claim != "excluded" and code in accepted.get(said.code, {said.code})


def confidence_for(
    index: SearchIndex, unseen: Sequence[tuple[str, int]], indexed: Sequence[tuple[str, int]], seed: int = 0
) -> Confidence:
    """Fitted on texts of wordings (text, number of the code) that the index has not seen and of some that it has."""
    chance = np.random.default_rng(seed)
    some = chance.choice(len(indexed), min(len(indexed), int(len(unseen) * (1 - UNSEEN) / UNSEEN)), replace=False)
    mixture = [*unseen, *(indexed[position] for position in some.tolist())]
    codes: dict[str, set[str]] = {}
    for text, number in (*unseen, *indexed):
        codes.setdefault(text.casefold(), set()).add(index.catalog.codes[number].code)
    accepted = {"|".join(sorted(own)): own for own in codes.values()}
    wordings = [(text, "|".join(sorted(codes[text.casefold()]))) for text, _ in mixture]
    return fit_confidence(*examples(index, wordings, accepted, seed, min(TEXTS, len(mixture))))


def fit_confidence(rows: Vectors, right: NDArray[np.bool_]) -> Confidence:
    """The logistic regression, on standardised columns, with the standardisation folded into its weights."""
    mean, scale = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    model = LogisticRegression(C=STRENGTH, max_iter=1_000).fit((rows - mean) / scale, right)
    weights = model.coef_[0] / scale
    return Confidence(weights.astype(np.float64), float(model.intercept_[0] - (weights * mean).sum()))


def _at(said: Sequence[WrittenMention], start: int, end: int) -> WrittenMention | None:
    """The mention that shares most with a span; None where none shares half of the shorter one."""
    best = max(said, key=lambda own: min(own.end, end) - max(own.start, start), default=None)
    if best is None:
        return None
    shared = min(best.end, end) - max(best.start, start)
    return best if shared >= 0.5 * min(end - start, best.end - best.start) else None
