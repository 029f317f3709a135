"""What a place in the text is said of: denied, excluded, or of a relative instead of the patient.

Rules in the manner of NegEx (Chapman et al. 2001, "A simple algorithm for identifying negated findings and diseases in
discharge summaries") for German: cues before a thing reach to the end of the sentence or a stopper, cues behind it
stay in its clause. A suspicion ("V. a.") denies nothing. Doubt is decided against the value.
"""

from __future__ import annotations

import re

from clinical.language.tokens import BREAK, COLON, COMMA, STOP, Source
from clinical.language.vocabulary import (
    ABOUT,
    CUE_NOUNS,
    DENIALS,
    DENIED_AFTER,
    DENYING_VERBS,
    EXCLUSIONS,
    FAMILIAL,
    QUALIFIERS,
    RELATIVES,
    REPORTING,
    SELF,
    SPOUSE_VERBS,
    SPOUSES,
    STOPPERS,
)

REACH_BEFORE = 40
"""Tokens a denial or a relative is looked for before a thing: longer than enumerations in letters run."""

REACH_AFTER = 7
"""Tokens a denial is looked for behind a thing ("Pneumonie konnte radiologisch nicht nachgewiesen werden")."""

REACH_NICHT = 3
"""Tokens `nicht` reaches forward: it denies the word it stands before, not the sentence."""

_FAMILY_HEADING = re.compile(
    r"^\s*(?:FA|F\.A\.|Fam\.?\s?-?(?:A\.?|anamnese)|Familien\w*|Familiäre\s+\w+|Hereditär\w*)\s*[:\-–\n.]",
    re.IGNORECASE,
)
_OTHER_HEADING = re.compile(r"^\s*(?:[-•*]\s*)?[A-ZÄÖÜ][\wäöüß ./()-]{1,40}:")
_FAMILY_LINES = 8


def is_denied(source: Source, first: int, last: int, *, exclusions: bool = True) -> bool:
    """Whether tokens `first..last` are denied where they stand; `exclusions`: whether "Ausschluss X" counts."""
    return _denied_before(source, first, exclusions) or _denied_after(source, last)


def is_of_a_relative(source: Source, first: int, last: int) -> bool:
    """Whether tokens `first..last` are said of a relative where they stand."""
    return _relative_before(source, first) or _relative_after(source, last) or _under_family_heading(source, first)


_SIGN_BEFORE = re.compile(r"[Øø∅⌀]\s?$")
_SIGN_BEHIND = re.compile(r"\s?(?:∅|⌀|Ø|\(-\)|\(–\)|\(neg\.?\))")


def _denied_before(source: Source, first: int, exclusions: bool) -> bool:
    words, stopped = source.words, False
    if _SIGN_BEFORE.search(source.text, max(0, source.start[first] - 3), source.start[first]):
        return True
    for k in range(first - 1, max(-1, first - 1 - REACH_BEFORE), -1):
        if source.ends_clause(k + 1):
            return False
        word = words[k]
        if word in DENIALS:
            return not stopped or _introduces(source, k, first)
        if word == "nicht" and not _undone(source, k):
            if _opens_denial(source, k, first, stopped):
                return True
        elif exclusions and not stopped and (word in EXCLUSIONS or (word == "a" and words[k - 1 : k] == ["z"])):
            return words[k - 1] != "nicht" if k else True
        elif _speaks_against(source, k, first):
            return True
        stopped = stopped or (word in STOPPERS and not _is_part_of_phrase(source, k))
    return False


def _opens_denial(source: Source, nicht: int, first: int, stopped: bool) -> bool:
    """`nicht insulinpflichtiger X`, `nicht nachweisbar: X`, `nicht vereinbar mit X`."""
    words = source.words
    if words[nicht + 1] in DENYING_VERBS and any(source.gap(j) == COLON for j in range(nicht + 2, first + 1)):
        return True
    if words[nicht + 1] in ("vereinbar", "passend", "typisch") and first - nicht <= REACH_NICHT + 2:
        return True
    near = first - nicht <= REACH_NICHT and not stopped
    return near and not any(source.gap(j) >= COMMA for j in range(nicht + 1, first + 1))


def _speaks_against(source: Source, k: int, first: int) -> bool:
    """`negativ für X`, `frei von X`, `gegen X spricht`, `spricht gegen X`."""
    words = source.words
    word, close = words[k], first - k <= 3
    if word.startswith("negativ"):
        return any(about in ABOUT for about in words[k + 1 : k + 3]) and first - k <= 5
    if word == "frei":
        return words[k + 1] == "von" and close
    if word == "gegen" and close:
        return any(other.startswith(("sprich", "sprech", "sprach")) for other in words[max(0, k - 4) : first + 4])
    return False


def _is_part_of_phrase(source: Source, k: int) -> bool:
    """`z` of `z. B.`, `v` of `v. a.`: letters that stop only as `Z. n.` and `V. a.`."""
    if source.words[k] in ("z", "v", "st"):
        return source.words[k + 1 : k + 2] not in (["n"], ["a"], ["p"])
    return False


def _introduces(source: Source, cue: int, first: int) -> bool:
    """`kein Hinweis im CT bei guter Qualität auf X`: the cue noun's own preposition stands before the thing.

    And `kein V. a. X`, `kein Zustand nach X`: only qualifiers stand between.
    """
    between = source.words[cue + 1 : first]
    noun = any(word in CUE_NOUNS for word in between[:2])
    own_preposition = any(word in ("auf", "fuer", "einer", "eines", "von") for word in between[-3:])
    return (noun and own_preposition) or all(word in QUALIFIERS for word in between)


