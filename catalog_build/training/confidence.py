"""Fit the second stage of calibration: what is served for texts, and whether it is right.

The mixture: inputs that others wrote and coded by hand (`written`), and wordings alone, lists and sentences of our own
grammar (with sides, dates, markers, cut-off words, slips, filler, drugs, symptoms that lead to a disease), half of
their wordings unseen by index, encoder and ranking model, the others verbatim. What people write tells how far a code
can be believed; the grammar, which counts little, keeps what few of them write.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from catalog_build.training.authors import WrittenInput, written_inputs
from catalog_build.training.suggesting import ComparedCodes, commonness_without, conditional_logit
from catalog_build.training.texts import NOT_CODED, TextWriter, WrittenMention, begun_queries
from clinical.icd import HEALTH_FACTORS, NONE
from clinical.progress import progress
from clinical.reading import (
    COLUMNS,
    OF_EXPERIENCE,
    OF_HIT,
    TOGETHER,
    Confidence,
    ConfidenceNetwork,
    Elsewhere,
    Experience,
    Regression,
    Reranker,
    SearchIndex,
    columns_of_hits,
    is_begun,
)
from clinical.search import Ints, Vectors, run_starts
from clinical.text import folded_words
from clinical.thresholds import NEVER, TextThresholds

TEXTS: Final = 5_000
"""Texts that are read: some fifteen thousand mentions, two minutes. With a small catalog half as many as wordings: with
four times as many, reading them was three quarters of a build with an own encoder (evals/LOG.md)."""
UNSEEN: Final = 0.5
"""Share of wordings that search has not seen; the others stand in the index as people mostly write."""
HIDDEN, DECAY, ROUNDS, RATE = 32, 0.3, 30, 1e-3
"""Hidden units of the network, its decay of weights, rounds of training and learning rate."""
STRENGTH: Final = 1.0
"""Inverse of the regularisation; with thousands of examples and two dozen columns it hardly matters."""
HANDS: Final = 2
"""Sets that have words for a code, from which on they count as experience; with 3 a little less is found."""
PARTS: Final = 5
"""Parts of the categories that are left out in turn."""
GENERATED: Final = 0.1
"""Weight of a generated mention against one that somebody wrote, of which there are a third as many. Without any, with
0.03 and with 0.1 the written inputs that are kept apart are calibrated equally well, with 1 worse (evals/LOG.md)."""
WINDOW, STEP = 400, 25
"""Examples whose precision is looked at together, for with fewer it is chance, and how far the window moves on. With
few examples a third of them."""
HIGH_LEAST, MEDIUM_LEAST = 0.85, 0.48
"""Least precision, by the lower bound, of the last codes of each band: of the whole bands, on inputs of others, 0.97 of
`high` and 0.81 of `medium` are right. With 0.53 of `medium` one to two points less of what is stated are shown, and of
what is shown one point more is right (`python -m evals reading --inputs`)."""
BEST: Final = 0.3
"""From which probability the most probable code of a text is `medium`: few texts are sent that mean none. Of written
ones it is right in 0.42 where it has 0.3 to 0.35, any other code in 0.31 (evals/LOG.md)."""
TELLING: Final = (
    *("logit", "margin", "category", "words", "one_word", "unspecified", "symptom"),
    *("uncovered", "unknown", "length"),
)
"""Columns that differ between wordings by themselves which stop within a word; what is the same for all of those that
are learnt from, as claims and upper case, says nothing of others."""
ONE_SIDED: Final = 1.64
"""Standard errors of a one-sided bound of 95 %."""


class FoundMentions(NamedTuple):
    """Mentions that search found in texts, one row each: what the second stage sees, whether the first code is right,
    and what is left out together to see what was learnt: the category of that code, for the mistakes of one category
    are made together; of written inputs the set."""

    rows: Vectors  # (m, COLUMNS)
    right: NDArray[np.bool_]  # (m,)
    category: Ints  # (m,)
    part: Ints  # (m,)
    said: tuple[tuple[str, str], ...] = ()  # of written inputs the words of each, and its first code
    told: tuple[bool, ...] = ()  # whether its claim was read as it is written: else no code could be right


def examples(
    index: SearchIndex, wordings: Sequence[tuple[str, str]], accepted: Mapping[str, set[str]], seed: int, texts: int
) -> FoundMentions:
    """Search so many generated texts of these wordings and judge the first codes. A mention stated as past that gets
    another code of the past with just its wording ("alter Myokardinfarkt") is left out: the grammar does not know if it
    is right."""
    writer, judge, found = TextWriter(wordings, seed), TextJudge(index, accepted), list[_Found]()
    written = [writer.write() for _ in range(texts)]
    first = _first_codes(index, [text.text for text in written])
    read = progress(first, "second stage of calibration", "texts read", total=texts)
    for text, codes in zip(written, read, strict=True):
        for start, end, code, own in codes:
            verdict = judge.is_right(_at(text.said, start, end), code, own)
            if verdict is not None:
                found.append((own, verdict, category_of(index, code)))
    return _mentions(found)


_Found = tuple[Vectors, bool, int]
"""A row of FoundMentions: columns, whether the code is right, and its category."""


def _mentions(found: Sequence[_Found], part: Sequence[int] | None = None) -> FoundMentions:
    """Finds as columns; without `part` categories are left out together."""
    rows = np.array([row for row, _, _ in found], dtype=np.float32).reshape(len(found), len(COLUMNS))
    category = np.array([of for _, _, of in found], dtype=np.int64)
    parts = category % PARTS if part is None else np.array(part, dtype=np.int64)
    return FoundMentions(rows, np.array([right for _, right, _ in found], dtype=bool), category, parts)


def category_of(index: SearchIndex, code: str) -> int:
    """The number of the code's category."""
    return int(index.kinds.category[index.catalog.number(code)])


