"""Settings of a GPU host: `BEFUND_VLLM_*` where the Bento runs, or `--arg` where BentoML passes it on.

A built Bento drops every `--arg` without a word (BentoML 1.4.39 puts the arguments of its build over them), so the
environment is what counts; an argument that was dropped is refused here instead. A wrong setting is one sentence.
"""

from __future__ import annotations

import difflib
import ipaddress
import itertools
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, model_validator

from bentos.gpu_host.extra_flags import why_refused

PREFIX = "BEFUND_VLLM_"
BENTOML_COUNTS = "PROMETHEUS_MULTIPROC_DIR"
"""Variable by which BentoML tells its workers the folder of their counts."""
NOT_OURS = frozenset({"VENV"})
"""BEFUND_VLLM_VENV is where the tests find a vLLM."""
SHORTEST_KEY = 16

PRIVATE = (
    "--no-enable-prefix-caching",
    "--no-enable-log-requests",
    "--no-enable-log-outputs",
    "--no-log-error-stack",
    "--disable-uvicorn-access-log",
    "--disable-fastapi-docs",
)
"""Contents are neither cached nor logged. Prefix caching is on by default in vLLM."""

SCHEMAS = (
    "--structured-outputs-config.backend",
    "guidance",
    "--structured-outputs-config.disable_any_whitespace",
    "true",
)
"""xgrammar, the default, let raw control characters into strings (5 of 10 answers failed strict parsing)."""

DOOR = ("--middleware", "bentos.gpu_host.door.OnlyV1")

SETTINGS_OF_THEIR_OWN = {
    "--model": "MODEL",
    "--served-model-name": "NAME",
    "--host": "HOST",
    "--port": "PORT",
    "--max-model-len": "MAX_MODEL_LEN",
    "--tensor-parallel-size": "GPUS",
    "-tp": "GPUS",
    "--gpu-memory-utilization": "MEMORY",
    "--device-memory-utilization": "MEMORY",
    "--shutdown-timeout": "SHUTDOWN_SECONDS",
    "--api-key": "API_KEY",
}
QUIET = {"VLLM_NO_USAGE_STATS": "1", "VLLM_LOGGING_LEVEL": "WARNING", "DO_NOT_TRACK": "1"}
"""Environment of vLLM. At INFO it prints the flags and, in some paths, request ids; nothing of that is needed."""


class WrongSetting(ValueError):
    """A setting is wrong; the text is one sentence for an operator and holds no secret."""


def _default_host() -> str:
    """Loopback, except in the image of a Bento, where loopback reaches nobody."""
    return "0.0.0.0" if os.environ.get("BENTOML_CONTAINERIZED") == "true" else "127.0.0.1"  # noqa: S104


