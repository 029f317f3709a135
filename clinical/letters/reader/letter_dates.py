"""Find the letter's own date: the role of each date follows from its label, its cell and the line it stands in.

Roles in falling weight: written (`Datum`, `erstellt am`), place and day, the title's day, a day alone in the head,
released or signed, printed or sent, dictated, arrived, the transmission line of a fax.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from clinical.letters.labels import key
from clinical.letters.layout import LetterLayout
from clinical.letters.reader.kinds import kind_of
from clinical.text import DateMention, dates_of

ENOUGH = 4.0
"""Evidence from which a date counts as the letter's; below, it stays null."""
WRITTEN, PLACED, TITLED, ALONE, RELEASED, SENT, DICTATED, ARRIVED, FAXED = 8.0, 7.0, 7.5, 5.0, 5.5, 5.0, 4.6, 4.4, 4.2
"""Evidence by role, before what head and foot of the letter add."""

_PLACE_BEFORE = re.compile(
    r"^(?:[^\W\d_a-zäöü][\w.()/'’-]*(?:\s(?:am|an|im|ob|bei|in|der|"
    r"[^\W\d_a-zäöü(][\w.()/'’-]*)){0,4},?\s*)?(?:,\s*)?(?:den|am|dem|vom|le|il)?\s*$"
)
_KIND_BEFORE = re.compile(r"\b(?:vom|v\.|von|dat\.)\s*$", re.IGNORECASE)
OTHER_ROLE = re.compile(
    r"aufenthalt|(?<!not)aufnahme|eintritt|austritt|entlass|stationär|untersuch|\bop\b|operation|histolog|labor|bis\b|"
    r"seit\b|\bgeb|\*|entnahme|verlegung|ankunft|konsultation|behandlung|verordnung|"
    r"termin|kontrolle|röntgen|\bct\b|\bmr|sono|ekg|befund vom|brief vom \d|wiedervorstell|ambulant|ambulanz|unfall|"
    r"sitzung|tumorboard",
    re.IGNORECASE,
)
"""Words before a day that say what else happened on it."""
_OF_EVENTS = (
    r"(?:geburts|aufnahme|eintritts|austritts|entlass\w*|op|operations|eingriffs|untersuchungs|unfall|entnahme|"
    r"eingangs|behandlungs|verlegungs|todes|sterbe|ablauf|impf|beginn|end|druck|ankunfts|verfalls|geb\.?|behandlungs)"
)
_BETWEEN = (
    r"(?:[\s/,.:|_-]*(?:zeit|uhrzeit|ort|unterschrift|visum|stempel|kürzel|und|am|anforderung|zuweisung|überweisung|"
    r"einweisung|anmeldung|erstellung|der|des|von|d\.|"
    r"(?:mo|di|mi|do|fr|sa|so)(?:\w{0,9})?\.?)\b\.?)*[\s/,.:|_-]{0,40}(?:[^\W\d_a-zäöü][\w.-]{2,24},?\s(?:den\s|"
    r"am\s)?)?$"
)
_LABEL_BEFORE = re.compile(
    rf"(?<![\w-])(?:(?!{_OF_EVENTS}-?dat)[\w-]{{0,30}}datum(?:\s(?:der|des|dieses|d\.)\s(?:Anmeldung|Schreibens|"
    rf"Briefs?|"
    r"Berichts?|Zuweisung|Überweisung|Einweisung|Ausstellung|Erstellung|Befundes|Anforderung|Verordnung|Unterschrift|"
    r"Dokuments?))?|dat\.|date|erstellt|ausgestellt|angefordert\sam|geschrieben|verfasst|"
    r"erfasst|ausgang|tag|(?:bericht|brief|schreiben|befund(?:bericht)?|erstell\w+|ausgefertigt)\svom\s?:)" + _BETWEEN,
    re.IGNORECASE,
)
_RELEASED_BEFORE = re.compile(
    r"\b(?:freigegeben|freigabe|signiert|vidiert|vidierung|visiert|validiert|unterzeichnet|unterschrieben|"
    r"gezeichnet)\b[^\d\n]{0,60}$",
    re.IGNORECASE,
)
_RELEASED_BEHIND = re.compile(
    r"^[^\n.;]{0,40}\b(?:freigegeben|erstellt|signiert|vidiert|validiert|unterzeichnet|unterschrieben|ausgestellt|"
    r"gedruckt)\b",
    re.IGNORECASE,
)
_SENT_BEFORE = re.compile(
    r"\b(?:gesendet|gedruckt|druckdatum|ausdruck|e?-?mail|versandt?|übermittelt|angelegt(?:\sam)?)\b[^\d\n]{0,25}$",
    re.IGNORECASE,
)
_DICTATED_BEFORE = re.compile(r"\b(?:diktiert\w*|diktat\w*)\b[^\d\n]{0,25}$", re.IGNORECASE)
_ARRIVED_BEFORE = re.compile(r"\b(?:eingegangen|eingang|eingangsdatum)\b[^\d\n]{0,25}$", re.IGNORECASE)
_FAX = re.compile(r"^\W{0,6}(?:tele)?fax\b|\bfax\b.*\b(?:seite|s\.|von|an|p\.)\s?:?\s?\d", re.IGNORECASE)
_LONGEST_LINE = 90
_AROUND = 200
"""Characters of a line before and behind a date that are read: twice a line that may date a letter; a line of dates
alone is not read again for each of them."""
_CELLS = re.compile(r"\t+|\s{3,}|\s*\|\s*|\s·\s")
_MARKS_BEHIND = re.compile(
    r"^,?\s{0,3}(?:/\s?[\w.-]{1,6}(?:,?[ /][\w.]{1,6})?|(?:diktiert|geschrieben)\b.{0,60}|"
    r"[A-Za-zäöü]{2,4}/[A-Za-zäöü]{1,4}|"
    r"\((?:\w+\s)?(?:diktiert|geschrieben)[^)]*\))$"
)
"""Initials of who dictated and who wrote."""
_TIME = re.compile(r"^,?\s{0,3}(?:um\s)?\d{1,2}[:.]\d\d(?:\s?(?:Uhr|h)\b)?")
_WEEKDAY = re.compile(
    r"(?:\b(?:Mo|Di|Mi|Do|Fr|Sa|So)|(?:Mon|Diens|Donners|Frei|Sams|Sonn)tag|Mittwoch|Sonnabend)[.,]{0,2}\s*$"
)
_LAST_LINES = 4
"""Lines at the end of a letter in which a day and a name are its signature."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Place of a date: its line, the text of its cell before and behind it, the whole line before it."""

    n: int
    line: str
    before: str
    behind: str
    line_before: str