def written_examples(index: SearchIndex, written: Sequence[WrittenInput]) -> FoundMentions:
    """Search inputs that people wrote, as they are served, and judge the first codes: a wording by itself keeps the
    ranking model's probability, and is left out; so is what lies where the input states something whose code nobody
    knows. A code is right where the input states it anywhere."""
    sets = sorted({one.source for one in written})
    known = commonness_without(index.catalog, sets)
    found, part, said, told = list[_Found](), list[int](), list[tuple[str, str]](), list[bool]()
    read = progress(
        _first_codes(index, [one.text for one in written]), "second stage", "inputs read", total=len(written)
    )
    for one, codes in zip(written, read, strict=True):
        for start, end, code, own in codes:
            unknown = code not in one.right and any(first < end and start < last for first, last in one.open)
            if own[_CHANCE] > 0 and not own[_PLAIN] and not unknown:
                own[_COMMON] += known[one.source][index.catalog.number(code)]
                found.append((own, code in one.right, category_of(index, code)))
                part.append(sets.index(one.source))
                said.append((" ".join(folded_words(one.text[start:end])), code))
                claim = "history" if own[_HISTORY] else "family" if own[_FAMILY] else "present"
                told.append(one.says(start, end, claim))
    return _mentions(found, part)._replace(said=tuple(said), told=tuple(told))


def experienced(found: FoundMentions, before: Experience) -> tuple[FoundMentions, Experience]:
    """The finds with their columns of experience, each by what all sets but its own tell; and what all of them do. Of
    words alone that is kept which HANDS sets have: that of one is its manner of writing. What was read with another
    claim than it has tells nothing of its words."""
    if not found.said:
        return found, before
    hands: dict[tuple[str, str], set[int]] = {}
    told = [at for at, counts in enumerate(found.told) if counts]
    for at in told:
        hands.setdefault(found.said[at], set()).add(int(found.part[at]))
    kept = {*(key for key, parts in hands.items() if len(parts) >= HANDS), *before.seen}

    def known(some: Sequence[int]) -> Experience:
        return before.with_more((*found.said[at], bool(found.right[at])) for at in some).only(kept)

    rows, columns = found.rows.copy(), [COLUMNS.index(name) for name in OF_EXPERIENCE]
    for part in set(found.part.tolist()):
        others = known([at for at in told if found.part[at] != part])
        own = np.flatnonzero(found.part == part).tolist()
        keys = [found.said[at] for at in own]
        rows[np.ix_(own, columns)] = [others.columns(words.split(" "), code) for words, code in keys]
    return found._replace(rows=rows), known(told)


def _first_codes(index: SearchIndex, texts: Sequence[str]) -> Iterator[list[tuple[int, int, str, Vectors]]]:
    """The first codes of each text; TOGETHER are searched at once."""
    for begin in range(0, len(texts), TOGETHER):
        yield from index.first_codes(texts[begin : begin + TOGETHER])


