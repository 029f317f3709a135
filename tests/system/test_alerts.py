"""Each fault that can be injected fires its alert within its time, also where it is the first, or one in 45 seconds.

The metrics are those that `tests/bentos/test_failures.py` and `tests/webapp/test_watching.py` see move, each beside a
line in the log; `promtool` plays them to the rules as shipped.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import yaml

from tests.bentos.test_failures import KINDS
from tests.conftest import stay_out

ALERTS = Path(__file__).resolve().parents[2] / "deploy" / "prometheus" / "alerts.yml"
BEGINS = 40
"""Intervals of 15 seconds until the fault begins: ten minutes in which all was well."""
ONCE = f"0x{BEGINS} 1x200"
OFTEN = f"0x{BEGINS} " + " ".join(str(n // 3) for n in range(3, 160))
GONE = f"1x{BEGINS} 0x200"
CALLS = {'befund_model_calls_total{outcome="answered"}': "0+1x240"}
STREAMS = {'befund_streams_total{outcome="result"}': "0+1x240"}
CODED = 'befund_requests_total{method="POST",route="/api/deep-research",status="%s"}'
FHIR = 'befund_web_requests_total{method="GET",route="/<org>/fhir/r4/DocumentReference",status="%s"}'


def _calls(outcome: str) -> dict[str, str]:
    return {f'befund_model_calls_total{{outcome="{outcome}"}}': f"0x{BEGINS} 0+1x200"} | CALLS


def _part(part: str, of: str = "befund") -> dict[str, str]:
    return {f'{of}_failures_total{{part="{part}"}}': ONCE}


def _slow(histogram: str, label: str) -> dict[str, str]:
    buckets = {"1": "0x240", "2": f"0x{BEGINS} 0+1x200", "+Inf": f"0x{BEGINS} 0+1x200"}
    return {f'{histogram}_bucket{{{label},le="{most}"}}': values for most, values in buckets.items()}


FAULTS: dict[str, tuple[dict[str, str], str, int]] = {
    "model: calls are unavailable": (_calls("unavailable"), "BefundModelCallsFail", 3),
    "model: calls are malformed": (_calls("malformed"), "BefundModelCallsFail", 3),
    "model: calls time out": (_calls("timeout"), "BefundModelCallsFail", 3),
    "model: answers are cut": (_calls("truncated"), "BefundModelCallsFail", 3),
    "model: its context is too small": (_calls("too_long"), "BefundModelCallsFail", 3),
    "model: our queue is full": (_calls("busy"), "BefundModelCallsFail", 3),
    "model: wrong JSON, once": (
        {'befund_model_unusable_total{outcome="given_up"}': ONCE},
        "BefundModelAnswersAreUnusable",
        1,
    ),
    "model: wrong JSON is repaired": (
        {'befund_model_unusable_total{outcome="asked_again"}': f"0x{BEGINS} 0+1x200"} | CALLS,
        "BefundModelAnswersAreRepaired",
        18,
    ),
    "model: is down": ({"befund_model_up": GONE}, "BefundModelIsDown", 2),
    "model: its probe fails, once": (_part("model"), "BefundPartFails", 1),
    "model: letters by rules, once": (
        {'befund_fallbacks_total{error="ModelUnavailable"}': ONCE},
        "BefundLettersFallBackToRules",
        1,
    ),
    "model: calls wait": ({"befund_model_calls_waiting": f"0x{BEGINS} 100x200"}, "BefundModelQueueGrows", 6),
    "limits: Redis is gone, once": (_part("limits"), "BefundPartFails", 1),
    "keys: the database is gone, once": (_part("keys"), "BefundPartFails", 1),
    "disk: full, once": (_part("disk"), "BefundPartFails", 1),
    "connections: too many, once": (_part("connections"), "BefundPartFails", 1),
    "start: fails, once": (_part("start"), "BefundPartFails", 1),
    "catalog: damaged, once": (_part("catalog"), "BefundPartFails", 1),
    "request: unforeseen, once": (_part("request"), "BefundPartFails", 1),
    "stream: unforeseen, once": (_part("stream"), "BefundPartFails", 1),
    "stream: one in ten ends in an error": (
        {'befund_streams_total{outcome="error"}': f"0x{BEGINS} 0+0.1x200"} | STREAMS,
        "BefundStreamsEndInErrors",
        7,
    ),
    "text API: one 5xx in 45 s": ({CODED % "502": OFTEN, CODED % "200": "0+10x240"}, "BefundServerErrors", 5),
    "text API: not ready": ({'befund_ready{instance="a"}': GONE}, "BefundIsNotReady", 2),
    "text API: is gone": ({'up{job="befund-api",instance="a"}': GONE}, "BefundDoesNotAnswer", 2),
    "text API: a worker dies": ({"befund_worker_restarts_total": ONCE}, "BefundWorkersRestart", 1),
    "text API: tier 1 is slow": (_slow("befund_tier_seconds", 'tier="1"'), "BefundFirstTierIsSlow", 12),
    "key: its quota is nearly used": ({"befund_quota_warnings_total": ONCE}, "BefundQuotaNearlyUsed", 1),
    "webapp: the database is gone, once": (_part("database", "befund_web"), "BefundWebPartFails", 1),
    "webapp: Redis is gone, once": (_part("limits", "befund_web"), "BefundWebPartFails", 1),
    "webapp: the storage is gone, once": (_part("files", "befund_web"), "BefundWebPartFails", 1),
    "webapp: another secret key, once": (_part("keys", "befund_web"), "BefundWebPartFails", 1),
    "webapp: unforeseen, once": (_part("request", "befund_web"), "BefundWebPartFails", 1),
    "webapp: one 5xx in 45 s": ({FHIR % "500": OFTEN, FHIR % "200": "0+10x240"}, "BefundWebServerErrors", 5),
    "webapp: not ready": ({'befund_web_ready{instance="w"}': GONE}, "BefundIsNotReady", 2),
    "webapp: a process dies": ({"befund_web_worker_restarts_total": ONCE}, "BefundWorkersRestart", 1),
    "webapp: threads are busy": ({"befund_web_requests_open": f"1x{BEGINS} 24x200"}, "BefundWebThreadsAreBusy", 6),
    "webapp: search is slow": (
        _slow("befund_web_response_start_seconds", 'route="/<org>/fhir/r4/Patient"'),
        "BefundWebSearchIsSlow",
        12,
    ),
    "webapp: vendors refuse": (
        {
            'befund_web_sign_ins_total{outcome="vendor_unreachable"}': f"0x{BEGINS} 0+1x200",
            'befund_web_sign_ins_total{outcome="signed_in"}': "0+1x240",
        },
        "BefundWebSignInsFail",
        22,
    ),
    "proxy: the certificate ends in 14 days": (
        {"befund_web_certificate_expiry_timestamp_seconds": f"{14 * 86_400 + 15 * BEGINS}x240"},
        "BefundCertificateExpires",
        1,
    ),
    "backup: none in 26 hours": ({"befund_web_backup_timestamp_seconds": "1x7000"}, "BefundBackupIsOld", 27 * 60),
}
"""Each: what the metrics say from the beginning on, the alert, and in how many minutes after the fault it must fire."""

WELL = {name: "0x240" for series, _, _ in FAULTS.values() for name in series if "_total" in name} | CALLS | STREAMS
WELL |= {
    "befund_ready": "1x240",
    "befund_web_ready": "1x240",
    "befund_model_up": "1x240",
    'up{job="befund-api"}': "1x240",
}


def _firing(alert: str, minutes: int, number: int) -> dict[str, object]:
    asked = f'count(ALERTS{{alertstate="firing"{alert}}} * 0 + 1) > bool 0'
    samples = [{"labels": "{}", "value": 1}] if number else []
    return {"expr": asked, "eval_time": f"{minutes}m", "exp_samples": samples}


def _promtool(folder: Path, tests: list[dict[str, object]], every: str = "15s") -> subprocess.CompletedProcess[str]:
    program = shutil.which("promtool")
    if not program:
        stay_out("promtool is not installed (apt-get install prometheus)")
    asked = {"rule_files": [str(ALERTS)], "evaluation_interval": every, "tests": tests}
    (folder / "tests.yml").write_text(json.dumps(asked), "utf-8")
    command = [program, "test", "rules", str(folder / "tests.yml")]
    return subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)


def test_a_fault_fires_its_alert_in_time_and_not_before(tmp_path):
    """Each by itself, as promtool plays its groups; a failure quotes the alert and the minute."""
    begins = BEGINS * 15 // 60
    soon, late = [], []
    for series, alert, minutes in FAULTS.values():
        named = f',alertname="{alert}"'
        asked = [_firing(named, begins - 1, 0), _firing(named, begins + minutes, 1)]
        given = [{"series": name, "values": values} for name, values in series.items()]
        groups = soon if minutes < 60 else late
        groups.append({"interval": "15s", "input_series": given, "promql_expr_test": asked})
    assert soon
    assert late
    for groups, every in ((soon, "15s"), (late, "5m")):  # a day played every 15 seconds would take most of the time
        done = _promtool(tmp_path, groups, every)
        assert done.returncode == 0, done.stdout + done.stderr


def test_nothing_fires_while_all_is_well(tmp_path):
    given = [{"series": name, "values": values} for name, values in WELL.items()]
    asked = [_firing("", minutes, 0) for minutes in range(1, 60, 2)]
    done = _promtool(tmp_path, [{"interval": "15s", "input_series": given, "promql_expr_test": asked}])
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_rule_has_its_fault_and_every_injected_fault_its_alert():
    """A refused request is a 5xx as well (`befund_refused_total`)."""
    rules = [rule["alert"] for group in yaml.safe_load(ALERTS.read_text("utf-8"))["groups"] for rule in group["rules"]]
    assert set(rules) == {alert for _, alert, _ in FAULTS.values()}
    assert len(FAULTS) >= 25
    watched = {name for series, _, _ in FAULTS.values() for name in series}
    for kind in KINDS.values():
        labels = ",".join(f'{label}="{value}"' for label, value in kind.labels.items())
        assert f"{kind.metric}{{{labels}}}" in watched or kind.metric == "befund_refused_total"