def letter_date(sheet: LetterLayout, dates: tuple[DateMention, ...], born: str | None = None) -> str | None:
    """The letter's date as ISO, or None where no date has enough evidence; never the birth date `born`."""
    return _Dater(sheet, dates, born).best()


class _Dater:
    def __init__(self, sheet: LetterLayout, dates: tuple[DateMention, ...], born: str | None) -> None:
        self.sheet, self.dates, self.born = sheet, dates, born

    def best(self) -> str | None:
        found: tuple[float, str] | None = None
        for one, place in self._placed():
            day = one.iso()
            if day is None or one.birth or self.born in (day, one.iso(birth=True)):
                continue
            score = self._score(place)
            if score >= ENOUGH and (found is None or score > found[0]):
                found = (score, day)
        return found[1] if found else None

    def _placed(self) -> Iterator[tuple[DateMention, _Place]]:
        counted: Counter[int] = Counter()
        starts, n = self.sheet.starts, 0
        for one in self.dates:
            while n + 1 < len(starts) and starts[n + 1] <= one.start:
                n += 1
            counted[n] += 1
            if counted[n] > DATES_OF_LINE:
                continue
            line = self.sheet.lines[n]
            first, last = one.start - starts[n], one.end - starts[n]
            before, behind = line[max(0, first - _AROUND) : first], line[last : last + _AROUND]
            cell = _CELLS.split(before)[-1]
            yield one, _Place(n, line, cell, _CELLS.split(behind)[0].rstrip(), before)

    @cached_property
    def _last(self) -> frozenset[int]:
        return frozenset([n for n, line in enumerate(self.sheet.lines) if line.strip()][-_LAST_LINES:])

    def _is_head(self, n: int) -> bool:
        greeting = self.sheet.greeting
        greeted = greeting < len(self.sheet.lines)
        return n < max(self.sheet.head_end, 1, min(greeting, GREETED_LINES) if greeted else 14)

    def _score(self, place: _Place) -> float:
        """Evidence that the date is the letter's own."""
        head, foot = self._is_head(place.n), place.n >= self.sheet.closing or place.n in self._last
        if _FAX.search(place.line[:LINE_OF_FAX]):
            return FAXED
        if _LABEL_BEFORE.search(place.line_before) or self._under_label(place):
            return WRITTEN + head
        noted = self._noted(place, head, foot)
        if noted is not None:
            return noted
        if self._is_titled(place, head):
            return TITLED
        if len(place.before + place.behind) > _LONGEST_LINE or OTHER_ROLE.search(_role(place)[-40:]):
            return self._signing(place)
        return self._alone(place, head, foot) or self._signing(place)

    def _signing(self, place: _Place) -> float:
        """The day at the end of a signature with its address on one line."""
        ends = place.n in self._last and not place.behind.strip(" .") and place.line_before.rstrip().endswith(",")
        return ENOUGH if ends else 0.0

    def _noted(self, place: _Place, head: bool, foot: bool) -> float | None:
        """Released, sent, dictated or arrived: what a system or a secretary notes."""
        if (_RELEASED_BEFORE.search(place.line_before) or _RELEASED_BEHIND.match(place.behind)) and (head or foot):
            return RELEASED
        near = head or foot or len(place.line) < _LONGEST_LINE
        for pattern, evidence in ((_SENT_BEFORE, SENT), (_DICTATED_BEFORE, DICTATED), (_ARRIVED_BEFORE, ARRIVED)):
            if pattern.search(place.line_before):
                return evidence if near else 0.0
        return None

    def _is_titled(self, place: _Place, head: bool) -> bool:
        """`Austrittsbericht vom 3.4.2026`, `Verlaufsbericht 3.4.2026`: the day of the title."""
        if len(place.line) >= _LONGEST_LINE + 40 or not (head or place.n < 12) or OTHER_ROLE.search(_label(place)):
            return False
        title = place.line_before.strip(" -–,")
        if _KIND_BEFORE.search(place.line_before):
            return bool(kind_of(title.rsplit("vom", 1)[0].strip(" -–,")))
        return kind_of(title) is not None and len(title.split()) < 4

    def _under_label(self, place: _Place) -> bool:
        """The line above is `Datum`, or a row of references with `Datum` above this cell."""
        if place.n == 0:
            return False
        above = [one for one in re.split(r"\t+|\s{2,}", self.sheet.lines[place.n - 1].strip()) if one]
        alone = not place.line_before.strip()
        return alone == (len(above) == 1) and key((above or [""])[-1]) in _WRITTEN_LABELS

    def _alone(self, place: _Place, head: bool, foot: bool) -> float:
        """Place and day, or a day alone in its cell, in the head or at the foot."""
        text = place.before.strip(" \t|") or (place.line_before.strip() if len(place.line_before.strip()) < 4 else "")
        text = _WEEKDAY.sub("", text).strip()
        alone = not _MARKS_BEHIND.sub("", _TIME.sub("", place.behind)).strip(" .,;Uhr:0123456789")
        told = re.search(r",$|,\s*(?:den|am)$|^(?:den|am)$|\b(?:den|am)$", text)
        if alone and text and told and _PLACE_BEFORE.match(text) and (head or foot or "," in told[0]):
            return PLACED + head + foot
        others = len(dates_of(place.line[: 2 * _AROUND])) > 1
        if not text and alone and not place.line_before.strip():
            return (ALONE if head or foot else 2.0) + head + foot - others
        ends = (head and place.n < HEAD_LINES) or place.n in self._last
        return ENOUGH if ends and alone and not text else 0.0


def _label(place: _Place) -> str:
    """Label of a date: the words before it in its cell, up to a colon; "" where there is none."""
    return place.before.strip() if place.before.rstrip().endswith(":") else ""


def _role(place: _Place) -> str:
    """Words that say what happened on a date: those of its cell, or the short cell before it. A longer one is a line of
    the letterhead or a title, beside which the letter's day stands."""
    if place.before.strip():
        return place.before.strip()
    before = [one for one in _CELLS.split(place.line_before) if one.strip()]
    return before[-1].strip() if before and (before[-1].rstrip().endswith(":") or len(before[-1].split()) < 3) else ""


_WRITTEN_LABELS = frozenset(
    ["datum", "berichtsdatum", "briefdatum", "erstelltam", "ausgestelltam", "datumvisum", "datumunterschrift"]
)
DATES_OF_LINE = 8
"""Dates of one line that are looked at: a line with more is a table and dates no letter."""
GREETED_LINES = 30
"""Lines before a greeting that are still a letter's head."""
HEAD_LINES = 16
"""Lines of a head in which a day at the end of a line may be the letter's."""
LINE_OF_FAX = 160
"""Characters of a transmission line."""
