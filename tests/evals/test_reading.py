"""What `evals reading` counts."""

import json
import re
from collections import Counter

import pytest

from catalog_build.training.texts import Text, WrittenMention
from clinical.search import Candidate, Mentioned, Understood
from evals.reading.causes import causes
from evals.reading.denials import Clause, clauses, misread
from evals.reading.gated import drops_of
from evals.reading.inputs import given, scored
from evals.reading.letters import counted
from evals.reading.offered import Offered, lines, offered, probe_texts, read_marked
from evals.reports.intervals import clustered

ROW = {
    "class": "denied",
    "text": "Hypertonie, kein Diabetes",
    "codes": [
        {"codes": ["I10.90"], "also": ["I10.00"], "claim": "present", "text": "Hypertonie"},
        {"codes": ["R51"], "also": [], "claim": "present", "text": "Kopfschmerz"},
    ],
    "optional": ["Kopfschmerz"],
    "absent": [{"codes": ["E14.90"]}],
}


def test_what_is_stated_shown_right_silent_and_absent():
    counts = scored([ROW], lambda text: [("I10.00", "high"), ("E14.90", "medium")])["ALL"]
    expected = {"statements": 1, "found": 1, "shown": 2, "right": 1, "high": 1, "high_right": 1, "absent_shown": 1}
    assert {name: counts[name] for name in expected} == expected
    silent = scored([ROW], lambda text: [])["denied"]
    assert (silent["silent"], silent["found"], silent["absent_shown"]) == (1, 0, 0)


def test_the_category_of_what_is_denied_counts_too():
    assert scored([ROW], lambda text: [("E14.91", "high")])["ALL"]["absent_shown"] == 1


def test_statements_by_themselves():
    codes = {"Hypertonie": [("I15.00", "medium"), ("I10.00", "low"), ("I10.90", "medium")]}
    counts = given([ROW], lambda text: codes[text])
    assert counts == {"statements": 1, "ten": 1, "found": 1}


class FakeIndex:
    """Reads the texts it was told about."""

    def __init__(self, **mentions: list[Mentioned]) -> None:
        self._mentions = mentions

    def read(self, text: str, limit: int = 10) -> Understood:
        return Understood((), tuple(self._mentions[text.split()[0].strip(",.")]))


def test_the_first_thing_that_went_wrong_is_the_cause():
    text = "Gicht, Asthma, Husten bei Grippe, Ekzem"
    said = [
        WrittenMention(text.index(word), text.index(word) + len(word), code, "present")
        for word, code in (("Gicht", "M10"), ("Asthma", "J45"), ("Husten bei Grippe", "J11"), ("Ekzem", "L30"))
    ]
    index = FakeIndex(
        Gicht=[
            Mentioned(0, 5, "present", 0.9, ("M10",)),
            Mentioned(7, 13, "present", 0.9, ()),
            Mentioned(15, 21, "present", 0.9, ("R05",)),
        ]
    )
    found = causes(index, [Text(text, tuple(said), "list")])
    assert {name: count for name, count in found["list"].items() if count} == {
        "shown": 1, "too unsure": 1, "cut wrongly": 1, "not found": 1,
    }  # fmt: skip


def test_statements_of_letters_by_claim(tmp_path):
    text = "Hypertonie, kein Diabetes. Gicht."
    stated = [
        {"text": word, "start": text.index(word), "claim": claim, "codes": [code], "also": []}
        for word, claim, code in (("Hypertonie", "present", "I10"), ("Diabetes", "denied", "E14"))
    ]
    (tmp_path / "letters.jsonl").write_text(json.dumps({"id": "one", "codes": stated}))
    (tmp_path / "one.txt").write_text(text)
    mentions = [
        Mentioned(0, 10, "present", 0.9, ("I10",)),
        Mentioned(17, 25, "excluded", 0.9, ()),
        Mentioned(27, 32, "present", 0.9, ("M10",)),
    ]
    counts = counted(FakeIndex(Hypertonie=mentions), tmp_path / "letters.jsonl", tmp_path)
    assert counts["excluded"] == Counter(stated=1, touched=1, claim=1, coded=0)
    assert (counts["all"]["coded"], counts["all"]["found"], counts["all"]["right"]) == (1, 2, 1)


def test_intervals_are_wider_where_mistakes_come_together():
    right = [True] * 90 + [False] * 10
    apart = clustered(right, [str(n) for n in range(100)])
    together = clustered(right, [str(n // 10) for n in range(100)])
    assert apart is not None
    assert together is not None
    assert together[0] == apart[0] == pytest.approx(0.9)
    assert together[2] - together[1] > 1.5 * (apart[2] - apart[1])


def test_a_drop_of_reading_is_what_the_kept_interval_does_not_allow():
    def result(coverage: float, exact: int) -> dict:
        band = {"codes": 9, "precision": [0.9, 0.8, 1.0], "believed": 0.9}
        labels = {"list": {"stated": 100, "coverage": [coverage, coverage - 0.1, 1.0], "high": band, "medium": band}}
        return {"labels": labels, "mentions": {"list": {"said": 100, "exact": exact, "claims": 9, "claims_right": 9}}}

    assert drops_of(result(0.8, 90), result(0.75, 88)) == []
    drops = drops_of(result(0.8, 90), result(0.6, 60))
    assert len(drops) == 2
    assert "list: stated and shown 0.600, 0.800" in drops[0]


def test_a_marked_text_is_read_without_its_marks():
    text, (stated, absent) = read_marked("{Gicht}, kein [Rheuma]")
    assert text == "Gicht, kein Rheuma"
    assert (text[stated.start : stated.end], stated.stated) == ("Gicht", True)
    assert (text[absent.start : absent.end], absent.stated) == ("Rheuma", False)


class CarelessIndex:
    """Offers every word of the table that begins with a capital, whatever is said of it."""

    def search(self, query: str, limit: int) -> tuple[Candidate, ...]:
        words = re.finditer(r"[A-ZÄÖÜ]\w{3,}", query)
        return tuple(Candidate(m.group()[:3], 0.9, "high", m.group(), m.start(), m.end()) for m in words)


def test_an_index_that_offers_everything_leaks_nearly_everything():
    found = offered(CarelessIndex())
    assert found.kept == found.stated
    assert len(found.leaked) > 0.7 * found.absent


def test_there_are_enough_texts_with_what_is_not_there_and_few_of_it_is_offered(index):
    """On the starter catalog, whose weights are those of the full one."""
    assert len(probe_texts()) >= 300
    found = offered(index)
    assert len(found.leaked) <= 0.04 * found.absent
    assert found.kept >= 0.88 * found.stated
    assert any("denied" in line for line in lines(Offered(1, 1, 1, ())))


NAMES = ("Ulkus", "Gicht", "Sarkoidose", "Morbus Crohn", "Hepatitis", "Nephropathie", "Melanom", "Schlafapnoe")


def test_generated_clauses_are_read_as_denied_or_not_whatever_their_order():
    counts, wrong = misread(clauses(NAMES, 600, seed=7))
    for denied in (True, False):
        failed = [one.text for one in wrong if one.denied is denied]
        assert len(failed) <= 0.02 * counts[denied], failed
    assert counts[True] == counts[False] == 300


def test_a_clause_that_is_read_otherwise_is_named():
    sure = Clause("Ulkus gesichert.", 0, 5, True, "{} gesichert")
    counts, wrong = misread(iter([sure, Clause("Ulkus widerlegt.", 0, 5, True, "{} widerlegt")]))
    assert (counts[True], wrong) == (2, [sure])
