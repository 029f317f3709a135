"""The same query as somebody else writes it: a slip of the keyboard, another spelling, apart, shortened, in a note."""

from __future__ import annotations

import random
import re
import string

_UMLAUTS = (("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("Ä", "Ae"), ("Ö", "Oe"), ("Ü", "Ue"), ("ß", "ss"))
_FLAT = str.maketrans("äöüÄÖÜ", "aouAOU") | {ord("ß"): "ss"}
_VOWELS = "aeiouyäöü"

SHORTEST_CUT = 4
"""Letters that `cut_off` leaves of a word, at least."""

HEADS = (
    "insuffizienz", "entzündung", "karzinom", "erkrankung", "krankheit", "syndrom", "infektion", "störung",
    "verletzung", "blutung", "schmerzen", "schmerz", "fraktur", "operation", "lähmung", "schwäche", "vergiftung",
    "geschwulst", "tumor", "stenose", "thrombose", "embolie", "prolaps", "schwellung", "geschwür", "riss",
    "bruch", "mangel",
)  # fmt: skip
"""Last parts of German compounds that name a disease, an injury or a complaint."""

ABBREVIATIONS = {
    "Zustand nach": "Z.n.", "Verdacht auf": "V.a.", "chronische?[rns]?": "chron.", "akute?[rns]?": "ak.",
    "rechts": "re.", "links": "li.", "beidseits": "bds.", "nicht näher bezeichnete?[rns]?": "n.n.bez.",
    "Diabetes mellitus": "DM", "arterielle": "art.", "Hypertonie": "HT", "Erkrankung": "Erkr.", "Syndrom": "Sy.",
    "Fraktur": "Fx", "Karzinom": "Ca", "Infektion": "Inf.", "Insuffizienz": "Insuff.", "Herzinsuffizienz": "HI",
    "Niereninsuffizienz": "NI", "koronare Herzkrankheit": "KHK", "Myokardinfarkt": "MI", "Wirbelsäule": "WS",
    "Halswirbelsäule": "HWS", "Lendenwirbelsäule": "LWS", "Harnwegsinfekt": "HWI", "mit": "m.", "ohne": "o.",
    "und": "u.", "durch": "d.", "angeboren(?=e)": "ang", "postoperative?[rns]?": "postop.", "sekundäre?[rns]?": "sek.",
}  # fmt: skip
"""Clinicians' abbreviations: regular expression to short form; not taken from Befund's own list of shorthand."""

OPENINGS = (
    "Der Patient stellt sich heute in der Sprechstunde vor, er kommt zu Fuss und in gutem Allgemeinzustand.",
    "Die Patientin wird vom Hausarzt geschickt, der Verlauf seit der letzten Kontrolle war ruhig.",
    "Vorstellung zur Verlaufskontrolle, das letzte Gespräch liegt drei Monate zurück.",
)
CLOSINGS = (
    "Das weitere Vorgehen wurde besprochen, ein Termin in vier Wochen ist vereinbart.",
    "Die Unterlagen gehen an den Hausarzt, Fragen wurden beantwortet.",
    "Die Kontrolle erfolgt in der Praxis, die Therapie bleibt wie bisher.",
)


def typo(query: str, chance: random.Random) -> str:
    """One random edit of a character inside a word: swapped with the next, dropped, doubled, or replaced."""
    places = [match.start() for match in re.finditer(r"[^\W\d_](?=[^\W\d_])", query)]
    if not places:
        return query
    at = chance.choice(places)
    return chance.choice(
        (
            query[:at] + query[at + 1] + query[at] + query[at + 2 :],
            query[:at] + query[at + 1 :],
            query[: at + 1] + query[at:],
            query[:at] + chance.choice(string.ascii_lowercase) + query[at + 1 :],
        )
    )


def spelling(query: str, chance: random.Random) -> str:
    """Umlauts written out, and c for k or z, k or z for c, each character by chance."""
    for umlaut, written in _UMLAUTS:
        query = query.replace(umlaut, written)
    return "".join(_other_letter(query, at, chance) for at in range(len(query)))


def _other_letter(query: str, at: int, chance: random.Random) -> str:
    """Karzinom, Carcinom: c before a, o, u, l, r is also k; c before e, i, y is also z; and the other way round."""
    letter, following = query[at], query[at + 1 : at + 2].lower()
    if letter.lower() not in "ckz" or following in "hkszt" or query[at - 1 : at].lower() in "sct":
        return letter
    hard = following in "aoulr"
    other = {"c": "k" if hard else "z", "k": "c", "z": "c"}[letter.lower()]
    fits = following != "" and (hard or (following in "eiyäö" and letter.lower() != "k"))
    if not fits or chance.random() < 0.5:
        return letter
    return other.upper() if letter.isupper() else other


def flattened(query: str, chance: random.Random) -> str:
    """Umlauts without their dots, as a keyboard or a system without them gives it: Gerauschempfindlichkeit."""
    return query.translate(_FLAT)


def lowered(query: str, chance: random.Random) -> str:
    """All in lower case."""
    return query.lower()


def apart(query: str, chance: random.Random) -> str:
    """One compound written apart, with a blank or a hyphen: Herz Insuffizienz, Herz-Insuffizienz."""
    cuts = [
        (match.start(), match.start() + len(match.group()) - len(head))
        for match in re.finditer(r"[^\W\d_]{9,}", query)
        for head in HEADS
        if match.group().lower().endswith(head) and len(match.group()) - len(head) >= 4
    ]
    if not cuts:
        return query
    _, cut = chance.choice(cuts)
    first = query[:cut].removesuffix("s") if query[cut - 1 : cut] == "s" and chance.random() < 0.5 else query[:cut]
    return first + chance.choice((" ", "-")) + query[cut].upper() + query[cut + 1 :]


def abbreviated(query: str, chance: random.Random) -> str:
    """Every wording that clinicians shorten; where there is none, one long word cut off after 4 or 5 characters."""
    short = query
    for wording, abbreviation in ABBREVIATIONS.items():
        short = re.sub(rf"\b{wording}\b", abbreviation, short, flags=re.IGNORECASE)
    words = list(re.finditer(r"\b[^\W\d_]{9,}\b", query))
    if short != query or not words or len(query.split()) == 1:  # one word cut off alone would say nothing
        return short
    word = chance.choice(words)
    return query[: word.start() + chance.choice((4, 5))] + "." + query[word.end() :]


def cut_off(query: str, chance: random.Random) -> str:
    """Some of the long words of several cut off by rule, not by a table: behind a consonant before a vowel, at a random
    place from the fifth letter on, with a dot: Hypertens. Herzkrankh. One word alone stays as it is."""
    cuts = [
        (match, places)
        for match in re.finditer(r"[^\W\d_]{7,}", query)
        if (places := [at for at in range(SHORTEST_CUT, len(match.group()) - 2) if _ends_syllable(match.group(), at)])
    ]
    if not cuts or len(re.findall(r"[^\W\d_]+", query)) < 2:
        return query
    some = sorted(chance.sample(range(len(cuts)), chance.randint(1, len(cuts))), reverse=True)
    for match, places in (cuts[number] for number in some):
        query = query[: match.start() + chance.choice(places)] + "." + query[match.end() :]
    return query


def _ends_syllable(word: str, at: int) -> bool:
    return word[at - 1].lower() not in _VOWELS and word[at].lower() in _VOWELS


def without_dots(query: str) -> str:
    """Without the dots of abbreviations: Hypertens Herzkrankh."""
    return re.sub(r"(?<=[^\W\d_])\.(?!\w)", "", query)


def in_a_note(query: str, chance: random.Random) -> str:
    """Put the query into a longer note, between an opening and a closing; nothing added is a code by itself."""
    return f"{chance.choice(OPENINGS)} {query}. {chance.choice(CLOSINGS)}"
