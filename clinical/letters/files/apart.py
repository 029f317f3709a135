"""Files opened in a process apart: nothing that a file does reaches the server, its event loop or its secrets."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from clinical.letters.files import limits
from clinical.letters.files.limits import (
    RECOGNISING_SECONDS,
    SECONDS,
    Empty,
    FileRefused,
    ReaderUnavailable,
    TooDemanding,
    TooManyPages,
    Unreadable,
    WithoutText,
    tesseract,
)
from clinical.letters.files.page_text import PageText, unpacked

GRACE = 2.0
"""Seconds beyond the limit of a step, after which its socket is closed."""
START_SECONDS = 30.0
RECOGNISED_PAGES_MAX = 20
"""Pages of one file that are recognised: a minute's work."""
TABLE_LEAST = 2
"""Lines of a whole table of Tesseract: its head and the page."""
TEXT, SCANNED, IMAGE, REFUSED = b"t", b"s", b"i", b"r"
_PASSED = ("PATH", "LANG", "LC_ALL", "TESSDATA_PREFIX", "SYSTEMROOT")
"""Names of the environment that the process is given: no secret of the server's."""
_ROOT = Path(__file__).resolve().parents[3]


class FileReader:
    """Opens files in a process apart, which is started with the first one and again when it has died.

    `ocr`: scans are recognised where Tesseract is installed. `at_once`: steps under way together.
    """

    def __init__(self, ocr: bool = True, at_once: int = 2) -> None:
        self.ocr = ocr and tesseract() is not None
        self._room = asyncio.Semaphore(at_once)
        self._starting = asyncio.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    async def text(self, data: bytes) -> PageText:
        """The text of a file with its places. Raises FileRefused."""
        kind, answer = await self._step({"step": "read", "recognised": None}, [data])
        if kind == SCANNED:
            kind, answer = await self._scan(data, json.loads(answer))
        if kind != TEXT:
            raise Unreadable("a file that gave no text")
        try:
            found = unpacked(answer)
        except ValueError:
            raise Unreadable("a file that gave no text") from None
        if not found.text.strip():
            raise Empty("a file without text")
        return found

    async def image(self, data: bytes, page: int, width: int) -> bytes:
        """A page (from 1) as a PNG `width` pixels wide. Raises FileRefused."""
        return (await self._step({"step": "image", "page": page, "turn": 0, "width": width}, [data]))[1]

    async def _scan(self, data: bytes, pages: Sequence[tuple[int, int]]) -> tuple[bytes, bytes]:
        if not self.ocr:
            raise WithoutText("a scan", "a file with text", "set up the recognition of text (BEFUND_OCR)")
        if len(pages) > RECOGNISED_PAGES_MAX:
            raise TooManyPages(f"a scan of {len(pages)} pages", f"at most {RECOGNISED_PAGES_MAX}")
        asked, tables = list(pages), [*await asyncio.gather(*(self._recognised(data, *one) for one in pages))]
        kind, answer = await self._step({"step": "read", "recognised": asked}, [data, *tables])
        if kind == SCANNED:  # pages that may lie otherwise
            pages = json.loads(answer)
            asked, tables = [*asked, *pages], [*tables, *[await self._recognised(data, *one) for one in pages]]
            kind, answer = await self._step({"step": "read", "recognised": asked}, [data, *tables])
        return kind, answer

    async def _recognised(self, data: bytes, page: int, turn: int) -> bytes:
        _, pixels = await self._step({"step": "image", "page": page, "turn": turn, "width": None}, [data])
        table = await self._asked({"step": "recognise"}, [pixels], RECOGNISING_SECONDS)
        if table.count(b"\n") < TABLE_LEAST or not table.endswith(b"\n"):  # its head alone: it was ended
            raise TooDemanding("a page on which no text could be recognised in time")
        return table

    async def _step(self, head: dict[str, object], blobs: Sequence[bytes]) -> tuple[bytes, bytes]:
        """(kind, content) of an answer. Raises FileRefused."""
        answer = await self._asked(head, blobs)
        if not answer:
            raise TooDemanding("a file that took too much time or memory, or broke its reader")
        if answer[:1] == REFUSED:
            name, *said = json.loads(answer[1:])
            refused = getattr(limits, name, Unreadable)
            raise refused(*said) if issubclass(refused, FileRefused) else Unreadable(*said)
        return answer[:1], answer[1:]

    async def _asked(self, head: dict[str, object], blobs: Sequence[bytes], seconds: float = SECONDS) -> bytes:
        """Ask a fork and wait for its answer; b"" where it died."""
        async with self._room:
            control = await self._running()
            ours, theirs = socket.socketpair()
            with ours:
                ours.setblocking(False)
                try:
                    with theirs:
                        socket.send_fds(control, [b"+"], [theirs.fileno()])
                    async with asyncio.timeout(seconds + GRACE):
                        return await _exchanged(ours, head, blobs)
                except (TimeoutError, ConnectionError):
                    return b""

    async def _running(self) -> socket.socket:
        async with self._starting:
            if self._process is not None and self._control is not None and self._process.poll() is None:
                return self._control
            self.close()
            process, control = await asyncio.to_thread(_started)
            self._process, self._control = process, control
            return control

    def close(self) -> None:
        """End the process; it ends by itself when its socket is closed."""
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            try:
                self._process.wait(GRACE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._process = self._control = None


class ForkingFileReader(FileReader):
    """Opens files in forks of this process: for a program of one thread, which sees what they take of the processor."""

    def __init__(self) -> None:
        from clinical.letters.files import worker

        super().__init__()
        worker.load_everything()
        self._step_of, self._program, self._held = worker.step, tesseract(), worker.address_space()

    async def _asked(self, head: dict[str, object], blobs: Sequence[bytes], seconds: float = SECONDS) -> bytes:
        """Ask a fork, which ends by its own limits, and wait for its answer and its end."""
        ours, theirs = socket.socketpair()
        fork = os.fork()
        if fork == 0:
            ours.close()
            self._step_of(theirs, self._held, self._program)
        theirs.close()
        with ours:
            ours.setblocking(False)
            try:
                return await _exchanged(ours, head, blobs)
            except ConnectionError:
                return b""
            finally:
                os.waitpid(fork, 0)


async def _exchanged(ours: socket.socket, head: dict[str, object], blobs: Sequence[bytes]) -> bytes:
    """The answer to a step, asked over a socket."""
    loop = asyncio.get_running_loop()
    said = json.dumps({**head, "blobs": [len(one) for one in blobs]}).encode()
    await loop.sock_sendall(ours, struct.pack("<I", len(said)) + said)
    for blob in blobs:
        await loop.sock_sendall(ours, blob)
    parts = []
    while part := await loop.sock_recv(ours, 1 << 18):
        parts.append(part)
    return b"".join(parts)


def _started() -> tuple[subprocess.Popen[bytes], socket.socket]:
    """The process and the socket over which it gets the others. Raises ReaderUnavailable."""
    ours, theirs = socket.socketpair()
    environment = {name: os.environ[name] for name in _PASSED if name in os.environ}
    environment |= {"PYTHONPATH": str(_ROOT), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "clinical.letters.files.worker"],
            stdin=theirs.fileno(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, cwd="/",
        )  # fmt: skip
    ours.settimeout(START_SECONDS)
    try:
        ready = ours.recv(1) == b"+"
    except OSError:
        ready = False
    if not ready:
        process.kill()
        process.wait()
        ours.close()
        raise ReaderUnavailable(
            "the process that opens files does not start", remedy="see that memory and processes are left"
        )
    ours.setblocking(True)
    return process, ours
