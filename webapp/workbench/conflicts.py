"""Conflicts among the codes that somebody accepted: exclusions, the vague beside the exact, what is over beside what is
there, codes that never stand alone, sex and age, and suspicion where it is not coded.

Everything that is said of codes is read from the catalog.
"""

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Annotated, Literal, NamedTuple

from flask_babel import gettext as _
from pydantic import BaseModel, ConfigDict, Field

from clinical.icd import Code, covers, is_default, outside, says_kind
from webapp.workbench.catalog import CodeBook, pairs, shown

DAYS_PER_YEAR = 365
MOST_CODES = 100


class Accepted(BaseModel):
    """A code of the result with its markers."""

    code: Annotated[str, Field(max_length=12)]
    certainty: Literal["G", "V", "A", "Z", ""] | None = None
    side: Literal["R", "L", "B", ""] | None = None


class Checked(BaseModel):
    """A result, and what is known of its case: sex as the metadata write it, age in completed years."""

    model_config = ConfigDict(extra="forbid")

    codes: Annotated[list[Accepted], Field(max_length=MOST_CODES)]
    sex: Literal["M", "W", ""] = ""
    age: Annotated[int, Field(ge=0, le=130)] | None = None
    setting: Literal["outpatient", "inpatient"] = "outpatient"
    country: Literal["de", "at"] = "de"


class Conflict(NamedTuple):
    """Codes that do not go together: the kind, the codes, and a sentence."""

    kind: str
    codes: tuple[str, ...]
    text: str


def conflicts(book: CodeBook, case: Checked) -> list[Conflict]:
    """All conflicts of a result, those between two codes first; codes the catalog does not have are left out."""
    known = [(code, one) for one in case.codes if (code := book.find(one.code)) is not None and one.certainty != "A"]
    return [*_between(book, known), *_alone(known), *_of_the_patient(known, case), *_suspected(known, case)]


def _between(book: CodeBook, known: Sequence[tuple[Code, Accepted]]) -> Iterator[Conflict]:
    for (code, given), (other, its) in permutations(known, 2):
        both = (code.code, other.code)
        if code.code == other.code or other.code in pairs(code) or code.code in pairs(other):
            continue
        if note := _excludes(book, code, other):
            yield Conflict("exclusion", both, _("%(code)s schließt %(other)s aus: %(note)s", code=code.code,
                           other=other.code, note=note))  # fmt: skip
        if _was(code, other):
            yield Conflict("history", both, _("%(code)s sagt, dass es vorbei ist, %(other)s, dass es da ist.",
                           code=code.code, other=other.code))  # fmt: skip
        if _vaguer(book, code, other) and given.side == its.side:
            yield Conflict("vague", both, _("%(other)s sagt genauer, was %(code)s offen lässt.", code=code.code,
                           other=other.code))  # fmt: skip


def _excludes(book: CodeBook, code: Code, other: Code) -> str:
    """The exclusion note of a code, or of one above it, that names another code; "" where there is none. What excludes
    both is about something else."""
    for note in book.exclusion_notes(code):
        named = [reference for reference in note.references if covers(reference, other.code)]
        if named and not any(covers(reference, code.code) for reference in named):
            return note.text
    return ""


def _was(code: Code, other: Code) -> bool:
    """True where a code says that a disease of the other one is in the past."""
    past = "Eigenanamnese" in code.title
    return past and any(
        covers(one, other.code) for note in code.notes if note.kind == "inclusion" for one in note.references
    )


def _vaguer(book: CodeBook, code: Code, other: Code) -> bool:
    """True where the other code is one of the same disease and says more: a sibling, or a category of the same group
    whose title names what this category calls not specified."""
    if code.parent is not None and code.parent == other.parent:
        return is_default(code.title) and not is_default(other.title)
    return says_kind((*book.path(code), code)[0], (*book.path(other), other)[0])


def _alone(known: Sequence[tuple[Code, Accepted]]) -> Iterator[Conflict]:
    carries = any(code.kind not in ("asterisk", "exclamation") for code, _given in known)
    daggers = any(code.kind == "dagger" for code, _given in known)
    for code, _given in known:
        if code.kind == "asterisk" and not daggers:
            yield Conflict(
                "alone", (code.code,), _("%(code)s steht nie allein: es fehlt der Kreuzkode.", code=shown(code))
            )
        if code.kind == "exclamation" and not carries:
            yield Conflict("alone", (code.code,), _("%(code)s steht nie allein.", code=shown(code)))


def _of_the_patient(known: Sequence[tuple[Code, Accepted]], case: Checked) -> Iterator[Conflict]:
    for code, _given in known:
        if case.sex and code.sex and code.sex != case.sex:
            yield Conflict("sex", (code.code,), f"{code.code}: {usual_sex(code)}.")
        if case.age is not None and outside(case.age * DAYS_PER_YEAR, code.age_low, code.age_high):
            text = _(
                "%(code)s ist im Alter von %(age)d Jahren nicht üblich (%(usual)s).",
                code=code.code, age=case.age, usual=usual_ages(code),
            )  # fmt: skip
            yield Conflict("age", (code.code,), text)


OLDEST = 124
"""Years that the official metadata give where there is no upper limit."""


def usual_sex(code: Code) -> str:
    """The sex a code is usual of, in words; "" where it is of any."""
    words = {"M": _("nur bei Männern üblich"), "W": _("nur bei Frauen üblich")}
    return words.get(code.sex, "") if code.sex else ""


def usual_ages(code: Code) -> str:
    """The ages a code is usual at, in words: "üblich ab 15 Jahren"; "" where it is at any."""
    low, high = code.age_low, code.age_high
    if low and int(low[1:]) == 0:
        low = None
    if high and high[0] == "j" and int(high[1:]) >= OLDEST:
        high = None
    if low and high:
        first = low[1:].lstrip("0") if low[0] == high[0] else _from(low)
        return str(_("üblich von %(low)s bis %(high)s", low=first, high=_from(high)))
    if low:
        return str(_("üblich ab %(low)s", low=_from(low)))
    return str(_("üblich bis %(high)s", high=_until(high))) if high else ""


def _from(age: str) -> str:
    """A limit of age (`j` counts years, `t` days) behind "ab" and "von"."""
    number = int(age[1:])
    if number == 1:
        return str(_("1 Jahr") if age[0] == "j" else _("1 Tag"))
    return str(_("%(number)d Jahren", number=number) if age[0] == "j" else _("%(number)d Tagen", number=number))


def _until(age: str) -> str:
    """A limit of age behind "bis"."""
    number = int(age[1:])
    if number == 1:
        return _from(age)
    return str(_("%(number)d Jahre", number=number) if age[0] == "j" else _("%(number)d Tage", number=number))


def _suspected(known: Sequence[tuple[Code, Accepted]], case: Checked) -> Iterator[Conflict]:
    for code, given in known:
        if given.certainty != "V":
            continue
        if case.country == "at":
            text = _("%(code)s: in Österreich wird ein Verdacht als sein Symptom kodiert.", code=code.code)
            yield Conflict("suspected", (code.code,), text)
        elif case.setting == "inpatient":
            text = _("%(code)s: im Krankenhaus gibt es das Kennzeichen V nicht.", code=code.code)
            yield Conflict("suspected", (code.code,), text)
