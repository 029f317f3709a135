"""The patient of a letter: name and birth date, address, sex."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from clinical.claims import ends_in_relative
from clinical.letters.labels import label_of
from clinical.letters.layout import Labelled, LetterLayout
from clinical.letters.reader.names import (
    FIRST_NAMES,
    Name,
    doctor_in,
    given,
    is_name_word,
    leading_name,
    name_before,
    parse_name,
    ticked_salutation,
    ticked_word,
)
from clinical.letters.reader.parties import HOUSE, PLACE, place_in, segments, street_in
from clinical.text import WORD_EDGE, DateMention, dates_of

NEAR_HEAD = 12
"""Lines behind the salutation in which a letter introduces its patient."""

_BORN = re.compile(
    r"\*\s?(?=\d)|\bgeb(?:\.|oren(?:e[rn]?)?\b)?(?:\s?[-.]?dat(?:um)?\.?)?(?:\s(?:am|den))?\b|"
    r",\s?(?=\d{1,2}\.\s?\d{1,2}\.|(?:19|20)\d\d-\d\d-\d\d)|[\s(](?=\d{1,2}\.\d{1,2}\.(?:19|20)\d\d)",
    re.IGNORECASE,
)
_SPOKEN = re.compile(
    r"\b(?:Herrn?|Frau|Hr\.|Hrn\.|Fr\.|Sig\.)\s{1,2}(?:(?:Dr|Prof|Mag|DI|Dipl|Ing|med)[\w.-]*\s?){0,3}((?:(?:von|"
    r"van|de|zu|zur)\s)?[^\W\d_a-zäöü][\w'’-]+)(?:\s([^\W\d_a-zäöü][\w'’-]+))?(?!\s(?:von|van|de|zu|zur|der)\s)"
)
_INTRODUCED = re.compile(
    r"\b(?:Patient(?:in|en)?|Pat\.|Frau|Herrn?|Hr\.|Fr\.|Kind(?:es)?|Sig\.|Sig\.ra|Säugling|Mädchen|Knaben|"
    r"Versicherte[rn]?)[:,]?\s{0,2}"
    r"((?:(?:Dr|Prof|Mag|DI|Dipl|Ing|med|Herrn?|Frau)[\w.-]*\s?){0,4}[^\W\d_a-zäöü][^\n;:()*]{1,70})"
)
_MAIDEN = re.compile(r",?\s\(?(?:geb(?:\.|orene)|ledig|verw\.|verwitwete|gesch\.|vormals|née)\s(?=[A-ZÄÖÜ])[\w-]+\)?")
"""A name of birth, or a former one, behind the surname."""
_ORIGIN = re.compile(
    r"(?:^|,)\s?(?:(?:von|aus|heimatberechtigt in|Bürger(?:in)? von)\s[A-ZÄÖÜ][\w-]+|(?:Jg\.?|Jahrgang)\s?\d{4})(?=,)"
)
"""`von Glarus`, `Jg. 1961` between commas: where somebody is from, and no name."""
_REPORTED = re.compile(r"\bberichten\s(?:\w+\s){0,3}über\s(?=[A-ZÄÖÜ])([^\n;:()*]{5,70})")
_STREET = re.compile(r"(?:[Ss]tr(?:\.|aße|asse)?|weg|gasse|platz|allee|ring|hof|\b\w+)\s\d{1,4}\s?[a-z]?\b")
_GIVEN = re.compile(r"([^\W\d_a-zäöü][\w'’-]+)([ \t]*)")
_POSTCODE = re.compile(r"\d{4,5}\s+")
_DIVIDED = re.compile(r"\s*\|\s*|\s+/\s+|\t+")
_LINES_TO_BIRTH = 5
"""Lines below a name in which its birth date may stand: the address is between."""
_NUMBERED_PATIENT = re.compile(r"^(?:Pat(?:ient(?:in)?)?\b\.?)?[\s-]*(?:Nr|ID)\b[.:\s-]*\d+[,;:]?\s*")
_REFERRED = re.compile(r"^(?:Zuweisung|Überweisung|Einweisung|Anmeldung|Vorstellung|Patient(?:in)?)[:,]?\s+")
_TITLED = re.compile(r"^(?:Herrn?|Frau)?\s?(?:Dr|Prof|PD|Prim|OA|OÄ|Univ)\b")
_OF_POSTCODES = 8_000
"""Characters in which a letter's postcodes are counted."""
_NOBLE = re.compile(r"\b(?:Freifrau|Gräfin|Baronin)\s(?=[^\W\d_a-zäöü]\w+\s(?:von|zu)\s)")
_SEX_OR_AGE = re.compile(r"^\(?(?:[mwfMWF♀♂]|männl\w*\.?|weibl\w*\.?|\d{1,3}\s?(?:J\.?|Jahre))\)?$")
_COLLEAGUE = re.compile(r"^(?:Kolleg|Dr\b|Prof|Doz|PD\b|OA\b|Primar|Univ)", re.IGNORECASE)


