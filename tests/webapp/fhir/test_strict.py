"""Searches that are not understood: programs are refused, people are answered without it, unless the call or its
account or organization says otherwise. A value that is understood and matches nothing finds nothing, for everybody."""

import re
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from tests.webapp.conftest import ONE_DATABASE, Outside, add_user, command, login, submit
from tests.webapp.fhir.conftest import SYSTEM, Caller, Place, make_place, resources_of, run
from tests.webapp.fhir.test_posting import FORM, TOKENS, holder
from webapp.fhir.machines.accounts import ServiceAccount
from webapp.models import AuditEvent, Organization

# What is asked, and what the refusal names.
NOT_UNDERSTOOD = {
    # parameters
    "DocumentReference?foo=1": "Parameter „foo“",
    "DocumentReference?Patient=1": "Parameter „Patient“",
    "DocumentReference?PATIENT=1": "Parameter „PATIENT“",
    "DocumentReference?patient%20=1": "Parameter „patient “",
    "DocumentReference?patient[]=1": "Parameter „patient[]“",
    "DocumentReference?patient": "Wert „“ von patient",
    "DocumentReference?_text=Fraktur": "Parameter „_text“",
    "DocumentReference?_content=Fraktur": "Parameter „_content“",
    "DocumentReference?_filter=date%20gt%202026": "Parameter „_filter“",
    "DocumentReference?_query=current": "Parameter „_query“",
    "DocumentReference?_list=42": "Parameter „_list“",
    "DocumentReference?_has:Provenance:target:agent=x": "Parameter „_has:Provenance:target:agent“",
    "DocumentReference?_profile=http://example.org/x": "Parameter „_profile“",
    "DocumentReference?relationship=x": "Wert „x“ von relationship",
    "Patient?address=Musterstadt": "Parameter „address“",
    "Patient?telecom=030": "Parameter „telecom“",
    "Patient?patient=1": "Parameter „patient“",
    "ImagingStudy?modality=CT": "Parameter „modality“",
    "ImagingStudy?started=2026": "Parameter „started“",
    "ImagingStudy?status=available": "Parameter „status“",
    "Patient/{p1}/$everything?patient=x": "Parameter „patient“",
    "Patient/{p1}/$everything?date=2026": "Parameter „date“",
    "Patient/{p1}/$everything?_sort=date": "Parameter „_sort“",
    "DocumentReference/_history?_at=2026": "Parameter „_at“",
    "DocumentReference/_history?patient=1": "Parameter „patient“",
    "DocumentReference/{d1}/_history?date=2026": "Parameter „date“",
    # modifiers
    "DocumentReference?patient:missing=true": "Modifikator „:missing“ von patient:missing",
    "DocumentReference?type:above=11488-4": "Modifikator „:above“ von type:above",
    "DocumentReference?format:text=Brief": "Modifikator „:text“ von format:text",
    "DocumentReference?type:in=http://example.org/vs": "Modifikator „:in“ von type:in",
    "DocumentReference?type:below=x": "Modifikator „:below“ von type:below",
    "DocumentReference?category:not-in=x": "Modifikator „:not-in“ von category:not-in",
    "DocumentReference?type:of-type=a|b|c": "Modifikator „:of-type“ von type:of-type",
    "DocumentReference?author:Encounter=1": "Modifikator „:Encounter“ von author:Encounter",
    "DocumentReference?description:not=x": "Modifikator „:not“ von description:not",
    "DocumentReference?date:missing=true": "Modifikator „:missing“ von date:missing",
    "DocumentReference?status:missing=false": "Modifikator „:missing“ von status:missing",
    "DocumentReference?contenttype:not=text/plain": "Modifikator „:not“ von contenttype:not",
    "DocumentReference?_id:not=1": "Modifikator „:not“ von _id:not",
    "DocumentReference?subject:Group=1": "Modifikator „:Group“ von subject:Group",
    "DocumentReference?_include:iterate=Patient:link": "Modifikator „:iterate“ von _include:iterate",
    "Patient?family:contains=ust": "Modifikator „:contains“ von family:contains",
    "Patient?gender:not=male": "Modifikator „:not“ von gender:not",
    "Patient?birthdate:missing=true": "Modifikator „:missing“ von birthdate:missing",
    "ImagingStudy?patient:missing=true": "Modifikator „:missing“ von patient:missing",
    # chains
    "DocumentReference?patient.address=Musterstadt": "Verkettung „patient.address“",
    "DocumentReference?patient.family:contains=ust": "Verkettung „patient.family:contains“",
    "DocumentReference?patient.birthdate=gestern": "Wert „gestern“ von patient.birthdate",
    "DocumentReference?patient.organization.name=x": "Verkettung „patient.organization.name“",
    "DocumentReference?subject:Group.name=x": "Verkettung „subject:Group.name“",
    "DocumentReference?author.gender=x": "Verkettung „author.gender“",
    "DocumentReference?encounter.date=2026": "Verkettung „encounter.date“",
    "ImagingStudy?patient.family=x": "Verkettung „patient.family“",
    # prefixes
    "DocumentReference?date=ne2026-03-05": "Präfix „ne“ von date",
    "DocumentReference?date=sa2026": "Präfix „sa“ von date",
    "DocumentReference?date=eb2026": "Präfix „eb“ von date",
    "DocumentReference?_lastUpdated=ap2026-03-05": "Präfix „ap“ von _lastUpdated",
    "DocumentReference?creation=zz2026": "Präfix „zz“ von creation",
    "DocumentReference?period=zz2026": "Präfix „zz“ von period",
    "Patient?birthdate=ap1970": "Präfix „ap“ von birthdate",
    "Patient/{p1}/$everything?start=ge2026": "Präfix „ge“ von start",
    "DocumentReference/_history?_since=gt2026": "Präfix „gt“ von _since",
    # values
    "DocumentReference?date=gestern": "Wert „gestern“ von date",
    "DocumentReference?date=2026-02-30": "Wert „2026-02-30“ von date",
    "DocumentReference?date=ge2026-13": "Wert „ge2026-13“ von date",
    "DocumentReference?date=2026-03-05T10:20:30+02:00": "Wert „2026-03-05T10:20:30 02:00“ von date",
    "DocumentReference?date=2026,2025": "Wert „2026,2025“ von date",
    "DocumentReference?date=": "Wert „“ von date",
    "DocumentReference?patient=": "Wert „“ von patient",
    "DocumentReference?patient=%7C": "Wert „|“ von patient",
    "DocumentReference?status=": "Wert „“ von status",
    "DocumentReference?contenttype=": "Wert „“ von contenttype",
    "DocumentReference?type=": "Wert „“ von type",
    "DocumentReference?type:missing=ja": "Wert „ja“ von type:missing",
    "DocumentReference?identifier:of-type=b|c": "Wert „b|c“ von identifier:of-type",
    "DocumentReference?author:Practitioner=Organization/1": "Wert „Organization/1“ von author:Practitioner",
    "DocumentReference?period=gestern": "Wert „gestern“ von period",
    "DocumentReference?description=a,b": "Wert „a,b“ von description",
    "DocumentReference?_id=": "Wert „“ von _id",
    "DocumentReference?_count=viele": "Wert „viele“ von _count",
    "DocumentReference?_offset=-1": "Wert „-1“ von _offset",
    "DocumentReference?_sort=title": "Wert „title“ von _sort",
    "DocumentReference?_include=DocumentReference:type": "Wert „DocumentReference:type“ von _include",
    "DocumentReference?_cursor=x": "Wert „x“ von _cursor",
    "Patient?birthdate=5.3.1970": "Wert „5.3.1970“ von birthdate",
    "Patient?identifier=%7C": "Wert „|“ von identifier",
    "Patient?name=": "Wert „“ von name",
    "Patient/{p1}/$everything?end=bald": "Wert „bald“ von end",
    "Patient/{p1}/$everything?_type=": "Wert „“ von _type",
    "DocumentReference/_history?_since=heute": "Wert „heute“ von _since",
}
NOTHING = {
    "DocumentReference?status=superseded": "an unknown status",
    "DocumentReference?status=CURRENT": "codes are told by their case",
    "DocumentReference?status=superseded,x": "",
    "DocumentReference?status=http://example.org%7Ccurrent": "a code of another system",
    "DocumentReference?status:not=current,entered-in-error": "",
    "DocumentReference?_id=x": "",
    "DocumentReference?type={many}": "a list however long",
    "DocumentReference?category={many}": "",
    "DocumentReference?identifier={many}": "",
    "DocumentReference?author={many}": "",
    "DocumentReference?encounter={many}": "",
    "DocumentReference?patient={many}": "",
    "DocumentReference?contenttype={many}": "",
    "Patient?name={many}": "",
    "Patient?family:exact={many}": "",
    "Patient?gender={many}": "",
    "Patient?birthdate={years}": "",
    "Patient?identifier={many}": "",
    "ImagingStudy?identifier={many}": "",
    "Patient/{p1}/$everything?_type=observation": "",
}
MANY = ",".join(f"n{number}" for number in range(3000))
YEARS = ",".join(f"{year:04d}" for year in range(2100, 3100))


