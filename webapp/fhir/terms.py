"""Words by which patients and imaging studies are found, kept beside them by whatever stores them through the ORM.

A search for a word is a range of the index `ix_search_term`: `[word, word + LAST)` is everything that begins with it.
Names are found without regard to case and accents (FHIR R4, section 3.1.1.4.8).
"""

import unicodedata
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, delete, event, insert
from sqlalchemy.orm import Mapper

from webapp.fhir.models import TERM_LENGTH, ImagingStudy, Patient, SearchTerm

LAST = "\U0010ffff"  # sorts behind every character

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


def study_terms(resource: Resource) -> Iterator[tuple[str, str]]:
    """An ImagingStudy is found by its identifiers: `value`, `system|value`, `|value`."""
    for identifier in _objects(resource.get("identifier")):
        value, system = identifier.get("value"), identifier.get("system") or ""
        if isinstance(value, str):
            yield "study", value
            yield "study", f"{system}|{value}"


def _objects(value: Any) -> list[Resource]:
    return [item for item in _list(value) if isinstance(item, dict)]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _keep(mapper: Mapper[Any], connection: Connection, owner: Patient | ImagingStudy) -> None:
    """Make the words of a stored or renewed row anew."""
    _forget(mapper, connection, owner)
    found = patient_terms(owner.resource) if isinstance(owner, Patient) else study_terms(owner.resource)
    rows = [
        {"organization_id": owner.organization_id, "owner": owner.id, "kind": kind, "term": term[:TERM_LENGTH]}
        for kind, term in dict.fromkeys(found)
    ]
    if rows:
        connection.execute(insert(SearchTerm), rows)


def _forget(_: Mapper[Any], connection: Connection, owner: Patient | ImagingStudy) -> None:
    connection.execute(delete(SearchTerm).where(SearchTerm.owner == owner.id))


for _owner in (Patient, ImagingStudy):
    event.listen(_owner, "after_insert", _keep)
    event.listen(_owner, "after_update", _keep)
    event.listen(_owner, "after_delete", _forget)
