"""`python -m evals load`: the benches measure, callers judge real servers, and the stand-in of a model is slow."""

import asyncio
import importlib.util
import json
import os
import sys
import tempfile
from functools import partial

import httpx2
import pytest

from clinical.icd import is_unspecified
from evals.load import bench, served
from evals.load.faults import Journal
from evals.load.measure import main
from evals.load.model import SlowModel
from evals.load.moves import counted
from evals.load.served import LoadEntry
from evals.load.stand_in import connection
from evals.load.worker import way_of
from tests.fakes import tiny_catalog
from tests.nginx import program
from tests.webapp import postgres

needs_locust = pytest.mark.skipif(importlib.util.find_spec("locust") is None, reason="locust is not installed")
needs_postgres = pytest.mark.skipif(bool(postgres.missing()), reason=postgres.missing() or "there")


def rows_of(capsys) -> dict[tuple[str, str], float]:
    return {(row["measure"], row["set"]): row["value"] for row in json.loads(capsys.readouterr().out)}


def test_both_codes_answer_the_same_texts_in_turn_and_the_ratio_has_an_interval(starter_artifact, tmp_path, capsys):
    """The other code is a checkout whose search takes each text twice."""
    for name in ("clinical", "bentos"):
        os.symlink(os.path.join(os.getcwd(), name), tmp_path / name)
    slower = "from clinical.reading.index import SearchIndex as I\nonce = I.search\n"
    slower += "I.search = lambda self, *given: [once(self, *given) for _ in range(4)][0]\n"
    (tmp_path / "sitecustomize.py").write_text(slower)
    arguments = ["search", "--catalog", str(starter_artifact), "--count", "60", "--against", str(tmp_path), "--json"]
    assert main(arguments) == 0
    found = rows_of(capsys)
    assert {name for name, _ in found} == {
        "search_p50_ms", "search_p99_ms", "search_p50_ms_of_the_other_code", "search_p99_ms_of_the_other_code",
        "search_ratio",
    }  # fmt: skip
    assert found["search_ratio", "short queries"] < 0.7
    assert 0 < found["search_p50_ms", "short queries"] <= found["search_p99_ms", "short queries"]


@pytest.mark.parametrize("way", bench.WAYS)
def test_every_way_reads_its_texts(way, starter_artifact):
    work = way_of(way, starter_artifact)
    sets = bench.texts_of(way, starter_artifact, 20)
    assert sets
    for texts in sets.values():
        assert work(texts[0]) is not None


def test_own_time_of_the_tiers(starter_artifact, capsys):
    assert main(["tiers", "--catalog", str(starter_artifact), "--count", "20", "--json"]) == 0
    found = rows_of(capsys)
    assert {of for _, of in found} == {"tier 2", "tier 3"}
    assert min(found.values()) > 0


def test_calls_into_other_files_and_returns_from_them_are_counted(starter_artifact, capsys):
    assert main(["moves", "--catalog", str(starter_artifact), "--json"]) == 0
    found = rows_of(capsys)
    assert found["moves", "one word"] < 300, "the way of one word does not grow longer"
    assert found["files", "one word"] < found["moves", "one word"] < found["moves", "a note of 82 characters"]


def test_a_move_is_a_call_or_a_return_between_two_files_of_ours():
    """The title is looked at in `titles.py`; the call from here is none, this file being none of the package's."""
    code = next(iter(tiny_catalog()))
    moves, files = counted(lambda: is_unspecified(code))
    assert sorted(file.rpartition("/")[2] for file in files) == ["groups.py", "titles.py"]
    assert moves == 2, "the call there and the return from it"


def test_percentiles_are_nearest_rank():
    stats = {
        "num_requests": 100, "num_failures": 1, "start_time": 10.0, "last_request_timestamp": 20.0,
        "response_times": {"5": 50, "7": 48, "90": 1, "100": 1},
    }  # fmt: skip
    assert served._entry(stats) == LoadEntry(100, 1, 10.0, 5.0, 90.0)


@needs_locust
@pytest.mark.timeout(300)
def test_streams_of_callers_that_stay_and_that_leave(starter_artifact, capsys):
    arguments = ["streams", "--catalog", str(starter_artifact), "--streams", "4", "--model-seconds", "0.5", "--json"]
    assert main(arguments) == 0
    found = rows_of(capsys)
    for of in ("4 streams to their end, 1 workers", "4 streams left after the first codes, 1 workers"):
        assert found["requests_per_second", of] > 0
        assert found["p99_ms", of] >= found["p50_ms", of] > 0
        assert found["cpu_ms", of] > 0
    assert found["calls_left", "4 streams left after the first codes, 1 workers"] == 0


@needs_locust
@needs_postgres
@pytest.mark.timeout(600)
def test_documents_and_people_are_answered_by_the_contract_and_nothing_is_lost(capsys):
    found = {(one.measure, one.set): one.value for one in served.at_the_webapp("Storing,Polling,Person", 6, 5)}
    assert {of for measure, of in found if measure == "failures"} >= {"store", "poll", "fetch", "sign-in"}
    assert {of: count for (measure, of), count in found.items() if measure == "failures" and count} == {}


@needs_locust
@needs_postgres
@pytest.mark.timeout(600)
def test_searches_in_turns_give_rates_and_processor_times(capsys):
    arguments = ["fhir", "--documents", "1000", "--seconds", "1", "--rounds", "1", "--only", "newest"]
    assert main([*arguments, "--only", "everything", "--against", os.getcwd(), "--json"]) == 0
    found = rows_of(capsys)
    for case in ("newest", "everything"):
        assert found["requests_per_second", case] > 0
        assert found["cpu_ms", case] > 0
        assert found["requests_per_second", f"{case}, the other code"] > 0
        assert found["db_ms", case] >= 0
        assert 0.2 < found["cpu_ratio", case] < 5


