"""Words by which patients, imaging studies and documents are found, kept beside them by whatever stores them.

A search for a word is a range of the index `ix_search_term`: `[word, word + LAST)` is everything that begins with it.
Names are found without regard to case and accents (FHIR R4, section 3.1.1.4.8).
"""

import hashlib
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

from sqlalchemy import Connection, delete, event, insert
from sqlalchemy.orm import Mapper

from webapp.fhir.dates import parse_bound
from webapp.fhir.details import Details, Resource, objects, values_at
from webapp.fhir.models import TERM_LENGTH, ImagingStudy, Patient, SearchTerm
from webapp.fhir.parameters import COMPOSITE, CONTAINED, DATE, DOCUMENT, PERSON, REFERENCE, STRING, TOKEN

LAST = "\U0010ffff"  # sorts behind every character
PRESENT = ""  # the word of an element that is there
LONGEST_PART = 100  # characters of a string that `:contains` looks for
_EVER = ("0" * 20, "9" * 20)
_BEFORE = 10**17  # microseconds; more than lie between the year 1 and 1970


def folded(text: str) -> str:
    """Lower case without accents: `Müller` as `muller`, `Groß` as `gross`."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in apart if not unicodedata.combining(character))


def patient_terms(resource: Resource) -> Iterator[tuple[str, str]]:
    """Kind and word of all a Patient is found by."""
    for kind in ("name", "family", "given"):
        for word in (word for path in PERSON[kind] for word in values_at(resource, path)):
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
    for identifier in objects(resource.get("identifier")):
        value, system = identifier.get("value"), identifier.get("system") or ""
        if isinstance(value, str):
            yield "study", value
            yield "study", f"{system}|{value}"


def document_terms(details: Details) -> Iterator[tuple[str, str]]:
    """Kind and word of all that a document with these details is found by, parameter by parameter (`parameters`). The
    empty word says that there is an element, whatever is in it."""
    contained = {f"#{item.get('id')}": item for item in objects(details.get("contained"))}
    for parameter in DOCUMENT:
        found = [value for path in parameter.paths for value in values_at(details, path)]
        if found:
            yield parameter.name, PRESENT
        for value in found:
            yield from _WORDS[parameter.type](parameter.name, value)
            if ":text" in parameter.own:
                texts = (text for path in ("text", "coding.display") for text in values_at(value, path))
                yield from ((f"{parameter.name}:text", folded(text)[:TERM_LENGTH]) for text in texts if text)
            if parameter.type == REFERENCE and isinstance(value, dict):
                yield from _contained(parameter.name, contained.get(value.get("reference", "")))


def document_words(details: Details) -> tuple[tuple[str, str], ...]:
    """The same, each once."""
    return tuple(dict.fromkeys(document_terms(details)))


def instant_term(micros: int) -> str:
    """Microseconds since 1970 as text that sorts like the number; the years before 1970 too."""
    return f"{micros + _BEFORE:020d}"


def short(text: str) -> str:
    """A word as it is kept: a longer one by its hash, so that it is found by the whole of it only."""
    return text if len(text) <= TERM_LENGTH else hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _tokens(kind: str, value: Any) -> Iterator[tuple[str, str]]:
    """A code, Coding, CodeableConcept or Identifier as `code`, `system|code`, `|code` (no system) and `system|`; an
    identifier also as `system|code|value` of its type, for `:of-type`."""
    for item in objects(value.get("coding")) if isinstance(value, dict) and "coding" in value else [value]:
        coding = item if isinstance(item, dict) else {"code": item}
        system, code = coding.get("system") or "", coding.get("code", coding.get("value"))
        if not isinstance(code, str) or not isinstance(system, str):
            continue
        yield from ((kind, short(text)) for text in (code, f"{system}|{code}"))
        if system:
            yield kind, short(f"{system}|")
        for typed in objects((coding.get("type") or {}).get("coding")) if "value" in coding else ():
            yield f"{kind}:type", short(f"{typed.get('system') or ''}|{typed.get('code') or ''}|{code}")


def _references(kind: str, reference: Any) -> Iterator[tuple[str, str]]:
    """A reference as it was given, a local one also by its id alone; the tokens of its identifier."""
    if not isinstance(reference, dict):
        return
    given = reference.get("reference")
    if isinstance(given, str):
        yield kind, short(given)
        _, slash, ident = given.partition("/")
        if slash and "/" not in ident:  # `Encounter/1`, not an absolute one
            yield kind, short(ident)
    yield from _identified(kind, reference.get("type"), reference.get("identifier"))


def _composite(kind: str, related: Resource) -> Iterator[tuple[str, str]]:
    """A reference and the code beside it, as `relatesto$relation`."""
    for _, word in _references("", (related.get("target") or {}) | {"identifier": None}):
        yield kind, short(f"{word}${related.get('code')}")


def _contained(kind: str, resource: Resource | None) -> Iterator[tuple[str, str]]:
    """Words that a contained resource is found by, as the chains of a parameter ask for it."""
    resource = resource or {}
    target = resource.get("resourceType")
    for name, paths in CONTAINED.get(target or "", {}).items():
        for value in (value for path in paths for value in values_at(resource, path)):
            if name == "identifier":
                yield from _identified(kind, target, value)
            elif isinstance(value, str) and value:
                yield from ((f"{kind}.{name}", typed(of, folded(value))[:TERM_LENGTH]) for of in ("", target))


def _identified(kind: str, target: Any, identifier: Any) -> Iterator[tuple[str, str]]:
    """The tokens of an identifier, as they are and as those of a type."""
    if isinstance(identifier, dict):
        for _, word in _tokens(kind, identifier | {"type": None}):
            yield from ((f"{kind}:id", short(typed(of, word))) for of in {"", target} if isinstance(of, str))


def typed(target: Any, word: str) -> str:
    """A word of a resource of that type; a control character keeps it apart from all others."""
    return f"{target}\x01{word}" if target else word


def _strings(kind: str, text: Any) -> Iterator[tuple[str, str]]:
    """The beginning without regard to case and accents, the whole for `:exact`, and pieces that overlap, so that each
    part of it that may be asked for (`:contains`) lies in one of them."""
    if isinstance(text, str) and text:
        plain = folded(text)
        yield kind, plain[:TERM_LENGTH]
        yield f"{kind}:exact", short(text)
        step = TERM_LENGTH - LONGEST_PART
        yield from (
            (f"{kind}:part", plain[at : at + TERM_LENGTH]) for at in range(0, max(1, len(plain) - LONGEST_PART), step)
        )


def _dates(kind: str, value: Any) -> Iterator[tuple[str, str]]:
    """A date or a Period as its first microsecond, and as `:end` the one behind its last, in digits that sort; an open
    end is as far away as there is."""
    ends = (value.get("start"), value.get("end")) if isinstance(value, dict) else (value, value)
    first, last = (parse_bound(end) if isinstance(end, str) else None for end in ends)
    if first or last:
        yield kind, instant_term(first.start) if first and first.start is not None else _EVER[0]
        yield f"{kind}:end", instant_term(last.end) if last and last.end is not None else _EVER[1]


_WORDS: dict[str, Callable[[str, Any], Iterator[tuple[str, str]]]] = {
    TOKEN: _tokens, REFERENCE: _references, STRING: _strings, DATE: _dates, COMPOSITE: _composite,
}  # fmt: skip


def _renew(mapper: Mapper[Any], connection: Connection, owner: Patient | ImagingStudy) -> None:
    """Make the words of a renewed row anew."""
    _forget(mapper, connection, owner)
    _keep(mapper, connection, owner)


def _keep(_: Mapper[Any], connection: Connection, owner: Patient | ImagingStudy) -> None:
    words = patient_words if isinstance(owner, Patient) else study_terms
    rows = [
        {"organization_id": owner.organization_id, "owner": owner.id, "kind": kind, "term": term[:TERM_LENGTH]}
        for kind, term in dict.fromkeys(words(owner.resource))
    ]
    if rows:
        connection.execute(insert(SearchTerm), rows)


def _forget(_: Mapper[Any], connection: Connection, owner: Patient | ImagingStudy) -> None:
    connection.execute(delete(SearchTerm).where(SearchTerm.owner == owner.id))


for _owner in (Patient, ImagingStudy):
    event.listen(_owner, "after_insert", _keep)
    event.listen(_owner, "after_update", _renew)
    event.listen(_owner, "after_delete", _forget)
