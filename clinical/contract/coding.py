"""POST /api/deep-research on the wire: the request, code entries, the ledger of a text and the events of the stream.

Source: the contract "Medical Text-Processing API", sections 2 and 4, and the decisions on what it leaves open.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import SerializerFunctionWrapHandler, StrictBool, model_serializer

from clinical.contract.shared import Frozen, Query, Span

Confidence = Literal["high", "medium", "low", "score"]


class ResearchRequest(Frozen):
    """POST /api/deep-research. `details` is ours and opt-in: without it the answer is exactly the contract's."""

    query: Query
    rerank: StrictBool = False
    details: StrictBool = False


class CodeEntry(Frozen):
    """One ICD-10-GM code: `description` is the official title; `score` 0-100 only with confidence `score`."""

    code: str
    description: str
    confidence: Confidence
    reasoning: str = ""
    score: float | None = None


Assertion = Literal["present", "suspected", "history", "excluded", "family"]


Certainty = Literal["G", "V", "A", "Z"]
"""The German outpatient marker of a diagnosis: gesichert, Verdacht, ausgeschlossen, Zustand nach."""
Side = Literal["R", "L", "B"]
"""rechts, links, beidseits."""
NoCode = Literal["denied", "of-a-relative", "no-code-found", "not-a-diagnosis"]


class Mention(Frozen):
    """A place of the text that names a disease, finding, procedure or state, and what became of it.

    `codes`: those of the answer that rest on it, best first. `reason`: why there is none, None where there is one.
    `certainty` and `side` as above; None where the text gives none.
    """

    span: Span
    claim: Assertion
    certainty: Certainty | None
    side: Side | None
    codes: tuple[str, ...]
    reason: NoCode | None


class DetailedCodeEntry(CodeEntry):
    """A code entry with what it rests on; only in answers to requests with `details: true`.

    `evidence` is None where the text does not say it literally. `terminal`: may be used for billing as it stands.
    `pair`: the dagger or asterisk code that belongs to it. `probability`: calibrated, of the search, None where the
    code was not found by search. `notes`: the rules of the classification that made a difference, in German.
    `certainty`, `side`: the outpatient markers, None where the text gives none. `missing`: what a more specific code
    would need and the text leaves open, in German.
    """

    evidence: Span | None
    assertion: Assertion | None
    terminal: bool
    pair: str | None
    probability: float | None
    notes: tuple[str, ...]
    certainty: Certainty | None = None
    side: Side | None = None
    missing: tuple[str, ...] = ()


Entries = tuple[DetailedCodeEntry | CodeEntry, ...]


class StatusEvent(Frozen):
    """Progress (`searching`) or a failure that ends the stream (`error`); `message` never holds the query."""

    type: Literal["status"] = "status"
    status: Literal["searching", "error"]
    message: str


class PartialEvent(Frozen):
    """Tier 1 or tier 2.

    `mentions`: the ledger of the text in its order, every mention once; only in tier 1 and where details are asked for.
    """

    type: Literal["partial"] = "partial"
    layer: Literal[1, 2]
    summary: str = ""
    codes: Entries
    mentions: tuple[Mention, ...] | None = None

    @model_serializer(mode="wrap")
    def _without_an_empty_ledger(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """None is left out of the answer, so that a strict client sees exactly the contract."""
        tree: dict[str, Any] = handler(self)
        if tree["mentions"] is None:
            del tree["mentions"]
        return tree


class ResultEvent(Frozen):
    """Tier 3; the stream ends after it."""

    type: Literal["result"] = "result"
    layer: Literal[3] = 3
    summary: str
    codes: Entries


Event = StatusEvent | PartialEvent | ResultEvent
