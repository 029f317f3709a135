"""Sex and age are taken from a text only where it states them beyond doubt."""

import pytest

from clinical.text.patient import StatedPatient


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
