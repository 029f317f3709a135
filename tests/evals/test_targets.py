"""Targets: the same text gives the same codes in process and over HTTP; a missing model or key is a clear error."""

from __future__ import annotations

import pytest

from bentos.keys.keys import KeyLimits
from clinical.errors import SettingError
from evals.coding.targets import SearchTarget, ServedTarget, TierTarget, settings_for, target_of
from tests.bentos.conftest import key, keys, make_settings, running, settings  # noqa: F401 - fixtures

TEXT = "Z. n. Herzinfarkt, jetzt Dyspnoe. Kein Fieber."


@pytest.mark.parametrize("tier", [2, 3])
def test_a_served_tier_answers_as_in_process(monkeypatch, index, settings, key, tier):  # noqa: F811
    monkeypatch.setenv("BEFUND_LLM", "rules")
    monkeypatch.setenv("BEFUND_API_KEY", key)
    with running(settings.model_copy(update={"llm": "rules"}), index, key) as client:
        served = ServedTarget(str(client.base_url), tier)
        own = TierTarget(index, tier)
        assert served.ask(TEXT) == own.ask(TEXT) != ()
        assert served.about["model"] == own.about["model"] == "rules"


def test_a_model_has_room_for_both_calls_of_each_text_unless_a_bound_is_set(monkeypatch):
    monkeypatch.delenv("BEFUND_LLM_CONCURRENCY", raising=False)
    assert [settings_for(texts).llm_concurrency for texts in (1, 64, 512)] == [64, 128, 1024]
    monkeypatch.setenv("BEFUND_LLM_CONCURRENCY", "8")
    assert settings_for(512).llm_concurrency == 8


def test_the_served_tier_1_shows_what_the_search_calls_high_or_medium(monkeypatch, index, settings, key):  # noqa: F811
    monkeypatch.setenv("BEFUND_API_KEY", key)
    with running(settings, index, key) as client:
        shown = [hit._replace(probability=None) for hit in SearchTarget(index).ask(TEXT) if hit.shown]
        assert list(ServedTarget(str(client.base_url), 1).ask(TEXT)) == shown != []


def test_a_refused_key_counts_as_failed_not_as_wrong(monkeypatch, index, settings, key):  # noqa: F811
    monkeypatch.setenv("BEFUND_API_KEY", "bfd_00000000_wrong")
    with running(settings, index, key) as client:
        assert ServedTarget(str(client.base_url), 1).ask(TEXT) is None


@pytest.mark.parametrize(
    ("where", "tier", "names"), [("in-process", 3, "BEFUND_LLM"), ("http://x", 1, "BEFUND_API_KEY")]
)
def test_what_is_missing_is_named(monkeypatch, index, where, tier, names):
    monkeypatch.delenv("BEFUND_LLM", raising=False)
    with pytest.raises(SettingError, match=names):
        target_of(where, index, tier)


def test_a_used_up_quota_is_said_and_not_counted_as_failed(monkeypatch, index, settings, keys):  # noqa: F811
    limited = keys.create("slow", KeyLimits(per_minute=0, per_day=2))
    monkeypatch.setenv("BEFUND_API_KEY", limited)
    with running(settings, index, limited) as client:
        served = ServedTarget(str(client.base_url), 1)
        assert served.ask(TEXT)
        assert served.ask(TEXT)
        with pytest.raises(SettingError, match="quota"):
            served.ask(TEXT)


def test_an_address_where_nobody_answers_is_a_sentence(monkeypatch):
    monkeypatch.setenv("BEFUND_API_KEY", "bfd_00000000_x")
    with pytest.raises(SettingError, match="does not answer"):
        ServedTarget("http://127.0.0.1:9", 1)
