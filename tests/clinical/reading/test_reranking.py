"""The order of a mention's codes: what stands beside it, how common a code is, and what stays as search had it."""

import numpy as np
import pytest

from clinical.reading import OF_HIT, Reranker, columns_of_hits

SITE = OF_HIT.index("title_beside")


@pytest.fixture(scope="module")
def ranked(index):
    """The spans of a text that explain it, and their hits as search orders them."""

    def of(text: str):
        draft, hits = index.ranked(text)
        return draft, index.reader.chosen(draft, hits)[1]

    return of


def codes(index, hits, part):
    return [index.catalog.codes[code].code for code in hits.code[hits.part == part].tolist()]


def test_words_beside_a_mention_count_where_a_title_has_them(index, ranked):
    draft, hits = ranked("Husten und Fieber. Posttraumatisch ist die Gonarthrose links.")
    rows, columns = columns_of_hits(draft, hits, index.wordings, index.kinds)
    own = [draft.spans[part].part.text == "Posttraumatisch" for part in hits.part[rows].tolist()]
    beside = {
        index.catalog.codes[hits.code[at]].code: row[SITE] for at, row in zip(rows[own], columns[own], strict=True)
    }
    assert beside["M17.3"] > 0
    assert beside["T79.3"] == 0


def test_compared_codes_change_places_and_probabilities_stay(index, ranked):
    draft, hits = ranked("Husten und Fieber. Seit Jahren Gonarthrose.")
    rows, columns = columns_of_hits(draft, hits, index.wordings, index.kinds)
    worst_first = Reranker.of({"logit": -1.0}).ordered(draft, hits, index.wordings, index.kinds)
    np.testing.assert_array_equal(worst_first.probability, hits.probability)
    np.testing.assert_array_equal(worst_first.part, hits.part)
    for part in np.unique(hits.part[rows]):
        compared = columns[hits.part[rows] == part, 0]
        assert sorted(codes(index, worst_first, part)) == sorted(codes(index, hits, part))
        if len(set(compared.tolist())) == len(compared):
            before, after = codes(index, hits, part), codes(index, worst_first, part)
            assert after[: len(compared)] == [before[at] for at in np.argsort(compared, kind="stable")]


def test_a_wording_by_itself_keeps_the_order_of_search(index, ranked):
    draft, hits = ranked("Gonarthrose")
    assert draft.plain
    again = Reranker.of({"logit": -1.0}).ordered(draft, hits, index.wordings, index.kinds)
    np.testing.assert_array_equal(again.code, hits.code)
