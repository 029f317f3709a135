"""Lists of a letter: diagnoses, drugs, procedures, what is to be done next; by heading and form of a line.

The current list of drugs wins over the one at admission; entries that stand twice count once.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property

from clinical.letters.labels import key, rank_of
from clinical.letters.layout import HeadedLines, LetterLayout, marked, signs, unmarked, untabled
from clinical.letters.reader.diseases import has_disease, names_disease
from clinical.letters.reader.drugs import STRICT_DRUG, drug_part, drugs_of, is_dosed, is_drug, tabled
from clinical.letters.reader.entries import (
    NO_ITEM,
    OPERATION,
    VERB,
    Procedure,
    announces,
    items,
    list_part,
    may_be_diagnosis,
    may_be_procedure,
    names_procedure,
    procedure_of,
    recommends,
    running_list,
)
from clinical.letters.reader.hashed import ReaderModels, shipped
from clinical.letters.reader.narrative import acts_in, drugs_within, told_diagnoses, told_drugs
from clinical.letters.reader.parts import Listed, diagnoses_of
from clinical.letters.reader.sentences import sentences
from clinical.letters.reader.spans import SPAN_ROWS, SPANS, STATES, EntrySpan, WordFeatures, entries_in
from clinical.letters.reader.statements import LISTS, JudgedStatements
from clinical.text import dates_of

_BEGINS = re.compile(rf"\w*{OPERATION.pattern}\b", re.IGNORECASE)
"""A sentence under Therapie whose first word is a procedure."""
_DAY_FIRST = re.compile(r"^\s*\d{1,2}\.\s?\d{1,2}\.\s?(?:\d{4}|\d{2})\s?[:\s–-]\s*(?=[^\W\d_])")


def merged(entries: Iterable[str]) -> list[str]:
    """Each entry once, in the order of first mention: upper case, marks and spaces make no difference."""
    kept: dict[str, str] = {}
    for entry in entries:
        plain = re.sub(r"[\W_]+", " ", entry.casefold()).strip()
        if plain:
            kept.setdefault(plain, re.sub(r"[ \t]{2,}", " ", entry))
    return list(kept.values())


class ListReader:
    """Reads the lists of one sheet."""

    def __init__(self, sheet: LetterLayout, written: str | None = None, models: ReaderModels | None = None) -> None:
        self.sheet, self.written = sheet, written
        self.statements = JudgedStatements(sheet, written, models)

    def _of(self, *fields: str) -> list[HeadedLines]:
        return [one for one in self.sheet.sections if one.field in fields]

    # the entries, word by word

    def read(self) -> dict[str, list[str]]:
        """The entries of each list, each once, in the order of the letter."""
        found = entries_in(self.sheet, self.words, shipped(SPANS, STATES * len(LISTS), SPAN_ROWS))
        return {name: merged(self._texts(name, spans)) for name, spans in found.items()}

    def _texts(self, name: str, spans: Iterable[EntrySpan]) -> Iterator[str]:
        """The entries in front of the closing formula, of drugs not those of a list that another one supersedes."""
        for span in spans:
            line = bisect_right(self.sheet.starts, span.start) - 1
            parted = name == "diagnosen" and " | " in self.sheet.text[span.start : span.end]  # over a table's cells
            if line < self.sheet.closing and not parted and not (name == "medikation" and line in self._superseded):
                yield " ".join(unmarked(" " + self.sheet.text[span.start : span.end]).split())

    @cached_property
    def words(self) -> WordFeatures:
        """The words of the letter, with what the rules say of each."""
        return WordFeatures(self.statements, self.said)

    @cached_property
    def said(self) -> dict[str, list[str]]:
        """The entries that the rules find, by list."""
        return {
            "diagnosen": self.diagnoses(),
            "medikation": self.drugs()[0],
            "eingriffe": [one.name for one in self.operations],
            "procedere": self.next_steps(),
        }

    @cached_property
    def operations(self) -> list[Procedure]:
        """The procedures that the rules find, without those after the letter's day."""
        done = self.procedures(int(self.written[:4]) if self.written else None)
        return [one for one in done if not (self.written and one.day and one.day > self.written)]

    # diagnoses

    def diagnoses(self) -> list[str]:
        found: list[str] = []
        for section in self.sheet.budget.each(self._of("diagnosen")):
            if not found or _MORE.match(key(section.title)):
                told = (
                    one
                    for entry, listed in self.listed(section)
                    for one in diagnoses_of(entry, listed, self.statements.parts)
                )
                found += filter(may_be_diagnosis, told)
        if found and all(_BESIDE.match(key(one.title)) for one in self._of("diagnosen")):
            listed = " | ".join(found).casefold()
            found = [*(one for one in told_diagnoses(self.statements) if one.casefold() not in listed), *found]
        return merged(found or told_diagnoses(self.statements))

    def listed(self, section: HeadedLines) -> list[tuple[str, Listed]]:
        """The entries under a heading as they stand, each with how it stood there."""
        entries = list(self._entries(section))
        return [(entry, Listed(section.running, len(entries))) for entry in entries]

    def _entries(self, section: HeadedLines, details: bool = False) -> Iterator[str]:
        """The list under a heading: items by line, a running list by its stops and semicolons."""
        lines = list_part(untabled(section.lines))
        whole = [line for line in lines if line.strip()]
        if len(whole) == 1 and (section.running or not marked(whole[0])):
            yield from running_list(whole[0])
            return
        if section.running and whole and whole[0].count(";") > 1:
            yield from running_list(whole[0])
            lines = whole[1:]
        yield from items(_without_details(lines) if section.field == "diagnosen" and not details else lines)

    # drugs

    def drugs(self) -> tuple[list[str], str | None]:
        """(entries, heading of the list they are of): of several lists the most current one, else what is told."""
        if not self._drug_lists:
            return told_drugs(self.statements), None
        best = self._drug_lists[max(self._drug_lists)]
        return merged(entry for _, entries in best for entry in entries), " / ".join(
            dict.fromkeys(section.title.strip(" :") for section, _ in best)
        )

    @cached_property
    def _drug_lists(self) -> dict[int, list[tuple[HeadedLines, list[str]]]]:
        """The lists of drugs with their entries, by how current they are."""
        ranked: dict[int, list[tuple[HeadedLines, list[str]]]] = {}
        for section in self.sheet.budget.each(self._of("medikation", "empfehlung", "procedere", "therapie")):
            plain = section.field == "medikation" and "befund" not in key(section.title)
            entries = [
                entry
                for entry in self._drug_entries(section)
                if (is_drug(entry) if plain else STRICT_DRUG.match(entry) and len(entry) < 110)
            ]
            if entries:
                rank = rank_of(section.title) if plain or section.field == "empfehlung" else 2
                ranked.setdefault(rank, []).append((section, entries))
        return ranked

    @cached_property
    def _superseded(self) -> set[int]:
        """The lines of the lists of drugs beside which there is a more current one."""
        older = sorted(self._drug_lists)[:-1]
        lists = (section for rank in older for section, _ in self._drug_lists[rank] if section.field == "medikation")
        return {line for one in lists for line in range(one.at, one.at + len(one.lines) + 1)}

    def drug_lists(self) -> int:
        """Count the letter's lists of drugs with a heading of their own."""
        return sum(any(map(is_drug, self._drug_entries(one))) for one in self._of("medikation"))

    def _drug_entries(self, section: HeadedLines) -> Iterator[str]:
        lines = tabled(drug_part(section.lines))
        whole = [line for line in lines if line.strip()]
        for entry in items(lines) if len(whole) > 1 else whole:
            for one in [entry] if section.field == "medikation" else sentences(entry):
                for piece in drugs_of(unmarked(" " + one)):
                    several = drugs_within(piece)
                    yield from several if len(several) > 1 else [piece]

    # procedures

    def procedures(self, year: int | None = None) -> list[Procedure]:
        """Procedures with their days; those of an earlier year than the last before the letter's `year` are history."""
        found: list[Procedure] = []
        for section in self.sheet.budget.each(self._of("eingriffe")):
            titled = dates_of(section.title)
            dated = titled[0].iso() if len(titled) == 1 else None
            entries = (one for one in self._entries(section) if may_be_procedure(one, True) and not _is_past(one, year))
            listed = map(procedure_of, entries)
            found += [one if one.day else Procedure(one.name, dated) for one in listed]
        for section in self._of("therapie"):
            told = (one for line in _unwrapped(section.lines) for one in sentences(line) if len(one) < 120)
            found += [
                procedure_of(one)
                for one in told
                if may_be_procedure(one, False) and (dates_of(one) or _BEGINS.match(one))
            ]
        for section in self._of("diagnosen", "therapie"):
            told_of = (
                items(list_part(section.lines))
                if section.field == "therapie"
                else list(self._entries(section, details=True))
            )
            entries = (one for entry in told_of for one in _joined(entry))
            done = (one for one in entries if may_be_procedure(one, False))
            found += [procedure_of(one) for one in done if section.field == "therapie" or _is_act(one)]
        found += self._dated()
        known = " | ".join(one.name for one in found).casefold()
        outside = (
            one for one in self.statements.of("eingriffe") if not one.section or one.section.field != "eingriffe"
        )
        acts = (one for statement in outside for one in acts_in(self.statements, statement))
        found += [one for one in acts if one.name.casefold() not in known]
        return _each_once(found)

    def _dated(self) -> Iterator[Procedure]:
        """`03.03.2026: Appendektomie` on a line of its own."""
        for line in self.sheet.budget.each(self.sheet.lines):
            day = _DAY_FIRST.match(line) if len(line) < 140 else None
            if day and names_procedure(line[day.end() :]) and not VERB.search(line):
                yield procedure_of(line.strip())

    def dated(self, names: Iterable[str]) -> list[Procedure]:
        """The procedures of these names, each with its own day, else with that which the rules found beside it."""
        known = {key(one.name): one.day for one in self.operations}
        named = (one for one in map(procedure_of, names) if _A_WORD.search(one.name))
        return _each_once([one if one.day else Procedure(one.name, known.get(key(one.name))) for one in named])

    # what is to be done next

    def next_steps(self) -> list[str]:
        """Read the next steps, a sentence or an item each."""
        return merged(unmarked(" " + one.text) for one in self.statements.of("procedere") if _is_step(one.text))


