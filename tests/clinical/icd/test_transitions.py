"""Codes of one year in the terms of another, by the official table and by comparison."""

import pytest

from clinical.icd import Catalog, Code, parent_of, transitions

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
