"""Files made to hurt: each is read or refused, in a process apart whose limits end it, and nobody else waits for it."""

from __future__ import annotations

import asyncio
import io
import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import time
import zipfile
import zlib
from collections.abc import Callable

import pytest

from clinical.letters.files import Encrypted, FileReader, FileRefused, PageText, TooManyPages, limits
from clinical.settings import ROOT
from tests.written_files import pdf_of, raw_pdf, scan_of, stream_of, unmapped, word_of

LETTER = ["Spital Seeblick", "Herr Max Mustermann, geb. 4.5.1950", "Diagnosen:", "- Gonarthrose rechts"]
HELD_UP_MAX = 0.25
"""Processor time that the server's own thread may spend on a file at a stretch: for so long others would wait."""
ENDED_BY = 60
"""Seconds after which a step that its limits do not end is ended by the test, which then fails."""


FONT = b"<</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>"
CATALOG, PAGES = b"<</Type /Catalog /Pages 2 0 R>>", b"<</Type /Pages /Kids [3 0 R] /Count 1>>"


def _page(content: bytes, box: bytes = b"[0 0 595 842]", more: bytes = b"", packed: bool = False) -> bytes:
    page = b"<</Type /Page /Parent 2 0 R /MediaBox %s /Contents 4 0 R /Resources <</Font <</F 5 0 R>> %s>>>>" % (
        box,
        more,
    )
    data = stream_of(zlib.compress(content, 9), b"/Filter /FlateDecode") if packed else stream_of(content)
    return raw_pdf(CATALOG, PAGES, page, data, FONT)


def _many_pages() -> bytes:
    kids = b" ".join([b"3 0 R"] * 10_000)
    return raw_pdf(CATALOG, b"<</Type /Pages /Kids [%s] /Count 10000>>" % kids, b"<</Type /Page /Parent 2 0 R>>")


def _deep_tree() -> bytes:
    nodes = [b"<</Type /Pages /Kids [%d 0 R] /Count 1 /Parent %d 0 R>>" % (n + 1, n - 1) for n in range(3, 3_000)]
    return raw_pdf(CATALOG, b"<</Type /Pages /Kids [3 0 R] /Count 1>>", *nodes, b"<</Type /Page>>")


