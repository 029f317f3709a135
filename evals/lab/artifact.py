"""The material of a notebook: an artifact, the official files it was made from, and queries to ask it.

Every notebook opens a `Lab` in its second cell. Without arguments it is the artifact that `make up` and `make lab`
build, so that a notebook runs wherever it is opened; `python -m evals notebooks` names others.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from catalog_build.official import Source, Synonym, read_source
from catalog_build.own_synonyms import STARTER, heard, own_texts
from catalog_build.synonyms import all_texts, fold_of
from clinical.errors import SettingError
from clinical.reading import SearchIndex
from clinical.search import Manifest
from evals.coding.heldout import held_out, reindexed
from evals.data.cards import Dataset, read_dataset
from evals.data.examples import Example

ROOT: Final = Path(__file__).resolve().parents[2]
FOLD: Final = 0
"""The fold that is asked where no artifact with a fold held out is named."""
QUERY_FILES: Final = ("queries.tsv", "queries.jsonl")
"""File names for the queries with their right codes in a folder of own data."""


@dataclass(frozen=True)
class Unseen:
    """Queries that are not in the index. `honest`: the weights have not seen them either, so the figures are real.
    `own`: the name of own data that is asked instead, whatever of it stands in the index."""

    index: SearchIndex
    examples: list[Example]
    honest: bool
    own: str = ""

    @property
    def caution(self) -> str:
        """The caveat to print beside every figure of these queries; empty where they are unseen."""
        if self.own:
            known = {self.index.wordings.text(number) for number in range(len(self.index.wordings))}
            verbatim = sum(example.query in known for example in self.examples)
            return f"Asked is {self.own}; {verbatim} of {len(self.examples)} queries stand in the index as they are."
        if self.honest:
            return ""
        return (
            "The weights have seen these queries in training, only the index has not: the figures are too good, "
            "and only comparisons within this notebook mean something. With an artifact built by "
            "`--train --holdout 0` as HOLDOUT they are true."
        )


@dataclass(frozen=True)
class Lab:
    """`source`, `holdout`: None where not named or not known; `earlier`: sources of earlier years; `data`: a file of
    own queries with their codes, or a folder with own data.

    Paths that are not absolute are below the project's folder: a notebook's own folder depends on who runs it.
    """

    catalog: Path
    source_path: Path | None
    holdout: Path | None
    earlier_paths: tuple[Path, ...] = ()
    data_path: Path | None = None

    @classmethod
    def open(cls, catalog: str = "", source: str = "", holdout: str = "", earlier: str = "", data: str = "") -> Lab:
        """Empty arguments are taken from BEFUND_NOTEBOOK_CATALOG, ..._SOURCE, ..._HOLDOUT, ..._EARLIER and ..._DATA.

        Failing these, `catalog` is BEFUND_CATALOG or `var/catalog`, and `source` the starter catalog where the
        artifact was made from it. `earlier`: folders or zips, with the system's path separator between them.
        Raises ArtifactMissing or ArtifactMismatch when the index is first used.
        """
        named = catalog or _setting("CATALOG") or os.environ.get("BEFUND_CATALOG") or "var/catalog"
        years = (earlier or _setting("EARLIER")).split(os.pathsep)
        return cls(
            ROOT / named,
            _path(source or _setting("SOURCE")),
            _path(holdout or _setting("HOLDOUT")),
            tuple(ROOT / year for year in years if year),
            _path(data or _setting("DATA")),
        )

    @cached_property
    def index(self) -> SearchIndex:
        """The artifact, loaded once."""
        return SearchIndex.load(self.catalog)

    @cached_property
    def manifest(self) -> Manifest:
        """The artifact's manifest."""
        return Manifest.load(self.catalog)

    @cached_property
    def data(self) -> Dataset | None:
        """Own queries with their codes: the file named, or `queries.tsv` (`.jsonl`) of the folder; None without one.

        Raises SourceError for a file that cannot be read as such.
        """
        if self.data_path is None:
            return None
        files = [self.data_path / name for name in QUERY_FILES] if self.data_path.is_dir() else [self.data_path]
        found = [file for file in files if file.is_file() or file == self.data_path]
        return read_dataset(found[0]) if found else None

    @cached_property
    def starter(self) -> bool:
        """True when the artifact was made from the starter catalog."""
        return self.manifest.sources == read_source(STARTER).files

    @cached_property
    def source(self) -> Source | None:
        """The files that the artifact was made from; None where they are not at hand.

        Raises SettingError for files of which the artifact was not made.
        """
        path = self.source_path or (STARTER if self.starter else None)
        if path is None:
            return None
        source = read_source(path)
        if source.files != self.manifest.sources:
            found = f"the files in {path.name} are not those that the artifact was made from"
            raise SettingError(found, ", ".join(self.manifest.sources), "name their folder or zip as SOURCE")
        return source

    @cached_property
    def texts(self) -> tuple[Synonym, ...]:
        """Every wording that a build indexes, with its code and where it is from; empty without a source."""
        if self.source is None:
            return ()
        official = all_texts(self.source)
        return heard(official, self.source.catalog) + own_texts(self.source, official)

    @cached_property
    def earlier(self) -> tuple[Source, ...]:
        """The sources of earlier years, oldest first."""
        return tuple(sorted((read_source(path) for path in self.earlier_paths), key=lambda source: source.year))

    @cached_property
    def unseen(self) -> Unseen:
        """Own queries where DATA names some; else synonyms of one fold with an index that does not hold them.

        Raises SettingError without data and without a source.
        """
        if self.data is not None:
            return Unseen(self.index, self.data.examples, honest=True, own=str(self.data.about["name"]))
        source = self._needed_source()
        if self.holdout is None:
            return Unseen(self.index_without({FOLD}), held_out(source, FOLD), honest=False)
        index = SearchIndex.load(self.holdout)
        fold = index.manifest.holdout
        if fold is None:
            remedy = "build one: python -m catalog_build build SOURCE --out DIR --train --holdout 0"
            raise SettingError("the artifact of HOLDOUT holds no fold out", "one that does", remedy)
        return Unseen(index, held_out(source, fold), honest=True)

    def index_without(self, folds: Collection[int]) -> SearchIndex:
        """An index without the synonyms of some folds (0 to 19), with the weights of HOLDOUT where it is named."""
        source = self._needed_source()
        whole = SearchIndex.load(self.holdout) if self.holdout else self.index
        kept = [text for text in self.texts if fold_of(text) not in folds]
        return reindexed(whole, source, kept, whole.catalog, whole.encoder)

    @property
    def about(self) -> dict[str, str | int]:
        """Description of the artifact and data that this notebook's figures were measured on."""
        manifest, data = self.manifest, self.data
        return {
            "catalog": "the starter catalog" if self.starter else f"ICD-10-GM {manifest.year}",
            "codes": manifest.codes,
            "wordings in the index": manifest.wordings,
            "encoder": manifest.encoder,
            "artifact": manifest.digest[:12],
            "official files": "at hand" if self.source else "not at hand: name their folder as SOURCE",
            "fold held out": "yes" if self.holdout else "no: name an artifact built with --holdout as HOLDOUT",
            "own data": f"{data.about['name']}, {len(data.examples)} queries" if data else "none: name it as DATA",
        }

    def _needed_source(self) -> Source:
        if self.source is None:
            expected = "the files that the artifact was made from"
            raise SettingError("the official files are not at hand", expected, "name their folder or zip as SOURCE")
        return self.source


def _setting(name: str) -> str:
    return os.environ.get(f"BEFUND_NOTEBOOK_{name}", "")


def _path(text: str) -> Path | None:
    return ROOT / text if text else None
