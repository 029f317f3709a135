"""Labelled false values about generated letters, which the validator must remove; true ones: `positives`.

A negative is one true answer with one value made wrong in one way. Those of fixed lists put explicit words of a value
into the letter that mean something else: whose, when, which stay, names and opening hours, boxes that are not ticked,
conditions and refusals. `squashed` is the eval's own "stands in the text".
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, NamedTuple

from clinical.contract import values_of as values_with_paths
from clinical.letters import Verdict, field_of, judge, messages_for
from clinical.thresholds import GroundingThresholds
from evals.letters.generator import Letter, written_dates

KEYWORDS = {
    "patient.geschlecht": {"m": r"männl|\bm\b|\bherrn?\b|\bpatient(en)?\b", "w": r"weibl|\bw\b|\bfrau\b|patientin"},
    "versicherung.klasse": {
        "allgemein": r"allgemein\b|allgemeine\b",
        "halbprivat": "halbprivat",
        "privat": r"\bprivat",
    },
    "aufenthalt.art": {"stationaer": r"\bstat|hospital", "ambulant": r"\bambulan|sprechst"},
    "dringlichkeit": {"notfall": "notfall", "dringlich": r"\bdringlich\w*(?!keit)\b", "elektiv": r"\belektiv"},
    "kostengutsprache": {"liegt_vor": r"liegt vor|erteilt", "beantragt": "beantragt", "wird_eingeholt": "eingeholt"},
}


class Said(NamedTuple):
    """Phrasings of a value: of a subject in the present, of a subject in the past, as a noun phrase, on a form."""

    present: str
    past: str
    noun: str
    option: str


WAYS: Mapping[tuple[str, str], Said] = {
    ("versicherung.klasse", "privat"): Said(
        "ist privat versichert", "war privat versichert", "die Privatabteilung", "privat"),
    ("versicherung.klasse", "halbprivat"): Said(
        "ist halbprivat versichert", "war halbprivat versichert", "die Halbprivatabteilung", "halbprivat"),
    ("versicherung.klasse", "allgemein"): Said(
        "ist allgemein versichert", "war allgemein versichert", "die allgemeine Abteilung", "allgemein"),
    ("aufenthalt.art", "stationaer"): Said(
        "ist in stationärer Behandlung", "war in stationärer Behandlung", "stationäre Behandlung", "stationär"),
    ("aufenthalt.art", "ambulant"): Said(
        "ist in ambulanter Behandlung", "war in ambulanter Behandlung", "ambulante Behandlung", "ambulant"),
    ("dringlichkeit", "notfall"): Said(
        "kommt als Notfall", "kam als Notfall", "notfallmässige Vorstellung", "Notfall"),
    ("dringlichkeit", "dringlich"): Said(
        "wird dringlich operiert", "wurde dringlich operiert", "dringliche Operation", "dringlich"),
    ("dringlichkeit", "elektiv"): Said(
        "wird elektiv operiert", "wurde elektiv operiert", "elektive Operation", "elektiv"),
    ("kostengutsprache", "liegt_vor"): Said(
        "hat eine Kostengutsprache, sie liegt vor", "hatte eine erteilte Kostengutsprache",
        "Kostengutsprache liegt vor", "liegt vor"),
    ("kostengutsprache", "beantragt"): Said(
        "hat die Kostengutsprache beantragt", "hatte die Kostengutsprache beantragt",
        "Kostengutsprache beantragt", "beantragt"),
    ("kostengutsprache", "wird_eingeholt"): Said(
        "wartet, die Kostengutsprache wird eingeholt", "hatte damals die Kostengutsprache eingeholt",
        "Kostengutsprache wird eingeholt", "wird eingeholt"),
}  # fmt: skip
_OTHERS = ("Der Bruder", "Die Schwester", "Der Ehemann", "Ihre Tochter", "Der Zimmernachbar", "Seine Frau",
           "Die Mutter", "Der Lebenspartner", "Ein Nachbar", "Der Schwiegervater")  # fmt: skip
_TIMES = ("Im Jahr {year}", "Vor {n} Jahren", "Damals", "Früher", "Im September {year}", "Letztes Jahr", "Im Vorjahr",
          "Vor {n} Monaten", "Am 12.03.{year}")  # fmt: skip
_FIELDS = {"versicherung.klasse": "Versicherungsklasse", "aufenthalt.art": "Aufnahmeart",
           "dringlichkeit": "Dringlichkeit", "kostengutsprache": "Kostengutsprache"}  # fmt: skip


def _whose(chance: random.Random, field: str, said: Said) -> str:
    who = chance.choice(_OTHERS)
    return chance.choice(
        (
            f"{who} {said.present}.", f"{who} {said.past}.", f"{who} ist uns bekannt. {_er(who)} {said.present}.",
            f"{who}, auch bei Ihnen in Behandlung, {said.present}.", f"{who} (72) {said.present} und hilft viel.",
        )
    )  # fmt: skip


def _er(who: str) -> str:
    return "Sie" if who.endswith(("Schwester", "Tochter", "Frau", "Mutter")) else "Er"


def _when(chance: random.Random, field: str, said: Said) -> str:
    when = chance.choice(_TIMES).format(year=chance.randrange(2009, 2016), n=chance.randrange(2, 9))
    verb, rest = said.past.split(" ", 1)
    return f"{when} {verb} sie {rest}."


def _which(chance: random.Random, field: str, said: Said) -> str:
    if field == "kostengutsprache":
        return chance.choice(("Für das anschliessende Hospiz: {}.", "Für das Pflegeheim: {}.")).format(said.noun)
    return chance.choice(
        (
            "Anschliessend {}.", "Danach {}.", "Anschliessend ist {} vorgesehen.", "Später allenfalls {}.",
            "Eine frühere {} blieb ohne Erfolg.", "Die bisherige {} half nicht.", "St. n. {} 2011.",
        )
    ).format(re.sub(r"^(?:die|der) ", "", said.noun))  # fmt: skip


def _name(chance: random.Random, field: str, said: Said) -> str:
    option = said.option.capitalize()
    return chance.choice(
        (
            f"{option}- und Wirbelsäulensprechstunde, Haus 3", f"Zentrum für {said.option}e Chirurgie",
            f"Besuchszeiten {said.noun} 10-20 Uhr", f"{option}- und Schmerzzentrum Seeblick",
            f"Öffnungszeiten, {said.noun}: Mo-Fr 8 bis 17 Uhr",
        )
    )  # fmt: skip


def _box(chance: random.Random, field: str, said: Said) -> str:
    label, option = _FIELDS[field], said.option
    return chance.choice(
        (
            f"{label}: [ ] {option} [x] unbekannt", f"{label}: [x] unbekannt [ ] {option}",
            f"{label}\t☐ {option}\t☒ keine Angabe", f"{label}: {option} [ ] unbekannt [x]",
            f"{label}: ~~{option}~~ offen", f"{label}: ( ) {option} (x) offen",
            f"| {option} | unbekannt |\n|  | x |", f"{label} {option}: [ ] ja [x] nein",
            f"{label}:\n[ ] {option}\n[x] unbekannt",
        )
    )  # fmt: skip


def _refused(chance: random.Random, field: str, said: Said) -> str:
    noun = re.sub(r"^(?:die|der) ", "", said.noun)
    return chance.choice(
        (
            f"Falls nötig {noun}.", f"Bei Verschlechterung {noun}.", f"Keine {noun}.", f"{noun}: nein",
            f"{noun.capitalize()} wurde abgelehnt.", f"Ob {noun}, ist offen.", f"{noun}? Bitte klären.",
            f"Bei Bedarf {noun}.", f"Sobald {noun}, melden wir uns.",
        )
    )  # fmt: skip


Trap = Callable[[random.Random, str, Said], str]
TRAPS: Mapping[str, Trap] = {
    "list value of another person": _whose,
    "list value of another time": _when,
    "list value of another stay": _which,
    "list value in a name or in hours": _name,
    "list value in an empty box": _box,
    "list value refused or conditional": _refused,
}


def trap(make: Trap) -> Callable[[random.Random, Letter, Letter], tuple[str, str, str] | None]:
    """The maker of one class of negatives: a sentence put into a letter that says nothing of the list."""

    def maker(chance: random.Random, letter: Letter, other: Letter) -> tuple[str, str, str] | None:
        (field, value), said = chance.choice(tuple(WAYS.items()))
        return (
            (field, value, with_sentence(letter.text, make(chance, field, said))) if _is_silent(letter, field) else None
        )

    return maker


def stated(letter: Letter, path: str) -> str | None:
    """The true value at a path; None where the letter has none."""
    outer, _, inner = path.partition(".")
    value = letter.truth.get(outer)
    return value.get(inner) if isinstance(value, dict) else value


def _is_silent(letter: Letter, field: str) -> bool:
    if stated(letter, field) or field in letter.undecided:
        return False
    text = re.sub("Privatklinik|Dringlichkeit", "", letter.text)
    return not any(re.search(pattern, text, re.IGNORECASE) for pattern in KEYWORDS[field].values())


def with_sentence(text: str, sentence: str) -> str:
    """The sentence as a paragraph of its own before the last one."""
    head, _, foot = text.rpartition("\n\n")
    return f"{head}\n\n{sentence}\n\n{foot}"


# --- values of every field


@dataclass(frozen=True, slots=True)
class Negative:
    """A value at a path that the text does not say."""

    kind: str
    text: str
    path: str
    value: str
    surname: str | None


Maker = Callable[[random.Random, Letter, Letter], "tuple[str, str] | tuple[str, str, str] | None"]


def answer_of(path: str, value: str, surname: str | None) -> dict[str, Any]:
    """A model's answer that states one value, and the patient's surname with it."""
    answer: dict[str, Any] = {"patient": {"nachname": surname}} if surname else {}
    outer, _, inner = path.partition(".")
    if outer == "eingriffe":
        answer[outer] = [{"bezeichnung": None, inner: value}]
    elif inner:
        answer.setdefault(outer, {})[inner] = value
    else:
        answer[outer] = [value] if outer in ("diagnosen", "medikation", "procedere") else value
    return answer


def passes(negative: Negative, thresholds: GroundingThresholds | None = None) -> bool:
    """Return True when the validator wrongly keeps the negative, with the shipped thresholds or others."""
    return is_kept(
        negative.path, judge(answer_of(negative.path, negative.value, negative.surname), negative.text, thresholds)
    )


def is_kept(field: str, verdicts: Iterable[Verdict]) -> bool:
    """Return True when the first value of a field was kept: the one that `answer_of` states."""
    return next(one.kept for one in verdicts if field_of(one.path) == field)


def squashed(text: str) -> str:
    """Alphabetic characters and digits only, one spelling."""
    text = unicodedata.normalize("NFKC", text).casefold().replace("ä", "ae").replace("ö", "oe").replace("ü", "ue")
    return re.sub(r"\W+", " ", text).strip()


def stands_in(value: str, text: str) -> bool:
    """Return True when the value's words stand in the text in a row."""
    return f" {squashed(value)} " in f" {squashed(text)} "


