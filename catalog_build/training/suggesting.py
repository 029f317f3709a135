"""Fits how common a code is and how much each kind of match counts, for suggestions (`clinical.search.suggest`).

Nobody publishes how often each code is written down in German practices. What is public: the patients of German
hospitals by main diagnosis (`inpatients.tsv`, Destatis 2019), three characters deep and without most of what practices
see. What is our own: what many hands wrote and coded (the authors to learn from), Befund's everyday
wordings, and the number of wordings of each code. Their weights are fitted together with those of the match: each
coded phrase, cut to 3 to 12 characters and a third of them with a slip, shall put one of its codes before all others
(conditional logit, McFadden 1974). A phrase's own count is taken off while it is learnt from. How common a code is, the
second stage of the search is fitted on too: the weights of the match can be learnt anew beside the shipped ones of the
codes.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from catalog_build.files import write_json
from catalog_build.training.augmentation import Augmenter
from catalog_build.training.authors import read
from clinical.icd import Catalog, category, leaves_open
from clinical.progress import progress
from clinical.search import MATCH, Encoder, Ints, Suggester, Vectors, Wordings

INPATIENTS: Final = Path(__file__).with_name("inpatients.tsv")
WEIGHTS: Final = "suggest.json"
SHIPPED: Final = Path(__file__).parents[1] / "weights" / WEIGHTS
OF_CODE: Final = ("inpatients", "written", "everyday", "terminal", "never_alone", "unspecified", "wordings")
"""Columns of a code: log(1 + patients of its category), log(1 + times it was given by `phrases`), three marks,
log(1 + wordings)."""
CLAIMS: Final = ("present", "suspected", "history")
"""Claims whose codes say that a disease is common; a denied one is asked about, a relative's has codes of its own."""
CUTS: Final = (3, 4, 5, 6, 8, 12)
LONGEST: Final = 40
"""Characters of the longest phrase that is learnt from: nobody types a sentence into a field for codes."""
SLIPS: Final = 0.3
"""Share of the cuts that are learnt from a second time, with a slip."""
OTHERS: Final = 300
"""Codes that a phrase's own are compared with, drawn with a fixed seed where there are more."""
ROUNDS: Final = 2
"""The best wording of a code depends on the weights: fitted, chosen anew, fitted again; a third round moves nothing."""
PENALTY: Final = 1e-4

Floats = NDArray[np.float64]


class SuggestWeights(NamedTuple):
    """Weights of the columns of a code and of a match, by name."""

    code: Mapping[str, float]
    match: Mapping[str, float]

    def save(self, path: Path) -> None:
        """Write them as JSON."""
        write_json(path, self._asdict())

    @classmethod
    def load(cls, path: Path = SHIPPED) -> SuggestWeights:
        """Read what `save` wrote; without a path the shipped weights."""
        return cls(**json.loads(path.read_text("utf-8")))


class CodedPhrase(NamedTuple):
    """Words that mean a disease, the codes that are right or defensible for it, those that it counted for, and the set
    of inputs or the author that it is of."""

    text: str
    codes: frozenset[str]
    counted: tuple[str, ...]
    source: str


def suggester_of(
    catalog: Catalog, wordings: Wordings, encoder: Encoder, weights: SuggestWeights | None = None
) -> Suggester:
    """Suggestions from these wordings with these weights, the shipped ones unless told otherwise."""
    weights = weights or SuggestWeights.load()
    own = columns_of(catalog, wordings) @ [weights.code[name] for name in OF_CODE]
    return Suggester.build(catalog, wordings, encoder, own.astype(np.float32), weights.match)


def columns_of(catalog: Catalog, wordings: Wordings) -> Floats:
    """The columns of every code of the catalog."""
    inpatients, written = _inpatients(), np.sum([*given_by(catalog).values()], axis=0)
    count = np.bincount(wordings.tables.code, minlength=len(catalog))
    rows = [
        (
            np.log1p(inpatients.get(category(code.code), 0)),
            np.log1p(written[number]),
            code.everyday,
            code.terminal,
            code.never_alone,
            leaves_open(code.title),
            np.log1p(count[number]),
        )
        for number, code in enumerate(catalog)
    ]
    return np.array(rows, dtype=np.float64)


def _inpatients() -> dict[str, int]:
    rows = (line.split("\t") for line in INPATIENTS.read_text("utf-8").splitlines() if not line.startswith("#"))
    next(rows)
    return {category: int(patients) for category, patients in rows}


@cache
def phrases() -> tuple[CodedPhrase, ...]:
    """The mentions that authors of split train gave codes, with a claim of CLAIMS."""
    return tuple(
        CodedPhrase(text.text[one.start : one.end], frozenset([*one.codes, *one.also]), one.codes, author)
        for author, texts in read("train").items()
        for text in texts
        for one in text.mentions
        if one.codes and one.claim in CLAIMS
    )


