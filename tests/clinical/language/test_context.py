"""Every row of the table of trigger words says in its example what it promises, and not in its counter-example."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from clinical.language import Reading, group, spelling
from clinical.language.context.triggers import DEFAULTS, TriggerRow, read_table, table


def claim_of(sentence: str):
    """The claim of the mention that stands in square brackets."""
    start, end = sentence.index("["), sentence.index("]") - 1
    return Reading.of(sentence.replace("[", "").replace("]", "")).claim(start, end)


def says(row: TriggerRow, sentence: str) -> bool:
    claim = claim_of(sentence)
    return all(getattr(claim, axis) == (DEFAULTS[axis] if row.value == "-" else row.value) for axis in row.axes)


@pytest.mark.parametrize("row", table().rows, ids=lambda row: f"{row.axes[0]} {row.value} {row.trigger[:40]}")
def test_each_row_says_what_it_promises(row):
    assert says(row, row.example), f"the example {row.example!r} does not show it: {claim_of(row.example)}"
    assert not says(row, row.counter_example), f"the counter-example {row.counter_example!r} shows it too"


@pytest.mark.parametrize(
    "line",
    [
        "kein\tnegation\tdenied\tbefore\tlist\tKein [Fieber].",
        "kein\tnegation\tnever\tbefore\tlist\tKein [Fieber].\t[Fieber].",
        "kein\tmood\tdenied\tbefore\tlist\tKein [Fieber].\t[Fieber].",
        "kein\tnegation\tdenied\tabove\tlist\tKein [Fieber].\t[Fieber].",
    ],
)
def test_a_line_that_cannot_be_read_is_named(line):
    with pytest.raises(ValueError, match=r"context\.tsv, line 2"):
        read_table(f"# a comment\n{line}\n")


# --- the only home of trigger words ---------------------------------------------------------------------------------

ROOM = Path(__file__).resolve().parents[3] / "clinical"
GOVERNING = {"negation": ("denied", "excluded"), "certainty": ("suspected", "questioned"), "temporality": ("past",)}
NO_TABLES = {
    "coding/prompts.py": "sentences for a language model",
    "extraction.py": "sentences for a language model",
    "grounding/names.py": "names of streets: Alte, Alter",
    "grounding/review.py": "sentences for people",
    "grounding/words.py": "beginnings of words that turn their meaning round",
    "search/reading/lattice.py": "words within a mention that carry no meaning, whatever is claimed",
}
"""Where such words stand side by side and are no table of claims."""


@cache
def trigger_words() -> frozenset[str]:
    """Spelled words that by themselves deny, suspect or put into the past, and all words for relatives."""
    rows = [row for row in table().rows if row.value in GOVERNING.get(row.axes[0], ()) and len(row.elements) == 1]
    words = {word for row in rows for word in row.elements[0].words}
    for name in ("@relative", "@spouse", "@other", "@another", "@earlier", "@denying", "@denied_behind"):
        words |= group(name).words
    return frozenset(words)


def lists_of(text: str) -> Iterator[str]:
    """What is written side by side in a module: strings, and the strings of one tuple, list, set or dictionary."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Tuple | ast.List | ast.Set | ast.Dict):
            parts = node.values if isinstance(node, ast.Dict) else node.elts
            yield " ".join(
                part.value for part in parts if isinstance(part, ast.Constant) and str(part.value) == part.value
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield "" if node.value in text.split('"""')[1::2] else node.value


def side_by_side(text: str) -> set[str]:
    """Trigger words of a list, where there are two or more; a sentence for people has blanks and stops between."""
    found = {word for word in re.findall(r"[a-zäöüß]+", text.casefold()) if spelling(word) in trigger_words()}
    return found if len(found) > 1 else set()


def test_no_other_room_lists_words_for_denial_doubt_the_past_or_relatives():
    strange = {}
    for path in sorted([*ROOM.rglob("*.py"), *ROOM.rglob("*.tsv")]):
        name = path.relative_to(ROOM).as_posix()
        if not name.startswith("language/"):
            text = path.read_text("utf-8")
            rows = lists_of(text) if path.suffix == ".py" else (line for line in text.splitlines() if line[:1] != "#")
            found = set().union(*(side_by_side(row) for row in rows))
            if found and name not in NO_TABLES:
                strange[name] = found
    assert strange == {}, f"they belong into clinical/language/context/context.tsv: {strange}"


def test_the_search_for_such_lists_finds_one():
    assert side_by_side("vater|mutter|notfall") == {"vater", "mutter"}
    assert "".join(lists_of('WORDS = ("verneint", "ausgeschlossen")')).startswith("verneint ausgeschlossen")
