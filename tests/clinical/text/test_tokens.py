"""Keys of tokens, their places, and the days of a text: all that it is looked up by."""

import pytest

from clinical.text.dates import dates_of
from clinical.text.tokens import SourceText
from evals.letters.generator import letters

TEXTS = [letter.text for letter in letters(12, 5)]
KEYED = "Gonarthrose re. Grad III, Re-Staging, 5 g, 1 Tag, Knie R, Typ A, z. n. OP, 2.5 mg tgl., Stadium IV, a) b)"


@pytest.mark.parametrize("text", [*TEXTS, KEYED])
def test_the_places_of_a_key_are_the_tokens_that_have_it(text: str) -> None:
    source = SourceText(text)
    keys = [source.key(i) for i in range(len(source))]
    assert {key: source.places(key) for key in keys} == {
        key: [i for i, one in enumerate(keys) if one == key] for key in keys
    }
    assert source.places("nirgends") == source.places("§nowhere") == source.places("#99999") == []


def test_what_is_asked_of_one_token_alone_is_what_all_were_told() -> None:
    one, whole = SourceText(KEYED), SourceText(KEYED)
    every = {key: whole.places(key) for key in map(whole.key, range(len(whole)))}
    assert all(i in every[one.key(i)] for i in reversed(range(len(one))))


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("10. Juni 2024", ["2024-06-10"]),
        ("am 3.Mai 24", ["2024-05-03"]),
        ("123. Mai 2024", []),
        ("10. Juni 24 Mai 2025", ["2024-06-10"]),
        ("1. 2. Mai 2024", ["2024-05-02"]),
        ("5 mg, 12 Dez. 2023; 7 IX. 2022", ["2023-12-12", "2022-09-07"]),
        ("2024-03-12 und 20240313, 13032024", ["2024-03-12", "2024-03-13", "2024-03-13"]),
        ("1234-5678 123456789", []),
        ("10. Septem-\nber 2021", ["2021-09-10"]),
    ],
)
def test_days_are_read_where_they_begin(text: str, days: list[str]) -> None:
    assert [one.iso() for one in dates_of(text)] == days