def test_an_answer_of_another_kind_is_a_failure(monkeypatch):
    if importlib.util.find_spec("locust") is None:  # importing it here would patch this process
        pytest.skip("locust (extra 'load') is not installed")
    script = "import os; os.environ['BEFUND_LOAD'] = '{\"key\": \"x\"}'\nfrom evals.load.users import fault\n"
    script += "import httpx2\n"
    script += "for status, kind, more in ((200, 'text/html', {}), (500, 'application/fhir+json', {}),\n"
    script += (
        "    (503, 'text/html', {}), (503, 'text/html', {'retry-after': '3'}), (200, 'application/fhir+json', {})):\n"
    )
    script += "    answer = httpx2.Response(status, headers={'content-type': kind, **more})\n"
    script += "    print(fault(answer, 'application/fhir+json', 200))\n"
    import subprocess

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["media type text/html", "status 500", "status 503", "", ""]


def test_the_slow_model_answers_late_and_notices_who_leaves():
    async def both() -> tuple[float, int, int]:
        model = SlowModel(0.3)
        server = await asyncio.start_server(partial(connection, model.answer), "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        base = f"http://127.0.0.1:{port}"
        question = {"role": "user", "content": json.dumps({"text": "Husten"})}
        body = {"messages": [question], "response_format": {"json_schema": {"name": "Findings"}}}
        async with httpx2.AsyncClient(trust_env=False) as client:
            begun = asyncio.get_running_loop().time()
            answer = await client.post(f"{base}/v1/chat/completions", json=body)
            took = asyncio.get_running_loop().time() - begun
            assert "Husten" in answer.json()["choices"][0]["message"]["content"]
            model.seconds = 60
            call = asyncio.create_task(client.post(f"{base}/v1/chat/completions", json=body))
            await asyncio.sleep(0.2)
            during = (await client.get(f"{base}/running")).json()["running"]
            call.cancel()
            await asyncio.sleep(0.2)
            after = (await client.get(f"{base}/running")).json()["running"]
        server.close()
        return took, during, after

    took, during, after = asyncio.run(both())
    assert took >= 0.3
    assert (during, after) == (1, 0)


def test_the_terminology_is_asked_in_turns_with_a_server_that_does_nothing(starter_artifact, capsys):
    catalog = str(starter_artifact)
    assert main(["terminology", "--catalog", catalog, "--seconds", "2", "--earlier", catalog, "--json"]) == 0
    found = rows_of(capsys)
    for name in ("$lookup", "$validate-code"):
        assert found["ms_p50", name] > 0
        assert found["requests_per_second", f"{name}, 1 workers"] > 0
        assert found["requests_per_second", f"{name}, 1 workers, bare"] > 0
        assert found["rate_ratio", f"{name}, 1 workers"] > 0
    assert found["ms_p50", "$expand with filter"] > 0
    assert found["ms_p50", "suggest, one caller"] > 0
    assert 0 < found["own_mb", "the second year"] < found["own_mb", "one year"]


def test_a_lost_call_is_told_with_what_was_done_to_the_servers_before_and_meanwhile():
    journal = Journal(began=0.0)
    journal.events += [(1.0, "text API 1 killed"), (3.0, "text API 1 started"), (9.0, "text API 1 ready")]
    journal.calls += [(4.0, 2.5, "GET a code", "ReadTimeout"), (2.0, 4.0, "GET health", "status 502")]
    assert [" ".join(line.split()) for line in journal.lines()] == [
        "2.00 s, GET health: status 502 after 4.00 s; text API 1 killed at -1.00 s; text API 1 started at +1.00 s",
        "4.00 s, GET a code: ReadTimeout after 2.50 s; text API 1 started at -1.00 s",
    ]


def test_logs_are_kept_where_something_was_lost_and_nothing_else_is(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "kept"))
    served, kept = tmp_path / "served", tmp_path / "kept"
    (served / "api1").mkdir(parents=True)
    kept.mkdir()
    for name in ("api1/log", "tries.log", "nginx.out", "key"):
        (served / name).write_text(name)
    journal = Journal()
    journal.note("text API 1 killed")
    journal.keep(served)
    assert list(kept.iterdir()) == []
    journal.call(0.5, "GET health", "ReadTimeout")
    journal.keep(served)
    [folder] = kept.iterdir()
    assert {file.name for file in folder.iterdir()} == {"api1-log", "tries.log", "nginx.out", "events"}
    assert "text API 1 killed" in (folder / "events").read_text()
    assert (said := capsys.readouterr().err).count("GET health: ReadTimeout after 0.50 s; text API 1 killed") == 1
    assert str(folder) in said


@needs_postgres
@pytest.mark.timeout(1_200)
def test_no_post_is_answered_wrongly_while_each_of_four_servers_is_killed(starter_artifact, capsys):
    """The number of lost GETs is the measurement's; ten rounds of it stand in docs/measured.md."""
    program()
    main(["killed", "--catalog", str(starter_artifact), "--rounds", "1", "--json"])
    found = rows_of(capsys)
    assert [of for (measure, of), value in found.items() if measure == "answered_wrongly" and value] == []
    assert min(value for (measure, _), value in found.items() if measure == "calls") > 0
    assert found["lost", "documents"] == found["twice", "documents"] == 0
