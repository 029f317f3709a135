"""The contract's own seven parameters answer as they did before the others of the standard were understood, but for a
status that is none of ours, which finds nothing."""

import json
import uuid
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.webapp.fhir.conftest import link, resources_of
from webapp.fhir.models import Status

RECORDED = json.loads((Path(__file__).parent / "contract_answers.json").read_text(encoding="utf-8"))
"""Query -> total, the numbers of the documents on the page, query of `link.self`, relations of the links; as answered
by the version before `webapp/fhir/searching` came to be, and equal on both databases. One differs since: documents may
be superseded, which the contract does not know, so that asking for those finds none here and not all."""
TIMES = ["00:00:00.000000", "00:00:00.000001", "10:20:30.000000", "10:20:30.400500"]
TIMES += ["10:20:31.000000", "23:59:59.999999"]
TAGS = [(None, None), ("", "4711"), ("urn:a", "4711"), ("urn:a", "08/15"), ("urn:b", "Ä ö+|%&"), ("", "a,b")]
TYPES = ["application/pdf", "text/plain", "image/jpeg"]


@pytest.fixture
def stored(place):
    """Thirty documents on five days, and the ids of the two patients that some are linked to."""
    patients = [place.add_patient(("urn:a", "4711")), place.add_patient()]
    days = ("2026-02-28", "2026-03-01", "2026-03-05", "2026-03-06", "2026-03-07")
    ids = place.add_documents(
        [
            {
                "at": f"{day}T{time}+00:00",
                "content_type": TYPES[number % 3 if number % 7 else 2],
                "external_system": TAGS[number % 6][0],
                "external_value": TAGS[number % 6][1] if number != 18 else str(patients[0]),
                "patient_id": [None, *patients][number % 3],
                "status": Status.ENTERED_IN_ERROR if number % 5 == 0 else Status.CURRENT,
            }
            for number, (day, time) in enumerate((day, time) for day in days for time in TIMES)
        ],
    )
    return [str(ident) for ident in ids], [str(patient) for patient in patients]


def answers(caller, stored, query):
    ids, patients = stored
    asked = query.format(*patients, str(uuid.UUID(int=7)))
    bundle = caller.bundle(f"DocumentReference?{asked}")
    shown = urlsplit(link(bundle, "self")).query
    for number, patient in enumerate(patients):
        shown = shown.replace(patient, f"{{{number}}}")
    return [
        bundle["total"],
        [ids.index(resource["id"]) for resource in resources_of(bundle)],
        shown.replace(str(uuid.UUID(int=7)), "{2}"),
        [item["relation"] for item in bundle["link"]],
    ]


def test_every_recorded_request_is_answered_as_before(caller, stored):
    differing = {
        query: (now, before) for query, before in RECORDED.items() if (now := answers(caller, stored, query)) != before
    }
    assert differing == {}
    assert len(RECORDED) > 90
