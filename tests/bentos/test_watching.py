"""The view of an operator: every metric is documented, alerts and dashboard ask for those there are, failures count."""

from __future__ import annotations

import json
import re

import pytest
import yaml
from prometheus_client import REGISTRY

import bentos.metrics
import webapp.watching
from tests.bentos.conftest import ROOT, ask, running
from tests.openai_server import model_server

NAME = re.compile(r"\bbefund_[a-z_]+")
ALERTS = ROOT / "deploy" / "prometheus" / "alerts.yml"
BOARD = ROOT / "deploy" / "grafana" / "befund.json"


def _samples() -> set[str]:
    """The names under which our metrics are read."""
    assert bentos.metrics
    assert webapp.watching
    names = set()
    for family in REGISTRY.collect():
        if family.name.startswith("befund_"):
            endings = {"counter": ("_total",), "histogram": ("", "_bucket", "_sum", "_count"), "gauge": ("",)}
            names |= {family.name + ending for ending in endings[family.type]}
    return names


def _asked() -> list[str]:
    rules = [rule for group in yaml.safe_load(ALERTS.read_text("utf-8"))["groups"] for rule in group["rules"]]
    panels = json.loads(BOARD.read_text("utf-8"))["panels"]
    return [rule["expr"] for rule in rules] + [target["expr"] for panel in panels for target in panel["targets"]]


def test_alerts_and_dashboard_ask_for_metrics_that_exist():
    named = {name for expression in _asked() for name in NAME.findall(expression)}
    assert len(named) > 8
    assert named <= _samples()


def test_every_metric_is_documented_and_no_other():
    documented = set(NAME.findall((ROOT / "docs" / "operate.md").read_text("utf-8")))
    assert documented <= _samples()
    families = {family.name for family in REGISTRY.collect() if family.name.startswith("befund_")}
    assert {name for name in families if not {name, f"{name}_total"} & documented} == set()


def _value(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


@pytest.mark.parametrize(
    ("mode", "outcome", "stream"),
    [
        ("answer", "answered", "result"),
        ("garbage", "answered", "error"),
        ("echoing-500", "unavailable", "error"),
        ("not-json", "malformed", "error"),
    ],
)
def test_a_stream_and_its_calls_count_by_their_outcome(mode, outcome, stream, make_settings, index, key, caplog):
    caplog.set_level("WARNING", logger="befund.model")
    calls = _value("befund_model_calls_total", outcome=outcome)
    streams = _value("befund_streams_total", outcome=stream)
    first = _value("befund_tiers_total", tier="1", outcome="answered")
    second = _value("befund_tiers_total", tier="2", outcome="failed")
    with (
        model_server(mode=mode) as server,
        running(make_settings(llm_base_url=server.base_url), index, key) as client,
    ):
        ask(client, "Husten")
    assert _value("befund_model_calls_total", outcome=outcome) > calls
    assert _value("befund_streams_total", outcome=stream) == streams + 1
    assert _value("befund_tiers_total", tier="1", outcome="answered") == first + 1
    assert _value("befund_tiers_total", tier="2", outcome="failed") == second + (stream == "error")
    assert _value("befund_streams_open") == 0
    lines = [record for record in caplog.records if record.name == "befund.model"]
    assert bool(lines) == (mode != "answer")
