"""Files over HTTP: PDF, Word, text and scans to fields, with the page and the boxes of every value."""

from __future__ import annotations

import base64
import io
import logging
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image
from prometheus_client import REGISTRY

from clinical.letters.files.page_text import Box
from tests.bentos.conftest import running
from tests.bentos.test_extraction import LETTER
from tests.conftest import stay_out
from tests.written_files import LEADING, LEFT, TOP, lying, pdf_of, scan_of, unmapped, word_of

EXTRACT, TEXT = "/api/documents/extract", "/api/documents/text"
LINES = LETTER.splitlines()
SECRET = "Mustermann"
CONTRACT = {"document_type", "data", "removed_by_grounding", "model", "usage", "processing_time_ms"}


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    """The extraction part by rules, with a key."""
    from bentos.keys.database import open_database
    from bentos.keys.keys import KeyLimits, Keys
    from clinical.settings import Settings

    url = f"sqlite:///{tmp_path_factory.mktemp('keys') / 'api.sqlite'}"
    key = Keys(open_database(url)).create("files", KeyLimits(0, 0))
    with running(Settings(_env_file=None, api_database_url=url, llm="rules"), None, key) as client:
        yield client


def _form(api, data, path=EXTRACT, **fields):
    named = {"document_type": "arztbrief", **fields} if path == EXTRACT else fields
    return api.post(path, files={"file": ("brief.bin", data)}, data=named)


def _content(api, data, path=EXTRACT, **fields):
    body = {"content": {"contentType": "application/pdf", "data": base64.b64encode(data).decode()}, **fields}
    return api.post(path, json={"document_type": "arztbrief", **body} if path == EXTRACT else body)


def with_tesseract() -> None:
    if shutil.which("tesseract") is None:
        stay_out("tesseract is not installed (apt-get install tesseract-ocr tesseract-ocr-deu)")


@pytest.mark.parametrize("send", [_form, _content])
@pytest.mark.parametrize(
    "data",
    [pdf_of(LINES), word_of(LINES), LETTER.encode("cp1252"), LETTER.encode("utf-16")],
    ids=["pdf", "word", "windows", "utf-16"],
)
def test_a_file_gives_what_its_text_gives_and_nothing_beyond_the_contract(api, send, data):
    as_text = api.post(EXTRACT, json={"document_type": "arztbrief", "text": LETTER}).json()
    answer = send(api, data)
    assert answer.status_code == 200, answer.text
    assert set(answer.json()) == CONTRACT
    assert answer.json()["data"] == as_text["data"]
    assert answer.json()["data"]["patient"]["nachname"] == SECRET


def test_every_value_of_a_pdf_has_the_box_that_its_words_stand_in(api):
    body = _form(api, pdf_of(LINES), evidence="true").json()
    assert [(page["number"], page["source"]) for page in body["pages"]] == [(1, "text")]
    assert body["evidence"]
    for one in body["evidence"]:
        said = body["text"][one["start"] : one["end"]]
        line = next(n for n, line in enumerate(LINES) if said in line)
        assert one["page"] == 1
        (box,) = one["boxes"]
        foot = body["pages"][0]["height"] - (TOP - line * LEADING)
        assert box["top"] < foot < box["bottom"] < foot + 5, one
        assert box["left"] >= LEFT - 1
        assert box["right"] - box["left"] < 7.5 * len(said)


def test_evidence_of_a_text_has_no_page(api):
    body = api.post(EXTRACT, json={"document_type": "arztbrief", "text": LETTER, "evidence": True}).json()
    assert {key for one in body["evidence"] for key in one} == {"path", "start", "end", "match", "support"}
    assert "pages" not in body
    assert "text" not in body


def test_a_word_file_has_no_pages(api):
    body = _form(api, word_of(LINES), evidence="true").json()
    assert body["pages"] == []
    assert {(one["page"], tuple(one["boxes"])) for one in body["evidence"]} == {(None, ())}