def _named_cell(before: str) -> str:
    """The last cell of what stands before a birth date that is no sex or age."""
    cells = [one for one in re.split(r"\t+|\s{3,}|\||\s·\s", before.rstrip(" ,(*–-\t|·")) if one]
    while len(cells) > 1 and _SEX_OR_AGE.match(cells[-1].strip()):
        cells.pop()
    return cells[-1] if cells else ""


@dataclass(frozen=True, slots=True)
class NamedPatient:
    """The patient as the letter names them; `lines` around the name, where the address may stand."""

    name: Name | None
    born: str | None
    lines: range


class PatientReader:
    """Reads the patient of one sheet; `dates` are those of the sheet's text."""

    def __init__(self, sheet: LetterLayout, dates: tuple[DateMention, ...]) -> None:
        self.sheet, self.dates = sheet, dates
        self.starts = sheet.starts
        self.spoken = frozenset(
            found[1].split()[-1]
            for found in _SPOKEN.finditer(sheet.text)
            if not _COLLEAGUE.match(found[1]) and not found[2]
        )

    @cached_property
    def register(self) -> bool:
        """True if lists of people have the surname first: letters with Swiss or Austrian postcodes."""
        codes = [len(found[1]) for found in PLACE.finditer(self.sheet.text[:_OF_POSTCODES])]
        return 2 * codes.count(4) > len(codes)

    def read(self) -> NamedPatient:
        best: tuple[float, Name, int] | None = None
        for evidence, one, line in self._candidates():
            initial = one.first is not None and len(one.first.strip(".")) == 1
            score = evidence + (one.first is not None) + 0.5 * one.sure + (one.last in self.spoken) - 4 * initial
            if best is None or score > best[0]:
                best = (score, one, line)
        name = best[1] if best else None
        at = best[2] if best else 0
        if name is not None and name.first is None:
            name = self._with_first(name)
        return NamedPatient(name, self._born(at if best else None), range(max(0, at - 1), at + 6) if best else range(0))

    def _with_first(self, name: Name) -> Name:
        """A first name that stands beside the surname anywhere in the letter's first lines."""
        text, last = self.sheet.text[:3_000], name.last
        behind = (one for one in _GIVEN.finditer(text) if one[2] and text.startswith(last, one.end()))
        found = next((one for one in behind if WORD_EDGE.match(text, one.end() + len(last))), None)
        whole = parse_name(f"{found[1]} {name.last}") if found else None
        return whole if whole and whole.last == name.last and whole.first else name

    def _candidates(self) -> Iterator[tuple[float, Name, int]]:
        yield from self._labelled()
        yield from self._beside_birth()
        yield from self._introduced()
        yield from self._in_cells()
        yield from self._on_lines()
        yield from self._addressed()

    def _labelled(self) -> Iterator[tuple[float, Name, int]]:
        sheet = self.sheet
        mine = [one for one in sheet.labelled if one.owner in (None, "patient")]
        last = next((one for one in mine if one.field == "nachname" and one.value), None)
        first = next((one for one in mine if one.field == "vorname" and one.value), None)
        if last and first and (name := parse_name(f"{last.value}, {first.value}")):
            yield 12, name, last.at
        for one in mine:
            if one.field in ("patient", "betreff") or (one is last and not first):
                yield from self._value(one)

    def _value(self, one: Labelled) -> Iterator[tuple[float, Name, int]]:
        cells = [_MAIDEN.sub("", _NUMBERED_PATIENT.sub("", _REFERRED.sub("", cell))) for cell in one.cells]
        cells = [re.sub(r"^\d{1,2}\.\s?\d{1,2}\.\s?\d{2,4}\s+", "", cell) for cell in cells]
        if not cells:
            return
        cells[0] = re.sub(r"(?<=[^\W\d_])\s/\s(?=[^\W\d_a-zäöü])", ", ", cells[0])
        register = one.field == "patient" and (len(one.cells) > 1 or self.register)
        whole = parse_name(cells[0], self.spoken, register)
        if (
            whole is not None
            and whole.first is None
            and len(cells) > 1
            and (both := parse_name(f"{cells[0]}, {cells[1]}"))
        ):
            yield 9, both, one.at
        elif whole is not None and whole.first is None and (under := self._below(one)):
            yield 8, Name(whole.last, under), one.at
        elif whole is not None:
            yield ((9 if whole.first else 4) - (one.field == "nachname" and not whole.first), whole, one.at)

    def _below(self, one: Labelled) -> str | None:
        """The first name on the line under a surname that stands alone."""
        lines = self.sheet.lines[one.at + 1 : one.at + 3]
        if one.field != "patient" or len(lines) < 2 or not lines[0].strip().startswith(one.value):
            return None
        cell = re.split(r"\s{3,}|\t|,", lines[1].strip())[0]
        words = cell.split()
        if not words or len(words) > 2 or label_of(cell) or not all(map(is_name_word, words)):
            return None
        sure = all(word.lower() in FIRST_NAMES for word in words)
        return (
            cell
            if sure or (len(lines) > 1 and self._born_within(one.at + 2, 3) and len(one.value.split()) < 3)
            else None
        )

    def _born_within(self, first: int, count: int) -> bool:
        return any(first <= at < first + count for at in self._births)

    def _beside_birth(self) -> Iterator[tuple[float, Name, int]]:
        """A name right before a birth date or its mark, in the head, the introduction or a line of its own."""
        sheet = self.sheet
        last_line = max(sheet.greeting if sheet.greeting < len(sheet.lines) else 0, 0) + NEAR_HEAD
        for n in sheet.budget.each(range(min(len(sheet.lines), max(last_line, 40)))):
            line = _ORIGIN.sub("", _MAIDEN.sub("", self._whole_line(n)))
            previous = sheet.lines[n - 1][-80:] if n else ""
            for mark in _BORN.finditer(line):
                before = _named_cell(line[: mark.start()])
                if not before.strip() and n:
                    before = previous.rstrip(" ,(*")
                before = re.sub(r"\s?[,(]?\s?\b[mwfMWF]\)?$|\s\((?:m|w)\)$", "", before).rstrip(" ,(")
                if ends_in_relative(before[: max(0, len(before) - 1)][-60:].rsplit(" ", 3)[0]):
                    continue
                run = name_before(before)
                if any(before.startswith(run, postcode.end()) for postcode in _POSTCODE.finditer(before)):
                    continue
                name = parse_name(run, self.spoken, self.register and run == before.rpartition(":")[2].strip())
                weak = mark.group().strip() in (",", "")
                if name is not None and name.first is not None:
                    yield 8 - 2 * weak - (n > last_line), name, n
                elif name is not None and not weak:
                    both = self._on_two_lines(name.last, n) if run == line[: mark.start()].strip(" ,\t") else None
                    yield (7, both, n) if both else (3, name, n)

    def _whole_line(self, n: int) -> str:
        """The line, with what it is divided from at a hyphen: `Kern-` and `Huber` of the next one."""
        line, lines = _NOBLE.sub("Frau ", self.sheet.lines[n][:600]), self.sheet.lines
        if n and re.search(r"[^\W\d_]-$", lines[n - 1]) and line.lstrip()[:1].isupper():
            return lines[n - 1].strip()[-120:] + line.lstrip()
        behind = lines[n + 1].lstrip()[:120] if n + 1 < len(lines) else ""
        return line + behind if re.search(r"[^\W\d_]-$", line) and behind[:1].isupper() else line

    def _on_two_lines(self, alone: str, n: int) -> Name | None:
        """Surname and first name on two lines of a card, the birth date behind one of them, the address below."""
        above, below, street = (
            (self.sheet.lines[at].strip() if 0 <= at < len(self.sheet.lines) else "") for at in (n - 1, n + 1, n + 2)
        )
        if given(alone) > 1 and len(above.split()) == 1 and (over := parse_name(above)) and given(above) <= 0:
            return Name(over.last, alone)
        words = below.split()
        if 1 <= len(words) <= 2 and all(is_name_word(word) and given(word) >= 0 for word in words):
            return Name(alone, below) if given(words[0]) > 1 or _STREET.search(street) else None
        return None

    def _introduced(self) -> Iterator[tuple[float, Name, int]]:
        """`unsere Patientin Anna Kern`, `Herrn Kern`: in the subject line or right behind the salutation."""
        sheet = self.sheet
        first = sheet.greeting + 1 if sheet.greeting < len(sheet.lines) else 0
        for n in range(first, min(len(sheet.lines), first + NEAR_HEAD)):
            line = self._whole_line(n)
            for found in _INTRODUCED.finditer(line):
                run = leading_name(found[1])
                if sheet.greeting >= len(sheet.lines) and _TITLED.match(found[1]):
                    continue  # a doctor of the letterhead
                if not run or _COLLEAGUE.match(run) or ends_in_relative(line[: found.start()]):
                    continue
                name = parse_name(run, self.spoken)
                if name is not None:
                    yield (6.0 if name.first else 2.5) - 0.1 * (n - first), name, n
            told = _REPORTED.search(line)
            name = parse_name(leading_name(told[1]), self.spoken) if told else None
            if name is not None and name.first is not None and given(name.first.split()[0]) > 1:
                yield 6.0, name, n

    @cached_property
    def _births(self) -> frozenset[int]:
        """The lines of dates said to be of birth, else of the oldest date, where it is years before the others."""
        said = frozenset(self._line_of(one) for one in self.dates if one.birth)
        years = sorted({int(day[:4]) for one in self.dates if (day := one.iso(birth=True))})
        if said or not years or (len(years) > 1 and years[1] - years[0] < 1):
            return said
        oldest = (one for one in self.dates if (one.iso(birth=True) or "").startswith(str(years[0])))
        return frozenset(self._line_of(one) for one in oldest)

    def _on_lines(self) -> Iterator[tuple[float, Name, int]]:
        """A name alone on its line, or surname and first name on two, above address and birth date."""
        sheet = self.sheet
        for n in range(min(len(sheet.lines), 40)):
            if not any(0 < at - n <= _LINES_TO_BIRTH for at in self._births) or not sheet.lines[n].strip():
                continue
            line = re.split(r"\s{3,}|\t|\s\|\s", sheet.lines[n].strip())[0]
            told = re.sub(r"^(?:für\s)?(?:Frau|Herrn?)\s", "", line)
            name = parse_name(told, self.spoken, self.register) if len(line) < 50 and not doctor_in(line) else None
            if name is None or _COLLEAGUE.match(told) or HOUSE.search(line):
                continue
            if name.first is not None and max(given(name.first.split()[0]), given(name.last)) > 0.5:
                yield 4.5, name, n
            below = sheet.lines[n + 1].strip()
            card = line.isupper() and not below.isupper() and n + 2 in self._births and is_name_word(below)
            if name.first is None and len(below.split()) == 1 and (given(below) > 1 or card):
                yield 4.0, Name(name.last, below), n

    def _in_cells(self) -> Iterator[tuple[float, Name, int]]:
        """`Kern, Anna` as a cell of its own in a form's head, with a birth date within four lines."""
        sheet = self.sheet
        for n in range(min(len(sheet.lines), 24)):
            if not any(abs(n - at) <= 4 for at in self._births):
                continue
            cells = [cell.strip() for cell in _DIVIDED.split(sheet.lines[n][:300])]
            for one, other, day in zip(cells, cells[1:], cells[2:], strict=False):
                if dates_of(day) and (both := parse_name(f"{one.rpartition(': ')[2]}, {other}")) and both.first:
                    ordered = parse_name(f"{both.last} {both.first}", self.spoken, register=True)
                    yield 6.0, ordered or both, n
            for cell in re.split(r"\t+|\s{2,}|\|", sheet.lines[n][:300].strip()):
                name = parse_name(cell) if cell.count(",") == 1 and len(cell.split()) <= 4 else None
                if name is not None and name.first is not None:
                    yield 4.0, name, n

    def _addressed(self) -> Iterator[tuple[float, Name, int]]:
        """A letter that is sent to its patient: a block of a plain name and an address, and no other patient named."""
        sheet = self.sheet
        for block in sheet.blocks(0, min(sheet.head_end, 40)):
            lines = [sheet.lines[n].strip() for n in block]
            plain = re.sub(r"^(?:Herrn?|Frau)\s*", "", lines[0]) or (lines[1] if len(lines) > 1 else "")
            name = parse_name(plain) if len(lines) > 1 and not doctor_in(plain) and len(plain) < 45 else None
            if name is not None and name.first and any(PLACE.match(" " + line) for line in lines[1:4]):
                yield 2.0, name, block.start

    def _line_of(self, one: DateMention) -> int:
        return bisect_right(self.starts, one.start) - 1

    def _born(self, at: int | None) -> str | None:
        """The date said to be of birth; else the one right behind the patient's name."""
        labelled = [one for one in self.dates if one.birth]
        if labelled:
            near = [
                one
                for one in labelled
                if at is not None and self.starts[at] <= one.start < self.starts[min(at + 7, len(self.starts) - 1)]
            ]
            return (near or labelled)[0].iso(birth=True)
        told = next((one for one in self.dates if self._told_behind(one)), None)
        if told is not None:
            return told.iso(birth=True)
        if at is None:
            return None
        alone = label_of(self.sheet.lines[at].strip(" :")) is not None
        end = self.starts[min(at + 2 + alone, len(self.starts) - 1)]
        beside = [one for one in self.dates if self.starts[at] <= one.start < end]
        return beside[0].iso(birth=True) if beside and self._is_bare(beside[0], at) else None

    def _told_behind(self, one: DateMention) -> bool:
        return re.match(r"\W{0,3}geboren", self.sheet.text[one.end : one.end + 12]) is not None

    def _is_bare(self, one: DateMention, at: int) -> bool:
        """Nothing but the name, its cells and its commas stands before the date, and no other role is named."""
        before = self.sheet.text[max(self.starts[at], one.start - 40) : one.start]
        return re.search(r"\b(?:vom|von|ab|am|bis|seit|Datum|Aufnahme|Eintritt|ED|OP|stat)\b\W*$", before) is None


