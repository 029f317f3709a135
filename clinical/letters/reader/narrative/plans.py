"""Next steps stated in sentences: in the last paragraphs, those that recommend, appoint or ask."""

from __future__ import annotations

import re

from clinical.letters.reader.entries import NO_ITEM, RECOMMENDS
from clinical.letters.reader.narrative.passages import Body, Sentence

LAST_PARAGRAPHS = 4
"""Paragraphs before the closing formula in which a letter without a heading tells what is to be done."""
MOST = 8
LONGEST = 400
AHEAD = re.compile(
    r"\b(?:bitte[n]?\b(?!\swir\sSie,?\sden\sBrief)|Fadenzug|Fäden|nächste[rnsm]?\s(?:Termin|Kontrolle|Vorstellung)|"
    r"angemeldet|folgen\b|folgt\b|Wiedervorstellung|Kontrolle[n]?\b|Verlaufskontrolle\w*|weiterzuführen|fortzuführen|"
    r"fortgeführt werden|ist geplant|sind geplant|geplant\b|vorgesehen|vereinbart|ratsam|angezeigt|"
    r"(?:in|nach|ab)\s(?:\w+\s)?(?:\d+|zwei|drei|vier|sechs|acht|zwölf)\s(?:Tagen|Wochen|Monaten)\b|ab\s(?:Montag|"
    r"Dienstag|Mittwoch|Donnerstag|Freitag|morgen)|übermorgen|wieder(?:vor)?stellen|kontrollieren|ausschleichen|"
    r"\w+(?:ern|ieren|setzen|führen|stellen|ziehen|pausieren|belassen)\.$|nachsorge|(?:viertel|halb)?jährlich|"
    r"erneute\s|"
    r"empfiehlt|raten wir|rate ich|empfehle|schlagen wir vor|schlage)\b",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"^(?:vielen Dank|wir danken|besten Dank|für (?:weitere )?(?:Rück)?fragen|bei (?:weiteren )?(?:Rück)?fragen|der "
    r"(?:endgültige|definitive) (?:Brief|Bericht)|wir berichten)|\bwar\b.*\b(?:unauffällig|zufrieden)|bedanken",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:war|waren|hatte|hatten|kam|kamen|zeigte|zeigten|fand|fanden|ergab|erfolgte|lag|lagen|fiel|sank)\b"
)


def told_steps(body: Body) -> list[str]:
    """The sentences of the letter's last paragraphs that say what comes next, in their order."""
    if not body.sentences:
        return []
    last = body.sentences[-1].paragraph
    late = [one for one in body.sentences if one.paragraph > last - LAST_PARAGRAPHS and not one.examined]
    return [one.text for one in late if _is_step(one)][-MOST:]


def _is_step(sentence: Sentence) -> bool:
    text = sentence.text
    if not 12 < len(text) < LONGEST or NO_ITEM.match(text) or _DONE.search(text):
        return False
    return (RECOMMENDS.search(text) or AHEAD.search(text)) is not None and not _PAST.search(text)
