"""Names of people by their form: titles, particles, order of first name and surname; never a clause."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bentos.embedded.labels import label_of
from bentos.embedded.names.order import given, surname_first
from bentos.embedded.names.words import FIRST_NAMES, NOT_A_NAME, PARTICLES, SURNAMES_TOO

_RANK = (
    r"o\.\s?Univ\.?|Ao\.|Univ\.?\s?-?|Uriv\.-?|Prim\.?(?:aria)?|Prof(?:essor)?(?:in)?\.?|Priv\.?\s?-?\s?Doz\.?|PD|"
    r"P\.D\.|Doz\.?|"
    r"OA|OÄ|CA|CÄ|AA|AÄ|Drs?\.?a?(?:in)?\.?|Drª|DDr\.?|DDDr\.?|Dr\.in|Mag\.(?:a|ª)|Mag\.?|(?:O?MR|HR)(?=\s(?:Dr|Univ|"
    r"Prof|Prim|DDr|Doz))|Dipl\.?\s?-?\s?(?:Ing|Med|Psych|Ärztin|"
    r"Arzt)?\.?|DI|Ing\.?|"
    r"MUDr\.?|lic\.|Universitätsprofessor(?:in)?|Primar(?:ia|ius|ärztin|arzt)?|Chefarzt|Chefärztin|Oberarzt|"
    r"Oberärztin|"
    r"Assistenz[aä]rzt(?:in)?|Assistenzarzt|Stationsarzt|Stationsärztin|Ltd\.|Leitende[rn]?|LOA|FOÄ|FOA"
)
_DEGREE = (
    r"(?:et|r?rned|med|pract|prakt|univ(?:ers?)?|uni|phil|habil|dent|mult|h\.?\s?c|rer|nat|sc|theol|jur|psych|scient|"
    r"hum|biol|vet)"
    r"\b\.?"
)
TITLE = re.compile(rf"(?:{_RANK})(?=[\s.A-ZÄÖÜ-]|$)")
_TITLES = re.compile(rf"(?:(?:{_RANK}|{_DEGREE})[\s.,-]*(?![a-zäöüß]))+")
_SALUTED = re.compile(
    r"^(?:(?:Herrn?|Frau|Hrn?|Fr|Hrn?\.?|Fr\.|Sig\.(?:ra)?|Patient(?:in|en)?|Pat\.|Kolleg(?:e|in|en)|Kindes|Kind|"
    r"Ihre?[nrms]?|"
    r"Unsere?[nrms]?|gemeinsame[nrms]?|Versicherte[rn]?|z\.\s?Hd?\.|z\.H\.|an|An)[\s.:]+)+"
)
_CUT = re.compile(
    r"[*(;|\t<]|(?<![^\W\d_])\d|\d(?![^\W\d_])|\bgeb\b|\bgeboren|\bwohnh|,\s*(?:[mwMW]|weibl|männl|weiblich|"
    r"männlich)\b|"
    r"\s[mwMW]\s*$|\s-\s|\s[–—]\s|:"
)


_TITLE_BEHIND = re.compile(rf",\s*(?:(?:{_RANK}|{_DEGREE}|\w{{2,10}}\.?-?\s?[Rr](?:at|ätin))[.ªa]?[\s,.-]*)+$")
"""`Kern Anna, Mag.ª`, `KERN, Anna, Dr. phil.`, `Kern Anna, Reg.Rat`: titles as the last piece."""
_SET_APART = re.compile(r"(?<!\S)[A-ZÄÖÜ](?: [A-ZÄÖÜ]){2,}(?=[\s,]|$)")
"""`K E R N ,`: a surname with its characters set apart."""
_GENERATION = re.compile(r"\s(?:jun|sen|jr|sr|junior|senior)\b\.?", re.IGNORECASE)
_DEGREE_IN_BRACKETS = re.compile(r"\s?\((?:FH|Univ\.?[^)]{0,20}|TU|ETH|FMH)\)")


@dataclass(frozen=True, slots=True)
class Name:
    """Surname and first names; `sure` where the form itself tells which is which."""

    last: str
    first: str | None
    sure: bool = False


def strip_titles(text: str) -> str:
    """Without salutation, role and academic titles at the beginning."""
    before = None
    text = text.strip(" ,")
    while before != text:
        before = text
        text = _SALUTED.sub("", text).strip(" ,.")
        found = _TITLES.match(text)
        text = text[found.end() :].strip(" ,.") if found and found.end() < len(text) else text
    return text


_SCANNED_IN = re.compile(r"(?<=[^\W\d_])[01](?=[^\W\d_])")
"""Digits that a scan read within a name."""


def _has_symbol(word: str) -> bool:
    """`Knie-TEP`, `MRT-Befund`: a part in capitals beside one that is not is no name's."""
    parts = [part for part in word.split("-") if len(part) > 1]
    return not word.isupper() and any(part.isupper() for part in parts)