_LIVES = re.compile(
    r"\b(?:wohnhaft|wh\.|wohnh\.|wohnt(?:\s\w+)?(?=\s(?:in|an)\b)|whft\.?|aus(?=\s(?:der|dem)\s[A-ZÄÖÜ]\w+\s\d)|"
    r"aus(?=\s[A-ZÄÖÜ][\wäöü]+\s?(?:\(|"
    r",)))\s*(?:der\s+|dem\s+|in\s+der\s+|an\s+der\s+|in\s+|an\s+|am\s+)?([^\n]{3,90})"
)


_DAY = re.compile(r"[(*]{0,2}\b\d{1,2}\.\s?\d{1,2}\.\s?\d{2,4}\b\)?")
_BEFORE_PLACE = re.compile(r"(?<=\d)\s(?:in\s)?(?=\d{4,5}\s[A-ZÄÖÜ])")
"""Between a house's number and a postcode on the same line."""


class AddressReader:
    """Reads the patient's address of one sheet."""

    def __init__(self, sheet: LetterLayout) -> None:
        self.sheet = sheet

    def read(self, found: NamedPatient) -> tuple[str | None, str | None, str | None]:
        """(street, postcode, place): behind wohnhaft, in the labelled address, or around the name."""
        sheet = self.sheet
        if lives := _LIVES.search(sheet.text[:6_000]):
            pieces = segments(
                re.split(
                    r",\s(?:der|die|das|welche\w*|in)\s|(?<!tr)(?<!\bSt)(?<!Bgm)\.\s|\sin(?=\s\d{4})|;",
                    lives[1].replace("-", " ", 0),
                )[:2]
            )
            plz, ort = place_in(pieces)
            street = street_in(pieces)
            if plz or street:
                return street, plz, ort
            village = re.match(r"([^\W\d_a-zäöü][\w.-]+(?:\s[^\W\d_a-zäöü][\w.-]+)?)\s*(?:\(|,|$|\.)", lives[1])
            if village:
                return None, None, village[1]
        mine = [one for one in sheet.labelled if one.owner in (None, "patient")]
        pieces = [
            piece
            for one in mine
            if one.field in ("adresse", "strasse", "wohnort", "plz")
            for piece in segments([*one.cells, " ".join(one.cells[1:3])])
        ]
        if pieces:
            street, (plz, ort) = street_in(pieces), place_in(pieces)
            if street or plz:
                return street, plz, ort
        return self._around(found)

    def _around(self, found: NamedPatient) -> tuple[str | None, str | None, str | None]:
        if found.name is None or not found.lines:
            return None, None, None
        at = found.lines.start + (
            found.lines.start + 1 < found.lines.stop and not self._named_in(found.name, found.lines.start)
        )
        rows: list[str] = []
        for n in range(at, min(found.lines.stop, len(self.sheet.lines))):
            line = self.sheet.lines[n]
            if rows and (
                not line.strip()
                or any(one.at == n and one.owner in ("absender", "empfaenger") for one in self.sheet.labelled)
            ):
                break
            rows.append(line[:600])
            if len(line) > 200:
                break
        text = "\n".join(rows)
        start = text.find(found.name.last)
        told = _DAY.sub(" , ", text[max(0, start) :].replace(found.name.last, f"{found.name.last} , ", 1))
        pieces = segments(_BEFORE_PLACE.sub(", ", told).split("\n"))
        plz, ort = place_in(pieces)
        return (street_in(pieces), plz, ort) if plz else (None, None, None)

    def _named_in(self, name: Name, n: int) -> bool:
        return name.last in self.sheet.lines[n]


