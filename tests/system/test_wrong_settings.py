"""Wrong settings: whichever it is, the start of a server ends in one sentence that names it, and quotes no secret."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import bentos.__main__
import bentos.gpu_host.host_settings as gpu_host
import webapp.__main__
from clinical.settings import settings
from tests.serving import free_port
from tests.webapp.conftest import make_app
from webapp.cli import upgrade_schema
from webapp.watching import server_ended

ROOT = Path(__file__).resolve().parents[2]
API, WEB, GPU = "text API", "webapp", "GPU host"
NOBODY = "127.0.0.1:9"
"""Port of the discard service, at which nothing listens."""

ROWS: tuple[tuple[str, str, str], ...] = (
    (API, "ENV", "geheim"),
    (API, "VAR", "/proc/geheim"),
    (API, "CATALOG", "/nowhere/geheim"),
    (API, "CATALOGS", "/nowhere/geheim"),
    (API, "API_HOST", "203.0.113.77"),
    (API, "API_HOST", "other.invalid"),
    (API, "API_PORT", "geheim"),
    (API, "API_PORT", "0"),
    (API, "API_PORT", "70000"),
    (API, "WORKERS", "viele"),
    (API, "WORKERS", "0"),
    (API, "WORKERS", "300"),
    (API, "LOG_FORMAT", "xml"),
    (API, "DRAIN_SECONDS", "-1"),
    (API, "OCR", "geheim"),
    (API, "INTERNAL_PATH", "geheim"),
    (API, "INTERNAL_PATH", "/api"),
    (API, "ALLOWED_HOSTS", "https://geheim.example/"),
    (API, "API_DATABASE_URL", "geheim"),
    (API, "API_DATABASE_URL", "mysql://befund:geheim@127.0.0.1/befund"),
    (API, "API_DATABASE_URL", f"postgresql://befund:geheim@{NOBODY}/befund"),
    (API, "API_DATABASE_URL", "postgresql://befund:ge@heim@127.0.0.1/befund"),
    (API, "API_DATABASE_URL", "postgresql://befund:geheim@127.0.0.1:abc/befund"),
    (API, "API_DATABASE_URL", "sqlite:////proc/none/api.sqlite"),
    (API, "LIMITS_URL", "geheim"),
    (API, "LIMITS_URL", "redis://127.0.0.1:geheim/0"),
    (API, "LIMITS_URL", f"redis://:geheim@{NOBODY}/0"),
    (API, "LIMITS_URL", "redis://:geheim@127.0.0.1/geheim"),
    (API, "TRACES_URL", "geheim"),
    (API, "TRACES_URL", "http://[::1]:geheim/v1/traces"),
    (API, "LLM", "geheim"),
    (API, "LLM_FALLBACK", "geheim"),
    (API, "LLM_BASE_URL", "geheim:8000/v1"),
    (API, "LLM_BASE_URL", "http://127.0.0.1:geheim/v1"),
    (API, "LLM_CONCURRENCY", "viele"),
    (API, "LLM_CONCURRENCY", "0"),
    (API, "LLM_QUEUE", "-1"),
    (API, "LLM_CONTEXT", "100"),
    (API, "LLM_THINKING_TOKENS", "-1"),
    (API, "LLM_REASONING_EFFORT", "geheim"),
    (API, "LLM_SEED", "geheim"),
    (API, "LLM_CANARY", "2"),
    (API, "LLM_CANARY", "0.5"),
    (API, "LLM_TEMPLATE_ARGS", "geheim"),
    (API, "LLM_EXTRA_BODY", "[1]"),
    (API, "LMM_MODEL", "geheim"),
    (API, "INTERNAL_KEY_FILE", "/nowhere/geheim"),
    (WEB, "SECRET_KEY", ""),
    (WEB, "SECRET_KEY", "geheim"),
    (WEB, "SECRET_KEY", "x" * 40),
    (WEB, "SECRET_KEY_FILE", "/nowhere/geheim"),
    (WEB, "WEB_PORT", "geheim"),
    (WEB, "WEB_HOST", "203.0.113.77"),
    (WEB, "WEB_PIN", "geheim"),
    (WEB, "DATABASE_URL", "geheim"),
    (WEB, "DATABASE_URL", f"postgresql://befund:geheim@{NOBODY}/befund"),
    (WEB, "DATABASE_URL", "postgresql://befund:ge@heim@127.0.0.1/befund"),
    (WEB, "DATABASE_WAIT", "0"),
    (WEB, "STORAGE", "ftp://geheim"),
    (WEB, "STORAGE", "file:///proc/geheim"),
    (WEB, "LIMITS_URL", f"redis://:geheim@{NOBODY}/0"),
    (WEB, "MAIL_URL", "geheim:25"),
    (WEB, "MAIL_URL", "smtp://user:geheim@127.0.0.1:abc"),
    (WEB, "PUBLIC_URL", "http://geheim.example"),
    (WEB, "PUBLIC_URL", "geheim.example"),
    (WEB, "PUBLIC_URL", ""),
    (WEB, "TRUSTED_PROXIES", "-1"),
    (WEB, "PRIVATE_VENDORS", "geheim"),
    (WEB, "SESSION_PROFILE", "geheim"),
    (WEB, "SESSION_IDLE", "0"),
    (WEB, "PRESIGN", "geheim"),
    (WEB, "STORAGE_LINK", "1"),
    (WEB, "WORKBENCH_API_URL", "geheim"),
    (WEB, "WORKBENCH_STREAMS", "100"),
    (WEB, "WORKBENCH_CATALOG", "geheim"),
    (WEB, "WORKBENCH_EARLIER", "/nowhere/geheim"),
    (WEB, "WEB_CONCURRENCY", "viele"),
    (WEB, "WEB_CONCURRENCY", "0"),
    (WEB, "WEPPORT", "1"),
    (GPU, "MODEL", "/nowhere/geheim"),
    (GPU, "HOST", "0.0.0.0"),
    (GPU, "PORT", "geheim"),
    (GPU, "GPUS", "-1"),
    (GPU, "MEMORY", "90"),
    (GPU, "MAX_MODEL_LEN", "100"),
    (GPU, "API_KEY", "geheim"),
    (GPU, "EXTRA", "--enable_prefix_caching"),
    (GPU, "EXTRA", "--quantization 'fp8"),
    (GPU, "START_SECOND", "5"),
)
"""Each: the server, the setting without BEFUND_ (WEB_CONCURRENCY is gunicorn's own), and a value that cannot be."""


class Started(BaseException):
    """The server would now be running."""


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory, starter_artifact: Path) -> dict[str, dict[str, str]]:
    """Settings of each server in production with which it starts."""
    folder = tmp_path_factory.mktemp("sound")
    url = f"sqlite:///{folder / 'webapp.sqlite3'}"
    with make_app(url, folder).app_context():
        upgrade_schema()
    common = {"BEFUND_ENV": "production", "BEFUND_VAR": str(folder), "BEFUND_CATALOG": str(starter_artifact)}
    secret = {"BEFUND_SECRET_KEY": "only-for-tests-and-nothing-else-4711-Xyz"}
    return {
        API: common,
        WEB: common | secret | {"BEFUND_DATABASE_URL": url, "BEFUND_PUBLIC_URL": "https://befund.example"},
        GPU: {},
    }


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str, Mapping[str, str]], int]:
    """Starts a server up to the moment at which this process would become it."""

    def begun(*_: object) -> None:
        raise Started

    def run(server: str, given: Mapping[str, str]) -> int:
        for name in [name for name in os.environ if name.startswith("BEFUND_")]:
            monkeypatch.delenv(name)
        for name, value in given.items():
            monkeypatch.setenv(name, value)
        settings.cache_clear()
        if server == GPU:
            try:
                gpu_host.read(given, {})
            except gpu_host.WrongSetting as error:
                print(f"befund: {error}", file=sys.stderr)
                return 1
            raise Started
        try:
            return {API: bentos.__main__.main, WEB: webapp.__main__.main}[server](["serve"])
        except SystemExit as end:  # of a command of Flask
            return int(end.code or 0)

    monkeypatch.chdir(tmp_path)
    for written in ("PROMETHEUS_MULTIPROC_DIR", "MALLOC_ARENA_MAX"):  # into the environment of what comes
        monkeypatch.setenv(written, "")
    monkeypatch.setattr(os, "execv", begun)
    monkeypatch.setattr(os, "execve", begun)
    yield run
    server_ended()
    settings.cache_clear()


@pytest.mark.parametrize("server", [API, WEB, GPU])
def test_a_server_starts_with_sound_settings(server, sound, start):
    own = {} if server == GPU else {"BEFUND_API_PORT": str(free_port()), "BEFUND_WEB_PORT": str(free_port())}
    with pytest.raises(Started):
        start(server, sound[server] | own)


@pytest.mark.parametrize(("server", "name", "value"), ROWS, ids=lambda value: value or "empty")
def test_a_wrong_setting_ends_in_one_sentence(server, name, value, sound, start, capfd):
    full = name if name == "WEB_CONCURRENCY" else f"BEFUND_{'VLLM_' if server == GPU else ''}{name}"
    own = {} if server == GPU else {"BEFUND_API_PORT": str(free_port()), "BEFUND_WEB_PORT": str(free_port())}
    others = {other: set_ for other, set_ in (sound[server] | own).items() if f"{other}_FILE" != full}
    assert start(server, others | {full: value}) in (1, 2)
    shown = capfd.readouterr()
    said = shown.err.strip().splitlines()
    assert len(said) == 1, said
    assert full in said[0]
    assert "Traceback" not in shown.out + shown.err
    if not value.startswith("/"):
        assert not re.search("ge@?heim", said[0])
