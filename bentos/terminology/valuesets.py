"""Value sets as masks over the codes of each year, and their expansion.

Known are the implicit ones (`?fhir_vs`, `?fhir_vs=isa/E11`), the published ones of all codes, and whatever a request
brings along (`valueSet`, `tx-resource`). Nothing that came with a request outlives it.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np
import re2

from bentos.terminology.inputs import Inputs
from bentos.terminology.issues import ImportMissing, OperationRefused, invalid, not_found
from bentos.terminology.lookup import USE, VALUE, year_of
from bentos.terminology.systems import ALL_CODES, NAMES, PROPERTIES, SYSTEM, Mask, Systems, Year
from clinical.errors import NotReady
from clinical.icd import Code

DEEPEST: Final = 8
"""Value sets that may import each other."""
LONGEST_PATTERN, PATTERN_MEMORY = 200, 1 << 20
"""Characters of a regular expression, and bytes it may take; RE2's time is linear in the text."""
MOST_TOLD: Final = 2_000
"""Codes that are told with designations or properties in one answer: some MB."""
MOST_FOUND: Final = 1_000
"""Codes that a filter finds, at most."""
FILTERED: Final = 100
"""Codes of an answer to a filter that asks for no count."""
PROPERTY: Final = "http://hl7.org/fhir/5.0/StructureDefinition/extension-ValueSet.expansion.contains.property"


@dataclass
class Selected:
    """Codes of each year that a value set holds, and displays that it gives itself."""

    codes: dict[str, Mask] = field(default_factory=dict)
    displays: dict[tuple[str, str], str] = field(default_factory=dict)

    def add(self, other: Selected) -> None:
        """Take in all codes of another."""
        for version, mask in other.codes.items():
            self.codes[version] = self.codes[version] | mask if version in self.codes else mask
        self.displays |= other.displays

    def keep(self, other: Selected) -> None:
        """Leave only what the other has as well."""
        self.codes = {key: mask & other.codes[key] for key, mask in self.codes.items() if key in other.codes}

    def remove(self, other: Selected) -> None:
        """Leave what the other does not have."""
        for version, mask in other.codes.items():
            if version in self.codes:
                self.codes[version] = self.codes[version] & ~mask


class ValueSets:
    """The value sets that a request may name."""

    def __init__(self, systems: Systems, given: Inputs) -> None:
        self._systems = systems
        self._brought = [one for one in given.all("tx-resource", dict) if one.get("resourceType") == "ValueSet"]
        wanted = versions_of(given, "system-version")
        self._default, self._forced = wanted.get(SYSTEM), versions_of(given, "force-system-version").get(SYSTEM)

    def named(self, given: Inputs) -> tuple[dict[str, Any], Selected]:
        """The value set that a request asks about, as a resource and as codes. Raises OperationRefused."""
        resource = given.object("valueSet")
        if resource is None:
            url = given.text("url")
            if url is None:
                raise invalid("no value set is given: url or valueSet", "url", kind="required")
            version = given.text("valueSetVersion")
            resource = self._found(url if version is None else f"{url}|{version}")
        return dict(resource), self.selected(resource)

    def _found(self, canonical: str) -> Mapping[str, Any]:
        url, _, version = canonical.partition("|")
        for each in self._brought:
            if each.get("url") == url and version in ("", each.get("version")):
                return each
        implicit = implicit_value_set(url, version)
        if implicit is None:
            text = f"A definition for the value Set '{canonical}' could not be found"
            raise not_found(text, "Unable_to_resolve_value_Set_")
        return implicit

    def _imported(self, canonical: str) -> Mapping[str, Any]:
        try:
            return self._found(canonical)
        except OperationRefused as error:
            raise ImportMissing(*error.issues, status=error.status) from None

    def selected(self, resource: Mapping[str, Any], depth: int = 0) -> Selected:
        """The codes of a value set. Raises OperationRefused for what cannot be understood."""
        if depth > DEEPEST:
            raise invalid("the value sets import each other", "ValueSet.compose", kind="processing")
        compose = _object(resource.get("compose"), "ValueSet.compose")
        includes = _objects(compose.get("include"), "ValueSet.compose.include")
        if not includes:
            raise invalid("the value set includes nothing", "ValueSet.compose", kind="required")
        found = Selected()
        for number, part in enumerate(includes):
            found.add(self._part(part, f"ValueSet.compose.include[{number}]", depth))
        for number, part in enumerate(_objects(compose.get("exclude"), "ValueSet.compose.exclude")):
            found.remove(self._part(part, f"ValueSet.compose.exclude[{number}]", depth))
        if compose.get("inactive") is False:
            for version, mask in found.codes.items():
                found.codes[version] = mask & ~self._systems.years[version].inactive
        return found

    def _part(self, part: Mapping[str, Any], place: str, depth: int) -> Selected:
        found = None
        if part.get("system") is not None:
            found = self._of_system(part, place)
        for canonical in part.get("valueSet", ()):
            other = self.selected(self._imported(str(canonical)), depth + 1)
            if found is None:
                found = other
            else:
                found.keep(other)
        if found is None:
            raise invalid("an include with neither system nor valueSet", place, kind="required")
        return found

    def _of_system(self, part: Mapping[str, Any], place: str) -> Selected:
        version = self._forced or part.get("version") or self._default
        year = year_of(self._systems, part.get("system"), version)
        mask, displays = ~year.none(), dict[tuple[str, str], str]()
        if concepts := _objects(part.get("concept"), f"{place}.concept"):
            mask = year.none()
            for concept in concepts:
                code = str(concept.get("code"))
                if code in year.catalog:
                    mask[year.catalog.number(code)] = True
                    if concept.get("display"):
                        displays[year.version, code] = str(concept["display"])
        for number, each in enumerate(_objects(part.get("filter"), f"{place}.filter")):
            mask = mask & _filtered(year, each, f"{place}.filter[{number}]")
        return Selected({year.version: mask}, displays)


