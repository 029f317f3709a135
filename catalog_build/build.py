"""From a source to a finished artifact: read, check, train or take the weights, index, save, rename into place."""

from __future__ import annotations

import datetime
import secrets
import shutil
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from catalog_build.checks import check, counts, previous_counts
from catalog_build.official import Source, Synonym, read_source
from catalog_build.own_synonyms import (
    AUTHORS,
    BEFUND,
    NOT_LEARNED,
    OWN,
    PRACTICE,
    heard,
    own_texts,
    references,
    replacements,
    save_authored,
    with_everyday,
)
from catalog_build.synonyms import FOLDS, all_texts, fold_of, with_pairs
from catalog_build.training.calibration import CALIBRATION, Calibration, choose, silent_bands
from catalog_build.training.finetuning import Remembered
from catalog_build.training.suggesting import suggester_of
from catalog_build.vocabulary import Layers, layered
from clinical.errors import SettingError
from clinical.progress import note
from clinical.reading import CONFIDENCE, Confidence, SearchIndex
from clinical.search import (
    Encoder,
    Expansion,
    Manifest,
    Ranker,
    Scorer,
    StaticEncoder,
    TransformerEncoder,
    Wordings,
    answers_of,
    checksum,
    traits_of,
)
from clinical.thresholds import NOTEBOOKS, ConfidenceThresholds, load_section

WEIGHTS: Final = Path(__file__).parent / "weights"
"""The shipped weights, made by `train`: encoder and ranker (safetensors), and the calibration of both."""
FEWEST_QUERIES: Final = 20
"""Held-out synonyms below which nothing can be learnt about ranking."""
CALIBRATION_FOLDS: Final = 2
"""Folds that encoder and index do not see while the ranking model is trained: about 8,500 queries."""
ABANDONED_SECONDS: Final = 24 * 3_600
"""Age at which an unfinished folder beside the artifact counts as abandoned: a build with training takes minutes."""
FITTED: Final = ("claims", "confidence")
"""Parts of the reading that own texts train further."""


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """Options of a build, as the command line gives them. `encoder`: None is the shipped weights, else the folder of a
    sentence-transformers model; `train`: train own weights from this source first; `holdout`: build, and train, without
    this fold; `previous`: folder of the artifact whose counts are compared; `official_only`: without Befund's own
    synonyms; `synonyms`: files of own ones, later ones on top, `over_official`: also over official synonyms
    (`catalog_build.vocabulary`). Raises SettingError for options that contradict each other."""

    encoder: str | None = None
    train: bool = False
    holdout: int | None = None
    previous: Path | None = None
    official_only: bool = False
    synonyms: tuple[Path, ...] = ()
    over_official: bool = False

    def __post_init__(self) -> None:
        if self.holdout is not None and not 0 <= self.holdout < FOLDS:
            raise SettingError(f"there is no fold {self.holdout}", f"0 to {FOLDS - 1}", "name another fold")
        if self.holdout is not None and not self.train:
            found = "--holdout without --train: the shipped weights have seen every fold"
            raise SettingError(found, "weights that have not seen the fold", "add --train")
        if self.over_official and not self.synonyms:
            raise SettingError("--over-official without --synonyms", "a file of synonyms", "name it with --synonyms")
        if self.train and self.encoder is not None:
            found = "--train with --encoder: training makes the encoder"
            raise SettingError(found, "one of them", "leave one of them out")


