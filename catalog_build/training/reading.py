"""Train what reads texts, and nothing else: the finder of mentions, and the second stage of calibration.

Both are shipped beside an encoder and a ranking model that stay as they are. What the second stage is fitted on must be
new to index, encoder and ranking model; so it reads with an artifact that was built without a fold
(`build SOURCE --train --holdout FOLD --out ARTIFACT`), and the finder learns from the other folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from catalog_build.official import Source, Synonym
from catalog_build.own_synonyms import BEFUND, OWN
from catalog_build.synonyms import fold_of
from catalog_build.training.confidence import confidence_for
from catalog_build.training.finder import train_finder
from catalog_build.training.suggesting import suggester_of
from clinical.errors import SettingError
from clinical.reading import CONFIDENCE, FINDER, Confidence, Finder, SearchIndex


def train_reading(source: Source, texts: Sequence[Synonym], artifact: Path) -> tuple[Finder, Confidence]:
    """From these texts and an artifact that holds one of their folds out. Deterministic; about five minutes on two
    idle cores with the full catalog. Raises SettingError for an artifact that holds no fold out."""
    index = SearchIndex.load(artifact)
    fold = index.manifest.holdout
    if fold is None:
        remedy = "build one: python -m catalog_build build SOURCE --train --holdout 0 --out ARTIFACT"
        raise SettingError(f"{artifact} holds no fold out", "an artifact that has not seen every wording", remedy)
    finder = train_finder([(text.text, text.code) for text in texts if fold_of(text) != fold])
    return finder, confidence_with(source, texts, index, finder)


def confidence_with(source: Source, texts: Sequence[Synonym], index: SearchIndex, finder: Finder) -> Confidence:
    """The second stage, on what this index, which holds a fold out, finds in the spans of this finder."""
    fold, number = index.manifest.holdout, source.catalog.number
    reading = SearchIndex(
        *(index.catalog, index.wordings, index.encoder, index.ranker, index.manifest, index.expansion, index.typos),
        finder=finder,
        suggester=suggester_of(index.catalog, index.wordings, index.encoder),
    )
    kept = [text for text in texts if fold_of(text) != fold]
    known = {text.text for text in kept}
    unseen = [
        (text.text, number(text.code))
        for text in texts
        if text.source not in (BEFUND, OWN) and fold_of(text) == fold and text.text not in known
    ]
    indexed = [(text.text, number(text.code)) for text in kept if text.source != "title"]
    return confidence_for(reading, unseen, indexed)


def save(finder: Finder, confidence: Confidence, folder: Path) -> None:
    """Write both, readable for all, as the shipped weights are."""
    folder.mkdir(parents=True, exist_ok=True)
    finder.save(folder / FINDER)
    confidence.save(folder / CONFIDENCE)
    for name in (FINDER, CONFIDENCE):
        (folder / name).chmod(0o644)