def implicit_value_set(url: str, version: str = "") -> dict[str, Any] | None:
    """The value set that a name stands for by itself, as a resource; None where it is no such name."""
    base, _, query = url.partition("?")
    include: dict[str, Any] = {"system": SYSTEM} | ({"version": version} if version else {})
    if url in ALL_CODES or (base in NAMES and query == "fhir_vs"):
        title = "Alle Kodes der ICD-10-GM"
    elif base in NAMES and query.startswith("fhir_vs=isa/"):
        above = query.removeprefix("fhir_vs=isa/")
        include["filter"] = [{"property": "concept", "op": "is-a", "value": above}]
        title = f"{above} der ICD-10-GM und alles darunter"
    else:
        return None
    head = {"resourceType": "ValueSet", "url": url, "title": title, "status": "active"}
    return {**head, **({"version": version} if version else {}), "compose": {"include": [include]}}


# --- filters --------------------------------------------------------------------------------------------------------


def _filtered(year: Year, given: Mapping[str, Any], place: str) -> Mask:
    """Codes that a filter of `compose` lets through."""
    name, operator, value = (given.get(key) for key in ("property", "op", "value"))
    if not isinstance(value, str) or not value:
        text = f"The system {SYSTEM} filter with property = {name}, op = {operator} has no value"
        raise _bad_filter(text, place, "UNABLE_TO_HANDLE_SYSTEM_FILTER_WITH_NO_VALUE")
    if name in ("concept", "code"):
        made = _BY_PLACE.get(str(operator))
        if made is not None:
            return made(year, value)
        texts: list[tuple[Any, ...]] = [(code.code,) for code in year.catalog]
    elif name in ("display", "designation"):
        texts = [(code.title,) for code in year.catalog]
    elif name in PROPERTIES:
        texts = year.column(str(name))
    else:
        raise _bad_filter(f"{SYSTEM} has no property {name!r}: {', '.join(PROPERTIES)}", place)
    test = _test(str(operator), value, place)
    return np.array([test([_written(one) for one in own]) for own in texts], dtype=bool)


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _test(operator: str, value: str, place: str) -> Callable[[Sequence[str]], bool]:
    """True or false for the values that a code has of a property."""
    listed = {one.strip() for one in value.split(",")}
    if operator == "=":
        return lambda own: value in own
    if operator == "in":
        return lambda own: not listed.isdisjoint(own)
    if operator == "not-in":
        return lambda own: listed.isdisjoint(own)
    if operator == "exists":
        return lambda own: bool(own) == (value == "true")
    if operator == "regex":
        pattern = _pattern(value, place)
        return lambda own: any(pattern.fullmatch(one) is not None for one in own)
    raise _bad_filter(f"a filter with op = {operator} is not known here", place, "not-supported")