@pytest.fixture
def names(place: Place) -> dict[str, str]:
    """A patient with a document and a study; a search that finds none of them says so by 0."""
    patient = place.add_patient((SYSTEM, "4711"), name=[{"family": "Mustermann"}], birthDate="1970", gender="male")
    document = place.add_document(patient_id=patient)
    place.add_study(patient, identifier=[{"system": "urn:x", "value": "S-1"}])
    return {"p1": str(patient), "d1": str(document), "many": MANY, "years": YEARS}


def said(answer: TestResponse) -> str:
    body = answer.get_json(force=True)
    assert body["resourceType"] == "OperationOutcome"
    return str(body["issue"][0]["details"]["text"])


@pytest.mark.parametrize("kind", ["secret", "smart"])
def test_a_program_is_refused_what_is_not_understood_and_told_what_it_was(
    place: Place, tmp_path: Path, names: dict[str, str], kind: str
) -> None:
    program, wrong = holder(place, tmp_path, kind), {}
    for asked, named in NOT_UNDERSTOOD.items():
        path, _, query = asked.format(**names).partition("?")
        ways = [program.get(f"{path}?{query}")]
        if "_history" not in path:
            posted = path if "$" in path else f"{path}/_search"
            ways.append(program.open("POST", posted, data=query, content_type=FORM))
        for answer in ways:
            if answer.status_code != 400 or named not in said(answer) or len(answer.data) > 1000:
                wrong[asked] = answer.status_code, answer.get_data(as_text=True)[:300]
    assert wrong == {}
    assert len(NOT_UNDERSTOOD) >= 60