_WOMAN = re.compile(
    r"\bPatientin\b|\bMädchen\b|\bPat(?:ientin)?in\b|\bVersicherte:|\bgemeinsame Pat\b|\bdie (?:o\.\s?g\.\s)?Pat\.",
    re.IGNORECASE,
)
_MAN = re.compile(
    r"\b(?:der|den|dem|des|unsere?[nmrs]?|Ihre?[nmrs]?|mein|dieser|folgende[nmr]?|gemeinsamen|genannten|meinen|"
    r"diesen)\s(?:o\.\s?g\.\s|oben "
    r"genannten\s|gemeinsamen\s|deutschsprachigen\s)?Pat(?:ient(?:en)?\b(?!in)|\.(?!in))"
    r"|\b(?:Junge|Knabe|Bub)\b|\b(?:Ihre[nm]|unsere[nm])\s(?:kleinen|jungen|gemeinsamen)\sPatienten\b|"
    r"\bHerr Pat|\bder Pat\.|\b(?:über|von)\s(?:o\.\s?g\.|obgenannten|oben genannten)\sPatienten\b"
)
_SEX_CELL = re.compile(
    r"^\(?\s?(?:(w|weibl\.?|weiblich|f|♀|frau)|(m|männl\.?|männlich|♂|herrn?|hr\.))\s?\)?$", re.IGNORECASE
)
_SEX_NEAR = re.compile(r"[\s,;(|/](?:(weiblich|w|W|♀)|(männlich|m|M|♂))(?=[\s,;)|]|$)")