def test_the_text_of_a_file_comes_with_its_map_and_its_sheets(api):
    body = _content(api, pdf_of(LINES, ["zweite Seite"]), TEXT, draw=[2], width=300).json()
    assert body["text"].startswith("Spital Seeblick\nSeestrasse 12, 8006 Zürich")
    assert body["text"].endswith("zweite Seite")
    assert [page["number"] for page in body["pages"]] == [1, 2]
    assert body["pages"][0]["image"] is None
    assert base64.b64decode(body["pages"][1]["image"]).startswith(b"\x89PNG")
    words = {body["text"][word["start"] : word["end"]]: word["box"] for word in body["words"]}
    assert words["Seeblick"]["left"] > words["Spital"]["right"]
    assert words["zweite"]["page"] == 2


def _image_in_pdf() -> bytes:
    out = io.BytesIO()
    Image.open(io.BytesIO(scan_of(pdf_of(LINES)))).save(out, "PDF", resolution=300)
    return out.getvalue()


@pytest.mark.parametrize(
    "made",
    [lambda: scan_of(pdf_of(LINES)), lambda: scan_of(pdf_of(LINES), 150, "JPEG"),
     lambda: scan_of(pdf_of(LINES), 200, "TIFF"), _image_in_pdf],
    ids=["PNG", "JPEG", "TIFF", "PDF"],
)  # fmt: skip
def test_a_scan_is_recognised_and_says_so(api, made):
    with_tesseract()
    body = _form(api, made(), evidence="true").json()
    assert body["data"]["patient"]["nachname"] == SECRET
    assert body["pages"][0]["source"] == "ocr"
    name = next(one for one in body["evidence"] if one["path"] == "patient.nachname")
    line = next(n for n, line in enumerate(LINES) if SECRET in line)
    assert name["boxes"][0]["top"] < 842 - (TOP - line * LEADING) < name["boxes"][0]["bottom"] + 4


@pytest.fixture(scope="module")
def upright(api):
    """The text of a scan that lies as it should."""
    with_tesseract()
    return _form(api, scan_of(pdf_of(LINES)), evidence="true").json()


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_a_scan_that_lies_sideways_or_upside_down_is_read_as_an_upright_one(api, upright, turn):
    body = _form(api, scan_of(lying(pdf_of(LINES), turn)), evidence="true").json()
    assert body["data"] == upright["data"]
    sheet, (page,) = upright["pages"][0], body["pages"]
    assert (page["width"] > page["height"]) == (turn != 180)
    assert len(body["evidence"]) == len(upright["evidence"]) > 5
    for want, have in zip(upright["evidence"], body["evidence"], strict=True):
        places = [Box(*(box[side] for side in Box._fields)) for box in want["boxes"]]
        for box, place in zip(have["boxes"], places, strict=True):
            laid = place.turned(turn, sheet["width"], sheet["height"])
            assert [box[side] for side in Box._fields] == pytest.approx(laid, abs=2), have["path"]


def test_a_font_without_a_map_is_read_as_it_looks(api):
    with_tesseract()
    body = _form(api, unmapped(), TEXT).json()
    assert SECRET in body["text"]
    assert body["pages"][0]["source"] == "ocr"


def test_without_recognition_a_scan_is_refused_in_words(settings, key):
    with running(settings.model_copy(update={"llm": "rules", "ocr": "off"}), None, key) as client:
        answer = _form(client, scan_of(pdf_of(LINES), 72))
    assert answer.status_code == 422
    assert "Scan" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"document_type": "arztbrief", "text": SECRET, "content": {"data": ""}}, ["body", "text"]),
        ({"document_type": "arztbrief", "content": {"data": f"{SECRET}!"}}, ["body", "content", "data"]),
        ({"document_type": "arztbrief", "content": {}}, ["body", "content", "data"]),
        ({"document_type": "arztbrief", "content": SECRET}, ["body", "content"]),
        ({"document_type": "arztbrief"}, ["body", "text"]),
    ],
)
def test_a_wrong_body_is_named_by_its_place_and_not_repeated(api, body, place):
    answer = api.post(EXTRACT, json=body)
    assert answer.status_code == 422
    assert place in [error["loc"] for error in answer.json()["errors"]]
    assert SECRET not in answer.text


@pytest.mark.parametrize("more", [{"text": "content"}, {"x": "content"}, {"content": None}, {"notes": {"content": 1}}])
def test_a_text_that_says_content_is_no_file(api, more):
    answer = api.post(EXTRACT, json={"document_type": "arztbrief", "text": "Sehr geehrte Frau Kern", **more})
    assert answer.status_code == 200, answer.text


