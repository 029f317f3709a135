"""vLLM as a child process: started, watched, started again when it died, ended with its parent.

starting -> ready -> restarting -> ready ...     a child that was ready once is started again, later each time
         `-> failed                              one that never was has a wrong setting: starting again is no help
"""

from __future__ import annotations

import asyncio
import ctypes
import logging
import signal
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

log = logging.getLogger("befund.gpu_host")

State = Literal["starting", "ready", "restarting", "stopping", "failed"]

PROBE_SECONDS = 2.0
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Backoff:
    """Limits of restarting a child process; times in seconds.

    `first` is the wait before the first new start, doubled each time up to `longest`; after `most` new starts without
    `steady` seconds of readiness between them it is given up. `hung`: as long may a ready child not answer.
    """

    first: float = 1.0
    longest: float = 60.0
    most: int = 6
    steady: float = 600.0
    hung: float = 60.0
    look: float = 1.0


def answers(url: str) -> bool:
    """Return True when vLLM's health check answers 200: 503 if its engine died, refused while it loads or is gone."""
    try:
        with urllib.request.urlopen(url, timeout=PROBE_SECONDS) as answer:  # noqa: S310 - a fixed http address
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


class Child:
    """One command, kept running. One instance per event loop."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], health_url: str, backoff: Backoff = Backoff()
    ) -> None:
        self.state: State = "starting"
        self.starts = 0
        self._command, self._environment, self._url = list(command), dict(environment), health_url
        self._backoff = backoff
        self._process: asyncio.subprocess.Process | None = None

    async def run(self, start_seconds: float, end_seconds: float) -> None:
        """Until the child is given up (state `failed`), or until cancelled: then it is ended first."""
        lost, wait = 0, self._backoff.first
        try:
            while True:
                steady = await self._once(start_seconds)
                if steady is None and self.starts == 1:
                    break
                lost, wait = (1, self._backoff.first) if steady else (lost + 1, wait)
                if lost > self._backoff.most:
                    log.error("vLLM died %d times in a row: given up", lost)
                    break
                self.state = "restarting"
                log.warning("vLLM is started again in %.1f s", wait)
                await asyncio.sleep(wait)
                wait = min(2 * wait, self._backoff.longest)
            self.state = "failed"
        finally:
            if self.state != "failed":
                self.state = "stopping"
            await self._end(end_seconds)

    async def _once(self, start_seconds: float) -> bool | None:
        """One life of the child: None when it never was ready, else whether it was ready for long."""
        self.starts += 1
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._command, env=self._environment, preexec_fn=_die_with_the_parent
            )
        except OSError as error:
            log.error("vLLM cannot be started: %s (%s)", self._command[0], type(error).__name__)
            return None
        ready_at = await self._until_ready(self._process, start_seconds)
        if ready_at is None:
            return None
        self.state = "ready"
        log.info("vLLM is ready")
        await self._until_lost(self._process)
        return time.monotonic() - ready_at >= self._backoff.steady

    async def _until_ready(self, process: asyncio.subprocess.Process, seconds: float) -> float | None:
        until = time.monotonic() + seconds
        while process.returncode is None and time.monotonic() < until:
            if await asyncio.to_thread(answers, self._url):
                return time.monotonic()
            await _pause(process, self._backoff.look)
        if process.returncode is None:
            log.error("vLLM was not ready within %.0f s", seconds)
            await self._end(0)
        else:
            log.error("vLLM ended with status %d before it was ready; its own lines say why", process.returncode)
        return None

    async def _until_lost(self, process: asyncio.subprocess.Process) -> None:
        """Return when the process has ended, or was ended because it hung."""
        well_at = time.monotonic()
        while process.returncode is None:
            if await asyncio.to_thread(answers, self._url):
                well_at, self.state = time.monotonic(), "ready"
            elif process.returncode is None:
                self.state = "restarting"
                if time.monotonic() - well_at > self._backoff.hung:
                    log.error("vLLM has not answered its health check for %.0f s: ended", self._backoff.hung)
                    await self._end(0)
                    return
            await _pause(process, self._backoff.look)
        log.error("vLLM died (status %d)", process.returncode)

    async def _end(self, seconds: float) -> None:
        """SIGTERM, and SIGKILL after `seconds`."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        process.terminate()
        try:
            await asyncio.wait_for(process.wait(), max(seconds, 1.0))
        except TimeoutError:
            process.kill()
            await process.wait()


async def _pause(process: asyncio.subprocess.Process, seconds: float) -> None:
    """Wait, or less when the process ends."""
    try:
        await asyncio.wait_for(process.wait(), seconds)
    except TimeoutError:
        return


def _die_with_the_parent() -> None:
    """In the child, before it is vLLM: the kernel ends it when its parent dies in whatever way (Linux, prctl(2))."""
    if hasattr(_LIBC, "prctl"):
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
