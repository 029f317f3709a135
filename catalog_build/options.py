"""Options of a build: one value between the command line and the build."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from catalog_build.synonyms import FOLDS
from clinical.errors import SettingError

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
