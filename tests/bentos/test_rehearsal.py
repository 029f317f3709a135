"""The rehearsal model answers the project's own questions by plain rules, and never passes for a language model."""

import asyncio

import pytest

from bentos.embedded.model import NAME, RehearsalModel
from clinical.coding.model_tiers import model_tiers
from clinical.coding.prompts import Findings, findings_question
from clinical.contract import GenerateRequest, ResearchRequest
from clinical.errors import ModelMalformed
from clinical.generation import generate
from clinical.llm import Form, JsonSchema, Limits, Message, ask
from tests.fakes import FakeIndex

LIMITS = Limits(max_tokens=100, timeout_s=5)


def find(text: str) -> list[tuple[str, str]]:
    answer = asyncio.run(ask(RehearsalModel(), findings_question(text), Findings, LIMITS))
    return [(finding.phrase, finding.assertion) for finding in answer.value.findings]


@pytest.mark.parametrize(
    ("text", "findings"),
    [
        ("Husten und Fieber", [("Husten", "present"), ("Fieber", "present")]),
        ("V. a. Pneumonie, kein Fieber", [("Pneumonie", "suspected"), ("Fieber", "excluded")]),
        ("Z. n. Herzinfarkt", [("Herzinfarkt", "history")]),
        ("Eine 58jährige Patientin klagt über Husten", [("Husten", "present")]),
        ("Mutter mit Mammakarzinom. Husten", [("Husten", "present"), ("Mammakarzinom", "family")]),
        ("", []),
        ("тест 漢字 🙂", []),
    ],
)
def test_clauses_become_findings_with_their_claims(text, findings):
    assert find(text) == findings


def test_quotes_are_places_of_the_text():
    text = "Frau Mustermann klagt über starken\nHusten; Pneumonie wird vermutet."
    answer = asyncio.run(ask(RehearsalModel(), findings_question(text), Findings, LIMITS))
    assert answer.value.findings
    assert all(finding.quote in text for finding in answer.value.findings)


def test_the_whole_stream_works_with_it():
    async def codes() -> list[list[str]]:
        request = ResearchRequest(query="Pneumonie, Husten. Kein Diabetes mellitus. Z. n. Herzinfarkt.")
        events = [event async for event in model_tiers(request, FakeIndex(), RehearsalModel())]
        return [[entry.code for entry in event.codes] for event in events if hasattr(event, "codes")]

    smart, deep = asyncio.run(codes())
    assert {"J18.9", "R05", "I25.22"} <= set(smart)
    assert {"J18.9", "R05", "I25.22"} <= set(deep)
    assert not any(code.startswith(("E11", "I21")) for code in smart + deep)


def test_a_draft_says_that_no_language_model_wrote_it():
    response = asyncio.run(
        generate(GenerateRequest(text="Husten. Fieber.", prompt="Fasse zusammen."), RehearsalModel())
    )
    assert response.model == NAME == "rehearsal-rules"
    assert "ohne Sprachmodell" in response.output
    assert "- Husten." in response.output
    assert response.usage.tokens_in > 0


def test_a_form_without_a_rule_is_refused():
    class Unknown(Form):
        field: str

    with pytest.raises(ModelMalformed):
        asyncio.run(RehearsalModel().complete([Message("user", "{}")], schema=JsonSchema.of(Unknown), limits=LIMITS))
