"""Codes that are coded together know each other, with the wordings that are coded with both."""

from catalog_build.official.tables import Synonym
from catalog_build.pairs import with_pairs
from clinical.icd import PAIR_NOTE, Catalog, Code, Note


def code(spelling: str, kind: str) -> Code:
    return Code(spelling, spelling, 3, True, None, "A", "01", kind, "P", "P")


CATALOG = Catalog(
    "2026", [code("A01", "dagger"), code("A02", "plain"), code("B01", "asterisk"), code("C01", "exclamation")], {}, {}
)


def test_both_sides_of_a_pair_get_a_note_with_all_its_wordings():
    catalog = with_pairs(CATALOG, [Synonym("eins", "A01", ("B01",)), Synonym("zwei", "A01", ("B01", "C01"))])
    assert catalog.get("A01").notes == (Note(PAIR_NOTE, "eins\nzwei", ("B01",)),)
    assert catalog.get("B01").notes == (Note(PAIR_NOTE, "eins\nzwei", ("A01",)),)
    assert catalog.get("C01").notes == ()


def test_partners_with_more_wordings_come_first():
    synonyms = [Synonym("x", "A01", ("B01",)), Synonym("y", "A02", ("B01",)), Synonym("z", "A02", ("B01",))]
    assert [note.references for note in with_pairs(CATALOG, synonyms).get("B01").notes] == [("A02",), ("A01",)]


def test_what_is_not_dagger_and_asterisk_is_no_pair():
    synonyms = [
        Synonym("x", "B01"),
        Synonym("y", "A01", ("A02",)),
        Synonym("z", "A01", ("C01",)),
        Synonym("q", "X99", ("B01",)),
    ]
    assert all(code.notes == () for code in with_pairs(CATALOG, synonyms))
