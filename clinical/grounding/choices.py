"""Values of fixed lists need an explicit word in the text: the table `enumerations.tsv`, and what voids a phrase.

Implications do not count ("Privatklinik" is not `privat`, a wish for an appointment not `dringlich`), nor does a phrase
that is denied, conditional, an empty box, or one of several choices of a form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from clinical.grounding.free_text import Found
from clinical.language import COLON, COMMA, LINE, SALUTATIONS, STOP, TITLES, Source, name_key, spelling, word_set

TABLE = "enumerations.tsv"

DENIED_WITHIN = 3
"""Tokens before a phrase in which `kein`, `nicht`, `ohne` or `statt` denies it, and behind it `nein` or `nicht`."""

_DENIALS = word_set(
    """kein keine keinen keinem keiner keines nicht ohne weder statt anstatt anstelle nie un noch"""
) - {"noch"}
_DENIED_AFTER = word_set("""nein nicht abgelehnt entfaellt verneint fehlt ausstehend abgelehnte keine hinfaellig""")
_CONDITIONS = word_set("""falls sobald sofern wenn ob ggf gegebenenfalls eventuell evtl allenfalls bis nachdem""")
_INSIDE = word_set("nicht keine kein noch falls sobald sofern wenn ob fehlt abgelehnt ausstehend")
_EMPTY_BOX = re.compile(r"(?:\[\s?\]|\(\s?\)|[☐□◻○])\s*$")
_FULL_BOX = re.compile(r"(?:\[\s?[xX✓✔]\s?\]|\([xX]\)|[☒☑■✓✔●])\s*$")
_ANY_BOX = re.compile(r"\[\s?[xX✓✔]?\s?\]|[☐□◻☒☑■○●]")
_LABELS = word_set("klasse abteilung versicherung zusatzversicherung versicherungsklasse vorliegend ein vor ja")
_CELL = re.compile(r"[\s:|–-]*")


@dataclass(frozen=True, slots=True)
class Word:
    """One of several words, or any word beginning so; as name keys, which OCR look-alikes leave as they are."""

    words: frozenset[str]
    stems: tuple[str, ...]
    optional: bool = False

    def fits(self, word: str) -> bool:
        return word in self.words or (bool(self.stems) and word.startswith(self.stems))


@dataclass(frozen=True, slots=True)
class Gap:
    """Up to `most` words of the same sentence."""

    most: int


@dataclass(frozen=True, slots=True)
class Mark:
    """A dividing mark: `:` a colon, tab or line end; `,` anything that is not a space."""

    sign: str


Element = Word | Gap | Mark


@dataclass(frozen=True, slots=True)
class Phrase:
    """One line of the table."""

    field: str
    value: str
    says: bool
    elements: tuple[Element, ...]


@lru_cache(maxsize=1)
def table() -> tuple[Phrase, ...]:
    """The lines of the table. Raises ValueError naming the line that cannot be read."""
    lines = files("clinical.grounding").joinpath(TABLE).read_text("utf-8").splitlines()
    return tuple(_read(number, line) for number, line in enumerate(lines, 1) if line.strip() and line[0] != "#")


def _read(number: int, line: str) -> Phrase:
    columns = line.split("\t")
    if len(columns) < 4 or columns[2] not in ("says", "not"):
        raise ValueError(f"{TABLE}, line {number}: expected field, value, says|not, phrase, remark; divided by tabs")
    return Phrase(columns[0], columns[1], columns[2] == "says", tuple(map(_element, columns[3].split())))


def _element(text: str) -> Element:
    optional = text.startswith("(")
    text = text.strip("()")
    if text.startswith(".."):
        return Gap(int(text[2:]))
    if text.startswith("["):
        return Mark(text.strip("[]"))
    parts = text.split("|")
    stems = tuple(name_key(spelling(part[:-1])) for part in parts if part.endswith("*"))
    return Word(frozenset(name_key(spelling(part)) for part in parts if not part.endswith("*")), stems, optional)


@lru_cache(maxsize=1)
def _by_choice() -> dict[tuple[str, str], tuple[Phrase, ...]]:
    choices = dict.fromkeys((phrase.field, phrase.value) for phrase in table())
    return {choice: tuple(p for p in table() if (p.field, p.value) == choice) for choice in choices}


def _phrases(field: str, value: str) -> tuple[Phrase, ...]:
    return _by_choice().get((field, value), ())


@lru_cache(maxsize=16)
def _choices(field: str) -> frozenset[str]:
    """Words of the field's single-word phrases and labels' values: what a form offers side by side."""
    last = (phrase.elements[-1] for phrase in table() if phrase.field == field and phrase.says)
    words = {word for element in last if isinstance(element, Word) for word in element.words}
    return frozenset(words | {"m", "w", "d", "divers"} if field == "patient.geschlecht" else words - _LABELS)


def find_keyword(source: Source, field: str, value: str) -> Found | None:
    """The first place where the text names the value explicitly, or None."""
    voided = {
        i for phrase in _phrases(field, value) if not phrase.says for found in _matches(source, phrase) for i in found
    }
    for phrase in _phrases(field, value):
        for place in _matches(source, phrase) if phrase.says else ():
            if not (voided & set(place)) and not _is_void(source, field, value, place):
                return Found(place[0], place[-1], whole=True)
    return None


def _matches(source: Source, phrase: Phrase) -> Iterator[range]:
    elements = phrase.elements
    head = next(element for element in elements if isinstance(element, Word))
    lead = elements.index(head)
    for start in _places(source, head):
        if lead and not _divided(source, start, elements[0]):
            continue
        behind = _fits(source, head, start)
        end = _walk(source, elements[lead + 1 :], behind) if behind else None
        if end is not None:
            yield range(start, end)


def _places(source: Source, head: Word) -> list[int]:
    places = {
        i for index in (source.name_places, source.merged_places) for word in head.words for i in index.get(word, ())
    }
    if head.stems:
        for index in (source.name_places, source.merged_places):
            places |= {i for word, where in index.items() if word.startswith(head.stems) for i in where}
    return sorted(places)


def _fits(source: Source, word: Word, i: int) -> int | None:
    """The token number behind the word, written in one piece or broken by a hyphen, or None."""
    if word.fits(source.names[i]):
        return i + 1
    return next((behind for joined, behind in source.merged.get(i, ()) if word.fits(joined)), None)


def _walk(source: Source, elements: tuple[Element, ...], i: int) -> int | None:
    """The token number behind the phrase whose remaining elements begin at token `i`, or None."""
    if not elements:
        return i
    element, rest = elements[0], elements[1:]
    if isinstance(element, Mark):
        return _walk(source, rest, i) if _divided(source, i, element) else None
    if isinstance(element, Gap):
        for skipped in range(element.most + 1):
            if skipped and (i + skipped >= len(source) or source.gap(i + skipped - 1) >= STOP):
                return None
            end = _walk(source, rest, i + skipped)
            if end is not None:
                return end
        return None
    behind = _fits(source, element, i) if i < len(source) and _same_entry(source, i) else None
    end = _walk(source, rest, behind) if behind else None
    if end is not None:
        return end
    return _walk(source, rest, i) if element.optional else None


def _same_entry(source: Source, i: int) -> bool:
    return source.gap(i) < STOP or (_CELL.fullmatch(source.glue(i)) is not None and source.glue(i).count("\n") < 2)


def _divided(source: Source, i: int, mark: Element) -> bool:
    if i in (0, len(source)):
        return isinstance(mark, Mark) and mark.sign == ","
    glue = source.glue(i)
    if isinstance(mark, Mark) and mark.sign == ":":
        return ":" in glue or "\t" in glue or "\n" in glue or "|" in glue
    boxed = any(sign in glue for sign in "[]☐☒☑□■")
    return boxed or (source.gap(i) >= LINE and "/" not in glue)


def _is_void(source: Source, field: str, value: str, place: range) -> bool:
    first, last = place[0], place[-1]
    inner = {source.words[i] for i in place[1:-1]}
    if (
        inner & _INSIDE
        or _is_denied(source, first, last)
        or _is_choice(source, field, place)
        or _is_unticked(source, place)
    ):
        return True
    if source.text[source.end[last] : source.end[last] + 2].lstrip()[:1] == "?":
        return True
    return field != "patient.geschlecht" and _is_conditional(source, first)


def _is_denied(source: Source, first: int, last: int) -> bool:
    for k in range(first - 1, max(-1, first - 1 - DENIED_WITHIN), -1):
        if source.gap(k + 1) >= COMMA:
            break
        if source.words[k] in _DENIALS:
            return True
    for k in range(last + 1, min(len(source), last + 1 + DENIED_WITHIN)):
        gap = source.gap(k)
        if gap >= STOP or (gap == COMMA and k > last + 1) or source.ends_clause(k):
            return False
        if source.words[k] in _DENIED_AFTER:
            # `stationär, nicht ambulant` and `Notfall: nein` differ in the mark between them
            return gap != COMMA or source.words[k] != "nicht"
    return False


def _is_conditional(source: Source, first: int) -> bool:
    for k in range(first - 1, max(-1, first - 5), -1):
        if source.gap(k + 1) >= COLON:
            return False
        if source.words[k] in _CONDITIONS:
            return True
    return False


def _is_choice(source: Source, field: str, place: range) -> bool:
    """`m/w`, `Notfall / dringlich / elektiv`: a form's choices side by side say nothing."""
    for i, neighbour in ((place[-1] + 1, place[-1] + 1), (place[-1], place[-1] - 1), (place[0], place[0] - 1)):
        if 0 < i < len(source) and 0 <= neighbour < len(source):
            offered = source.words[neighbour] in _choices(field) or source.words[neighbour] == "in"
            if offered and re.fullmatch(r"\s*[/|*]\s*|\(", source.glue(i)) and not _ticked_near(source, i):
                return True
    return False


