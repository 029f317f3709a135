"""The words reading and grounding must know by name: sides, units, stages, opposites, words that carry nothing.

One table per idea, spelled as `folding.spelling` spells (ä is ae, ß is ss, all lower case), so that a clinician
can read and extend them. What stands here is language, not measurement: no threshold lives in this file.
"""

from __future__ import annotations

import re


def word_set(words: str) -> frozenset[str]:
    """The words of a string, as a table is easiest to read and extend."""
    return frozenset(words.split())


RIGHT, LEFT, BOTH = "§r", "§l", "§b"
"""Keys of the sides: whatever the spelling, one key (Latin: dexter, sinister)."""

SIDES: dict[str, str] = {
    **dict.fromkeys(("rechts", "re", "rechte", "rechter", "rechten", "rechtem", "rechtes", "dexter", "dextra"), RIGHT),
    **dict.fromkeys(("dextrum", "dext", "dextri", "dextrae", "rechtsseits"), RIGHT),
    **dict.fromkeys(("links", "li", "linke", "linker", "linken", "linkem", "linkes", "sinister", "sinistra"), LEFT),
    **dict.fromkeys(("sinistrum", "sin", "sinistri", "sinistrae", "linksseits"), LEFT),
    **dict.fromkeys(("beidseits", "bds", "bdsts", "beids", "bilateral", "bilat", "beiderseits"), BOTH),
}
SIDE_STEMS = {"rechtsseitig": RIGHT, "linksseitig": LEFT, "beidseitig": BOTH, "bilateral": BOTH, "beidseit": BOTH}

UNITS: dict[str, str] = {
    **{
        unit: unit for unit in ("mg", "g", "kg", "ml", "l", "dl", "cm", "mm", "m", "mmol", "mol", "mval", "mbar", "kpa")
    },
    **{unit: unit for unit in ("mmhg", "u", "tage", "wochen", "monate", "jahre", "std", "h", "d", "min", "x", "mal")},
    **dict.fromkeys(("µg", "μg", "mcg", "ug", "mikrogramm"), "mcg"),
    **dict.fromkeys(("ie", "iu", "e", "einheiten"), "ie"),
    **dict.fromkeys(("tbl", "tabl", "tablette", "tabletten", "tab"), "tbl"),
    **dict.fromkeys(("kps", "kapsel", "kapseln", "kaps"), "kps"),
    **dict.fromkeys(("tropfen", "trpf", "tr", "gtt"), "gtt"),
    **dict.fromkeys(("hub", "huebe", "stoesse", "hueben"), "hub"),
    **dict.fromkeys(("%", "prozent"), "%"),
    **dict.fromkeys(("milligramm",), "mg"),
    **dict.fromkeys(("gramm",), "g"),
}
"""Units and forms that change what a number before them says; equal spellings share a key."""

TIMES: dict[str, str] = {
    **dict.fromkeys(("taeglich", "tgl", "tag", "pd"), "§daily"),
    **dict.fromkeys(("woechentlich", "wtl", "woche"), "§weekly"),
    **dict.fromkeys(("monatlich", "mtl"), "§monthly"),
    **dict.fromkeys(("morgens", "frueh"), "§morning"),
    **dict.fromkeys(("mittags",), "§noon"),
    **dict.fromkeys(("abends",), "§evening"),
    **dict.fromkeys(("nachts",), "§night"),
}

OPPOSITE_STEMS: tuple[str, ...] = (
    "akut", "chronisch", "proximal", "distal", "medial", "lateral", "ventral", "dorsal", "kranial", "kaudal",
    "anterior", "posterior", "superior", "inferior", "benign", "malign", "primaer", "sekundaer", "positiv", "negativ",
    "systolisch", "diastolisch", "hypo", "hyper", "leichtgradig", "mittelgradig", "hochgradig", "schwer", "leicht",
    "praeoperativ", "postoperativ", "instabil", "stabil", "ober", "unter", "inner", "aeusser", "vorder", "hinter",
    "absetz", "abgesetz", "pausier", "paus", "steiger", "reduzier", "erhoeh", "fortfuehr", "weiterfuehr", "stopp",
)  # fmt: skip
"""Stems whose word turns the meaning round: one that the text does not say is an invention by itself."""

_OPPOSITE = re.compile(
    r"(?:" + "|".join(OPPOSITE_STEMS) + r")(?:e[nmrs]?|s|er[ensm]*|ig(?:e[nmrs]?)?|en|ung|t|iert|ieren)?"
)

STAGE_WORDS = word_set(
    """grad grades gradig grade stadium stadien stad typ nyha ccs asa klasse stufe fontaine child pugh phase uicc figo
    gold killip rutherford weber stanford debakey hepatitis vitamin faktor gustilo forrest mallampati dig gruppe
    kellgren lawrence"""
)
"""Words that a following Roman number or single character makes a grade, a type or a stage."""

ROMAN = {"i": "1", "ii": "2", "iii": "3", "iv": "4", "v": "5", "vi": "6", "vii": "7", "viii": "8", "ix": "9", "x": "10"}

FUNCTION_WORDS = word_set(
    """der die das des dem den ein eine einer eines einem einen und oder sowie bzw im in am an auf aus bei beim mit
    nach seit von vom zu zum zur fuer ueber unter um durch als wie auch noch mehr sehr ist sind war wird wurde z n
    v a zustand verdacht st p status post d o g s c i m e"""
)
"""Words that carry nothing by themselves: neither evidence nor invention."""

QUALIFIERS: dict[str, str] = {
    **dict.fromkeys(("z", "zustand", "st", "status"), "zustand"),
    **dict.fromkeys(("n", "nach", "p", "post"), "nach"),
    **dict.fromkeys(("v", "verdacht"), "verdacht"),
    **dict.fromkeys(("a", "auf"), "auf"),
}
"""`Z. n.`, `St. p.`, `Zustand nach`; `V. a.`, `Verdacht auf`: one key for all spellings."""
QUALIFYING = frozenset(("zustand", "verdacht"))
"""Qualifiers of past or suspected diseases, which a value may not add before a disease on its own."""

CONNECTORS = word_set("""und oder sowie mit bei nach ohne bzw wegen u unter trotz durch gegen aber sondern""")
"""Words behind which another thing begins: what stands on both sides is not one thing."""

TITLES = word_set(
    """dr med prof pd univ habil dent phil mult dipl mag doz priv oa oae cha ra ass rer nat h c msc bsc mba fmh"""
)
SALUTATIONS = word_set("herr herrn frau hr fr hrn")


_SIDED = tuple(SIDE_STEMS)


def side_of(word: str) -> str | None:
    """The key of the side a spelled word names, or None."""
    found = SIDES.get(word)
    if found is None and len(word) > 7 and word.startswith(_SIDED):
        found = next((side for stem, side in SIDE_STEMS.items() if word.startswith(stem)), None)
    return found


def is_opposite(word: str) -> bool:
    """True if the word is one of a pair of opposites."""
    return _OPPOSITE.fullmatch(word) is not None
