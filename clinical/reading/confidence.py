"""Probability that the first code of a mention, as served, is right: the second stage of calibration.

The ranking model's probability was calibrated on plain wordings. What is served is a maximum over rewritings, of a span
that was cut out of a text. A small network over what is known of the mention gives the probability that is shown; it is
fitted on texts that people wrote and coded, and on generated ones whose wordings search has never seen
(`catalog_build.training.confidence`). Wordings by themselves, of which people write few, have logistic regressions of
their own (Platt 2000, on several columns). The order of a mention's codes is the reranker's where there is one, else
that of the ranking model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from math import log, log1p
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from clinical.errors import ArtifactMismatch
from clinical.reading.alike import says
from clinical.reading.claim_stage import TextSpans
from clinical.reading.experience import OF_EXPERIENCE, Experience
from clinical.reading.kinds import CodeKinds
from clinical.reading.reranking import NEVER_SURE, Reranker, bounded
from clinical.search import REMEDY, Hits, Ints, Vectors, Wordings, json_of, lengths, require, run_starts
from clinical.text import folded_words
from clinical.thresholds import NEVER, TextThresholds

FORMAT: Final = "befund-confidence-3"
OF_MENTION: Final = (
    *("logit", "margin", "category", "chance", "words", "one_word", "verbatim", "unspecified", "symptom", "small"),
    *("suspected", "history", "family", "doubt"),
    *("uncovered", "unknown", "guessed", "everyday", "common", "unsaid", "label"),
    *OF_EXPERIENCE,
)
OF_TEXT: Final = (
    *("plain", "lower", "mentions", "length", "prose", "explained", "explained_in_prose", "verbatim_open"),
    *("logit_in_prose", "begun"),
)
COLUMNS: Final = (*OF_MENTION, *OF_TEXT)
"""Columns on a mention, and on the text around it. `prose`: the share of words in no mention, small in lists;
`explained`: a symptom beside a disease, which is coded alone (German coding guidelines D003); `uncovered`: the share
of characters in words that the code's wording has nothing like; `unknown`: in words that no wording has; `unsaid`:
the share of the wording's characters in words that neither the mention nor the part of the body beside it has
anything like ("Syndesmose", beside "Ruptur der Syndesmose"); `label`: a colon follows ("Schilddrüse: echoarm");
`guessed`: nothing but unknown words of at most GUESSED characters, from which a code can only be guessed ("QTc",
beside "OTC"); `everyday`: a code that texts speak of often (`clinical.icd.Code`); `common`: how common it is
(`clinical.search.Suggester`); `doubt`: the tagger's probability of another claim (`clinical.claims.Claim`); `begun`:
the text is a wording by itself that stops within a word, as a search field gets it ("Hypok")."""
_PLAIN, _BEGUN, _VERBATIM, _CHANCE, _DOUBT = map(COLUMNS.index, ("plain", "begun", "verbatim", "chance", "doubt"))
GUESSED: Final = 4
LIKELY: Final = 0.25
"""Probability of the ranking model from which a disease counts as named."""
_SURE: Final = 50.0
"""Logit from which a probability is 0 or 1."""


_LABEL: Final = re.compile(r"\s*:(?!\d)")


def columns(
    draft: TextSpans, hits: Hits, wordings: Wordings, traits: CodeKinds, experience: Experience
) -> tuple[Ints, Vectors]:
    """The row of `hits` (span by span, best first) that is each span's first, and its columns: (m,), (m, COLUMNS)."""
    first = run_starts(hits.part)
    own, runs = hits.at(first), pairwise([*first.tolist(), len(hits.part)])
    numbers, reading = own.part.tolist(), draft.reading
    spans = [draft.spans[number] for number in numbers]
    spelled = [draft.said[number] for number in numbers]
    text = _of_text(draft, [span.chance > 0 for span in spans], spelled, own, traits)
    kinds, every, prose = traits.category[hits.code], hits.probability.tolist(), text["prose"]
    found = []
    for number, said, code, wording, (start, end) in zip(
        numbers, spelled, own.code.tolist(), own.wording.tolist(), runs, strict=True
    ):
        span, claim = draft.spans[number], draft.assertions[number]
        chance = bounded(every[start])
        second = every[start + 1] if end > start + 1 else 0.0
        same = hits.probability[start:end][kinds[start:end] == kinds[start]]
        length, verbatim = max(1, _characters(said)), wordings.has_words(wording, said)
        worded = [] if verbatim else wordings.folded(wording)
        bare = [] if verbatim else _uncovered(said, worded)
        told = [*said, *folded_words(span.site, reading.folds)] if span.site else said
        strange = [word for word in said if word not in wordings.vocabulary and word.isalpha()]
        logit, unspecified, symptom = log(chance / (1 - chance)), bool(traits.unspecified[code]), traits.symptom[code]
        explained = float(symptom) * text["disease"]
        row = {
            "logit": logit,
            "margin": chance - second,
            "category": np.add.reduce(same),
            "chance": span.chance,
            "words": log1p(len(said)),
            "one_word": len(said) == 1,
            "verbatim": verbatim,
            "unspecified": unspecified,
            "symptom": symptom,
            "small": not span.part.noun,
            "suspected": claim == "suspected",
            "history": claim == "history",
            "family": claim == "family",
            "doubt": draft.claims[number].doubt,
            "uncovered": _characters(bare) / length,
            "unknown": _characters(strange) / length,
            "guessed": len(strange) == len(said) and all(len(word) <= GUESSED for word in strange),
            "everyday": traits.everyday[code],
            "common": traits.common[code],
            "label": _LABEL.match(reading.text, span.part.end) is not None,
            "unsaid": _characters(_uncovered(worded, told)) / max(1, _characters(worded)),
            **dict(zip(OF_EXPERIENCE, experience.columns(said, traits.names[code]), strict=True)),
            "plain": draft.plain,
            "lower": not span.part.noun or text["lower"],
            "mentions": text["mentions"],
            "length": text["length"],
            "prose": prose,
            "explained": explained,
            "explained_in_prose": explained * prose,
            "verbatim_open": verbatim and unspecified,
            "logit_in_prose": logit * prose,
            "begun": draft.begun,
        }
        found.append([row[name] for name in COLUMNS])
    return first, np.array(found, dtype=np.float32).reshape(-1, len(COLUMNS))