class Host(BaseModel):
    """One GPU host. `gpus` is the tensor parallelism, 0 runs on CPU; `max_model_len` in tokens, `memory` a share."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    model: str = Field(default="Qwen/Qwen2.5-7B-Instruct", min_length=1)
    name: str = ""
    gpus: int = Field(default=1, ge=0, le=64)
    max_model_len: int = Field(default=16_384, ge=4_096)
    memory: float = Field(default=0.9, gt=0, le=1)
    host: str = Field(default_factory=_default_host)
    port: int = Field(default=8000, ge=1, le=65_535)
    control_port: int = Field(default=3001, ge=1, le=65_535)
    shutdown_seconds: int = Field(default=20, ge=0, le=600)
    start_seconds: int = Field(default=1_800, ge=10)
    api_key: SecretStr | None = None
    extra: str = ""

    @model_validator(mode="after")
    def _folder(self) -> Self:
        if self.model.startswith(("/", ".", "~")) and not Path(self.model).expanduser().is_dir():
            raise ValueError(f"MODEL: no folder {self.model} here; expected weights on this host or a name")
        return self

    @model_validator(mode="after")
    def _extra(self) -> Self:
        own = {option: f"{PREFIX}{setting}" for option, setting in SETTINGS_OF_THEIR_OWN.items()}
        if why := why_refused(self.flags, own, PRIVATE):
            raise ValueError(f"EXTRA: {why}")
        return self

    @model_validator(mode="after")
    def _guarded(self) -> Self:
        key = self.api_key.get_secret_value() if self.api_key else ""
        if not key and not _is_loopback(self.host):
            raise ValueError(
                f"API_KEY is not set and {PREFIX}HOST is {self.host}; without a key vLLM serves loopback only"
            )
        if key and len(key) < SHORTEST_KEY:
            raise ValueError(f"API_KEY has {len(key)} characters; expected at least {SHORTEST_KEY}")
        return self

    @property
    def flags(self) -> list[str]:
        """`extra` as words."""
        try:
            return shlex.split(self.extra)
        except ValueError:
            raise ValueError("EXTRA: a quotation mark is not closed") from None

    @property
    def health_url(self) -> str:
        """URL of vLLM's health check of its engine, as seen from this machine."""
        return f"http://{'[::1]' if ':' in self.host else '127.0.0.1'}:{self.port}/health"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read(variables: Mapping[str, str], arguments: Mapping[str, Any], typed: Sequence[str] = ()) -> Host:
    """The settings from the environment, over those of `--arg`; `typed` are the words of the command line.

    Raises WrongSetting.
    """
    _refuse_dropped(typed, arguments)
    given = {name.upper(): value for name, value in variables.items() if name.upper().startswith(PREFIX) and value}
    values = {name.removeprefix(PREFIX).lower(): value for name, value in given.items()}
    values = {name: value for name, value in values.items() if name.upper() not in NOT_OURS}
    if file := values.pop("api_key_file", ""):
        values["api_key"] = _content(file)
    if "api_key" not in values and variables.get("VLLM_API_KEY"):
        values["api_key"] = variables["VLLM_API_KEY"]
    if "api_key" in arguments:
        raise WrongSetting(f"--arg api_key shows the key to everyone on this machine; set {PREFIX}API_KEY")
    merged = {**arguments, **values}
    for name in sorted(set(merged) - set(Host.model_fields)):
        near = difflib.get_close_matches(name, sorted(Host.model_fields), n=1, cutoff=0)[0]
        raise WrongSetting(f"{PREFIX}{name.upper()} is no setting; perhaps {PREFIX}{near.upper()}")
    try:
        return Host(**merged)
    except ValidationError as error:
        raise WrongSetting(_sentence(error)) from None


def _refuse_dropped(typed: Sequence[str], arguments: Mapping[str, Any]) -> None:
    """Words after `--arg` that BentoML did not pass on."""
    pairs = [word.removeprefix("--arg=") for word in typed if word.startswith("--arg=")]
    pairs += [word for before, word in itertools.pairwise(typed) if before == "--arg"]
    for pair in (one for several in pairs for one in several.split(",")):
        name = pair.partition("=")[0].strip()
        if name in Host.model_fields and name not in arguments:
            raise WrongSetting(f"BentoML passes no --arg to a built Bento; set {PREFIX}{name.upper()} in its place")


def _content(file: str) -> str:
    try:
        return Path(file).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        name = type(error).__name__
        raise WrongSetting(f"{PREFIX}API_KEY_FILE names a file that cannot be read ({name})") from None


def _sentence(error: ValidationError) -> str:
    first = error.errors(include_input=False, include_url=False)[0]
    message = first["msg"].removeprefix("Value error, ")
    return f"{PREFIX}{str(first['loc'][0]).upper()}: {message}" if first["loc"] else f"{PREFIX}{message}"


def command(host: Host) -> list[str]:
    """The `vllm serve` command line; the key is not on it."""
    parallel = (
        ["--tensor-parallel-size", str(host.gpus), "--gpu-memory-utilization", str(host.memory)] if host.gpus else []
    )
    return [
        "vllm",
        "serve",
        host.model,
        *("--served-model-name", host.name or host.model.rstrip("/").rpartition("/")[2]),
        *("--host", host.host),
        *("--port", str(host.port)),
        *("--max-model-len", str(host.max_model_len)),
        *("--shutdown-timeout", str(host.shutdown_seconds)),
        *parallel,
        *PRIVATE,
        *SCHEMAS,
        *DOOR,
        *host.flags,
    ]


def environment(host: Host, here: Mapping[str, str]) -> dict[str, str]:
    """vLLM's environment: this one, quiet, with the key, and with the folder in which it finds its door; without
    BentoML's folder of counts, which the next server of the same user empties, vLLM's counts with it."""
    ours = {name: value for name, value in here.items() if not name.startswith(PREFIX) and name != BENTOML_COUNTS}
    home = str(Path(__file__).resolve().parents[2])
    ours["PYTHONPATH"] = os.pathsep.join(filter(None, (home, here.get("PYTHONPATH"))))
    key = {"VLLM_API_KEY": host.api_key.get_secret_value()} if host.api_key else {}
    return {**ours, **QUIET, **key}
