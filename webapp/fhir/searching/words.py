"""Search parameters that ask for words made when a resource was stored (`terms`): of a document, by the readers of a
row of `parameters`; of patients and imaging studies, names, birth dates, gender, identifiers.
"""

import re
from collections.abc import Callable, Iterator

from webapp.fhir import dates
from webapp.fhir.models import TERM_LENGTH
from webapp.fhir.parameters import DATE, PREFIXES, REFERENCE, STRING, TOKEN, Parameter
from webapp.fhir.searching.taken import Reader, Taken, listed
from webapp.fhir.searching.wanted import Carried, Term
from webapp.fhir.terms import LAST, LONGEST_PART, PRESENT, folded, instant_term, short, typed

_ABSOLUTE = re.compile(r"https?://[^?#|\s]+/([A-Z][A-Za-z]+/[A-Za-z0-9.\-]{1,64})")
_PREFIX = re.compile(f"({'|'.join(PREFIXES)})?([0-9].*)")
_OF_TYPE = re.compile(r"[^|]*\|[^|]+\|[^|]+")
GENDER_SYSTEM = "http://hl7.org/fhir/administrative-gender"
_BIRTH = re.compile(r"(eq|ge|gt|le|lt)?([0-9]{4}(?:-[0-9]{2}){0,2})")
Conditions = Callable[[str, str], list[Carried] | None]  # of a parameter's name and a value; None: not understood


def readers(parameter: Parameter) -> Iterator[tuple[str, Reader]]:
    """Name with modifier, and what reads it."""
    name, chains = parameter.name, parameter.chains
    for modifier in ("", *parameter.modifiers, *chains):
        target = modifier[1:] if modifier[1:] in parameter.targets else ""
        make = _of_target(target) if target else _BY_MODIFIER.get(modifier, _PLAIN[parameter.type])
        yield name + modifier, _reader(name, _chained(*chains[modifier]) if modifier in chains else make)


def _reader(name: str, make: Conditions) -> Reader:
    def read(taken: Taken, value: str) -> str | None:
        wanted = make(name, value)
        return value if wanted and taken.carry(*wanted) else None

    return read


def _tokens(name: str, value: str) -> list[Carried] | None:
    """`code`, `system|code`, `|code`, `system|`, any of a comma list, and the text as it stands (FHIR R4, section
    3.1.1.4.10)."""
    return _any(name, [value, *listed(value)])


def _not(name: str, value: str) -> list[Carried] | None:
    found = _tokens(name, value)
    return found and [Carried(name, found[0].words, negated=True)]


def _missing(name: str, value: str) -> list[Carried] | None:
    return [Carried(name, (PRESENT,), negated=value == "true")] if value in ("true", "false") else None


def _of_type(name: str, value: str) -> list[Carried] | None:
    parts = listed(value)
    return _any(f"{name}:type", parts) if parts and all(map(_OF_TYPE.fullmatch, parts)) else None


def _references(name: str, value: str) -> list[Carried] | None:
    """An id, `Type/id`, or an absolute URL: as it was given, or the local one with that id (section 3.1.1.4.12)."""
    return _any(name, [form for part in listed(value) for form in _forms(part)])


def _of_target(target: str) -> Conditions:
    """A reference to that type: an id alone gets it, and one of another type is not understood."""

    def conditions(name: str, value: str) -> list[Carried] | None:
        forms = [form for part in listed(value) for form in _forms(part if "/" in part else f"{target}/{part}")]
        typed = all(form.rpartition("/")[0].endswith(target) for form in forms)
        return _any(name, forms) if typed else None

    return conditions


def _beginning(name: str, value: str, target: str = "") -> list[Carried] | None:
    parts = [typed(target, folded(part)) for part in listed(value)]
    if len(parts) != 1 or not folded(value) or len(parts[0]) > TERM_LENGTH:
        return None
    return [Carried(name, (), parts[0], parts[0] + LAST)]


def _chained(target: str, chain: str) -> Conditions:
    """What is contained, of that type where one is named; an identifier also as the reference itself has it."""
    if chain != "identifier":
        return lambda name, value: _beginning(f"{name}.{chain}", value, target)
    return lambda name, value: _any(
        f"{name}:id", [typed(target, short(part)) for part in (value, *listed(value)) if part]
    )


def _exactly(name: str, value: str) -> list[Carried] | None:
    return _any(f"{name}:exact", listed(value))


