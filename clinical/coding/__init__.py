"""From a text to recommendations: a stream of tiers, with and without a language model."""

from clinical.coding.case import Case, Located, Offer
from clinical.coding.deep_research import research_deeply
from clinical.coding.instant import most_probable, tier_one, with_written_codes
from clinical.coding.ledger import Hit
from clinical.coding.many import CodedAs, code_many, status_of
from clinical.coding.prompts import PROMPT_VERSION
from clinical.coding.rules_only import CERTAIN, NEVER, choose, find
from clinical.coding.search_queue import SearchQueue
from clinical.coding.selection import select, understand
from clinical.coding.stream import Research, research