def _own_form() -> bytes:
    form = stream_of(b"/X Do", b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources <</XObject <</X 4 0 R>>>>")
    page = b"<</Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 5 0 R /Resources <</XObject <</X 4 0 R>>>>>>"
    return raw_pdf(CATALOG, PAGES, page, form, stream_of(b"/X Do"))


def _huge_image() -> bytes:
    image = stream_of(
        zlib.compress(bytes(60_000 * 500), 9),
        b"/Type /XObject /Subtype /Image /Width 60000 /Height 60000 /ColorSpace /DeviceGray /BitsPerComponent 1 "
        b"/Filter /FlateDecode",
    )
    page = b"<</Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 5 0 R /Resources <</XObject <</X 4 0 R>>>>>>"
    return raw_pdf(CATALOG, PAGES, page, image, stream_of(b"595 0 0 842 0 0 cm /X Do"))


def _script() -> bytes:
    catalog = b"<</Type /Catalog /Pages 2 0 R /OpenAction <</S /JavaScript /JS (while\\(true\\){})>>>>"
    page = b"<</Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /AA <</O <</S /Launch /F (/bin/sh)>>>>>>"
    return raw_pdf(catalog, PAGES, page)


def _attached() -> bytes:
    """A letter of one word with a link, a file attached to the page and one to the document."""
    catalog = b"<</Type /Catalog /Pages 2 0 R /Names <</EmbeddedFiles <</Names [(a.txt) 6 0 R]>>>>>>"
    link = b"<</Type /Annot /Subtype /Link /Rect [0 0 595 842] /A <</S /URI /URI (http://127.0.0.1:1/LINKED)>>>>"
    clip = b"<</Type /Annot /Subtype /FileAttachment /Rect [0 0 9 9] /Contents (CLIPPED) /FS 6 0 R>>"
    page = b"<</Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources <</Font <</F 5 0 R>>>>"
    file = b"<</Type /Filespec /F (a.txt) /EF <</F 7 0 R>>>>"
    text = stream_of(b"BT /F 12 Tf 60 700 Td (Befund ohne Besonderheiten) Tj ET")
    return raw_pdf(
        catalog, PAGES, page + b" /Annots [%s %s]>>" % (link, clip), text, FONT, file, stream_of(b"ATTACHED")
    )


def _zip(parts: dict[str, bytes], **more: object) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return out.getvalue()


def _word(document: bytes, **parts: bytes) -> bytes:
    """A real Word file with another document."""
    with zipfile.ZipFile(io.BytesIO(word_of(LETTER))) as archive:
        every = {name: archive.read(name) for name in archive.namelist()}
    return _zip({**every, "word/document.xml": document, **parts})


W = b'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def _body(inner: bytes) -> bytes:
    return b'<?xml version="1.0"?><w:document %s><w:body>%s</w:body></w:document>' % (W, inner)


def _laughs() -> bytes:
    entities = b"".join(b'<!ENTITY e%d "%s">' % (n + 1, b"&e%d;" % n * 10) for n in range(9))
    return b'<!DOCTYPE d [<!ENTITY e0 "ha">%s]>' % entities + _body(b"<w:p><w:r><w:t>&e9;</w:t></w:r></w:p>")


def _outside() -> bytes:
    return b'<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + _body(b"<w:p><w:r><w:t>&x;</w:t></w:r></w:p>")


def _png(width: int, height: int, data: bytes) -> bytes:
    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def _looping_tiff() -> bytes:
    entries = [(256, 3, 1, 10), (257, 3, 1, 10), (258, 3, 1, 8), (262, 3, 1, 1), (273, 4, 1, 8), (279, 4, 1, 100)]
    folder = struct.pack("<H", len(entries)) + b"".join(struct.pack("<HHII", *one) for one in entries)
    return b"II*\x00" + struct.pack("<I", 8) + folder + struct.pack("<I", 8)


def _frames() -> bytes:
    from PIL import Image

    out = io.BytesIO()
    frames = [Image.new("1", (8, 8)) for _ in range(300)]
    frames[0].save(out, "TIFF", save_all=True, append_images=frames[1:])
    return out.getvalue()


def _noise(seed: int, beginning: bytes = b"") -> bytes:
    return beginning + random.Random(seed).randbytes(200_000)


GOOD = pdf_of(LETTER)
FILES: dict[str, Callable[[], bytes]] = {
    "nothing": lambda: b"",
    "one byte": lambda: b"%",
    "NULs": lambda: bytes(10_000),
    "noise": lambda: _noise(1),
    "noise as PDF": lambda: _noise(2, b"%PDF-1.4\n"),
    "noise as ZIP": lambda: _noise(3, b"PK\x03\x04"),
    "noise as PNG": lambda: _noise(4, b"\x89PNG\r\n\x1a\n"),
    "noise as JPEG": lambda: _noise(5, b"\xff\xd8\xff\xe0"),
    "noise as TIFF": lambda: _noise(6, b"II*\x00"),
    "noise as old Word": lambda: _noise(7, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
    "Word with a password": lambda: (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500) + "EncryptedPackage".encode("utf-16-le")
    ),
    "RTF": lambda: rb"{\rtf1\ansi Herr Mustermann}",
    "UTF-16 with half a pair": lambda: b"\xff\xfe\x00\xd8a\x00",
    "20 MB of text": lambda: b"Husten und Fieber. " * 1_000_000,
    "21 MB": lambda: b"a" * (21 * 1024 * 1024),
    "PDF, a header": lambda: b"%PDF-1.7",
    "PDF cut in the middle": lambda: GOOD[: len(GOOD) // 2],
    "PDF without its end": lambda: GOOD[:-200],
    "PDF without its beginning": lambda: b"%PDF-" + GOOD[300:],
    "PDF with flipped bytes": lambda: bytes(one ^ 0x55 if n % 37 == 0 else one for n, one in enumerate(GOOD)),
    "PDF, password": lambda: pdf_of(LETTER, encrypt="geheim"),
    "PDF, 10,000 pages": _many_pages,
    "PDF, pages among themselves": lambda: raw_pdf(CATALOG, b"<</Type /Pages /Kids [2 0 R 2 0 R] /Count 2>>"),
    "PDF, no pages": lambda: raw_pdf(CATALOG, b"<</Type /Pages /Kids [] /Count 0>>"),
    "PDF, more pages told than there": lambda: raw_pdf(CATALOG, b"<</Type /Pages /Kids [] /Count 40>>"),
    "PDF, deep tree": _deep_tree,
    "PDF, deep array": lambda: _page(b"[" * 300_000 + b"]" * 300_000),
    "PDF, deep object": lambda: raw_pdf(b"[" * 100_000 + b"]" * 100_000, b"<<>>"),
    "PDF, deep dictionaries": lambda: raw_pdf(b"<</A " * 50_000 + b"1" + b">>" * 50_000, b"<<>>"),
    "PDF, stream of 140 MB": lambda: _page(b"0 0 m 9 9 l S " * 10_000_000, packed=True),
    "PDF, saves without end": lambda: _page(b"q " * 2_000_000, packed=True),
    "PDF, a million signs": lambda: _page(b"BT /F 1 Tf 9 9 Td " + b"(aaaaaaaaaa) Tj " * 100_000 + b"ET", packed=True),
    "PDF, a page as wide as a field": lambda: _page(b"", b"[0 0 1e30 1e30]"),
    "PDF, a page inside out": lambda: _page(b"BT /F 9 Tf (abcdefghijklmnop) Tj ET", b"[595 842 0 0]"),
    "PDF, a page of no size": lambda: _page(b"BT /F 9 Tf (abcdefghijklmnop) Tj ET", b"[0 0 0 0]"),
    "PDF, signs of no size": lambda: _page(b"BT /F 0 Tf (abcdefghijklmnop) Tj ET"),
    "PDF, signs as large as a house": lambda: _page(b"BT /F 1e9 Tf (abcdefghijklmnop) Tj ET"),
    "PDF, signs far away": lambda: _page(b"BT /F 9 Tf 1e9 -1e9 Td (abcdefghijklmnop) Tj ET"),
    "PDF, a form in itself": _own_form,
    "PDF, image of 60,000 x 60,000": _huge_image,
    "PDF, font without a map": unmapped,
    "PDF, script and program": _script,
    "PDF, link and attachments": _attached,
    "Word, no document": lambda: _zip({"word/x": b"x"}),
    "Word, no XML": lambda: _word(b"Herr Mustermann"),
    "Word, half a document": lambda: _word(_body(b"<w:p>")[:-20]),
    "Word, entities": lambda: _word(_laughs()),
    "Word, entities in UTF-16": lambda: _word(_laughs().decode().encode("utf-16")),
    "Word, file as entity": lambda: _word(_outside()),
    "Word, 110 MB of spaces": lambda: _word(_body(b" " * 110_000_000)),
    "Word, 90 MB in parts": lambda: _word(_body(b""), **{f"word/media/{n}.png": bytes(9_000_000) for n in range(10)}),
    "Word, a million paragraphs": lambda: _word(_body(b"<w:p/>" * 1_000_000)),
    "Word, tables in tables": lambda: _word(
        _body(b"<w:tbl><w:tr><w:tc>" * 400 + b"<w:p/>" + b"</w:tc></w:tr></w:tbl>" * 400)
    ),
    "Word, deep XML": lambda: _word(_body(b"<w:x>" * 100_000 + b"</w:x>" * 100_000)),
    "Word, columns without end": lambda: _word(
        _body(
            b'<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="99999999"/></w:tcPr><w:p><w:r><w:t>a</w:t></w:r></w:p>'
            b"</w:tc></w:tr></w:tbl>"
        )
    ),
    "Word, 20,000 parts": lambda: _zip({"word/document.xml": b"", **{f"word/{n}": b"" for n in range(20_000)}}),
    "archive in an archive": lambda: _zip({"a.zip": _zip({"b.zip": _zip({"c": bytes(10_000_000)})})}),
    "PNG of 60,000 x 60,000": lambda: _png(60_000, 60_000, zlib.compress(bytes(1_000_000))),
    "PNG that unpacks to 60 MB": lambda: _png(100, 100, zlib.compress(bytes(60_000_000))),
    "TIFF in a circle": _looping_tiff,
    "TIFF of 300 pages": _frames,
    "JPEG cut": lambda: scan_of(GOOD, 72, "JPEG")[:3_000],
}


DRAWN = (
    "PDF, image of 60,000 x 60,000",
    "PDF, a form in itself",
    "PDF, a page as wide as a field",
    "PDF, a page of no size",
    "PDF, saves without end",
    "PDF, script and program",
    "PNG of 60,000 x 60,000",
    "PNG that unpacks to 60 MB",
    "TIFF in a circle",
    "JPEG cut",
)
"""Files of which a page is drawn as well."""


@pytest.fixture(scope="module")
def answers():
    """Every file's answer, the server's stretches of work meanwhile, a good file's text afterwards, the processes that
    read the first and the last one."""

    async def all_read():
        reader, found, stretches = FileReader(ocr=False, at_once=2), {}, []

        async def beat():
            while True:
                began = time.thread_time()
                await asyncio.sleep(0.01)
                stretches.append(time.thread_time() - began)

        async def answer(asked):
            try:
                return await asked
            except FileRefused as error:
                return error

        await reader.text(GOOD)
        first = reader._process.pid
        files = {name: await asyncio.to_thread(made) for name, made in FILES.items()}
        beating = asyncio.create_task(beat())
        for name, data in files.items():
            found[name] = await answer(reader.text(data))
        for name in DRAWN:
            found[f"{name}, drawn"] = await answer(reader.image(files[name], 1, 400))
        beating.cancel()
        after, last = await reader.text(GOOD), reader._process.pid
        reader.close()
        return found, stretches, after, (first, last)

    return asyncio.run(all_read())


def test_every_file_has_its_answer(answers):
    found, _, _, _ = answers
    assert len(found) == len(FILES) + len(DRAWN)
    assert {
        name: answer for name, answer in found.items() if not isinstance(answer, PageText | FileRefused | bytes)
    } == {}


def test_the_process_that_reads_is_the_same_and_still_reads(answers):
    _, _, after, (first, last) = answers
    assert "Mustermann" in after.text
    assert first == last
    with pytest.raises(ProcessLookupError):
        os.kill(last, 0)  # and it ends with its reader


def test_fifty_pages_are_read_and_one_more_is_refused():
    async def read(pages):
        reader = FileReader(ocr=False)
        try:
            return await reader.text(pdf_of(*[LETTER] * pages))
        finally:
            reader.close()

    assert len(asyncio.run(read(50)).pages) == 50
    with pytest.raises(TooManyPages):
        asyncio.run(read(51))


def test_nobody_waits_for_a_hostile_file(answers):
    _, stretches, _, _ = answers
    assert max(stretches) < HELD_UP_MAX


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("PDF, password", Encrypted),
        ("Word with a password", Encrypted),
        ("PDF, 10,000 pages", TooManyPages),
        ("TIFF of 300 pages", TooManyPages),
        ("21 MB", limits.FileTooLarge),
        ("noise", limits.UnknownKind),
        ("noise as old Word", limits.UnknownKind),
        ("RTF", limits.UnknownKind),
        ("noise as PDF", limits.Unreadable),
        ("noise as PNG", limits.Unreadable),
        ("Word, entities", limits.Unreadable),
        ("Word, entities in UTF-16", limits.Unreadable),
        ("Word, file as entity", limits.Unreadable),
        ("Word, a million paragraphs", limits.TooDemanding),
        ("Word, 110 MB of spaces", limits.TooDemanding),
        ("PNG of 60,000 x 60,000", limits.TooDemanding),
        ("PDF, font without a map", limits.WithoutText),
        ("PDF, script and program", limits.WithoutText),
        ("nothing", limits.Empty),
    ],
)
def test_the_reason_is_named(answers, name, reason):
    assert type(answers[0][name]) is reason


