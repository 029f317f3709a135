"""Noun phrases around a noun: adjectives before it, sides, stages, places and causes behind it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from clinical.claims import either

_WORD = re.compile(r"\S+")
_OPENING, _CLOSING = '(„"[', '.,;:!?)”“"]'
_ADJECTIVE = re.compile(r"^(?:[a-zäöüß][\w-]*(?:e|er|es|en|em)|\d+-?gradige[rnms]?|[IVX]+°ige[rnms]?)$")
_OPENING_ADJECTIVE = re.compile(
    r"^(?!(?:Eine|Die|Das|Der|Diese|Keine|Seine|Ihre|Unsere|Meine|Bekannte|Beide)\b)[A-ZÄÖÜ][a-zäöüß]+(?:e|er|es)$"
)
_NO_ADJECTIVE = re.compile(
    rf"^(?:ein\w{{0,2}}|{either('@no')}|de[rmns]|die|das|dies\w*|jene\w*|sein\w*|ihr\w*|unser\w*|eure\w*|mein\w*|"
    rf"welche\w*|"
    r"aber|oder|unter|über|hinter|ausser|wegen|neben|gegen|daneben|zudem|ferner|weiter|immer|wieder|bisher|seither|"
    r"leider|nachher|vorher|daher|eher|sehr|"
    r"(?!generalis|metastas|retin|kompens|dekompens|lokalis|dissemin|persist|infiltr|disloz|perfor|inkarzer|fraktur|"
    r"kombin|komplizi|differenz|rupturi|thrombos|stenos)\w{3,}(?:ierten?|teten?)|wurden?|waren?|hatten?|haben|werden|"
    r"sollen|"
    r"können|konnten?|müssen|fanden|stehen|bestehen|bestanden|zeigen|zeigten?|ergaben?|litten|leiden|sehen|"
    r"behandelten|stellten|dachten|vermuten|vermuteten|deuten|liegen|lagen|denken|sprechen|leite|bitte|"
    r"bitten|habe|hatte|wurde|leide|stelle|sowie|seine|ihre|andere[rns]?|zwischen|erlitten?|bekannten|"
    r"entwickelten?|folgende[rns]?|beim|meine|morgen|heute|seiten|ohne|bekannter|anderen|einige[rn]?|mehrere[rn]?|"
    r"erneute[rnms]?|bestehende[rnms]?|bekannte[rnms]?|vorliegende[rnms]?|vorbekannte[rnms]?|behandelte|traten?|"
    r"hierbei|bei|trete|ergebe|besteht|sichere|beide[rn]?)$"
)
"""Words that end like an adjective and are none, or say nothing of the disease."""
_SIDE = re.compile(
    r"^(?:rechts|links|beidseits?|bds|re|li|beidseitig|rechtsseitig|linksseitig|bilateral|rechtsbetont|linksbetont|"
    r"linksführend|rechtsführend)$"
)
_STAGE = re.compile(
    r"^(?:Typ|Grad|Stadium|Klasse|NYHA|GOLD|Kellgren|CCS|CHILD|Child|Fontaine|WHO|FIGO|Gleason|KDIGO|Garden|Weber)$"
)
_NUMBER = re.compile(
    r"^(?:[IVX]{1,4}[°abAB]?|\d{1,2}[abAB°]?|(?:19|20)\d\d|[A-D]\d?|[LTCSBH]\d{1,2}(?:[/–-][A-Z]?\d{1,2})?|p?T\d\w*|"
    r"N\d|"
    r"M\d|[A-Z]\d[ab]?)$"
)
_LATIN = re.compile(r"^[a-z]{4,}(?:a|is|us|um|ae|oris|ens|ans|ata|alis|ale|ica|oma)$")
_PLACE_WORDS = ("am", "im", "an", "in", "des", "der", "vom", "beider", "beim", "auf", "eines", "einer", "von")
_CAUSE_WORDS = ("mit", "bei", "nach", "durch", "infolge", "ohne")
_ARTICLES = ("der", "dem", "den", "die", "das", "einer", "einem", "eines", "einen", "eine", "ein", "beiden")
_NO_PLACE = re.compile(
    r"^(?:\d|Jahr|Monat|Woche|Tag|Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|"
    r"Dezember|Alter|Rahmen|Verlauf|Kindheit|Jugend|Klinik|Spital|Krankenhaus|CT|MRT?|MRI|Röntgen\w*|Echo\w*|Labor\w*|"
    r"Sono\w*|OP|EKG|Folge|Vordergrund|Sinne?|Anschluss|Vorgeschichte|Anamnese|Familie|Patient\w*|Frau|Herrn?|Sommer|"
    r"Herbst|Winter|Frühling|Frühjahr|Zeit\w*|Mittag|Abend|Nacht|Haus\w*|Notfall\w*|Ambulanz|Sprechstunde|Behandlung|"
    rf"Therapie|Bereich|Hinsicht|(?i:{either('@relative')})\b|Dosis|Dosierung|Bitte|Frage|Beschwerden|Fieber|Quick|INR)"
)
REACH = 9
"""Words on either side of the noun that may belong to its name."""


@dataclass(frozen=True, slots=True)
class PlacedWord:
    """A word without the marks around it, and its place."""

    text: str
    start: int
    end: int
    opens: bool
    """A bracket or quotation mark stands before it."""
    closes: bool
    """A mark that ends a phrase stands behind it."""


def words_of(text: str) -> list[PlacedWord]:
    """The words of a sentence; the dot of an abbreviation belongs to it, unless the sentence ends there."""
    if text.isalnum():
        return [PlacedWord(text, 0, len(text), opens=False, closes=False)]
    found = []
    for match in _WORD.finditer(text):
        raw = match.group()
        start = match.start() + (len(raw) - len(raw.lstrip(_OPENING)))
        bare = raw.strip(_OPENING).rstrip(_CLOSING)
        if not bare:
            continue
        behind = raw[raw.find(bare) + len(bare) :]
        dotted = behind == "." and match.end() < len(text) and len(bare) < 6
        end = start + len(bare) + dotted
        found.append(PlacedWord(bare, start, end, raw[0] in _OPENING, bool(behind) and not dotted))
    return found


def phrase(words: list[PlacedWord], head: int, first: int, names: Callable[[str], bool]) -> tuple[int, int]:
    """(number of the first word, of the last): the noun phrase around the word `head`, not before word `first`.

    `names`: whether a noun is of the kind looked for, for nouns behind `mit`, `bei` and `nach`.
    """
    left = head
    while left > max(first, head - REACH) and _leads(words[left - 1]) and not words[left].opens:
        left -= 1
    if left == 1 and first == 0 and _OPENING_ADJECTIVE.match(words[0].text) and not words[0].closes:
        left = 0  # `Schwere Aortenklappenstenose`
    right = head
    while right + 1 < min(len(words), head + REACH) and not words[right].closes:
        step = _behind(words, right, names)
        if not step:
            break
        right += step
    return left, right


def _leads(word: PlacedWord) -> bool:
    return not word.closes and _ADJECTIVE.match(word.text) is not None and _NO_ADJECTIVE.match(word.text) is None


def _behind(words: list[PlacedWord], at: int, names: Callable[[str], bool]) -> int:
    """Number of words behind `at` that belong to the phrase as one step: a side, a stage, a place, a cause."""
    word = words[at + 1]
    if word.opens:
        return 0
    if _SIDE.match(word.text) or _NUMBER.match(word.text) or _LATIN.match(word.text) or names(word.text):
        return 1
    if _STAGE.match(word.text) and at + 2 < len(words) and not word.closes:
        return 2
    if word.text in _PLACE_WORDS or word.text in _CAUSE_WORDS:
        return _inner(words, at + 1, word.text in _CAUSE_WORDS, names)
    return 0


def _inner(words: list[PlacedWord], at: int, cause: bool, names: Callable[[str], bool]) -> int:
    """The words of `des linken Auges`, `mit Tinnitus` from the preposition on; 0 where they are no part."""
    n = at
    while n + 1 < len(words) and not words[n].closes and n - at < 4:
        n += 1
        word = words[n]
        if word.text in _ARTICLES or _leads(word):
            continue
        if not word.text[0].isupper() or _NO_PLACE.match(word.text) or len(word.text) < 2:
            return 0
        return n - at + 1 if not cause or names(word.text) or words[n].closes else 0
    return 0
