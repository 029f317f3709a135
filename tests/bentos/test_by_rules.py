"""Without a language model fixed rules code a text and draft an extract, and say that they did."""

import asyncio

import pytest

from clinical.budget import Budget
from clinical.coding import find, research
from clinical.contract import GenerateRequest, ResearchRequest
from clinical.errors import ModelMalformed
from clinical.generation import generate_by_rules
from clinical.llm import Form, JsonSchema, Limits, Message
from evals.rules_model import RulesModel
from tests.fakes import FakeIndex

LIMITS = Limits(max_tokens=100, timeout_s=5)
TEXT = "Pneumonie, Husten. Kein Diabetes mellitus. Z. n. Herzinfarkt."


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
    assert [(finding.phrase, finding.assertion) for finding in find(text, Budget())] == findings


def codes_of(model: RulesModel | None) -> list[list[tuple[str, str]]]:
    async def told() -> list[list[tuple[str, str]]]:
        stream = research(ResearchRequest(query=TEXT), FakeIndex(), model, by_rules=True)
        events = [event async for event in stream]
        return [
            [(entry.code, entry.confidence) for entry in event.codes] for event in events if hasattr(event, "codes")
        ]

    return asyncio.run(told())


def test_the_whole_stream_is_answered():
    _, smart, deep = codes_of(None)
    for tier in (dict(smart), dict(deep)):
        assert {"J18.9", "R05", "I25.22"} <= set(tier)
        assert not any(code.startswith(("E11", "I21")) for code in tier)


def test_rules_asked_as_a_model_answer_as_rules_that_are_called():
    assert codes_of(RulesModel()) == codes_of(None)


def test_a_draft_says_that_no_language_model_wrote_it():
    response = asyncio.run(generate_by_rules(GenerateRequest(text="Husten. Fieber.", prompt="Fasse zusammen.")))
    assert response.model == "rules"
    assert "ohne Sprachmodell" in response.output
    assert "- Husten." in response.output
    assert (response.usage.tokens_in, response.usage.tokens_out) == (0, 0)


def test_a_form_without_a_rule_is_refused():
    class Unknown(Form):
        field: str

    with pytest.raises(ModelMalformed):
        asyncio.run(RulesModel().complete([Message("user", "{}")], schema=JsonSchema.of(Unknown), limits=LIMITS))
