"""A finding is coded at the part of the body that stands beside it."""

import pytest

from clinical.reading import SearchIndex


def shown(index: SearchIndex, text: str) -> dict[str, str]:
    """The codes shown, each with the words that it was found by."""
    return {one.code: text[one.start : one.end] for one in index.read(text).codes}


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("Knie re.: Erguss, kein Fieber.", "M25.46", "Erguss"),
        ("Knie rechts, seit gestern Schmerzen, kein Fieber", "M25.56", "Schmerzen"),
        ("Schulter li.: Prellung, Husten", "S40.0", "Prellung"),
    ],
)
def test_the_part_of_the_body_beside_a_finding(index: SearchIndex, text: str, code: str, words: str) -> None:
    assert shown(index, text)[code] == words


def test_a_part_of_the_body_that_is_a_label_is_no_finding(index: SearchIndex) -> None:
    assert set(shown(index, "Schulter li.: Prellung, Husten")) == {"S40.0", "R05"}
    alone = "LWS: seit 3 Wochen. Husten."
    assert "LWS" in {span.part.text for span in index.reader.drafts([alone])[0].spans}


def test_what_lies_on_another_line_or_is_of_no_part_stays(index: SearchIndex) -> None:
    assert "M25.46" not in shown(index, "Knie reizlos, frei beweglich\nPleura: Erguss basal, Husten")
    assert {"J00", "R50.9"} <= set(shown(index, "Schnupfen, Nase zu, Fieber seit gestern"))


def test_what_is_denied_is_denied_at_every_part(index: SearchIndex) -> None:
    assert "M25.46" not in shown(index, "Knie re.: kein Erguss, Husten")


def test_a_stage_by_itself_has_no_code(index: SearchIndex) -> None:
    assert not {"N18.3", "I50.13"} & set(shown(index, "Befund: Stadium III. Husten"))
    assert shown(index, "Husten, NYHA III, Fieber")["I50.13"] == "NYHA III"
