"""One row for every field of a letter: its kind of value, the fields it may be mistaken for, its line of the prompt.

The contract's models (`clinical.contract`) say which fields a document has; what else differs between fields stands
here: the rules of grounding, the labels behind which a letter denies a field, what supports a value, the words of the
review and the lines of the prompt. A field without a row, or a row without a field, fails a test.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

from pydantic import BaseModel

from clinical.contract import Arztbrief, DocumentType, Zuweisung

Kind = Literal[
    "title", "day", "letter_day", "birthday", "person", "place", "street", "postcode", "phone", "mail", "number",
    "choice", "verbatim", "diagnosis", "procedure", "statement", "question",
]  # fmt: skip
"""Kinds of fields, by which the values of a field are judged against the text (`grounding.validator`)."""
Support = Literal["label", "block", "salutation", "neighbourhood"]
"""Places in a letter that show a value to be of this field (contract, `Evidence.support`)."""

_SORTS: Final[Mapping[Kind, str]] = {
    "day": "day", "letter_day": "day", "birthday": "day", "person": "name", "number": "number", "diagnosis": "entry",
    "procedure": "entry", "statement": "entry", "question": "entry",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Field:
    """One field. `path` has no list numbers: `eingriffe.datum` is the date of every entry of `eingriffe`."""

    path: str
    kind: Kind
    support: Support
    label: str = ""
    """Its label (`labels`), or the heading of its list, behind which a "keine" denies it."""
    prompt: str = ""
    """Instruction on the field in the prompt of a language model."""
    taken_for: str = ""
    """Sort of the field: values of one sort may be confused; by default the sort of the kind, else the last name."""
    required: bool = False
    """Of an object in a list: without it the entry goes."""

    @property
    def sort(self) -> str:
        """The sort of its values."""
        return self.taken_for or _SORTS.get(self.kind) or self.path.rpartition(".")[2]

    @property
    def part(self) -> str:
        """The part of the document that it belongs to: `patient` of `patient.ort`."""
        return self.path.partition(".")[0]


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """One top-level key of a document: where a value stands that is read there, in German, and a line of the prompt."""

    said: str
    prompt: str = ""


PARTS: Final[Mapping[str, DocumentPart]] = {
    "dokument": DocumentPart("beim Dokument"),
    "patient": DocumentPart("bei der Patientin oder dem Patienten",
                    "die Person, um die es geht, nicht Angehörige und nicht Ärztinnen oder Ärzte."),
    "versicherung": DocumentPart("bei der Versicherung"),
    "absender": DocumentPart("beim Absender", "wer den Text schreibt; name mit Titel, wie er dasteht."),
    "empfaenger": DocumentPart("beim Empfänger", "wer den Text bekommt; name mit Titel, wie er dasteht."),
    "aufenthalt": DocumentPart("beim Aufenthalt"),
    "fragestellung": DocumentPart("bei der Fragestellung"),
    "diagnosen": DocumentPart("bei den Diagnosen"),
    "medikation": DocumentPart("bei der Medikation"),
    "kostengutsprache": DocumentPart("bei der Kostengutsprache"),
    "dringlichkeit": DocumentPart("bei der Dringlichkeit"),
    "eingriffe": DocumentPart("bei den Eingriffen", "Operationen und Interventionen."),
    "procedere": DocumentPart("beim weiteren Vorgehen"),
}  # fmt: skip


def _contact(part: str) -> tuple[Field, ...]:
    return (
        Field(f"{part}.institution", "verbatim", "block", taken_for="name"),
        Field(f"{part}.abteilung", "verbatim", "block"),
        Field(f"{part}.name", "person", "block"),
        Field(f"{part}.strasse", "street", "block"),
        Field(f"{part}.plz", "postcode", "block"),
        Field(f"{part}.ort", "place", "block"),
        Field(f"{part}.telefon", "phone", "block"),
        Field(f"{part}.email", "mail", "block"),
    )


ROWS: Final = (
    Field("dokument.typ", "title", "block"),
    Field("dokument.datum", "letter_day", "block"),
    Field("patient.nachname", "person", "neighbourhood"),
    Field("patient.vorname", "person", "neighbourhood", taken_for="vorname"),
    Field("patient.geburtsdatum", "birthday", "label"),
    Field("patient.geschlecht", "choice", "label", "geschlecht", "m oder w, nur wenn genannt."),
    Field("patient.strasse", "street", "neighbourhood"),
    Field("patient.plz", "postcode", "neighbourhood"),
    Field("patient.ort", "place", "neighbourhood"),
    Field("patient.versichertennummer", "number", "label", "versichertennummer"),
    Field("patient.fallnummer", "number", "label", "fallnummer"),
    Field("versicherung.name", "verbatim", "label", "versicherung",
          taken_for="versicherung"),
    Field("versicherung.klasse", "choice", "label", "klasse",
          "allgemein, halbprivat, privat, nur wenn die Klasse genannt ist; eine Privatklinik sagt nichts darüber."),
    *_contact("absender"),
    *_contact("empfaenger"),
    Field("aufenthalt.art", "choice", "label", prompt="stationaer oder ambulant, nur wenn genannt."),
    Field("fragestellung", "question", "block", "fragestellung",
          "worum gebeten oder was gefragt wird, falls es dasteht."),
    Field("diagnosen", "diagnosis", "block", "diagnosen",
          "eine Diagnose je Eintrag, ohne Nummern; keine ausgeschlossenen, keine der Angehörigen."),
    Field("medikation", "statement", "block", "medikation",
          "ein Medikament je Eintrag, mit Dosis und Einnahme."),
    Field("kostengutsprache", "choice", "label", "kostengutsprache",
          "liegt_vor, beantragt oder wird_eingeholt, nur wenn genannt."),
    Field("dringlichkeit", "choice", "label", "dringlichkeit",
          "notfall, dringlich oder elektiv, nur wenn genannt; ein Terminwunsch ist keine Dringlichkeit."),
    Field("eingriffe.bezeichnung", "procedure", "block", "eingriffe", required=True),
    Field("eingriffe.datum", "day", "neighbourhood", prompt="null, wenn kein volles Datum dasteht."),
    Field("procedere", "statement", "block", "procedere",
          "Empfehlungen und weiteres Vorgehen, eine je Eintrag."),
)  # fmt: skip

Fields = Mapping[str, Field]
FIELDS: Final[Fields] = MappingProxyType({row.path: row for row in ROWS})
"""The rows by path."""
DOCUMENTS: Final[Mapping[DocumentType, type[Zuweisung] | type[Arztbrief]]] = {
    "zuweisung": Zuweisung,
    "arztbrief": Arztbrief,
}

_NUMBER = re.compile(r"\[\d+\]")


def field_of(path: str) -> str:
    """A path without the numbers of lists: `eingriffe.datum` of `eingriffe[0].datum`."""
    return _NUMBER.sub("", path)


def item_of(annotation: Any) -> type[BaseModel] | None:
    """The model of the objects that a list holds; None for a list of strings, and for what is no list."""
    return next((one for one in get_args(annotation) if isinstance(one, type) and issubclass(one, BaseModel)), None)


def paths_of(document: type[BaseModel]) -> Iterator[str]:
    """The paths of all values that a document may hold, without list numbers."""
    for name, field in document.model_fields.items():
        inner = item_of(field.annotation) or (type(field.default) if isinstance(field.default, BaseModel) else None)
        yield from (f"{name}.{key}" for key in inner.model_fields) if inner else (name,)


def prompt_lines(document: type[BaseModel], fields: Fields = FIELDS) -> str:
    """Instructions of the prompt on the parts and fields of a document, a line each."""
    lines = []
    for name in document.model_fields:
        if name in PARTS and PARTS[name].prompt:
            lines.append(f"- {name}: {PARTS[name].prompt}")
        known = (fields[path] for path in paths_of(document) if path.partition(".")[0] == name)
        lines += [f"- {row.path}: {row.prompt}" for row in known if row.prompt]
    return "\n".join(lines)
