"""The one generator of letters: written out by hand, with slots whose content is the truth of its field.

All text that is in no slot is a trap. Nobody in the letters is real, and nobody but their authors has checked them:
they show where a reader goes wrong, not how good it is.

A template begins with `### document type, country, name` (`open` behind it: nothing tells the order of names) and has
`{slot}` for drawn values, `[[path=value|words]]` for words that state a value of a fixed list or a title, and
`<<a || b>>` for one of several wordings. Slots with `s.` are of the sender, `r.` of the recipient, `x.`, `y.` of
others. A list slot is `{diag:- }`, with what stands before each entry; `{diag:, }` and `{diag:; }` join the entries on
one line.
"""

from __future__ import annotations

import json
import random
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any, get_args

from clinical.contract import DocumentType

_HEAD = re.compile(r"^### (\w+), (\w\w), ([\w -]+?)(, open)?$", re.MULTILINE)
_SLOT = re.compile(r"\{([\w.]+)(?::([^}]*))?\}|\[\[([\w.]+)(\+?)=([^|\]]*)(?:\|([^\]]*))?\]\]|<<(.*?)>>", re.DOTALL)
MONTHS = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()  # noqa: SIM905
_KINDS: Mapping[str, DocumentType] = {kind: kind for kind in get_args(DocumentType)}
_PARTIES = {"s": "absender", "r": "empfaenger"}
_LISTS = {"diag": "diagnosen", "drugs": "medikation", "ops": "eingriffe", "steps": "procedere"}
_POOL_OF = {"diag": "diagnoses", "drugs": "drugs", "ops": "operations", "steps": "steps"}
_JOINED = (", ", "; ", " / ", " | ", " + ")


FOLDER = Path(__file__).resolve().parents[1] / "data" / "letters"
POOLS: Mapping[str, Any] = json.loads((FOLDER / "pools.json").read_text("utf-8"))
"""Values of the slots, nobody real. Names are drawn to be hard: surnames that are towns, professions or first names
(`first_as_surname`: where the letter itself tells which is which), doubled, noble, foreign and short ones."""
FILES = ("letters_a", "letters_b", "referrals_a", "referrals_b")
OPEN = "?"
"""The truth of a field on which people would differ: it is not counted."""


@dataclass(frozen=True, slots=True)
class Letter:
    """A text, its type of document, and its true fields in the shape of the contract's `data` (no nulls). `undecided`:
    paths whose truth is open."""

    document_type: DocumentType
    text: str
    truth: dict[str, Any]
    layout: str
    seed: int
    undecided: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Template:
    """One written letter; `ordered`: True when it tells first name and surname apart."""

    kind: DocumentType
    country: str
    name: str
    ordered: bool
    text: str