def _other_digit(chance: random.Random, text: str) -> str:
    places = [i for i, char in enumerate(text) if char.isdigit()]
    i = chance.choice(places)
    return text[:i] + chance.choice([d for d in "0123456789" if d != text[i]]) + text[i + 1 :]


def _dose(chance: random.Random, letter: Letter, other: Letter) -> tuple[str, str] | None:
    drugs = [drug for drug in letter.truth.get("medikation", ()) if re.search(r"\d", drug)]
    return ("medikation", _other_digit(chance, chance.choice(drugs))) if drugs else None


_UNIT = re.compile(r"\d (mg|g|µg|IE)\b")


def _unit(chance: random.Random, letter: Letter, other: Letter) -> tuple[str, str] | None:
    drugs = [(drug, found[1]) for drug in letter.truth.get("medikation", ()) if (found := _UNIT.search(drug))]
    if not drugs:
        return None
    drug, unit = chance.choice(drugs)
    wrong = chance.choice([one for one in ("mg", "g", "µg", "IE", "ml") if one != unit])
    return "medikation", re.sub(rf"(\d) {unit}\b", rf"\1 {wrong}", drug, count=1)


def _number(chance: random.Random, letter: Letter, other: Letter) -> tuple[str, str] | None:
    fields = ("plz", "versichertennummer", "fallnummer", "strasse", "telefon")
    there = [
        (f"{o}.{i}", v)
        for o in ("patient", "absender")
        for i, v in letter.truth.get(o, {}).items()
        if i in fields and re.search(r"\d", v)
    ]
    path, value = chance.choice(there) if there else ("", "")
    if not value:
        return None
    part = chance.random() < 0.3 and not path.endswith("strasse") and len(re.sub(r"\D", "", value)) > 4
    return path, (re.sub(r"\d", "", value, count=1) if part else _other_digit(chance, value))


