"""Words by which patients, imaging studies and documents are found, kept beside them by whatever stores them.

A search for a word is a range of the index `ix_search_term`: `[word, word + LAST)` is everything that begins with it.
Names are found without regard to case and accents (FHIR R4, section 3.1.1.4.8).
"""

import hashlib
import unicodedata
import uuid
from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import Connection, delete, event, insert
from sqlalchemy.orm import Mapper

from webapp.fhir.dates import parse_bound
from webapp.fhir.details import Details
from webapp.fhir.models import TERM_LENGTH, ImagingStudy, Patient, SearchTerm

LAST = "\U0010ffff"  # sorts behind every character
_BEFORE = 10**17  # microseconds; more than lie between the year 1 and 1970

Resource = dict[str, Any]


def folded(text: str) -> str:
    """Lower case without accents: `Müller` as `muller`, `Groß` as `gross`."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in apart if not unicodedata.combining(character))


def patient_terms(resource: Resource) -> Iterator[tuple[str, str]]:
    """Kind and word of all a Patient is found by."""
    for name in _objects(resource.get("name")):
        family, given = [name.get("family")], _list(name.get("given"))
        others = [*_list(name.get("prefix")), *_list(name.get("suffix")), name.get("text")]
        for kind, words in (("family", family), ("given", given), ("name", [*family, *given, *others])):
            for word in words:
                if isinstance(word, str) and word:
                    yield kind, folded(word)
                    yield f"{kind}:exact", word
    for kind, element in (("birthdate", "birthDate"), ("gender", "gender")):
        if isinstance(resource.get(element), str):
            yield kind, resource[element]


def patient_words(resource: Resource) -> tuple[tuple[str, str], ...]:
    """The same as they are kept, each once."""
    return tuple(dict.fromkeys((kind, term[:TERM_LENGTH]) for kind, term in patient_terms(resource)))


def study_terms(resource: Resource) -> Iterator[tuple[str, str]]:
    """An ImagingStudy is found by its identifiers: `value`, `system|value`, `|value`."""
    for identifier in _objects(resource.get("identifier")):
        value, system = identifier.get("value"), identifier.get("system") or ""
        if isinstance(value, str):
            yield "study", value
            yield "study", f"{system}|{value}"


def document_terms(details: Details) -> Iterator[tuple[str, str]]:
    """Kind and word of all that a document with these details is found by: tokens as `code`, `system|code`, `|code`
    (no system) and `system|`; references as they were given, and local ones also by their id alone; `creation` as the
    first microsecond of the stated period, in digits that sort."""
    concepts = [("type", details.get("type")), *(("category", item) for item in _list(details.get("category")))]
    for kind, concept in concepts:
        for coding in _objects((concept or {}).get("coding")):
            yield from _tokens(kind, coding.get("system"), coding.get("code"))
    labels = [coding for item in _objects(details.get("securityLabel")) for coding in _objects(item.get("coding"))]
    for coding in [*labels, *_objects(details.get("meta", {}).get("security"))]:
        yield from _tokens("security-label", coding.get("system"), coding.get("code"))
    for item in [details.get("masterIdentifier"), *_list(details.get("identifier"))]:
        yield from _tokens("identifier", (item or {}).get("system"), (item or {}).get("value"))
    for reference in _objects(details.get("author")):
        yield from _references("author", reference)
    for reference in _objects(details.get("context", {}).get("encounter")):
        yield from _references("encounter", reference)
    created = parse_bound(_created(details))
    if created is not None and created.start is not None:
        yield "creation", instant_term(created.start)


def document_words(details: Details) -> tuple[tuple[str, str], ...]:
    """The same, each once."""
    return tuple(dict.fromkeys(document_terms(details)))


def instant_term(micros: int) -> str:
    """Microseconds since 1970 as text that sorts like the number; the years before 1970 too."""
    return f"{micros + _BEFORE:020d}"


def short(text: str) -> str:
    """A word as it is kept: a longer one by its hash, so that it is found by the whole of it only."""
    return text if len(text) <= TERM_LENGTH else hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _tokens(kind: str, system: str | None, code: str | None) -> Iterator[tuple[str, str]]:
    if isinstance(code, str):
        yield from ((kind, short(text)) for text in (code, f"{system or ''}|{code}"))
        if system:
            yield kind, short(f"{system}|")


def _references(kind: str, reference: Resource) -> Iterator[tuple[str, str]]:
    given, identifier = reference.get("reference"), reference.get("identifier") or {}
    if isinstance(given, str):
        yield kind, short(given)
        _, slash, ident = given.partition("/")
        if slash and "/" not in ident:  # `Encounter/1`, not an absolute one
            yield kind, short(ident)
    yield from _tokens(f"{kind}:id", identifier.get("system"), identifier.get("value"))


def _created(details: Details) -> str:
    content = _objects(details.get("content"))
    return str(content[0].get("attachment", {}).get("creation", "")) if content else ""


def _objects(value: Any) -> list[Resource]:
    return [item for item in _list(value) if isinstance(item, dict)]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _keep(mapper: Mapper[Any], connection: Connection, owner: Patient | ImagingStudy) -> None:
    """Make the words of a stored or renewed row anew."""
    _forget(mapper, connection, owner)
    patient = isinstance(owner, Patient)
    words = patient_words(owner.resource) if patient else tuple(dict.fromkeys(study_terms(owner.resource)))
    if words:
        connection.execute(insert(SearchTerm), search_rows(owner.organization_id, owner.id, words))


def search_rows(organization: uuid.UUID, owner: uuid.UUID, words: Iterable[tuple[str, str]]) -> list[Resource]:
    """The rows of `SearchTerm` of a patient or a study."""
    return [
        {"organization_id": organization, "owner": owner, "kind": kind, "term": term[:TERM_LENGTH]}
        for kind, term in words
    ]


def _forget(_: Mapper[Any], connection: Connection, owner: Patient | ImagingStudy) -> None:
    connection.execute(delete(SearchTerm).where(SearchTerm.owner == owner.id))


for _owner in (Patient, ImagingStudy):
    event.listen(_owner, "after_insert", _keep)
    event.listen(_owner, "after_update", _keep)
    event.listen(_owner, "after_delete", _forget)