def letters(count: int, seed: int = 0, names: Sequence[str] = FILES) -> list[Letter]:
    """`count` letters, all templates of the files in turn, each time with other people, lists and line breaks; the same
    seed always gives the same letters."""
    every = [template for name in names for template in templates(FOLDER / f"{name}.txt")]
    return [
        reflowed(
            written(every[number % len(every)], 1_000 * seed + number // len(every)), REFLOWS[_flow(number, every)]
        )
        for number in range(count)
    ]


def _flow(number: int, every: Sequence[Template]) -> int:
    return (number // len(every) + number % len(every)) % len(REFLOWS)


def templates(file: Path) -> list[Template]:
    """All templates of a file. Raises OSError where there is none, KeyError where one is of no known type."""
    text = file.read_text("utf-8")
    heads = [*_HEAD.finditer(text)]
    ends = [*(one.start() for one in heads[1:]), len(text)]
    return [
        Template(_KINDS[one[1]], one[2], one[3], one[4] is None, text[one.end() : end].strip("\n"))
        for one, end in zip(heads, ends, strict=True)
    ]


def written(template: Template, seed: int) -> Letter:
    """The template filled in for a seed: always the same letter for the same seed."""
    return _Filled(template, seed).letter()


def _decided(truth: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The truth without nulls and without what is open, and the paths of what is open."""
    found: dict[str, Any] = {}
    undecided = []
    for key, value in truth.items():
        if isinstance(value, Mapping):
            undecided += [f"{key}.{inner}" for inner, one in value.items() if one == OPEN]
            value = {inner: one for inner, one in value.items() if one not in (OPEN, None)}
        elif value == OPEN:
            undecided.append(key)
            continue
        elif isinstance(value, list):
            value = [{k: v for k, v in one.items() if v is not None} if isinstance(one, dict) else one for one in value]
        found[key] = value
    return found, tuple(undecided)


def written_dates(day: date) -> dict[str, str]:
    """The day in every form in which a letter may write it."""
    return {
        "": f"{day:%d.%m.%Y}",
        "iso": day.isoformat(),
        "short": f"{day:%d.%m.%y}",
        "dots": f"{day.day}. {day.month}. {day.year}",
        "bare": f"{day.day}.{day.month}.{day.year}",
        "long": f"{day.day}. {MONTHS[day.month - 1]} {day.year}",
        "slash": f"{day:%d/%m/%Y}",
    }


class _Filled:
    def __init__(self, template: Template, seed: int) -> None:
        self.template, self.seed = template, seed
        self.random = random.Random(f"{template.name}/{seed}")  # noqa: S311 - reproducible, not secret
        self.country = template.country
        self.truth: dict[str, Any] = {}
        self.sex = self.random.choice("mw")
        surnames = POOLS["surnames"] + (POOLS["first_as_surname"] if template.ordered else [])
        self.first = self.random.choice(POOLS["women" if self.sex == "w" else "men"])
        self.last = self.random.choice(surnames)
        self.day = date(2024, 1, 8) + timedelta(days=self.random.randrange(740))
        self.born = date(1931, 1, 1) + timedelta(days=self.random.randrange(30_000))
        self.drawn: dict[str, str] = {}

    def letter(self) -> Letter:
        text = _SLOT.sub(self._filled, self.template.text)
        truth, undecided = _decided(self.truth)
        return Letter(self.template.kind, text, truth, self.template.name, self.seed, undecided)

    def put(self, path: str, value: str) -> str:
        outer, _, inner = path.partition(".")
        if inner:
            self.truth.setdefault(outer, {})[inner] = value
        else:
            self.truth[outer] = value
        return value

    def _filled(self, found: re.Match[str]) -> str:
        if found[7] is not None:
            return _SLOT.sub(self._filled, self.random.choice(found[7].split("||")).strip(" "))
        if found[3] is not None:
            return self._stated(found[3], bool(found[4]), found[5], found[6])
        return self._slot(found[1], found[2], found.start())

    def _stated(self, path: str, entry: bool, value: str, words: str | None) -> str:
        if entry:
            one: Any = {"bezeichnung": value, "datum": None} if path == "eingriffe" else value
            self.truth.setdefault(path, []).append(one)
        else:
            self.put(path, value)
        return value if words is None else words

    def _slot(self, name: str, argument: str | None, at: int) -> str:
        if name in _LISTS:
            return self._list(name, argument or "", at)
        party, dot, part = name.partition(".")
        if dot and party in ("s", "r", "x", "y", "z"):
            value = self._of_party(party, part)
            if party in _PARTIES and part in _CONTACT:
                self.put(f"{_PARTIES[party]}.{_CONTACT[part]}", value)
            return value
        day, _, form = name.partition(".")
        if day in _DAYS:
            return self._date(day, form)
        return _PATIENT[name](self)

    def _date(self, name: str, form: str) -> str:
        if name == "born":
            self.put("patient.geburtsdatum", self.born.isoformat())
            return written_dates(self.born)[form]
        if name == "date":
            self.put("dokument.datum", self.day.isoformat())
        return written_dates(self.day + timedelta(days=_DAYS[name]))[form]

    def _list(self, name: str, mark: str, at: int) -> str:
        entries = self.random.sample(POOLS[_POOL_OF[name]], self.random.randrange(2, 5))
        path = _LISTS[name]
        more = [{"bezeichnung": one, "datum": None} for one in entries] if path == "eingriffe" else entries
        self.truth.setdefault(path, []).extend(more)
        if mark in _JOINED:
            return mark.join(entries)
        text = self.template.text
        indent = " " * (at - text.rfind("\n", 0, at) - 1) if at else ""
        numbered = (mark.replace("1", str(n)) for n in range(1, 9))
        return f"\n{indent}".join(f"{number}{one}" for number, one in zip(numbered, entries, strict=False))

    def _of_party(self, party: str, part: str) -> str:
        key = f"{party}.{part}"
        if key not in self.drawn:
            self.drawn[key] = self._draw(party, part)
        return self.drawn[key]

    def _draw(self, party: str, part: str) -> str:
        pick = self.random.choice
        if part == "name":
            names = f"{self._of_party(party, 'first')} {self._of_party(party, 'last')}"
            return f"{self._of_party(party, 'title')} {names}"
        place = self._place(party) if part in ("plz", "ort") else ("", "")
        digits = [self.random.randrange(100, 999), self.random.randrange(10, 99), self.random.randrange(10, 99)]
        numbers = {"ch": "041 {} {} {}", "de": "04921 / {}{}-{}", "at": "+43 2622 {}{} {}"}
        made: dict[str, Callable[[], str]] = {
            "first": lambda: pick(POOLS["women"] + POOLS["men"]).split()[0],
            "last": lambda: pick([one for one in POOLS["doctors"] if one != self.last]),
            "title": lambda: pick(POOLS["titles"][self.country]),
            "house": lambda: pick(POOLS["hospitals" if self._is_hospital(party) else "practices"][self.country]),
            "hosp": lambda: pick(POOLS["hospitals"][self.country]),
            "prax": lambda: pick(POOLS["practices"][self.country]),
            "dept": lambda: pick(POOLS["departments"][self.country]),
            "street": lambda: (
                f"{pick(POOLS['streets'][self.country])} {self.random.randrange(1, 130)}{pick(('', '', 'a'))}"
            ),
            "plz": lambda: place[0],
            "ort": lambda: place[1],
            "tel": lambda: numbers[self.country].format(*digits),
            "mail": lambda: f"{pick(('sekretariat', 'praxis', 'info', 'anmeldung'))}@haus{digits[0]}.example",
            "person": lambda: f"{self._of_party(party, 'first')} {pick(POOLS['surnames'])}",
        }
        return made[part]()

    def _place(self, party: str) -> tuple[str, str]:
        key = f"{party}.place"
        if key not in self.drawn:
            self.drawn[key] = "|".join(self.random.choice(POOLS["places"][self.country]))
        plz, _, place = self.drawn[key].partition("|")
        return plz, place

    def _is_hospital(self, party: str) -> bool:
        return (party == "s") == (self.template.kind == "arztbrief")

    def own(self, part: str) -> str:
        """A part of the patient's address, or the insurer."""
        if part == "insurer":
            return self.put(
                "versicherung.name", self._drawn(part, lambda: self.random.choice(POOLS["insurers"][self.country]))
            )
        return self.put(_OWN[part], self._of_party("p", part))

    def _drawn(self, key: str, make: Callable[[], str]) -> str:
        if key not in self.drawn:
            self.drawn[key] = make()
        return self.drawn[key]

    def number(self, path: str) -> str:
        chance, born = self.random, self.born
        forms = {
            "ch": lambda: (
                f"756.{chance.randrange(1000, 9999)}.{chance.randrange(1000, 9999)}.{chance.randrange(10, 99)}"
            ),
            "de": lambda: f"{chance.choice('ABKTXZ')}{chance.randrange(100_000_000, 999_999_999)}",
            "at": lambda: f"{chance.randrange(1000, 9999)} {born:%d%m%y}",
        }
        case = lambda: f"{chance.randrange(10_000_000, 99_999_999)}"  # noqa: E731 - beside the others
        return self.put(path, self._drawn(path, case if path.endswith("fallnummer") else forms[self.country]))

    def sexed(self, woman: str, man: str, states: bool = True) -> str:
        if states:
            self.put("patient.geschlecht", self.sex)
        return woman if self.sex == "w" else man


_DAYS = {"born": 0, "date": 0, "from": -9, "to": -1, "op": -6, "prev": -430, "typed": 2, "next": 31, "seen": -2}
_CONTACT = {
    "house": "institution", "hosp": "institution", "prax": "institution", "dept": "abteilung", "name": "name",
    "street": "strasse", "plz": "plz", "ort": "ort", "tel": "telefon", "mail": "email",
}  # fmt: skip
_OWN = {"street": "patient.strasse", "plz": "patient.plz", "ort": "patient.ort"}
_PATIENT: dict[str, Callable[[_Filled], str]] = {
    "last": lambda it: it.put("patient.nachname", it.last),
    "first": lambda it: it.put("patient.vorname", it.first),
    "LAST": lambda it: it.put("patient.nachname", it.last.upper()),
    "FIRST": lambda it: it.put("patient.vorname", it.first.upper()),
    "name": lambda it: it.last,
    "call": lambda it: it.first.split()[0],
    "initial": lambda it: f"{it.first[0]}.",
    "street": lambda it: it.own("street"),
    "plz": lambda it: it.own("plz"),
    "ort": lambda it: it.own("ort"),
    "kasse": lambda it: it.own("insurer"),
    "ahv": lambda it: it.number("patient.versichertennummer"),
    "case": lambda it: it.number("patient.fallnummer"),
    "sex": lambda it: it.sexed("w", "m"),
    "SEX": lambda it: it.sexed("W", "M"),
    "mannlich": lambda it: it.sexed("weiblich", "männlich"),
    "Herr": lambda it: it.sexed("Frau", "Herr"),
    "Herrn": lambda it: it.sexed("Frau", "Herrn"),
    "Patient": lambda it: it.sexed("Patientin", "Patient"),
    "Patienten": lambda it: it.sexed("Patientin", "Patienten"),
    "derPatient": lambda it: it.sexed("die Patientin", "der Patient"),
    "DerPatient": lambda it: it.sexed("Die Patientin", "Der Patient"),
    "sehr": lambda it: it.sexed("", "r", False),
    "title": lambda it: it.random.choice(("Mag.", "DI", "Dr.", "Ing.")),
    "er": lambda it: it.sexed("sie", "er", False),
    "Er": lambda it: it.sexed("Sie", "Er", False),
    "seinen": lambda it: it.sexed("ihren", "seinen", False),
    "der": lambda it: it.sexed("die", "der", False),
    "den": lambda it: it.sexed("die", "den", False),
    "en": lambda it: it.sexed("", "n", False),
    "question": lambda it: it.put("fragestellung", it.random.choice(POOLS["questions"])),
}


def reflowed(letter: Letter, how: str) -> Letter:
    """The letter as a program that takes text out of a PDF gives it back."""
    lines = letter.text.split("\n")
    if how == "spread":
        lines = [one for line in lines for one in ((line, "") if line.strip() else ("",))]
    elif how == "indented":
        lines = [f"    {line}" if line.strip() else line for line in lines]
    elif how == "narrow":
        lines = [part for line in lines for part in (_wrapped(line) or [""])]
    text = "\n".join(lines)
    if how == "windows":
        text = "\r\n".join(lines) + "\x0c"
    return replace(letter, text=text, layout=f"{letter.layout}/{how}")


def _wrapped(line: str) -> list[str]:
    return [line] if "   " in line or "\t" in line or "|" in line else textwrap.wrap(line, 72)


REFLOWS = ("as it is", "as it is", "spread", "indented", "narrow", "windows")
