"""Classify the line of a list by its form: a drug with its dose, a procedure, a diagnosis, a denial, a sentence.

Knows units, schemes and the endings of procedures' names, and no drug and no disease.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from clinical.claims import begins_with_relative, either
from clinical.letters.layout import marked, unmarked
from clinical.letters.reader.diseases import has_disease, names_disease
from clinical.letters.reader.sentences import divided, sentences
from clinical.text import dates_of

ITEM_MAX = 260
"""Characters of an entry of a list; longer lines are prose."""
WRAPPED = 55
"""Characters from which a line may continue in the next one."""

_ANYWHERE = (
    r"ektomie|otomie|ostomie|plastik|exstirpation|resektion|implantation|explantation|arthroskop\w*|zystoskopie|"
    r"hysteroskopie|thorakoskopie|mediastinoskopie|ureteroskopie|duodenoskopie|anlage eine[rs]\b|osteosynthese|"
    r"amputation|transplantation|ligatur|banding|thrombolyse|coiling|clipping|fundoplicatio|vertebroplastie|"
    r"kyphoplastie|lithotripsie|dilatation|replantation|stent\w*|bypass|biopsie|punktion|exzision|revision|"
    r"nekrosekt\w*|debridement|laparotom|laparoskop|koloskop|gastroskop|bronchoskop|refixation|naht\b|operation|"
    r"kauterisation|ablation|kardioversion|embolisation|lavage|drain\w*|katheteruntersuchung|koronarangiograph\w*|"
    r"angiograph\w*|port-?a?-?\w*|schrittmacher|adhaesiolyse|adhäsiolyse|lobekt|thyreoid\w*ekt|dissektion|"
    r"disektion|abtragung|entfernung|deckung|spaltung|enukleati\w*|rekanalisation|spondylodese|nagelung|"
    r"verplattung|reposition|umstellung\w*otomie|prothese\b|replantati|hysterect|ectomie|kryo\w*|curettage|"
    r"kürettage|abrasio|konisation|trepanation|shunt|intervention\b|glättung|implantat\w*"
)
_AT_WORD = (
    r"\bstomie|\bgips\w*|\bERCP\b|\bTUR-?[BP]\b|\bTEP\b|\bTE\b(?= eine)|\bNE\b(?= (?:tumor|eine))|\bHTEP|\bKTEP|"
    r"\bPTCA|\bPCI\b|\b[ae]inlage (?:eine[rs]|von)|\banlage (?:eine[rs]|von)|\bsectio\b|\b\w*-?OP\b|\bPE\b"
)
OPERATION = re.compile(f"(?:{_ANYWHERE}|{_AT_WORD})", re.IGNORECASE)
_SMALL, _SMALL_AT_WORD = re.compile(_ANYWHERE.lower()), re.compile(_AT_WORD.lower())


def names_procedure(text: str) -> bool:
    """True if `OPERATION` is found. Small characters alone, and apart what begins with characters of its own, which
    are sought by the first of them: together a third of the time."""
    small = text.lower()
    return (_SMALL.search(small) or _SMALL_AT_WORD.search(small)) is not None


PAST = rf"(?:{either('@state_after')})\.?\s?(?:nach|post|[np]\b\.?)"
"""`Z. n.`, `Status nach`: the mark of the past before a name, as a regular expression."""
_PAST = re.compile(rf"^{PAST}\s*(?=[^\W\d_])", re.IGNORECASE)
_DENIED = re.compile(
    rf"^(?:{either('@denying', '@answered_no', '@exclusion')})\b|\b(?:{either('@ruled')})\b|\bmehr nachweisbar\b|"
    r"^(?:unauffällig|o\.\s?B\.|leer|siehe oben|s\.\s?o\.)",
    re.IGNORECASE,
)
"""An entry that denies, or says that there is none."""
NO_ITEM = re.compile(
    r"^(?:(?:\d\.\s?)?(?:Operateur|Assistenz|Instrumentier|An(?:ä|ae)sthes|Saal|Springer|Narkose)\w*\s?:|"
    r"[^\W\d_]\S+(?:\s\S+)?,\s(?:am|den)\s\d|\w*(?:arzt|ärztin)$|mit freundlich|freundliche|seite \d|\(?Stand|"
    r"durchschlag|\(?ICD\b|"
    r"Unfall(?:datum|hergang|ereignis)?\s(?:vom\s|am\s)?\d|verteiler|nachrichtlich|ergeht an|kopie an|wie oben|"
    r"es können|es konnen|selbstverständlich können|"
    r"bioäquivalent|RR\s|Temp\w*\W|Puls\s|HF\s|SpO2|SO2|BZ\s|CRP\s|"
    rf"(?:{either('@no')})\s\w+\s(?:angegeben|bekannt|vorhanden)|"
    r"wir (?:berichten|bedanken|danken)|vielen dank|für rückfragen|bei rückfragen|hauptdiagnose|nebendiagnosen?|"
    r"sonstige:?$|aktuell:?$)",
    re.IGNORECASE,
)
VERB = re.compile(
    r"\b(?:wurde|wurden|wird|werden|ist|sind|war|waren|hat|hatte|haben|konnte|können|kann|zeigt|zeigte|erfolgt|"
    r"erfolgte|besteht|stellte|"
    r"kam|kommt|berichtet|leidet|befand|erhielt|klagt|gab|sollte|soll|bitten|empfehlen)\b"
)
_RECOMMENDS = re.compile(
    r"\b(?:empfehlen|empfohlen|wiedervorstellung|bitten (?:wir )?(?:um|bei|daher|sie)|wir bitten|ich bitte|"
    r"vereinbart|vorgesehen|sollte[n]?|geplant|kontroll\w+|"
    r"weiterführen|fortführ\w+|wiederaufnahme|nachsorge|anzustreben|indiziert|notwendig|erforderlich|verlegen wir|"
    r"wir verlegen|physiotherapie|teilbelastung|fadenzug)\b"
)
_AHEAD = re.compile(
    r"\b(?:bitte[n]?\b(?!\swir\ssie,?\sden\sbrief)|fadenzug|fäden|nächste[rnsm]?\s(?:termin|kontrolle|vorstellung)|"
    r"angemeldet|folgen\b|folgt\b|wiedervorstellung|kontrolle[n]?\b|verlaufskontrolle\w*|weiterzuführen|fortzuführen|"
    r"fortgeführt werden|ist geplant|sind geplant|geplant\b|vorgesehen|vereinbart|ratsam|angezeigt|"
    r"(?:in|nach|ab)\s(?:\w+\s)?(?:\d+|zwei|drei|vier|sechs|acht|zwölf)\s(?:tagen|wochen|monaten)\b|ab\s(?:montag|"
    r"dienstag|mittwoch|donnerstag|freitag|morgen)|übermorgen|wieder(?:vor)?stellen|kontrollieren|ausschleichen|"
    r"nachsorge|(?:viertel|halb)?jährlich|erneute\s|empfiehlt|raten wir|rate ich|empfehle|schlagen wir vor|schlage)\b"
)
"""Words that announce what comes next."""


def recommends(text: str) -> bool:
    """True if a text recommends something; small characters alone are compared, in less than half the time."""
    return _RECOMMENDS.search(text.lower()) is not None


def announces(text: str) -> bool:
    """True if a text announces what comes next."""
    return _AHEAD.search(text.lower()) is not None


_EXAMINED = re.compile(r"^(?!ED\b|Aktuell|Jetzt)[^\W\d_][\w.-]{2,20}:\s|^Status (?!nach|post)", re.IGNORECASE)
"""Beginnings of an examination finding: `Cor: rein`, `Status neurologicus`."""
_GIVEN = re.compile(r"\d\s?(?:mg|g|µg|ml)\s?/\s?(?:m2|m²|qm|kg|d)|\bmg\b.*\bTag\b|^\d+ Zykl", re.IGNORECASE)
"""A treatment with its dose."""
_CODE_TAIL = re.compile(r"[,\s]*\(?[A-TV-Z]\d{2}(?:\.\d{1,2})?[GVAZ]?[+*!]?\)?[.\s]*$")


@dataclass(frozen=True, slots=True)
class Procedure:
    """A procedure and its day as ISO, None where no full date stands beside it."""

    name: str
    day: str | None


def list_part(lines: Sequence[str]) -> list[str]:
    """The lines up to where the list ends: at prose, a salutation or a line that announces another list.

    Behind an empty line a list of marked items goes on with marked ones, another one with short lines of the same kind.
    """
    kept: list[str] = []
    gap = False
    for line in lines:
        text = line.strip()
        if not text:
            gap = bool(kept)
            continue
        if kept and not marked(line) and (_is_prose(text) or (gap and not _same_kind(kept, text))):
            break
        if gap:
            kept.append("")
        gap = False
        kept.append(line)
    return kept


def _is_prose(text: str) -> bool:
    return len(text) > 110 and VERB.search(text) is not None


def _same_kind(kept: Sequence[str], text: str) -> bool:
    """True if an unmarked line behind a gap is one more entry: short, no sentence, no label, in an unmarked list."""
    unmarked_list = not any(marked(line) for line in kept)
    plain = len(text) <= 90 and not text.endswith((".", ":")) and VERB.search(text) is None
    return unmarked_list and plain and ":" not in text


def items(lines: Sequence[str]) -> list[str]:
    """Entries by line; a line that goes on where the one before broke off belongs to it."""
    entries: list[str] = []
    open_line = ""
    for line in lines:
        text = unmarked(line)
        if not text:
            open_line = ""
            continue
        goes_on = open_line and not marked(line) and _goes_on(open_line, text)
        if goes_on:
            entries[-1] = f"{entries[-1]} {text}"
        else:
            entries.append(text)
        open_line = text
    return [entry.rstrip(" ;,") for entry in entries]


def _goes_on(before: str, text: str) -> bool:
    if before[-1] in ".;:":
        return False
    if before.endswith((",", "-", " und", "/")):
        return len(before) > 25
    return text[0].islower() and len(before) > WRAPPED


_DISEASE = re.compile(
    r"(?:itis|ose|ämie|insuffizienz|[Ss]yndrom|krankheit|erkrankung|hypertonie|pathie|fraktur|ismus|karzinom|adenom|"
    r"infarkt|mellitus|asthma|penie|zirrhose|infekt|neurose|depression|demenz|stenose|thrombose|embolie)"
    r"(?:\s(?:rechts|links|beidseits|bds\.|Typ\s\w+))?$",
    re.IGNORECASE,
)
"""Endings of diagnoses: two such pieces beside a comma are two diagnoses."""


def running_list(text: str) -> Iterator[str]:
    """A list on one line: by semicolons, sentences, or commas between capitals."""
    text = text.strip().rstrip(".")
    pieces = divided(text, ";")
    numbered = re.split(r"(?:^|(?<=[^\d.,])\s)[1-9][.)]\s(?=[^\W\d_a-zäöü])", text)
    if len(pieces) == 1 and text[:1] == "1" and len(numbered) > 2:
        pieces = [one.strip(" .,") for one in numbered if one.strip()]
    if len(pieces) == 1:
        pieces = _listed([one.rstrip(".") for one in sentences(text)])
        text = pieces[0] if len(pieces) == 1 else text
    if len(pieces) == 1 and text.count(",") > 0 and len(text) < 400:
        parts = divided(text, ",")
        capital = [part for part in parts if part[:1].isupper() or any(map(names_disease, part.split()))]
        if len(parts) == 2 and all(_DISEASE.search(part) or has_disease(part) for part in parts):
            pieces = parts
        if len(parts) > 2 and len(capital) >= len(parts) - (not parts[0][:1].isupper()):
            pieces = parts
    last = re.split(r"\s+und\s+(?=[A-ZÄÖÜ])", pieces[-1])
    if len(pieces) > 1 and len(last) == 2:
        pieces = [*pieces[:-1], *last]
    yield from (unmarked(" " + piece) for piece in pieces)


def _listed(told: list[str]) -> list[str]:
    """Of several sentences those before the first with a verb, where the list itself has none."""
    verbs = [_TELLS.search(one) is not None for one in told]
    return told[: verbs.index(True)] if True in verbs and not verbs[0] else told


_TELLS = re.compile(
    rf"{VERB.pattern}|\b(?:er|sie|ich|wir|es|man)\b|\b(?:raucht|nimmt|läuft|liegt|lebt|trinkt|bekannt)\b|^Aktuell\s"
)
"""Words that show a piece to be a sentence of the letter and no item of a list."""


def may_be_diagnosis(entry: str) -> bool:
    if not 3 <= len(entry) <= ITEM_MAX or _DENIED.search(entry) or NO_ITEM.match(entry):
        return False
    if begins_with_relative(entry) or _EXAMINED.match(entry) or _GIVEN.search(entry):
        return False
    if dates_of(entry) and names_procedure(entry) and not _PAST.match(entry) and not has_disease(entry):
        return False
    return not (len(entry) > 90 and len(VERB.findall(entry)) > 1) and any(char.isalpha() for char in entry)


def may_be_procedure(entry: str, listed: bool) -> bool:
    if NO_ITEM.match(entry) or _DENIED.search(entry):
        return False
    if listed:
        return len(entry) <= 120 and not re.match(r"^(?:Histo|Stad)[\w.]*\s?:", entry)
    return (
        len(entry) <= ITEM_MAX
        and names_procedure(entry)
        and not VERB.search(entry)
        and not re.search(r"\bzur\b|geplant|empf|nach\s|\bseit\b", _PAST.sub("", entry), re.IGNORECASE)
    )


_OPERATOR = re.compile(r"\s?\((?:Operateur\w*:?\s)?(?:Dr|Prof|OA|OÄ|PD|Prim)\b[^()]*\)")


_ON = re.compile(r"\b(?:am|vom)\s*$")


def procedure_of(entry: str) -> Procedure:
    """`Gastroskopie am 3.4.2024` -> name and day; the marks of the past and a trailing year are no part of the name."""
    entry = _CODE_TAIL.sub("", _OPERATOR.sub("", entry))
    found = dates_of(entry)
    day = found[0].iso() if found else None
    for one in reversed(found):
        entry = f"{_ON.sub('', entry[: one.start])} {entry[one.end :]}"
    entry = re.sub(r"^\s*\d{1,2}\.\d{1,2}\.?\s+(?=[^\W\d_])", "", entry)
    entry = _PAST.sub("", re.sub(r"^(?:Am|Vom)\s+(?=[^\W\d_a-zäöü])", "", re.sub(r"\(\s*\)", "", entry).strip()))
    name = re.sub(
        r"^[\s:,–-]+|(?:[\s(,–-]*(?:\b(?:am|vom|ED|im|in)\b)?[\s(,:–-]*(?:\d{1,2}/\d{2,4}|\b(?:19|"
        r"20)\d\d)?\)?)[\s.,;:–-]*$",
        "",
        entry,
    )
    name = re.sub(r"\s+(?:am|vom)$", "", " ".join(name.split())).strip(" ,.;:–-(")
    return Procedure(name + ")" * (name.count("(") > name.count(")")), day)
