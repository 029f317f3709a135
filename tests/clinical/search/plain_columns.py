"""The columns of the ranking model once more, with loops over Python numbers: what `features` must say, by name.

Nothing is shared with `ranking.c` but the nearest wordings and the arrays of the index. One query, one code and one
wording at a time; slow, and readable from top to bottom.
"""

from __future__ import annotations

from collections import Counter
from math import exp, inf, log, sqrt
from types import SimpleNamespace

from clinical.reading.index import SearchIndex
from clinical.search.bm25 import Bm25, character_grams
from clinical.search.cosines import whole
from clinical.search.neighbours import SEARCH_DEPTH
from clinical.search.retrieval import NEAREST, Queries, nearest_wordings, read_queries
from clinical.search.terms import BEST_BY_CHARACTERS, BEST_BY_WORDS

STEPS_TOTAL, LARGEST = 2**24, 127  # a query's vector is rounded so that products with int8 rows are exact

DISTANCES = (
    "similarity", "mass_soft", "mass_sharp", "second", "title", "centre", "words_bm25", "characters_bm25",
    "query_covered", "wording_covered", "alignment", "weighted_alignment", "query_covered_by_all",
)  # fmt: skip
"""The columns that are repeated as their distance to the best candidate."""


def plain_columns(index: SearchIndex, text: str) -> tuple[dict[int, dict[str, float]], dict[int, dict[str, float]]]:
    """By the number of each candidate code: its columns by name, and the distances of some of them to the best."""
    query = _Query(index, text)
    columns = {code: _of_code(query, index, code, own) for code, own in query.candidates.items()}
    _of_the_list(columns, index)
    best = {name: max(row[name] for row in columns.values()) for name in DISTANCES}
    distances = {code: {name: row[name] - best[name] for name in DISTANCES} for code, row in columns.items()}
    return columns, distances


class _Query:
    """One query: its words with their weights and vectors, and the wordings to look at for each candidate code."""

    def __init__(self, index: SearchIndex, text: str) -> None:
        (queries,) = read_queries([text], index.encoder, index.wordings)
        tables = index.wordings.tables
        self.words = queries.folded[0]
        vector, *of_words = index.encoder.encode([" ".join(self.words), *self.words]).tolist()
        self.weight, self.vector = _length(vector), _rounded(vector)
        self.word_weights, self.word_vectors = [_length(row) for row in of_words], [_rounded(row) for row in of_words]
        known = index.wordings.vocabulary
        unknown = log((len(index.wordings) + 1) / 0.5)
        self.idf = [float(tables.word_idf[known[word]]) if word in known else unknown for word in self.words]
        self.words_bm25 = _scores(index.wordings.words_bm25, self.words)
        self.characters_bm25 = _scores(index.wordings.characters_bm25, character_grams(self.words))
        self.candidates: dict[int, list[int]] = {}
        for wording in sorted(looked_at(queries, index, self.words_bm25, self.characters_bm25)):
            self.candidates.setdefault(int(tables.code[wording]), []).append(wording)


def looked_at(queries: Queries, index: SearchIndex, words: dict[int, float], characters: dict[int, float]) -> set[int]:
    """The wordings to look at for one query: the nearest ones, and the best of each code that a BM25 puts forward."""
    numbers, wordings = whole(queries.vectors).numbers, index.wordings
    near = nearest_wordings(queries.vectors, numbers, wordings, NEAREST, SEARCH_DEPTH)
    found = {int(number) for number in near[0] if number >= 0}
    for scores, most in ((words, BEST_BY_WORDS), (characters, BEST_BY_CHARACTERS)):
        best: dict[int, float] = {}
        for number, score in scores.items():
            row = int(wordings.row[number])
            best[row] = max(best.get(row, 0.0), score)
        for row in sorted(best, key=lambda row: (-best[row], row))[:most]:
            own = range(int(wordings.starts[row]), int(wordings.ends[row]))
            found.add(max(own, key=lambda number: words.get(number, 0.0) + characters.get(number, 0.0)))
    return found


def postings(bm25: Bm25, tokens: list[str]) -> tuple[list[int], list[float]]:
    """The wordings of these tokens, token by token, and what each adds to their scores."""
    counts = Counter(bm25.numbers(tokens))
    found = [(at, times) for token, times in counts.items() for at in range(*bm25.start[token : token + 2].tolist())]
    return [int(bm25.indices[at]) for at, _ in found], [float(bm25.data[at]) * times for at, times in found]


def _scores(bm25: Bm25, tokens: list[str]) -> dict[int, float]:
    scores: dict[int, float] = {}
    for token in tokens:
        for wording, score in zip(*postings(bm25, [token]), strict=True):
            scores[int(wording)] = scores.get(int(wording), 0.0) + float(score)
    return scores


def _length(vector: list[float]) -> float:
    return sqrt(sum(value * value for value in vector))


