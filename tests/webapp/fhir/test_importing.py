"""Documents, patients and imaging studies come in by command; what is bad is reported, what is in is not repeated."""

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest
from sqlalchemy import func, select

from tests.webapp.conftest import SECRET
from tests.webapp.fhir.conftest import Caller, add_patient, make_place
from webapp.extensions import db as database
from webapp.fhir.models import AccessToken, Document

ROOT = Path(__file__).parents[3]
LINES, KILLED_AT = 300, (90, 250)  # a batch is 200


@pytest.fixture
def run(app, place):
    """Run a command as `flask --app webapp` does; returns exit code and output."""
    runner = app.test_cli_runner()

    def run(*arguments):
        done = runner.invoke(args=[str(argument) for argument in arguments])
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done.exit_code, done.output

    return run


def manifest(folder, *lines):
    path = folder / "manifest.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + "\n")
    return path


def test_a_manifest_is_stored_line_by_line(place, run, caller, tmp_path):
    patient = add_patient(place, ("urn:a", "4711"))
    (tmp_path / "a.pdf").write_bytes(b"%PDF")
    (tmp_path / "b.txt").write_bytes(b"b")
    path = manifest(
        tmp_path,
        {"path": "a.pdf", "title": "Befund.pdf", "content_type": "application/pdf", "patient": "urn:a|4711"},
        {"path": "b.txt", "patient": str(patient), "stored_at": "2024-05-06T07:08:09.123456Z"},
        "",
        {"path": "b.txt", "patient": "0815", "status": "entered-in-error"},
        {"path": "b.txt", "patient": "0815", "status": "entered-in-error"},
    )
    code, output = run("documents", "import", "--org", place.organization, path)
    assert (code, "4 stored, 0 already there, 0 bad" in output) == (0, True)
    found = {resource["id"]: resource for resource in caller.all("DocumentReference")}.values()
    first = next(resource for resource in found if resource["content"][0]["attachment"]["title"] == "Befund.pdf")
    assert first["subject"] == {"reference": f"Patient/{patient}"}
    assert caller.bundle("DocumentReference?patient=4711")["total"] == 1
    assert caller.bundle("DocumentReference?patient=0815&status=entered-in-error")["total"] == 2
    assert caller.bundle("DocumentReference?date=2024-05-06T07:08:09.123456")["total"] == 1
    assert caller.bundle(f"Patient/{patient}/$everything")["total"] == 2
    code, output = run("documents", "import", "--org", "Praxis am Beispielplatz", path)
    assert (code, "0 stored, 4 already there, 0 bad" in output) == (0, True)


def test_bad_lines_are_reported_and_skipped_and_can_be_mended(place, run, caller, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"a")
    bad = [
        "{",
        "[]",
        {"path": "geheim-mustermann.txt"},
        {"path": "."},
        {"path": "a.txt", "patient": str(uuid.uuid4())},
        {"path": "a.txt", "patient": "system|"},
        {"path": "a.txt", "stored_at": "gestern"},
        {"path": "a.txt", "stored_at": "2999-01-01"},
        {"path": "a.txt", "status": "final"},
        {"path": "a.txt", "unknown": 1},
        {"path": "a.txt", "title": "\0"},
        {"title": "ohne Pfad"},
    ]
    code, output = run("documents", "import", "--org", place.organization, manifest(tmp_path, {"path": "a.txt"}, *bad))
    assert code == 1
    assert f"1 stored, 0 already there, {len(bad)} bad" in output
    for number in range(2, len(bad) + 2):
        assert f"line {number}: " in output
    assert "mustermann" not in output
    mended = manifest(tmp_path, {"path": "a.txt"}, {"path": "a.txt", "stored_at": "2024"})
    code, output = run("documents", "import", "--org", place.organization, mended)
    assert (code, "1 stored, 1 already there, 0 bad" in output) == (0, True)
    assert caller.bundle("DocumentReference")["total"] == 2