def _of_text(
    draft: TextSpans, real: Sequence[bool], spelled: Sequence[Sequence[str]], first: Hits, traits: CodeKinds
) -> dict[str, float]:
    """Facts on the text: number of mentions, share of words in none of them, presence of a disease among them, its
    length, and whether it has no capital.

    `real`: which spans are mentions; `spelled`: their words; `first`: the first hit of each.
    """
    named = sum(len(own) for own, counts in zip(spelled, real, strict=True) if counts)
    likely = zip(real, first.code.tolist(), first.probability.tolist(), strict=True)
    disease = any(counts and chance >= LIKELY and not traits.symptom[code] for counts, code, chance in likely)
    share, text = 1 - named / max(1, len(draft.reading)), draft.reading.text
    return {
        "mentions": log1p(sum(real)),
        "prose": min(max(share, 0.0), 1.0),
        "disease": float(disease),
        "length": log1p(len(text)),
        "lower": text.islower(),
    }


def _uncovered(spelled: Sequence[str], worded: Sequence[str]) -> list[str]:
    """The words of the first that the second has nothing like."""
    return [word for word in spelled if not says(worded, word)]


def _characters(some: Iterable[str]) -> int:
    return sum(map(len, some))


class Regression(NamedTuple):
    """A logistic regression over COLUMNS."""

    weights: NDArray[np.float64]  # (F,)
    bias: float

    def probabilities(self, rows: Vectors) -> Vectors:
        """Of each row, that its code is right: shape (m,)."""
        logits = np.minimum(np.maximum(rows @ self.weights + self.bias, -_SURE), _SURE)
        return (1 / (1 + np.exp(-logits))).astype(np.float32)


class ConfidenceNetwork(NamedTuple):
    """A network with one hidden layer over COLUMNS; H: its width."""

    first: NDArray[np.float64]  # (F, H)
    first_bias: NDArray[np.float64]  # (H,)
    last: NDArray[np.float64]  # (H,)
    bias: float

    def probabilities(self, rows: Vectors) -> Vectors:
        """Of each row, that its code is right: shape (m,). None is surer than the claim under which it is given."""
        hidden = np.maximum(rows @ self.first + self.first_bias, 0)
        return np.minimum(Regression(self.last, self.bias).probabilities(hidden), 1 - rows[:, _DOUBT])