@dataclass(frozen=True)
class Weights:
    """Trained weights that a build uses. `calibration`: how both did on queries they had not seen; the thresholds are
    cut on it."""

    encoder: Encoder
    ranker: Ranker
    thresholds: ConfidenceThresholds
    calibration: Calibration | None = None
    confidence: Confidence | None = None

    def save(self, folder: Path) -> None:
        """Write the shipped weights, without their thresholds; only a static encoder can be shipped."""
        assert isinstance(self.encoder, StaticEncoder)  # noqa: S101 - train makes no other
        folder.mkdir(parents=True, exist_ok=True)
        self.encoder.save(folder / "encoder.safetensors")
        self.ranker.save(folder / "ranker.safetensors")
        if self.calibration is not None:
            self.calibration.save(folder / CALIBRATION)
        if self.confidence is not None:
            self.confidence.save(folder / CONFIDENCE)
        for path in folder.iterdir():
            path.chmod(0o644)

    @classmethod
    def load(cls, folder: Path = WEIGHTS) -> Weights:
        """The shipped weights, or those that `train` wrote elsewhere. Raises SettingError, see `thresholds_of`."""
        thresholds = thresholds_of(folder)
        encoder, ranker = (folder / f"{name}.safetensors" for name in ("encoder", "ranker"))
        return cls(StaticEncoder.load(encoder), Ranker.load(ranker), thresholds, confidence=confidence_of(folder))


def confidence_of(folder: Path) -> Confidence | None:
    """The second stage of calibration beside the weights; None where none was fitted for them."""
    return Confidence.load(folder / CONFIDENCE) if (folder / CONFIDENCE).is_file() else None


def weights_digest(folder: Path) -> dict[str, str]:
    """SHA-256 of the weights that thresholds are cut for."""
    return {name: checksum(folder / f"{name}.safetensors") for name in ("encoder", "ranker")}


def thresholds_of(folder: Path) -> ConfidenceThresholds:
    """Those of `clinical/thresholds.json` if it was written for these weights; else, with a warning, those that their
    own calibration gives. Raises SettingError where there is none: probabilities of other weights mean other things."""
    section = load_section("confidence")
    if weights_digest(folder).items() <= section.data.items():
        assert isinstance(section.values, ConfidenceThresholds)  # noqa: S101 - the section's name says so
        return section.values
    found = f"clinical/thresholds.json was written for other weights than those in {folder}"
    remedy = f"run {NOTEBOOKS['confidence']} with WRITE = True"
    if not (folder / CALIBRATION).is_file():
        raise SettingError(found, f"{CALIBRATION} beside them", f"train them again, then {remedy}")
    warnings.warn(f"{found}; theirs are cut from their own calibration; to keep them, {remedy}", stacklevel=2)
    calibration = Calibration.load(folder / CALIBRATION)
    return choose(calibration.probability, calibration.right)[0]


def build_artifact(source_path: Path, out: Path, options: BuildOptions) -> Manifest:
    """Build beside `out` and rename into place: a failed or killed build leaves what was there untouched.

    Raises SourceError, CheckFailed or SettingError.
    """
    source = with_everyday(read_source(source_path))
    out = _restored(out.resolve())
    with folder_beside(out) as folder:
        made = folder / "artifact"
        made.mkdir()
        _make(source, made, options)
        put_in_place(made, out)
    return Manifest.load(out)


@contextmanager
def folder_beside(out: Path) -> Iterator[Path]:
    """A folder that goes when the block ends. `tempfile.TemporaryDirectory` notes its folder only after it has made it:
    a Ctrl-C between the two leaves it there."""
    folder = out.parent / f".{out.name}-{secrets.token_hex(4)}"
    try:
        folder.mkdir(mode=0o700)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _make(source: Source, made: Path, options: BuildOptions) -> None:
    """Everything an artifact holds, into the folder `made`."""
    texts = all_texts(source)
    before = previous_counts(options.previous) if options.previous else None
    note(f"ICD-10-GM {source.year} read: {len(source.catalog):,} codes; checking {len(texts):,} wordings")
    report = check(source, texts, docs=made / "checks", previous=before)
    layers = _layers(source, texts, options)
    layers.save(made)
    texts = layers.texts
    kept = [text for text in texts if options.holdout is None or fold_of(text) != options.holdout]
    save_authored(kept, made)
    weights = _weights(source, texts, options)
    note(f"indexing {len(kept):,} wordings with {weights.encoder.name}")
    wordings = index_wordings(source, kept, weights.encoder)
    manifest = _manifest(source, weights, len(wordings), options, asdict(report), layers.about)
    served = weights.encoder.encoder if isinstance(weights.encoder, Remembered) else weights.encoder
    catalog = with_pairs(source.catalog, (text for text in kept if text.secondary))
    expansion = Expansion.of(replacements(references(source, options.holdout)))
    parts = (catalog, wordings, served, weights.ranker, manifest, expansion)
    begun = suggester_of(catalog, wordings, served)
    note("searching what every wording and word of the catalog finds")
    answers = answers_of(Scorer(wordings, traits_of(catalog, wordings), weights.ranker, served))
    index = SearchIndex(*parts, confidence=weights.confidence, suggester=begun, answers=answers)
    note("writing the artifact")
    index.save(made)


