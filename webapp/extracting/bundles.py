"""Makes a FHIR R4 document of what was read from a stored one: a Bundle whose Composition has a section for each group
of fields, with the Conditions, drugs and procedures of the letter and the Provenance of it all.

Each field is an extension of its section (`FIELD`): path and value as in the text API, and where the letter says it
(`EVIDENCE`): places in the text that was read, which the Bundle holds, page, and boxes in points from the top left.
"""

import base64
import html
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from clinical.contract import DocumentType, values_of, words_of_fields
from webapp.extracting.codes import TABLE, FoundCode, Resource, condition

FIELD: Final = "urn:befund:field"
EVIDENCE: Final = "urn:befund:evidence"
MADE: Final = "urn:befund:extract"
"""System of the identifier of a result: what was read, how, and of a person's what they made of it."""
KINDS: Final = {"arztbrief": "Arztbrief", "zuweisung": "Zuweisung"}
_NO_XHTML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_PARTICIPANT = "http://terminology.hl7.org/CodeSystem/provenance-participant-type"
_LIFECYCLE = "http://terminology.hl7.org/CodeSystem/iso-21089-lifecycle"


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """The document that was read: FHIR base, id, version, file name, and the subject as a document refers to it."""

    base: str
    id: str
    version: int
    title: str
    subject: Resource


@dataclass(frozen=True, slots=True)
class LetterReading:
    """The fields of a letter and its codes.

    `data` is as the text API answers it, entries that somebody emptied being null, so that paths stay; `evidence` and
    `review` its entries; `codes` None where none were asked for. `checked_by`: the person who hands it out, "" for
    nobody.
    """

    document_type: DocumentType
    data: Mapping[str, Any]
    evidence: Sequence[Mapping[str, Any]]
    review: Sequence[Mapping[str, Any]]
    text: str
    model: str
    codes: Sequence[FoundCode] | None
    version: str | None
    checked_by: str = ""


def document(source: SourceDocument, reading: LetterReading, identifier: str, now: str) -> Resource:
    """The Bundle. `identifier` is the value of the Composition's in `MADE`, `now` an instant."""
    return _Maker(source, reading).bundle(identifier, now)


