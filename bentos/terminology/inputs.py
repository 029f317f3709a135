"""Input of an operation: the parameters of a query string, or of a Parameters resource, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from bentos.terminology.issues import invalid

Kind = TypeVar("Kind")


class Inputs:
    """Values by name; those of a query string are texts, those of a resource whatever they are."""

    def __init__(self, pairs: Iterable[tuple[str, Any]]) -> None:
        self._values: dict[str, list[Any]] = {}
        for name, value in pairs:
            self._values.setdefault(name, []).append(value)

    @classmethod
    def of_resource(cls, resource: Any) -> Inputs:
        """From a Parameters resource, or a ValueSet to be expanded. Raises OperationRefused for anything else."""
        kind = resource.get("resourceType") if isinstance(resource, dict) else None
        if kind == "ValueSet":
            return cls([("valueSet", resource)])
        rows = resource.get("parameter", []) if isinstance(resource, dict) else None
        if kind != "Parameters" or not isinstance(rows, list):
            raise invalid("a body that is no Parameters resource", kind="structure")
        return cls(_pairs(rows))

    def also(self, pairs: Iterable[tuple[str, Any]]) -> Inputs:
        """These values, and those of the address for names that the body does not have."""
        return Inputs([*self.items(), *((name, value) for name, value in pairs if name not in self._values)])

    def items(self) -> list[tuple[str, Any]]:
        """All pairs of a name and a value."""
        return [(name, value) for name, values in self._values.items() for value in values]

    def all(self, name: str, kind: type[Kind]) -> list[Kind]:
        """Every value of a name. Raises OperationRefused where one is of another kind."""
        found = self._values.get(name, [])
        for value in found:
            if not isinstance(value, kind):
                raise invalid(f"the parameter {name} has no value of the right type", name, kind="value")
        return found

    def text(self, name: str) -> str | None:
        """The text of a name, None where it is missing or empty."""
        found = self.all(name, str)
        return found[0].strip() or None if found else None

    def flag(self, name: str) -> bool | None:
        """True or false, None where it is not said."""
        value = self._one(name)
        if value is None or isinstance(value, bool):
            return value
        if str(value).lower() in ("true", "false"):
            return str(value).lower() == "true"
        raise invalid(f"{name} is neither true nor false", name, kind="value")

    def number(self, name: str) -> int | None:
        """A whole number from 0, None where it is not given."""
        value = self._one(name)
        if value is None:
            return None
        if not str(value).isascii() or not str(value).isdecimal() or len(str(value)) > 9:
            raise invalid(f"{name} is no whole number", name, kind="value")
        return int(value)

    def object(self, name: str) -> Mapping[str, Any] | None:
        """A resource or a data type."""
        found = self.all(name, dict)
        return found[0] if found else None

    def _one(self, name: str) -> Any:
        return (self._values.get(name) or [None])[0]


def _pairs(rows: list[Any]) -> Iterable[tuple[str, Any]]:
    for row in rows:
        name = row.get("name") if isinstance(row, dict) else None
        if not isinstance(name, str):
            raise invalid("a parameter without a name", "Parameters.parameter", kind="structure")
        yield name, next((row[key] for key in row if key == "resource" or key.startswith("value")), None)
