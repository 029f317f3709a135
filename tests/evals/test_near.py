"""Near-duplicates: found exactly, and left out of a grouped fold."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from catalog_build.official.source import read_source
from catalog_build.synonyms import all_texts, fold_of
from clinical.text import folded_words
from evals.coding.heldout import main
from evals.coding.outcomes import NEAR, NearTexts, similarity
from evals.data.cards import read_dataset
from evals.data.examples import read_examples

STARTER = Path(__file__).resolve().parents[2] / "catalog_build" / "starter"
WORDS = st.frozensets(st.sampled_from("abcdefgh"), max_size=8)


@given(st.lists(WORDS, max_size=30), WORDS)
def test_exactly_what_a_comparison_with_every_text_finds(texts, own):
    assert NearTexts(texts).has_near(own) == any(similarity(own, text) >= NEAR for text in texts)


def test_a_grouped_fold_holds_nothing_near_to_what_is_indexed(tmp_path, capsys):
    files = [tmp_path / "plain.tsv", tmp_path / "grouped.tsv"]
    assert main([str(STARTER), "--fold", "3", "--out", str(files[0])]) == 0
    assert main([str(STARTER), "--fold", "3", "--out", str(files[1]), "--grouped"]) == 0
    assert [read_dataset(file).about["name"] for file in files] == ["fold-3", "fold-3-grouped"]
    plain, grouped = ({example.query for example in read_examples(file)} for file in files)
    assert grouped < plain
    assert len(grouped) > len(plain) / 3

    def spelled(text):
        return frozenset(folded_words(text))

    indexed = [spelled(each.text) for each in all_texts(read_source(STARTER)) if fold_of(each) != 3]
    for query in list(grouped)[:20]:
        assert all(similarity(spelled(query), text) < NEAR for text in indexed)
    assert any(similarity(spelled(query), text) >= NEAR for query in plain - grouped for text in indexed)
