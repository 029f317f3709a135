"""Where a letter without a closing formula ends: names of those who sign, their roles, notes of the house below."""

from __future__ import annotations

import re
from collections.abc import Sequence

_NAMED_DOCTOR = re.compile(
    r"^(?:\w+[aä]rzt(?:in)?\s)?(?:(?:med|habil|univ|dent|Dr|Prof|OA|OÄ|PD|Prim|Priv|Univ|Chef[aä]rzt|"
    r"DDr)[\w.-]*\s?){1,6}[^\W\d_a-zäöü][\w.-]+(?:\s[^\W\d_a-zäöü][\w-]+)?"
)
_DEGREE = re.compile(r"^[^\W\d_a-zäöü][\w-]+\s[^\W\d_a-zäöü][\w-]+\s(?:MD|PhD|M\.D\.)")
_ROLE = re.compile(
    r"^(?:(?:stv\.?|stellv\.?|leitende[rn]?|ärztliche[rn]?|ltd\.|geschäftsführende[rn]?)\s)?"
    r"[\w-]*(?:arzt|ärztin|direktor(?:in)?|leiter(?:in)?|vorstand|psycholog(?:e|in)|therapeut(?:in)?)\b",
    re.IGNORECASE,
)
_ROLED = re.compile(
    r"^[^\W\d_a-zäöü][^:;]{4,60},\s(?:Fach|Ober|Chef|Assistenz|Stations)?[aä]rzt(?:in)?\b|"
    r"^(?:Dienst|Stations|Ober|Fach|Chef|Assistenz)?[aä]rzt(?:in)?\b[^:]{0,12}:\s"
)
_NOTE = re.compile(
    r"bankverbindung|\biban\b|amtsgericht|geschäftsführ|steuernummer|\bträger|aufsichtsrat|\bHRB\b|\bDVR\b|maschinell|"
    r"ohne unterschrift|elektronisch|freigegeben|vidiert|diktiert|geschrieben|^kopie|^ergeht an|^cc\b|^D/|verteiler|"
    r"nachrichtlich|durchschlag|^seite \d|^anlagen?\b|^beilagen?\b|angestellte ärzt|^(?:tel|fax|mail|e-mail|www)\b",
    re.IGNORECASE,
)
_OF_SYSTEM = re.compile(r"^(?:diktiert|geschrieben|elektronisch|dieses? (?:dokument|bericht|brief))", re.IGNORECASE)
"""Notes that end a letter without any name."""
_SHORT = 90
_LONGEST = 200
"""Characters of a note of the house."""


def last_signed(lines: Sequence[str]) -> int:
    """The number of the first line of the ending; the number of lines where no name or role is in it.

    From the last line upwards as long as lines are names, roles or notes, in the letter's second half.
    """
    first, signed = len(lines), len(lines)
    for n in range(len(lines) - 1, len(lines) // 2, -1):
        line = lines[n].strip()
        if not line:
            continue
        if len(line) < _SHORT and (_is_name(line) or _ROLE.match(line) or _ROLED.match(line)):
            first = signed = n
        elif len(line) < _LONGEST and (_NOTE.search(line) or _is_name(line) or _ROLED.match(line)):
            first = n
            signed = n if _OF_SYSTEM.match(line) else signed
        else:
            break
    return first if signed < len(lines) else len(lines)


_SIGNING = re.compile(
    r"^(?:(?:ort,?\s?)?datum\b[\s:/,].{0,60}$|datum,?\s(?:ort|unterschrift)|stempel\b|unterschrift\b|formular erstellt|"
    r"(?:rechtsgültig |elektronisch |digital )?(?:signiert|vidiert|freigegeben|unterschrieben|gezeichnet)\b|gez\.|"
    r"(?:mit )?(?:besten|lieben|freundlichen|kollegialen|herzlichen) (?:\w+ )?gr[uü]|"
    r"für (?:die|das) (?:abteilung|klinik|team|haus)\b|"
    r"(?:dienst\w*|behandelnde\w*|zuständige\w*|aufnehmende\w*|verantwortliche\w*)?\s?(?:arzt|ärztin|ärztin/arzt|"
    r"arzt/ärztin|"
    r"pflegefachperson|pflegefachfrau|protokoll|teilnehmer|verfasser|autor)\s?:|"
    r"(?:(?:Prof|PD|Dr|OA|OÄ|Prim|Univ)[\w.-]*\s){1,4}[^\d:,;]{3,30}\s{3,}[^\W\d_]|"
    r"[^\W\d_][\w.-]+(?:\s(?:am|an|im|ob|bei|der|[^\W\d_][\w.-]+)){0,4},\s?(?:den\s|am\s)?\d{1,2}\.\s?(?:\d{1,2}\.|"
    r"[^\W\d_]{3,9})\s?\d{2,4}\W*$|"
    r"\d{1,2}\.\s?\d{1,2}\.\s?\d{2,4}\s{2,}[^\W\d_a-zäöü])",
    re.IGNORECASE,
)
"""A line that ends a list at a letter's foot: day, signature, who signs."""


def before_signing(lines: Sequence[str]) -> list[str]:
    """The lines of a section up to the first that dates or signs the letter, and long ones behind it: text goes on."""
    end = next((n for n, line in enumerate(lines) if n and _signs(line.strip())), len(lines))
    told = [line for line in lines[end + 1 :] if len(line.strip()) >= _SHORT]
    return [*lines[:end], "", *told]


def _signs(line: str) -> bool:
    return 2 < len(line) < _SHORT and _SIGNING.match(line) is not None


def _is_name(line: str) -> bool:
    return _NAMED_DOCTOR.match(line) is not None or _DEGREE.search(line) is not None
