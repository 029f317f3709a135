"""From a text to recommendations: a stream of tiers, with and without a language model."""

from clinical.coding.deep_research import research_deeply
from clinical.coding.instant import with_written_codes
from clinical.coding.ledger import Hit
from clinical.coding.prompts import CODES_MAX, FINDINGS_MAX, PROMPT_VERSION
from clinical.coding.rules import PAIR_NOTE
from clinical.coding.search_queue import SearchQueue
from clinical.coding.selection import select, understand
from clinical.coding.stream import research

__all__ = [
    "CODES_MAX",
    "FINDINGS_MAX",
    "PAIR_NOTE",
    "PROMPT_VERSION",
    "Hit",
    "SearchQueue",
    "research",
    "research_deeply",
    "select",
    "understand",
    "with_written_codes",
]
