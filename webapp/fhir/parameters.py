"""Search parameters: one row each, of which the stored words, the readers, the CapabilityStatement and the table in
`docs/documents.md` are made.

A row with `paths` is found by words that are made of these elements of a resource when it is stored (`terms`); the
type of the parameter says which words these are and which modifiers it has (FHIR R4, section 3.1.1.4). A row without
is a column of its own, and `searching.readers` names its reader. A reference is also followed into what is contained
(`CONTAINED`).
"""

from dataclasses import dataclass
from typing import NamedTuple

TOKEN, REFERENCE, STRING, DATE, NUMBER, URI = "token", "reference", "string", "date", "number", "uri"
COMPOSITE = "composite"
MODIFIERS = {
    TOKEN: (":not", ":missing"),
    REFERENCE: (":identifier", ":missing"),
    STRING: (":exact", ":contains", ":missing"),
    DATE: (":missing",),
}
"""Modifiers of parameters that are found by words, by type. References have `:<Type>` for their targets too."""
PREFIXES = ("eq", "ne", "gt", "lt", "ge", "le", "sa", "eb", "ap")
"""Prefixes of dates that are found by words; those of `date` are the contract's."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A search parameter. `paths`: elements of the resource; `own`: modifiers beside those of the type; `targets`: the
    types that a reference may lead to; `system`: that of codes which stand without one in a resource."""

    name: str
    type: str
    told: str = ""
    paths: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    system: str = ""

    @property
    def modifiers(self) -> tuple[str, ...]:
        """All that may stand behind the name, as it is written there."""
        typed = MODIFIERS.get(self.type, ()) if self.paths else ()
        return (*typed, *self.own, *(f":{target}" for target in self.targets))

    @property
    def chains(self) -> dict[str, tuple[str, str]]:
        """Chains that may stand behind the name: the type of the resource it refers to ("": any), and by what
        it is found there."""
        if not self.paths or self.type != REFERENCE:
            return {}
        of = {target: CONTAINED[target] for target in self.targets if target in CONTAINED}
        names = dict.fromkeys(["identifier", *(name for names in of.values() for name in names)])
        typed = {f":{target}.{name}": (target, name) for target, names in of.items() for name in names}
        return {f".{name}": ("", name) for name in names} | typed


_NAME = ("name.family", "name.given", "name.text", "name.prefix", "name.suffix")
PERSON = {"identifier": ("identifier",), "family": ("name.family",), "given": ("name.given",), "name": _NAME}
CONTAINED: dict[str, dict[str, tuple[str, ...]]] = {
    "Practitioner": PERSON,
    "RelatedPerson": {"identifier": ("identifier",), "name": _NAME},
    "Organization": {"identifier": ("identifier",), "name": ("name", "alias")},
    "PractitionerRole": {"identifier": ("identifier",)},
    "Encounter": {"identifier": ("identifier",)},
}
"""Elements of contained resources that a document is found by: by type, the names of parameters and their elements.
An `identifier` is a token, all else a text that begins so."""
_FOLLOWED = ("name", "name:exact", "family", "family:exact", "given", "given:exact", "birthdate", "gender")
CHAINS = tuple(f"{way}{of}" for way in (".", ":Patient.") for of in _FOLLOWED)
"""Chains from a document to what its patient is found by."""
_PATIENT = (":Patient", "._id", ":Patient._id", ":identifier", ".identifier", ":Patient.identifier")
_WORKERS = ("Practitioner", "PractitionerRole", "Organization")
_WHO = (*_WORKERS, "Device", "Patient", "RelatedPerson")
_RELATION = "http://hl7.org/fhir/document-relationship-type"
_ID = Parameter("_id", TOKEN, "Eine Id oder mehrere, durch Komma getrennt")
_PAGING = (
    Parameter("_count", NUMBER, "1 bis 200, sonst 50"),
    Parameter("_offset", NUMBER, "Einträge, die übersprungen werden"),
)
_BEGINS = "{} beginnt so, ohne Rücksicht auf Groß- und Kleinschreibung und Akzente"