def closed_up(text: str) -> str:
    """`K E R N ,  Anna` -> `KERN, Anna`."""
    return _SET_APART.sub(lambda found: found[0].replace(" ", ""), text).replace(" ,", ",")


def is_name_word(word: str) -> bool:
    """A word with a capital that may be part of a name, particles apart."""
    bare = word.strip(",.")
    plain = _SCANNED_IN.sub("l", re.sub(r"[-'’´.]", "", bare))
    return (
        bool(plain)
        and not _has_symbol(bare)
        and len(bare) <= 30
        and bare[0].isupper()
        and plain.isalpha()
        and (len(plain) > 1 or word.endswith("."))
        and bare.lower() not in NOT_A_NAME
        and not _OF_DOCUMENTS.search(bare)
        and _VOWEL.search(plain) is not None
    )


_VOWEL = re.compile(r"[aeiouyäöüàáâãåæèéêëìíîïòóôõøùúûýıąęœ]|^.$|^[^\W\d_]\.", re.IGNORECASE)
"""What `MRT` and `LWS` lack."""
_OF_DOCUMENTS = re.compile(
    r"(?:bericht|brief|befund|überweisung|einweisung|zuweisung|verlegung|anmeldung|anforderung|anfrage|protokoll|"
    r"mitteilung|formular|schreiben|verordnung|konsil|termin|ambulanz|klinik|spital|krankenhaus|abteilung|"
    r"untersuchung|behandlung|versicherung)$",
    re.IGNORECASE,
)
"""What ends the name of a document, a house or an act: `Kurzbericht`, `Verlegung`."""


def parse_name(text: str, spoken: Collection[str] = (), register: bool = False) -> Name | None:
    """The name that the text is, up to a birth date, a bracket or a number; None for anything else.

    `spoken`: surnames that the letter says behind Frau or Herr. `register`: in forms the surname often stands first.
    """
    head, comma, behind = text.partition(",")
    text = head if comma and label_of(re.split(r"[\s:]", behind.strip())[0]) else text
    text = _GENERATION.sub("", _DEGREE_IN_BRACKETS.sub("", closed_up(text[:140])))
    text = strip_titles(_TITLE_BEHIND.sub("", _CUT.split(text[:120].strip(" ,*-"), maxsplit=1)[0].strip(" ,/")))
    words = text.split()
    if not 1 <= len(words) <= 6 or not all(is_name_word(one) or one.lower() in PARTICLES for one in words[1:]):
        return None
    if not is_name_word(words[0]) and words[0].lower() not in PARTICLES and not _is_listed(words[0]):
        return None
    if text.count(",") == 1 and not text.endswith(","):
        last, first = (part.strip() for part in text.split(","))
        if label_of(first) is not None:
            return parse_name(last, spoken, register)
        told = last.split()
        if len(told) > 1 and given(told[0]) > 1 and given(first.split()[0] if first else "") <= 0:
            return parse_name(last, spoken, register)  # `Anna Kern, Personalnr.`
        own = " ".join(strip_titles(first).split())
        return Name(last, own or None, True) if last and len(last.split()) <= 4 else None
    if "," in text.strip(","):
        return None
    words = text.strip(",").split()
    if len(words) == 1:
        return Name(words[0], None)
    return _ordered(words, spoken, register)


