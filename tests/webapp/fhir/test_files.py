"""Files: whole or absent, found rotten, handed out in parts; in a folder and in an S3 bucket."""

import gzip
import io
import os
import signal
import subprocess
import sys
import time
import unicodedata
import uuid
from pathlib import Path
from urllib.parse import unquote

import boto3
import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from moto.server import ThreadedMotoServer

from clinical.errors import SettingError
from tests.webapp.conftest import command, make_app
from tests.webapp.fhir.conftest import Caller, make_place
from webapp.fhir.files import clean_content_type, clean_title, disposition
from webapp.fhir.service import service
from webapp.fhir.writing.purging import verify
from webapp.storage import FileMissing, FolderFiles, open_files
from webapp.urls import Presigner

BODY = bytes(range(256)) * 20


@pytest.fixture(scope="session")
def s3():
    """A real S3 API on loopback; it does not check signatures."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    before = dict(os.environ)
    os.environ |= {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "eu-central-1",
    }
    where = {"LocationConstraint": "eu-central-1"}
    boto3.client("s3").create_bucket(Bucket="befund", CreateBucketConfiguration=where)
    yield "s3://befund/dokumente"
    server.stop()
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(params=["folder", "bucket"])
def app_settings(request, tmp_path):
    """The same tests on both kinds of storage."""
    return {
        "storage": f"{request.getfixturevalue('s3')}/{uuid.uuid4()}"
        if request.param == "bucket"
        else f"file://{tmp_path}/dateien"
    }


def test_binary_returns_the_file_with_its_hash_as_etag(place, caller):
    document = place.add_document(BODY, content_type="application/pdf", title="Röntgen “Thorax”.pdf")
    response = caller.get(f"Binary/{document}")
    assert response.status_code == 200
    assert response.data == BODY
    assert response.headers["Content-Type"] == "application/pdf"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Content-Security-Policy"].startswith("sandbox")
    assert unquote(response.headers["Content-Disposition"]).endswith("filename*=UTF-8''Röntgen “Thorax”.pdf")
    etag = response.headers["ETag"]
    assert caller.get(f"Binary/{document}", headers={"If-None-Match": etag}).status_code == 304
    assert caller.get(f"Binary/{document}", headers={"If-None-Match": '"other"'}).status_code == 200
    head = caller.open("HEAD", f"Binary/{document}")
    assert (head.status_code, head.data, head.headers["Content-Length"]) == (200, b"", str(len(BODY)))


@pytest.mark.parametrize(
    ("asked", "status", "part"),
    [
        ("bytes=0-0", 206, BODY[:1]),
        ("bytes=10-99", 206, BODY[10:100]),
        ("bytes=5000-", 206, BODY[5000:]),
        ("bytes=-7", 206, BODY[-7:]),
        ("bytes=0-999999", 206, BODY),
        ("bytes=999999-", 416, None),
    ],
)
def test_ranges(place, caller, asked, status, part):
    document = place.add_document(BODY)
    response = caller.get(f"Binary/{document}", headers={"Range": asked})
    assert response.status_code == status
    if part is not None:
        assert response.data == part
    if status == 206:
        etag = response.headers["ETag"]
        again = caller.get(f"Binary/{document}", headers={"Range": asked, "If-Range": etag})
        assert (again.status_code, again.data) == (206, part)
        changed = caller.get(f"Binary/{document}", headers={"Range": asked, "If-Range": '"other"'})
        assert (changed.status_code, changed.data) == (200, BODY)


def test_an_empty_file_is_a_file(place, caller):
    document = place.add_document(b"")
    assert caller.get(f"Binary/{document}").data == b""


def test_equal_files_are_kept_once_and_rot_is_found(place, app):
    place.add_document(b"gleich")
    place.add_document(b"gleich")
    with app.app_context():
        files = service().files
        assert len(list(files.digests())) == 1
        stored = files.put(io.BytesIO(b"anders"))
        assert list(files.read(stored.digest)) == [b"anders"]
        assert b"".join(files.read(stored.digest, 1, 3)) == b"nd"
        expected = {stored.digest: 6, b"\1" * 32: 4}
        report = verify(files, expected)
        assert (report.sound, report.faults, report.unused) == (1, ((b"\1" * 32, "missing"),), 1)
        with pytest.raises(FileMissing):
            files.read(b"\1" * 32)


def test_a_missing_file_is_an_error_in_words(place, caller, tmp_path, app):
    document = place.add_document(b"weg")
    with app.app_context():
        files = service().files
        if not isinstance(files, FolderFiles):
            key = files.prefix + next(iter(files.digests())).hex()
            files.client.delete_object(Bucket=files.bucket, Key=key)
        for path in (tmp_path / "dateien").rglob("*"):
            path.unlink() if path.is_file() else None
    response = caller.get(f"Binary/{document}")
    assert response.status_code == 500
    assert response.get_json(force=True)["resourceType"] == "OperationOutcome"


def test_a_link_leads_to_the_storage_for_a_minute_and_dies_with_the_token(database_url, tmp_path, s3):
    app = make_app(database_url, tmp_path, storage=s3, presign="storage")
    place = make_place(app)
    place.add_document(BODY, content_type="application/pdf", title="Bericht.pdf")
    url, browser = Caller(place).link(), app.test_client()
    sent_on = browser.get(url)
    assert (sent_on.status_code, sent_on.data, sent_on.headers["Cache-Control"]) == (302, b"", "no-store")
    assert sent_on.headers["Location"].startswith(os.environ["AWS_ENDPOINT_URL"])
    assert "X-Amz-Expires=60&" in sent_on.headers["Location"]
    answer = httpx2.get(sent_on.headers["Location"])
    assert answer.content == BODY
    assert answer.headers["Content-Type"] == "application/pdf"
    command(app, "users", "deactivate", "erika@example.org")
    dead = browser.get(url)
    assert (dead.status_code, "Location" in dead.headers) == (403, False)


def test_bundles_are_compressed_for_those_who_ask(place, caller):
    for _ in range(5):
        place.add_document()
    plain = caller.get("DocumentReference?_elements=id,status,date")
    packed = caller.get("DocumentReference?_elements=id,status,date", headers={"Accept-Encoding": "gzip, br"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in packed.headers["Vary"]
    assert len(packed.data) < len(plain.data)
    assert len(gzip.decompress(packed.data)) == len(plain.data)


def test_a_resource_the_caller_already_has_is_not_sent_again(caller):
    first = caller.get("metadata")
    assert first.get_json(force=True)["fhirVersion"] == "4.0.1"
    again = caller.get("metadata", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")


class TestWithoutAServer:
    """Rules that need no database."""

    @given(st.text(max_size=80))
    def test_any_title_makes_a_harmless_header(self, title):
        stored = clean_title(title)
        header = disposition(stored)
        assert header.isascii()
        assert header.isprintable()
        assert unquote(header.partition("UTF-8''")[2]) == stored
        assert not set(stored) & set("/\\\r\n\0")
        assert header.count('"') == 2
        assert not any(unicodedata.category(char) in ("Cc", "Cf", "Cs") for char in stored)

    @pytest.mark.parametrize(
        ("given_type", "stored"),
        [
            ("Application/PDF; charset=utf-8", "application/pdf"),
            ("", "application/octet-stream"),
            ("text/html\r\nX: y", "application/octet-stream"),
            ("image/svg+xml", "image/svg+xml"),
        ],
    )
    def test_types_are_stored_lower_and_without_parameters(self, given_type, stored):
        assert clean_content_type(given_type) == stored

    @pytest.mark.parametrize("url", ["ftp://x", "s3://", "file://host/x", "", "/var/files"])
    def test_other_storages_are_refused_in_words(self, url):
        with pytest.raises(SettingError, match="BEFUND_STORAGE"):
            open_files(url)

    @given(st.integers(0, 2**33), st.integers(0, 4000))
    def test_within_a_window_the_same_url_comes_back(self, now, window):
        signer = Presigner("geheim" * 8, window)
        expires = signer.expiry(now)
        assert now + 3600 <= expires < now + 3600 + max(window, 1)
        assert not window or expires % window == 0

    @given(st.integers(0, 7200))
    def test_a_link_is_valid_for_one_hour_and_no_second_longer(self, later):
        organization, document, now = str(uuid.uuid4()), str(uuid.uuid4()), 1_800_000_000
        signer = Presigner("geheim" * 8)
        url = signer.signer("http://x", organization, "abc", now)(document)
        values = dict(pair.split("=") for pair in url.partition("?")[2].split("&"))
        assert signer.grants(organization, document, values, now + later) is (later < 3600)
        assert not Presigner("anders" * 8).grants(organization, document, values, now)


def test_a_killed_writer_leaves_no_half_file(tmp_path):
    """A process is killed in the middle of writing: what is there afterwards is whole."""
    program = (
        "import sys, io, os\nfrom pathlib import Path\nfrom webapp.storage import FolderFiles\n"
        "files = FolderFiles(Path(sys.argv[1]))\nprint('ready', flush=True)\n"
        "for number in range(10**6): files.put(io.BytesIO(os.urandom(300_000)))\n"
    )
    for after in (0.04, 0.13):
        writer = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE)
        writer.stdout.readline()
        time.sleep(after)
        writer.send_signal(signal.SIGKILL)
        writer.wait(10)
        writer.stdout.close()
    files = FolderFiles(tmp_path)
    digests = list(files.digests())
    report = verify(files, dict.fromkeys(digests, 300_000))
    assert digests
    assert report.faults == ()
    for path in tmp_path.glob(".incoming-*"):
        os.utime(path, (0, 0))
    files.sweep()
    assert not list(tmp_path.glob(".incoming-*"))


def test_a_file_leaves_nothing_in_the_table_of_names_that_a_process_keeps(tmp_path):
    """Python interns each part of a `pathlib.Path`; after some thousand documents that table takes megabytes more."""
    interned = []

    def look(frame, event, called):
        if event == "c_call" and called is sys.intern:
            interned.append(frame.f_locals)

    files = FolderFiles(tmp_path)
    sys.setprofile(look)
    try:
        digest = files.put(io.BytesIO(BODY)).digest
        found = files.has(digest), os.path.basename(files.path(digest)), b"".join(files.read(digest)) == BODY
        files.remove(digest)
        by_files = len(interned)
        Path(tmp_path, digest.hex())
    finally:
        sys.setprofile(None)
    assert found == (True, digest.hex(), True)
    assert not files.has(digest)
    assert by_files == 0
    assert len(interned) > 0, "a Path was not seen: Python has another way to intern, and this test sees nothing"
