"""FHIRPath Patch (FHIR R4, fhirpatch): operations over elements that a FHIRPath names become steps of a JSON Patch.

Understood is the part of FHIRPath that names an element: names, `[n]`, `first()`, `last()`, `extension('url')` and
`where(path = literal and ...)`. A whole engine would run what a caller writes: with fhirpathpy one `matches()` holds
the process for as long as its regular expression likes, and a path of 500 characters is parsed for 0.7 s.
"""

import re
from collections.abc import Iterator
from typing import Any

import orjson

from clinical.fhir import repeats
from webapp.fhir.answers import FhirError
from webapp.fhir.details import Resource, objects, values_at

LONGEST = 500  # characters of a path
_TEST = r"[A-Za-z][A-Za-z0-9.]*\s*=\s*(?:'[^'\\]*'|true|false|[0-9]{1,9})"
_STEP = re.compile(
    rf"(?:^|\.)(?:(?P<end>first|last)\(\)|extension\('(?P<url>[^'\\]*)'\)|where\((?P<tests>{_TEST}(?:\s+and\s+{_TEST})*)\)"
    r"|(?P<name>[A-Za-z][A-Za-z0-9]*))|\[(?P<index>[0-9]{1,4})\]"
)
_PARTS = re.compile(r"([A-Za-z][A-Za-z0-9.]*)\s*=\s*('[^'\\]*'|\w+)")
_CHOICES = ("value", "deceased", "multipleBirth")  # elements that are called by their type too, as `valueString`
Way = tuple[str | int, ...]
Place = tuple[Way, Any]


def steps(operation: Resource, resource: Resource) -> list[Resource]:
    """The steps of a JSON Patch that one operation takes on the resource as it is now. Raises FhirError 400 and 422."""
    parts = {one.get("name"): one for one in objects(operation.get("part"))}

    def said(name: str, way: Way = ()) -> Any:
        return _value(resource, way, parts[name])

    try:
        kind, path = said("type"), str(said("path"))
        found = list(_places(resource, path))
        ways = {way[:-1] if kind in ("insert", "move") else way for way, _ in found}
        if kind == "delete" and not ways:
            return []
        if len(ways) != 1:
            raise FhirError(422, f"Erwartet wird ein Pfad zu einem Element, hier sind es {len(ways)}.", path)
        (way,), (item, value) = ways, found[0]
        match kind:
            case "add":
                return [_added(resource, (*way, str(said("name"))), value, parts["value"])]
            case "insert":
                return [_step("add", (*way, int(said("index"))), value=said("value", item))]
            case "delete" if way:
                return [_step("remove", way)]
            case "replace" if way:
                return [_step("replace", way, value=said("value", way))]
            case "move":
                source, target = ((*way, int(said(name))) for name in ("source", "destination"))
                return [_step("move", target) | {"from": _step("", source)["path"]}]
    except (LookupError, TypeError, ValueError):
        pass
    raise FhirError(400, "Erwartet wird add, insert, delete, replace oder move, und was dazu gehört.")


def _added(resource: Resource, way: Way, parent: Resource, part: Resource) -> Resource:
    there, value = parent.get(str(way[-1])), _value(resource, way, part)
    if not (many := repeats(resource, way)) and there is not None:
        raise FhirError(422, f"Dieses Element gibt es nur einmal, und es ist schon da: {way[-1]}.")
    return _step("add", (*way, "-") if many and there else way, value=[value] if many and not there else value)


def _value(resource: Resource, way: Way, part: Resource) -> Any:
    """The value of a part, or the element that is made of parts of its own. Raises LookupError."""
    if given := [value for name, value in part.items() if name.startswith("value")]:
        return given[0]
    made: Resource = {}
    for one in objects(part["part"]):
        here = (*way, str(one["name"]))
        value = _value(resource, here, one)
        made[one["name"]] = [*made.get(one["name"], ()), value] if repeats(resource, here) else value
    return made


def _places(resource: Resource, path: str) -> Iterator[Place]:
    """The elements that a path names, and the way to each. Raises FhirError 400."""
    found: list[Place] = [((), resource)]
    at = 0
    while at < len(path) or not path:
        step = _STEP.match(path, at) if len(path) <= LONGEST else None
        if step is None:
            raise FhirError(400, f"Dieser Pfad wird ab Zeichen {at + 1} nicht verstanden.")
        end, url, tests, name, index = step.groups()
        if index:
            found = found[int(index) :][:1]
        elif end:
            found = found[:1] if end == "first" else found[-1:]
        elif tests:
            wanted = [
                (key, text[1:-1] if text[0] == "'" else orjson.loads(text)) for key, text in _PARTS.findall(tests)
            ]
            found = [one for one in found if all(value in values_at(one[1], key) for key, value in wanted)]
        elif at or name != resource["resourceType"]:
            children = [child for one in found for child in _children(*one, name or "extension")]
            found = [one for one in children if url is None or one[1].get("url") == url]
        at = step.end()
    yield from found


def _children(way: Way, parent: Any, name: str) -> Iterator[Place]:
    """The items of a member of an object."""
    members = parent if isinstance(parent, dict) else {}
    if name in _CHOICES:
        name = next((key for key in members if key.startswith(name)), name)
    if isinstance(value := members.get(name), list):
        yield from (((*way, name, number), item) for number, item in enumerate(value))
    elif value is not None:
        yield (*way, name), value


def _step(op: str, way: Way, **more: Any) -> Resource:
    return {"op": op, "path": "".join(f"/{step}" for step in way)} | more