def _undone(source: Source, nicht: int) -> bool:
    """`nicht ausgeschlossen` and `nicht nur` deny nothing."""
    after = source.words[nicht + 1 : nicht + 3]
    return any(word in EXCLUSIONS or word.startswith("auszuschl") or word == "nur" for word in after)


def _denied_after(source: Source, last: int) -> bool:
    words = source.words
    if _SIGN_BEHIND.match(source.text, source.end[last]):
        return True
    for k in range(last + 1, min(len(words), last + 1 + REACH_AFTER)):
        if source.ends_clause(k) or (k > last + 1 and _is_comma(source, k)):
            return False
        word = words[k]
        if word in DENIED_AFTER:
            return words[k - 1] not in ("nicht", "nie", "hepatitis")
        if word.startswith("kein") and word in DENIALS:
            return _ends_here(source, k)
        if word == "nicht":
            return _nicht_denies(source, k, last)
        if _is_comma(source, k) or word in ("mit", "bei", "aber", "jedoch"):
            return False
    return False


def _is_comma(source: Source, k: int) -> bool:
    return source.gap(k) == COMMA and "," in source.glue(k)


def _ends_here(source: Source, k: int) -> bool:
    """`X: keine`, `Zeichen für X fanden sich keine`: nothing follows that it could deny instead."""
    return k + 1 >= len(source) or source.ends_clause(k + 1) or _is_comma(source, k + 1)


def _nicht_denies(source: Source, nicht: int, last: int) -> bool:
    """`X nicht nachweisbar`, `X liegt nicht vor`; but not `X nicht ausgeschlossen`, `X nicht optimal`."""
    words = source.words
    after = words[nicht + 1 : nicht + 4]
    if any(word.startswith(("ausgeschl", "auszuschl", "ausschl")) for word in after):
        return False
    verb_before = any(
        word.startswith(("besteh", "bestand", "liegt", "lag", "finde", "fand", "zeig", "konnte"))
        for word in words[last + 1 : nicht]
    )
    ends = nicht + 1 >= len(words) or source.gap(nicht + 1) >= COMMA
    return any(word in DENYING_VERBS for word in after) or verb_before or ends


def _relative_before(source: Source, first: int) -> bool:
    words = source.words
    for k in range(first - 1, max(-1, first - 1 - REACH_BEFORE), -1):
        if source.ends_clause(k + 1):
            return False
        word = words[k]
        if word in SELF:
            if _is_whose(source, k):
                continue
            return False
        if word.startswith(FAMILIAL):
            return True
        if word in RELATIVES:
            return _is_subject(source, k)
        if word in SPOUSES and (source.gap(k + 1) == COLON or words[k + 1] in SPOUSE_VERBS):
            return True
    return False


def _is_whose(source: Source, k: int) -> bool:
    """`der Vater des Patienten`: still the father."""
    return k > 1 and source.words[k - 1] in ("des", "der", "unseres") and source.words[k - 2] in RELATIVES


def _is_subject(source: Source, k: int) -> bool:
    """Not `die Mutter berichtet` (who speaks) nor `laut Vater`; `FA` only as the abbreviation it is."""
    words = source.words
    if words[k] == "fa":
        return source.gap(k + 1) == COLON or source.text[source.start[k] : source.end[k]] == "FA"
    speaks = words[k + 1 : k + 2] and words[k + 1] in REPORTING
    cited = k > 0 and words[k - 1] in ("laut", "lt", "gemaess", "durch")
    return not (speaks or cited)


def _relative_after(source: Source, last: int) -> bool:
    """`Herzinfarkt des Vaters`, `Diabetes (Mutter)`, `Asthma bei Schwester`, `Epilepsie mütterlicherseits`."""
    words = source.words
    between = (
        "des",
        "der",
        "dem",
        "beim",
        "bei",
        "seines",
        "seiner",
        "ihres",
        "ihrer",
        "in",
        "von",
        "im",
        "und",
        "auch",
    )
    for k in range(last + 1, min(len(words), last + 5)):
        gap = source.gap(k)
        if source.ends_clause(k) or gap >= STOP or (gap == COMMA and "," in source.glue(k)):
            return False
        word = words[k]
        if word in RELATIVES or (word.startswith(FAMILIAL) and k == last + 1):
            return True
        if word not in between:
            return False
    return False


def _under_family_heading(source: Source, first: int) -> bool:
    """Whether the line, or the heading above it with no other in between, is the family history's."""
    text, line_start = source.text, source.text.rfind("\n", 0, source.start[first]) + 1
    if _FAMILY_HEADING.match(source.line_of(first)):
        return not any(word in SELF for word in _words_of_line_before(source, first))
    if _OTHER_HEADING.match(source.line_of(first)):
        return False
    for _ in range(_FAMILY_LINES):
        if line_start == 0:
            return False
        previous = text.rfind("\n", 0, line_start - 1) + 1
        line = text[previous:line_start]
        if heading := _FAMILY_HEADING.match(line):
            return not line[heading.end() :].strip() or _continues(source, line_start, line)
        if not line.strip() or _OTHER_HEADING.match(line):
            return False
        line_start = previous
    return False


def _continues(source: Source, line_start: int, line: str) -> bool:
    """`FA: Vater Herzinfarkt mit` / `Diabetes`: a family line that is wrapped, not one that is finished."""
    return len(line) > 45 or source.text[line_start : line_start + 1].islower()


def _words_of_line_before(source: Source, first: int) -> list[str]:
    line_start = source.text.rfind("\n", 0, source.start[first]) + 1
    k = first
    while k > 0 and source.start[k - 1] >= line_start and source.gap(k) != BREAK:
        k -= 1
    return source.words[k:first]