def given_by(catalog: Catalog) -> dict[str, Ints]:
    """Count how often each set of inputs and each author gave each code of the catalog: (codes,) each."""
    found = {phrase.source: np.zeros(len(catalog), dtype=np.int64) for phrase in phrases()}
    for phrase in phrases():
        np.add.at(found[phrase.source], [catalog.number(code) for code in phrase.counted if code in catalog], 1)
    return found


def commonness_without(catalog: Catalog, sets: Collection[str]) -> dict[str, Vectors]:
    """Of each set, the change in commonness of each code if it did not count, for its own codes tell of itself."""
    weight, given = SuggestWeights.load().code["written"], given_by(catalog)
    every, nothing = np.sum([*given.values()], axis=0), np.zeros(len(catalog), dtype=np.int64)
    return {
        name: (weight * (np.log1p(every - given.get(name, nothing)) - np.log1p(every))).astype(np.float32)
        for name in sets
    }


class ComparedCodes(NamedTuple):
    """Codes to choose from, of one phrase or mention: their columns, which of them are right, and what is added to
    their scores beforehand."""

    columns: Floats
    right: NDArray[np.bool_]
    before: Floats | float = 0.0


def fitted(catalog: Catalog, wordings: Wordings, encoder: Encoder, commonness: bool = False) -> SuggestWeights:
    """The weights, learnt from the phrases: of the match, and with `commonness` of the codes as well."""
    of_code = dict.fromkeys(OF_CODE, 0.0) if commonness else SuggestWeights.load().code
    weights = SuggestWeights(of_code, dict.fromkeys(MATCH, 1.0))
    suggester = suggester_of(catalog, wordings, encoder, weights)
    own = columns_of(catalog, wordings)
    names = (*OF_CODE, *MATCH) if commonness else MATCH
    for _ in range(ROUNDS):
        suggester.tables.weights[:] = [weights.match[name] for name in MATCH]
        choices = list(_choices(suggester, catalog, own, None if commonness else weights.code))
        values = {name: round(float(value), 3) for name, value in zip(names, conditional_logit(choices), strict=True)}
        weights = SuggestWeights(
            {name: values.get(name, weights.code[name]) for name in OF_CODE}, {name: values[name] for name in MATCH}
        )
    return weights


def _choices(
    suggester: Suggester, catalog: Catalog, own: Floats, known: Mapping[str, float] | None
) -> Iterator[ComparedCodes]:
    """The codes that each beginning of a phrase matches; with the weights of the codes where they are known, else with
    their columns."""
    chance, augmenter = np.random.default_rng(0), Augmenter(0)
    written = OF_CODE.index("written")
    learnt = [phrase for phrase in phrases() if len(phrase.text) <= LONGEST]
    for phrase in progress(learnt, "suggestions", "phrases"):
        right = [catalog.number(code) for code in phrase.codes if code in catalog]
        counted = [catalog.number(code) for code in phrase.counted if code in catalog]
        cuts = [phrase.text[:cut].rstrip() for cut in CUTS if len(phrase.text) >= cut]
        for typed in (*cuts, *(augmenter.typo(cut) for cut in cuts if chance.random() < SLIPS)):
            codes, matched, _ = suggester.matches(typed)
            of_code = own[codes]
            less = np.isin(codes, counted)
            of_code[less, written] = np.log1p(np.maximum(np.expm1(of_code[less, written]) - 1, 0))
            are_right = np.isin(codes, right)
            kept = np.arange(len(codes))
            if len(codes) > OTHERS:
                kept = np.union1d(np.flatnonzero(are_right), chance.choice(len(codes), OTHERS, replace=False))
            if not are_right.any() or are_right.all():
                continue
            if known is None:
                yield ComparedCodes(np.hstack([of_code, matched])[kept], are_right[kept])
            else:
                before = of_code @ [known[name] for name in OF_CODE]
                yield ComparedCodes(matched[kept].astype(np.float64), are_right[kept], before[kept])


def conditional_logit(choices: Sequence[ComparedCodes]) -> Floats:
    """Weights that maximise the probability of the right ones among each choice."""
    from scipy.optimize import minimize

    columns, right = (np.concatenate([choice[part] for choice in choices]) for part in (0, 1))
    sizes = np.array([len(choice.right) for choice in choices])
    before = np.concatenate([np.broadcast_to(choice.before, len(choice.right)) for choice in choices])
    starts = np.cumsum([0, *sizes[:-1]])
    scale = columns.std(axis=0) + 1e-9
    scaled = columns / scale

    def loss(weights: Floats) -> tuple[float, Floats]:
        score = scaled @ weights + before
        raised = np.exp(score - np.repeat(np.maximum.reduceat(score, starts), sizes))
        every, good = np.add.reduceat(raised, starts), np.add.reduceat(raised * right, starts)
        value = -np.log(good / every).mean() + PENALTY * weights @ weights
        slope = scaled.T @ (raised / np.repeat(every, sizes) - raised * right / np.repeat(good, sizes))
        return float(value), slope / len(starts) + 2 * PENALTY * weights

    found = minimize(loss, np.zeros(scaled.shape[1]), jac=True, method="L-BFGS-B").x
    weights: Floats = found / scale
    return weights
