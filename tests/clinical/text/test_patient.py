"""Sex and age are taken from a text only where it states them beyond doubt."""

import pytest

from clinical.text.patient import StatedPatient, outside


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
