"""Files with one JSON object a line: what becomes of a line, and the FHIR resource on it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson
from pydantic import ValidationError

from clinical.errors import BefundError
from webapp.fhir.details import kept_resource


class BadLine(BefundError):
    """A line that cannot be stored. The text names fields and expectations, never the line's values."""


@dataclass(frozen=True, slots=True)
class LineResult:
    """Result of a line: `stored`, `known` (already in) or `bad` with the reason.

    `subject` says of a stored document whether it is `linked` to a patient or only `tagged` with an identifier;
    `documents` how many documents that were waiting for this patient are linked now; `note` what the operator should
    know although nothing is wrong.
    """

    line: int
    kind: str
    reason: str = ""
    subject: str = ""
    documents: int = 0
    note: str = ""


def numbered(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Number (from 1) and text of each line that is not blank."""
    for number, text in enumerate(lines, start=1):
        if text.strip():
            yield number, text


def problems_of(error: ValidationError, most: int | None = 5, whole: str = "") -> str:
    """The elements at fault and what is wrong with each; `whole` names what lies in no element."""
    said = {f"{'.'.join(map(str, item['loc'])) or whole}: {item['msg']}" for item in error.errors()[:most]}
    return "; ".join(sorted(said))


def require_valid(resource: Any, kind: str, what: str, expected: str) -> None:
    """Raise BadLine where fhir.resources (R4B) does not find a resource valid; `what` of the line it is."""
    from fhir.resources.R4B import get_fhir_model_class  # slow to import: 1 s

    try:
        get_fhir_model_class(kind).model_validate(resource)
    except ValidationError as error:
        raise BadLine(problems_of(error), expected) from None
    except (TypeError, AttributeError, LookupError, ValueError):  # over some values of a wrong or an unknown type
        raise BadLine(f"{what} no FHIR", expected) from None


def resource_of(text: str, kind: str) -> dict[str, Any]:
    """The FHIR resource on a line, once it is valid; of `meta` only what is not the service's own. Raises BadLine."""
    try:
        resource = orjson.loads(text)
    except ValueError:
        raise BadLine("the line is no JSON", f"a FHIR R4 {kind}") from None
    require_valid(resource, kind, "the line is", f"a FHIR R4 {kind}")
    if not isinstance(resource, dict) or resource.pop("resourceType", kind) != kind or "\\u0000" in text:
        raise BadLine("the line is another resource", f"a FHIR R4 {kind}")
    ident = {"id": resource["id"]} if "id" in resource else {}
    return ident | kept_resource(resource)
