"""The search against a brute-force filter that shares no code with it, on both databases."""

import random
import uuid
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.webapp.fhir.conftest import Caller, link, make_place, resources_of
from webapp.extensions import db as database
from webapp.fhir import store
from webapp.fhir.models import Status

RELAXED = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
TYPES = ["application/pdf", "text/plain", "image/jpeg"]
TAGS = [(None, None), ("", "4711"), ("urn:a", "4711"), ("urn:a", "08/15"), ("urn:b", "Ä ö+|%&"), ("", "0815")]
NO_DATES = ["ne2026", "sa2026-03-05", "gestern", "", "2026-03-05T24:00:00Z"]
# Instants at the edges of days, seconds and microseconds, with ties, in two months.
STORED = [
    f"2026-0{month}-{day:02d}T{time}+00:00"
    for month, day in ((2, 28), (3, 1), (3, 5), (3, 6))
    for time in (
        *("00:00:00.000000", "00:00:00.000001", "10:20:29.999999", "10:20:30.000000", "10:20:30.400500"),
        *("10:20:30.400500", "10:20:30.999999", "10:20:31.000000", "23:59:59.999999"),
    )
]


@pytest.fixture
def stored(place):
    """Documents of every kind at `STORED`, as plain dicts in the order of the contract: newest first, then id."""
    random.seed(7)
    patients = [place.add_patient(("urn:a", "4711")), place.add_patient()]
    documents = []
    for number, at in enumerate(STORED):
        system, value = [*TAGS, ("", str(patients[0]))][number % (len(TAGS) + 1)]
        documents.append(
            {
                "at": at,
                "content_type": TYPES[number % 3 if number % 7 else 2],
                "external_system": system,
                "external_value": value,
                "patient_id": [None, *patients][number % 3],
                "status": Status.ENTERED_IN_ERROR if number % 5 == 0 else Status.CURRENT,
            }
        )
    random.shuffle(documents)
    ids = place.add_documents(documents)
    rows = [{**document, "id": str(ident)} for document, ident in zip(documents, ids, strict=True)]
    return sorted(rows, key=lambda row: (row["at"], row["id"]), reverse=True), patients


def holds(row, name, value):
    """Return True when a stored row satisfies one parameter; None where the parameter is one to be ignored."""
    if name in ("date", "_lastUpdated"):
        return None if value in NO_DATES else date_holds(row["at"], value)
    if name == "status" and value:
        return row["status"].value == value.partition(",")[0]
    if name == "contenttype" and value:
        return row["content_type"] == value
    if name == "patient" and value:
        linked = str(row["patient_id"]) == value.removeprefix("Patient/")
        system, bar, number = value.partition("|")
        tagged = row["external_value"] is not None and (
            (number or row["external_value"]) == row["external_value"] and system == row["external_system"]
            if bar
            else row["external_value"] == value
        )
        return linked or tagged
    return None


def date_holds(at, value):
    """Precision as text: a stored instant cut to the length of the value is before it, within it, or after it."""
    prefix = value[:2] if value[:2].isalpha() else "eq"
    stated = value.removeprefix(prefix).removesuffix("Z")
    within = at[: len(stated)]
    return {
        "eq": within == stated,
        "ge": within >= stated,
        "gt": within > stated,
        "le": within <= stated,
        "lt": within < stated,
    }.get(prefix)


def expected(rows, pairs):
    return [row["id"] for row in rows if all(holds(row, *pair) is not False for pair in pairs)]


instants = st.sampled_from(STORED).map(lambda at: at[:26])
dates = st.builds(
    lambda prefix, at, length, zone: prefix + at[:length] + (zone if length > 10 else ""),
    st.sampled_from(["", "eq", "ge", "gt", "le", "lt"]),
    instants,
    st.sampled_from([4, 7, 10, 16, 19, 21, 23, 26]),
    st.sampled_from(["", "Z"]),
)
parameters = st.one_of(
    st.tuples(st.sampled_from(["date", "_lastUpdated"]), dates),
    st.tuples(st.just("status"), st.sampled_from(["current", "entered-in-error", "CURRENT", "", "current,current"])),
    st.tuples(st.just("contenttype"), st.sampled_from([*TYPES, "image/*", "IMAGE/JPEG", "", "image"])),
    st.tuples(st.just("patient"), st.sampled_from(["4711", "urn:a|4711", "|4711", "urn:b|Ä ö+|%&", "urn:a|", "x", ""])),
    st.tuples(st.just("date"), st.sampled_from(NO_DATES)),
    st.tuples(st.sampled_from(["_sort", "x"]), st.text(max_size=5)),
)


