"""Rights of programs: SMART scopes `system/<type>.<letters>` (SMART App Launch 2.2, scopes and launch context).

Of the letters, `c` creates, `r` reads by id, `u` updates, `d` deletes where the organization lets programs do that, `s`
searches and lists what became of a type. `Binary.r` are the files of documents, and `DocumentReference.r` includes it:
whoever has neither finds documents without links to their files.
"""

import re
from collections.abc import Iterable

from webapp.fhir.searching.wanted import Right

TYPES = ("DocumentReference", "Binary", "Patient", "ImagingStudy")
DEFAULT = "system/DocumentReference.rs system/Binary.r system/Patient.rs system/ImagingStudy.rs"
_SCOPE = re.compile(rf"system/(\*|{'|'.join(TYPES)})\.(c?r?u?d?s?|read|write|\*)")
_V1 = {"read": "rs", "write": "cud", "*": "cruds"}

Rights = frozenset[Right]
FILES: Right = ("Binary", "r")
"""The right to have a file, by `Binary/<id>` or by a link. Whoever may read documents may read their files."""


def problem(text: str) -> str:
    """The fault of scopes as an operator enters them, "" where there is none."""
    parts = text.split(" ")
    wrong = [part for part in parts if not _SCOPE.fullmatch(part) or part.endswith(".")]
    return f"not a scope: {', '.join(wrong)}; expected words like {DEFAULT.split()[0]}" if wrong else ""


def rights(scopes: str) -> Rights:
    """The rights that scopes give; words that are no scope of ours give none."""
    found: set[Right] = set()
    for match in filter(None, map(_SCOPE.fullmatch, scopes.split())):
        kinds = TYPES if match[1] == "*" else (match[1],)
        found |= {(kind, letter) for kind in kinds for letter in _V1.get(match[2], match[2])}
    return frozenset(found)


def granted(allowed: str, asked: str) -> str:
    """Those of the scopes that were asked for which the account is allowed in full, by single spaces; all of the
    account's when none were named."""
    if not asked.strip():
        return allowed
    have = rights(allowed)
    return " ".join(scope for scope in dict.fromkeys(asked.split()) if rights(scope) and rights(scope) <= have)


def missing(have: Rights, needed: Iterable[Right]) -> str:
    """The rights of `needed` that are not there, as scopes by single spaces; "" when all are."""
    implied = {FILES} if ("DocumentReference", "r") in have else set()
    return " ".join(sorted({f"system/{kind}.{letter}" for kind, letter in {*needed} - have - implied}))