def _layers(source: Source, texts: Sequence[Synonym], options: BuildOptions) -> Layers:
    own: Sequence[Synonym] = ()
    if not options.official_only:
        texts, own = heard(texts, source.catalog), own_texts(source, texts, options.holdout)
    return layered(texts, own, options.synonyms, source.catalog, options.over_official)


def _manifest(
    source: Source,
    weights: Weights,
    wordings: int,
    options: BuildOptions,
    checks: dict[str, Any],
    layers: tuple[Mapping[str, Any], ...] = (),
) -> Manifest:
    now = counts(source)
    return Manifest(
        year=source.year,
        codes=now["codes"],
        terminal_codes=now["terminal_codes"],
        synonyms=now["synonyms"],
        wordings=wordings,
        encoder=weights.encoder.name,
        thresholds=weights.thresholds,
        built_at=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        holdout=options.holdout,
        missing=source.missing,
        sources=source.files,
        checks=checks,
        layers=layers,
    )


def index_wordings(source: Source, texts: Sequence[Synonym], encoder: Encoder) -> Wordings:
    """The wordings of the texts, in the order of the catalog."""
    number = source.catalog.number
    ordered = sorted(texts, key=lambda text: (number(text.code), text.source != "title"))
    return Wordings.build(
        [text.text for text in ordered],
        [number(text.code) for text in ordered],
        [text.source == "title" for text in ordered],
        encoder,
    )


def train_weights(source: Source, texts: Sequence[Synonym], holdout: int | None) -> Weights:
    """Encoder and ranking model from these texts, never from the fold `holdout`.

    Two encoders are trained: one that has not seen the calibration folds, for the ranking model to learn on what is
    new to encoder and index; then the one to keep, from all texts but the held-out fold.
    """
    from catalog_build.training.encoder import train_encoder

    known = references(source, holdout)
    unseen = calibration_folds(holdout)

    def encoder_of(without: set[int | None]) -> StaticEncoder:
        some = [text for text in texts if text.source not in NOT_LEARNED]
        kept = [text for text in some if fold_of(text) is None or fold_of(text) not in without]
        return train_encoder([text.text for text in kept], [text.code for text in kept], known)

    first = encoder_of({*unseen, holdout})
    fitted = _fit(source, texts, first, holdout)
    return replace(fitted, encoder=encoder_of({holdout}))


def calibration_folds(holdout: int | None) -> tuple[int, ...]:
    """The folds behind the held-out one; 1 and 2 where none is held out, so that fold 0 stays comparable."""
    return tuple(((holdout or 0) + step) % FOLDS for step in range(1, CALIBRATION_FOLDS + 1))


def _weights(source: Source, texts: Sequence[Synonym], options: BuildOptions) -> Weights:
    if options.train:
        note("training encoder, ranking model and confidence: several minutes with the full catalog")
        return train_weights(source, texts, options.holdout)
    if options.encoder is None:
        return Weights.load()
    encoder = Remembered(TransformerEncoder(Path(options.encoder)))  # has seen no text: only the ranker is fitted
    note(f"fitting the ranking model and the confidence to {encoder.name}")
    return _fit(source, texts, encoder, options.holdout)