_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_WRAPPED = 50
"""Characters from which a line of a sentence may continue in the next one."""


def _unwrapped(lines: list[str]) -> list[str]:
    """Join lines that continue in the next one."""
    found: list[str] = []
    open_line = False
    for line in lines:
        if open_line and line.strip() and not marked(line):
            found[-1] = f"{found[-1]} {line.strip()}"
        else:
            found.append(line.strip())
        open_line = len(line) >= _WRAPPED and line.rstrip()[-1:] not in ".:!?"
    return found


_A_WORD = re.compile(r"[^\W\d_]{3}|[^\W\d_a-zäöüß]{2}")
"""A word or a short form, more than the mark of the past alone: `Z. n.`."""


def _each_once(found: list[Procedure]) -> list[Procedure]:
    unique = {
        re.sub(r"\W+", " ", one.name.casefold()).strip() + (one.day or ""): one for one in reversed(found) if one.name
    }
    return list(reversed(unique.values()))


def _is_past(entry: str, year: int | None) -> bool:
    """True if an entry has a year alone, well before the letter's: `Appendektomie 1975`."""
    years = [int(one) for one in _YEAR.findall(entry)]
    return bool(year and years) and max(years) < (year or 0) - 1 and not any(one.iso() for one in dates_of(entry))


_NUMBERED = re.compile(r"^\s*(?:\d{1,2}[.)]|[A-H]\))\s")
_DASHED = re.compile(r"^\s*[-–•*·]\s*")


