"""Changes between two catalogs: made-up changes one by one, and the real years where they are at hand."""

import csv
from collections import Counter
from dataclasses import replace

import pytest

from catalog_build.changes import changes
from catalog_build.official.source import read_source
from catalog_build.own_synonyms import STARTER
from clinical.icd import Catalog


@pytest.fixture(scope="module")
def catalog():
    return read_source(STARTER).catalog


def _with(catalog, codes):
    return Catalog(catalog.version, codes, catalog.chapters, catalog.blocks)


def test_the_same_catalog_has_no_changes(catalog):
    assert changes(catalog, _with(catalog, catalog)) == ()


def test_each_change_is_seen_from_both_sides(catalog):
    gone, other, *_ = [code for code in catalog if code.terminal and code.sex is None and code.level == 4]
    parent = next(code for code in catalog if not code.terminal)
    edits = {
        other.code: replace(other, title="Anders genannt", sex="W"),
        parent.code: replace(parent, terminal=True),
    }
    after = _with(catalog, [edits.get(code.code, code) for code in catalog if code is not gone])
    found = changes(catalog, after)
    assert {(change.kind, change.code) for change in found} == {
        ("removed", gone.code),
        ("renamed", other.code),
        ("limits", other.code),
        ("joined", parent.code),
    }
    assert next(change for change in found if change.kind == "renamed").after == "Anders genannt"
    back = {(change.kind, change.code) for change in changes(after, catalog)}
    assert {("added", gone.code), ("split", parent.code)} <= back


@pytest.mark.parametrize(("old", "new"), [("2024", "2025"), ("2025", "2026-reconstructed")])
def test_the_real_years_differ_as_computed_elsewhere(shared_data, old, new):
    official = shared_data / "icd10gm"
    found = changes(read_source(official / old).catalog, read_source(official / new).catalog)
    with (official / "changes" / f"diff_{old}_{new[:4]}.tsv").open(encoding="utf-8") as file:
        expected = Counter(row["change"] for row in csv.DictReader(file, delimiter="\t"))
    ours = Counter(change.kind for change in found)
    assert (ours["added"], ours["removed"], ours["renamed"], ours["split"] + ours["joined"]) == (
        expected["added"],
        expected["removed"],
        expected["title"],
        expected["terminality"],
    )