def test_people_are_answered_without_it_and_told_in_a_header(caller: Caller, names: dict[str, str]) -> None:
    wrong = {}
    for asked in NOT_UNDERSTOOD:
        answer = caller.get(asked.format(**names))
        if answer.status_code != 200 or "Befund-Ignored" not in answer.headers:
            wrong[asked] = answer.status_code
    assert wrong == {}


@pytest.mark.parametrize("kind", TOKENS)
def test_a_value_that_matches_nothing_finds_nothing(
    place: Place, tmp_path: Path, names: dict[str, str], kind: str
) -> None:
    program, wrong = holder(place, tmp_path, kind), {}
    for asked in NOTHING:
        path, _, query = asked.format(**names).partition("?")
        posted = path if "$" in path else f"{path}/_search"
        answer = program.open("POST", posted, data=query, content_type=FORM)
        if answer.status_code != 200 or answer.get_json(force=True)["total"] != 0:
            wrong[asked] = answer.status_code, answer.get_data(as_text=True)[:300]
    assert wrong == {}
    assert len(NOTHING) == 20


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("DocumentReference", "contenttype={many},text/plain"),
        ("DocumentReference", "patient={many},{p1}"),
        ("Patient", "family={many},muster"),
        ("Patient", "family:exact={many},Mustermann"),
        ("Patient", "birthdate={years},1970"),
        ("Patient", "gender={many},male"),
        ("Patient", "name={many},must&birthdate=le1970&gender=male"),
        ("Patient", "birthdate=lt1971&birthdate=gt1969"),
        ("ImagingStudy", "identifier={many},urn:x|S-1"),
    ],
)
def test_a_long_list_finds_what_is_in_it(
    place: Place, tmp_path: Path, names: dict[str, str], path: str, query: str
) -> None:
    other = place.add_patient(name=[{"family": "Anders"}], birthDate="2000", gender="other")
    place.add_document(patient_id=other, content_type="image/png")
    place.add_study(other)
    program = holder(place, tmp_path, "secret")
    posted = {"data": query.format(**names), "content_type": FORM}
    answer = program.open("POST", f"{path}/_search", **posted)
    assert (answer.status_code, answer.get_json(force=True)["total"]) == (200, 1)


