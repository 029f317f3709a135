"""Parts of the body beside a finding, and compounds that name the finding."""

import pytest

from clinical.text import sites_of


@pytest.mark.parametrize(
    ("text", "sites"),
    [
        ("Knie re.: Erguss", ["Knie"]),
        ("OSG li geschwollen, os frei", ["OSG"]),
        ("an beiden Händen und Füßen", ["Händen", "Füßen"]),
        ("Kniegelenkserguss, Rippenfraktur, Halsschmerzen, Hand-Fuß-Syndrom", []),
        ("Nasenflügel rechts, Rücken der Nase", ["Nasenflügel", "Rücken", "Nase"]),
    ],
)
def test_parts_of_the_body(text: str, sites: list[str]) -> None:
    assert [text[start:end] for start, end in sites_of(text)] == sites