def _shifted_date(chance: random.Random, letter: Letter, other: Letter) -> tuple[str, str] | None:
    path = chance.choice(("dokument.datum", "patient.geburtsdatum"))
    said = stated(letter, path)
    if said is None:
        return None
    day = date.fromisoformat(said)
    wrong = day + timedelta(days=chance.choice((-366, -365, -30, -7, -1, 1, 2, 10, 30, 31, 365, 3650)))
    if chance.random() < 0.2 and day.day <= 12 and day.day != day.month:
        wrong = date(day.year, day.day, day.month)
    if _date_stands(wrong, letter.text):
        return None
    return path, wrong.isoformat()


def _date_stands(day: date, text: str) -> bool:
    """Return True when the day stands in the text in one of the generator's notations, in any role."""
    text = " ".join(text.split())
    return any(re.search(rf"(?<![\d.]){re.escape(form)}(?!\d)", text) for form in written_dates(day).values())


_SWAPS = (("rechts", "links"), ("rechter", "linker"), ("rechte", "linke"), ("beidseits", "rechts"))


def _side(chance: random.Random, letter: Letter, other: Letter) -> tuple[str, str] | None:
    sided = [
        (path, value)
        for path in ("diagnosen", "eingriffe")
        for item in letter.truth.get(path, ())
        for value in [item["bezeichnung"] if isinstance(item, dict) else item]
        if any(re.search(rf"\b{side}\b", value) for pair in _SWAPS for side in pair)
    ]
    if not sided:
        return None
    path, value = chance.choice(sided)
    for one, two in _SWAPS:
        if re.search(rf"\b{one}\b", value):
            wrong = re.sub(rf"\b{one}\b", two, value)
            break
        if re.search(rf"\b{two}\b", value):
            wrong = re.sub(rf"\b{two}\b", one, value)
            break
    return ("eingriffe.bezeichnung" if path == "eingriffe" else path), wrong