def _ticked_near(source: Source, i: int) -> bool:
    return _ANY_BOX.search(source.glue(i)) is not None


def _is_unticked(source: Source, place: range) -> bool:
    """An empty box in front of the word; behind it where the line's boxes stand behind their words."""
    first, last = source.start[place[-1]], source.end[place[-1]]
    line_start = source.text.rfind("\n", 0, first) + 1
    line_end = source.text.find("\n", last)
    line = source.text[line_start : line_end if line_end >= 0 else len(source.text)]
    first_box = _ANY_BOX.search(line)
    if first_box is None:
        return False
    before, after = source.text[line_start:first], source.text[last : last + 5]
    leads = _EMPTY_BOX.search(before) or _FULL_BOX.search(before)
    label_end = line.find(":") if ":" in line[: first_box.start()] else -1
    if re.search(r"\w", line[label_end + 1 : first_box.start()]) is None:
        return _EMPTY_BOX.search(before) is not None
    if leads and not _ANY_BOX.match(after.lstrip()):
        return _EMPTY_BOX.search(before) is not None
    return re.match(r"\s*(?:\[\s?\]|[☐□◻○])", after) is not None


_BORN = re.compile(r"[\s,]*(?:\(|\*|geb\b|geboren|jg\b|jahrgang|\d{1,2}\.\s?\d{1,2}\.)", re.IGNORECASE)
_SALUTATION = {"m": frozenset(("herr", "herrn", "hr", "hrn")), "w": frozenset(("frau", "fr"))}
NAME_REACH = 8
"""Tokens behind a salutation in which the patient's name must stand: titles and first names between."""


