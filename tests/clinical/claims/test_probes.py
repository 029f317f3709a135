"""Probe sentences in the manner of NegEx: four axes, triggers before and behind, pseudo-triggers, ends of scopes."""

from pathlib import Path
from typing import NamedTuple

from clinical.claims import Claim, Reading

LEAST_RIGHT = 0.94
"""Share of the probes that the table alone reads right; the others are named in it: the tagger, which is served, reads
most of them."""
KNOWN = "known failure: "


class Probe(NamedTuple):
    """A sentence, the place of its mention, what it claims of it, and why that is not read so yet."""

    claim: frozenset[str]
    text: str
    start: int
    end: int
    failure: str = ""


def read_probes() -> list[Probe]:
    lines = Path(__file__).with_name("probes.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and line[0] != "#"]
    return [_probe(row[0], row[1].replace("\\n", "\n"), row[2] if row[2:] else "") for row in rows]


def _probe(claim: str, sentence: str, remark: str) -> Probe:
    start, end = sentence.index("["), sentence.index("]") - 1
    text = sentence.replace("[", "").replace("]", "")
    return Probe(frozenset(claim.split()) - {"plain"}, text, start, end, remark.removeprefix(KNOWN))


def said_of(claim: Claim) -> frozenset[str]:
    """The parts of a claim that differ from the defaults of the four axes."""
    denied = {"denied"} if claim.is_denied else set()
    return frozenset(
        denied | {claim.certainty, claim.temporality, claim.experiencer} - {"certain", "present", "patient"}
    )


PROBES = read_probes()


def misread(before="", after=""):
    """The probes whose claim is another than they say, with that claim."""
    read = {
        probe: said_of(
            Reading.of(before + probe.text + after).ruled(len(before) + probe.start, len(before) + probe.end)
        )
        for probe in PROBES
    }
    return {probe: claim for probe, claim in read.items() if claim != probe.claim}


def test_every_probe_is_read_right_but_the_known_failures():
    """A known failure that is read right by now leaves the list."""
    wrong = misread()
    assert {probe: claim for probe, claim in wrong.items() if not probe.failure} == {}
    assert [probe for probe in PROBES if probe.failure and probe not in wrong] == []


def test_there_are_enough_probes_and_few_known_failures():
    assert len(PROBES) >= 300
    assert sum(not probe.failure for probe in PROBES) >= LEAST_RIGHT * len(PROBES)


def test_other_sentences_around_it_change_nothing():
    wrong = misread("Vorstellung am Montag.\n\n", "\n\nWir danken für die Zuweisung.")
    assert {probe: claim for probe, claim in wrong.items() if not probe.failure} == {}