DOCUMENT = (
    Parameter("date", DATE, "Zeitpunkt der Speicherung; Präfixe eq, ge, gt, le, lt"),
    Parameter("_lastUpdated", DATE, "Wie date"),
    Parameter("patient", REFERENCE, "Patient-Id oder externe Kennung", own=(*_PATIENT, *CHAINS)),
    Parameter("subject", REFERENCE, "Wie patient", own=(*_PATIENT, *CHAINS)),
    Parameter("status", TOKEN, "current, superseded oder entered-in-error", own=(":not",)),
    Parameter("contenttype", TOKEN, "MIME-Typ, genau und klein geschrieben"),
    Parameter("location", URI, "Adresse der Datei, auch eine abgelaufene"),
    _ID,
    Parameter("identifier", TOKEN, "Auch masterIdentifier", ("masterIdentifier", "identifier"), own=(":of-type",)),
    Parameter("type", TOKEN, "Zum Beispiel KDL oder LOINC", ("type",), own=(":text",)),
    Parameter("category", TOKEN, "Klasse des Dokuments", ("category",), own=(":text",)),
    Parameter("security-label", TOKEN, "Des Dokuments oder der Ressource", ("securityLabel", "meta.security")),
    Parameter("_tag", TOKEN, "Etikett der Ressource", ("meta.tag",)),
    Parameter("facility", TOKEN, "Art der Einrichtung", ("context.facilityType",)),
    Parameter("setting", TOKEN, "Fachrichtung", ("context.practiceSetting",)),
    Parameter("event", TOKEN, "Worum es geht", ("context.event",)),
    Parameter("format", TOKEN, "Format des Inhalts", ("content.format",)),
    Parameter("language", TOKEN, "Sprache des Inhalts", ("content.attachment.language",), system="urn:ietf:bcp:47"),
    Parameter("relation", TOKEN, "replaces, appends, transforms oder signs", ("relatesTo.code",), system=_RELATION),
    Parameter("author", REFERENCE, "Verfasst von", ("author",), targets=_WHO),
    Parameter("authenticator", REFERENCE, "Freigegeben von", ("authenticator",), targets=_WORKERS),
    Parameter("custodian", REFERENCE, "Aufbewahrt von", ("custodian",), targets=("Organization",)),
    Parameter(
        "encounter", REFERENCE, "Behandlungsfall", ("context.encounter",), targets=("Encounter", "EpisodeOfCare")
    ),
    Parameter("related", REFERENCE, "Verwandte Ressourcen", ("context.related",)),
    Parameter("relatesto", REFERENCE, "Anderes Dokument", ("relatesTo.target",), targets=("DocumentReference",)),
    Parameter("relationship", COMPOSITE, "relatesto$relation desselben Verweises", ("relatesTo",), system=_RELATION),
    Parameter("description", STRING, _BEGINS.format("Beschreibung"), ("description",)),
    Parameter("creation", DATE, "Beginn der Zeit, zu der der Anhang entstand", ("content.attachment.creation",)),
    Parameter("period", DATE, "Zeitraum der Behandlung", ("context.period",)),
    *_PAGING,
)
PATIENT = (
    Parameter("identifier", TOKEN, "system|value"),
    _ID,
    *(
        Parameter(name, STRING, _BEGINS.format(said), own=(":exact",))
        for name, said in (("name", "Ein Name"), ("family", "Nachname"), ("given", "Vorname"))
    ),
    Parameter("birthdate", DATE, "Präfixe eq, ne, gt, lt, ge, le, sa, eb"),
    Parameter("gender", TOKEN, "male, female, other oder unknown"),
    *_PAGING,
)
STUDY = (
    Parameter("patient", REFERENCE, "Patient-Id oder Kennung", own=_PATIENT),
    Parameter("subject", REFERENCE, "Wie patient", own=_PATIENT),
    Parameter("identifier", TOKEN, "system|value"),
    _ID,
    *_PAGING,
)


class Inclusion(NamedTuple):
    """Resources of the type `sent` that are sent along with matches of the type `searched`: what these refer to by the
    parameter of a type (`name`) whose `target` is a type, or with `_revinclude` what refers to them by it.
    `right`: the letter of a scope that it takes."""

    way: str
    name: str
    target: str
    searched: str
    sent: str
    right: str


INCLUSIONS = tuple(
    Inclusion(way, name, target, searched, sent, right)
    for name, source, target in (
        *((f"{source}:{of}", source, "Patient")
          for source in ("DocumentReference", "ImagingStudy") for of in ("patient", "subject")),
        ("DocumentReference:relatesto", "DocumentReference", "DocumentReference"),
    )
    for way, right, searched, sent in (("_include", "r", source, target), ("_revinclude", "s", target, source))
)  # fmt: skip
