"""$lookup and $subsumes: all that is known of a code, and which of two codes lies below the other."""

from __future__ import annotations

from collections.abc import Set
from functools import lru_cache
from typing import Any, Final

import orjson

from bentos.terminology.inputs import Inputs
from bentos.terminology.issues import invalid, not_found
from bentos.terminology.systems import NAMES, PROPERTIES, SYSTEM, Designation, Systems, Year, typed_code
from clinical.icd import Code

TITLE: Final = "ICD-10-GM"
USE: Final = {
    "short": {"system": "http://snomed.info/sct", "code": "900000000000013009", "display": "Synonym"},
    "synonym": {"system": "http://snomed.info/sct", "code": "900000000000013009", "display": "Synonym"},
    "title": {"system": "http://snomed.info/sct", "code": "900000000000003001", "display": "Fully specified name"},
}
WRITTEN_MAX: Final = 2_048
"""Codes of a year of which the whole answer is kept: 2 KB each."""
VALUE: Final = {"boolean": "valueBoolean", "code": "valueCode", "string": "valueString"}


def lookup(systems: Systems, given: Inputs) -> dict[str, Any]:
    """Parameters of a code: names, title, designations and the properties asked for (`property`; all without one, and
    with `*`). Raises OperationRefused where there is no such code."""
    return _told(*_asked(systems, given), set(given.all("property", str)) or {"*"})


def lookup_json(systems: Systems, given: Inputs) -> bytes:
    """The same as JSON. All that is known of a code does not change while its catalog is loaded: it is written once for
    the codes that are asked for again and again."""
    year, code = _asked(systems, given)
    wanted = set(given.all("property", str)) or {"*"}
    if "*" not in wanted:
        return orjson.dumps(_told(year, code, wanted))
    if year.written is None:
        codes = year.catalog.codes
        year.written = lru_cache(maxsize=WRITTEN_MAX)(lambda number: orjson.dumps(_told(year, codes[number], {"*"})))
    return year.written(year.catalog.number(code.code))


def _told(year: Year, code: Code, wanted: Set[str]) -> dict[str, Any]:
    every = "*" in wanted
    rows: list[dict[str, Any]] = [
        {"name": "name", "valueString": TITLE},
        {"name": "version", "valueString": year.version},
        {"name": "display", "valueString": code.title},
        {"name": "system", "valueUri": SYSTEM},
        {"name": "code", "valueCode": code.code},
        {"name": "abstract", "valueBoolean": False},
    ]
    if every or "designation" in wanted:
        rows += [_designation(each) for each in (Designation(code.title, "title"), *year.designations(code))]
    for name, about in PROPERTIES.items():
        if every or name in wanted:
            rows += [_property(name, about.kind, value) for value in about.values(year.catalog, code)]
    return {"resourceType": "Parameters", "parameter": rows}


def _property(name: str, kind: str, value: Any) -> dict[str, Any]:
    parts = [{"name": "code", "valueCode": name}, {"name": "value", VALUE[kind]: value}]
    return {"name": "property", "part": parts}


_LANGUAGE: Final = {"name": "language", "valueCode": "de"}
_USE: Final = {use: {"name": "use", "valueCoding": coding} for use, coding in USE.items()}


def _designation(each: Designation) -> dict[str, Any]:
    value, use = each
    return {"name": "designation", "part": [_LANGUAGE, _USE[use], {"name": "value", "valueString": value}]}


def _asked(systems: Systems, given: Inputs) -> tuple[Year, Code]:
    coding = given.object("coding") or {}
    system, version = (given.text("system") or coding.get("system"), given.text("version") or coding.get("version"))
    typed = given.text("code") or coding.get("code")
    if not isinstance(typed, str) or not typed:
        raise invalid("no code is given", "code", kind="required")
    year = year_of(systems, system, version)
    return year, code_of(year, typed, systems)


def code_of(year: Year, typed: str, systems: Systems | None = None) -> Code:
    """The code that is meant. Raises OperationRefused where there is none, which names the other versions that have
    it, if these are given."""
    code = typed_code(year, typed).code
    if code is None:
        elsewhere = systems.others_with(typed, year) if systems else []
        known = f"; it is in the version {' and '.join(elsewhere)}" if elsewhere else ""
        text = f"Unknown code '{typed}' in the CodeSystem '{SYSTEM}' version '{year.version}'{known}"
        raise not_found(text, "Unknown_Code_in_Version")
    return code


def year_of(systems: Systems, system: object, version: object) -> Year:
    """The year of a system and version. Raises OperationRefused for another system or one that is not loaded."""
    if system not in NAMES:
        text = f"A definition for CodeSystem '{system}' could not be found" if system else "no system is given"
        raise not_found(text, "UNKNOWN_CODESYSTEM")
    year = systems.version(version if isinstance(version, str) else None)
    if year is None:
        text = f"A definition for CodeSystem '{SYSTEM}' version '{version}' could not be found. Valid versions: "
        raise not_found(text + systems.versions, "UNKNOWN_CODESYSTEM_VERSION")
    return year


def subsumes(systems: Systems, given: Inputs) -> dict[str, Any]:
    """Parameters with `outcome`: equivalent, subsumes (A lies above B), subsumed-by or not-subsumed."""
    pairs = {}
    for name in ("A", "B"):
        coding = given.object(f"coding{name}") or {}
        pairs[name] = (given.text(f"code{name}") or coding.get("code"), coding.get("system"), coding.get("version"))
    system = given.text("system") or pairs["A"][1]
    year = year_of(systems, system, given.text("version") or pairs["A"][2])
    if pairs["B"][1] not in (None, system) and not {system, pairs["B"][1]} <= NAMES:
        raise invalid("the codes are of different systems", "codingB.system")
    codes = []
    for name, (typed, _, _) in pairs.items():
        found = typed_code(year, typed if isinstance(typed, str) else "")
        if found.code is None:
            raise not_found(f"Unknown code '{typed}' (code{name})", "Unknown_Code_in_Version")
        codes.append(found.code.code)
    first, second = (year.catalog.number(code) for code in codes)
    answer = "not-subsumed"
    if first == second:
        answer = "equivalent"
    elif first < second < year.ends[first]:
        answer = "subsumes"
    elif second < first < year.ends[second]:
        answer = "subsumed-by"
    return {"resourceType": "Parameters", "parameter": [{"name": "outcome", "valueCode": answer}]}