_DENIED = {
    "Lungenembolie": "Kein Hinweis auf Lungenembolie.", "Sepsis": "Eine Sepsis konnte ausgeschlossen werden.",
    "Meningitis": "Keine Zeichen einer Meningitis.", "Tuberkulose": "Kein Anhalt für Malignom oder Tuberkulose.",
    "Myokardinfarkt": "Ein Myokardinfarkt wurde nicht nachgewiesen.",
}  # fmt: skip
_OF_RELATIVES = {
    "Kolonkarzinom": "Vater: Kolonkarzinom.", "Epilepsie": "FA: Mutter mit Epilepsie.",
    "Pankreaskarzinom": "Der Bruder verstarb an einem Pankreaskarzinom.",
    "Multiple Sklerose": "Familienanamnese: Schlaganfall der Grossmutter, Multiple Sklerose der Schwester.",
}  # fmt: skip


def _put_in(chance: random.Random, letter: Letter, sentences: Mapping[str, str]) -> tuple[str, str, str] | None:
    """A disease of which the letter says nothing, and the letter with a sentence about it."""
    disease, sentence = chance.choice(tuple(sentences.items()))
    known = disease in letter.text
    return None if known else ("diagnosen", disease, with_sentence(letter.text, f"Anamnese: {sentence}"))


