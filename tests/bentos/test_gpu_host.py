"""The Bento for the GPU host around a stand-in for vLLM: settings, probes, restarts, the end, and the door."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shlex
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import psutil
import pytest

from bentos.gpu_host import Backoff, Child, WrongSetting, command, environment, read
from bentos.gpu_host.door import OnlyV1
from bentos.gpu_host.extra_flags import ALLOWED, OBJECTS, SWITCHES, VALUES
from bentos.gpu_host.host_settings import SETTINGS_OF_THEIR_OWN
from evals.load.servers import running
from tests.bentos.conftest import ROOT
from tests.serving import free_port, wait_until

KEY = "schluessel-fuer-den-test"

STAND_IN = '''#!{python}
"""Takes the words of `vllm serve`; is ready once the file `ready` lies beside it; ends at once when `broken` does."""
import http.server, json, os, pathlib, signal, sys
here = pathlib.Path(__file__).parent
keys = {{name: os.environ.get(name) for name in ("VLLM_API_KEY", "VLLM_NO_USAGE_STATS", "PYTHONPATH")}}
with open(here / "starts", "a") as starts:
    print(json.dumps({{"pid": os.getpid(), "words": sys.argv[1:], "environment": keys}}), file=starts)
if (here / "broken").exists():
    sys.exit(3)
def end(*_):
    (here / "ended").touch()
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
class Health(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if (here / "ready").exists() else 503)
        self.end_headers()
    def log_message(self, *_):
        pass
port = int(sys.argv[sys.argv.index("--port") + 1])
http.server.ThreadingHTTPServer(("127.0.0.1", port), Health).serve_forever()
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the stand-in as `vllm`."""
    program = tmp_path / "vllm"
    program.write_text(STAND_IN.format(python=sys.executable))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return tmp_path


def _starts(folder: Path) -> list[dict]:
    file = folder / "starts"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


# --- the whole Bento ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Served:
    """`bentoml serve` and its control port."""

    process: subprocess.Popen[bytes]
    control: str
    log: Path

    def state(self, probe: str) -> tuple[int, str]:
        try:
            answer = httpx2.get(f"{self.control}/{probe}", trust_env=False, verify=False, timeout=10)
        except httpx2.TransportError:
            return 0, ""
        return answer.status_code, answer.json()["status"]


SOURCE, BUILT = "bentos.vllm:LanguageServer", "befund-language-server:latest"


