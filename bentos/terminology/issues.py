"""Issues as the terminology tests of HL7 expect them, and errors that end an operation.

What any code system may say is said in HL7's own English words with its message id, by which validators translate it;
what only ICD-10-GM knows is said in German, for those who code.
"""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import Any, Final, Literal, NamedTuple

from clinical.errors import BefundError

Severity = Literal["error", "warning", "information"]

ISSUE_TYPE: Final = "http://hl7.org/fhir/tools/CodeSystem/tx-issue-type"
MESSAGE_ID: Final = "http://hl7.org/fhir/StructureDefinition/operationoutcome-message-id"


class Issue(NamedTuple):
    """One issue. `kind`: code of FHIR's issue types; `detail`: code of the terminology servers' (`tx-issue-type`);
    `place`: FHIRPath of what is wrong; `ident`: HL7's id of the message."""

    severity: Severity
    kind: str
    detail: str
    text: str
    place: str = ""
    ident: str = ""

    def resource(self) -> dict[str, Any]:
        """An entry of OperationOutcome.issue."""
        made: dict[str, Any] = {"severity": self.severity, "code": self.kind}
        if self.ident:
            made = {"extension": [{"url": MESSAGE_ID, "valueString": self.ident}], **made}
        details = {"coding": [{"system": ISSUE_TYPE, "code": self.detail}]} if self.detail else {}
        made["details"] = {**details, "text": self.text}
        if self.place:
            made |= {"location": [self.place], "expression": [self.place]}
        return made


def outcome(issues: Iterable[Issue]) -> dict[str, Any]:
    """An OperationOutcome."""
    return {"resourceType": "OperationOutcome", "issue": [issue.resource() for issue in issues]}


class OperationRefused(BefundError):
    """An operation that cannot be done as it was asked; answered with an OperationOutcome."""

    def __init__(self, *issues: Issue, status: HTTPStatus = HTTPStatus.UNPROCESSABLE_ENTITY) -> None:
        self.issues, self.status = issues, status
        super().__init__("a terminology operation that cannot be done")


class ImportMissing(OperationRefused):
    """A value set that is known imports one that is not: it cannot be expanded, and no code is known to be in it."""


def not_found(text: str, ident: str = "") -> OperationRefused:
    """Nothing is known by this name."""
    return OperationRefused(Issue("error", "not-found", "not-found", text, ident=ident), status=HTTPStatus.NOT_FOUND)


def invalid(text: str, place: str = "", ident: str = "", kind: str = "invalid", detail: str = "") -> OperationRefused:
    """A request that says nothing that can be done."""
    return OperationRefused(Issue("error", kind, detail, text, place, ident), status=HTTPStatus.BAD_REQUEST)
