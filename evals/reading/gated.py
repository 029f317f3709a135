"""What the gate keeps of reading: what labels cover and are worth by kind of text, mentions, claims; what is a drop.

The texts are generated from the wordings of the catalog that is measured, so a result says by what artifact it was
made, and one of other wordings is compared all the same: the intervals of the kept one say what chance allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from clinical.search import SearchIndex
from evals.reading.bands import LEVELS, bands
from evals.reading.generated import found_in, generated
from evals.reports.intervals import Measure, share
from evals.reports.results import provenance

TEXTS, SEED = 150, 2026
SHARES: Final = (("exact", "said"), ("claims_right", "claims"))


def measured(index: SearchIndex) -> dict[str, Any]:
    """A result of the kind `reading`."""
    texts = generated(index, TEXTS, SEED)
    counts = {name: dict(own) for name, own in sorted(found_in(index, texts).items())}
    result = {"labels": bands(index, texts), "mentions": counts, "texts": TEXTS, "seed": SEED}
    return result | {"manifest": index.manifest.digest} | provenance("reading")


def drops_of(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What is below the 95 % interval that was kept, one sentence each."""
    return [
        f"reading: {name} {now:.3f}, {kept[0]:.3f} ({kept[1]:.3f}-{kept[2]:.3f}) before"
        for name, kept, now in _pairs(before, after)
        if now < kept[1]
    ]


def _pairs(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[tuple[str, Measure, float]]:
    """Name, kept measure, and value now, of what both have."""
    for kind, kept in before["labels"].items():
        now = after["labels"].get(kind)
        if now is None:
            continue
        if kept["coverage"] and now["coverage"]:
            yield f"{kind}: stated and shown", kept["coverage"], now["coverage"][0]
        for level in LEVELS:
            if kept[level]["precision"] and now[level]["precision"]:
                yield f"{kind}: precision of {level}", kept[level]["precision"], now[level]["precision"][0]
    for name, kept in before["mentions"].items():
        now = after["mentions"].get(name, {})
        for part, whole in SHARES:
            interval = share(kept.get(part, 0), kept.get(whole, 0))
            if interval and now.get(whole):
                yield f"{name}: {part} of {whole}", interval, now[part] / now[whole]
