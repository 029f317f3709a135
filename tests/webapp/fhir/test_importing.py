"""Documents, patients and imaging studies come in by command; what is bad is reported, what is in is not repeated."""

import io
import os
import signal
import subprocess
import sys
import time
import uuid
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import func, select

from tests.webapp.conftest import SECRET, command
from tests.webapp.fhir.conftest import Caller, make_place, manifest
from webapp.extensions import db as database
from webapp.fhir.models import AccessToken, Document
from webapp.fhir.service import service

ROOT = Path(__file__).parents[3]
LINES, KILLED_AT = 300, 250  # a batch is 200


def test_a_manifest_is_stored_line_by_line(place, caller, tmp_path):
    patient = place.add_patient(("urn:a", "4711"))
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
    assert "4 stored, 0 already there, 0 bad" in place.imported("documents", path)
    found = {resource["id"]: resource for resource in caller.all("DocumentReference")}.values()
    first = next(resource for resource in found if resource["content"][0]["attachment"]["title"] == "Befund.pdf")
    assert first["subject"] == {"reference": f"Patient/{patient}"}
    assert caller.bundle("DocumentReference?patient=4711")["total"] == 1
    assert caller.bundle("DocumentReference?patient=0815&status=entered-in-error")["total"] == 2
    assert caller.bundle("DocumentReference?date=2024-05-06T07:08:09.123456")["total"] == 1
    assert caller.bundle(f"Patient/{patient}/$everything")["total"] == 2
    again = command(place.app, "documents", "import", "--org", "Praxis am Beispielplatz", path)
    assert "0 stored, 4 already there, 0 bad" in again


def test_bad_lines_are_reported_and_skipped_and_can_be_mended(place, caller, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"a")
    bad = [
        "{",
        "[]",
        {"path": "geheim-mustermann.txt"},
        {"path": "."},
        {"path": "a.txt", "patient": str(uuid.uuid4())},
        {"path": "a.txt", "patient": f"Patient/{uuid.uuid4()}"},
        {"path": "a.txt", "patient": "system|"},
        {"path": "a.txt", "stored_at": "gestern"},
        {"path": "a.txt", "stored_at": "2999-01-01"},
        {"path": "a.txt", "status": "final"},
        {"path": "a.txt", "status": "superseded"},
        {"path": "a.txt", "unknown": 1},
        {"path": "a.txt", "title": "\0"},
        {"title": "ohne Pfad"},
    ]
    output = place.imported("documents", manifest(tmp_path, {"path": "a.txt"}, *bad), fails=True)
    assert f"1 stored, 0 already there, {len(bad)} bad" in output
    for number in range(2, len(bad) + 2):
        assert f"line {number}: " in output
    assert output.count("patient is unknown") == 2
    assert "mustermann" not in output
    mended = manifest(tmp_path, {"path": "a.txt"}, {"path": "a.txt", "stored_at": "2024"})
    assert "1 stored, 1 already there, 0 bad" in place.imported("documents", mended)
    assert caller.bundle("DocumentReference")["total"] == 2


@pytest.mark.parametrize(
    "name", ["../secret.txt", "inner/../../secret.txt", "{above}/secret.txt", "link.txt", "inner/a.txt", "pipe"]
)
def test_a_manifest_hands_out_nothing_from_outside_its_folder(place, caller, tmp_path, name):
    """A writer of manifests need not be allowed to read what the importing process may read."""
    folder = tmp_path / "letters"
    folder.mkdir()
    (tmp_path / "secret.txt").write_bytes(b"another's letter")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a.txt").write_bytes(b"another's letter")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "inner").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(folder / "pipe")
    (folder / "good.txt").write_bytes(b"a letter")
    path = manifest(folder, {"path": name.format(above=tmp_path)}, {"path": "good.txt"})
    output = place.imported("documents", path, fails=True)
    assert "1 stored, 0 already there, 1 bad" in output
    assert "line 1: path cannot be read (the name " in output
    assert "secret" not in output
    assert caller.bundle("DocumentReference")["total"] == 1
    assert len(stored(tmp_path)) == 1