def _pattern(text: str, place: str) -> Any:
    options = re2.Options()
    options.max_mem, options.log_errors = PATTERN_MEMORY, False
    try:
        if len(text) > LONGEST_PATTERN:
            raise re2.error("too long")
        return re2.compile(text, options)
    except re2.error:
        raise _bad_filter("a regular expression that RE2 does not take", place) from None
    finally:
        re2.purge()  # it keeps the last patterns for the whole process


def _bad_filter(text: str, place: str, ident: str = "") -> OperationRefused:
    return invalid(text, place, ident, detail="vs-invalid")


def _above(year: Year, value: str) -> Mask:
    mask, code = year.none(), year.catalog.get(value)
    while code is not None:
        mask[year.catalog.number(code.code)] = True
        code = year.catalog.get(code.parent) if code.parent else None
    return mask


def _listed(year: Year, value: str) -> Mask:
    wanted = {one.strip() for one in value.split(",")}
    return np.array([code.code in wanted for code in year.catalog], dtype=bool)


def _children(year: Year, value: str) -> Mask:
    return _listed(year, ",".join(code.code for code in year.catalog.children(value)) or "-")


def _runs(itself: bool, inverse: bool = False) -> Callable[[Year, str], Mask]:
    def made(year: Year, value: str) -> Mask:
        found = year.below(value, itself)
        mask = year.none() if found is None else found
        return ~mask if inverse else mask

    return made


_BY_PLACE: Final[dict[str, Callable[[Year, str], Mask]]] = {
    "is-a": _runs(True),
    "descendent-of": _runs(False),
    "is-not-a": _runs(True, inverse=True),
    "generalizes": _above,
    "child-of": _children,
    "in": _listed,
    "not-in": lambda year, value: ~_listed(year, value),
    "=": _listed,
}
"""Operators on the code itself that its place in the classification answers."""


# --- expansion ------------------------------------------------------------------------------------------------------


def expand(systems: Systems, given: Inputs) -> dict[str, Any]:
    """A ValueSet with its expansion. With `filter` the codes that are suggested for it, the likeliest first."""
    sets = ValueSets(systems, given)
    resource, selected = sets.named(given)
    check_versions(given, selected.codes)
    if given.flag("activeOnly"):
        selected.codes = {key: mask & ~systems.years[key].inactive for key, mask in selected.codes.items()}
    offset, count = given.number("offset") or 0, given.number("count")
    words = given.text("filter")
    if words is None:
        found, total = _listed_codes(systems, selected, offset, count)
    else:
        found, total = _suggested(systems, selected, words, offset, FILTERED if count is None else count), None
    told = given.flag("includeDesignations") or False, given.all("property", str)
    if any(told) and len(found) > MOST_TOLD:
        text = f"{len(found)} codes are too many to tell more of than titles: at most {MOST_TOLD}; use count and offset"
        raise invalid(text, ident="VALUESET_TOO_COSTLY", kind="too-costly")
    expansion: dict[str, Any] = {
        "identifier": f"urn:uuid:{uuid.uuid4()}",
        "timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
        **({"total": total} if total is not None else {}),
        "offset": offset,
        "parameter": _echo(given, selected.codes),
        "contains": [_contained(year, code, selected.displays, *told) for year, code in found],
    }
    if not expansion["contains"]:
        del expansion["contains"]
    if given.flag("includeDefinition") is not True:
        resource.pop("compose", None)
    return {"status": "active", **resource, "resourceType": "ValueSet", "expansion": expansion}


