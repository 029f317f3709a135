"""The two health endpoints and POST /api/llm/generate on the wire."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from clinical.contract.shared import Frozen, Prompt, Text, Usage


class GenerateRequest(Frozen):
    """POST /api/llm/generate: `prompt` is the system message, `text` the user message, nothing is added."""

    text: Text
    prompt: Prompt


class GenerateResponse(Frozen):
    """Free text, not validated against the input."""

    output: str
    model: str
    usage: Usage
    processing_time_ms: float


class CatalogHealth(Frozen):
    """Loaded catalog, with counts of all codes, terminal codes and synonym texts. Own synonyms by file: where any."""

    system: Literal["ICD-10-GM"] = "ICD-10-GM"
    version: str
    codes: int
    terminal_codes: int
    synonyms: int
    encoder: str
    built_at: str
    vocabularies: dict[str, int] = Field(default={}, exclude_if=lambda found: not found)


class Health(Frozen):
    """GET /api/health."""

    status: Literal["ok", "starting"]
    version: str
    catalog: CatalogHealth | None


class ModelHealth(Frozen):
    """GET /api/llm/health."""

    status: Literal["ok", "down", "not_configured"]
    model: str | None