@pytest.mark.parametrize("path", ["DocumentReference?{}", "Patient?{}"])
def test_more_conditions_than_a_search_carries_find_nothing_and_are_named(
    place: Place, caller: Caller, tmp_path: Path, names: dict[str, str], path: str
) -> None:
    name = "type" if "Document" in path else "name"
    asked = path.format("&".join(f"{name}=v{number}" for number in range(9)))
    answer = caller.get(asked)
    assert (answer.get_json(force=True)["total"], answer.headers["Befund-Ignored"]) == (0, name)
    refused = holder(place, tmp_path, "secret").get(asked)
    assert refused.status_code == 400
    assert f"mehr als 8 Bedingungen, mit {name}" in said(refused)
    same = path.format("&".join([f"{name}=v1"] * 20))
    assert caller.get(same).headers.get("Befund-Ignored") is None, "twenty times the same is one condition"


@pytest.mark.parametrize("kind", TOKENS)
def test_dates_hold_for_whoever_asks_and_however(place: Place, tmp_path: Path, shared_data: Path, kind: str) -> None:
    """The contract's table of instants and queries, over HTTP, by GET and posted."""
    cases = [line.split("\t") for line in (shared_data / "fhir" / "date_cases.tsv").read_text().splitlines()[1:]]
    instants = sorted({stored for stored, _, _ in cases})
    made = place.add_documents([{"at": stored.replace("Z", "+00:00")} for stored in instants])
    at, caller, found, wrong = dict(zip(map(str, made), instants, strict=True)), holder(place, tmp_path, kind), {}, []
    for query in {query for _, query, _ in cases}:
        asked = caller.get("DocumentReference", query_string={"date": query, "_count": "200"})
        posted = caller.open("POST", "DocumentReference/_search", data={"_lastUpdated": query, "_count": "200"})
        ids = [{item["id"] for item in resources_of(answer.get_json(force=True))} for answer in (asked, posted)]
        assert ids[0] == ids[1], query
        found[query] = {at[ident] for ident in ids[0]}
    for stored, query, match in cases:
        if (stored in found[query]) is not (match == "yes"):
            wrong.append((stored, query, match))
    assert wrong == []
    assert len(cases) > 190


def test_an_empty_result_parameter_asks_for_nothing(place: Place, tmp_path: Path, names: dict[str, str]) -> None:
    program = holder(place, tmp_path, "secret")
    for asked in ("_count=", "_offset=", "_sort=", "_summary=", "_include=", "_pretty=true", "&&"):
        answer = program.get(f"DocumentReference?{asked}")
        assert (answer.status_code, answer.get_json(force=True)["total"]) == (200, 1), asked


def test_pages_of_a_strict_caller_follow_their_own_links(place: Place, tmp_path: Path, names: dict[str, str]) -> None:
    for _ in range(4):
        place.add_document(patient_id=None)
    program = holder(place, tmp_path, "secret")
    assert len(program.ids("DocumentReference?_count=2&_sort=date&_total=accurate")) == 5
    assert program.bundle("DocumentReference?_count=2&_offset=2")["total"] == 5


@ONE_DATABASE
@pytest.mark.parametrize(
    ("prefer", "person", "program"),
    [
        ("", 200, 400),
        ("handling=lenient", 200, 200),
        ("handling=strict", 400, 400),
        ('handling="strict"', 400, 400),
        ("HANDLING = Lenient", 200, 200),
        ("respond-async; wait=1, handling=lenient", 200, 200),
        ("return=minimal, handling=strict", 400, 400),
        ("handling=strict, handling=lenient", 400, 400),
        ("handling=lenient, handling=strict", 200, 200),
        ("handling=leniently", 200, 400),
        ("handling=lenient-ish", 200, 400),
        ("xhandling=lenient", 200, 400),
        ("handling", 200, 400),
        ("handling=", 200, 400),
    ],
)
def test_a_call_says_how_it_wants_to_be_handled(
    place: Place, caller: Caller, tmp_path: Path, prefer: str, person: int, program: int
) -> None:
    asked = [
        one.get("DocumentReference?foo=1", headers={"Prefer": prefer}).status_code
        for one in (caller, holder(place, tmp_path, "secret"))
    ]
    assert asked == [person, program]