def query(pairs):
    return "&".join(f"{quote(name)}={quote(value)}" for name, value in pairs)


@RELAXED
@given(st.data())
def test_the_sql_filter_equals_brute_force(caller, stored, data):
    rows, patients = stored
    linked = st.tuples(
        st.just("patient"), st.sampled_from([str(patients[0]), f"Patient/{patients[1]}", str(uuid.uuid4())])
    )
    pairs = data.draw(st.lists(parameters | linked, max_size=4))
    wanted = expected(rows, pairs)
    size = data.draw(st.sampled_from([1, 3, 50]))
    text = query([*pairs, ("_count", str(size))])
    first = caller.bundle(f"DocumentReference?{text}")
    assert first["total"] == len(wanted)
    assert [resource["id"] for resource in resources_of(first)] == wanted[:size]
    offset = data.draw(st.integers(0, len(rows) + 2))
    there = caller.bundle(f"DocumentReference?{text}&_offset={offset}")
    assert [resource["id"] for resource in resources_of(there)] == wanted[offset : offset + size]
    assert bool(link(there, "next")) is (offset + size < len(wanted))
    assert bool(link(there, "previous")) is (offset > 0)


@RELAXED
@given(st.lists(parameters, max_size=2), st.sampled_from([1, 2, 7, 36]))
def test_paging_concatenated_equals_the_whole(caller, stored, pairs, size):
    text = query(pairs)
    whole = [resource["id"] for resource in resources_of(caller.bundle(f"DocumentReference?{text}&_count=200"))]
    pages = list(caller.pages(f"DocumentReference?{text}&_count={size}"))
    assert [resource["id"] for page in pages for resource in resources_of(page)] == whole
    assert all(page["total"] == len(whole) for page in pages)
    back = [page for page in pages if link(page, "previous")]
    assert len(back) == len(pages) - 1


def test_totals_stay_exact_after_random_writes(place, caller):
    random.seed(3)
    stored = []
    for _ in range(25):
        if stored and random.random() < 0.4:
            chosen = random.choice(stored)
            chosen[1] = random.choice([Status.CURRENT, Status.ENTERED_IN_ERROR])
            place.mark(chosen[0], chosen[1])
        else:
            kind, at = random.choice(TYPES), random.choice([None, *STORED])
            stored.append([place.add_document(content_type=kind, at=at), Status.CURRENT, kind, at])
        for status in Status:
            for kind in TYPES:
                number = sum(row[1] is status and row[2] == kind for row in stored)
                bundle = caller.bundle(f"DocumentReference?status={status.value}&contenttype={kind}&_count=1")
                assert bundle["total"] == number
    place.add_documents([{"at": at} for at in STORED])
    stored += [[None, Status.CURRENT, "", at] for at in STORED]
    for bound in STORED[::2]:
        old = sum(row[3] is not None and row[3] < bound for row in stored)
        assert caller.bundle(f"DocumentReference?date=lt{bound[:26]}&_summary=count")["total"] == old
        assert caller.bundle(f"DocumentReference?date=ge{bound[:26]}&_summary=count")["total"] == len(stored) - old
    before = caller.bundle("DocumentReference?date=ge2026-03-01&status=current&_summary=count")["total"]
    with place.app.app_context(), database.write() as session:
        store.add_counts(session, place.organization, store.miscounted(session, place.organization))
    assert caller.bundle("DocumentReference?date=ge2026-03-01&status=current&_summary=count")["total"] == before
    bundle = caller.bundle("DocumentReference?_summary=count")
    assert bundle.pop("meta")["extension"][0]["url"] == "urn:befund:complete-until"
    assert bundle == {
        "resourceType": "Bundle",
        "type": "searchset",
        "total": len(stored),
        "link": [{"relation": "self", "url": f"http://localhost{place.path}/DocumentReference?_summary=count"}],
    }


