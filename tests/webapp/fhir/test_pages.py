"""The pages "Zugriffstokens" and "Dokumente" for signed-in members."""

import io
import re
import uuid

import pytest
from markupsafe import escape
from sqlalchemy import select

from tests.webapp.conftest import add_organization, add_user, login, submit
from tests.webapp.fhir.conftest import Caller, Place
from webapp.extensions import db as database
from webapp.fhir.models import AccessLog
from webapp.models import User


@pytest.fixture
def member(place, app):
    """A browser in which the member is signed in."""
    client = app.test_client()
    with app.app_context():
        login(client, database.session.get(User, place.user))
    return client


def text(response):
    return response.get_data(as_text=True)


def test_a_token_is_shown_once_works_and_can_be_revoked(place, member):
    shown = text(submit(member, "/tokens/", name="Praxisprogramm", days="30"))
    token = re.search(r"bfa_[0-9a-f]{12}_[\w-]{43}", shown)[0]
    assert token not in text(member.get("/tokens/"))
    caller = Caller(Place(place.app, place.organization, place.user, token))
    assert caller.get("DocumentReference").status_code == 200
    page = f"/tokens/{token.split('_')[1]}/revoke/"
    assert submit(member, "/tokens/", to=page).status_code == 302
    assert caller.get("DocumentReference").status_code == 401
    assert "widerrufen" in text(member.get("/tokens/", headers={"Accept-Language": "de"}))


def test_uploaded_files_are_listed_filed_and_handed_out(place, member, app):
    patient = place.add_patient(("urn:a", "4711"))
    page = f"/documents/{place.organization}/"
    done = submit(
        member,
        page,
        to=f"{page}upload/",
        files=[(io.BytesIO(b"%PDF-1.4 x"), "Befund Müller.pdf", "application/pdf"), (io.BytesIO(b"y"), "../b.txt")],
        patient="urn:a|4711",
    )
    assert done.status_code == 302
    listed = text(member.get(page))
    assert "Befund Müller.pdf" in listed
    assert ".._b.txt" in listed
    resources = Caller(place).all("DocumentReference?patient=4711")
    assert len(resources) == 2
    assert resources[0]["subject"] == {"reference": f"Patient/{patient}"}
    document = next(
        found["id"] for found in resources if found["content"][0]["attachment"]["contentType"] != "text/plain"
    )
    assert member.get(f"{page}{document}/file").data == b"%PDF-1.4 x"
    preview = member.get(f"{page}{document}/file?preview=1")
    assert preview.headers["Content-Disposition"].startswith("inline")
    assert "frame-ancestors 'self'" in preview.headers["Content-Security-Policy"]
    with app.app_context():
        logged = database.session.scalars(select(AccessLog).order_by(AccessLog.id)).all()
    assert [(row.how, row.user_id) for row in logged] == [("download", place.user), ("preview", place.user)]


@pytest.mark.parametrize("named", ["4711", "|4711", "Patient/{patient}", "{patient}"])
def test_an_upload_links_as_an_import_does(place, member, named):
    """A value that one patient alone has is enough; a value that two have links to none, as in a manifest."""
    patient = place.add_patient(("urn:a", "4711"), ("urn:a", "shared"))
    place.add_patient(("urn:b", "shared"))
    page = f"/documents/{place.organization}/"
    for text_given in (named.format(patient=patient), "shared"):
        files = [(io.BytesIO(b"x"), f"{len(text_given)}.txt", "text/plain")]
        assert submit(member, page, to=f"{page}upload/", files=files, patient=text_given).status_code == 302
    found = Caller(place).all("DocumentReference")
    linked = [one.get("subject", {}).get("reference") for one in found]
    assert linked.count(f"Patient/{patient}") == 1
    assert len(linked) == 2


def test_large_uploads_pass_while_other_forms_stay_small(place, member):
    page = f"/documents/{place.organization}/"
    big = [(io.BytesIO(b"x" * 3_000_000), "gross.bin")]
    assert submit(member, page, to=f"{page}upload/", files=big).status_code == 302
    assert Caller(place).bundle("DocumentReference")["total"] == 1
    assert submit(member, "/tokens/", name="x" * 3_000_000).status_code == 413


def test_the_list_is_filtered_and_paged(place, member):
    for number in range(30):
        place.add_document(title=f"Nummer {number}.", external_system="", external_value="A" if number % 2 else "B")
    page = f"/documents/{place.organization}/"
    first = text(member.get(f"{page}?patient=A", headers={"Accept-Language": "de"}))
    assert "Gefunden: 15" in first
    assert "Nummer 1." in first
    assert "Nummer 2." not in first
    everything = text(member.get(page))
    following = re.search(r'rel="next" href="([^"]+)"', everything)[1].replace("&amp;", "&")
    second = text(member.get(following))
    assert "Nummer 0." in second
    assert "Nummer 0." not in everything
    assert "Nummer 29." not in text(member.get(f"{page}?from=2999-01-01"))


def test_documents_are_marked_and_marking_is_undone(place, member):
    document = place.add_document()
    page = f"/documents/{place.organization}/{document}/"
    for status in ("entered-in-error", "current"):
        submit(member, page, to=f"{page}mark/", status=status)
        assert Caller(place).bundle(f"DocumentReference?status={status}")["total"] == 1
    place.mark(document)
    assert member.get(f"{page}file").status_code == 404


def test_others_see_nothing(place, app, member):
    document = place.add_document()
    stranger = app.test_client()
    login(stranger, add_user(app, "max@example.org"))
    for path in (f"/documents/{place.organization}/", f"/documents/{place.organization}/{document}/file"):
        assert stranger.get(path).status_code == 404
        assert app.test_client().get(path).status_code == 302
    other = add_organization(app, "Andere Praxis")
    assert member.get(f"/documents/{other.id}/{document}/").status_code == 404
    assert member.get(f"/documents/{place.organization}/{uuid.uuid4()}/").status_code == 404
    assert stranger.get("/documents/").status_code == 200


@pytest.mark.parametrize("title", ["<script>alert(1)</script>.txt", '"><img src=x>.pdf', "{{ 7*7 }}.txt"])
def test_titles_are_text_and_nothing_else(place, member, title):
    document = place.add_document(title=title)
    page = text(member.get(f"/documents/{place.organization}/{document}/"))
    assert str(escape(title)) in page
    assert "<" not in title or title not in page
