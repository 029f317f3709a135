"""Explicit values of fixed lists as letters of three countries state them, and what only looks like one."""

import zlib
from collections import Counter

from clinical.contract import Arztbrief, Zuweisung
from clinical.letters import judge
from tests.clinical.letters.grounding.tables import rows

ROWS = rows("stated_choices.tsv")
DOCUMENTS = {"zuweisung": Zuweisung, "arztbrief": Arztbrief}


def is_held_out(text: str) -> bool:
    return zlib.crc32(text.encode()) % 2 == 1


def is_kept(document: str, field: str, value: str, text: str) -> bool:
    outer, _, inner = field.partition(".")
    answer = {"patient": {"nachname": "Amrein"}}
    if inner:
        answer.setdefault(outer, {})[inner] = value
    else:
        answer[outer] = value
    letter = text.replace("↵", "\n").replace("⇥", "\t")
    return next(one for one in judge(answer, letter, document=DOCUMENTS[document]) if one.path == field).kept


def counted(kind: str) -> tuple[Counter[bool], Counter[bool], list[str]]:
    """(rows, rows kept) by whether they are held out, and the rows looked at that are wrong."""
    asked, kept, wrong = Counter(), Counter(), []
    for document, field, value, said, text in ROWS:
        if said == kind:
            found = is_kept(document, field, value, text)
            asked[is_held_out(text)] += 1
            kept[is_held_out(text)] += found
            if found != (kind == "true") and not is_held_out(text):
                wrong.append(f"{field} {value}: {text}")
    return asked, kept, wrong


def test_values_that_a_letter_states_are_kept_also_in_words_nobody_looked_at():
    asked, kept, wrong = counted("true")
    assert asked[False] > 130
    assert asked[True] > 120
    assert wrong == []
    assert kept[True] / asked[True] >= 0.97, f"{kept[True]} of {asked[True]}"


def test_what_only_looks_like_a_stated_value_is_removed():
    asked, kept, wrong = counted("trap")
    assert asked[False] > 75
    assert asked[True] > 75
    assert wrong == []
    assert kept[True] <= 1, f"{kept[True]} of {asked[True]}"


def test_every_value_of_every_list_is_stated_in_both_halves():
    halves = [
        {(field, value) for _, field, value, _, text in ROWS if is_held_out(text) is half} for half in (True, False)
    ]
    assert halves[0] == halves[1]
    assert len(halves[0]) == 13
