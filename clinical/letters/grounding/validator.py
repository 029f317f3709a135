"""Is this value evidenced by this text, and where? One rule for every field.

`judge` finds; `policy.apply` decides what becomes of it. The guarantee (contract, section 4): an invented value does
not reach the caller. A value that stands in the text but belongs into another field is not covered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any, Final

from clinical.claims import Reading
from clinical.contract import Arztbrief, DocumentType, Match, Zuweisung, values_of
from clinical.letters.fields import FIELDS, Fields, Kind, field_of
from clinical.letters.grounding.enumerations import Circumstances, find_choice, sex_of, values
from clinical.letters.grounding.free_text import Kind as Said
from clinical.letters.grounding.free_text import find_statement
from clinical.letters.grounding.literal import TokenMatch, stands_spaced
from clinical.letters.grounding.names import find_mail, find_name, find_street
from clinical.letters.grounding.numbers import Span, find_identifier, find_phone, find_postcode, runs_of
from clinical.letters.grounding.policy import Grounded, Verdict, apply
from clinical.letters.grounding.states import with_silent_fields
from clinical.letters.grounding.words import Wordlist, missing_words
from clinical.text import LookedFor, is_birth, meaning, parse_date, spelling
from clinical.thresholds import GroundingThresholds


class _Letter:
    """One text with what several values need of it, made once."""

    def __init__(self, text: str, thresholds: GroundingThresholds | None, kind: DocumentType | None) -> None:
        self.source = Reading.of(text)
        self.circumstances = Circumstances(self.source, kind)
        self.thresholds = thresholds
        self.explains = True
        """True if removed values get the list of their words that stand nowhere, and are tested for a denial."""
        self.surnames: tuple[str, ...] = ()
        """The patient's surname, where it is evidenced itself: a salutation with it states the sex."""

    @cached_property
    def runs(self) -> LookedFor[Span]:
        return LookedFor(runs_of(self.source))

    @cached_property
    def wordlist(self) -> Wordlist:
        return Wordlist(self.source)


Judge = Callable[[_Letter, str, str], Verdict]


def _verdict(letter: _Letter, path: str, value: str, found: TokenMatch | None, match: Match | None = None) -> Verdict:
    if found is None:
        return Verdict(path, value, reason="not_in_text")
    source = letter.source
    start, end = source.start[found.first], source.end[found.last]
    if match is None:
        match, end = _kind_of_match(source.text, value, start, end, found)
    return Verdict(path, value, match, start, end)


def _kind_of_match(text: str, value: str, start: int, end: int, found: TokenMatch) -> tuple[Match, int]:
    """Exact where the text has the value's very characters, marks at its end included."""
    literal = value.strip()
    if text.startswith(literal, start) and start + len(literal) >= end:
        return "exact", start + len(literal)
    return ("normalised" if found.whole else "overlap"), end


def _span(path: str, value: str, span: tuple[int, int] | None, match: Match) -> Verdict:
    if span is None:
        return Verdict(path, value, reason="not_in_text")
    return Verdict(path, value, match, *span)


def _date(letter: _Letter, path: str, value: str, *, birth: bool = False, letter_date: bool = False) -> Verdict:
    """Judge a date. `letter_date`: a day named only as a birth date is no evidence for the date of the letter."""
    day = parse_date(value, birth)
    if day is None:
        return Verdict(path, value, reason="no_such_day")
    source = letter.source
    places = meaning(source.days, day, birth)
    place = next((one for one in places if not (letter_date and is_birth(source.view, one.start))), None)
    return _span(path, day, (place.start, place.end), "date") if place else Verdict(path, value, reason="not_in_text")


def _statement(letter: _Letter, path: str, value: str, *, kind: Said) -> Verdict:
    found = find_statement(letter.source, value, kind, letter.thresholds, letter.wordlist)
    if found is None and not letter.explains:
        return Verdict(path, value, reason="not_in_text")
    if found is None:
        words = missing_words(letter.source, letter.wordlist, value)
        said = not words and find_statement(letter.source, value, "verbatim", letter.thresholds, letter.wordlist)
        return Verdict(path, value, reason="not_in_text", words=words, denied=bool(said))
    return _verdict(letter, path, value, found)


def _title(letter: _Letter, path: str, value: str) -> Verdict:
    """A title also where its characters are set apart: `Z u w e i s u n g`."""
    found = _statement(letter, path, value, kind="verbatim")
    spaced = None if found.kept else stands_spaced(letter.source.text, value)
    return _span(path, value, spaced, "normalised") if spaced else found


