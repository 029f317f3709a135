"""ConceptMap/$translate: a code of one year in the terms of another."""

from __future__ import annotations

import re
from typing import Any, Final

from bentos.terminology.inputs import Inputs
from bentos.terminology.issues import invalid, not_found
from bentos.terminology.lookup import code_of, year_of
from bentos.terminology.systems import SYSTEM, Systems, Year
from clinical.icd import EXAMPLE, Transition, transitions

_MAP: Final = re.compile(re.escape(SYSTEM) + r"\?fhir_cm=(\d{4})-(\d{4})")


def map_url(source: Year, target: Year) -> str:
    """Canonical name of the map between two years."""
    return f"{SYSTEM}?fhir_cm={source.version}-{target.version}"


def concept_maps(systems: Systems) -> list[dict[str, Any]]:
    """A ConceptMap for each ordered pair of loaded years, without its elements: they are asked for by $translate."""
    pairs = [(one, other) for one in systems.years.values() for other in systems.years.values() if one is not other]
    return [
        {
            "resourceType": "ConceptMap",
            "id": f"icd-10-gm-{source.version}-{target.version}",
            "url": map_url(source, target),
            "version": target.version,
            "name": "ICD10GMTransition",
            "title": f"ICD-10-GM {source.version} zu {target.version}",
            "status": "active",
            "group": [
                {
                    "source": SYSTEM,
                    "sourceVersion": source.version,
                    "target": SYSTEM,
                    "targetVersion": target.version,
                    "element": [{"code": EXAMPLE}],
                }
            ],
        }
        for source, target in pairs
    ]


def translate(systems: Systems, given: Inputs) -> dict[str, Any]:
    """Parameters with the matches of a code: by `url` of a map, else from `version` to the newest year; `reverse` turns
    the map round. Raises OperationRefused for a code or a map that is not known."""
    coding = given.object("coding") or {}
    typed = given.text("code") or coding.get("code")
    if not isinstance(typed, str):
        raise invalid("no code is given", "code", kind="required")
    source, target = _years(systems, given, coding)
    if given.flag("reverse"):
        source, target = target, source
    matches = transitions(code_of(source, typed).code, source.catalog, target.catalog)
    result = any(each.code is not None for each in matches)
    rows: list[dict[str, Any]] = [{"name": "result", "valueBoolean": result}]
    if not result:
        rows.append({"name": "message", "valueString": matches[0].reason})
    rows += [_match(each, source, target) for each in matches if each.code is not None]
    return {"resourceType": "Parameters", "parameter": rows}


def _years(systems: Systems, given: Inputs, coding: Any) -> tuple[Year, Year]:
    url = given.text("url")
    if url is not None:
        named = _MAP.fullmatch(url)
        years = [systems.years.get(version) for version in named.groups()] if named else [None, None]
        if years[0] is None or years[1] is None:
            raise not_found(f"There is no ConceptMap {url}; loaded are the years {systems.versions}")
        return years[0], years[1]
    system = given.text("system") or coding.get("system")
    source = year_of(systems, system, given.text("version") or coding.get("version"))
    return source, year_of(systems, given.text("targetsystem") or SYSTEM, given.text("targetVersion"))


def _match(each: Transition, source: Year, target: Year) -> dict[str, Any]:
    assert each.code is not None  # noqa: S101 - those without one are left out
    concept = {"system": SYSTEM, "version": target.version, "code": each.code.code, "display": each.code.title}
    return {
        "name": "match",
        "part": [
            {"name": "equivalence", "valueCode": each.equivalence},
            {"name": "concept", "valueCoding": concept},
            {"name": "source", "valueUri": map_url(source, target)},
            {"name": "comment", "valueString": each.reason},
        ],
    }