def _is_listed(word: str) -> bool:
    """`Mai,` before a first name."""
    return word.endswith(",") and word[0].isupper() and word[:-1].lower() in SURNAMES_TOO


_OF_SURNAMES = PARTICLES - {"und", "i", "y", "zum", "zur", "vom"}
"""Particles in lower case that begin a surname behind first names: `Maria dos Santos Pereira`."""


def _ordered(words: list[str], spoken: Collection[str], register: bool) -> Name:
    if sum(word.lower() not in PARTICLES for word in words) < 2:
        return Name(" ".join(words), None)
    first_last, last_first = _split(words, False), _split(words, True)
    shouted = [word for word in words if word.isupper() and len(word) > 2]
    if shouted and len(shouted) < len(words):
        return last_first if words[0] in shouted or (words[0].isupper() and words[1] in shouted) else first_last
    if words[0].lower() in PARTICLES:
        return last_first
    if (at := next((n for n, word in enumerate(words[:-1]) if n and word in _OF_SURNAMES), 0)) > 0:
        return Name(" ".join(words[at:]), " ".join(words[:at]))
    said = {name.lower() for name in spoken}
    if (first_last.last.lower() in said) != (last_first.last.lower() in said):
        return first_last if first_last.last.lower() in said else last_first
    return last_first if surname_first(words, register) else first_last


def _split(words: list[str], last_first: bool) -> Name:
    if last_first:
        end = 1
        while end < len(words) - 1 and (
            words[end - 1].lower() in PARTICLES
            or (given(words[end]) <= 0 and any(given(word) > 1 for word in words[end + 1 :]))
        ):
            end += 1
        return Name(" ".join(words[:end]), " ".join(words[end:]))
    start = len(words) - 1
    while start > 1 and (words[start - 1].lower() in PARTICLES or given(words[start - 1]) < 0):
        start -= 1
    return Name(" ".join(words[start:]), " ".join(words[:start]))


def name_before(text: str) -> str:
    """The run of name words at the end of the text: `wir berichten über Frau KERN, Anna, ` -> `KERN, Anna`."""
    text = _TITLE_BEHIND.sub("", closed_up(text[-120:]))
    words = text[-90:].replace("(", " ").replace("*", " ").split()
    if len(text) > 90 and words:
        words = words[1:]
    run: list[str] = []
    commas = 0
    for word in reversed(words):
        bare = word.strip(",")
        if not bare:
            continue
        glued = re.search(r"(?:Pat|Hr|Fr)\.(?=[A-ZÄÖÜ])", bare)
        if not (is_name_word(bare) or (bare.lower() in PARTICLES and run)) or glued:
            break
        if bare.endswith(".") and (len(bare) > 3 or TITLE.fullmatch(bare)):
            break
        if word.endswith(",") and run:
            commas += 1
            if commas > 1:
                break
        run.append(word if run else bare)
    before = words[-len(run) - 1] if len(run) < len(words) else ""
    while run and _is_preposition(run, before):
        run.pop()  # `Zuweisung von Anna Kern`
    run = run[: _about(run)]
    return " ".join(reversed(run[:6]))


def _about(run: Sequence[str]) -> int:
    """The words (last first) up to `Kurz zu`, `Bericht zu`: what is written, not who it is about."""
    at = next((n for n, word in enumerate(run) if word == "zu" and n + 1 < len(run)), None)
    return len(run) if at is None or any(given(word) > 0 for word in run[at + 1 :]) else at


_ACT = re.compile(r"(?:ung|nahme|frage|bericht|befund|brief)$", re.IGNORECASE)
"""What is done with somebody: `von` behind it begins no name."""
_PREPOSITIONS = frozenset(("von", "zu", "der", "die", "den", "dem", "i", "y", "und", "vom", "zur"))


def _is_preposition(run: Sequence[str], before: str) -> bool:
    """Whether the first word (the last of the run) is a preposition and no part of the name behind it."""
    word = run[-1].strip(",").lower()
    if word not in PARTICLES:
        return False
    if not run[-1][0].islower():
        return word in _PREPOSITIONS
    return (len(run) > 2 and given(run[-2]) > 1 and "," not in run[-2]) or _ACT.search(before) is not None


