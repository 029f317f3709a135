"""Cutting long texts, parts of the body beside a finding, and the sex and age that a text states."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinical.text import sites_of
from clinical.text.folding import words
from clinical.text.patient import StatedPatient
from clinical.text.segments import Part, content_words, cut

DIAGNOSES = (
    "Bluthochdruck",
    "akute Bronchitis",
    "Diabetes mellitus Typ 2",
    "chronische Niereninsuffizienz",
    "Zustand nach Appendektomie",
    "Karpaltunnelsyndrom links",
    "arterielle Hypertonie",
)
SENTENCES = (
    "Die Patientin kommt heute in die Praxis.",
    "Sie berichtet über Schmerzen seit drei Wochen und schläft schlecht.",
    "Laborwerte wurden abgenommen, Kontrolle in zwei Tagen vereinbart.",
    "Im Ultraschall kein Anhalt für freie Flüssigkeit; Leber glatt begrenzt.",
    "Der Blutdruck lag bei 135/85 mmHg, Puls 72 pro Minute.",
    "Frau Mustermann nimmt täglich 5 mg Ramipril ein.",
)
LONGEST = 8
"""Words of a part that is near enough to one diagnosis to find it."""


def covering_parts(text: str, diagnosis: str) -> list[Part]:
    """The parts that hold the diagnosis from its first to its last word of content ("links" is none)."""
    at, own = text.index(diagnosis), content_words(diagnosis)
    start, end = at + own[0].start, at + own[-1].end
    return [part for part in cut(text) if part.start <= start and end <= part.end]


@settings(deadline=None)
@given(st.text(max_size=400))
def test_every_part_points_at_its_text(text: str) -> None:
    parts = cut(text)
    assert parts
    assert all(text[part.start : part.end] == part.text for part in parts)
    assert len(set(parts)) == len(parts)


@settings(deadline=None)
@given(st.lists(st.sampled_from([*DIAGNOSES, *SENTENCES]), min_size=1, max_size=20), st.sampled_from([" ", "\n", ", "]))
def test_parts_of_letters_point_at_their_text_too(pieces: list[str], between: str) -> None:
    text = between.join(pieces)
    assert all(text[part.start : part.end] == part.text != "" for part in cut(text))


@pytest.mark.parametrize("text", ["Bluthochdruck", "V. a. Pneumonie links", "", "   ", "😀😀", "x" * 2_000])
def test_a_short_text_is_one_part(text: str) -> None:
    assert [part[:3] for part in cut(text)] == [(text, 0, len(text))]


@pytest.mark.parametrize("diagnosis", DIAGNOSES)
@pytest.mark.parametrize("seed", range(5))
def test_a_planted_diagnosis_lies_in_a_short_part(diagnosis: str, seed: int) -> None:
    chance = random.Random(seed)
    sentences = chance.choices(SENTENCES, k=10)
    sentences.insert(chance.randrange(11), chance.choice(["{}.", "Es besteht {}.", "Diagnose: {};"]).format(diagnosis))
    text = " ".join(sentences)
    covering = covering_parts(text, diagnosis)
    assert covering
    assert min(len(words(part.text)) for part in covering) <= LONGEST


@pytest.mark.parametrize("diagnosis", [diagnosis for diagnosis in DIAGNOSES if len(words(diagnosis)) <= 3])
@pytest.mark.parametrize("before", range(8))
def test_a_diagnosis_inside_a_long_clause_lies_in_a_short_part(diagnosis: str, before: int) -> None:
    clause = ["Blick", "Garten", "Stuhl", "Treppe", "Wagen", "Lampe", "Kissen", "Teppich", "Fenster", "Regal"]
    clause.insert(before, diagnosis)
    text = " ".join(clause)
    covering = covering_parts(text, diagnosis)
    assert min(len(words(part.text)) for part in covering) <= LONGEST


@pytest.mark.parametrize("number", ["7,5", "38.2", "1,75", "2.000"])
def test_a_decimal_number_is_not_the_end_of_a_clause(number: str) -> None:
    value = f"Wert {number} Einheiten"
    text = f"Die Kontrolle heute ergab Folgendes. {value}. Nächste Vorstellung nach dem Urlaub vereinbart worden."
    assert any(value in part.text for part in cut(text))


@pytest.mark.parametrize(
    "text",
    [
        ("a " * 1_000),
        "Herz, Lunge. " * 153,
        "und mit bei " * 166,
        "," * 2_000,
        "1,5 " * 500,
        "Herz-\n" * 333,
        "ä" * 1_999 + " b",
    ],
    ids=["letters", "clauses", "function words", "commas", "decimals", "line breaks", "no space"],
)
def test_the_number_of_parts_is_bounded(text: str) -> None:
    parts = cut(text[:2_000])
    assert len(parts) <= 3 * max(1, len(words(text)))
    assert all(part.end <= 2_000 for part in parts)


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


@pytest.mark.parametrize(
    ("text", "sex"),
    [
        ("58jährige Patientin", "W"),
        ("Ein Patient mit Husten", "M"),
        ("Ein 3-jähriger Junge", "M"),
        ("Ein junger Mensch hustet", None),
        ("Frau Dr. Muster überweist den Patienten", None),
        ("Patientendaten unvollständig", None),
        ("Husten seit drei Tagen", None),
        ("Schwangere in der 39. SSW", "W"),
    ],
)
def test_sex(text, sex):
    assert StatedPatient.by(text).sex == sex


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("58jährige Patientin", 58 * 365),
        ("25-jährige Frau", 25 * 365),
        ("ist 7 Jahre alt", 7 * 365),
        ("6 Wochen alter Säugling", 42),
        ("10 Tage alt", 10),
        ("seit 5 Jahren Diabetes", None),
        ("vor 1 ½ Jahren Infarkt", None),
        ("70-jähriger Vater eines 40-jährigen Sohnes", None),
    ],
)
def test_age(text, days):
    assert StatedPatient.by(text).age_days == days