@dataclass(frozen=True)
class Confidence:
    """A network over COLUMNS; the probabilities from which a code of a text, not of a wording by itself, is `high` and
    `medium`. Wordings by themselves are told by regressions of their own: `plain`, of those that some wording has word
    for word, and `begun`, of those that stop within a word. Where `plain` is missing the network speaks of these too;
    where `begun` is, they keep the ranking model's probability, as other new wordings do. `reranker`: the order of a
    mention's codes that all this was fitted on; None: search's own. `experience`: how often codes were right."""

    network: ConfidenceNetwork
    bounds: TextThresholds
    begun: Regression | None = None
    plain: Regression | None = None
    reranker: Reranker | None = None
    experience: Experience = field(default_factory=Experience)

    def served(self, hits: Hits, first: Ints, rows: Vectors) -> Hits:
        """The hits with the probability that is shown: of each span's first code this one, of the others as much less
        as they were less probable, and in a text no more than the first leaves, for one mention has one code."""
        if not len(first):
            return hits
        own, plain, settled = hits.probability[first], rows[:, _PLAIN] == 1, _settled(rows)
        if settled.all():
            shown = own
        elif self.plain is None:
            shown = np.where(settled, own, self.network.probabilities(rows))
        elif plain.all():
            shown = np.where(settled, own, self.plain.probabilities(rows))
        else:
            shown = self.network.probabilities(rows)
            if plain.any():
                shown = np.where(plain, self.plain.probabilities(rows), shown)
            shown = np.where(settled, own, shown)
        if self.begun is not None and (begun := is_begun(rows)).any():
            shown = np.where(begun, self.begun.probabilities(rows), shown)
        sizes, top = lengths(first, len(hits.part)), np.maximum(own, np.float32(NEVER_SURE))
        served = np.minimum(hits.probability / np.repeat(top, sizes), 1) * np.repeat(shown, sizes)
        rival = np.repeat(np.where(plain, np.float32(1), 1 - shown), sizes)
        rival[first] = 1
        return hits._replace(probability=np.minimum(served, rival))

    def save(self, path: Path) -> None:
        """Write one JSON object."""
        net = self.network
        tree = {"format": FORMAT, "columns": COLUMNS, "first": net.first.tolist(), "bias": net.bias}
        tree |= {"first_bias": net.first_bias.tolist(), "last": net.last.tolist(), "bounds": asdict(self.bounds)}
        for name, own in (("begun", self.begun), ("plain", self.plain)):
            if own is not None:
                tree |= {name: {"weights": own.weights.tolist(), "bias": own.bias}}
        if self.reranker is not None:
            tree |= {"reranker": self.reranker.named}
        tree |= {"experience": list(self.experience.lines())}
        path.write_bytes(orjson.dumps(tree, option=orjson.OPT_INDENT_2))

    @classmethod
    def load(cls, path: Path) -> Confidence:
        """Read what `save` wrote; a column that it was fitted without has no weight. Raises ArtifactMismatch when it
        was fitted on columns that are not known here."""
        tree = json_of(path)
        require(isinstance(tree, dict), f"{path.name} is of another form", "an object")
        if tree.get("format") != FORMAT or not set(tree.get("columns", ())) <= set(COLUMNS):
            remedy = "train it again: python -m catalog_build train SOURCE --out FOLDER"
            raise ArtifactMismatch(f"{path.name} was fitted on other columns", ", ".join(COLUMNS), remedy)
        try:
            names = tree["columns"]
            begun, plain = (_regression(names, tree[n]) if n in tree else None for n in ("begun", "plain"))
            bounds = TextThresholds(**tree["bounds"])
            shares = all(0 <= share <= NEVER for share in (bounds.best, bounds.medium, bounds.high))
            require(shares, f"the bounds of {path.name} are no shares", f"numbers from 0 to 1, {NEVER} for never")
            reranker = Reranker.of(tree["reranker"]) if "reranker" in tree else None
            experience = Experience.of_lines(tree.get("experience", ()))
            return cls(_network(names, tree), bounds, begun, plain, reranker, experience)
        except (KeyError, TypeError, ValueError) as error:
            found = f"{path.name} is of another form ({type(error).__name__})"
            raise ArtifactMismatch(found, "weights and bounds", REMEDY) from None


def _network(names: Sequence[str], tree: Mapping[str, Any]) -> ConfidenceNetwork:
    """`first` has a row for each of these columns; a column without a row has no weight. Raises ValueError for layers
    that do not fit together."""
    bias, last = np.array(tree["first_bias"], dtype=np.float64), np.array(tree["last"], dtype=np.float64)
    first = np.zeros((len(COLUMNS), len(bias)))
    first[[COLUMNS.index(name) for name in names]] = np.array(tree["first"], dtype=np.float64).reshape(-1, len(bias))
    if bias.shape != last.shape:
        raise ValueError(f"{len(bias)} and {len(last)} hidden units")
    return ConfidenceNetwork(first, bias, last, float(tree["bias"]))


def _regression(names: Sequence[str], tree: Mapping[str, Any]) -> Regression:
    """`weights` by these names, and `bias`; a column without a name has no weight."""
    known = dict(zip(names, tree["weights"], strict=True))
    return Regression(np.array([known.get(name, 0.0) for name in COLUMNS]), float(tree["bias"]))


def is_begun(rows: Vectors) -> NDArray[np.bool_]:
    """Rows of wordings that stop within a word, and that no wording has word for word."""
    begun: NDArray[np.bool_] = (rows[:, _BEGUN] == 1) & (rows[:, _VERBATIM] == 0)
    return begun


def _settled(rows: Vectors) -> NDArray[np.bool_]:
    """Rows whose probability stays: of wordings by themselves that are new to the index, which is what the ranking
    model's own calibration was fitted on; and of the whole of a short text, a proposal that is never shown."""
    settled: NDArray[np.bool_] = (rows[:, _CHANCE] == 0) | ((rows[:, _PLAIN] == 1) & (rows[:, _VERBATIM] == 0))
    return settled
