"""Whatever the text and whatever the model says: what remains is evidenced, by an oracle written apart."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from clinical.contract import Arztbrief, Zuweisung, values_of
from clinical.letters.grounding.numbers import digits_of
from clinical.letters.grounding.policy import Grounded
from clinical.letters.grounding.validator import ground
from clinical.text.dates import parse_date
from evals.letters.generator import letters
from tests.oracle import is_evidenced

LETTERS = letters(96)
CHOICES = {
    "geschlecht": ["m", "w"], "klasse": ["allgemein", "halbprivat", "privat"], "art": ["stationaer", "ambulant"],
    "kostengutsprache": ["liegt_vor", "beantragt", "wird_eingeholt"],
    "dringlichkeit": ["notfall", "dringlich", "elektiv"],
}  # fmt: skip
WORDS = ["Mustermann", "Meier", "Pneumonie", "Ramipril", "Zürich", "8006", "1-0-1"]
PIECES = st.sampled_from(
    ["\n", "\n\n", " ", ", ", ". ", ": ", "kein ", "nicht ", "Vater: ", "- ", "rechts", "links", "5 mg",
     "12.03.2024", "rn",
     "1", "l", "O", "0", "Herr ", "Frau ", "geb. ", "/", "☐ ", "privat", "stationär",
     "Notfall", "m", "w", "ü", "u\u0308"]
)  # fmt: skip
TEXTS = st.one_of(
    st.sampled_from([letter.text for letter in LETTERS]),
    st.text(max_size=300),
    st.lists(st.one_of(PIECES, st.sampled_from(WORDS)), max_size=60)
    .map("".join),
)  # fmt: skip
BOXES = "☐□▢◻○"
RULE = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@st.composite
def said(draw: st.DrawFn, text: str) -> str:
    """A value: a stretch of the text, two stretches, a stretch with something changed, or anything."""
    start = draw(st.integers(0, max(0, len(text) - 1)))
    piece = text[start : start + draw(st.integers(0, 40))]
    way = draw(st.integers(0, 4))
    if way == 0:
        return piece
    if way == 1:
        other = draw(st.integers(0, max(0, len(text) - 1)))
        return f"{piece} {text[other : other + 20]}"
    if way == 2:
        at = draw(st.integers(0, len(piece)))
        return piece[:at] + draw(PIECES) + piece[at + draw(st.integers(0, 2)) :]
    if way == 3:
        words = text.split()
        return " ".join(draw(st.lists(st.sampled_from(words), max_size=5))) if words else ""
    return draw(st.text(max_size=30))


@st.composite
def asked(draw: st.DrawFn) -> tuple[str, dict[str, Any], type]:
    """A text, an answer about it, and the kind of document."""
    document = draw(st.sampled_from([Arztbrief, Zuweisung]))
    text = draw(TEXTS)
    answer: dict[str, Any] = {}
    for name, field in document.model_fields.items():
        if not draw(st.booleans()):
            continue
        default = field.default
        if isinstance(default, tuple):
            items = draw(st.lists(said(text), max_size=3))
            answer[name] = (
                [{"bezeichnung": one, "datum": draw(said(text))} for one in items] if name == "eingriffe" else items
            )
        elif default is None:
            answer[name] = draw(st.sampled_from(CHOICES[name])) if name in CHOICES else draw(said(text))
        else:
            keys = type(default).model_fields
            answer[name] = {
                key: draw(st.sampled_from(CHOICES[key])) if key in CHOICES else draw(said(text))
                for key in keys
                if draw(st.booleans())
            }
    return text, answer, document


def kept(grounded: Grounded) -> list[tuple[str, str]]:
    return list(values_of(grounded.data.model_dump()))


@RULE
@given(asked())
def test_whatever_remains_is_evidenced(case):
    text, answer, document = case
    for path, value in kept(ground(answer, text, document)):
        assert is_evidenced(path, value, text), (path, value)


@RULE
@given(asked())
def test_grounding_again_changes_nothing(case):
    text, answer, document = case
    once = ground(answer, text, document)
    again = ground(once.data.model_dump(), text, document)
    assert again.data == once.data
    assert again.removed == ()


@RULE
@given(asked())
def test_spans_point_at_what_they_claim(case):
    text, answer, document = case
    grounded = ground(answer, text, document)
    values = dict(kept(grounded))
    assert [one.path for one in grounded.evidence if one.path not in values] == []
    assert len(grounded.evidence) == len(values)
    for one in grounded.evidence:
        stretch, value = text[one.start : one.end], values[one.path]
        assert 0 <= one.start < one.end <= len(text)
        if one.match == "exact":
            assert stretch.casefold() == value.strip().casefold()
        elif one.match == "digits":
            assert len(digits_of(stretch)) <= len(digits_of(value)) + 5
        elif one.match in ("normalised", "overlap"):
            assert is_evidenced(one.path, value, stretch)


@RULE
@given(asked(), TEXTS, st.booleans())
def test_text_added_elsewhere_removes_no_evidence(case, more, before):
    text, answer, document = case
    assume(not set(BOXES) & set(more))  # of boxes the whole letter tells whether they stand before or behind
    once = ground(answer, text, document)
    longer = f"{more}\n\n{text}" if before else f"{text}\n\n{more}"
    again = ground(once.data.model_dump(), longer, document)
    # a letter names one value of a list: added text may name another one more strongly
    assert without_choices(again) == without_choices(once)


def without_choices(grounded: Grounded) -> list[tuple[str, str]]:
    return [(path, value) for path, value in kept(grounded) if path.rpartition(".")[2] not in CHOICES]


@RULE
@given(asked())
def test_everything_said_is_kept_or_named(case):
    text, answer, document = case
    grounded = ground(answer, text, document)
    counted = sum(
        int(line.rpartition(" ")[2]) if line.partition(":")[0] in ("diagnosen", "medikation", "procedere") else 0
        for line in grounded.removed
    )
    listed = sum(
        len([item for item in answer.get(name) or () if item.strip()])
        for name in ("diagnosen", "medikation", "procedere")
    )
    remaining = sum(len(getattr(grounded.data, name, ())) for name in ("diagnosen", "medikation", "procedere"))
    assert listed == counted + remaining


@given(st.dates())
def test_a_date_in_any_common_notation_is_read(day):
    if not 1850 <= day.year < 2100:
        return
    for text in (
        f"{day:%d.%m.%Y}",
        f"{day.day}.{day.month}.{day.year}",
        f"{day:%d/%m/%Y}",
        f"{day:%d%m%Y}",
        day.isoformat(),
    ):
        assert parse_date(text) == day.isoformat()
