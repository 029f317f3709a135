"""Facts about codes stand in clinical/icd alone; its ranges and predicates hold for the codes of the catalog."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from clinical.icd import (
    FAMILY_HISTORY,
    HEALTH_FACTORS,
    INJURIES,
    REFERENCE,
    SYMPTOMS,
    TREATED_TUMOURS,
    category,
    covers,
    is_aftermath,
    is_default,
)
from tests.fakes import tiny_catalog

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ("clinical", "catalog_build", "bentos", "batch", "evals", "webapp")
CODE = re.compile(r"(?<![\w#-])[A-Z]\d\d(?:\.(?:\d{1,2}|-))?(?!\w)")
OPEN_WORDS = re.compile(r"n[äa]her bez|ohne nähere Angabe", re.I)

ROWS = ("row", "line")
"""Names of what has no code in it when it is cut to three."""
NO_FACTS = {
    "clinical/search/tensors.py": "F16, I32, ...: types of numbers in a file, no codes",
    "clinical/coding/prompts.py": "'nicht näher bezeichnet' in a sentence for a language model",
    "evals/load/faults.py": "the code of its own text, which a right answer holds",
    "evals/coding/variants.py": "'nicht näher bezeichnet' as authors of notes shorten it",
}
"""Modules that may hold such a string or slice, and why."""
ALONE = ("evals/benchmark/befund_bench/", "evals/benchmark/making.py")
"""The benchmark is installed by itself, without clinical, so it names its own examples and categories."""


def facts_in(source: str) -> Iterator[str]:
    """Codes and words of residual titles in the strings of a module, its docstrings left out; slices `[:3]`."""
    tree = ast.parse(source)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield from (
                f"{node.lineno}: {found}" for found in CODE.findall(node.value) + OPEN_WORDS.findall(node.value)
            )
        if isinstance(node, ast.Subscript) and ast.unparse(node.slice) == ":3" and ast.unparse(node.value) not in ROWS:
            yield f"{node.lineno}: {ast.unparse(node)}"


def outside() -> Iterator[tuple[str, list[str]]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith(("clinical/icd/", *ALONE)):
                yield name, list(facts_in(path.read_text("utf-8")))


def test_no_other_module_holds_a_code_a_range_or_the_words_of_a_residual_title():
    found = {name: facts for name, facts in outside() if facts}
    assert {name: facts for name, facts in found.items() if name not in NO_FACTS} == {}, (
        "such facts belong to clinical.icd"
    )
    assert set(NO_FACTS) - set(found) == set(), "a reason for what is gone"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('LAST = "Z84"', ["1: Z84"]),
        ("same = one.code[:3] == other[:3]", ["1: one.code[:3]", "1: other[:3]"]),
        ('OPEN = "nicht näher bezeichnet"', ["1: näher bez"]),
        ('"""As E11.90."""\nhint = "wie E11.9-"', ["2: E11.9"]),
        ('field = "E119"; rows[:2]', []),
    ],
)
def test_the_scan_finds_them(source, found):
    assert list(facts_in(source)) == found


def test_ranges_hold_their_codes_whatever_their_length():
    assert "Z80" in FAMILY_HISTORY
    assert "Z84.8" in FAMILY_HISTORY
    assert "Z85.3" not in FAMILY_HISTORY
    assert "Z85.3" in TREATED_TUMOURS
    assert "R05" in SYMPTOMS
    assert "T14.05" in INJURIES
    assert "Z85.3" in HEALTH_FACTORS
    assert category("E11.90") == "E11"


def test_what_holds_of_a_whole_catalog_holds_of_each_of_its_codes():
    catalog = tiny_catalog()
    for group in (FAMILY_HISTORY, HEALTH_FACTORS, INJURIES, SYMPTOMS):
        assert group.among(catalog) == [code.code in group for code in catalog]
    assert {bool(catalog.more_specific(code.code)) for code in catalog} == {False, True}


def test_default_and_past_codes_are_told_by_code_and_title():
    catalog = tiny_catalog()
    precise = catalog.codes[catalog.number("I21")]
    assert is_default("Fraktur: geschlossen oder o.n.A.")
    assert not is_default("Nicht näher bezeichnete Fraktur: offen")
    assert not is_aftermath(precise)


@pytest.mark.parametrize(
    ("reference", "code", "expected"),
    [
        ("O24.-", "O24.4", True),
        ("O24.4", "O24", False),
        ("I25.2-", "I25.22", True),
        ("E10-E14", "E11.90", True),
        ("E10-E14", "E15", False),
        ("T61-T62", "T62.9", True),
        ("A50.0-A50.5", "A50.3", True),
        ("A50.0-A50.5", "A50.6", False),
        ("G01*", "G01", True),
        ("E10-E14+", "E14.9", True),
    ],
)
def test_references_of_the_tabular_list(reference, code, expected):
    assert covers(reference, code) is expected


def test_references_are_read_from_the_text_of_a_note():
    assert REFERENCE.findall("Grippe (J10.0, E10 - E14)") == ["J10.0", "E10 - E14"]
