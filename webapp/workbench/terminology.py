"""Short questions to the text API on codes: suggestions for what is typed, and the synonyms of a code."""

from functools import lru_cache
from typing import Any

import httpx2

from clinical.contract import SUGGEST_MAX, SuggestedCode, SuggestResponse
from clinical.tracing import outgoing
from webapp.config import settings
from webapp.workbench.calls import api_key, api_url

SYSTEM = "http://fhir.de/CodeSystem/bfarm/icd-10-gm"
LOOKUP = "/api/fhir/r4/CodeSystem/$lookup"
TIMEOUT = httpx2.Timeout(5.0, connect=1.0)
MOST_SYNONYMS = 40


class ApiSilent(Exception):
    """The text API does not answer, or not as the contract says."""


def suggested(words: str, limit: int) -> tuple[SuggestedCode, ...]:
    """Codes for the first characters of words, the likeliest first. Raises ApiSilent."""
    if not words.strip():
        return ()
    body = {"text": words[:SUGGEST_MAX], "limit": limit}
    try:
        return SuggestResponse.model_validate(_asked("POST", "/api/codes/suggest", json=body)).codes
    except ValueError:
        raise ApiSilent from None


def synonyms(code: str) -> list[str]:
    """Other wordings of a code; none where the text API does not answer: the page stands without them."""
    parameters = {"system": SYSTEM, "code": code, "property": "designation"}
    try:
        rows = _asked("GET", LOOKUP, params=parameters)["parameter"]
        parts = [{part["name"]: part for part in row["part"]} for row in rows if row["name"] == "designation"]
        return [str(part["value"]["valueString"]) for part in parts[1 : MOST_SYNONYMS + 1]]
    except (ApiSilent, KeyError, TypeError):
        return []


def _asked(method: str, path: str, **more: Any) -> Any:
    given = settings()
    headers = {"Authorization": f"Bearer {api_key(given)}", **outgoing()}
    try:
        answer = _client().request(method, api_url(given) + path, headers=headers, **more)
        answer.raise_for_status()
        return answer.json()
    except (httpx2.HTTPError, ValueError):
        raise ApiSilent from None


@lru_cache(maxsize=1)
def _client() -> httpx2.Client:
    """One for all threads of a process: a new connection for each key would take longer than the answer."""
    return httpx2.Client(trust_env=False, timeout=TIMEOUT)
