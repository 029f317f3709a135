"""Diagnoses told in sentences, where a letter has no list of them: `leidet an einer Gicht`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bentos.embedded.entries import VERB, may_be_diagnosis
from bentos.embedded.sentences import sentences

_ADVERB = r"(?:(?:seit|bei|mit|ihm|ihr|Jahren|\w*jährig\w*|auch|noch|zudem|zusätzlich|weiterhin|bekanntlich)\s){0,5}"
_ARTICLE = r"(?:eine[rmns]?|ein|de[rmn]|die)\s"
_TOLD = re.compile(
    rf"\b(?:leidet\s(?:\w+\s){{0,2}}?(?:an|unter)\s(?:{_ARTICLE})?"
    rf"|(?:besteht|bestehen)\s{_ADVERB}(?:{_ARTICLE})"
    rf"|an\sVorerkrankungen\s(?:sind|bestehen)\s(?:bekannt:?\s)?"
    rf"|bekannt\s(?:sind|ist)\s(?:{_ARTICLE})?"
    rf"|bei\s(?:bekannte[mr]\s)"
    rf"|(?=Verdacht\sauf\s|V\.\s?a\.\s|Zustand\snach\s|St\.\s?n\.\s|Z\.\s?n\.\s))"
)
_END = re.compile(
    r"[;:?!(–]|\.(?:\s|$)|,?\s(?:weshalb|sodass|so\sdass|wobei|der|die|das|welche\w*|da|weil|als|wenn|nicht|los|"
    r"und\s(?:ich|wir|er|sie|es|bitte\w*|nimmt|wird|wurde|hat|ist)|behandelt\w*|bekannt|seit|unter|mit\sder\sBitte)\b"
)
_DIVIDES = re.compile(
    rf",\s+(?:sowie\s)?(?:{_ARTICLE})?|\s(?:und|sowie)\s(?:{_ARTICLE})?(?=(?:[a-zäöü]+\s)?[^\W\d_a-zäöü])"
)
_DENIED = re.compile(r"\b(?:kein\w*|nicht|ohne|ausgeschlossen|Vater|Mutter|Bruder|Schwester|Ehe\w+|Familie\w*)\b")
LONGEST = 90
"""Characters of a diagnosis told in a sentence; more is a clause."""


def told_diagnoses(text: str) -> Iterator[str]:
    """What each sentence of a text says the patient has; a sentence that denies or is about relatives says nothing."""
    for sentence in sentences(text):
        if len(sentence) > 600:
            continue
        taken = 0
        for found in _TOLD.finditer(sentence):
            if found.start() < taken or _DENIED.search(sentence[: found.start()][-40:]):
                continue
            stop = _END.search(sentence, found.end() + 4)
            taken = stop.start() if stop else len(sentence)
            whole = sentence[found.end() : taken]
            yield from (one for one in map(_tidy, _DIVIDES.split(whole)) if one and _is_diagnosis(one))


def _tidy(piece: str) -> str:
    return piece.strip(" .,;")


def _is_diagnosis(piece: str) -> bool:
    named = any(word[:1].isupper() and len(word) > 3 for word in piece.split())
    return (
        named
        and len(piece) <= LONGEST
        and not VERB.search(piece)
        and not _DENIED.search(piece)
        and may_be_diagnosis(piece)
    )
