"""Every row of the table of trigger words says in its example what it promises, and not in its counter-example."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from clinical.claims import Reading, group
from clinical.claims.triggers import DEFAULTS, TriggerRow, read_table, table
from clinical.text import spelling


def claim_of(sentence: str):
    """The claim of the mention that stands in square brackets."""
    start, end = sentence.index("["), sentence.index("]") - 1
    return Reading.of(sentence.replace("[", "").replace("]", "")).ruled(start, end)


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


def test_a_colleague_who_is_greeted_is_nobody_of_whom_a_letter_speaks():
    assert group("@others").fits("bettnachbar")
    assert not group("@another").fits("kollegin")


# --- the only home of trigger words ---------------------------------------------------------------------------------

ROOT = Path(__file__).resolve().parents[3]
GOVERNING = {"negation": ("denied", "excluded"), "certainty": ("suspected", "questioned"), "temporality": ("past",)}
CLAIMING = (
    "@no", "@denying", "@answered_no", "@denied_behind", "@ruled", "@refused", "@earlier", "@relative", "@spouse",
    "@contact",
)  # fmt: skip
"""Groups whose words decide whether something is there, when, and with whom; certainty has words of every day."""
SHORTEST = 4
"""Characters of a word that is looked for by itself: shorter ones are parts of patterns ("un", "oma" in "-om(a)")."""
NO_TABLES = {
    "bentos/api/agents.py": "sentences for people",
    "bentos/terminology/systems.py": "sentences for people",
    "bentos/terminology/validation.py": "sentences for people",
    "bentos/api/problems.py": "sentences for people",
    "bentos/check_model.py": "a letter that a model is tried on",
    "clinical/letters/reader/patient.py": "a former surname: 'vormals' between two names",
    "clinical/coding/rules_only.py": "sentences for people",
    "clinical/letters/reader/diseases.py": "words that end like names of diseases and are none",
    "clinical/letters/layout.py": "notes below a signature: 'ohne Unterschrift gültig'",
    "clinical/letters/reader/reader.py": "a note below a letter: 'antworten Sie nicht auf diese Mail'",
    "clinical/letters/labels.py": "what headings and labels are called, whatever stands below them",
    "clinical/letters/reader/names.py": "words with a capital that are no names of people",
    "clinical/letters/reader/parties/houses.py": "words of a sentence, which no name of a house has",
    "clinical/letters/reader/narrative/phrases.py": "grammar: words no noun phrase begins with",
    "clinical/letters/reader/narrative/drugs.py": "'bisher' says that a drug is taken",
    "clinical/icd/catalog.py": "the classification's own 'nicht näher bezeichnet'",
    "clinical/icd/groups.py": "the classification's own 'nicht näher bezeichnet'",
    "clinical/icd/titles.py": "the classification's own 'nicht näher bezeichnet', 'ohne nähere Angabe'",
    "clinical/coding/answers.py": "sentences for people",
    "clinical/coding/code_query.py": "sentences for people",
    "clinical/coding/deep_research.py": "sentences for people",
    "clinical/coding/model_tiers.py": "sentences for people",
    "clinical/coding/prompts.py": "sentences for a language model",
    "clinical/coding/rules.py": "sentences for people",
    "clinical/coding/stream.py": "sentences for people",
    "clinical/generation.py": "sentences for people",
    "clinical/letters/extraction.py": "sentences for a language model",
    "clinical/letters/fields.py": "sentences for a language model and for people",
    "clinical/letters/grounding/enumerations/boxes.py": "'ja' and 'nein' over the cells of boxes",
    "clinical/letters/grounding/enumerations/choices.py": "one word of the table, an opposition behind a comma",
    "clinical/letters/grounding/free_text.py": "the name of a trigger",
    "clinical/letters/grounding/names.py": "names of streets: Alte, Alter",
    "clinical/letters/grounding/words.py": "beginnings of words that turn their meaning round",
    "clinical/llm.py": "sentences for a language model",
    "clinical/reading/general.py": "'ohne': a preposition behind the head of a phrase",
    "clinical/reading/lattice.py": "words within a mention that carry no meaning, whatever is claimed",
    "clinical/reading/past.py": "how the classification words the past: 'frühere'",
}
"""Where such words stand and claim nothing of a patient."""


@cache
def trigger_words() -> frozenset[str]:
    """Spelled words that by themselves deny, suspect or put into the past, and all words for relatives."""
    rows = [row for row in table().rows if row.value in GOVERNING.get(row.axes[0], ()) and len(row.elements) == 1]
    words = {word for row in rows for word in row.elements[0].words}
    for name in ("@relative", "@spouse", "@other", "@another", "@earlier", "@denying", "@denied_behind"):
        words |= group(name).words
    return frozenset(words)


@cache
def claiming_words() -> frozenset[str]:
    return frozenset(word for name in CLAIMING for word in group(name).words if len(word) >= SHORTEST)


def literals(text: str) -> Iterator[str]:
    """The strings of a module, its docstrings left out."""
    tree = ast.parse(text)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def claims_in(text: str) -> set[str]:
    """Words of a module's strings that claim something, by the table. An English message has none of them."""
    plain = (re.sub(r"\\[A-Za-z]", " ", one).casefold() for one in literals(text))  # without \b and its like
    words = (word for one in plain for word in re.findall(r"(?<![\w-])[a-zäöüß]+(?!\w)", one))
    return {word for word in words if spelling(word) in claiming_words()}


def side_by_side(text: str) -> set[str]:
    """Trigger words of a list, where there are two or more."""
    found = {word for word in re.findall(r"[a-zäöüß]+", text.casefold()) if spelling(word) in trigger_words()}
    return found if len(found) > 1 else set()


def outside() -> Iterator[tuple[str, str]]:
    """Modules and tables of both packages that are not the table's own room: name and text."""
    for package in ("clinical", "bentos"):
        for path in sorted([*(ROOT / package).rglob("*.py"), *(ROOT / package).rglob("*.tsv")]):
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith(("clinical/claims/", "clinical/text/")):
                yield name, path.read_text("utf-8")


def words_of(name: str, text: str) -> set[str]:
    """Words of a module that claim something, and lists of such words in a module or a row of a table."""
    if name.endswith(".py"):
        return claims_in(text).union(*map(side_by_side, literals(text)))
    return set().union(*(side_by_side(line) for line in text.splitlines() if line[:1] != "#"))


def test_no_other_room_has_words_for_denial_the_past_or_relatives_and_no_list_of_words_for_doubt():
    strange = {name: found for name, text in outside() if (found := words_of(name, text))}
    assert {name: words for name, words in strange.items() if name not in NO_TABLES} == {}, (
        "they belong into clinical/claims/context.tsv; `written_groups` and `group` hand them out"
    )
    assert set(NO_TABLES) - set(strange) == set(), "a reason for words that are gone"


def test_the_search_for_such_words_finds_them():
    assert side_by_side("vater|mutter|notfall") == {"vater", "mutter"}
    assert claims_in('WORDS = ("verneint", "ausgeschlossen")') == {"verneint", "ausgeschlossen"}
    assert claims_in(r'import re; re.compile(r"\bfrüher|kein\b")') == {"früher", "kein"}
    assert claims_in('"""Was früher war."""\nraise ValueError("no such file: set BEFUND_LLM_BASE_URL")') == set()
