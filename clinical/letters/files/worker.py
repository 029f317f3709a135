"""The process in which files are opened: `python -m clinical.letters.files.worker`, started by `apart`.

It loads the libraries once and then forks for every step: the fork gives up, for good, the right to open anything, to
write a file, to start a process and to take more than MEMORY and SECONDS, and only then reads the file from its socket.
The kernel ends it when the time is up, or when nobody listens on the other end any more. What it answers is text, boxes
or pixels: nothing is unpickled.

A step on the wire: a length (4 bytes), a header of JSON, then the blobs whose sizes the header names. An answer: one
byte that says what follows.
"""

from __future__ import annotations

import fcntl
import gc
import io
import json
import os
import resource
import signal
import socket
import struct
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from clinical.letters.files.limits import MEMORY, RECOGNISING_SECONDS, SECONDS, FileRefused, TooDemanding, tesseract
from clinical.letters.files.page_text import PageText
from clinical.letters.files.reading import PageImage, page_image, read
from clinical.letters.files.scan import COMMAND

TEXT, SCANNED, IMAGE, REFUSED = b"t", b"s", b"i", b"r"
RECOGNISING_MEMORY = 1024 * 1024 * 1024
"""Address space of Tesseract: models, and a page at 300 dpi."""


def main() -> NoReturn:
    """Fork for every socket that comes over standard input, until that is closed."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forks
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the server, which closes the socket
    load_everything()
    program = tesseract()
    gc.freeze()  # a fork that walks what is loaded would copy it
    held = address_space()
    with socket.socket(fileno=0) as control:
        control.send(b"+")
        while True:
            message, sockets, _, _ = socket.recv_fds(control, 1, 1)
            if not message:
                os._exit(0)
            for one in sockets:
                if os.fork() == 0:
                    control.close()
                    step(socket.socket(fileno=one), held, program)
                os.close(one)


def step(asking: socket.socket, held: int, program: str | None) -> NoReturn:
    """One step, in a fork: never returns."""
    gc.disable()  # it is over before what it leaves behind matters, and has its limit of memory
    try:
        signal.setitimer(signal.ITIMER_REAL, SECONDS)  # SIGALRM ends the process, whatever library it is in
        head, blobs = _request(asking)
        if head["step"] == "recognise" and program is not None:
            signal.setitimer(signal.ITIMER_REAL, RECOGNISING_SECONDS)
            _recognise(asking, program, blobs[0])
        _give_up(held)
        _watch(asking)
        answer = _answer(head, blobs)
        _watch(asking, on=False)
        asking.sendall(answer)
    finally:
        os._exit(0)


def _answer(head: dict[str, Any], blobs: list[bytes]) -> bytes:
    try:
        if head["step"] == "image":
            return IMAGE + page_image(blobs[0], head["page"], head["width"], head["turn"])
        images = None if head["recognised"] is None else [PageImage(*one) for one in head["recognised"]]
        found = read(blobs[0], None if images is None else dict(zip(images, blobs[1:], strict=True)))
        if isinstance(found, PageText):
            return TEXT + found.packed()
        return SCANNED + json.dumps(found.pages).encode()
    except FileRefused as error:
        return REFUSED + json.dumps([type(error).__name__, error.found, error.expected, error.remedy]).encode()
    except (MemoryError, RecursionError):
        return REFUSED + json.dumps([TooDemanding.__name__, "a file that takes too much memory", "", ""]).encode()
    except Exception as error:  # noqa: BLE001 - whatever a file brings a library to raise; its text may quote the file
        return (
            REFUSED
            + json.dumps(["Unreadable", f"a file that cannot be read ({type(error).__name__})", "", ""]).encode()
        )


def _request(asking: socket.socket) -> tuple[dict[str, Any], list[bytes]]:
    with asking.makefile("rb") as stream:
        (size,) = struct.unpack("<I", stream.read(4))
        head = json.loads(stream.read(size))
        return head, [stream.read(length) for length in head["blobs"]]


def _give_up(held: int) -> None:
    """Limits that hold for good: nothing is opened, written or started, and memory and time are counted."""
    for kind, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 0),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_CPU, int(SECONDS) + 1),
        (resource.RLIMIT_AS, held + MEMORY),
    ):
        resource.setrlimit(kind, (most, most))


def _watch(asking: socket.socket, on: bool = True) -> None:
    """Let the kernel end this process (SIGIO) when the other end is closed; end it if that is so already."""
    flags = fcntl.fcntl(asking, fcntl.F_GETFL)
    fcntl.fcntl(asking, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(asking, fcntl.F_SETFL, flags | os.O_ASYNC if on else flags & ~os.O_ASYNC)
    with suppress(BlockingIOError):  # nothing to be read: it is open
        if not asking.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT):
            signal.raise_signal(signal.SIGIO)


def _recognise(asking: socket.socket, program: str, pixels: bytes) -> NoReturn:
    """Become Tesseract, which reads the pixels from a pipe in memory and writes its table to the socket."""
    page = os.memfd_create("page")
    with open(page, "wb", closefd=False) as file:
        file.write(pixels)
    os.lseek(page, 0, os.SEEK_SET)
    for end, number in ((page, 0), (asking.fileno(), 1)):
        os.dup2(end, number)
        os.set_inheritable(number, True)  # also where both were one already
    most = {resource.RLIMIT_CORE: 0, resource.RLIMIT_FSIZE: 0, resource.RLIMIT_CPU: int(RECOGNISING_SECONDS) + 1}
    for kind, limit in {**most, resource.RLIMIT_AS: RECOGNISING_MEMORY}.items():
        resource.setrlimit(kind, (limit, limit))
    os.execve(program, (program, *COMMAND), {**os.environ, "OMP_THREAD_LIMIT": "1"})  # noqa: S606 - no shell wanted


def address_space() -> int:
    """Bytes of address space that this process holds."""
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
    except OSError:
        return 1024 * 1024 * 1024


def load_everything() -> None:
    """Read one small file of every kind, so that no fork has to open what a library loads late."""
    import docx
    import numpy.ma  # noqa: F401 - numpy itself asks for it late, at the first percentile
    import pypdfium2 as pdfium
    from PIL import Image

    Image.init()
    made = []
    for name in ("PNG", "JPEG", "TIFF"):
        made.append(io.BytesIO())
        Image.new("L", (40, 40), 255).save(made[-1], name)
    document = docx.Document()
    document.add_paragraph("Brief")
    document.add_table(1, 1)
    document.save(letter := io.BytesIO())
    sheet = pdfium.PdfDocument.new()
    sheet.new_page(100, 100)
    sheet.save(empty := io.BytesIO())
    for one in (*made, letter, empty):
        read(one.getvalue(), {})
    page_image(empty.getvalue(), 1, 50)
    page_image(made[0].getvalue(), 1)
    for encoding in ("utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be", "cp1252", "cp850", "mac_roman"):
        "Brief".encode(encoding)
        "Brief".encode(encoding).decode(encoding)


if __name__ == "__main__":
    sys.setrecursionlimit(2_000)
    main()
