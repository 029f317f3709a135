"""`make up`: the servers of the Procfile side by side, and what a newcomer needs to try them.

honcho runs the lines of the Procfile; Ctrl-C ends them all, by force two seconds after BEFUND_DRAIN_SECONDS.
"""

from __future__ import annotations

import os
import shlex
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import honcho.manager
import httpx2
from honcho.environ import parse_procfile
from honcho.manager import Manager

from bentos.keys import KeyLimits, Keys, Unauthorized, open_keys
from bentos.serve import require_artifact
from clinical.errors import SettingError
from clinical.running import RUNNING, leave
from clinical.settings import ROOT, Settings, address, require_free_port

DEMO_LIMITS = KeyLimits(per_minute=600)
DEMO_QUERY = "Zuckerkrankheit"
START_SECONDS = 120
ASK_AGAIN = 0.5
"""Seconds between two questions whether the text API is ready: each is a line of its log above the greeting."""
END_SECONDS = 2
"""For the end of a server after its requests have ended; honcho would cut it after five seconds in all."""
BY_RULES = (
    "  model     none: fixed rules answer, no language model. For a language model set BEFUND_LLM_BASE_URL to an",
    "            OpenAI-compatible server, e.g. vLLM: http://gpu-host:8000/v1 (docs/operate.md, GPU host)",
)


Addresses = Mapping[str, tuple[str, int, str]]
"""Name in the Procfile -> host, port, and the setting that changes the port."""


def up(settings: Settings, names: Sequence[str] = ()) -> int:
    """Start the named lines of the Procfile, or all; returns when they have ended."""
    lines = parse_procfile((ROOT / "Procfile").read_text("utf-8")).processes
    chosen = {name: lines[name] for name in names or lines if name in lines}
    if unknown := set(names) - set(lines):
        raise SettingError(f"no line {', '.join(sorted(unknown))} in the Procfile", f"some of {', '.join(lines)}")
    require_artifact(settings)
    if "web" in chosen or settings.development:
        settings = settings.with_secret()
    addresses = {name: where for name, where in addresses_of(settings).items() if name in chosen}
    for host, port, setting in addresses.values():
        require_free_port(host, port, setting)
    key = demo_key(open_keys(settings), settings.var / "demo-key")
    with leave(settings.var / RUNNING, _ours(settings)):
        return _run(chosen, settings, _greeting(settings, addresses, key))


def _ours(settings: Settings) -> dict[str, str]:
    """For a second terminal: the settings in this process's environment (`.env` it reads itself), and the secret."""
    ours = {name: value for name, value in os.environ.items() if name.startswith("BEFUND_")}
    ours.pop("BEFUND_SECRET_KEY_FILE", None)
    return {**ours, "BEFUND_SECRET_KEY": settings.secret} if settings.secret else ours


def _run(chosen: Mapping[str, str], settings: Settings, greeting: str) -> int:
    """Start the processes and wait until they have ended."""
    honcho.manager.KILL_WAIT = max(honcho.manager.KILL_WAIT, settings.drain_seconds + END_SECONDS)
    manager = Manager()
    environment = {"PYTHONUNBUFFERED": "1", **os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    if settings.llm_base_url is None:
        environment["BEFUND_LLM"] = "rules"
    elif "llm_fallback" not in settings.model_fields_set:
        environment["BEFUND_LLM_FALLBACK"] = "rules"
    for name, command in chosen.items():
        manager.add_process(name, _with_this_python(command), env=environment)
    awaited = _base(settings) if "api" in chosen else ""
    threading.Thread(target=_announce, args=(awaited, greeting), daemon=True).start()
    manager.loop()
    # 128 + signal: ended from the keyboard or by the service manager, which is how this is meant to end.
    return 0 if manager.returncode in {130, 143} else int(manager.returncode or 0)


def addresses_of(settings: Settings) -> Addresses:
    """Host, port and port setting of every server that the Procfile may name."""
    return {
        "api": (settings.api_host, settings.api_port, "BEFUND_API_PORT"),
        "web": (settings.web_host, settings.web_port, "BEFUND_WEB_PORT"),
    }


def _with_this_python(command: str) -> str:
    """`python` of the Procfile is the one that runs now, whatever PATH says."""
    return shlex.quote(sys.executable) + command.removeprefix("python") if command.startswith("python ") else command


def demo_key(keys: Keys, path: Path) -> str:
    """The demo key in `path` if it is still good, else a new one; the file is its owner's only."""
    if path.exists():
        key = path.read_text("ascii").strip()
        try:
            keys.check(key)
            return key
        except Unauthorized:
            path.unlink()
    key = keys.create("demo", DEMO_LIMITS)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
        file.write(f"{key}\n")
    return key


def _announce(base: str, greeting: str) -> None:
    """Wait until the text API is ready, unless `base` is empty, then say how to use it."""
    until = time.monotonic() + START_SECONDS
    while base and not _ready(base):
        if time.monotonic() > until:
            print(f"\nbefund: {base} is not ready after {START_SECONDS} s; see the lines above\n", flush=True)
            return
        time.sleep(ASK_AGAIN)
    print(greeting, flush=True)


def _base(settings: Settings) -> str:
    """The text API's address."""
    return f"http://{address(settings.api_host, settings.api_port)}"


def _ready(base: str) -> bool:
    try:
        return bool(httpx2.get(f"{base}/api/health", timeout=2, trust_env=False).json()["status"] == "ok")
    except (httpx2.HTTPError, ValueError, KeyError):
        return False


def _greeting(settings: Settings, addresses: Addresses, key: str) -> str:
    names = {"api": "text API", "web": "webapp"}
    body = f"""'{{"query": "{DEMO_QUERY}"}}'"""
    lines = [
        "",
        "Befund is up. Ctrl-C ends it.",
        *(f"  {names[name]:<9} http://{address(host, port)}" for name, (host, port, _) in addresses.items()),
        *(BY_RULES if settings.llm_base_url is None else ()),
        f"  demo key  {key}   (600 requests a minute; also in {settings.var.name}/demo-key)",
        "",
        f"  curl -N {_base(settings)}/api/deep-research -H 'Authorization: Bearer {key}' \\",
        f"       -H 'Content-Type: application/json' -d {body}",
        "",
    ]
    return "\n".join(lines)
