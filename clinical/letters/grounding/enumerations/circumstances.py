"""Circumstances that void a phrase of a fixed list: another person, another time, another stay, or only a name.

An explicit word is no evidence where the sentence is about someone else ("Der Ehemann ist privat versichert"), about
another time ("im September notfallmässig"), another stay ("anschliessend ambulante Kontrollen"), or where it is part
of a name or of opening hours ("Notfall- und Wirbelsäulensprechstunde"). Words: `circumstances.tsv`; whose, when and
whether at all: the groups of `clinical/claims/context.tsv`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from functools import cache, cached_property
from importlib.resources import files
from typing import Final

from clinical.claims import Words, group, read_groups
from clinical.contract import DocumentType
from clinical.letters.grounding.enumerations.phrases import PhrasePlaces
from clinical.text import SALUTATIONS, STOP, TITLES, SourceText, spelling

TABLE: Final = "circumstances.tsv"

REACH_BEFORE: Final = 30
"""Tokens of a sentence before a phrase in which the person or time it is about is looked for."""
REACH_BEHIND: Final = 12
"""Tokens of a sentence behind a phrase."""
RECENT: Final = {"aufenthalt.art": timedelta(days=1_100)}
"""Longest time before the latest date of a letter at which a dated stay may be the one described: letters are written
late, and name appointments far ahead."""
OTHERWISE_RECENT: Final = timedelta(days=120)
"""Longest time before the latest date of a letter at which a dated emergency or approval may be the one it is about."""

LINES_OF_A_SECTION: Final = 40
"""Lines above a phrase in which the heading of its section is looked for."""
FIRST_WORDS: Final = 3
"""Words of a heading that say what it is about."""
LONGEST_HEADING: Final = 60
"""Characters a heading stands within."""

OLDEST_STAY: Final = 15
"""Years before the letter from which a day in a sentence is rather someone's birth."""

_HOURS = re.compile(
    r"(?:Besuchs|Öffnungs|Sprech|Büro|Telefon|Ruf)(?:stunden)?zeit|\d{1,2}(?:[:.]\d\d)?\s*(?:-|–|"
    r"bis)\s*\d{1,2}(?:[:.]\d\d)?\s*(?:Uhr|h)\b",
    re.IGNORECASE,
)
_CONTACT = re.compile(
    r"\b(?:Tel|Fax|Telefon|Hotline|Pikett)\b|www\.|@|(?<!\()\b(?<![<≤(])(?<![<≤] )24\s?h\b|\b24\s?/\s?7\b",
    re.IGNORECASE,
)
_SUSPENDED = re.compile(r"[-‐–][\s/,]")
"""The hyphen of a word that another one ends: `Notfall- und Wirbelsäulensprechstunde`."""
_LINE_END = re.compile(r"\s*\n")
_HEADING = re.compile(r"[ \t]*(?:\d{1,2}[.)]\s*)?(?P<name>[A-ZÄÖÜ][\w/ -]{2,40}?)[ \t]*(?::|\r?\n)")
_YEAR = re.compile(r"#(?:\d{1,2}/)?(19\d\d|20\d\d)")


@cache
def words() -> Mapping[str, Words]:
    """The groups of the table. Raises ValueError naming the line that is no group."""
    return read_groups(files("clinical.letters.grounding.enumerations").joinpath(TABLE).read_text("utf-8"), TABLE)


@cache
def fits(name: str) -> Callable[[str], bool]:
    """Return the test for spelled words of a group: of this table, or else of `context.tsv`."""
    return (words().get(name) or group(name)).fits


def says(name: str, word: str) -> bool:
    """True if a spelled word is in a group."""
    return fits(name)(word)