def test_a_killed_import_goes_on_where_it_was(database_url, tmp_path):
    """A process is killed in the first batch and in the second: at the end every line is in once, and has its file."""
    from tests.webapp.conftest import make_app

    app = make_app(database_url, tmp_path)
    place = make_place(app)
    for number in range(LINES):
        (tmp_path / f"{number}.txt").write_bytes(str(number).encode())
    path = manifest(tmp_path, *({"path": f"{number}.txt"} for number in range(LINES)))
    settings = {"ENV": "development", "SECRET_KEY": SECRET, "DATABASE_URL": database_url, "VAR": str(tmp_path)}
    environment = dict(os.environ) | {f"BEFUND_{name}": value for name, value in settings.items()}
    command = [sys.executable, "-m", "flask", "--app", "webapp", "documents", "import"]
    for line in (*KILLED_AT, None):
        if line is not None:  # reading a pipe that nobody writes to, the process waits there for its end
            (tmp_path / f"{line}.txt").unlink()
            os.mkfifo(tmp_path / f"{line}.txt")
        process = subprocess.Popen(
            [*command, "--org", str(place.organization), str(path)],
            cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline and (line is None or len(stored(tmp_path)) < line):
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        assert process.wait(10) == (0 if line is None else -signal.SIGKILL)
        with app.app_context():
            rows = {bytes(row) for row in database.session.scalars(select(Document.sha256))}
        assert rows <= stored(tmp_path)
        assert len(rows) == (LINES if line is None else line // 200 * 200)  # whole batches
        if line is not None:
            (tmp_path / f"{line}.txt").unlink()
            (tmp_path / f"{line}.txt").write_bytes(str(line).encode())
    with app.app_context():
        assert database.session.scalar(select(func.count()).select_from(Document)) == LINES
    assert Caller(place).bundle("DocumentReference")["total"] == LINES
    app.extensions["befund_engine"].dispose()


def stored(folder):
    return {bytes.fromhex(found.name) for found in (folder / "files").rglob("*") if len(found.name) == 64}


def test_patients_and_studies_are_checked_and_renewed(place, run, caller, tmp_path):
    given_id = str(uuid.uuid4())
    people = [
        {"resourceType": "Patient", "id": given_id, "identifier": [{"system": "urn:a", "value": "1"}],
         "name": [{"family": "Mustermann", "given": ["Erika"]}], "birthDate": "1964-08-12"},
        {"resourceType": "Patient", "identifier": [{"value": "2"}]},
        {"resourceType": "Patient", "birthDate": "gestern"},
        {"resourceType": "Observation"},
        "kein JSON",
    ]  # fmt: skip
    code, output = run("patients", "import", "--org", place.organization, manifest(tmp_path, *people))
    assert (code, "2 stored, 0 already there, 3 bad" in output) == (1, True)
    (found,) = caller.all("Patient?identifier=urn:a%7C1")
    assert found["id"] == given_id
    assert found["birthDate"] == "1964-08-12"
    renewed = {"resourceType": "Patient", "identifier": [{"system": "urn:a", "value": "1"}, {"value": "3"}]}
    run("patients", "import", "--org", place.organization, manifest(tmp_path, renewed))
    assert caller.ids("Patient?identifier=3") == [given_id]
    assert "birthDate" not in caller.all("Patient?identifier=3")[0]
    studies = [
        {"resourceType": "ImagingStudy", "status": "available", "subject": {"reference": f"Patient/{given_id}"}},
        {"resourceType": "ImagingStudy", "status": "available", "subject": {"identifier": {"value": "2"}}},
        {"resourceType": "ImagingStudy", "status": "available", "subject": {"reference": f"Patient/{uuid.uuid4()}"}},
        {"resourceType": "ImagingStudy", "subject": {"reference": f"Patient/{given_id}"}},
    ]
    code, output = run("studies", "import", "--org", place.organization, manifest(tmp_path, *studies))
    assert (code, "2 stored, 0 already there, 2 bad" in output) == (1, True)
    (study,) = caller.all(f"Patient/{given_id}/$everything")
    assert study["resourceType"] == "ImagingStudy"
    assert study["subject"] == {"reference": f"Patient/{given_id}"}


def test_tokens_by_command(place, run, app):
    code, text = run("tokens", "create", "--user", "erika@example.org", "--days", "1")
    place = type(place)(app, place.organization, place.user, text.strip())
    assert code == 0
    assert Caller(place).get("DocumentReference").status_code == 200
    with app.app_context():
        token = database.session.get(AccessToken, text.split("_")[1])
        assert token.expires_at / 1e6 - time.time() < 86_401
    assert text.split("_")[1] in run("tokens", "list", "--user", "erika@example.org")[1]
    assert run("tokens", "revoke", "--user", "erika@example.org", text.split("_")[1])[0] == 0
    assert Caller(place).get("DocumentReference").status_code == 401
    assert run("tokens", "create", "--user", "niemand@example.org")[0] == 1


def test_marking_and_verifying_by_command(place, run, caller, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"a")
    run("documents", "import", "--org", place.organization, manifest(tmp_path, {"path": "a.txt"}))
    (document,) = caller.ids("DocumentReference")
    assert "entered-in-error" in run("documents", "mark-in-error", document)[1]
    assert caller.bundle("DocumentReference?status=entered-in-error")["total"] == 1
    assert "current" in run("documents", "mark-in-error", document, "--undo")[1]
    assert caller.bundle("DocumentReference?status=current")["total"] == 1
    assert run("documents", "mark-in-error", uuid.uuid4())[0] == 1
    assert run("documents", "verify")[0] == 0
    (file,) = (found for found in (tmp_path / "files").rglob("*") if found.is_file())
    file.write_bytes(b"b")
    code, output = run("documents", "verify")
    assert (code, "changed" in output) == (1, True)
    file.unlink()
    assert "missing" in run("documents", "verify")[1]
