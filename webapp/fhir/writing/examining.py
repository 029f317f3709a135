"""Checks before a resource is validated: how deep and large it is, and what nobody here understands.

The validator walks a resource by recursion, and an unknown type in it is a fault of its own. So one walk without
recursion comes first, which ends at the first thing that is wrong and names it.
"""

from collections.abc import Iterator
from typing import Any

from clinical.fhir import is_resource_type
from webapp.fhir.answers import FhirError
from webapp.fhir.details import Resource

DEEPEST = 40  # levels of JSON; what profiles of R4 ask for stays below twenty
MOST_VALUES = 5_000  # of one resource: objects, lists and the values in them; validating them takes half a second
NOT_UNDERSTOOD = frozenset({"implicitRules", "_implicitRules", "modifierExtension"})
_ABSENT = object()
_LOOKED_AT = NOT_UNDERSTOOD | {"fhir_comments", "resourceType", "contained"}
_Path = tuple[Any, int | str] | None  # the way from the resource: what comes before, and the last step


def examine(resource: Resource, kind: str, at: str = "") -> None:
    """Look at everything in a resource once. Raises FhirError 400 for what is too deep, too large or no FHIR, and 422
    for what changes the meaning of a resource in a way that is not understood here (FHIR R4, sections 2.4.5 and
    2.3.0.1) or refers to nothing."""
    listed, fragments = resource.get("contained"), []
    contained = listed if isinstance(listed, list) else []
    for number, (path, name, value, depth) in enumerate(_members(resource)):
        if depth > DEEPEST:
            raise FhirError(400, f"Tiefer verschachtelt als {DEEPEST} Ebenen.", at + kind + _expression(path)[:200])
        if number > MOST_VALUES:
            raise FhirError(400, f"Die Ressource hat mehr als {MOST_VALUES} Elemente.", at + kind)
        _refuse(at + kind, path, name, value)
        if name == "reference" and isinstance(value, str) and value.startswith("#") and len(value) > 1:
            fragments.append((value[1:], path))
    for number, item in enumerate(contained):
        if not isinstance(item, dict) or "resourceType" not in item:
            where = f"{at}{kind}.contained[{number}].resourceType"
            raise FhirError(400, "Erwartet wird eine Ressource mit resourceType.", where)
    ids = [item.get("id") for item in contained]
    for ident, path in fragments:
        if ident not in ids:
            raise FhirError(422, "In contained fehlt, worauf das verweist.", at + kind + _expression(path))


def _refuse(start: str, path: _Path, name: str, value: Any) -> None:
    """Raise FhirError for a member that is not taken here."""
    where = start + _expression(path) if name in _LOOKED_AT else ""
    if name in NOT_UNDERSTOOD and value not in (None, "", [], {}):
        said = f"{name} ändert, was die Ressource bedeutet, und wird hier nicht verstanden. Bitte ohne senden."
        raise FhirError(422, said, where)
    if name == "fhir_comments":
        raise FhirError(400, "fhir_comments gibt es in FHIR R4 nicht.", where)
    if name == "resourceType" and path != (None, "resourceType") and not is_resource_type(value):
        raise FhirError(400, "Diesen Typ von Ressourcen gibt es in FHIR R4 nicht.", where)
    if name == "contained" and path is not None and path[0] is not None:
        raise FhirError(400, "Enthaltene Ressourcen enthalten keine weiteren.", where)


def _members(resource: Resource) -> Iterator[tuple[_Path, str, Any, int]]:
    """Path, name, value and depth of all that is in a resource; of what stands in a list, its own place in it."""
    waiting: list[tuple[_Path, Any, int]] = [(None, resource, 1)]
    while waiting:
        path, value, depth = waiting.pop()
        steps = value.items() if isinstance(value, dict) else enumerate(value)
        for step, item in steps:
            further = (path, step)
            yield further, step if isinstance(step, str) else "", item, depth
            if isinstance(item, dict | list):
                waiting.append((further, item, depth + 1))


def _expression(path: _Path) -> str:
    """The path as FHIRPath: `.contained[0].name`."""
    steps = []
    while path is not None:
        path, step = path
        steps.append(f"[{step}]" if isinstance(step, int) else f".{step}")
    return "".join(reversed(steps))


def misread(sent: Any, read: Any, at: str) -> str | None:
    """The first element that a validated resource says otherwise than it was sent: dropped, of another type of JSON, or
    of another shape. What is kept is what was sent, so it must be what was understood."""
    if isinstance(sent, dict):
        if not isinstance(read, dict):
            return at
        there = ((name, value) for name, value in sent.items() if value not in (None, "", [], {}))
        both = ((f"{at}.{name}", value, read.get(name, _ABSENT)) for name, value in there)
        return next((wrong for where, one, other in both if (wrong := misread(one, other, where))), None)
    if isinstance(sent, list):
        if not isinstance(read, list) or len(sent) != len(read):
            return at
        listed = enumerate(zip(sent, read, strict=True))
        return next(filter(None, (misread(one, other, f"{at}[{number}]") for number, (one, other) in listed)), None)
    return None if _json_type(sent) is _json_type(read) else at


def _json_type(value: Any) -> type:
    return float if isinstance(value, int) and not isinstance(value, bool) else type(value)