def _denied(chance: random.Random, letter: Letter, other: Letter) -> tuple[str, str, str] | None:
    return _put_in(chance, letter, _DENIED)


def _dropped_denial(chance: random.Random, letter: Letter, other: Letter) -> tuple[str, str, str] | None:
    """A true diagnosis, denied in the text in one of many ways."""
    forms = (
        "Kein Hinweis auf {}.", "Keine {}.", "{} ausgeschlossen.", "{} wurde ausgeschlossen.", "Ausschluss {}.",
        "Ohne Anhalt für {}.", "{}: nein", "Kein Fieber, keine Dyspnoe, kein Nachweis von {}.",
        "Weder Husten noch {}.", "Zum Ausschluss von {}.", "{} liegt nicht vor.",
        "{} konnte nicht nachgewiesen werden.",
        "Kein Nachweis von Tumor oder {}.", "{} wird verneint.", "Keine Zeichen für Ödeme, Erguss oder {}.",
    )  # fmt: skip
    return _told_otherwise(chance, letter, forms)


def _told_otherwise(chance: random.Random, letter: Letter, forms: Sequence[str]) -> tuple[str, str, str] | None:
    """A true diagnosis, and the letter with one of these forms in its place."""
    disease = chance.choice(letter.truth.get("diagnosen") or ("Z. n.",))
    if disease.startswith(("Z. n.", "St. n.", "V. a.", "Zustand", "Verdacht")):
        return None
    told = chance.choice(forms).format(disease).rstrip(".")
    text = re.sub(rf"(?m){re.escape(disease)}(?=\s*$)", lambda _: told, letter.text)
    if text.count(disease) != text.count(told):  # it stands elsewhere too
        return None
    return ("diagnosen", disease, text) if text != letter.text else None


def _family(chance: random.Random, letter: Letter, other: Letter) -> tuple[str, str, str] | None:
    return _put_in(chance, letter, _OF_RELATIVES)


def _of_a_relative(chance: random.Random, letter: Letter, other: Letter) -> tuple[str, str, str] | None:
    """A true diagnosis, told of a relative in one of many ways."""
    forms = (
        "Vater: {}", "Mutter mit {}", "{} beim Bruder", "{} der Mutter", "FA: {}", "Familiär {}", "Schwester hat {}",
        "Familienanamnese: Vater {}", "Die Grossmutter litt an {}", "{} (Vater)", "{} in der Familie", "Eltern: {}",
        "Familienanamnese positiv für {}", "{} mütterlicherseits", "Onkel väterlicherseits mit {}",
    )  # fmt: skip
    return _told_otherwise(chance, letter, forms)


def _near_name(chance: random.Random, letter: Letter, other: Letter) -> tuple[str, str] | None:
    path = chance.choice(("patient.nachname", "patient.vorname"))
    name = letter.truth["patient"][path.split(".")[1]]
    edits: tuple[Callable[[], str], ...] = (
        lambda: name + chance.choice(("hofer", "er", "s", "mann", "i", "-Huber")),
        lambda: name[:-1],
        lambda: name[: (i := chance.randrange(1, len(name) - 1))] + name[i + 1] + name[i] + name[i + 2 :],
        lambda: name[: (i := chance.randrange(1, len(name)))] + chance.choice("aeioutrskb") + name[i + 1 :],
        lambda: name.split("-")[0] if "-" in name else name[1:].capitalize(),
        lambda: name.replace("ei", "ai").replace("ie", "i").replace("er", "ar"),
    )
    wrong = chance.choice(edits)()
    return (path, wrong) if len(wrong) > 2 else None


