"""Search parameters for what documents carry beside the contract's fields: the readers of a row of `parameters`.

Each note of a condition asks for words that were made of the same row when the document was stored (`terms`).
"""

import re
from collections.abc import Callable, Iterator

from webapp.fhir import dates
from webapp.fhir.models import TERM_LENGTH
from webapp.fhir.parameters import DATE, PREFIXES, REFERENCE, STRING, TOKEN, Parameter
from webapp.fhir.searching.taken import Reader, Taken, listed
from webapp.fhir.searching.wanted import Carried
from webapp.fhir.terms import LAST, LONGEST_PART, PRESENT, folded, instant_term, short, typed

_ABSOLUTE = re.compile(r"https?://[^?#|\s]+/([A-Z][A-Za-z]+/[A-Za-z0-9.\-]{1,64})")
_PREFIX = re.compile(f"({'|'.join(PREFIXES)})?([0-9].*)")
_OF_TYPE = re.compile(r"[^|]*\|[^|]+\|[^|]+")
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