def _listed_codes(
    systems: Systems, selected: Selected, offset: int, count: int | None
) -> tuple[list[tuple[Year, Code]], int]:
    places = [(systems.years[version], np.flatnonzero(mask)) for version, mask in selected.codes.items()]
    total = sum(len(numbers) for _, numbers in places)
    every = ((year, number) for year, numbers in places for number in numbers.tolist())
    end = total if count is None else min(total, offset + count)
    chosen = [each for place, each in enumerate(every) if offset <= place < end] if end > offset else []
    return [(year, year.catalog.codes[number]) for year, number in chosen], total


def _suggested(systems: Systems, selected: Selected, words: str, offset: int, count: int) -> list[tuple[Year, Code]]:
    found: list[tuple[Year, Code]] = []
    for version, mask in selected.codes.items():
        year = systems.years[version]
        if year.suggester is None:
            raise NotReady(f"the catalog {version} holds no suggestions")
        most = min(offset + count, MOST_FOUND)
        found += [(year, each.code) for each in year.suggester.suggest(words, most, within=mask)]
    return found[offset : offset + count]


def _contained(
    year: Year, code: Code, displays: Mapping[tuple[str, str], str], designations: bool, properties: Sequence[str]
) -> dict[str, Any]:
    """The entry of a code, with its designations and these of its properties beside it."""
    made: dict[str, Any] = {"system": SYSTEM, "version": year.version, "code": code.code}
    made["display"] = displays.get((year.version, code.code), code.title) if displays else code.title
    if year.inactive[year.catalog.number(code.code)]:
        made["inactive"] = True
    if designations:
        made["designation"] = [
            {"language": "de", "use": USE[each.use], "value": each.value} for each in year.designations(code)
        ]
    if properties:
        parts = [
            {
                "url": PROPERTY,
                "extension": [{"url": "code", "valueCode": name}, {"url": "value", VALUE[about.kind]: value}],
            }
            for name, about in PROPERTIES.items()
            if name in properties
            for value in about.values(year.catalog, code)
        ]
        made |= {"extension": parts} if parts else {}
    return made


ECHOED: Final = (
    "filter", "offset", "count", "activeOnly", "includeDesignations", "excludeNested", "displayLanguage", "property",
)  # fmt: skip
_KIND: Final = {bool: "valueBoolean", int: "valueInteger"}


def _echo(given: Inputs, versions: Iterable[str]) -> list[dict[str, Any]]:
    """The parameters that made the expansion what it is, and the versions used."""
    rows = []
    for name, value in given.items():
        if name in ECHOED:
            read: Any = value
            if name in ("offset", "count"):
                read = given.number(name)
            elif name in ("activeOnly", "includeDesignations", "excludeNested"):
                read = given.flag(name)
            rows.append({"name": name, _KIND.get(type(read), "valueString"): read})
    used = ({"name": "used-codesystem", "valueUri": f"{SYSTEM}|{version}"} for version in versions)
    return [*rows, *used]


def check_versions(given: Inputs, used: Iterable[str]) -> None:
    """Raises OperationRefused where a version is used that `check-system-version` does not allow."""
    for version in used:
        if text := not_allowed(given, version):
            raise invalid(text, ident="VALUESET_VERSION_CHECK", kind="exception", detail="version-error")


def not_allowed(given: Inputs, version: str) -> str:
    """The reason that `check-system-version` does not allow a version, "" where it does."""
    wanted = versions_of(given, "check-system-version").get(SYSTEM)
    if wanted in (None, "", version):
        return ""
    by = "by a version-check parameter"
    return f"The version '{version}' is not allowed for system '{SYSTEM}': required to be '{wanted}' {by}"


def versions_of(given: Inputs, name: str) -> dict[str, str]:
    """`system|version` by system; the older name of the system counts as the newer."""
    pairs = (value.partition("|") for value in given.all(name, str))
    return {SYSTEM if system in NAMES else system: version for system, _, version in pairs}


def _object(value: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise invalid(f"{place} is missing or no object", place, kind="structure")
    return value


def _objects(value: Any, place: str) -> list[Mapping[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise invalid(f"{place} is no list of objects", place, kind="structure")
    return value