def _fit(source: Source, texts: Sequence[Synonym], encoder: Encoder, holdout: int | None) -> Weights:
    """A ranking model, thresholds and the second stage of calibration for this encoder, from the calibration folds."""
    from catalog_build.training.augmentation import Augmenter
    from catalog_build.training.confidence import confidence_for
    from catalog_build.training.ranker import calibration_queries, examples, fit_ranker

    unseen = calibration_folds(holdout)
    left_out = {*unseen, holdout}
    # The second stage is fitted on the authors' texts: it must not find their words in the index.
    kept = [
        text for text in texts if text.source != AUTHORS and (fold_of(text) is None or fold_of(text) not in left_out)
    ]
    note(f"indexing {len(kept):,} wordings with {encoder.name}, without those to calibrate on")
    wordings = index_wordings(source, kept, encoder)
    number = source.catalog.number
    known = {text.text for text in kept}
    held_out = [
        (text.text, number(text.code))
        for text in texts
        if text.source not in (BEFUND, PRACTICE, AUTHORS, OWN) and fold_of(text) in unseen and text.text not in known
    ]
    if len(held_out) < FEWEST_QUERIES:
        found = f"the folds {unseen} hold {len(held_out)} synonyms to calibrate on"
        remedy = "add the Alpha-ID-SE file of the year, or build with the shipped weights (without --train)"
        raise SettingError(found, f"at least {FEWEST_QUERIES}", remedy)
    indexed = [(text.text, number(text.code)) for text in kept if text.source != "title"]
    augmenter = Augmenter(0, references(source, holdout))
    queries = calibration_queries(held_out, indexed, augmenter, seed=0)
    note(f"searching {len(queries):,} queries for the ranking model to learn on")
    if isinstance(encoder, Remembered):
        encoder.ahead(text for text, _, _ in queries)
    ranker, calibration = fit_ranker(examples(queries, encoder, wordings, traits_of(source.catalog, wordings)))
    thresholds, _ = choose(calibration.probability, calibration.right)
    right = float(calibration.right.mean())
    note(f"ranking model fitted: of {len(calibration.right):,} unseen wordings the first code is right for {right:.1%}")
    if warning := silent_bands(thresholds):
        note(warning)
    weights = Weights(encoder, ranker, thresholds, calibration)
    manifest = _manifest(source, weights, len(wordings), BuildOptions(), {})
    expansion = Expansion.of(replacements(references(source, holdout)))
    begun = suggester_of(source.catalog, wordings, encoder)
    index = SearchIndex(source.catalog, wordings, encoder, ranker, manifest, expansion, suggester=begun)
    note("fitting the confidence in codes of texts: reading what people wrote, then texts of our own grammar")
    confidence = confidence_for(index, held_out, indexed)
    if warning := silent_bands(confidence.bounds, "in texts"):
        note(warning)
    return replace(weights, confidence=confidence)


def _restored(out: Path) -> Path:
    """The place of the artifact. What a build killed between its two renames left aside is put back first; the
    unfinished folder of one that was killed before is removed once no build can still be at work in it."""
    out.parent.mkdir(parents=True, exist_ok=True)
    old = out.with_name(f".{out.name}-old")
    if old.exists() and not out.exists():
        old.rename(out)
    for left in out.parent.glob(f".{out.name}-*"):
        if left != old and left.stat().st_mtime < time.time() - ABANDONED_SECONDS:
            shutil.rmtree(left, ignore_errors=True)
    return out


def put_in_place(made: Path, out: Path) -> None:
    """Put the finished folder in place; the old one goes only when the new one stands."""
    for path in made.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)  # some writers make private files; workers may be other users
    old = out.with_name(f".{out.name}-old")
    if out.exists():
        shutil.rmtree(old, ignore_errors=True)
        out.rename(old)
    made.rename(out)
    shutil.rmtree(old, ignore_errors=True)