def find_salutation(source: Source, value: str, surnames: tuple[str, ...]) -> Found | None:
    """`Herr`/`Frau` of the patient: before the patient's own name, or before a name with a birth date behind it."""
    named = [found for name in surnames if name and (found := Source(name)).words]
    for i in sorted(i for word in _SALUTATION[value] for i in source.word_places.get(word, ())):
        behind = range(i + 1, min(len(source), i + 1 + NAME_REACH))
        for k in behind:
            if (
                source.gap(k) >= STOP
                and source.words[k - 1] not in TITLES
                and source.words[k - 1] not in ("hr", "fr", "hrn")
            ):
                break
            if source.words[k] in SALUTATIONS or source.words[k] in ("kollege", "kollegin", "kollegen"):
                break
            if any(source.names[k : k + len(name)] == name.names for name in named) and _is_own(source, i, k):
                return Found(i, k, whole=True)
            if k > i + 1 and _BORN.match(source.view, source.end[k - 1]) and not _is_doctor(source, i, k):
                return Found(i, k - 1, whole=True)
    return None


def _is_own(source: Source, salutation: int, name: int) -> bool:
    """Between salutation and name only titles and words with capitals (first names)."""
    between = range(salutation + 1, name)
    return all(source.words[j] in TITLES or source.view[source.start[j]].isupper() for j in between)


def _is_doctor(source: Source, first: int, last: int) -> bool:
    return not all(source.view[source.start[j]].isupper() or source.words[j] in TITLES for j in range(first + 1, last))


def find_sex(source: Source, value: str, surnames: tuple[str, ...]) -> Found | None:
    """The patient's sex: by the table, or by the patient's own salutation."""
    return find_keyword(source, "patient.geschlecht", value) or find_salutation(source, value, surnames)