def test_a_file_that_was_cut_off_is_no_json_and_not_too_large(api):
    body = b'{"document_type": "arztbrief", "content": {"data": "' + b"A" * (2 * 1024 * 1024)
    answer = api.post(EXTRACT, content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["errors"][0]["type"]) == (422, "json_invalid")


@pytest.mark.parametrize(
    "form", [b"", b"no form", b"--x\r\n\r\n\r\n--x--", b"--x\r\nContent-Disposition: form-data; name=file\r\n"]
)
def test_a_wrong_form_is_422(api, form):
    answer = api.post(EXTRACT, content=form, headers={"Content-Type": "multipart/form-data; boundary=x"})
    assert answer.status_code == 422, answer.text


def test_a_form_with_a_text_beside_the_file_is_refused(api):
    answer = _form(api, pdf_of(LINES), text=SECRET)
    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, ["body", "text"])
    assert SECRET not in answer.text


def test_other_routes_stay_with_text(api):
    paths = api.get("/openapi.json").json()["paths"]
    taken = {path: set(way["post"]["requestBody"]["content"]) for path, way in paths.items() if "post" in way}
    assert {path for path, kinds in taken.items() if "multipart/form-data" in kinds} == {EXTRACT, TEXT}
    assert {"/api/llm/generate", "/api/deep-research"} <= set(taken)
    assert api.post("/api/llm/generate", files={"file": ("brief.pdf", pdf_of(LINES))}).status_code == 422
    content = {"content": {"data": base64.b64encode(pdf_of(LINES)).decode()}}
    assert api.post("/api/llm/generate", json=content).status_code == 422


def test_files_are_counted_by_what_became_of_them(api):
    def counted():
        files = [
            REGISTRY.get_sample_value("befund_files_total", {"outcome": one}) or 0 for one in ("read", "Unreadable")
        ]
        return (*files, REGISTRY.get_sample_value("befund_file_seconds_count") or 0)

    before = counted()
    _form(api, pdf_of(LINES))
    _form(api, pdf_of(LINES)[:400])
    assert counted() == (before[0] + 1, before[1] + 1, before[2] + 2)


def test_nothing_of_a_file_is_logged(api, caplog):
    caplog.set_level(logging.DEBUG)
    assert SECRET in _form(api, pdf_of(LINES), evidence="true").text
    assert _form(api, pdf_of(LINES)[:400]).status_code == 422
    assert SECRET not in caplog.text


def test_the_example_prints_every_value_with_its_place_and_tells_what_cannot_be_read(api, tmp_path):
    for name, data in {"brief.pdf": pdf_of(LINES), "brief.docx": word_of(LINES), "halb.pdf": b"%PDF-1.7"}.items():
        (tmp_path / name).write_bytes(data)
    program = Path(__file__).parents[2] / "docs" / "examples" / "letter.py"
    base, key = str(api.base_url).rstrip("/"), api.headers["Authorization"].removeprefix("Bearer ")
    files = ("brief.pdf", "halb.pdf", "brief.docx")
    done = subprocess.run([sys.executable, program, base, key, *files], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("halb.pdf\t422\tDie Datei")
    told = {tuple(line.split("\t")[:3]): line.split("\t")[3:] for line in done.stdout.splitlines()}
    assert told["brief.pdf", "patient.nachname", SECRET][0] == "1"
    assert float(told["brief.pdf", "patient.nachname", SECRET][1]) > LEFT
    assert told["brief.docx", "patient.nachname", SECRET] == ["-"] * 5


def test_a_file_over_20_mb_is_refused_unread(api):
    assert _form(api, b"%PDF-" + bytes(21 * 1024 * 1024)).status_code == 413


def test_a_long_text_without_a_file_is_refused_as_before(api):
    assert api.post(EXTRACT, json={"document_type": "arztbrief", "text": "a" * 1_100_000}).status_code == 413


@pytest.mark.parametrize("path", [EXTRACT, TEXT])
def test_a_key_is_wanted_for_files(api, path):
    answer = api.post(path, files={"file": ("x", b"%PDF-")}, headers={"Authorization": "Bearer no"})
    assert answer.status_code == 401
