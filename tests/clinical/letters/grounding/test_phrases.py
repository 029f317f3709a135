"""Phrases of fixed lists are looked for by their rarest words, and found wherever they stand."""

from dataclasses import replace

from clinical.claims import Reading
from clinical.letters.grounding.enumerations.phrases import PhrasePlaces, matches, table
from evals.letters.generator import letters
from tests.clinical.letters.grounding.tables import rows


def test_what_a_phrase_needs_leaves_out_none_of_its_places() -> None:
    texts = [letter.text for letter in letters(10, 11)] + ["\n".join(row[-1] for row in rows("stated_choices.tsv"))]
    found = 0
    for text in texts:
        places = PhrasePlaces(Reading.of(text))
        for phrase in table():
            every = list(matches(places, phrase))
            assert every == list(matches(places, replace(phrase, needs=())))
            found += len(every)
    assert found > len(texts)
