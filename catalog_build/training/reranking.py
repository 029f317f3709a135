"""Fit the order of a mention's codes (`clinical.reading.Reranker`) on texts that people wrote and coded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from catalog_build.training.suggesting import ComparedCodes, commonness_without, conditional_logit
from catalog_build.training.written import WrittenInput
from clinical.progress import progress
from clinical.reading import OF_HIT, TOGETHER, Reranker, SearchIndex, columns_of_hits
from clinical.search import run_starts


def reranker_for(index: SearchIndex, written: Sequence[WrittenInput]) -> Reranker | None:
    """Weights under which a right code of each mention is the likeliest among those compared; None where nothing is to
    be learnt."""
    return reranker_of(list(compared(index, written)))


def reranker_of(choices: Sequence[ComparedCodes]) -> Reranker | None:
    """The same from what was compared."""
    if not choices:
        return None
    return Reranker.of(dict(zip(OF_HIT, conditional_logit(choices).round(3).tolist(), strict=True)))


def compared(index: SearchIndex, written: Sequence[WrittenInput]) -> Iterator[ComparedCodes]:
    """The compared codes of each mention that has right ones and wrong ones among them. Codes of the set that a text is
    of do not count for how common a code is."""
    known, common = commonness_without(index.catalog, {one.source for one in written}), OF_HIT.index("common")
    batches = [written[begin : begin + TOGETHER] for begin in range(0, len(written), TOGETHER)]
    for batch in progress(batches, "order of codes", "batches of texts read"):
        for one, (draft, found) in zip(batch, index.ranked_together([one.text for one in batch]), strict=True):
            _, hits = index.reader.chosen(draft, found)
            if draft.plain:
                continue
            rows, columns = columns_of_hits(draft, hits, index.wordings, index.kinds)
            columns[:, common] += known[one.source][hits.code[rows]]
            right = np.array([index.catalog.codes[code].code in one.right for code in hits.code[rows].tolist()])
            for first, last in pairwise([*run_starts(hits.part[rows]).tolist(), len(rows)]):
                if right[first:last].any() and not right[first:last].all():
                    yield ComparedCodes(columns[first:last].astype(np.float64), right[first:last])