def test_a_refusal_is_short_whatever_was_sent(place: Place, tmp_path: Path) -> None:
    program = holder(place, tmp_path, "secret")
    for body in (
        "x" * 900_000 + "=1", "date=" + "9" * 900_000, "&".join(f"p{number}=1" for number in range(60_000)),
        "patient." + "a" * 900_000 + "=Mustermann", "&".join(["foo=1"] * 100_000), "type:" + "ä" * 100_000 + "=1",
    ):  # fmt: skip
        answer = program.open("POST", "DocumentReference/_search", data=body, content_type=FORM)
        assert answer.status_code == 400
        assert len(answer.data) < 4000
        assert "Mustermann" not in answer.get_data(as_text=True), "the value of what is unknown is nobody's business"


# --- switches --------------------------------------------------------------------------------------------------------


def test_an_account_may_be_made_lenient_and_strict_again(place: Place, tmp_path: Path, db: Outside) -> None:
    account, secret = place.machine()
    program = Caller(Place(place.app, place.organization, place.user, secret))

    def asked(**headers: str) -> int:
        return program.get("DocumentReference?foo=1", headers=headers).status_code

    assert asked() == 400
    assert run(place.app, "handling", account, "lenient") == f"{account} is lenient"
    assert (asked(), asked(Prefer="handling=strict")) == (200, 400)
    assert "\tlenient" in run(place.app, "list")
    run(place.app, "handling", account, "strict")
    assert (asked(), asked(Prefer="handling=lenient")) == (400, 200)
    told = db.session.scalars(select(AuditEvent.detail).where(AuditEvent.event == "service_handling_set")).all()
    assert told == [f"of {account}: lenient", f"of {account}: strict"]
    run(place.app, "handling", account, "egal", fails=True)


def test_the_switch_of_an_account_holds_for_its_access_tokens(place: Place, tmp_path: Path, db: Outside) -> None:
    program = holder(place, tmp_path, "smart")
    assert program.get("DocumentReference?foo=1").status_code == 400
    (account,) = db.session.scalars(select(ServiceAccount.id))
    run(place.app, "handling", account, "lenient")
    assert program.get("DocumentReference?foo=1").status_code == 200


def test_an_organization_may_make_its_people_strict_too(place: Place, caller: Caller, db: Outside) -> None:
    other = Caller(make_place(place.app, "Andere Praxis", "max@example.org"))
    said = command(place.app, "orgs", "handling", place.organization, "strict")
    assert said == "Praxis am Beispielplatz is strict\n"
    assert caller.get("DocumentReference?foo=1").status_code == 400
    assert caller.get("DocumentReference?foo=1", headers={"Prefer": "handling=lenient"}).status_code == 200
    assert other.get("DocumentReference?foo=1").status_code == 200
    assert re.search(rf"{place.organization}\t.*\tstrict", command(place.app, "orgs", "list"))
    command(place.app, "orgs", "handling", place.organization, "lenient")
    assert caller.get("DocumentReference?foo=1").status_code == 200
    command(place.app, "orgs", "handling", "00000000-0000-4000-8000-000000000000", "strict", fails=True)
    events = db.session.scalars(select(AuditEvent.detail).where(AuditEvent.event == "organization_handling_set")).all()
    assert events == ["Praxis am Beispielplatz: strict", "Praxis am Beispielplatz: lenient"]


def test_an_operator_switches_accounts_and_organizations(operator: FlaskClient, place: Place, db: Outside) -> None:
    account, _ = place.machine()
    page = f"/operator/services/{account}/"
    assert submit(operator, page, to=f"{page}handling/", handling="lenient").status_code == 302
    assert db.session.get_one(ServiceAccount, account).lenient
    assert "wird weggelassen" in operator.get(page).get_data(as_text=True)
    submit(operator, page, to=f"{page}handling/", handling="strict")
    db.session.expire_all()
    assert not db.session.get_one(ServiceAccount, account).lenient
    members = "/operator/members/"
    submit(operator, members, to=f"{members}{place.organization}/handling/", handling="strict")
    assert db.session.get_one(Organization, place.organization).strict_search
    submit(operator, members, to=f"{members}{place.organization}/handling/", handling="lenient")
    db.session.expire_all()
    assert not db.session.get_one(Organization, place.organization).strict_search
    assert operator.post(f"{page}handling/").status_code == 400, "no token of the form"
    member = place.app.test_client()
    login(member, add_user(place.app, "mitglied@example.org"))
    for path in (f"{page}handling/", f"{members}{place.organization}/handling/"):
        assert submit(member, "/tokens/", to=path, handling="strict").status_code == 403
