"""Why a stated mention is not shown with its code, and what is shown without being stated: errors by cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from catalog_build.training.texts import Text, WrittenMention
from clinical.search import Mentioned, SearchIndex

CAUSES: Final = ("shown", "not found", "cut wrongly", "claim misread", "too unsure", "another code", "invented")
"""In the order in which they are looked for. `cut wrongly`: a mention overlaps and begins or ends elsewhere; `another
code`: found whole, with its claim, and shown with a code that is not its own; `invented`: a mention with a code where
the text states nothing."""
CODED: Final = ("present", "suspected")


def causes(index: SearchIndex, texts: Sequence[Text]) -> dict[str, Counter[str]]:
    """Counts by kind of text. Only what is there or suspected is looked at: other claims have other codes."""
    found: dict[str, Counter[str]] = {}
    for text in texts:
        own = found.setdefault(text.kind, Counter())
        mentions = index.read(text.text).mentions
        for said in text.said:
            if said.claim in CODED and said.code:
                own[_cause(said, mentions)] += 1
        for mention in mentions:
            stated = any(said.start < mention.end and mention.start < said.end for said in text.said)
            own["invented"] += bool(mention.codes) and not stated
    return found


def _cause(said: WrittenMention, mentions: Sequence[Mentioned]) -> str:
    near = [one for one in mentions if one.start < said.end and said.start < one.end]
    if any(said.code in one.codes for one in near):
        return "shown"
    if not near:
        return "not found"
    exact = next((one for one in near if (one.start, one.end) == (said.start, said.end)), None)
    if exact is None:
        return "cut wrongly"
    if exact.claim != said.claim:
        return "claim misread"
    return "another code" if exact.codes else "too unsure"
