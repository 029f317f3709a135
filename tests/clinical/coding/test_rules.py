"""The demands of the classification hold whatever a model proposes, also where a query is nothing but a code."""

from dataclasses import replace

import pytest

from clinical.coding.case import Case, Located, Offer
from clinical.coding.code_query import looked_up
from clinical.coding.rules import Correction, Proposal, apply
from clinical.contract import DetailedCodeEntry, ResearchRequest, ResultEvent, Span
from clinical.icd import Catalog
from tests.fakes import tiny_catalog

CATALOG = tiny_catalog()
TEXT = "Diabetes mellitus mit Polyneuropathie, Husten"


def located(number: int = 1, assertion: str = "present", start: int = 0, phrase: str = "Phrase") -> Located:
    return Located(number, phrase, assertion, Span(start=start, end=start + 8), "Zitat")


def proposal(code: str, finding: Located | None = None, confidence: str = "high", text: str = "") -> Proposal:
    found = CATALOG.get(code)
    assert found is not None
    finding = finding or located()
    return Proposal(Offer(found, 0.5, text, (finding.number,)), finding, confidence, "Weil.")


def decided(*proposals: Proposal, text: str = TEXT, offered: tuple[str, ...] = ()) -> Correction:
    findings = tuple({item.finding.number: item.finding for item in proposals}.values())
    offers = {code: Offer(CATALOG.get(code), 0.4, "", (1,)) for code in offered}
    return apply(CATALOG, Case(text, findings, offers), proposals)


def codes(outcome: Correction) -> list[str]:
    return [item.code.code for item in outcome.proposals]


@pytest.mark.parametrize(
    ("code", "assertion", "kept"),
    [
        ("J18.9", "present", True),
        ("J18.9", "suspected", True),
        ("J18.9", "excluded", False),
        ("J18.9", "family", False),
        ("J18.9", "history", False),
        ("Z85.3", "history", True),
        ("I25.22", "history", True),
        ("Z80.3", "family", True),
        ("Z85.3", "family", False),
        ("Z80.3", "present", False),
        ("Z80.3", "excluded", False),
    ],
)
def test_the_claim_of_the_text_decides_what_may_be_coded(code, assertion, kept):
    assert (codes(decided(proposal(code, located(assertion=assertion)))) == [code]) is kept


@pytest.mark.parametrize(
    ("code", "offered", "found", "said"),
    [
        ("I25.2", (), ["I25.22"], "I25.2 ist nicht endständig"),  # its only terminal child
        ("E11.9", ("E11.91",), ["E11.91"], "E11.9 ist nicht endständig"),  # the child that search found
        ("E11.9", (), ["E11.9"], "E11.90, E11.91"),
        ("G63.2", ("E11.41",), ["E11.41", "G63.2"], "Kreuz-Kode zu G63.2."),
        ("N77.1", (), ["B37.3", "N77.1"], "Kreuz-Kode zu N77.1."),  # the only possible dagger
        ("G63.2", (), ["G63.2"], "braucht einen Kreuz-Kode (z. B. E11.40, E11.41)"),
    ],
)
def test_a_code_that_may_not_stand_so_becomes_what_is_certain_or_is_said_to_need_it(code, offered, found, said):
    outcome = decided(proposal(code), offered=offered)
    assert codes(outcome) == found
    assert said in " ".join((outcome.proposals[0].reasoning, *outcome.proposals[0].notes))


def test_a_non_terminal_code_becomes_its_unspecified_child_and_is_less_sure():
    outcome = decided(proposal("C50"))
    assert [(item.code.code, item.confidence) for item in outcome.proposals] == [("C50.9", "medium")]