def test_of_links_and_attachments_nothing_is_read(answers):
    assert answers[0]["PDF, link and attachments"].text == "Befund ohne Besonderheiten"


def test_no_reason_repeats_what_stands_in_a_file(answers):
    reasons = [str(answer) for answer in answers[0].values() if isinstance(answer, FileRefused)]
    assert len(reasons) > 20
    assert [reason for reason in reasons if "Mustermann" in reason or "root:" in reason] == []


STEP = """
import os, signal, socket
from clinical.letters.files import worker
worker.SECONDS = 1
worker.read = lambda data, tables: {harm}
{more}
worker.step(socket.socket(fileno=0), worker.address_space(), None)
"""


UNTIMED = "signal.setitimer = lambda *_: None"
"""Without the clock of a step: what is left are processor time, and the asker."""


def stepped(harm: str, more: str = "", listening: bool = True) -> tuple[int, bytes]:
    """(how a step whose reading does harm has ended, its answer), with a limit of one second instead of twenty."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = subprocess.Popen(
            [sys.executable, "-c", STEP.format(harm=harm, more=more)], stdin=theirs.fileno(), cwd=ROOT
        )
        theirs.close()
        head = json.dumps({"step": "read", "recognised": None, "blobs": [1]}).encode()
        ours.sendall(struct.pack("<I", len(head)) + head + b"x")
        if not listening:
            ours.shutdown(socket.SHUT_RDWR)
        try:
            process.wait(ENDED_BY)
        finally:
            process.kill()
        return process.returncode, ours.recv(1_000) if listening else b""


@pytest.mark.parametrize(
    ("harm", "more", "ended"),
    [
        ("signal.pause()", "", signal.SIGALRM),
        ("all(n == 0 for n in iter(int, 1))", "", signal.SIGALRM),
        ("all(n == 0 for n in iter(int, 1))", UNTIMED, signal.SIGKILL),
    ],
)
def test_a_step_that_does_not_end_is_ended_by_the_kernel(harm, more, ended):
    assert stepped(harm, more) == (-ended, b"")


def test_a_step_whose_asker_has_gone_is_ended_by_the_kernel():
    assert stepped("signal.pause()", UNTIMED, listening=False)[0] == -signal.SIGIO


@pytest.mark.parametrize(
    ("harm", "reason"),
    [
        (f"bytes({limits.MEMORY + 2**26})", b"TooDemanding"),
        ("open('/etc/passwd')", b"OSError"),
        ("open('/tmp/letter', 'w')", b"OSError"),
        ("socket.create_connection(('127.0.0.1', 1))", b"OSError"),
    ],
)
def test_a_step_takes_no_more_memory_and_opens_nothing(harm, reason):
    ended, answer = stepped(harm)
    assert ended == 0
    assert answer.startswith(b"r")
    assert reason in answer