def _name(letter: _Letter, path: str, value: str, *, person: bool) -> Verdict:
    """A person's name also where its characters are set apart: `K E R N ,`."""
    found = find_name(letter.source, value, person=person)
    spaced = stands_spaced(letter.source.text, value) if found is None and person else None
    return _span(path, value, spaced, "normalised") if spaced else _verdict(letter, path, value, found)


def _street(letter: _Letter, path: str, value: str) -> Verdict:
    return _verdict(letter, path, value, find_street(letter.source, value))


def _mail(letter: _Letter, path: str, value: str) -> Verdict:
    return _span(path, value, find_mail(letter.source, value), "exact")


def _identifier(letter: _Letter, path: str, value: str) -> Verdict:
    return _span(path, value, find_identifier(letter.source, letter.runs, value), "digits")


def _phone(letter: _Letter, path: str, value: str) -> Verdict:
    return _span(path, value, find_phone(letter.source, letter.runs, value), "digits")


def _postcode(letter: _Letter, path: str, value: str) -> Verdict:
    return _span(path, value, find_postcode(letter.source, value), "digits")


def _choice(letter: _Letter, path: str, value: str) -> Verdict:
    word = next((one for one in values(path) if one == spelling(value.strip()).replace(" ", "_")), None)
    if word is None:
        return Verdict(path, value, reason="not_a_value")
    sex = path == "patient.geschlecht"
    about = letter.circumstances
    found = sex_of(about, word, letter.surnames) if sex else find_choice(about, path, word)
    if found is None:
        return Verdict(path, value, reason="no_keyword")
    return _verdict(letter, path, word, found, "keyword")


JUDGES: Mapping[Kind, Judge] = {
    "title": _title,
    "day": _date,
    "letter_day": partial(_date, letter_date=True),
    "birthday": partial(_date, birth=True),
    "person": partial(_name, person=True),
    "place": partial(_name, person=False),
    "street": _street,
    "postcode": _postcode,
    "phone": _phone,
    "mail": _mail,
    "number": _identifier,
    "choice": _choice,
    "verbatim": partial(_statement, kind="verbatim"),
    "diagnosis": partial(_statement, kind="diagnosis"),
    "procedure": partial(_statement, kind="procedure"),
    "statement": partial(_statement, kind="statement"),
    "question": partial(_statement, kind="question"),
}
"""The rule that judges the values of each kind."""


def judge(
    answer: Mapping[str, Any],
    text: str,
    thresholds: GroundingThresholds | None = None,
    document: type[Zuweisung] | type[Arztbrief] | None = None,
    fields: Fields = FIELDS,
) -> tuple[Verdict, ...]:
    """Judge every value of the answer by the text. Deterministic; no model; linear in the length of the text.

    `thresholds` of free text: the shipped ones (`clinical/thresholds.json`) unless others are to be measured.
    `document` tells a described stay from one that is asked for; without it the keys of the answer do."""
    return _judged(answer, _Letter(text, thresholds, _kind_of(answer, document)), fields)


SURNAME: Final = "patient.nachname"


def _judged(answer: Mapping[str, Any], letter: _Letter, fields: Fields) -> tuple[Verdict, ...]:
    known: dict[tuple[str, str], Verdict] = {}
    if surname := (answer.get("patient") or {}).get("nachname"):
        known[SURNAME, surname] = named = JUDGES[fields[SURNAME].kind](letter, SURNAME, surname)
        letter.surnames = (surname,) if named.kept else ()
    findings = []
    for path, value in values_of(answer):
        field = field_of(path)
        finding = known.get((field, value))
        if finding is None:
            finding = known[field, value] = JUDGES[fields[field].kind](letter, field, value)
        findings.append(finding._replace(path=path))
    return tuple(findings)


def _kind_of(answer: Mapping[str, Any], document: type[Zuweisung] | type[Arztbrief] | None) -> DocumentType | None:
    if document is not None:
        return "arztbrief" if issubclass(document, Arztbrief) else "zuweisung"
    if "eingriffe" in answer or "procedere" in answer:
        return "arztbrief"
    return "zuweisung" if "dringlichkeit" in answer or "kostengutsprache" in answer else None


def ground(
    answer: Mapping[str, Any],
    text: str,
    document: type[Zuweisung] | type[Arztbrief],
    *,
    explain: bool = False,
    fields: Fields = FIELDS,
) -> Grounded:
    """Judge every value and apply the policy; nothing of the text is kept.

    `explain`: also the state of every field, and of a removed value the words that stand nowhere."""
    letter = _Letter(text, None, _kind_of(answer, document))
    letter.explains = explain
    grounded = apply(_judged(answer, letter, fields), document, fields)
    return with_silent_fields(grounded, letter.circumstances, fields) if explain else grounded