_HISTORY, _FAMILY = COLUMNS.index("history"), COLUMNS.index("family")
_ELSEWHERE: Final = [_HISTORY, _FAMILY]
_SILENT: Final = ConfidenceNetwork(np.zeros((len(COLUMNS), 1)), np.zeros(1), np.zeros(1), 0.0)
"""Of an index that is read with before its second stage is fitted."""
_COMMON: Final = COLUMNS.index("common")
_EXPLAINED, _VERBATIM = COLUMNS.index("explained"), COLUMNS.index("verbatim")
_COUNTS: Final = np.array(COLUMNS) != "begun"
"""Columns that have a weight: whether a wording stops within a word only tells which regression speaks of it."""
_CHANCE, _PLAIN = COLUMNS.index("chance"), COLUMNS.index("plain")


class TextJudge:
    """Judge of the codes found for a generated mention."""

    def __init__(self, index: SearchIndex, accepted: Mapping[str, set[str]]) -> None:
        self._index, self._accepted = index, accepted
        self._elsewhere = Elsewhere(index.catalog, index.wordings)

    def is_right(self, said: WrittenMention | None, code: str, row: Vectors) -> bool | None:
        """None: the grammar does not know. What it only adds a year or a child to ("Mein Sohn hat") it still calls
        present; of what is over or of a relative the triggers know more. And whether a symptom is coded where search
        does not find the disease that explains it, nobody can say."""
        if said is not None and said.claim == "present" and row[_ELSEWHERE].any():
            return None
        if said is None or said.claim == "excluded":
            return False
        if said.code == NOT_CODED:
            return False if row[_EXPLAINED] else None
        codes = self._accepted.get(said.code, {said.code})
        if said.claim == "family":
            return code in self._moved(codes, self._elsewhere.family)
        if said.claim == "history":
            named = code not in HEALTH_FACTORS and row[_VERBATIM] and code not in codes
            return None if named else code in self._moved(codes, self._elsewhere.past)
        return code in codes

    def _moved(self, codes: set[str], target: Ints) -> set[str]:
        catalog = self._index.catalog
        numbers = {int(target[catalog.number(code)]) for code in codes}
        return {catalog.codes[number].code for number in numbers if number != NONE}


