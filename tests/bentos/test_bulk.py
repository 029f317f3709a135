"""The bulk endpoint: a line for a line, the same codes as batch coding, bounded, and over when its client is."""

from __future__ import annotations

import json
import time

import httpx2
import pyarrow as pa
import pytest

from batch.coder import Coder
from bentos.api.bulk import BLOCK
from bentos.api.bulk import PATH as BULK
from bentos.keys import KeyLimits
from clinical.contract import BULK_LINES_MAX, BulkResult
from tests.bentos.conftest import running

TEXTS = (
    "Asthma bronchiale",
    "Z. n. Herzinfarkt, Hypertonie, kein Diabetes",
    "E11.90",
    "Pat. kommt mit Husten und Fieber in die Praxis; V. a. Pneumonie rechts",
    "- - -",
    "",
    "   ",
    "a" * 2001,
    "Asthma bronchiale",
    "Bluthochdruck I10.90",
)


def _lines(*values: object) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def _asked(api: httpx2.Client, content: bytes, **query: object) -> list[BulkResult]:
    answer = api.post(BULK, content=content, params=query)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.text.isascii(), "U+2028 would end a line for some readers"
    return [BulkResult.model_validate_json(line) for line in answer.text.splitlines()]


def test_the_results_are_those_of_batch_coding(api, starter_artifact):
    found = _asked(api, _lines(*({"id": f"n{n}", "text": text} for n, text in enumerate(TEXTS))), limit=5)
    table = {
        "row": pa.array(range(len(TEXTS)), pa.int64()),
        "id": [f"n{n}" for n in range(len(TEXTS))],
        "text": pa.array([text.encode() for text in TEXTS], pa.large_binary()),
        "malformed": [False] * len(TEXTS),
    }
    expected = Coder(str(starter_artifact), limit=5)(pa.table(table)).to_pylist()
    assert len(found) == len(expected) > BLOCK
    for one, row in zip(found, expected, strict=True):
        assert (one.row, one.id, one.status) == (row["row"], row["id"], row["status"])
        assert [code.code for code in one.codes] == row["codes"]
        assert [code.confidence for code in one.codes] == row["confidences"]
        assert [code.probability for code in one.codes] == pytest.approx(row["probabilities"], abs=1e-5)
    assert {one.status for one in found} == {"coded", "nothing-found", "empty", "too-long"}


def test_a_line_that_does_not_fit_says_so_and_the_others_are_coded(api):
    lines = [b"{", b'{"text": 5}', b'{"id": 7}', b"", b'{"id": 8, "text": "Asthma"}', b"\xff", b'"Asthma"']
    found = _asked(api, b"\r\n".join(lines))
    said = [(one.row, one.id, one.status) for one in found]
    bad = "malformed"
    assert said == [(0, None, bad), (1, None, bad), (2, 7, "missing"), (3, 8, "coded"), (4, None, bad), (5, None, bad)]
    assert _asked(api, b"") == []


def test_too_many_lines_and_wrong_options_are_refused(api):
    assert api.post(BULK, content=b"{}\n" * (BULK_LINES_MAX + 1)).status_code == 413
    for query in ({"limit": 0}, {"limit": 21}, {"limit": "x"}, {"year": 1999}):
        assert api.post(BULK, content=b"{}", params=query).status_code == 422, query
    assert httpx2.post(f"{api.base_url}{BULK}", content=b"{}", trust_env=False).status_code == 401


def test_each_text_counts_towards_the_days_quota_and_all_or_none_are_coded(api, keys):
    headers = {"Authorization": f"Bearer {keys.create('x', KeyLimits(60, 10))}"}

    def asked(lines: int) -> httpx2.Response:
        return api.post(BULK, content=b'{"text": "Asthma"}\n' * lines, headers=headers)

    answer = asked(7)
    assert answer.status_code == 200
    assert '"minute";r=59' in answer.headers["ratelimit"]
    assert '"day";r=3;' in answer.headers["ratelimit"]
    refused = asked(4)
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 60 or time.time() % 86_400 > 86_000
    assert '"day";r=2;' in refused.headers["ratelimit"], "the request itself is counted, none of its texts"
    assert asked(2).status_code == 200
    assert asked(1).status_code == 429


class _Slow:
    """An index that counts the searches asked of it."""

    def __init__(self, index: object) -> None:
        self._index, self.blocks = index, 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._index, name)

    def search_many(self, texts: list[str], limit: int) -> object:
        self.blocks += 1
        return self._index.search_many(texts, limit)


def _rested(slow: _Slow) -> int:
    """The number of blocks searched, when none is added any more."""
    before = -1
    while before != slow.blocks:
        before = slow.blocks
        time.sleep(2)
    return before


def test_results_are_made_as_they_are_taken_and_none_for_a_client_that_has_left(make_settings, index, key):
    """Sockets hold some megabytes; what is not taken beyond them is not searched yet."""
    slow = _Slow(index)
    with running(make_settings(), slow, key) as api:
        body = b'{"text": "Asthma", "id": "%s"}\n' % (b"x" * 200) * BULK_LINES_MAX
        with api.stream("POST", BULK, content=body, params={"limit": 20}) as answer:
            next(answer.iter_lines())
            waiting = _rested(slow)
        assert _rested(slow) < waiting + 20 < BULK_LINES_MAX // BLOCK
        assert api.post("/api/codes/suggest", json={"text": "asthma"}).status_code == 200