class _Maker:
    """Makes one Bundle: its entries as they are added, each under an id of its own."""

    def __init__(self, source: SourceDocument, reading: LetterReading) -> None:
        self.source, self.reading = source, reading
        self.places = {one["path"]: one for one in reading.evidence}
        self.reviews = {one["path"]: one["reason"] for one in reading.review}
        self.words = words_of_fields()
        self.entries: list[Resource] = []
        self.letter = {"reference": f"{source.base}/DocumentReference/{source.id}", "type": "DocumentReference",
                       "display": source.title}  # fmt: skip

    def bundle(self, identifier: str, now: str) -> Resource:
        """All of it, the Composition first."""
        kind, source = KINDS[self.reading.document_type], self.source
        device = self._add({
            "resourceType": "Device", "deviceName": [{"name": "Befund", "type": "model-name"}],
            "version": [{"value": self.reading.model}],
        })  # fmt: skip
        composition: Resource = {
            "resourceType": "Composition",
            "identifier": {"system": MADE, "value": identifier},
            "status": "final" if self.reading.checked_by else "preliminary",
            "language": "de", "type": {"text": f"{kind}, ausgelesen"}, "subject": source.subject, "date": now,
            "author": [device], "title": f"Ausgelesen: {source.title}",
            "section": self._sections(),
        }  # fmt: skip
        first = str(uuid.uuid4())
        provenance = {
            "resourceType": "Provenance", "target": [{"reference": f"urn:uuid:{first}"}], "recorded": now,
            "activity": {"coding": [{"system": _LIFECYCLE, "code": "transform"}]}, "agent": self._agents(device),
            "entity": [{"role": "source", "what": self.letter | {
                "reference": f"{self.letter['reference']}/_history/{source.version}"}}],
        }  # fmt: skip
        self._add(provenance)
        entry = {"fullUrl": f"urn:uuid:{first}", "resource": composition | {"id": first}}
        return {
            "resourceType": "Bundle", "type": "document", "timestamp": now,
            "identifier": {"system": "urn:ietf:rfc:3986", "value": f"urn:uuid:{uuid.uuid4()}"},
            "entry": [entry, *self.entries],
        }  # fmt: skip

    def _agents(self, device: Resource) -> list[Resource]:
        agents = [("assembler", device)]
        agents += [("verifier", {"display": self.reading.checked_by})] if self.reading.checked_by else []
        return [{"type": {"coding": [{"system": _PARTICIPANT, "code": code}]}, "who": who} for code, who in agents]

    def _sections(self) -> list[Resource]:
        groups: dict[str, list[tuple[str, str]]] = {}
        for path, value in values_of(self.reading.data):
            groups.setdefault(re.split(r"[.\[]", path)[0], []).append((path, value))
        made = {"diagnosen": self._conditions, "medikation": self._drugs, "eingriffe": self._procedures}
        sections = [self._section(group, fields, made[group]() if group in made else [])
                    for group, fields in groups.items()]  # fmt: skip
        text = {"resourceType": "Binary", "contentType": "text/plain; charset=utf-8",
                "data": base64.b64encode(self.reading.text.encode()).decode("ascii")}  # fmt: skip
        return [*sections, {"title": "Gelesener Text", "entry": [self._add(text)]}] if self.reading.text else sections

    def _section(self, group: str, fields: Sequence[tuple[str, str]], entries: list[Resource]) -> Resource:
        rows = "".join(f"<li>{_xhtml(self._label(path, group))}{_xhtml(value)}</li>" for path, value in fields)
        section: Resource = {
            "extension": [self._field(path, value) for path, value in fields],
            "title": self.words.get(group, group),
            "text": {"status": "generated", "div": f'<div xmlns="http://www.w3.org/1999/xhtml"><ul>{rows}</ul></div>'},
        }
        return section | ({"entry": entries} if entries else {})

    def _label(self, path: str, group: str) -> str:
        name = path.rpartition(".")[2] if "." in path else ""
        return f"{self.words.get(name, name)}: " if name and name != group else ""

    def _field(self, path: str, value: str) -> Resource:
        inner: list[Resource] = [{"url": "path", "valueString": path}, {"url": "value", "valueString": value}]
        inner += self._evidence(path)
        if path in self.reviews:
            inner.append({"url": "review", "valueString": self.reviews[path]})
        return {"url": FIELD, "extension": inner}

    def _evidence(self, path: str) -> list[Resource]:
        """The place where the letter says it; nothing for words of a person."""
        if (found := self.places.get(path)) is None:
            return []
        inner: list[Resource] = [{"url": name, "valueUnsignedInt": found[name]} for name in ("start", "end")]
        inner.append({"url": "match", "valueCode": found["match"]})
        if found.get("page"):
            inner.append({"url": "page", "valuePositiveInt": found["page"]})
        for box in found.get("boxes") or ():
            sides = [{"url": side, "valueDecimal": box[side]} for side in ("left", "top", "right", "bottom")]
            page = {"url": "page", "valuePositiveInt": box["page"]}
            inner.append({"url": "box", "extension": [page, *sides]})
        return [{"url": EVIDENCE, "extension": inner}]

    def _from_letter(self, path: str) -> Resource:
        """A reference to the letter, and where it says what was read at that path."""
        evidence = self._evidence(path)
        return ({"extension": evidence} if evidence else {}) | self.letter

    def _conditions(self) -> list[Resource]:
        """A Condition for each code, in the order of the diagnoses, and for each diagnosis without one."""
        lines = {number: value for number, value in enumerate(self.reading.data.get("diagnosen") or ()) if value}
        codes = [one for one in self.reading.codes or () if one.line is None or one.line in lines]
        references: dict[str, Resource] = {}
        listed = []
        for number, value in lines.items():
            own: list[FoundCode | None] = [one for one in codes if one.line == number]
            listed += [self._condition(code, number, value, references) for code in own or [None]]
        return listed + [self._condition(code, None, "", references) for code in codes if code.line is None]

    def _condition(
        self, code: FoundCode | None, line: int | None, value: str, references: dict[str, Resource]
    ) -> Resource:  # fmt: skip
        more: Resource = {}
        if code and code.first in references:
            more["extension"] = [{"url": TABLE["related"], "valueReference": references[code.first]}]
        if line is not None:
            words = value[code.start : code.end] if code else value
            detail = self._from_letter(f"diagnosen[{line}]")
            more["evidence"] = [{"code": [{"text": words or value}], "detail": [detail]}]
        made = self._add(condition(code, self.reading.version, self.source.subject, value, more))
        if code:
            references[code.code] = made
        return made

    def _drugs(self) -> list[Resource]:
        made = []
        for number, value in enumerate(self.reading.data.get("medikation") or ()):
            if value:
                made.append(self._add({
                    "resourceType": "MedicationStatement", "status": "unknown", "subject": self.source.subject,
                    "medicationCodeableConcept": {"text": value},
                    "derivedFrom": [self._from_letter(f"medikation[{number}]")],
                }))  # fmt: skip
        return made

    def _procedures(self) -> list[Resource]:
        made = []
        for number, one in enumerate(self.reading.data.get("eingriffe") or ()):
            name, day = (one or {}).get("bezeichnung"), (one or {}).get("datum") or ""
            if not name:
                continue
            resource = {
                "resourceType": "Procedure", "status": "unknown", "code": {"text": name},
                "subject": self.source.subject, "report": [self._from_letter(f"eingriffe[{number}].bezeichnung")],
            }  # fmt: skip
            made.append(self._add(resource | ({"performedDateTime": day} if _DAY.fullmatch(day) else {})))
        return made

    def _add(self, resource: Resource) -> Resource:
        """Put a resource into the Bundle; a reference to it."""
        ident = str(uuid.uuid4())
        self.entries.append({"fullUrl": f"urn:uuid:{ident}", "resource": resource | {"id": ident}})
        return {"reference": f"urn:uuid:{ident}"}


def _xhtml(text: str) -> str:
    return html.escape(_NO_XHTML.sub("\ufffd", text), quote=False)