_DOCTOR = re.compile(
    rf"(?<!\w)((?:(?:{_RANK}|{_DEGREE})[\s.]{{1,3}}){{1,9}}\s?[^\W\d_a-zäöü][^\s,;|/()<\d]*(?:\s+(?:(?:von|van|de|der|"
    rf"zu|"
    rf"zur|dos|di|da|del|Al)\s+)?"
    rf"[^\W\d_a-zäöü][^\s,;|/()<\d]*){{0,3}})"
)


def doctor_in(text: str) -> str | None:
    """The first name with an academic title, as it stands; None where there is none."""
    for found in _DOCTOR.finditer(text[:400]):
        whole = found[1].strip(" ,.-")
        bare = strip_titles(whole)
        words = bare.split()
        kept: list[str] = []
        for word in words:
            if TITLE.fullmatch(word) or (not is_name_word(word) and word.lower() not in PARTICLES):
                break
            kept.append(word)
        while kept and kept[-1].lower() in PARTICLES:
            kept.pop()
        if kept and (len(kept) > 1 or len(kept[0]) > 2):
            end = (
                whole.find(bare) + len(bare)
                if len(kept) == len(words)
                else whole.find(kept[-1], whole.find(bare)) + len(kept[-1])
            )
            return whole[:end].strip()
    return None


def same_person(one: str, other: str) -> bool:
    """Whether two wordings name the same surname."""
    a, b = strip_titles(one).lower().split(), strip_titles(other).lower().split()
    return bool(a) and bool(b) and (a[-1] == b[-1] or set(a) <= set(b) or set(b) <= set(a))


def ticked_word(value: str) -> str:
    """`☐ weiblich   ☒ männlich`: what is ticked; a value without boxes as it is."""
    found = re.search(r"(?:☒|☑|\[[xX]\]|\([xX]\))\s*(\w+)", value)
    return found[1] if found else value


def another_first(salutation: str, name: Name, first: str) -> bool:
    """`Frau Nadine Kern` beside a patient Theo Kern: another person of that surname."""
    between = salutation[: salutation.casefold().rfind(name.last.casefold())].split()[1:]
    said = [word for word in between if word[0].isupper() and word.isalpha() and word.lower() in FIRST_NAMES]
    return bool(said) and first.split("-")[0] not in " ".join(said)


def leading_name(text: str) -> str:
    """The name words at the beginning: `Anna Kern, welche` -> `Anna Kern`."""
    run: list[str] = []
    for word in text.split()[:8]:
        bare = word.strip(",.;")
        title = re.match(r"(?:Dr|Prof|Mag|DI|Dipl|Ing|med|univ|Herrn?|Hrn?|Fr|Frau)\b", word)
        if title and not run:
            glued = re.match(r"(?:Dr|Mag|Prof)\.(?=[A-ZÄÖÜ])(.+)", word)
            if glued:
                run.append(glued[1].strip(","))
            continue
        if not bare or not (bare[0].isupper() or bare.lower() in ("von", "van", "de", "zu", "zur", "dos", "der")):
            break
        run.append(bare)
        if word[-1] in ",.;" and not (word.endswith(",") and len(run) == 1 and bare.isupper()):
            break
        if word.endswith(","):
            run[-1] = bare + ","
    while run and run[-1].islower():
        run.pop()
    return " ".join(run[:5])


_SALUTATION_BOXES = re.compile(
    r"(?:☐|☒|☑|\[[ xX]?\]|\([ xX]\))\s*(?:Frau|Herr|weiblich|männlich|w|m)\b\s*(?:☐|☒|☑|\[[ xX]?\]|\([ xX]\))\s*"
    r"(?:Frau|Herr|weiblich|männlich|w|m)\b"
)


def ticked_salutation(lines: Sequence[str]) -> str:
    """`☐ Frau ☒ Herr`, `[ ] m  [x] w`: what is ticked in a row of a form; "" where there is no such row."""
    return next((ticked_word(line[:300]) for line in lines if _SALUTATION_BOXES.search(line[:300])), "")
