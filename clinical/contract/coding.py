"""POST /api/deep-research on the wire: the request, code entries, the ledger of a text and the events of the stream.

Source: the contract "Medical Text-Processing API", sections 2 and 4, and the decisions on what it leaves open.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import SerializerFunctionWrapHandler, StrictBool, StrictInt, model_serializer

from clinical.contract.shared import Frozen, Query, Span

Confidence = Literal["high", "medium", "low", "score"]


class ResearchRequest(Frozen):
    """POST /api/deep-research. `details` is ours and opt-in: without it the answer is exactly the contract's. So is
    `year`, of the catalog; without it the newest."""

    query: Query
    rerank: StrictBool = False
    details: StrictBool = False
    year: StrictInt | None = None


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
ABOVE_THE_LIMIT: Final = "über der Grenze von zehn Kodes"
NoCode = Literal[
    "denied",
    "hypothetical",
    "of-a-relative",
    "of-somebody-else",
    "no-code-found",
    "not-a-diagnosis",
    "said-more-precisely",
    "über der Grenze von zehn Kodes",
]
"""Reasons why none of the codes of tier 1's event rests on a mention. `hypothetical`: it is planned, feared, prevented
or a condition, which the contract's claims count among the excluded; `no-code-found`: none was sure enough;
`said-more-precisely`: another mention says all that this one does and more; the last: it has codes, each less probable
than the ten of the event."""


class Mention(Frozen):
    """A place of the text that names a disease, finding, procedure or state, and what became of it.

    `codes`: all that rest on it, best first, those above the limit of tier 1's event too. `reason`: why the event holds
    none of them, None where it holds one. `certainty` and `side` as above; None where the text gives none.
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

    `mentions`: the ledger of the text in its order, every mention once. `beyond`: the entries of the codes above the
    limit of `codes`, best first. Both only in tier 1 and where details are asked for.
    """

    type: Literal["partial"] = "partial"
    layer: Literal[1, 2]
    summary: str = ""
    codes: Entries
    mentions: tuple[Mention, ...] | None = None
    beyond: Entries | None = None

    @model_serializer(mode="wrap")
    def _without_an_empty_ledger(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """None is left out of the answer, so that a strict client sees exactly the contract."""
        tree: dict[str, Any] = handler(self)
        return {key: value for key, value in tree.items() if value is not None or key not in ("mentions", "beyond")}


class ResultEvent(Frozen):
    """Tier 3; the stream ends after it."""

    type: Literal["result"] = "result"
    layer: Literal[3] = 3
    summary: str
    codes: Entries


Event = StatusEvent | PartialEvent | ResultEvent