_SEX_BEHIND_DAY = re.compile(
    r"(?:\d{1,2}\.\s?\d{1,2}\.\s?(?:\d{4}|\d{2})|\d{4}-\d\d-\d\d)\)?[\s/,;|(]{1,6}(?:(w|W|weibl\w*)|(m|M|"
    r"männl\w*))\b(?![/.])"
)


def stated_sex(sheet: LetterLayout, name: Name | None, lines: range) -> str | None:
    """m or w as stated: by label, beside the name, by the patient's own salutation, by Patientin and Patient."""
    said = (
        ticked_salutation(sheet.lines[:60])
        or ticked_word(sheet.value("geschlecht") or "")
        or sheet.value("anrede")
        or ""
    )
    if found := re.match(r"\(?(?:(w\b|weib|f\b|frau)|(m\b|männ|herr))", said.strip().lower()):
        return "w" if found[1] else "m"
    for n in lines:
        for cell in segments(sheet.lines[n : n + 1]):
            named = name is not None and name.last in sheet.lines[n]
            one = _SEX_CELL.match(cell) or (_SEX_NEAR.search(cell) if named else None)
            if one:
                return "w" if one[1] else "m"
    for n in lines:
        if n < len(sheet.lines) and (beside := _SEX_BEHIND_DAY.search(sheet.lines[n][:200])):
            return "w" if beside[1] else "m"
    women, men = (len(_WOMAN.findall(sheet.text)), len(_MAN.findall(sheet.text)))
    return "w" if women > 2 * men else "m" if men > 2 * women else None