def test_a_killed_import_goes_on_where_it_was(database_url, tmp_path):
    """It is killed in its second batch: the first is whole, and at the end every line is in once, and has its file."""
    from tests.webapp.conftest import make_app

    app = make_app(database_url, tmp_path)
    place = make_place(app)
    for number in range(LINES):
        (tmp_path / f"{number}.txt").write_bytes(str(number).encode())
    path = manifest(tmp_path, *({"path": f"{number}.txt"} for number in range(LINES)))
    settings = {"ENV": "development", "SECRET_KEY": SECRET, "DATABASE_URL": database_url, "VAR": str(tmp_path)}
    environment = dict(os.environ) | {f"BEFUND_{name}": value for name, value in settings.items()}
    command = [sys.executable, "-m", "flask", "--app", "webapp", "documents", "import"]
    for line in (KILLED_AT, None):
        if line is not None:  # a file without an end in sight: the process is killed while it reads it
            os.truncate(tmp_path / f"{line}.txt", 1 << 42)
        process = subprocess.Popen(
            [*command, "--org", str(place.organization), str(path)],
            cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline and not is_read(process.pid, tmp_path, line):
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        assert process.wait(10) == (0 if line is None else -signal.SIGKILL)
        with app.app_context():
            rows = {bytes(row) for row in database.session.scalars(select(Document.sha256))}
        assert rows <= stored(tmp_path)
        assert len(rows) == (LINES if line is None else line // 200 * 200)  # whole batches
        if line is not None:
            (tmp_path / f"{line}.txt").write_bytes(str(line).encode())
    with app.app_context():
        assert database.session.scalar(select(func.count()).select_from(Document)) == LINES
    assert Caller(place).bundle("DocumentReference")["total"] == LINES


def is_read(process, folder, line):
    """Return True when the process has the file of this line open."""
    opened = set()
    for place in Path(f"/proc/{process}/fd").iterdir():
        with suppress(OSError):  # closed meanwhile
            opened.add(place.readlink())
    return folder / f"{line}.txt" in opened


def stored(folder):
    return {bytes.fromhex(found.name) for found in (folder / "files").rglob("*") if len(found.name) == 64}


def test_patients_and_studies_are_checked_and_renewed(place, caller, tmp_path):
    given_id = str(uuid.uuid4())
    people = [
        {"resourceType": "Patient", "id": given_id, "identifier": [{"system": "urn:a", "value": "1"}],
         "name": [{"family": "Mustermann", "given": ["Erika"]}], "birthDate": "1964-08-12"},
        {"resourceType": "Patient", "identifier": [{"value": "2"}]},
        {"resourceType": "Patient", "birthDate": "gestern"},
        {"resourceType": "Observation"},
        "kein JSON",
    ]  # fmt: skip
    assert "2 stored, 0 already there, 3 bad" in place.imported("patients", manifest(tmp_path, *people), fails=True)
    (found,) = caller.all("Patient?identifier=urn:a%7C1")
    assert found["id"] == given_id
    assert found["birthDate"] == "1964-08-12"
    renewed = {"resourceType": "Patient", "identifier": [{"system": "urn:a", "value": "1"}, {"value": "3"}]}
    place.imported("patients", manifest(tmp_path, renewed))
    assert caller.ids("Patient?identifier=3") == [given_id]
    assert "birthDate" not in caller.all("Patient?identifier=3")[0]
    studies = [
        {"resourceType": "ImagingStudy", "status": "available", "subject": {"reference": f"Patient/{given_id}"}},
        {"resourceType": "ImagingStudy", "status": "available", "subject": {"identifier": {"value": "2"}}},
        {"resourceType": "ImagingStudy", "status": "available", "subject": {"reference": f"Patient/{uuid.uuid4()}"}},
        {"resourceType": "ImagingStudy", "subject": {"reference": f"Patient/{given_id}"}},
    ]
    assert "2 stored, 0 already there, 2 bad" in place.imported("studies", manifest(tmp_path, *studies), fails=True)
    (study,) = caller.all(f"Patient/{given_id}/$everything")
    assert study["resourceType"] == "ImagingStudy"
    assert study["subject"] == {"reference": f"Patient/{given_id}"}


def test_tokens_by_command(place):
    text = command(place.app, "tokens", "create", "--user", "erika@example.org", "--days", "1")
    caller = place.calls(text.strip())
    assert caller.get("DocumentReference").status_code == 200
    with place.app.app_context():
        token = database.session.get(AccessToken, text.split("_")[1])
        assert token.expires_at / 1e6 - time.time() < 86_401
    assert text.split("_")[1] in command(place.app, "tokens", "list", "--user", "erika@example.org")
    command(place.app, "tokens", "revoke", "--user", "erika@example.org", text.split("_")[1])
    assert caller.get("DocumentReference").status_code == 401
    command(place.app, "tokens", "create", "--user", "niemand@example.org", fails=True)


def test_marking_and_verifying_by_command(place, caller, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"a")
    place.imported("documents", manifest(tmp_path, {"path": "a.txt"}))
    (document,) = caller.ids("DocumentReference")
    assert "entered-in-error" in command(place.app, "documents", "mark-in-error", document)
    assert caller.bundle("DocumentReference?status=entered-in-error")["total"] == 1
    assert "current" in command(place.app, "documents", "mark-in-error", document, "--undo")
    assert caller.bundle("DocumentReference?status=current")["total"] == 1
    command(place.app, "documents", "mark-in-error", uuid.uuid4(), fails=True)
    command(place.app, "documents", "verify")
    (file,) = (found for found in (tmp_path / "files").rglob("*") if found.is_file())
    file.write_bytes(b"b")
    assert "changed" in command(place.app, "documents", "verify", fails=True)
    file.unlink()
    assert "missing" in command(place.app, "documents", "verify", fails=True)


# --- nothing is lost on the way in -----------------------------------------------------------------------------------


def day(folder, name, body, *lines):
    """A daily folder as a scanner leaves it: a file and a manifest that names it."""
    (folder / name).mkdir()
    (folder / name / "scan001.pdf").write_bytes(body)
    return manifest(folder / name, *(lines or [{"path": "scan001.pdf", "patient": "urn:a|4711"}]))


def test_the_same_line_with_another_file_in_another_folder_is_another_document(place, caller, tmp_path):
    monday, tuesday = day(tmp_path, "mo", b"%PDF 1"), day(tmp_path, "di", b"%PDF 2")
    assert "1 stored, 0 already there, 0 bad" in place.imported("documents", monday)
    assert "1 stored, 0 already there, 0 bad" in place.imported("documents", tuesday)
    bodies = {caller.get(f"Binary/{ident}").get_data() for ident in caller.ids("DocumentReference")}
    assert bodies == {b"%PDF 1", b"%PDF 2"}
    for again in (monday, tuesday):
        assert "0 stored, 1 already there, 0 bad" in place.imported("documents", again)


def test_a_known_line_whose_file_was_replaced_is_an_error_and_both_can_be_kept(place, caller, tmp_path):
    path = day(tmp_path, "mo", b"%PDF 1")
    place.imported("documents", path)
    (tmp_path / "mo" / "scan001.pdf").write_bytes(b"%PDF 2")
    output = place.imported("documents", path, fails=True)
    assert "0 stored, 0 already there, 1 bad" in output
    assert "line 1: this line was imported before with another file" in output
    manifest(tmp_path / "mo", {"path": "scan001.pdf", "patient": "urn:a|4711", "title": "Nachtrag.pdf"})
    place.imported("documents", path)
    assert caller.bundle("DocumentReference")["total"] == 2


def test_keys_of_a_line_in_another_order_are_the_same_line(place, caller, tmp_path):
    first = day(tmp_path, "mo", b"%PDF", '{"path": "scan001.pdf", "title": "Brief"}')
    place.imported("documents", first)
    manifest(tmp_path / "mo", '{ "title":"Brief",  "path":"scan001.pdf", "patient": ""}')
    assert "0 stored, 1 already there" in place.imported("documents", first)
    assert caller.bundle("DocumentReference")["total"] == 1


# --- whose they are --------------------------------------------------------------------------------------------------

REFERENCES = ("Patient/{}", "urn:uuid:{}", "https://kis.example/fhir/Patient/{}", "{}", "Patient/{}/_history/2")


@pytest.mark.parametrize("form", REFERENCES)
def test_a_reference_in_any_form_links(place, caller, tmp_path, form):
    patient = place.add_patient(("urn:a", "4711"))
    path = day(tmp_path, "mo", b"%PDF", {"path": "scan001.pdf", "patient": form.format(patient)})
    assert "1 linked, 0 tagged only" in place.imported("documents", path)
    assert caller.bundle(f"Patient/{patient}/$everything")["total"] == 1


def test_a_patient_who_arrives_after_the_document_is_linked(place, caller, tmp_path):
    path = day(
        tmp_path, "mo", b"%PDF",
        {"path": "scan001.pdf", "patient": "urn:a|4711"},
        {"path": "scan001.pdf", "patient": "4711"},
        {"path": "scan001.pdf", "patient": "urn:b|4711"},
        {"path": "scan001.pdf", "patient": "urn:a|0815"},
    )  # fmt: skip
    assert "0 linked, 4 tagged only" in place.imported("documents", path)
    person = {"resourceType": "Patient", "identifier": [{"system": "urn:a", "value": "4711"}]}
    assert "2 documents that were waiting are linked" in place.imported("patients", manifest(tmp_path, person))
    (patient,) = caller.ids("Patient?identifier=urn:a%7C4711")
    assert caller.bundle(f"Patient/{patient}/$everything")["total"] == 2
    assert "0 linked, 2 tagged only" in command(place.app, "patients", "relink", "--org", place.organization)


def test_relinking_on_demand(place, caller, tmp_path):
    """The patients came in past the command, so nothing was linked at that moment."""
    path = day(tmp_path, "mo", b"%PDF", *({"path": "scan001.pdf", "patient": f"urn:a|{n}"} for n in range(5)))
    place.imported("documents", path)
    for number in range(3):
        place.add_patient(("urn:a", str(number)))
    assert "3 linked, 2 tagged only" in command(place.app, "patients", "relink", "--org", place.organization)
    assert "0 linked, 2 tagged only" in command(place.app, "patients", "relink", "--org", place.organization)


def test_a_value_that_two_patients_have_links_to_neither(place, tmp_path):
    place.add_patient(("urn:a", "4711"))
    place.add_patient(("urn:b", "4711"))
    path = day(tmp_path, "mo", b"%PDF", {"path": "scan001.pdf", "patient": "4711"})
    assert "0 linked, 1 tagged only" in place.imported("documents", path)


def test_a_patient_of_another_organization_is_never_linked(app, place, tmp_path):
    other = make_place(app, "Anderswo", "otto@example.org")
    other.add_patient(("urn:a", "4711"))
    path = day(tmp_path, "mo", b"%PDF")
    assert "0 linked, 1 tagged only" in place.imported("documents", path)
    assert "0 linked, 1 tagged only" in command(place.app, "patients", "relink", "--org", place.organization)


STUDIES = (
    {"id": "studie-1"},
    {"identifier": [{"system": "urn:dicom:uid", "value": "urn:oid:1.2.3.4"}]},
    {"description": "MRT Knie"},
)


@pytest.mark.parametrize("given", STUDIES, ids=["id", "identifier", "equal"])
def test_a_study_imported_three_times_is_one(place, caller, tmp_path, given):
    patient = place.add_patient(("urn:a", "4711"))
    study = {
        "resourceType": "ImagingStudy",
        "status": "available",
        "subject": {"identifier": {"value": "4711"}},
    } | given
    outputs = [place.imported("studies", manifest(tmp_path, study)) for _ in range(3)]
    assert "1 stored, 0 already there" in outputs[0]
    assert all("0 stored, 1 already there" in output for output in outputs[1:])
    (found,) = caller.all(f"Patient/{patient}/$everything")
    assert ("its id is " + found["id"] in outputs[0]) is ("id" in given)


def test_a_patient_with_a_foreign_id_is_met_again_and_referred_to_by_it(place, caller, tmp_path):
    person = {"resourceType": "Patient", "id": "pat-1", "name": [{"family": "Muster"}]}
    for _ in range(2):
        assert "its id is " in place.imported("patients", manifest(tmp_path, person))
    (patient,) = caller.ids("Patient")
    study = {"resourceType": "ImagingStudy", "status": "available", "subject": {"reference": "Patient/pat-1"}}
    place.imported("studies", manifest(tmp_path, study))
    path = day(tmp_path, "mo", b"%PDF", {"path": "scan001.pdf", "patient": "Patient/pat-1"})
    assert "1 linked" in place.imported("documents", path)
    assert caller.bundle(f"Patient/{patient}/$everything")["total"] == 2


def test_files_of_rolled_back_stores_are_swept_once_they_are_old(place, tmp_path):
    with place.app.app_context():
        left, young = (service().files.put(io.BytesIO(body)).digest for body in (b"left", b"young"))
        kept = service().files.put(io.BytesIO(b"kept")).digest
    path = day(tmp_path, "mo", b"kept")
    place.imported("documents", path)
    for digest in (left, kept):
        name = digest.hex()
        os.utime(tmp_path / "files" / name[:2] / name[2:4] / name, (0, 0))
    assert "2 that no document points to (0 of them removed)" in command(place.app, "documents", "verify")
    assert "2 that no document points to (1 of them removed)" in command(place.app, "documents", "verify", "--sweep")
    assert stored(tmp_path) == {young, kept}