def _containing(name: str, value: str) -> list[Carried] | None:
    parts = tuple(filter(None, map(folded, listed(value))))
    short_enough = parts and max(map(len, parts)) <= LONGEST_PART
    return [Carried(f"{name}:part", parts, part=True)] if short_enough else None


def _date(name: str, value: str) -> list[Carried] | None:
    """Both are ranges `[first, end)`, the one that was stored and the one that is asked for (section 3.1.1.4.7)."""
    match = _PREFIX.fullmatch(value)
    window = dates.parse_bound(match[2]) if match else None
    if match is None or window is None or window.start is None or window.end is None:
        return None
    lower, upper, a, b = name, f"{name}:end", window.start, window.end

    def over(kind: str, least: int, either: Carried | None = None) -> Carried:
        return Carried(kind, (), instant_term(least), None, either=either)

    def below(kind: str, bound: int, either: Carried | None = None) -> Carried:
        return Carried(kind, (), None, instant_term(bound), either=either)

    found = {
        "eq": [over(lower, a), below(upper, b + 1)], "ne": [below(lower, a, over(upper, b + 1))],
        "gt": [over(upper, b + 1)], "sa": [over(lower, b)], "ge": [over(lower, a, over(upper, b + 1))],
        "lt": [below(lower, a)], "eb": [below(upper, a + 1)], "le": [below(upper, b + 1, below(lower, a))],
    }  # fmt: skip
    return found[match[1] or "eq"]


def _any(kind: str, words: list[str]) -> list[Carried] | None:
    found = tuple(dict.fromkeys(short(word) for word in words if word))
    return [Carried(kind, found)] if found else None


def _forms(text: str) -> list[str]:
    absolute = _ABSOLUTE.fullmatch(text)
    return [text, absolute[1]] if absolute else [text]


_PLAIN: dict[str, Conditions] = {TOKEN: _tokens, REFERENCE: _references, STRING: _beginning, DATE: _date}
_BY_MODIFIER: dict[str, Conditions] = {
    ":not": _not, ":missing": _missing, ":of-type": _of_type, ":exact": _exactly, ":contains": _containing,
    ":identifier": lambda name, value: _any(f"{name}:id", [value, *listed(value)]),
}  # fmt: skip


def beginning(kind: str) -> Reader:
    """A name begins so, whatever its case and accents (FHIR R4, section 3.1.1.4.8)."""
    return lambda taken, value: _take(
        taken, value, kind, [(folded(part), folded(part) + LAST) for part in listed(value)]
    )


def exactly(kind: str) -> Reader:
    """A word is exactly this."""
    return lambda taken, value: _take(taken, value, kind, [_only(part) for part in listed(value)])


def birth_date(taken: Taken, value: str) -> str | None:
    """A birth date in the period that the value states, or on that side of it."""
    found = [_BIRTH.fullmatch(part) for part in listed(value)]
    known = [(match[1] or "eq", match[2]) for match in found if match]
    return _take(taken, value, "birthdate", [_side(prefix, date) for prefix, date in known])


def _side(prefix: str, date: str) -> tuple[str, str]:
    first, end = date, date + LAST  # what begins with the date lies in its period
    bounds = {"eq": (first, end), "ge": (first, LAST), "gt": (end, LAST), "le": ("", end), "lt": ("", first)}
    return bounds[prefix]


def gender(taken: Taken, value: str) -> str | None:
    """A code, with or without its system."""
    codes = [part.removeprefix(f"{GENDER_SYSTEM}|") for part in listed(value)]
    return _take(taken, value, "gender", [_only(code) for code in codes])


study_identifier = exactly("study")
"""`value` or `system|value`: both are among the words of a study."""


def _only(word: str) -> tuple[str, str]:
    return word, word + "\x01"  # no word holds a control character, so nothing lies between


def _take(taken: Taken, value: str, kind: str, ranges: list[tuple[str, str]]) -> str | None:
    return value if ranges and taken.carry(Term(kind, _disjoint(ranges))) else None


def _disjoint(ranges: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The same words in ranges that do not meet, so that no word is looked at twice however long a list is."""
    apart: list[tuple[str, str]] = []
    for first, end in sorted(ranges):
        if apart and first <= apart[-1][1]:
            apart[-1] = apart[-1][0], max(apart[-1][1], end)
        else:
            apart.append((first, end))
    return tuple(apart)
