"""Which date is the letter's own: every date is scored by the line it stands in and the words before it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bentos.embedded.kinds import kind_of
from bentos.embedded.letter import Sheet
from clinical.language import DateMention, dates_of

ENOUGH = 4.0
"""Evidence from which a date is taken to be the letter's; below, it stays null."""

_PLACE_BEFORE = re.compile(
    r"^(?:[^\W\d_a-zäöü][\w.()/'’-]*(?:\s(?:am|an|im|ob|bei|in|der|"
    r"[^\W\d_a-zäöü(][\w.()/'’-]*)){0,4},?\s*)?(?:,\s*)?(?:den|am|dem|vom|le|il)?\s*$"
)
_KIND_BEFORE = re.compile(r"\b(?:vom|v\.|von|dat\.)\s*$", re.IGNORECASE)
_OTHER_ROLE = re.compile(
    r"aufenthalt|aufnahme|eintritt|austritt|entlass|stationär|untersuch|\bop\b|operation|histolog|labor|bis\b|"
    r"seit\b|geb|\*|"
    r"termin|kontrolle|röntgen|\bct\b|\bmr|sono|ekg|befund vom|brief vom \d|wiedervorstell|ambulant|ambulanz|unfall|"
    r"sitzung|tumorboard",
    re.IGNORECASE,
)
_LABEL_BEFORE = re.compile(
    r"\b(?:datum|zuweisungsdatum|berichtsdatum|briefdatum|erstellt(?:\sam)?|ausgestellt(?:\sam)?|angefordert am|"
    r"erfasst|schreibdatum|ausgang|tag|datum\s?/\s?(?:unterschrift|visum)|"
    r"datum und unterschrift)\W{0,12}(?:(?:mo|di|mi|do|fr|sa|so)\w{0,9},?\s)?$",
    re.IGNORECASE,
)
_ARRIVED_BEFORE = re.compile(
    r"\b(?:gesendet|eingegangen|eingang|gedruckt|diktiert\w*|freigabe|übermittelt|angelegt(?:\sam)?)\b[^\d\n]{0,25}$",
    re.IGNORECASE,
)
_LONGEST_LINE = 90
_AROUND = 200
"""Characters of a line before and behind a date that are read: twice a line that may date a letter; a line of dates
alone is not read again for each of them."""


def letter_date(sheet: Sheet, dates: tuple[DateMention, ...], born: str | None = None) -> str | None:
    """The letter's date as ISO, or None where no date has enough evidence; never the birth date `born`."""
    best: tuple[float, str] | None = None
    for score, day in _scored(sheet, dates):
        if score >= ENOUGH and day != born and (best is None or score > best[0]):
            best = (score, day)
    return best[1] if best else None


def _scored(sheet: Sheet, dates: tuple[DateMention, ...]) -> Iterator[tuple[float, str]]:
    starts, at = [], 0
    for _ in sheet.lines:
        starts.append(at)
        at = sheet.text.find("\n", at) + 1 or len(sheet.text)
    n = 0
    for one in dates:
        while n + 1 < len(starts) and starts[n + 1] <= one.start:
            n += 1
        day = one.iso()
        if day is None or one.birth or one.end - one.start < 6:
            continue
        line = sheet.lines[n]
        first, last = one.start - starts[n], one.end - starts[n]
        yield (_score(sheet, n, line, line[max(0, first - _AROUND) : first], line[last : last + _AROUND]), day)


def _score(sheet: Sheet, n: int, line: str, before: str, behind: str) -> float:
    """Evidence that the date between `before` and `behind` on line `n` is the letter's own."""
    head = n < max(sheet.head_end, 1) or (sheet.greeting >= len(sheet.lines) and n < 14)
    foot = n >= sheet.closing
    text = before.strip(" \t|")
    if re.search(r"geb|\*\s*$", before[-14:], re.IGNORECASE):
        return 0.0
    if _LABEL_BEFORE.search(before):
        return 8.0 + head
    if _ARRIVED_BEFORE.search(before):
        return 5.0 + head if head or foot or len(line) < _LONGEST_LINE else 0.0
    if (
        len(line) < _LONGEST_LINE + 40
        and _KIND_BEFORE.search(before)
        and kind_of(before.rsplit("vom", 1)[0].strip(" -–,"))
        and (head or n < 12)
    ):
        return 7.5
    if len(line.strip()) > _LONGEST_LINE or _OTHER_ROLE.search(text[-40:]):
        return 0.0
    alone = not re.sub(
        r"^,?\s?(?:/\s?[\w.]{1,6}(?:[ /][\w.]{1,6})?|[A-Za-zäöü]{2,4}/[A-Za-zäöü]{1,4})$", "", behind
    ).strip(" .,;Uhr:0123456789")
    if (
        alone
        and text
        and _PLACE_BEFORE.match(text)
        and re.search(r",$|,\s*(?:den|am)$|^(?:den|am)$|\b(?:den|am)$", text)
    ):
        return 7.0 + head + foot
    if not text and alone:
        return (5.0 if head or foot else 2.0) + head + foot - (len(dates_of(line)) > 1)
    cell = re.search(r"(?:\s{2,}|\t|\|)\s*$", before) is not None or not text
    return 4.0 if head and cell and n < 8 and not dates_of(before) else 0.0