@pytest.mark.parametrize(
    ("code", "text", "kept"),
    [
        ("N40", "72jähriger Mann", True),
        ("N40", "72jährige Frau", False),
        ("N40", "Prostata vergrößert", True),
        ("I25.22", "14-jähriger Junge", False),
        ("I25.22", "15-jähriger Junge", True),
        ("P21.9", "10 Tage alter Säugling", True),
        ("P21.9", "3-jähriges Mädchen", False),
    ],
)
def test_sex_and_age_stated_in_the_text_are_respected(code, text, kept):
    outcome = decided(proposal(code), text=text)
    assert (codes(outcome) == [code]) is kept
    assert bool(outcome.removed) is not kept


def test_an_exclusion_note_of_a_parent_replaces_the_code_for_the_same_finding():
    outcome = decided(proposal("E11.90"), proposal("O24.4"), text="Schwangerschaftsdiabetes")
    assert codes(outcome) == ["O24.4"]
    assert "Schwangerschaftsdiabetes (O24.-)" in outcome.removed[0]
    assert "Exkl. bei E11.90" in outcome.proposals[0].notes[0]


def test_overlapping_evidence_counts_as_the_same_finding():
    assert codes(decided(proposal("E11.90", located(1, start=0)), proposal("O24.4", located(2, start=4)))) == ["O24.4"]


def test_an_exclusion_note_between_different_findings_is_noted_for_review():
    outcome = decided(proposal("I21.9", located(1)), proposal("I25.22", located(2, start=20)))
    assert set(codes(outcome)) == {"I21.9", "I25.22"}
    assert "Alter Myokardinfarkt (I25.2-)" in outcome.proposals[0].notes[0]


def test_an_asterisk_code_gets_the_dagger_that_was_chosen_too_and_stands_behind_it():
    outcome = decided(proposal("G63.2", located(1)), proposal("R05", located(3)), proposal("E11.40", located(2)))
    assert codes(outcome) == ["R05", "E11.40", "G63.2"]
    assert [item.pair for item in outcome.proposals] == [None, "G63.2", "E11.40"]


def test_a_dagger_found_by_a_text_that_is_coded_with_both_brings_its_asterisk_code():
    assert codes(decided(proposal("B37.3", text="Candida-Vaginitis"))) == ["B37.3", "N77.1"]
    assert codes(decided(proposal("E11.40", text="Etwas anderes"))) == ["E11.40"]


def test_codes_come_once_best_first_without_parents_of_chosen_codes():
    outcome = decided(
        proposal("R05", located(2), "low"),
        proposal("J18.9", confidence="medium"),
        proposal("R05", located(2), "high"),
        proposal("J18", located(1), "high"),
    )
    assert codes(outcome) == ["R05", "J18.9"]


def test_details_are_added_only_when_asked_for():
    item = decided(proposal("I25.2", located(start=3))).proposals[0]
    assert not isinstance(item.entry(False), DetailedCodeEntry)
    entry = item.entry(True)
    assert isinstance(entry, DetailedCodeEntry)
    assert (entry.evidence, entry.assertion, entry.terminal) == (Span(start=3, end=11), "present", True)
    assert entry.notes
    assert entry.score is None


def summary(**changed: str) -> str:
    """Of the query "R05", whose row of the catalog is changed."""
    codes = [replace(code, **changed) if code.code == "R05" else code for code in tiny_catalog()]
    *_, last = looked_up("R05", ResearchRequest(query="R05"), Catalog("2026", codes, {}, {}))
    assert isinstance(last, ResultEvent)
    return last.summary


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, "endständig und gültig. Titel: „Husten“."),
        ({"use_295": "V", "use_301": "Z"}, "endständig und gültig nur im Krankenhaus (§ 301 SGB V)."),
        ({"use_301": "V"}, "endständig und gültig nur ambulant (§ 295 SGB V)."),
        ({"use_295": "V", "use_301": "V"}, "endständig, aber nicht gültig;"),
        ({"title": "Nicht belegte Schlüsselnummer U07.6"}, "endständig, aber nicht gültig;"),
    ],
)
def test_what_the_code_may_be_used_for_stands_before_its_neighbours(changed, said):
    assert summary(**changed).startswith(f"R05 gibt es im Katalog ICD-10-GM 2026: {said}")
