"""The points that an integrator asks of a document server: each that is said to be there names a test there is."""

import re
from collections import Counter

import pytest

from tests.docs import ROOT

PAGE = (ROOT / "docs" / "documents.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("### What an integrator asks\n")[2].partition("\n## ")[0]
ROWS = re.findall(r"^\| (\d+) \| (.+) \| (.+) \| (have|partly|missing)(.*) \| (?:`(.+)`)? ?\|$", SECTION, re.MULTILINE)


def test_the_points_are_counted_as_they_stand() -> None:
    assert [int(row[0]) for row in ROWS] == list(range(1, len(ROWS) + 1))
    assert len(ROWS) == SECTION.count("\n| ") - 1, "a row has another form"
    states = Counter(row[3] for row in ROWS)
    said = f"**{states['have']} are there, {states['partly']} partly, {states['missing']} are missing**"
    assert f"{len(ROWS)} points" in SECTION
    assert said in SECTION


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[1][:60])
def test_a_point_that_is_there_has_a_test(row: tuple[str, ...]) -> None:
    _, _, _, state, words, test = row
    assert bool(test) is (state != "missing")
    assert words.startswith(": ") or state == "have" or not words, "what lacks is said"
    if test:
        file, _, name = test.partition("::")
        folder = ROOT if "/" in file else ROOT / "tests" / "webapp" / "fhir"
        assert re.search(rf"^ *def {name}\(", (folder / file).read_text(encoding="utf-8"), re.MULTILINE)
