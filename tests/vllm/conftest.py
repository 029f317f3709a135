"""A real vLLM on CPU, started by the Bento for the GPU host, and the text API in front of it.

`make test-vllm` runs these tests: it installs what they need (3.5 GB) where BEFUND_VLLM_VENV says. `make test` leaves
them to it, and says so in its first lines.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import psutil
import pytest

from tests.bentos.conftest import key, keys, make_settings, settings  # noqa: F401 - fixtures
from tests.serving import answers, free_port, wait_until

ROOT = Path(__file__).resolve().parents[2]
VENV = os.environ.get("BEFUND_VLLM_VENV", "")
collect_ignore = [] if VENV else ["test_vllm.py", "test_extraction.py", "test_measured.py"]
START_SECONDS = 600
PATIENCE = 60
"""Seconds within which what must happen has happened, also on a machine busy with other work. That an engine stops
early is seen by the tokens it has written, not by the clock."""


def pytest_report_header() -> str:
    """Say where these tests are."""
    return "tests/vllm: on" if VENV else "tests/vllm: run by `make test-vllm`"


@dataclass(frozen=True)
class RealServer:
    """vLLM's own address, BentoML's address, and everything that both wrote."""

    base_url: str
    metrics_url: str
    control_url: str
    log: Path
    pid: int

    def running(self) -> float:
        """Requests that the engine works on, from vLLM's own metric."""
        return self._metric("vllm:num_requests_running")

    def tokens(self) -> float:
        """Tokens that the engine has written so far."""
        return self._metric("vllm:generation_tokens_total")

    def idle(self) -> bool:
        """Return True when no request is under way and none begins within half a second."""
        before = self.tokens()
        if self.running():
            return False
        time.sleep(0.5)
        return self.running() == 0 and self.tokens() == before

    def _metric(self, name: str) -> float:
        lines = httpx2.get(self.metrics_url, trust_env=False, timeout=PATIENCE).text.splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name))


@pytest.fixture(scope="session")
def language_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    """Make the model, start the Bento, wait until it is ready."""
    folder = tmp_path_factory.mktemp("vllm")
    python = f"{VENV}/bin/python"
    texts = ROOT / "catalog_build" / "starter" / "icd10gm2026_alphaidse_edvtxt_starter.txt"
    script = ROOT / "tests" / "vllm" / "make_model.py"
    subprocess.run([python, str(script), str(texts), str(folder / "model")], check=True, capture_output=True)
    port, control = free_port(), free_port()
    given = {
        "MODEL": folder / "model",
        "NAME": "random-llama",
        "GPUS": 0,
        "PORT": port,
        "MAX_MODEL_LEN": 8192,
        "EXTRA": "--dtype bfloat16 --enforce-eager",
    }
    command = [sys.executable, "-m", "bentoml", "serve", "bentos.vllm:LanguageServer", "--port", str(control)]
    environment = {**os.environ, "PATH": f"{VENV}/bin:{os.environ['PATH']}", "VLLM_CPU_KVCACHE_SPACE": "1"}
    environment |= {f"BEFUND_VLLM_{name}": str(value) for name, value in given.items()}
    with open(folder / "log", "wb") as log:
        server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            ready = f"http://127.0.0.1:{control}/readyz"
            wait_until(lambda: server.poll() is not None or answers(ready), "vLLM did not start", START_SECONDS)
            assert server.poll() is None, (folder / "log").read_text("utf-8", "replace")[-3000:]
            base = f"http://127.0.0.1:{port}"
            yield RealServer(f"{base}/v1", f"{base}/metrics", f"http://127.0.0.1:{control}", folder / "log", server.pid)
        finally:
            stop(server.pid)
            server.wait(20)


def stop(pid: int) -> None:
    """End a server and everything it started, gently and then by force."""
    try:
        server = psutil.Process(pid)
    except psutil.NoSuchProcess:
        return
    family = [*server.children(recursive=True), server]
    server.terminate()
    _, alive = psutil.wait_procs(family, timeout=15)
    for process in alive:
        process.kill()
