"""Facts about codes stand in clinical/icd alone: ranges, predicates, limits on age, and codes of another year."""

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
    Catalog,
    Code,
    category,
    covers,
    is_aftermath,
    is_default,
    lasts,
    outside,
    parent_of,
    transitions,
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


def facts_elsewhere() -> Iterator[tuple[str, list[str]]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith(("clinical/icd/", *ALONE)):
                yield name, list(facts_in(path.read_text("utf-8")))


def test_no_other_module_holds_a_code_a_range_or_the_words_of_a_residual_title():
    found = {name: facts for name, facts in facts_elsewhere() if facts}
    assert {name: facts for name, facts in found.items() if name not in NO_FACTS} == {}, (
        "such facts belong to clinical.icd"
    )
    assert set(NO_FACTS) - set(found) == set(), "a reason for what is gone"


@pytest.mark.parametrize(("code", "lasting"), [("I25.19", True), ("J44.90", True), ("J18.9", False), ("I21.9", False)])
def test_diseases_that_do_not_end(code, lasting):
    assert lasts(Code(code, "", 5, True, parent_of(code), code[0], code[0], "plain", "P", "P")) is lasting


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


@pytest.mark.parametrize(
    ("days", "low", "high", "expected"),
    [
        (14 * 365, "j015", None, True),
        (15 * 365, "j015", "j124", False),
        (27, None, "t027", False),
        (28, None, "t027", True),
        (55 * 365, None, "j055", False),
        (56 * 365, None, "j055", True),
        (10, None, None, False),
    ],
)
def test_limits_of_the_metadata_are_inclusive(days, low, high, expected):
    assert outside(days, low, high) is expected


OLD = {"A00": "Cholera", "A00.0": "klassisch", "B00": "Herpes", "B00.1": "Dermatitis", "C00": "Lippe", "D00": "in situ"}
NEW = {
    "A00": "Cholera", "A00.0": "klassisch", "A00.00": "mild", "A00.01": "schwer", "B00": "Herpes",
    "B00.2": "Dermatitis", "C00": "Lippenrot", "D01": "andere",
}  # fmt: skip


def catalog(version: str, titles: dict[str, str], moves: tuple[tuple[str, str], ...] = ()) -> Catalog:
    """A catalog of these codes."""
    above = {parent_of(code) for code in titles}
    codes = [
        Code(code, title, len(code), code not in above, parent_of(code), code[0], code[0], "plain", "P", "P")
        for code, title in titles.items()
    ]
    return Catalog(version, codes, {}, {}, moves)


def found(code: str, source: Catalog, target: Catalog) -> list[tuple[str | None, str]]:
    return [(each.code and each.code.code, each.equivalence) for each in transitions(code, source, target)]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("A00", [("A00", "equivalent")]),
        ("A00.0", [("A00.00", "narrower"), ("A00.01", "narrower")]),
        ("B00.1", [("B00", "wider")]),
        ("C00", [("C00", "equivalent")]),
        ("D00", [(None, "unmatched")]),
        ("Z99", []),
    ],
)
def test_without_a_table_the_catalogs_are_compared(code: str, expected: list[tuple[str | None, str]]) -> None:
    assert found(code, catalog("2025", OLD), catalog("2026", NEW)) == expected


def test_the_official_table_is_believed_forwards_and_backwards() -> None:
    moves = (("A00.0", "A00.00"), ("A00.0", "A00.01"), ("B00.1", "B00.2"), ("D00", ""))
    old, new = catalog("2025", OLD), catalog("2026", NEW, moves)
    assert found("A00.0", old, new) == [("A00.00", "narrower"), ("A00.01", "narrower")]
    assert found("B00.1", old, new) == [("B00.2", "equivalent")]
    assert found("D00", old, new) == [(None, "unmatched")]
    assert found("C00", old, new) == [("C00", "equivalent")], "what the table does not name is compared"
    assert found("A00.01", new, old) == [("A00.0", "wider")]
    assert found("B00.2", new, old) == [("B00.1", "equivalent")]


def test_codes_that_were_joined_become_a_wider_one() -> None:
    old = catalog("2025", {"A00": "a", "A01": "b", "A02": "c"})
    new = catalog("2026", {"A02": "c", "A03": "ab"}, (("A00", "A03"), ("A01", "A03")))
    assert found("A00", old, new) == [("A03", "wider")]
    into_one_that_was = catalog("2026", {"A02": "abc"}, (("A00", "A02"),))
    assert found("A00", old, into_one_that_was) == [("A02", "wider")]