def _from_prompt(chance: random.Random, letter: Letter, other: Letter) -> tuple[str, str] | None:
    """Something the question itself says, or what examples of such questions use."""
    phrases = [line.strip("- ") for line in messages_for("arztbrief", "")[0].content.splitlines() if len(line) > 20]
    pieces = re.split(r"[,.;:]\s*", chance.choice(phrases))
    piece = chance.choice([piece for piece in pieces if piece.count(" ")] or ["ausdrücklich im Text"])
    path, value = chance.choice(
        (
            ("fragestellung", piece), ("diagnosen", piece), ("patient.nachname", "Beispielmann"),
            ("patient.plz", "12345"),
            ("patient.geburtsdatum", "1970-01-01"), ("medikation", "Medikament mit Dosis und Einnahme"),
            ("absender.telefon", "+49 30 123456"), ("diagnosen", "Beispieldiagnose"), ("dokument.datum", "2024-01-31"),
        )
    )  # fmt: skip
    return path, value


def _scattered(chance: random.Random, letter: Letter, other: Letter) -> tuple[str, str] | None:
    """Words from places far apart, put together to a diagnosis, a drug or a procedure."""
    there = re.findall(r"[\w,./-]*\w", letter.text)
    count = chance.randrange(2, 6)
    if len(there) < 60:
        return None
    step = len(there) // count
    picked = [there[chance.randrange(n * step, n * step + step - 6)] for n in range(count)]
    chance.shuffle(picked)
    return chance.choice(("diagnosen", "medikation", "fragestellung", "eingriffe.bezeichnung")), " ".join(picked)


def _of_another(chance: random.Random, letter: Letter, other: Letter) -> tuple[str, str] | None:
    return chance.choice(list(values_of(other.truth)))


def _without_word(chance: random.Random, letter: Letter, other: Letter) -> tuple[str, str] | None:
    path = chance.choice(tuple(KEYWORDS))
    if path == "patient.geschlecht":
        sex = stated(letter, path)
        return (path, {"m": "w", "w": "m"}[sex]) if sex else None
    value, pattern = chance.choice(tuple(KEYWORDS[path].items()))
    named = re.search(pattern, re.sub(r"Dringlichkeit|Privatklinik|Kein Notfall", "", letter.text), re.IGNORECASE)
    return None if named or stated(letter, path) == value or path in letter.undecided else (path, value)