class Circumstances:
    """One text with what every phrase of every list needs of it, made once.

    `kind`: the document type, which tells a described stay (`arztbrief`) from one that is asked for (`zuweisung`)."""

    def __init__(self, source: SourceText, kind: DocumentType | None = None) -> None:
        self.source, self.kind = source, kind
        self.places = PhrasePlaces(source)
        self.named: dict[str, tuple[int, int, int, str] | None] = {}
        """By list: what the text names most strongly, once asked for (strength, first and last token, value)."""

    @cached_property
    def latest(self) -> date | None:
        """The latest day of the text that is not a birth date: near the day of the letter."""
        days = [day for one in self.source.dates if not one.birth and (day := one.iso())]
        return date.fromisoformat(max(days)) if days else None

    @cached_property
    def _date_starts(self) -> list[int]:
        return [one.start for one in self.source.dates]

    def sentence(self, place: range) -> range:
        """The tokens of the sentence around a phrase, within reach."""
        source, first, last = self.source, place[0], place[-1] + 1
        while first > 0 and place[0] - first < REACH_BEFORE and not source.ends_before(first):
            first -= 1
        while last < len(source) and last - place[-1] < REACH_BEHIND and source.gap(last) < STOP:
            if source.ends_before(last):
                break
            last += 1
        return range(first, last)

    def void(self, field: str, place: range) -> bool:
        """True if the phrase at this place is not about this patient and this matter."""
        sentence = self.sentence(place)
        if self._is_part_of_a_name(place) or self._is_of_hours(field, place) or self._is_of_another(place, sentence):
            return True
        if field == "patient.geschlecht":
            return False
        if self._is_past(field, place, sentence) or self._is_hypothetical(place, sentence):
            return True
        if any(
            says("@afterwards", self.source.words[k])
            for k in range(max(sentence[0], place[0] - REACH_BEHIND), place[-1])
        ):
            return True
        if field == "aufenthalt.art":
            return self._is_another_stay(place, sentence)
        return field == "kostengutsprache" and any(says("@other_matter", self.source.words[k]) for k in sentence)

    def _is_part_of_a_name(self, place: range) -> bool:
        """`Notfall- und Wirbelsäulensprechstunde`, `Klinik für ambulante Chirurgie`."""
        source, last = self.source, place[-1]
        if source.text[source.end[place[0]] : source.end[place[0]] + 2] in ("- ", "‐ ", "– "):
            return True
        if _SUSPENDED.match(source.text, source.end[last]):
            return _LINE_END.match(source.text[source.end[last] + 1 : source.end[last] + 4]) is None
        near = range(max(0, place[0] - 3), place[0])
        institution = any(says("@institution", source.words[k]) for k in near if source.gap(k + 1) < STOP)
        return institution and source.words[place[0] - 1] in ("fuer", "der", "und")

    def _line(self, place: range) -> str:
        text, source = self.source.text, self.source
        start = max(text.rfind("\n", 0, source.start[place[0]]) + 1, source.start[place[0]] - 160)
        end = text.find("\n", source.end[place[-1]])
        return text[start : min(end if end >= 0 else len(text), source.end[place[-1]] + 160)]

    def _is_of_hours(self, field: str, place: range) -> bool:
        if field == "patient.geschlecht":
            return False
        line = self._line(place)
        if _HOURS.search(line):
            return True
        behind = self.source.text[self.source.end[place[-1]] : self.source.end[place[-1]] + 25].split("\n")[0]
        return field == "dringlichkeit" and _CONTACT.search(behind) is not None

    def _is_of_another(self, place: range, sentence: range) -> bool:
        source = self.source
        for k in range(place[0] - 1, sentence[0] - 1, -1):
            if self._is_patient(k):
                return False
            if self._is_other(k):
                return not self._only_speaks(k, place[0])
        for k in range(place[-1] + 1, min(sentence[-1] + 1, place[-1] + 4)):
            if self._is_other(k):
                return source.words[k - 1] in ("bei", "beim", "des", "der", "ihres", "seines", "ihrer", "seiner")
        return self._goes_on_about_another(place, sentence)

    def _is_patient(self, k: int) -> bool:
        source, word = self.source, self.source.words[k]
        if word.startswith("patient") or word in ("pat", "selbst"):
            return not (k > 1 and source.words[k - 1] in ("des", "der") and self._is_other(k - 2))
        behind = source.words[k + 1] if k + 1 < len(source) else ""
        named = word in SALUTATIONS and behind and behind not in TITLES and source.view[source.start[k + 1]].isupper()
        return bool(named) and not self._is_other(k)

    def _is_other(self, k: int) -> bool:
        word = self.source.words[k]
        if says("@close", word):
            return k > 0 and says("@possessive", self.source.words[k - 1])
        return says("@another", word)

    def _only_speaks(self, k: int, first: int) -> bool:
        """`Laut Ehefrau privat versichert`; `Die Tochter wünscht eine stationäre Abklärung`."""
        words_of = self.source.words
        cited = k > 0 and says("@citing", words_of[k - 1])
        before_that = k > 1 and says("@citing", words_of[k - 2])
        return cited or before_that or any(says("@speaking", word) for word in words_of[k + 1 : min(k + 3, first)])

    def _goes_on_about_another(self, place: range, sentence: range) -> bool:
        """`Der Bruder ist bei Ihnen bekannt. Er ist privat versichert.`"""
        source, start = self.source, sentence[0]
        pronouns = ("er", "sie", "dieser", "diese", "ihm", "ihn", "dessen", "deren")
        if start < 2 or place[0] == start or source.words[start] not in pronouns:
            return False
        previous = range(start - 1, max(-1, start - 1 - REACH_BEHIND), -1)
        for k in previous:
            if self._is_patient(k):
                return False
            if self._is_other(k):
                return not self._only_speaks(k, start)
            if k < start - 1 and source.ends_before(k + 1):
                return False
        return False

    def _is_past(self, field: str, place: range, sentence: range) -> bool:
        source, told = self.source, False
        past_verb = any(says("@past_verb", source.words[k]) for k in sentence)
        for k in sentence:
            word, behind = source.words[k], source.words[k + 1] if k + 1 < len(source) else ""
            if says("@earlier", word) or (word == "vor" and self._some_time_ago(k)):
                return True
            if (word == "im" or says("@last_time", word)) and says("@season", behind):
                told = told or past_verb or word != "im"
            if word == "seit" and field == "aufenthalt.art" and k < place[0] and not self._with_us(place, sentence):
                return True
            if field == "versicherung.klasse" and word in ("war", "waren") and 0 < place[0] - k < 6:
                return True
            told = told or (k < place[0] and place[0] - k < 6 and says("@state_after", word)
                            and behind in ("n", "nach"))  # fmt: skip
        return told or self._dated_long_ago(field, sentence)

    def _with_us(self, place: range, sentence: range) -> bool:
        """`seit dem 14. April bei uns stationär`: a stay that goes on where the letter is written."""
        near = self.source.words[max(sentence[0], place[0] - 6) : min(sentence[-1] + 1, place[-1] + 5)]
        return any(word in ("wir", "uns", "unserer", "unserem") for word in near)

    def _some_time_ago(self, k: int) -> bool:
        return any(says("@span", word) for word in self.source.words[k + 1 : k + 4])

    def _dated_long_ago(self, field: str, sentence: range) -> bool:
        if self.latest is None:
            return False
        days = self._days_of(sentence, self.latest) if field != "versicherung.klasse" else []
        limit = self.latest - RECENT.get(field, OTHERWISE_RECENT)
        if any(day >= limit for day in days):
            return False
        return bool(days) or self._names_a_past_year(field, sentence)

    def _days_of(self, sentence: range, latest: date) -> list[date]:
        """The days a sentence names that may be those of a stay: not those of a birth (`Anna Kern (3.4.1951) kam`)."""
        source, found = self.source, []
        told = any(says("@past_verb", source.words[k]) for k in sentence)
        start, end = source.start[sentence[0]], source.end[sentence[-1]]
        for one in source.dates[bisect_left(self._date_starts, start) :]:
            if one.start > end:
                break
            day = one.iso()
            recent = day and latest.year - int(day[:4]) < OLDEST_STAY
            in_brackets = source.text[max(0, one.start - 2) : one.start].rstrip(" *").endswith("(")
            if day and not one.birth and (recent or (told and not in_brackets)):
                found.append(date.fromisoformat(day))
        return found

    def _names_a_past_year(self, field: str, sentence: range) -> bool:
        source = self.source
        for k in sentence:
            year = _YEAR.fullmatch(source.words[k])
            known = field == "versicherung.klasse" and k > 0 and source.words[k - 1] == "seit"
            if year and self.latest and int(year[1]) < self.latest.year and not known:
                return True
        return False

    def _is_hypothetical(self, place: range, sentence: range) -> bool:
        """`bei Verschlechterung notfallmässig`, `eine stationäre Aufnahme lehnt er ab`, `könnte ambulant erfolgen`."""
        source = self.source
        for k in sentence:
            if says("@refused", source.words[k]):
                return True
            near = k < place[0] and source.words[k] in ("bei", "unter") and place[0] - k < 8
            if near and any(says("@contingency", word) for word in source.words[k + 1 : min(k + 4, place[0])]):
                return True
            if near and any(says("@then", word) for word in source.words[k + 2 : place[0]]):
                return True
            if says("@declines", source.words[k]) and "ab" in source.words[k + 1 : sentence[-1] + 1]:
                return True
        return False

    def _is_another_stay(self, place: range, sentence: range) -> bool:
        words_of, referred = self.source.words, self.kind == "zuweisung"
        before = words_of[max(sentence[0], place[0] - 6) : place[0]]
        behind = words_of[place[-1] + 1 : min(sentence[-1] + 1, place[-1] + 7)]
        # what a referral asks for is a treatment that goes on: `zur ambulanten Weiterbehandlung`
        near = [*before, *([] if referred else words_of[place[0] : place[-1] + 1]), *behind]
        if any(says("@next_stay", word) for word in near):
            return True
        if referred:
            return False
        if words_of[place[-1]].endswith("sprechstunde"):  # only a referral asks for one
            seen = any(says("@seen", words_of[k]) for k in sentence) and self._with_us(place, sentence)
            if not seen:
                return True
        return self._under_a_plan(place) or any(says("@plan", words_of[k]) for k in sentence)

    def _under_a_plan(self, place: range) -> bool:
        """True if the nearest line above that looks like a heading announces a plan."""
        text, end = self.source.text, self.source.start[place[0]]
        for _ in range(LINES_OF_A_SECTION):
            start = text.rfind("\n", 0, end) + 1
            if match := _HEADING.match(text, start, min(len(text), start + LONGEST_HEADING)):
                heads = [spelling(word) for word in re.findall(r"\w+", match["name"])]
                return any(says("@plan_heading", word) for word in heads[:FIRST_WORDS])
            if start == 0:
                return False
            end = start - 1
        return False
