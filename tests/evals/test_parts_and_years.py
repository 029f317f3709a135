"""Parts of notebooks 02, 03 and 10: damaged sources, the search part by part, and one year after another."""

import pytest

from catalog_build.changes import changes
from catalog_build.official.source import read_source
from catalog_build.own_synonyms import STARTER
from catalog_build.synonyms import all_texts, fold_of
from clinical.errors import SettingError
from evals.coding.ablation import BY_VECTORS, ranks_by_part, top, with_encoder
from evals.coding.years import index_of, made_up_next_year, moves, texts_in
from evals.data.examples import Example
from evals.lab import Lab, damage


@pytest.fixture(scope="module")
def source():
    return read_source(STARTER)


@pytest.fixture(scope="module")
def lab(starter_artifact):
    return Lab.open(str(starter_artifact))


# --- the lab --------------------------------------------------------------------------------------------------------


def test_the_starter_artifact_brings_its_source(lab):
    assert lab.starter
    assert lab.source is not None
    assert len(lab.texts) == lab.index.manifest.wordings


def test_what_is_asked_is_not_in_the_index_and_the_flattery_is_said(lab):
    unseen = lab.unseen
    known = {unseen.index.wordings.text(number) for number in range(len(unseen.index.wordings))}
    official = {text.text for text in lab.texts if fold_of(text) is None}
    assert unseen.examples
    assert not {example.query for example in unseen.examples} & (known - official)
    assert not unseen.honest
    assert "too good" in unseen.caution


def test_an_artifact_that_holds_nothing_out_is_no_holdout(starter_artifact):
    with pytest.raises(SettingError, match="holds no fold out"):
        Lab.open(str(starter_artifact), holdout=str(starter_artifact)).unseen  # noqa: B018


def test_files_of_another_artifact_are_refused(lab, tmp_path):
    for name in ("kodes", "gruppen", "kapitel"):
        text = next(STARTER.rglob(f"*syst_{name}.txt"))
        (tmp_path / text.name).write_bytes(text.read_bytes())
    with pytest.raises(SettingError, match="are not those that the artifact was made from"):
        Lab.open(str(lab.catalog), source=str(tmp_path)).source  # noqa: B018


# --- the parts of the search ----------------------------------------------------------------------------------------


def test_every_part_finds_a_title_and_none_finds_nonsense(lab):
    title = lab.index.catalog.get("R05").title  # one with commas is read as a text of several mentions
    ranks = ranks_by_part(lab.index, [Example(title, frozenset({"R05"})), Example("qqqq", frozenset({"R05"}))])
    assert len(ranks) == 7
    assert {name: own[0] for name, own in ranks.items()} == dict.fromkeys(ranks, 1)
    assert all(own[1] != 1 for own in ranks.values())


def test_the_trained_network_is_what_search_orders_by(lab):
    examples = lab.unseen.examples[:40]
    ranks = ranks_by_part(lab.unseen.index, examples)
    assert top(ranks["joined by the trained network"], 1)[0] > top(ranks["words (BM25)"], 1)[0]
    plain = [
        number
        for number, hits in enumerate(lab.unseen.index.search_many([example.query for example in examples]))
        if hits and ranks["whole search"][number] == 1
    ]
    agreeing = sum(ranks["joined by the trained network"][number] == 1 for number in plain)
    assert agreeing >= 0.9 * len(plain)


def test_the_same_encoder_makes_the_same_index(lab):
    examples = lab.unseen.examples[:20]
    kept = [text for text in lab.texts if fold_of(text) != 0]
    again = with_encoder(lab.unseen.index, lab.source, kept, lab.index.encoder)
    assert ranks_by_part(again, examples)[BY_VECTORS] == ranks_by_part(lab.unseen.index, examples)[BY_VECTORS]


# --- years ----------------------------------------------------------------------------------------------------------


def test_a_made_up_year_changes_codes_and_stays_a_catalog(source):
    after = made_up_next_year(source)
    kinds = {change.kind for change in changes(source.catalog, after.catalog)}
    assert {"added", "removed", "renamed", "split"} <= kinds
    for code in after.catalog:
        assert code.parent is None or code.parent in after.catalog
        assert code.terminal != bool(after.catalog.children(code.code))


def test_answers_move_only_where_the_year_did(lab):
    after = made_up_next_year(lab.source)
    gone = next(c.code for c in changes(lab.source.catalog, after.catalog) if c.kind == "removed")
    stays = lab.source.catalog.get("I10.90").title
    years = [index_of(source, lab.texts, lab.index) for source in (lab.source, after)]
    moved = moves(*years, [lab.source.catalog.get(gone).title, stays])
    assert (moved[0].before, moved[0].move) == (gone, "renumbered")
    assert (moved[1].after, moved[1].move) == ("I10.90", "same")
    codes = {text.code for text in texts_in(all_texts(lab.source), after.catalog)}
    assert gone not in codes


# --- damage ---------------------------------------------------------------------------------------------------------


def test_every_damage_but_a_single_lost_line_stops_the_build(source):
    assert not damage.stops(source, source)
    found = {kind: damage.stops(broken, source) for kind, (_, broken) in damage.broken_copies(source).items()}
    assert [kind for kind, stopped in found.items() if not stopped] == ["one synonym lost"]
