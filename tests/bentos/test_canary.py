"""A share of the requests goes to a second model: whole requests, counted by how their calls end."""

from __future__ import annotations

from itertools import cycle

import pytest
from prometheus_client import REGISTRY

from bentos.canary import CanaryModel
from bentos.language_model import Endpoint, OpenAIModel
from bentos.models import model_of
from clinical.errors import SettingError
from clinical.settings import Settings
from tests.bentos.conftest import ask, running
from tests.openai_server import model_server

LETTER = {"text": "Husten.", "prompt": "Fasse zusammen."}


def _count(model: str, outcome: str) -> float:
    return REGISTRY.get_sample_value("befund_canary_calls_total", {"model": model, "outcome": outcome}) or 0.0


def test_each_request_is_answered_by_one_of_two_models_and_counted_under_it(make_settings, index, key):
    before = _count("main", "answered"), _count("canary", "answered")
    with model_server(text="alt") as old, model_server(text="neu") as new:
        main, canary = (OpenAIModel(Endpoint(server.base_url, model=server.text)) for server in (old, new))
        draws = cycle((0.9, 0.1))
        model = CanaryModel(main, canary, 0.5, lambda: next(draws))
        with running(make_settings(), index, key, model) as client:
            drafts = [client.post("/api/llm/generate", json=LETTER).json() for _ in range(4)]
            assert [(one["output"], one["model"]) for one in drafts] == [("alt", "alt"), ("neu", "neu")] * 2
            old.calls.clear(), new.calls.clear()
            assert ask(client, "Husten und Diabetes mellitus Typ 2")[-1].type == "result"
            assert (len(old.calls) > 1, len(new.calls)) == (True, 0)
            assert ask(client, "Husten und Diabetes mellitus Typ 2")[-1].type == "result"
            assert len(new.calls) > 1
    assert _count("main", "answered") - before[0] == 2 + len(old.calls)
    assert _count("canary", "answered") - before[1] == 2 + len(new.calls)


def test_a_canary_that_fails_is_counted_and_health_is_that_of_the_main_model(make_settings, index, key):
    before = _count("canary", "ModelUnavailable")
    with model_server() as old, model_server(mode="echoing-500", healthy=False) as new:
        main, canary = (OpenAIModel(Endpoint(server.base_url)) for server in (old, new))
        with running(make_settings(), index, key, CanaryModel(main, canary, 1.0)) as client:
            assert client.post("/api/llm/generate", json=LETTER).status_code == 502
            assert client.get("/api/llm/health").json()["status"] == "ok"
    assert _count("canary", "ModelUnavailable") == before + 1


def test_the_settings_name_the_second_model():
    given = {"llm_base_url": "http://a/v1", "llm_model": "alt"}
    assert isinstance(model_of(Settings(_env_file=None, **given)), OpenAIModel)
    model = model_of(Settings(_env_file=None, **given, llm_canary=0.05, llm_canary_model="neu"))
    assert isinstance(model, CanaryModel)
    assert model.name == "alt"
    with pytest.raises(SettingError, match="BEFUND_LLM_CANARY: ") as refused:
        Settings.read(**given, llm_canary=0.05)
    assert "BEFUND_LLM_CANARY_MODEL" in str(refused.value)