_IMPLICATIONS = (
    ("versicherung.klasse", "privat", "Die Behandlung erfolgt in der Privatklinik Rosenhof."),
    ("versicherung.klasse", "privat", "Tel. privat 079 555 11 22."),
    ("versicherung.klasse", "allgemein", "Klinik für Allgemeine Chirurgie und Allgemeinmedizin."),
    ("versicherung.klasse", "halbprivat", "Unterbringung im Zweibettzimmer gewünscht."),
    ("versicherung.klasse", "privat", "Wunsch nach Chefarztbehandlung im Einbettzimmer."),
    ("dringlichkeit", "dringlich", "Wir bitten um einen Termin in den nächsten Tagen."),
    ("dringlichkeit", "dringlich", "Dringlichkeit: offen"),
    ("dringlichkeit", "dringlich", "Es besteht der dringende Verdacht auf eine Thrombose."),
    ("dringlichkeit", "notfall", "Im Notfall wählen Sie 144."),
    ("dringlichkeit", "notfall", "Zuletzt auf der Notfallstation gesehen. Notfallkontakt: Nachbar."),
    ("dringlichkeit", "notfall", "Der Patient wurde mit dem Rettungsdienst gebracht."),
    ("dringlichkeit", "elektiv", "Serotonin-Wiederaufnahmehemmer, selektiv wirkend."),
    ("dringlichkeit", "elektiv", "Der Termin kann frei gewählt werden."),
    ("aufenthalt.art", "stationaer", "Eintritt am Vorabend, Austritt nach drei Tagen."),
    ("aufenthalt.art", "ambulant", "Wir bitten um einen Termin, danach geht es nach Hause."),
    ("kostengutsprache", "liegt_vor", "Die Kosten übernimmt die Versicherung."),
    ("kostengutsprache", "liegt_vor", "Die Kostengutsprache liegt noch nicht vor."),
    ("kostengutsprache", "beantragt", "Bitte beantragen Sie eine Kostengutsprache."),
    ("kostengutsprache", "liegt_vor", "Sobald die Kostengutsprache vorliegt, folgt das Aufgebot."),
    ("kostengutsprache", "wird_eingeholt", "Bitte die Kostengutsprache direkt einholen."),
)


def _implied(chance: random.Random, letter: Letter, other: Letter) -> tuple[str, str, str] | None:
    path, value, sentence = chance.choice(_IMPLICATIONS)
    if stated(letter, path) or re.search(KEYWORDS[path][value], letter.text, re.IGNORECASE):
        return None
    return path, value, f"{letter.text}\n\n{sentence}"


NEGATIVES: dict[str, Maker] = {
    "digit in a dose": _dose,
    "unit of a dose": _unit,
    "digit in a number": _number,
    "shifted date": _shifted_date,
    "other side": _side,
    "denied in the letter": _denied,
    "true one denied": _dropped_denial,
    "a relative's": _family,
    "true one of a relative": _of_a_relative,
    "near name": _near_name,
    "copied from the question": _from_prompt,
    "scattered words": _scattered,
    "list value without its word": _without_word,
    "list value by implication": _implied,
    "value of another letter": _of_another,
    **{name: trap(make) for name, make in TRAPS.items()},
}


def values_of(truth: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Every value of a truth with its field."""
    return ((field_of(path), value) for path, value in values_with_paths(truth))


_DATES = ("dokument.datum", "patient.geburtsdatum", "eingriffe.datum")


def negatives(kind: str, letters: list[Letter], count: int, seed: int = 0) -> Iterator[Negative]:
    """`count` negatives of a kind; none that happens to be true of its text."""
    chance = random.Random(seed)  # noqa: S311 - reproducible, not secret
    maker = NEGATIVES[kind]
    made = 0
    for _ in range(200 * count):
        if made == count:
            return
        letter, other = chance.choice(letters), chance.choice(letters)
        negative = maker(chance, letter, other)
        if negative is None:
            continue
        path, value, text = negative if len(negative) == 3 else (*negative, letter.text)
        if kind not in _ABOUT_MEANING and _is_true(path, value, text, letter, other):
            continue
        made += 1
        yield Negative(
            kind, text, path, value, letter.truth["patient"]["nachname"] if path != "patient.nachname" else None
        )


_ABOUT_MEANING = frozenset(
    ("denied in the letter", "true one denied", "a relative's", "true one of a relative", "list value without its word")
) | {"list value by implication", *TRAPS}


def _is_true(path: str, value: str, text: str, letter: Letter, other: Letter) -> bool:
    if path in KEYWORDS:
        pattern = KEYWORDS[path][value]
        return letter is other or re.search(pattern, text, re.IGNORECASE) is not None
    if path in _DATES:
        return _date_stands(date.fromisoformat(value), letter.text)
    digits = re.sub(r"\D", "", value)
    if path.endswith(("plz", "telefon", "nummer")) and digits in re.sub(r"\D+", " ", text).split():
        return True
    return letter is other or stands_in(value, text)
