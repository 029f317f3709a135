"""The wire format of the text API: requests, responses and stream events, frozen."""

from clinical.contract.bulk import (
    BAD_UTF8,
    BULK_CODES_MAX,
    BULK_LINES_MAX,
    CODED,
    EMPTY,
    MALFORMED,
    MISSING,
    NOTHING,
    TOO_LONG,
    BulkCode,
    BulkResult,
    BulkText,
    TextStatus,
)
from clinical.contract.coding import (
    ABOVE_THE_LIMIT,
    Assertion,
    Certainty,
    CodeEntry,
    DetailedCodeEntry,
    Event,
    Mention,
    NoCode,
    PartialEvent,
    ResearchRequest,
    ResultEvent,
    Side,
    StatusEvent,
)
from clinical.contract.extraction import (
    Arztbrief,
    DocumentType,
    Evidence,
    ExtractFileRequest,
    ExtractFileResponse,
    ExtractRequest,
    ExtractResponse,
    FieldState,
    FileContent,
    FilePage,
    Kontakt,
    Match,
    PageBox,
    PlacedEvidence,
    ReviewNote,
    TextRequest,
    TextResponse,
    TextWord,
    Zuweisung,
    values_of,
    words_of_fields,
)
from clinical.contract.service import CatalogHealth, GenerateRequest, GenerateResponse, Health, ModelHealth
from clinical.contract.shared import PROMPT_MAX, QUERY_MAX, TEXT_MAX, TIER1_MAX_CODES, Span, Usage
from clinical.contract.suggestions import (
    SUGGEST_MAX,
    SuggestedCode,
    SuggestRequest,
    SuggestResponse,
)
