"""Which of two names is the surname, where no comma tells: known first names, doubled names, endings."""

from __future__ import annotations

import re

from bentos.embedded.names.words import FIRST_NAMES, MORE_FIRST_NAMES

DECIDED = 0.5
"""Difference of the scores of two words from which one of them is taken to be the first name."""

_SURNAME_END = re.compile(
    r"(?:mann|berger|inger|hofer|huber|bauer|meie?r|maie?r|maye?r|meye?r|müller|schmidt?|i[cć]|sk[iy]|czyk|wicz|ss?on|"
    r"sen|o[gğ]lu|poulos|idis|akis|enko|stein|feld|bach|hauser|egger|acher|inger|hammer|moser|brunner|dorf|thal|wald|"
    r"kamp|horst|owski|ová|ow|off|escu|quist|gaard|ström|[^aeiouäöü]ler|[^aeiouäöü]ner|bühl|acker|holz|rieder)$"
)
_GIVEN_END = re.compile(
    r"(?:fried|bert|hild|hilde|gard|linde|traud|traut|trud|mut|helm|wig|slav|mir|iana|ette|ina|ela|ika|ella|ila|ita|"
    r"isa|una|ija|ius|ian|lyn|elle|ane|ene)$"
)


def given(word: str) -> float:
    """How much a word looks like a first name (above 0) or a surname (below 0)."""
    plain = word.lower().strip(".,")
    parts = plain.split("-")
    known = [part in FIRST_NAMES or part in MORE_FIRST_NAMES for part in parts]
    if all(known):
        return 2.0
    if any(known):
        return 1.0 if known[0] else -0.5
    score = -1.5 if len(parts) > 1 else 0.0
    if _SURNAME_END.search(plain):
        score -= 1.0
    return score + 0.6 * (_GIVEN_END.search(plain) is not None)


def surname_first(words: list[str], register: bool) -> bool:
    """Whether the surname stands first. `register`: the place where lists of people have it first."""
    difference = given(words[-1]) - given(words[0])
    return difference > 0 if abs(difference) >= DECIDED else register
