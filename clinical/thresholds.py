"""Every calibrated threshold in one file, `thresholds.json`: what it is, on what it was measured, and how it did there.

A section holds `values`; `data`: on what they were measured, with checksums; `metrics`: the result; `written_by`: the
notebook that measures, explains and writes it. The build and the services read the values, nothing else sets them, and
a test measures again and compares. The artifact's manifest keeps the confidence it was built with.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from clinical.errors import SettingError

VERSION: Final = 1
"""Of the format of the file."""
FILE: Final = Path(__file__).with_name("thresholds.json")
Name = Literal["confidence", "grounding", "reading"]
NOTEBOOKS: Final[Mapping[Name, str]] = {
    "confidence": "notebooks/04_confidence.ipynb",
    "grounding": "notebooks/07_grounding.ipynb",
    "reading": "notebooks/12_reading.ipynb",
}


NEVER: Final = 1.01
"""A threshold that no probability reaches: nothing keeps the precision."""


@dataclass(frozen=True, slots=True)
class ConfidenceThresholds:
    """Calibrated probability from which a code is `high`, and from which it is `medium`."""

    high: float
    medium: float


@dataclass(frozen=True, slots=True)
class TextThresholds(ConfidenceThresholds):
    """The same for the codes of a text; `best`: from where on its most probable code is `medium`, which is less, for
    who writes a text nearly always names something that has a code."""

    best: float


@dataclass(frozen=True, slots=True)
class GroundingThresholds:
    """Limits on the difference between a free-text value and the stretch of text that evidences it.

    `overlap`: least share of the value's plain words found in the stretch, 0..1 (contract, section 4, grounding rule
    3). `skip`: most tokens of the text left out at one place, so that `Fraktur [des linksseitigen distalen] Radius` is
    still one thing. `window`: a stretch has at most this many times the value's tokens, and `skip` more.
    """

    overlap: float
    skip: int
    window: int


@dataclass(frozen=True, slots=True)
class ReadingWeights:
    """Weights that decide which spans of a text explain it.

    The gain of a span of n content words is (p - `floor`) n ** `power` - `cost`, where p is `found` times the
    probability that it is a mention and the rest the probability of its best code: a long span that is nearly as
    probable as its parts wins, two that are surer than their union win against it. `least`: the probability of a
    mention from which a run of words is looked at. `beside`: the weight of what a short text finds as a whole, beside
    its mentions: proposals. `whole`: the probability from which a whole short text is one statement, where its mentions
    that are at least `likely` say no more (`MentionReader`). `stated`: the probability of the code of a stated week
    of pregnancy, for the rule is exact, and that the code is wanted is not.
    """

    found: float
    floor: float
    power: float
    cost: float
    least: float
    beside: float
    whole: float
    likely: float
    stated: float


Values = ConfidenceThresholds | GroundingThresholds | ReadingWeights
_KINDS: Final[Mapping[Name, type[Values]]] = {
    "confidence": ConfidenceThresholds,
    "grounding": GroundingThresholds,
    "reading": ReadingWeights,
}


@dataclass(frozen=True)
class ThresholdSection:
    """One section of the file; `data` and `metrics` are JSON trees."""

    values: Values
    data: Mapping[str, Any]
    metrics: Mapping[str, Any]
    written_by: str


def load_section(name: Name, path: Path = FILE) -> ThresholdSection:
    """Raises SettingError when the file is missing, of another version, or lacks the section or a field of it."""
    remedy = f"take thresholds.json of the release, or write it: {NOTEBOOKS[name]} with WRITE = True"
    tree = _tree(path, remedy)
    try:
        section = ThresholdSection(**tree[name])
        values = _KINDS[name](**tree[name]["values"])
    except (KeyError, TypeError) as error:
        found = f"the section {name} of {path.name} is missing or incomplete ({error})"
        raise SettingError(found, "values, data, metrics, written_by", remedy) from None
    return ThresholdSection(values, section.data, section.metrics, section.written_by)


def save_section(name: Name, section: ThresholdSection, path: Path = FILE) -> None:
    """Replace one section, in one step; the others stay."""
    tree = json.loads(path.read_text("utf-8")) if path.exists() else {"version": VERSION}
    tree[name] = asdict(section)
    beside = path.with_suffix(".new")
    text = json.dumps(tree, ensure_ascii=False, indent=2)
    beside.write_text(re.sub(r"\[\s+([\d.]+),\s+([\d.]+)\s+\]", r"[\1, \2]", text) + "\n", "utf-8")  # pairs on one line
    os.replace(beside, path)


@cache
def grounding_thresholds() -> GroundingThresholds:
    """Thresholds that every letter is grounded with; read once."""
    values = load_section("grounding").values
    assert isinstance(values, GroundingThresholds)  # noqa: S101 - `_KINDS` says so
    return values


@cache
def reading_weights() -> ReadingWeights:
    """Weights that every text is read with; read once."""
    values = load_section("reading").values
    assert isinstance(values, ReadingWeights)  # noqa: S101 - `_KINDS` says so
    return values


def _tree(path: Path, remedy: str) -> dict[str, Any]:
    try:
        tree = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise SettingError(f"there is no {path}", "the file of thresholds", remedy) from None
    except ValueError:
        raise SettingError(f"{path} is not JSON", "the file of thresholds", remedy) from None
    version = tree.get("version") if isinstance(tree, dict) else None
    if version != VERSION:
        raise SettingError(f"{path.name} has version {version}", f"version {VERSION}", remedy)
    return dict(tree)
