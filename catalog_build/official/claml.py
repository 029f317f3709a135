"""Reader of the notes in BfArM's ClaML file (inclusion, exclusion, coding hints, definitions), as a stream.

The XML is read without entities, DTD or network: a DOCTYPE is neither needed nor followed (OWASP, XXE).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from lxml import etree

from catalog_build.official.files import SourceFile, readable
from clinical.errors import SourceError
from clinical.icd import CODE_PATTERN, Catalog, Note

# Titles come from the code table; a modifier link is only "see the beginning of this block".
_NO_NOTES: Final = frozenset({"preferred", "preferredLong", "modifierlink"})
_ONE_CODE: Final = r"[A-Z]\d\d(?:\.(?:\d-?|\d\d|-))?[*+!\u2020]?"
_RANGE: Final = rf"{_ONE_CODE}(?:-{_ONE_CODE})?"
# References that lost their element: glued to the last word, or after a blank where no vitamin looks like it.
_TAIL: Final = re.compile(rf"(?:(?<=[^\s(/-])|\s(?=[A-Z]\d\d(?:\.|-[A-Z]))){_RANGE}(?:,\s?{_RANGE})*$")


@dataclass(frozen=True)
class _Subdivision:
    """One digit of a modifier (`ModifierClass`): `.0` makes E10.0 of E10, `0` makes E10.90 of E10.9."""

    suffix: str
    dagger: bool
    notes: tuple[Note, ...]


@dataclass
class _Found:
    """Contents of the stream: notes by class, subdivisions by modifier, and by class the modifiers it
    takes."""

    notes: dict[str, list[Note]] = field(default_factory=dict)
    by_modifier: dict[str, list[_Subdivision]] = field(default_factory=dict)
    modified: list[tuple[str, str, frozenset[str]]] = field(default_factory=list)
    daggers: set[str] = field(default_factory=set)
    classes: int = 0


def read_notes(file: SourceFile, catalog: Catalog) -> tuple[dict[str, tuple[Note, ...]], frozenset[str]]:
    """Notes by code, and the codes that the file marks with a dagger.

    Notes of a subdivision ("modifier") go to the codes it makes. Raises SourceError for broken XML, declared
    entities, another year, or a category that the catalog does not have.
    """
    found = _Found()
    for element in _elements(file):
        _take(element, found, file, catalog)
    if found.classes == 0:
        raise SourceError(file.location, None, "no Class element", "a ClaML file", "download it again")
    for code, modifier, valid in found.modified:
        for subdivision in found.by_modifier.get(modifier, ()):
            if not valid or subdivision.suffix in valid:
                _spread(code, subdivision, found, catalog)
    kept = {code: tuple(dict.fromkeys(notes)) for code, notes in found.notes.items() if code in catalog}
    return kept, frozenset(found.daggers)


def _elements(file: SourceFile) -> Iterator[etree._Element]:
    tags = ("Title", "Class", "ModifierClass")
    with readable(file) as stream:
        events = etree.iterparse(
            stream, tag=tags, resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False
        )
        try:
            for _, element in events:
                _refuse_entities(element, file)
                yield element
                element.clear()
                while element.getprevious() is not None:
                    del element.getparent()[0]
        except etree.XMLSyntaxError as error:
            found = f"broken XML ({error.msg})"
            raise SourceError(file.location, error.lineno, found, "a whole ClaML file", "download it again") from None


def _refuse_entities(element: etree._Element, file: SourceFile) -> None:
    dtd = element.getroottree().docinfo.internalDTD
    if dtd is not None and next(dtd.iterentities(), None) is not None:
        raise SourceError(
            file.location, None, "declares XML entities", "plain ClaML", "use the file as BfArM published it"
        )


def _take(element: etree._Element, found: _Found, file: SourceFile, catalog: Catalog) -> None:
    code = element.get("code", "")
    if element.tag == "Title":
        _check_year(element, file)
    elif element.tag == "ModifierClass":
        subdivision = _Subdivision(code, element.get("usage") == "dagger", tuple(_notes(element)))
        found.by_modifier.setdefault(element.get("modifier", ""), []).append(subdivision)
    else:
        found.classes += 1
        if element.get("kind") == "category" and CODE_PATTERN.fullmatch(code) and code not in catalog:
            remedy = "use files of one year"
            raise SourceError(
                file.location, element.sourceline, f"{code} is not in the catalog", "a known code", remedy
            )
        found.notes.setdefault(code, []).extend(_notes(element))
        for link in element.iterchildren("ModifiedBy"):
            valid = frozenset(digit.get("code", "") for digit in link.iterchildren("ValidModifierClass"))
            found.modified.append((code, link.get("code", ""), valid))
        if element.get("usage") == "dagger":
            found.daggers.add(code)


def _check_year(element: etree._Element, file: SourceFile) -> None:
    version = element.get("version", "")
    if version and version != str(file.year):
        found = f"the content is of {version}, the name of {file.year}"
        raise SourceError(file.location, element.sourceline, found, "one year", "download it again")


def _spread(code: str, subdivision: _Subdivision, found: _Found, catalog: Catalog) -> None:
    """Give the notes of `.0` to E10.0, those of a fifth digit `0` to every E10.x0; a dagger also to what is below."""
    suffix = subdivision.suffix
    below = [child.code for child in catalog.children(code)]
    below += [leaf.code for child in below for leaf in catalog.children(child)]
    for target in below:
        if target == code + suffix if suffix.startswith(".") else len(target) == 6 and target[5:] == suffix:
            found.notes.setdefault(target, []).extend(subdivision.notes)
            if subdivision.dagger:
                found.daggers.update([target, *(leaf.code for leaf in catalog.children(target))])


def _notes(element: etree._Element) -> Iterator[Note]:
    for rubric in element.iterchildren("Rubric"):
        kind = rubric.get("kind", "")
        if kind in _NO_NOTES:
            continue
        for label in rubric.iterchildren("Label"):
            references: list[str] = []
            text = _split_tail(_flat(_text(label, references)), references)
            if text:
                yield Note(kind, text, tuple(references))


def _text(element: etree._Element, references: list[str]) -> str:
    """Text of an element; references in brackets are taken out, others stay where they are part of the sentence."""
    parts = [element.text or ""]
    for child in element:
        if not isinstance(child.tag, str):  # comment, processing instruction, entity
            pass
        elif child.tag == "Reference":
            name = _flat("".join(child.itertext()))
            references.append(name)
            parts.append("" if child.get("class") == "in brackets" else name)
        elif child.tag == "Term":  # emphasis inside a word or sentence
            parts.append(_text(child, references))
        else:
            parts += [" ", _text(child, references), " "]
        parts.append(child.tail or "")
    return "".join(parts)


def _flat(text: str) -> str:
    return " ".join(text.split())


def _split_tail(text: str, references: list[str]) -> str:
    if references or (match := _TAIL.search(text)) is None:
        return text
    references.extend(part.strip() for part in match.group().split(","))
    return text[: match.start()].rstrip()
