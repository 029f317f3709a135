"""A chapter's title above a text is no diagnosis in it."""

import pytest

from clinical.reading import SearchIndex
from clinical.reading.titles import ChapterTitles
from clinical.text import words

TITLES = ChapterTitles(["Psychische und Verhaltensstörungen", "Krankheiten des Nervensystems", "Neubildungen"])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Psychische und\nVerhaltensstörungen\nPanikstörung", ["Psychische und\nVerhaltensstörungen"]),
        ("KRANKHEITEN DES NERVENSYSTEMS: Migräne", ["KRANKHEITEN DES NERVENSYSTEMS"]),
        ("Neubildungen der Haut", []),
        ("psychische Störungen und Verhaltensstörungen", []),
        ("Krankheiten des", []),
    ],
)
def test_titles_are_found_word_for_word(text, found):
    assert [text[start:end] for start, end in TITLES.places(words(text))] == found


def test_a_title_above_a_text_gives_no_code(starter_artifact):
    index = SearchIndex.load(starter_artifact)
    title = index.catalog.chapters["05"]
    text = "Die Patientin kommt zur Kontrolle bei mittelgradiger depressiver Episode."
    with_title = [hit.code for hit in index.search(f"{title}\n{text}") if hit.confidence != "low"]
    assert with_title == [hit.code for hit in index.search(text) if hit.confidence != "low"] != []