@pytest.fixture
def built(folder: Path) -> str:
    """The Bento, built into a store of its own."""
    build = [sys.executable, "-m", "bentoml", "build", "-f", "bentos/vllm.bentofile.yaml"]
    environment = {**os.environ, "BENTOML_HOME": str(folder / "bentoml")}
    done = subprocess.run(build, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return BUILT


@contextmanager
def _served(target: str, folder: Path, *words: str, **settings: object) -> Iterator[Served]:
    control = free_port()
    command = [sys.executable, "-m", "bentoml", "serve", target, "--port", str(control), *words]
    given = {f"BEFUND_VLLM_{name.upper()}": str(value) for name, value in settings.items()}
    environment = {**os.environ, **given, "PATH": f"{folder}:{os.environ['PATH']}"}
    environment["BENTOML_HOME"] = str(folder / "bentoml")
    place = ROOT if target == SOURCE else folder
    log = folder / "log"
    with running(command, lambda: True, environment=environment, folder=place, log=log) as process:
        yield Served(process, f"http://127.0.0.1:{control}", log)


def test_the_control_port_says_starting_during_the_load_and_a_dead_child_comes_back(built, folder):
    """In a built Bento: its settings are those of where it runs."""
    with _served(built, folder, "--arg", "model=another") as refused:
        assert refused.process.wait(60) == 1
    assert "set BEFUND_VLLM_MODEL in its place" in refused.log.read_text().splitlines()[-1]
    settings = {"model": folder, "name": "klein", "api_key": KEY, "shutdown_seconds": 7, "extra": "--seed 3"}
    with _served(built, folder, port=free_port(), **settings) as served:
        wait_until(lambda: served.state("readyz") == (503, "starting"), "it says nothing while vLLM loads", 90)
        assert served.state("livez") == (200, "starting")
        assert httpx2.get(f"{served.control}/metrics", trust_env=False).status_code == 404
        (folder / "ready").touch()
        wait_until(lambda: served.state("readyz") == (200, "ready"), "it did not become ready")
        os.kill(_starts(folder)[0]["pid"], signal.SIGKILL)
        wait_until(lambda: len(_starts(folder)) == 2, "it was not started again")
        wait_until(lambda: served.state("readyz") == (200, "ready"), "it did not become ready again")
    first, second = _starts(folder)
    assert first["words"] == second["words"]
    words = " ".join(first["words"])
    assert words.startswith(f"serve {folder} --served-model-name klein --host 127.0.0.1")
    assert "--shutdown-timeout 7" in words
    assert words.endswith("--middleware bentos.gpu_host.door.OnlyV1 --seed 3")
    assert KEY not in words + served.log.read_text()
    assert first["environment"]["VLLM_API_KEY"] == KEY
    home = Path(first["environment"]["PYTHONPATH"].split(os.pathsep)[0])
    assert (home / "bentos" / "gpu_host" / "door.py").is_file()
    assert not home.is_relative_to(ROOT)
    assert (folder / "ended").exists(), "the child was not ended with its parent"
    assert not psutil.pid_exists(second["pid"])


def test_a_child_that_never_was_ready_ends_the_server(folder):
    (folder / "broken").touch()
    with _served(SOURCE, folder, port=free_port()) as served:
        wait_until(lambda: served.process.poll() is not None, "the server lives on dead", 90)
    assert len(_starts(folder)) == 1
    assert "vLLM ended with status 3 before it was ready" in served.log.read_text()


def test_arguments_are_taken_where_bentoml_passes_them_and_a_wrong_one_is_one_sentence(folder):
    with _served(SOURCE, folder, "--arg", f"port={free_port()}", "--arg", "gpus=many") as served:
        assert served.process.wait(60) == 1
    assert served.log.read_text().splitlines()[-1].startswith("befund: BEFUND_VLLM_GPUS: Input should be")
    assert "Traceback" not in served.log.read_text()


# --- the settings ---------------------------------------------------------------------------------------------------


def test_the_environment_counts_before_the_arguments_and_weights_may_be_a_folder(tmp_path):
    variables = {"BEFUND_VLLM_MODEL": str(tmp_path), "befund_vllm_gpus": "2", "BEFUND_VLLM_VENV": "/x"}
    host = read(variables, {"model": "other/model", "port": "8001"})
    assert (host.model, host.gpus, host.port, host.host) == (str(tmp_path), 2, 8001, "127.0.0.1")
    words = command(host)
    assert words[words.index("--tensor-parallel-size") + 1] == "2"
    assert "--tensor-parallel-size" not in command(read({"BEFUND_VLLM_GPUS": "0"}, {}))


def test_the_key_comes_from_a_setting_a_file_or_vllms_own_variable_and_reaches_vllm_alone(tmp_path):
    (tmp_path / "key").write_text(f"{KEY}\n")
    for variables in (
        {"BEFUND_VLLM_API_KEY": KEY},
        {"BEFUND_VLLM_API_KEY_FILE": str(tmp_path / "key")},
        {"VLLM_API_KEY": KEY},
    ):
        host = read({**variables, "BEFUND_VLLM_HOST": "0.0.0.0"}, {})
        assert environment(host, variables)["VLLM_API_KEY"] == KEY
        assert KEY not in repr(host) + " ".join(command(host))


def test_vllm_counts_apart_from_bentoml_whose_folder_the_next_server_empties():
    given = environment(read({}, {}), {"PROMETHEUS_MULTIPROC_DIR": "/bentoml/prometheus", "HOME": "/root"})
    assert "PROMETHEUS_MULTIPROC_DIR" not in given
    assert given["HOME"] == "/root"


@pytest.mark.parametrize(
    ("variables", "arguments", "said"),
    [
        ({"BEFUND_VLLM_" + "MODLE": "x"}, {}, "BEFUND_VLLM_MODLE is no setting; perhaps BEFUND_VLLM_MODEL"),
        ({}, {"modell": "x"}, "perhaps BEFUND_VLLM_MODEL"),
        ({"BEFUND_VLLM_GPUS": "-1"}, {}, "BEFUND_VLLM_GPUS: Input should be greater than or equal to 0"),
        ({"BEFUND_VLLM_MAX_MODEL_LEN": "2048"}, {}, "BEFUND_VLLM_MAX_MODEL_LEN: Input should be greater"),
        ({"BEFUND_VLLM_MODEL": "/no/weights"}, {}, "BEFUND_VLLM_MODEL: no folder /no/weights here"),
        ({"BEFUND_VLLM_HOST": "0.0.0.0"}, {}, "BEFUND_VLLM_API_KEY is not set and BEFUND_VLLM_HOST is 0.0.0.0"),
        ({"BEFUND_VLLM_API_KEY": "kurz"}, {}, "BEFUND_VLLM_API_KEY has 4 characters"),
        ({"BEFUND_VLLM_API_KEY_FILE": "/no/key"}, {}, "BEFUND_VLLM_API_KEY_FILE names a file that cannot be read"),
        ({}, {"api_key": KEY}, "shows the key to everyone"),
        ({"BEFUND_VLLM_EXTRA": "--api-key x"}, {}, "--api-key has a setting of its own, BEFUND_VLLM_API_KEY"),
        ({"BEFUND_VLLM_EXTRA": "--enable-log-requests"}, {}, "--enable-log-requests is refused"),
        ({"BEFUND_VLLM_EXTRA": "'"}, {}, "a quotation mark is not closed"),
    ],
)
def test_a_wrong_setting_is_one_sentence_that_names_it(variables, arguments, said):
    with pytest.raises(WrongSetting) as refused:
        read(variables, arguments)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert KEY not in str(refused.value)


@pytest.mark.parametrize("typed", [["--arg", "model=x"], ["--arg=port=1,model=x"]])
def test_an_argument_that_a_built_bento_drops_is_refused(typed):
    with pytest.raises(WrongSetting, match="set BEFUND_VLLM_MODEL in its place"):
        read({}, {"port": 1}, ["bentoml", "serve", "befund-language-server:latest", *typed])
    assert read({}, {"model": "x", "port": 1}, ["bentoml", "serve", "bentos.vllm:LanguageServer", *typed]).model == "x"


# --- what may be added to the command line --------------------------------------------------------------------------

OPTIONS = (Path(__file__).parent / "vllm_options.txt").read_text("utf-8").split()
"""Every option of `vllm serve` 0.32.0, from `vllm/engine/arg_utils.py` and `vllm/entrypoints/launchers/cli_args.py`."""
SECRET = "geheimer-wert"

REFUSED = [
    # underscores, which vLLM reads as hyphens
    "--enable_prefix_caching",
    "--enable-prefix_caching",
    "--enable_log_requests",
    "--enable_log_outputs",
    "--log_error_stack",
    "--no_disable_uvicorn_access_log",
    "--no_disable_fastapi_docs",
    f"--api_key {SECRET}",
    f"--api_key={SECRET}",
    "--root_path /v1",
    "--max_model_len 100",
    "--tensor_parallel_size 2",
    "--served_model_name other",
    "--gpu_memory_utilization 1",
    # beginnings, which argparse completes
    "--enable-prefix",
    "--enable_prefix",
    "--enable-log-r",
    "--enable-log-o",
    "--log-err",
    "--middle other.Middleware",
    f"--api-k {SECRET}",
    "--no-disable-uv",
    "--quant fp8",
    # options that read, keep, log or send
    "--config /etc/vllm.yaml",
    "--config=/etc/vllm.yaml",
    "--log-config-file /etc/log.json",
    "--logging-config /etc/log.json",
    "--logging-config.log_level DEBUG",
    "--log-level DEBUG",
    "--uvicorn-log-level trace",
    "--max-log-len 100",
    "--kv-transfer-config {}",
    "--kv-transfer-config.kv_connector OffloadingConnector",
    "--kv_transfer_config.kv_connector=OffloadingConnector",
    "--kv-offloading-size 8",
    "--kv_offloading_size=8",
    "--kv-events-config {}",
    "--prefix-caching-hash-algo sha256",
    "--otlp-traces-endpoint http://collector:4317",
    "--collect-detailed-traces all",
    "--profiler-config {}",
    "--structured-outputs-config.backend xgrammar",
    "--speculative-config {}",
    # ways round the door, and code of others
    "--uds /tmp/vllm",
    "--grpc",
    "--device-memory-utilization 1",
    "--worker-cls other.Worker",
    "--trust-remote-code",
    "--tool-parser-plugin /tmp/code.py",
    # short forms, values that are none, and what is no option
    "-tp=2",
    "-tp2",
    "-dp 2",
    "-q fp8",
    "-cc {}",
    "-O3",
    "--",
    f"{SECRET}",
    f"--seed 3 {SECRET}",
    "--seed",
    "--seed --config",
    "--tokenizer --enable-prefix-caching",
    "--seed.x 3",
    "--enforce-eager=true",
    "--Seed 3",
    "---seed 3",
    "\u2013\u2013enable-prefix-caching",
]


@pytest.mark.parametrize("extra", REFUSED)
def test_what_may_not_be_added_to_vllms_command_line_is_refused_in_every_spelling(extra):
    with pytest.raises(WrongSetting) as refused:
        read({"BEFUND_VLLM_EXTRA": extra}, {})
    said = str(refused.value)
    assert said.startswith("BEFUND_VLLM_EXTRA: ")
    assert SECRET not in said
    assert "\n" not in said


def test_a_refusal_names_the_option_as_it_was_written_and_what_is_allowed():
    with pytest.raises(WrongSetting) as refused:
        read({"BEFUND_VLLM_EXTRA": f"--seed 3 --kv_transfer_config={SECRET}"}, {})
    start, _, allowed = str(refused.value).partition("are --")
    assert "--kv_transfer_config is refused" in start
    assert f"--{allowed}".split(", ") == sorted(ALLOWED)


@pytest.mark.parametrize(
    "extra",
    [
        "--quantization fp8",
        "--quantization=fp8",
        "--max_num_seqs 64 --enforce_eager",
        "--no-async-scheduling --no_use_tqdm_on_load",
        "--tokenizer-mode mistral --config-format mistral --load-format mistral",
        "--pipeline-parallel-size 2 --distributed-executor-backend ray",
        "--reasoning-parser qwen3 --seed -1",
        "--limit-mm-per-prompt.image 0 --limit_mm_per_prompt.video=0",
        """--hf-overrides '{"rope_parameters": {"factor": 4.0}}' --chat-template ''""",
        "--no-enable-prefix-caching --no_enable_log_requests",
        "",
    ],
)
def test_what_may_be_added_stands_last_on_the_command_line_as_it_was_written(extra):
    host = read({"BEFUND_VLLM_EXTRA": extra}, {})
    assert command(host)[len(command(read({}, {}))) :] == shlex.split(extra)


@pytest.mark.parametrize("spelled", [str, lambda option: "--" + option.removeprefix("--").replace("-", "_")])
def test_of_all_options_of_the_pinned_vllm_exactly_the_allowed_pass(spelled):
    def passes(option: str) -> bool:
        try:
            read({"BEFUND_VLLM_EXTRA": spelled(option) if option in SWITCHES else f"{spelled(option)}=1"}, {})
        except WrongSetting:
            return False
        return True

    assert len(OPTIONS) > 300
    assert {option for option in OPTIONS if passes(option)} == ALLOWED
    assert ALLOWED.isdisjoint(SETTINGS_OF_THEIR_OWN)
    assert set(SETTINGS_OF_THEIR_OWN) <= set(OPTIONS)
    assert len(SWITCHES) + len(VALUES) + len(OBJECTS) == len(ALLOWED)


# --- the watch ------------------------------------------------------------------------------------------------------

QUICK = Backoff(first=0.01, longest=0.02, most=3, steady=3_600, hung=0.1, look=0.01)


def _watch(folder: Path, until: Callable[[Child], bool], backoff: Backoff = QUICK) -> Child:
    """Run a child until the condition holds or it is given up."""

    async def run() -> Child:
        port = free_port()
        words = [str(folder / "vllm"), "--port", str(port)]
        child = Child(words, dict(os.environ), f"http://127.0.0.1:{port}/health", backoff)
        watching = asyncio.create_task(child.run(start_seconds=60, end_seconds=5))
        async with asyncio.timeout(60):
            while not watching.done() and not until(child):
                await asyncio.sleep(0.01)
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        return child

    return asyncio.run(run())


def test_a_child_that_dies_again_and_again_is_given_up(folder):
    (folder / "ready").touch()

    def kill_when_ready(child: Child) -> bool:
        if child.state == "ready" and len(_starts(folder)) == child.starts:
            with contextlib.suppress(psutil.NoSuchProcess):  # killed in the last look, and not yet missed
                psutil.Process(_starts(folder)[-1]["pid"]).kill()
        return False

    child = _watch(folder, kill_when_ready)
    assert child.state == "failed"
    assert child.starts == 1 + QUICK.most


def test_a_child_that_hangs_is_ended_and_started_again(folder):
    (folder / "ready").touch()

    def hang_once(child: Child) -> bool:
        if child.state == "ready" and child.starts == 1:
            (folder / "ready").unlink(missing_ok=True)
        if child.starts == 2:
            (folder / "ready").touch()
        return child.starts == 2 and child.state == "ready"

    assert _watch(folder, hang_once).state == "stopping"
    assert not any(psutil.pid_exists(start["pid"]) for start in _starts(folder))


def test_a_program_that_is_not_there_is_given_up_at_once(tmp_path):
    assert _watch(tmp_path, lambda child: False).state == "failed"


# --- the door -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "client", "headers", "status"),
    [
        ("/v1/models", "10.1.2.3", {}, 200),
        ("/health", "127.0.0.1", {}, 200),
        ("/health", "::1", {}, 200),
        ("/health", "10.1.2.3", {}, 404),
        ("/metrics", "10.1.2.3", {}, 404),
        ("/tokenize", "10.1.2.3", {}, 404),
        ("/v1", "10.1.2.3", {}, 404),
        ("//v1/models", "10.1.2.3", {}, 404),
        ("/metrics", "127.0.0.1", {"X-Forwarded-For": "10.1.2.3"}, 404),
    ],
)
def test_only_v1_answers_from_outside(path, client, headers, status):
    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def ask() -> int:
        transport = httpx2.ASGITransport(OnlyV1(app), client=(client, 1))
        async with httpx2.AsyncClient(transport=transport, base_url="http://host") as asking:
            return (await asking.get(f"http://host{path}", headers=headers)).status_code

    assert asyncio.run(ask()) == status