def confidence_for(
    index: SearchIndex, unseen: Sequence[tuple[str, int]], indexed: Sequence[tuple[str, int]]
) -> Confidence:
    """Fitted on what others wrote, and on texts of wordings (text, number of the code) that the index has not seen and
    of some that it has."""
    chance = np.random.default_rng(0)
    some = chance.choice(len(indexed), min(len(indexed), int(len(unseen) * (1 - UNSEEN) / UNSEEN)), replace=False)
    mixture = [*unseen, *(indexed[position] for position in some.tolist())]
    codes: dict[str, set[str]] = {}
    for text, number in (*unseen, *indexed):
        codes.setdefault(text.casefold(), set()).add(index.catalog.codes[number].code)
    accepted = {"|".join(sorted(own)): own for own in codes.values()}
    wordings = [(text, "|".join(sorted(codes[text.casefold()]))) for text, _ in mixture]
    reranker = reranker_of(compared(index, written_inputs()))
    index.confidence = unfitted(reranker)
    generated = examples(index, wordings, accepted, 0, min(TEXTS, len(mixture) // 2))
    fitted = replace(fit_confidence(generated, written_examples(index, written_inputs())), reranker=reranker)
    return with_begun(fitted, begun_examples(index, wordings, accepted, 0))


def refitted(index: SearchIndex, written: Sequence[WrittenInput], hidden: int, decay: float) -> Confidence | None:
    """The second stage of an index fitted anew on written inputs as it reads them: order of codes, network, bounds.
    What it says of wordings by themselves stays, for texts tell nothing of these. As it was where too few codes were
    found to fit one."""
    old = index.confidence
    reranker = reranker_of(compared(index, written)) or (None if old is None else old.reranker)
    index.confidence = unfitted(reranker)
    found = written_examples(index, written)
    index.confidence = old
    return None if old is None else fitted_on(old, found, reranker, (hidden, decay), old.experience)


def unfitted(reranker: Reranker | None) -> Confidence:
    """Of an index that is read with before its second stage is fitted."""
    return Confidence(_SILENT, TextThresholds(NEVER, NEVER, NEVER), reranker=reranker)


def joined(found: Sequence[FoundMentions]) -> FoundMentions:
    """Join the finds of several lots of texts, their parts apart."""
    behind = np.cumsum([0, *(int(one.part.max(initial=-1)) + 1 for one in found)])
    parts = [one.part + at for one, at in zip(found, behind.tolist(), strict=False)]
    rows, right, category = (np.concatenate([one[column] for one in found]) for column in range(3))
    said, told = tuple(own for one in found for own in one.said), tuple(own for one in found for own in one.told)
    return FoundMentions(rows, right, category, np.concatenate(parts), said, told)


def fitted_on(
    old: Confidence,
    found: FoundMentions,
    reranker: Reranker | None,
    shape: tuple[int, float] = (HIDDEN, DECAY),
    before: Experience | None = None,
) -> Confidence:
    """The same with network and bounds fitted anew on what was found, in this reranker's order, in texts that people
    wrote; as it was where that is too little. `shape`: hidden units and decay of weights; `before`: experience with
    other texts, which counts too."""
    if len(found.right) < WINDOW:
        return old
    found, experience = experienced(found, before or Experience())
    own, share = found.rows * _COUNTS, np.ones(len(found.right))
    network, bounds = _network(own, found.right, share, shape), _bounds(found, own, found.right, share, shape)
    return replace(old, network=network, bounds=bounds, reranker=reranker, experience=experience)


def begun_examples(
    index: SearchIndex, wordings: Sequence[tuple[str, str]], accepted: Mapping[str, set[str]], seed: int
) -> FoundMentions:
    """Search these wordings (text, key of its codes in `accepted`) as far as they have been typed, and judge the first
    codes: those that stop within a word, and whole ones that look so."""
    written = begun_queries(wordings, seed)
    read = zip(written, _first_codes(index, [text for text, _ in written]), strict=True)
    return _mentions(
        [
            (own, code in accepted[key], category_of(index, code))
            for (_, key), codes in read
            for _, _, code, own in codes
            if is_begun(own[None])[0]
        ]
    )


def with_begun(confidence: Confidence, found: FoundMentions) -> Confidence:
    """The same with a regression for wordings that stop within a word; as it was where too few of them, or none that
    is wrong, were found to fit one."""
    if len(found.right) < WINDOW or found.right.all() or not found.right.any():
        return confidence
    telling = np.isin(COLUMNS, TELLING)
    return replace(confidence, begun=Regression(*_regression(found.rows * telling, found.right)))


def fit_confidence(generated: FoundMentions, written: FoundMentions) -> Confidence:
    """The network over all examples, and the bounds of its bands.

    They are cut on the written ones, where there are enough, each with its probability by a network that has not seen
    the sets of its part; else on generated texts, with the categories left out in turn. Whether a wording stops within
    a word only tells which regression speaks of it (`begun`), so it has no weight here. Wordings by themselves, which
    are almost none of the written ones, are told by what was generated alone (`plain`), where a rare code is as common
    as any other.
    """
    written, experience = experienced(written, Experience())
    told, other = (written, generated) if len(written.right) >= WINDOW else (generated, written)
    rows = np.concatenate([told.rows, other.rows]) * _COUNTS
    right = np.concatenate([told.right, other.right])
    share = np.concatenate([np.full(len(one.right), GENERATED if one is generated else 1.0) for one in (told, other)])
    bounds = _bounds(told, rows, right, share)
    alike = _COUNTS & ~np.isin(COLUMNS, ("common", *OF_EXPERIENCE))
    plain = Regression(*_regression(generated.rows * alike, generated.right))
    return Confidence(_network(rows, right, share), bounds, plain=plain, experience=experience)


def _bounds(
    told: FoundMentions,
    rows: Vectors,
    right: NDArray[np.bool_],
    share: NDArray[np.float64],
    shape: tuple[int, float] = (HIDDEN, DECAY),
) -> TextThresholds:
    """The bounds of the bands, cut on `told`, the first of `rows`, each with its probability by a network that has not
    seen the sets of its part; wordings by themselves are not cut on."""
    blind = np.zeros(len(told.right), dtype=np.float32)
    for part in range(PARTS):
        left = np.flatnonzero(told.part % PARTS == part)
        some = np.setdiff1d(np.arange(len(rows)), left)
        if len(left):
            blind[left] = _network(rows[some], right[some], share[some], shape).probabilities(rows[left])
    texts = rows[: len(blind), _PLAIN] == 0
    return bounds_of(blind[texts], told.right[texts], told.category[texts])


def _network(
    rows: Vectors, right: NDArray[np.bool_], share: NDArray[np.float64], shape: tuple[int, float] = (HIDDEN, DECAY)
) -> ConfidenceNetwork:
    """The network on standardised columns, with the standardisation folded into its first layer. `share`: what each row
    counts; `shape`: hidden units and decay of weights. Deterministic."""
    mean, scale = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    hidden, decay = shape
    model = MLPClassifier((hidden,), alpha=decay, max_iter=ROUNDS, learning_rate_init=RATE, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it is stopped early on purpose
        model.fit((rows - mean) / scale, right, sample_weight=share)
    first, last = model.coefs_[0] / scale[:, None], model.coefs_[1][:, 0]
    first[rows.std(axis=0) == 0] = 0  # of what never differed nothing was learnt
    bias = model.intercepts_[0] - mean @ first
    return ConfidenceNetwork(
        first.astype(np.float64), bias.astype(np.float64), last.astype(np.float64), float(model.intercepts_[1][0])
    )


def _regression(rows: Vectors, right: NDArray[np.bool_]) -> tuple[NDArray[np.float64], float]:
    """Weights and bias, on standardised columns, with the standardisation folded into them."""
    mean, scale = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    model = LogisticRegression(C=STRENGTH, max_iter=1_000).fit((rows - mean) / scale, right)
    weights = model.coef_[0] / scale
    return weights.astype(np.float64), float(model.intercept_[0] - (weights * mean).sum())


def bounds_of(probability: Vectors, right: NDArray[np.bool_], category: Ints) -> TextThresholds:
    """The lowest probabilities around which codes are right often enough, not only on average above them.

    Going down in windows of WINDOW examples, a band goes on while the lower bound of the window's own precision keeps
    what the band promises. Mistakes of one category are one observation: the variance is that of the categories' sums.
    """
    order = np.argsort(-probability, kind="stable")
    bounds, width = [], min(WINDOW, len(order) // 3) or WINDOW
    for least in (HIGH_LEAST, MEDIUM_LEAST):
        bound = NEVER
        for at in range(0, len(order) - width + 1, STEP):
            window = order[at : at + width]
            if _lower(right[window], category[window]) < least:
                break
            bound = float(probability[window[width // 2]])
        bounds.append(bound)
    return TextThresholds(high=bounds[0], medium=bounds[1], best=min(BEST, bounds[1]))


def _lower(right: NDArray[np.bool_], category: Ints) -> float:
    """The lower end of the interval of a share, clustered by category."""
    share = float(right.mean())
    of = np.unique(category, return_inverse=True)[1]
    error = np.sqrt(np.square(np.bincount(of, right - share)).sum()) / len(right)
    return share - ONE_SIDED * float(error)


def _at(said: Sequence[WrittenMention], start: int, end: int) -> WrittenMention | None:
    """The mention that shares most with a span; None where none shares half of the shorter one."""
    best = max(said, key=lambda own: min(own.end, end) - max(own.start, start), default=None)
    if best is None:
        return None
    shared = min(best.end, end) - max(best.start, start)
    return best if shared >= 0.5 * min(end - start, best.end - best.start) else None


# --- the order of a mention's codes ----------------------------------------------------------------------------------


def reranker_of(found: Iterable[ComparedCodes]) -> Reranker | None:
    """Weights under which a right code of each mention is the likeliest among those compared; None where nothing is to
    be learnt."""
    if not (choices := list(found)):
        return None
    return Reranker.of(dict(zip(OF_HIT, conditional_logit(choices).round(3).tolist(), strict=True)))


def compared(index: SearchIndex, written: Sequence[WrittenInput]) -> Iterator[ComparedCodes]:
    """The compared codes of each mention that has right ones and wrong ones among them. Codes of the set that a text is
    of do not count for how common a code is."""
    known, common = commonness_without(index.catalog, {one.source for one in written}), OF_HIT.index("common")
    batches = [written[begin : begin + TOGETHER] for begin in range(0, len(written), TOGETHER)]
    for batch in progress(batches, "order of codes", "batches of texts read"):
        for one, (draft, found) in zip(batch, index.ranked_together([one.text for one in batch]), strict=True):
            _, hits = index.reader.chosen(draft, found)
            if draft.plain:
                continue
            rows, columns = columns_of_hits(draft, hits, index.wordings, index.kinds)
            columns[:, common] += known[one.source][hits.code[rows]]
            right = np.array([index.catalog.codes[code].code in one.right for code in hits.code[rows].tolist()])
            for first, last in pairwise([*run_starts(hits.part[rows]).tolist(), len(rows)]):
                if right[first:last].any() and not right[first:last].all():
                    yield ComparedCodes(columns[first:last].astype(np.float64), right[first:last])
