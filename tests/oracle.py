"""The least meaning of "evidenced", written apart from the validator: plain string work, no windows, no scopes.

Weaker than the validator on purpose. What it denies is an invention beyond dispute.
"""

from __future__ import annotations

import re
import unicodedata

MONTHS = ["jan", "feb", "mär", "apr", "mai", "jun", "jul", "aug", "sep", "okt", "nov", "dez"]
STEMS = {
    "patient.geschlecht": {"m": r"m|\bh(er)?r|patient|♂", "w": r"w|\bfr|patientin|♀"},
    "versicherung.klasse": {"allgemein": "allgemein", "halbprivat": "halbprivat", "privat": "privat"},
    "aufenthalt.art": {"stationaer": r"station|\bstat\b|hospitalis", "ambulant": "ambulan|sprechstund"},
    "dringlichkeit": {"notfall": "notfall", "dringlich": "dringlich", "elektiv": "elektiv"},
    "kostengutsprache": {
        "liegt_vor": "kosten|kogu", "beantragt": "beantragt", "wird_eingeholt": "eingeholt|holen|einholung|wir",
    },
}  # fmt: skip


def plain(text: str) -> str:
    """Lower-case characters and digits with what OCR and spelling mix up made one; everything else a space."""
    text = unicodedata.normalize("NFKC", text.replace("\u00ad", "")).lower().replace("ß", "ss")
    text = "".join(char for char in unicodedata.normalize("NFD", text) if not unicodedata.combining(char))
    text = re.sub(r"(?<!\w)\||\|(?!\w)", " ", text)  # a cell's border, not a character of a word
    text = text.replace("ø", "o").replace("œ", "oe").replace("æ", "ae")
    for one, other in (
        ("ae", "a"),
        ("oe", "o"),
        ("ue", "u"),
        ("rn", "m"),
        ("1", "l"),
        ("i", "l"),
        ("|", "l"),
        ("0", "o"),
    ):
        text = text.replace(one, other)
    return re.sub(r"[\W_]+", " ", text).strip()


_ROMAN = {"ll": "2", "lll": "3", "lv": "4", "vl": "6", "vll": "7", "vlll": "8", "lx": "9"}
"""Stages as numbers, as `plain` writes them (1 is l)."""


def is_evidenced(path: str, value: str, text: str) -> bool:
    """Return True when the value could be said to stand in the text by anyone's reading."""
    field = re.sub(r"\[\d+\]", "", path)
    if field in STEMS:
        folded = unicodedata.normalize("NFKC", text.replace("\u00ad", "")).lower()
        found = re.sub(r"[-‐¬–]\s*\n\s*", "", folded)
        return any(
            re.search(STEMS[field][value], one) for one in (folded, found, _repaired(found), found.replace("rn", "m"))
        )
    if field.endswith("datum"):
        return _has_day(value, text)
    if field.endswith(("plz", "telefon", "nummer")):
        # the last digits, since a country code may be written or not; OCR writes some as alphabetic characters
        return _digits(value)[-4:] in _digits(text)
    words = [_ROMAN.get(word, word) for word in plain(value).split()]
    known = set(plain(text).split())
    solid = plain(text).replace(" ", "")
    known |= {_ROMAN.get(word, word) for word in known}
    there = sum(word in known or word[:3] in solid for word in words)
    counted = " ".join(word for word in value.split() if plain(word) not in _ROMAN)
    numbers = re.findall(r"\d+", unicodedata.normalize("NFKC", counted))
    return there >= 0.6 * len(words) and all(_digits(number) in _digits(text) for number in numbers)


def _repaired(text: str) -> str:
    return text.replace("0", "o").replace("1", "l").replace("|", "l")


def _digits(text: str) -> str:
    text = unicodedata.normalize("NFKC", text)
    for letters, digit in (("Oo", "0"), ("Il|", "1")):
        text = re.sub(f"[{letters}]", digit, text)
    return "".join(str(unicodedata.decimal(char)) for char in text if char.isdecimal())


def _has_day(value: str, text: str) -> bool:
    year, month, day = value.split("-")
    lower = unicodedata.normalize("NFKC", text).lower()
    roman = ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii"][int(month) - 1]
    named = MONTHS[int(month) - 1] in lower.replace("maerz", "mär").replace("mrz", "mär").replace("feber", "feb")
    month_there = str(int(month)) in _digits(text) or named or re.search(rf"\b{roman}\b", lower) or "jän" in lower
    return bool(str(int(day)) in _digits(text) and month_there and year[2:] in _digits(text)) or _ends_a_year(
        value, text
    )


def _ends_a_year(value: str, text: str) -> bool:
    """`29.12. - 2.1.2024` names a day of 2023."""
    year = str(int(value[:4]) + 1)
    return year[2:] in _digits(text) and value[5:7] in (
        "11",
        "12",
        "10",
        "09",
        "08",
        "07",
        "06",
        "05",
        "04",
        "03",
        "02",
    )
