"""Lies about values of fixed lists: no word for them in the letter, something that implies them, or a word that is
about someone or something else (`traps`): whose, when, which stay, names and hours, boxes, conditions and refusals.
"""

from __future__ import annotations

import random
import re

from evals.extraction.letters import Letter

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


def without_word(chance: random.Random, letter: Letter, other: Letter) -> tuple[str, str] | None:
    path = chance.choice(tuple(KEYWORDS))
    if path == "patient.geschlecht":
        return path, {"m": "w", "w": "m"}[letter.truth["patient"]["geschlecht"]]
    value, pattern = chance.choice(tuple(KEYWORDS[path].items()))
    named = re.search(pattern, re.sub(r"Dringlichkeit|Privatklinik|Kein Notfall", "", letter.text), re.IGNORECASE)
    return None if named else (path, value)


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


def implied(chance: random.Random, letter: Letter, other: Letter) -> tuple[str, str, str] | None:
    path, value, sentence = chance.choice(_IMPLICATIONS)
    outer, _, inner = path.partition(".")
    stated = letter.truth.get(outer, {})
    if (stated.get(inner) if inner else stated) or re.search(KEYWORDS[path][value], letter.text, re.IGNORECASE):
        return None
    return path, value, f"{letter.text}\n\n{sentence}"