def _without_details(lines: list[str]) -> list[str]:
    """Under numbered diagnoses what is dashed is a detail of the one above: a value, a measure."""
    if not any(_NUMBERED.match(line) for line in lines):
        return lines
    return [line for line in lines if not _DASHED.match(line)]


def _is_act(entry: str) -> bool:
    """True if an entry among diagnoses is a procedure: the first of its nouns that names either is no disease."""
    act = OPERATION.search(entry)
    before = entry[: entry.rfind(" ", 0, act.start()) + 1] if act else ""
    return not any(names_disease(word.strip("(),.;:").lstrip("0123456789-")) for word in before.split())


_BESIDE = re.compile(r"neben|^bekannt|begleit|vorbestehend|vorerkrank|nd$")
"""Headings of what is beside the reason for the letter, which its sentences tell."""
_MORE = re.compile(
    r"neben|weitere|sonstige|begleit|dauer|aktuelle|bekannte|rehabilitation|haupt|chirurg|psychiatr|somat"
)
"""Headings of a second list of diagnoses that belongs to the first; other later ones are of stays and findings."""
_SIGNED = re.compile(
    r"^(?:(?:Prof|PD|Dr|OA|OÄ|Prim|Univ|Chefarzt|Chefärztin|Oberarzt|Oberärztin|Assistenz\w+)\b[^:;]{0,70}$|"
    r"[^\W\d_][\w.-]+(?:\s[\w.-]+)?,\s(?:(?:den|am)\s)?\d|Kopie|Beilage|Anlage|Seite \d)"
)
"""Lines that end a letter: a doctor, place and day, copies."""


SHORTEST_STEP = 9
"""Characters of the shortest next step."""


def _is_step(text: str) -> bool:
    no_step = NO_ITEM.match(text) or _SIGNED.match(text) or signs(text)
    return len(text) >= SHORTEST_STEP and not no_step and not _is_bare_drug(unmarked(" " + text))


def _is_bare_drug(sentence: str) -> bool:
    """A drug with its dose and nothing said about it: it belongs to the drugs alone."""
    plain = len(sentence) < 90 and " mit " not in sentence and VERB.search(sentence) is None
    return plain and STRICT_DRUG.match(sentence) is not None


def _joined(entry: str) -> list[str]:
    """`A-ektomie und B-plastik` are two procedures where each is one by itself."""
    parts = entry.split(" und ")
    return parts if len(parts) == 2 and all(map(names_procedure, parts)) and len(entry) < 160 else [entry]


def lists_by_form(entry: str) -> frozenset[str]:
    """The lists whose marks an entry has by its own words; none where it has no mark at all."""
    marks = {
        "medikation": is_dosed(entry),
        "eingriffe": names_procedure(entry),
        "procedere": recommends(entry) or announces(entry),
        "diagnosen": has_disease(entry),
        "fragestellung": "?" in entry,
    }
    return frozenset(part for part, has_mark in marks.items() if has_mark)
