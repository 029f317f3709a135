"""Generated clauses that deny a disease, and clauses that only look like it: is each claim read as it is written?

A clause is a particle, a predicate of finding, existing or supposing, an order of words, what stands around it, and the
catalog's own name for a disease; the other set is made of negations of something else ("nicht eingestellt"). The
reading alone answers, so thousands take seconds.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from clinical.language import Claim, Reading
from clinical.search import SearchIndex

PARTICLES: Final = ("nicht", "nie", "niemals", "keinesfalls", "keineswegs", "bisher nicht", "eher nicht", "damit nicht")
FOUND: Final = (
    "nachweisbar",
    "dokumentiert",
    "vorhanden",
    "festgestellt",
    "bestätigt",
    "erkennbar",
    "diagnostiziert",
    "verifiziert",
    "gefunden",
    "beschrieben",
    "eruierbar",
    "objektiviert",
)
SUPPOSED: Final = ("anzunehmen", "wahrscheinlich", "plausibel", "auszumachen", "haltbar", "zu vermuten")
VERBS: Final = (
    "besteht {}",
    "sehen wir {}",
    "sah man {}",
    "fand sich {}",
    "zeigte sich {}",
    "ließ sich {} nachweisen",
    "lässt sich {} belegen",
    "liegt {} vor",
    "lag {} vor",
    "kam {} vor",
    "trat {} auf",
    "bestätigte sich {}",
    "konnten wir {} finden",
    "ergab sich {}",
)
REFUTED: Final = (
    "wurde verworfen",
    "widerlegt",
    "ausgeschlossen",
    "fehlt",
    "vom Tisch",
    "unwahrscheinlich",
    "wenig wahrscheinlich",
    "kaum wahrscheinlich",
    "scheidet aus",
    "kommt nicht in Frage",
    "entkräftet",
    "neg.",
    "negativ",
    "nein",
)
DENYING: Final = (
    *(f"{{}} {{p}} {word}" for word in (*FOUND, *SUPPOSED)),
    *(f"{{}} ist {{p}} {word}" for word in (*FOUND, *SUPPOSED)),
    *(f"im CT war {{}} {{p}} {word}" for word in FOUND[:5]),
    *(f"{{}} {verb.format('{p}')}" for verb in VERBS),
    *(f"{{}} {word}" for word in REFUTED),
    *(f"{{}}: {{p}} {word}" for word in FOUND),
    *(f"{{}}: {word}" for word in ("nein", "keine", "negativ", "neg.", "ausgeschlossen", "Ø", "fehlt")),
    "nicht nachweisbar war {}",
    "nicht gefunden: {}",
    "es handelt sich {p} um {}",
    "von {} ist {p} auszugehen",
    "wir gehen {p} von {} aus",
    "das Bild spricht gegen {}",
    "gegen {} spricht das Labor",
    "für {} spricht nichts",
    "kein Anhalt für {}",
    "ohne Hinweis auf {}",
    "frei von {}",
    "Test auf {} negativ",
    "Zeichen für {} fehlen",
)
KEEPING: Final = (
    "{} nicht näher bezeichnet",
    "{} nicht ausgeschlossen",
    "{} nicht auszuschließen",
    "{} kann nicht ausgeschlossen werden",
    "nicht nur {}",
    "{} nicht kontrolliert",
    "{} nicht eingestellt",
    "{} nicht insulinpflichtig",
    "{} nicht steroidpflichtig",
    "{}, nicht progredient",
    "{} nicht medikamentös behandelt",
    "{} ohne Therapie",
    "{}, bisher ohne Behandlung",
    "keine Besserung der {}",
    "kein Zweifel an {}",
    "{} ohne Fieber",
    "{} mit Husten, kein Fieber",
    "{}, Fieber nicht nachweisbar",
    "{}; Pleuraerguss nicht nachweisbar",
    "bei {} ist eine Thrombose nicht nachweisbar",
    "{}, eine Thrombose besteht nicht",
    "{} nachgewiesen, nicht operiert",
    "{} besteht seit Jahren und ist nicht rückläufig",
    "{} ist nicht selten",
    "{} lässt sich nicht bessern",
    "{} derzeit nicht behandlungsbedürftig",
    "{} bestätigt, Therapie nicht erwünscht",
    "{} wurde nachgewiesen, Tumor wurde verworfen",
    "Pneumonie ausgeschlossen, {} gesichert",
    "nicht Pneumonie, sondern {}",
    "{}, Malignität unwahrscheinlich",
    "{} bisher nicht operiert",
    "{} zeigte sich nicht verändert",
    "{} - Rezidiv nicht erkennbar",
)
BESIDE: Final = (
    ("", "."),
    ("", ""),
    ("Bekannte Gonarthrose. ", "."),
    ("Hypertonie, ", "."),
    ("Hypertonie; ", "; Gicht"),
    ("- Hypertonie\n- ", "\n- Gicht"),
    ("", ". Bekannte Gicht."),
    ("Beurteilung: ", ". Kontrolle in 2 Wochen."),
)
"""What stands around a clause: other statements, that stay as they are."""


def plain_names(index: SearchIndex, count: int, seed: int) -> list[str]:
    """Wordings of one or two words that claim nothing of themselves."""
    chance, found = random.Random(seed), []  # noqa: S311 - a sample that can be drawn again
    for number in chance.sample(range(len(index.wordings)), len(index.wordings)):
        text = index.wordings.text(number)
        plain = text[0].isupper() and len(text.split()) < 3 and text.replace(" ", "").isalpha()
        if plain and Reading.of(text).claim(0, len(text)) == Claim():
            found.append(text)
        if len(found) == count:
            break
    return found


class Clause(NamedTuple):
    """A text, the place of the disease in it, and whether it is denied; `frame`: the clause without names."""

    text: str
    start: int
    end: int
    denied: bool
    frame: str


def clauses(names: Sequence[str], count: int, seed: int) -> Iterator[Clause]:
    """Texts of both kinds by turns, `count` altogether."""
    chance = random.Random(seed)  # noqa: S311 - a sample that can be drawn again
    for number in range(count):
        denied = number % 2 == 0
        frame = chance.choice(DENYING if denied else KEEPING)
        written = frame.replace("{p}", chance.choice(PARTICLES))
        before, behind = chance.choice(BESIDE)
        name, article = chance.choice(names), chance.choice(("", "", "eine ", "ein "))
        if not denied or ":" in written or written.startswith("kein"):
            article = ""
        at = written.index("{}")
        start = len(before) + at + len(article)
        text = before + written[:at] + article + name + written[at + 2 :] + behind
        yield Clause(text, start, start + len(name), denied, frame)


def misread(found: Iterator[Clause]) -> tuple[Counter[bool], list[Clause]]:
    """How many clauses there are of each kind, and those that are read otherwise."""
    counts: Counter[bool] = Counter()
    wrong = []
    for one in found:
        counts[one.denied] += 1
        if (Reading.of(one.text).claim(one.start, one.end).assertion == "excluded") is not one.denied:
            wrong.append(one)
    return counts, wrong