def _rounded(vector: list[float]) -> list[float]:
    length = max(_length(vector), 1e-9)
    step = max(max(abs(value) / length for value in vector), 1e-9) / (STEPS_TOTAL // (LARGEST * len(vector)))
    return [round(value / length / step) * step for value in vector]


def _cosine(vector: list[float], row: list[int], scale: float) -> float:
    return sum(one * other for one, other in zip(vector, row, strict=True)) * scale


def _of_wording(query: _Query, index: SearchIndex, wording: int) -> SimpleNamespace:
    """The nearness of a wording to the query, and of the words of both to each other."""
    tables = index.wordings.tables
    words = tables.word[tables.word_start[wording] : tables.word_start[wording + 1]].tolist()
    rows = [(tables.word_rows[word].tolist(), float(tables.word_scales[word])) for word in words]
    match = [[max(_cosine(vector, *row), 0.0) ** 2 for row in rows] for vector in query.word_vectors]
    by_word = [max(row) for row in match]
    of_wording = [max(row[number] for row in match) for number in range(len(words))]
    query_covered = _mean(by_word, query.idf)
    wording_covered = _mean(of_wording, [float(tables.word_idf[word]) for word in words])
    weighted_covered = _mean(by_word, query.word_weights)
    weighted_wording = _mean(of_wording, [float(tables.word_weight[word]) for word in words])
    return SimpleNamespace(
        similarity=_cosine(query.vector, tables.rows[wording].tolist(), float(tables.scales[wording])),
        by_word=by_word,
        query_covered=query_covered,
        wording_covered=wording_covered,
        alignment=_harmonic(query_covered, wording_covered),
        weighted_alignment=_harmonic(weighted_covered, weighted_wording),
        weighted_covered=weighted_covered,
        worst_query_word=min(by_word),
        worst_wording_word=min(of_wording),
        words=len(words),
        weight=float(tables.weight[wording]),
    )


def _mean(values: list[float], weights: list[float]) -> float:
    total = max(sum(weights), 1e-6)
    return sum(value * weight for value, weight in zip(values, weights, strict=True)) / total


def _harmonic(one: float, other: float) -> float:
    return 2 * one * other / max(one + other, 1e-6)


def _of_code(query: _Query, index: SearchIndex, code: int, wordings: list[int]) -> dict[str, float]:
    """Columns of the wordings of a code, and of the code itself."""
    tables, row = index.wordings.tables, int(index.wordings.code_row[code])
    everything = range(int(index.wordings.starts[row]), int(index.wordings.ends[row]))
    seen = sorted((_of_wording(query, index, wording) for wording in wordings), key=lambda one: -one.similarity)
    best = max(seen, key=lambda one: one.alignment + one.similarity)
    title = int(tables.title[row])
    same_words = [
        one.words == len(query.words) and min(one.worst_query_word, one.worst_wording_word) > 0.995 for one in seen
    ]
    by_all = [max(one.by_word[number] for one in seen) for number in range(len(query.words))]
    entry = index.catalog.codes[code]
    return {
        "similarity": max(one.similarity for one in seen),
        "mass_soft": log(sum(exp((one.similarity - 1) / 0.05) for one in seen) + 1e-9),
        "mass_sharp": log(sum(exp((one.similarity - 1) / 0.02) for one in seen) + 1e-12),
        "second": seen[1].similarity if len(seen) > 1 else 0.0,
        "title": _cosine(query.vector, tables.rows[title].tolist(), float(tables.scales[title])),
        "centre": _cosine(query.vector, tables.centre_rows[row].tolist(), float(tables.centre_scales[row])),
        "words_bm25": max(query.words_bm25.get(wording, 0.0) for wording in everything),
        "characters_bm25": max(query.characters_bm25.get(wording, 0.0) for wording in everything),
        "query_covered": max(one.query_covered for one in seen),
        "wording_covered": max(one.wording_covered for one in seen),
        "alignment": max(one.alignment for one in seen),
        "weighted_alignment": max(one.weighted_alignment for one in seen),
        "query_covered_by_all": _mean(by_all, query.idf),
        "best_query_covered": best.query_covered,
        "best_wording_covered": best.wording_covered,
        "worst_query_word": best.worst_query_word,
        "worst_wording_word": best.worst_wording_word,
        "best_weighted_covered": best.weighted_covered,
        "length_ratio": best.words / len(query.words),
        "weight_difference": query.weight - best.weight,
        "hits": log(1 + len(seen)),
        "verbatim": float(any(same_words)),
        "terminal": float(entry.terminal),
        "level": float(entry.level),
        "kind": {"plain": 0.0, "dagger": 0.0, "asterisk": 1.0, "exclamation": 2.0}[entry.kind],
        "wordings": log(1 + len(everything)),
        "unspecified": float("nicht näher bez" in entry.title),
        "other": float("onstige" in entry.title or "ndere" in entry.title),
        "query_words": float(len(query.words)),
        "query_rarity": sum(query.idf),
        "query_weight": query.weight,
    }


def _of_the_list(columns: dict[int, dict[str, float]], index: SearchIndex) -> None:
    """Columns of a code beside the other candidates; added to each row."""
    codes = index.catalog.codes
    total = sum(exp(row["mass_soft"]) for row in columns.values())
    for row in columns.values():
        row["mass_share"] = exp(row["mass_soft"]) / total
    for code, row in columns.items():
        own = codes[code]
        same_category = [c for c in columns if codes[c].code[:3] == own.code[:3]]
        same_parent = [c for c in columns if (codes[c].parent or codes[c].code) == (own.parent or own.code)]
        row["category_share"] = sum(columns[c]["mass_share"] for c in same_category)
        row["parent_share"] = sum(columns[c]["mass_share"] for c in same_parent)
        for name in ("words_bm25", "characters_bm25"):
            best = max(max(other[name] for other in columns.values()), 1e-6)
            row[f"{name}_share"] = row[name] / best
        ahead, behind = row["mass_soft"], inf
        row["rank"] = 0.0
        for other_code, other in columns.items():
            behind = other["mass_soft"]
            row["rank"] += behind > ahead or (behind == ahead and other_code < code)
