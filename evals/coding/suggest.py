"""python -m evals suggest --catalog DIR --queries FILE: is a right code among the first that are suggested?

Each query is cut to its first 3, 4, 5, 6, 8 and 12 characters, as somebody types it; a shorter one is asked as it is.
Right is any of its codes among eight (`in_8`), and 1 / rank of the first (`mrr_8`); for the time of one call in
process, 50th and 99th percentile in milliseconds. `--whole` asks the queries as they are: for a set of beginnings.
"""

from __future__ import annotations

import json
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Protocol

import click
import numpy as np

from clinical.command_line import PATH, paragraphs
from clinical.reading import SearchIndex
from clinical.search import Suggestion
from clinical.text import folded_words
from evals.coding.measure import VARIANTS, changed
from evals.command import CATALOG, JSON, main_of
from evals.data.cards import read_dataset
from evals.data.examples import Example
from evals.measures.intervals import mean, share
from evals.measures.results import ALL, MeasuredResult, Row, printed, row

CUTS: Final = (3, 4, 5, 6, 8, 12)
SHOWN: Final = 8
SHORTEST, LONGEST = 3, 20
"""Characters of a beginning of a word for BM25."""


@click.command(help=paragraphs(__doc__))
@CATALOG
@click.option("--queries", type=PATH, required=True, help="TSV with query and codes, or JSON lines")
@click.option("--variant", type=click.Choice(list(VARIANTS)), default="none", help="change what is typed in this way")
@click.option("--whole", is_flag=True, help="ask the queries as they are, uncut")
@click.option("--system", type=click.Choice(["befund", "counted", "prefixes"]), default="befund", help="or a baseline")
@JSON
@click.option("--out", type=PATH, help="also write the result")
def command(
    catalog: Path, queries: Path, variant: str, whole: bool, system: str, as_json: bool, out: Path | None
) -> None:
    """Measure and print."""
    index, data = SearchIndex.load(catalog), read_dataset(queries)
    if index.suggester is None:
        raise click.UsageError("the artifact holds no suggestions: build it again")
    made = {"befund": lambda index: index.suggester, "counted": CountedWordings, "prefixes": PrefixBm25}
    asked: Suggesting = made[system](index)
    rows = list(rows_of(asked, data.examples, variant, (None,) if whole else CUTS))
    ran = f"python -m evals suggest --queries {data.file} --variant {variant} --system {system}"
    about = {"manifest": index.manifest.digest, "dataset": data.about, "variant": variant, "system": system}
    result = MeasuredResult.of("suggest", ran, rows, **about)
    if out:
        result.write(out)
    print(json.dumps({"about": result.about, "rows": result.rows.to_dict("records")}) if as_json else printed(rows))


main = main_of(command, "suggest")


class Suggesting(Protocol):
    """A system that suggests."""

    def suggest(self, typed: str, limit: int = SHOWN) -> Sequence[Suggestion]:
        """Codes for what is typed, the likeliest first."""
        ...


class CountedWordings:
    """A baseline: a sorted list of all wordings from each of their words on; of the codes with one that begins like
    the typed text, those with the most wordings first."""

    def __init__(self, index: SearchIndex) -> None:
        self._codes = index.catalog.codes
        code = index.wordings.tables.code.tolist()
        self._count = Counter(code)
        documents = (folded_words(index.wordings.text(number)) for number in range(len(code)))
        both = zip(documents, code, strict=True)
        self._rows = sorted((" ".join(words[at:]), own) for words, own in both for at in range(len(words)))

    def suggest(self, typed: str, limit: int = SHOWN) -> tuple[Suggestion, ...]:
        """The codes, and no wordings."""
        text = " ".join(folded_words(typed))
        low = bisect_left(self._rows, (text,))
        high = bisect_left(self._rows, (text + "\uffff",), lo=low)
        found = {own for _, own in self._rows[low:high]}
        best = sorted(found, key=lambda own: -self._count[own])[:limit]
        return tuple(Suggestion(self._codes[own], "") for own in best)


class PrefixBm25:
    """A baseline: BM25 over the beginnings of all words of a wording; a code has the score of its best wording."""

    def __init__(self, index: SearchIndex) -> None:
        import bm25s

        self._index, self._numbers = index, dict[str, int]()
        known = self._numbers
        texts = (folded_words(index.wordings.text(number)) for number in range(len(index.wordings)))
        rows = [
            [known.setdefault(token, len(known)) for word in words for token in _beginnings(word)] for words in texts
        ]
        self._bm25 = bm25s.BM25(backend="numpy")
        self._bm25.index((rows, known), show_progress=False)

    def suggest(self, typed: str, limit: int = SHOWN) -> tuple[Suggestion, ...]:
        """The codes, and no wordings; the longest known beginning of each word typed is asked for."""
        longest = (
            next((one for one in reversed(_beginnings(word)) if one in self._numbers), None)
            for word in folded_words(typed)
        )
        asked = [self._numbers[one] for one in longest if one is not None]
        if not asked:
            return ()
        wordings = self._index.wordings
        of_code = np.maximum.reduceat(np.asarray(self._bm25.get_scores_from_ids(asked)), wordings.starts)
        best = [place for place in np.argsort(-of_code, kind="stable")[:limit].tolist() if of_code[place] > 0]
        return tuple(Suggestion(self._index.catalog.codes[wordings.codes[place]], "") for place in best)


def _beginnings(word: str) -> list[str]:
    return [word[:end] for end in range(min(SHORTEST, len(word)), min(LONGEST, len(word)) + 1)]


def rows_of(
    suggester: Suggesting,
    examples: Sequence[Example],
    variant: str = "none",
    cuts: Sequence[int | None] = CUTS,
) -> Iterator[Row]:
    """The rows of every cut (None: uncut), and the times of all calls."""
    spent: list[float] = []
    for cut in cuts:
        ranks = []
        for example in examples:
            typed = changed(example.query[:cut].rstrip(), variant)
            began = time.perf_counter()
            found = suggester.suggest(typed, SHOWN)
            spent.append(1_000 * (time.perf_counter() - began))
            right = (rank for rank, each in enumerate(found, 1) if each.code.code in example.codes)
            ranks.append(next(right, 0))
        name = ALL if cut is None else f"{cut} characters"
        yield from row(f"in_{SHOWN}", name, len(ranks), share(sum(rank > 0 for rank in ranks), len(ranks)))
        yield from row("in_3", name, len(ranks), share(sum(0 < rank <= 3 for rank in ranks), len(ranks)))
        yield from row(f"mrr_{SHOWN}", name, len(ranks), mean([1 / rank if rank else 0.0 for rank in ranks]))
    for percent in (50, 99):
        yield from row(f"milliseconds_p{percent}", "calls", len(spent), float(np.percentile(spent, percent)))
