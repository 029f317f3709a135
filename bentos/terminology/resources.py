"""Statements of the server on itself and on what it holds: `resources.json` beside this file, and what the loaded
catalogs add to it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from bentos.terminology.inputs import Inputs
from bentos.terminology.issues import not_found
from bentos.terminology.systems import ALL_CODES, NAMES, PROPERTIES, SYSTEM, Systems, Year
from bentos.terminology.valuesets import implicit_value_set
from clinical import __version__

NAME: Final = "icd-10-gm"
WRITTEN: Final = Path(__file__).with_name("resources.json")


@cache
def _written() -> dict[str, dict[str, Any]]:
    """The part of each resource that never changes. It is shared: nobody may change it."""
    made: dict[str, dict[str, Any]] = json.loads(WRITTEN.read_text("utf-8"))
    return made


def statement(systems: Systems) -> dict[str, Any]:
    """The CapabilityStatement."""
    return _written()["statement"] | _head(systems)


def capabilities(systems: Systems) -> dict[str, Any]:
    """The TerminologyCapabilities."""
    written = _written()["capabilities"]
    versions = [
        {
            "code": version,
            "isDefault": version == systems.newest.version,
            "compositional": False,
            "language": ["de"],
            "property": ["concept", "display", *PROPERTIES],
        }
        for version in systems.years
    ]
    return written | _head(systems) | {"codeSystem": [{**written["codeSystem"][0], "version": versions}]}


def _head(systems: Systems) -> dict[str, Any]:
    years = {"description": f"ICD-10-GM {', '.join(systems.years)}"}
    software = {"name": "Befund", "version": __version__}
    return {"date": systems.since, "version": __version__, "software": software, "implementation": years}


def code_systems(systems: Systems) -> list[dict[str, Any]]:
    """A CodeSystem for each year, the newest first; their codes are asked for by operations."""
    return [_code_system(year) for year in reversed(systems.years.values())]


def _code_system(year: Year) -> dict[str, Any]:
    about = [{"code": name, "description": each.about, "type": each.kind} for name, each in PROPERTIES.items()]
    return _written()["code_system"] | {
        "id": f"{NAME}-{year.version}",
        "version": year.version,
        "title": f"ICD-10-GM Version {year.version}",
        "count": len(year.catalog),
        "property": about,
    }


def value_sets(systems: Systems) -> list[dict[str, Any]]:
    """The value set of all codes, for each year."""
    found = []
    for version in reversed(systems.years):
        made = implicit_value_set(ALL_CODES[0], version)
        assert made is not None  # noqa: S101 - the name is known
        found.append({**made, "id": f"{NAME}-{version}"})
    return found


def searched(resources: Sequence[dict[str, Any]], given: Inputs, base: str) -> dict[str, Any]:
    """A searchset of the resources that a search by `url`, `version` or `_id` means."""
    url, version, ident = given.text("url"), given.text("version"), given.text("_id")
    url = SYSTEM if url in NAMES else ALL_CODES[0] if url in ALL_CODES else url
    found = [
        each
        for each in resources
        if url in (None, each["url"]) and version in (None, each["version"]) and ident in (None, each["id"])
    ]
    if not found and url is not None and (implicit := implicit_value_set(url, version or "")):
        found = [{**implicit, "id": "implicit"}] if resources and resources[0]["resourceType"] == "ValueSet" else []
    entries = [
        {"fullUrl": f"{base}/{each['resourceType']}/{each['id']}", "resource": each, "search": {"mode": "match"}}
        for each in found
    ]
    return {
        "resourceType": "Bundle",
        "type": "searchset",
        "total": len(found),
        **({"entry": entries} if entries else {}),
    }


def read(resources: Sequence[dict[str, Any]], ident: str) -> dict[str, Any]:
    """The resource of an id. Raises OperationRefused where there is none."""
    for each in resources:
        if each["id"] == ident:
            return each
    raise not_found("There is no resource of this id")
