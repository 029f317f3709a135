"""Drugs of a line: by dose and scheme; lists of them up to where they end, tables without their head.

Knows units and schemes, and no drug.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from clinical.claims import either
from clinical.letters.reader.entries import NO_ITEM, VERB
from clinical.letters.reader.sentences import divided, sentences

_DOSE = (
    r"\d+(?:[.,]\d+)?\s?(?:mg|g|µg|μg|ug|mcg|ml|IE|I\.E\.|IU|E|Einh\w*|gtt|Tr(?:opfen|pf)?|Hub|Hübe|Tbl|Tabl\w*|Kps|"
    r"Kapsel\w*|Beutel|Btl|Amp\w*|"
    r"Stk|Sachet|Mio|mval|mmol|%|Esslöffel|EL|TL|ug/h|µg/h|mg/h)\b\.?"
)
_SCHEME = (
    r"(?<=\s)[\d½](?:\s[\d½]){2,3}(?=\s|$)|\b[\d½]x[\d½]\b|"
    r"(?<![\d.])[\d½¼¾]+(?:[./,]\d+)?\s?[-–/]\s?[\dO½¼¾]+(?:[./,]\d+)?\s?[-–/]\s?[\dO½¼¾]+|"
    r"\b\d+(?:-\d+)?\s?[x×X]\s?(?:\d|tgl|täglich|tägl|/|wöch|pro|am Tag|Woche)|"
    r"\b(?:1x|2x|3x)"
)
_IN_WORDS = (
    r"täglich|\btgl\b|bei Bed|b\.\s?B|b\. Bedarf|zur Nacht|in Reserve|morgens|abends|pausiert|nach INR|"
    r"einmal jährlich|alle \d"
)
_DENIED = re.compile(rf"(?:{either('@denying', '@answered_no')})\b", re.IGNORECASE)
_TABLE_HEAD = re.compile(
    r"wirkstoff|medikament|präparat|handelsname|stärke|dosis|dosierung|morgens?|mittags?|abends?|nachts?|"
    r"zur nacht|form|"
    r"einheit|hinweise?|grund|bemerkung(?:en)?|mo|mi|ab|na|arzneimittel|einnahme|dauer|bis",
    re.IGNORECASE,
)
_BY_COLUMN = re.compile(r"(?:\s{2,}|\t|\s*\|\s*)")
_DRUG = re.compile(rf"(?=[\d½¼¾])(?:{_DOSE}|{_SCHEME})|(?=[abeimnptz])(?:{_IN_WORDS})", re.IGNORECASE)
STRICT_DRUG = re.compile(
    rf"^(?:[-•*]\s*)?(?:\d+\s?(?:mg|µg)\s|[^\W\d_][^,;:]{{1,60}}?)\s*(?:{_DOSE}|"
    rf"(?<![\d.])[\d½]+[-–/][\dO½]+[-–/][\dO½]|\d\s?x\s?(?:\d|tgl|täglich))",
    re.IGNORECASE,
)
_ISO_DAY = re.compile(r"\b(?:19|20)\d\d-\d\d-\d\d\b")


def is_dosed(text: str) -> bool:
    """True if a text has a dose or a frequency of intake."""
    return _DRUG.search(text) is not None


def drug_part(lines: Sequence[str]) -> list[str]:
    """The lines up to where the list of drugs ends: behind an empty line only what looks like a drug goes on."""
    kept: list[str] = []
    gap = False
    for line in lines:
        text = line.strip()
        if not text:
            gap = bool(kept)
            continue
        if gap and not _DRUG.search(text):
            break
        if kept and _NOT_TAKEN.search(text):
            continue
        if kept and VERB_OF_PROSE.search(text) and not _DRUG.search(text):
            break
        gap = False
        kept.append(line)
    return kept


_NOT_TAKEN = re.compile(
    rf"\b(?:{either('@denying')})\b[^,;]{{0,30}}$|^(?:abgesetzt|gestoppt|pausiert|sistiert)\s?:|\b(?-i:STOPP?)$",
    re.IGNORECASE,
)
"""A line among drugs that names one which is not taken."""
VERB_OF_PROSE = re.compile(r"\b(?:ich|wir|bitte|bitten|danke|empfehle|überweise)\b", re.IGNORECASE)
"""Words that show a line under a list of drugs to be a sentence of the letter."""


def tabled(lines: Sequence[str]) -> list[str]:
    """Rows of a table of drugs as one line each: its head row is dropped, the cells of a row are set side by side."""
    rows = [[cell.strip() for cell in _BY_COLUMN.split(line.strip()) if cell.strip()] for line in lines]
    heads = [
        len(row) > 2 and sum(_TABLE_HEAD.fullmatch(cell) is not None for cell in row) > len(row) / 2 for row in rows
    ]
    if not any(heads):
        return list(lines)
    return [" ".join(row) for row, head in zip(rows, heads, strict=True) if not head]


def _taken_now(text: str) -> list[str]:
    """A running list of drugs up to the first sentence that is none: what was stopped, denials, remarks."""
    cut = _AFTER_SCHEME.split(text, maxsplit=1)[0]
    for one in sentences(cut)[1:]:
        if VERB.search(one) or _DENIED.match(one):
            return [cut[: cut.find(one)].rstrip(" .")]
    return [cut.rstrip(" .") if cut != text else text]


_AFTER_SCHEME = re.compile(
    rf"(?<=\d[-–/]\d)\.\s(?=(?i:{either('@no')})\b|Die\b|Der\b|Das\b|Es\b|Sie\b|Er\b|Wir\b)|"
    r"(?<=[a-zäöü)])\.\s(?=[^\W\d_]+\s(?:wurde|wird|ist|war)\b)"
)
"""Boundary between the last drug and the sentence behind it."""


def drugs_of(text: str) -> Iterator[str]:
    """Each drug of a line: `A 5 mg 1-0-0, B 10 mg 0-0-1; C` are three."""
    text = text.replace(" // ", "; ")
    for piece in (one for part in divided(text, ";|") for one in _taken_now(part)):
        parts = divided(piece, ",")
        if (
            len(parts) > 1
            and sum(part[:1].isupper() or part[:1].isdigit() for part in parts) == len(parts)
            and sum(bool(_DRUG.search(part)) for part in parts) >= len(parts) - 1 - len(parts) // 3
        ):
            yield from (part.strip(" .") for part in parts)
        elif len(parts) > 1 and all(len(part.split()) <= 2 and part[:1].isupper() for part in parts):
            yield from parts
        else:
            yield piece


_NO_DRUG = re.compile(
    r"\d\s?(?:mg|g|µg|mmol|U)\s?/\s?d?[lL]\b|^(?:Tel|Fax|Datum|Ziel|Sitzung|Kontrolle)\b|-Ziel\b|^Wir\s|"
    r"kontrolle\b(?!.*\d\s?mg)|"
    r"\bunfähigkeit\b|ektomie\b|^Allergien?\b",
    re.IGNORECASE,
)
"""A value of the laboratory, a telephone, what is to be checked: no drug, whatever its numbers look like."""


_NO_LONGER = re.compile(
    rf"^(?:siehe|s\.\s?o|unverändert|nil|-)\b|.*\b(?:{either('@denying')})\smehr\b|.*\babgesetzt\b|.*\b(?-i:STOPP?)$",
    re.IGNORECASE,
)
"""A reference to another list, or a drug that is not taken any more."""


def is_drug(entry: str) -> bool:
    entry = _ISO_DAY.sub("", entry)
    if _NO_DRUG.search(entry) or _NO_LONGER.match(entry) or NO_ITEM.match(entry) or _DENIED.match(entry):
        return False
    return (bool(_DRUG.search(entry)) and not (len(entry) > 90 and VERB.search(entry))) or (
        len(entry.split()) <= 4 and entry[:1].isupper() and not VERB.search(entry) and not entry.endswith((":", "?"))
    )