def test_what_others_have_is_never_found(place, caller, app):
    other = make_place(app, "Andere Praxis", "max@example.org")
    patient = other.add_patient(("urn:a", "4711"), name=[{"family": "Beispiel"}])
    document = other.add_document(patient_id=patient, at=STORED[0], details={"type": {"coding": [{"code": "X"}]}})
    study = other.add_study(patient)
    searches = (
        "DocumentReference", "DocumentReference?_summary=count", "DocumentReference?date=ge2026&_summary=count",
        f"DocumentReference?_id={document}", f"DocumentReference?patient={patient}",
        "DocumentReference?patient.identifier=4711", "DocumentReference?patient.family=beispiel",
        "DocumentReference?type=X", "DocumentReference/_history", "Patient", f"Patient?_id={patient}",
        "Patient?identifier=4711", "Patient?family=beispiel", "ImagingStudy", f"ImagingStudy?patient={patient}",
    )  # fmt: skip
    reads = (
        f"DocumentReference/{document}", f"Binary/{document}", f"DocumentReference/{document}/_history",
        f"Patient/{patient}", f"Patient/{patient}/$everything", f"ImagingStudy/{study}",
    )  # fmt: skip
    assert {asked: caller.bundle(asked)["total"] for asked in searches} == dict.fromkeys(searches, 0)
    assert {asked: Caller(other).bundle(asked)["total"] for asked in searches} == dict.fromkeys(searches, 1)
    assert {path: caller.get(path).status_code for path in reads} == dict.fromkeys(reads, 404)
    assert {path: Caller(other).get(path).status_code for path in reads} == dict.fromkeys(reads, 200)


def test_pages_do_not_shift_while_documents_arrive(place, caller):
    before = [str(ident) for ident in place.add_documents([{} for _ in range(6)])]
    first = caller.bundle("DocumentReference?_count=2")
    place.add_document()
    rest = [resource["id"] for page in caller.pages(link(first, "next")) for resource in resources_of(page)]
    assert [*(resource["id"] for resource in resources_of(first)), *rest] == before[::-1]


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ("date=ge2026&date=lt2027&x=1", "date=ge2026&date=lt2027"),
        ("_count=999&_offset=-1&date=quatsch", "_count=200"),
        ("_count=0", "_count=1"),
        ("_count=-7&_count=9", "_count=1"),
        ("_count=abc", ""),
        ("date=2026-03-05T10:20:30%2B02:00", "date=2026-03-05T10:20:30%2B02:00"),
        ("date=2026-03-05T10:20:30+02:00", ""),
        ("patient=urn:a%7C47%2611&_format=json", "patient=urn:a%7C47%2611&_format=json"),
        ("_format=&_summary=some&_cursor=zzz", ""),
        ("_count=99999999999999999999999&_offset=99999999999999999999", "_count=200&_offset=2147483647"),
    ],
)
def test_link_self_shows_what_was_applied(place, caller, asked, shown):
    url = link(caller.bundle(f"DocumentReference?{asked}"), "self")
    assert url == f"http://localhost{place.path}/DocumentReference" + (f"?{shown}" if shown else "")


def test_all_filters_stay_on_the_links(place, caller):
    place.add_documents([{"external_system": "urn:a", "external_value": "47+11 &"} for _ in range(5)])
    text = "patient=urn%3Aa%7C47%2B11%20%26&date=ge2020&date=le2999&status=current&_count=2&_offset=2"
    bundle = caller.bundle(f"DocumentReference?{text}")
    assert bundle["total"] == 5
    for relation in ("next", "previous"):
        followed = caller.bundle(link(bundle, relation))
        assert followed["total"] == 5
        assert link(followed, "self").count("date=") == 2
    assert len(resources_of(caller.bundle(link(bundle, "next")))) == 1


def test_a_changed_offset_beats_the_cursor_of_a_link(place, caller):
    ids = [str(ident) for ident in place.add_documents([{} for _ in range(9)])][::-1]
    following = link(caller.bundle("DocumentReference?_count=2"), "next")
    jumped = caller.bundle(following.replace("_offset=2", "_offset=6"))
    assert [resource["id"] for resource in resources_of(jumped)] == ids[6:8]
    assert "_cursor" not in link(jumped, "self")


def test_elements_keep_what_is_mandatory_and_say_that_something_is_missing(place, caller):
    place.add_document()
    (resource,) = resources_of(caller.bundle("DocumentReference?_elements=id"))
    assert set(resource) == {"resourceType", "id", "meta", "status", "content"}
    assert resource["meta"]["tag"][0]["code"] == "SUBSETTED"
