"""Columns of a mention for the second stage of calibration, against plain loops; no two columns can be exchanged."""

from __future__ import annotations

import re
from itertools import pairwise
from math import log

import pytest

from clinical.claims import LABELS
from clinical.claims.tagger import tagger
from clinical.reading.claim_stage import TextSpans
from clinical.reading.confidence import COLUMNS, columns
from clinical.reading.index import SearchIndex
from clinical.search.hits import Hits
from clinical.text import fold

TEXTS = (
    "Bluthochdruck, Diabetes mellitus Typ 2 und Asthma bronchiale",
    "Die Patientin klagt seit gestern über Kopfschmerzen und Übelkeit, bekannt ist eine Migräne.",
    "Verdacht auf Pneumonie. Mutter mit Mammakarzinom. Zustand nach Herzinfarkt 2015.",
    "bauchschmerzen und durchfall, v.a. gastroenteritis",
    "Die Frau hat asthma und eine Migräne.",
    "asthma",
    "Hypertonie, Xqz und Zuckerleiden",
    "bekannte Zuckerkrankh",
    "Asthma: seit Jahren, Migräne nie",
)
Row = dict[str, float]


@pytest.fixture(scope="module")
def seen(index: SearchIndex) -> list[tuple[Row, Row]]:
    """Of every mention of TEXTS: its columns as served and as plain loops say them."""
    found: list[tuple[Row, Row]] = []
    for text in TEXTS:
        draft, hits = index.ranked(text)
        _, hits = index.reader.chosen(draft, hits)
        assert index.confidence is not None
        _, rows = columns(draft, hits, index.wordings, index.kinds, index.confidence.experience)
        expected = plain(index, text, draft, hits)
        assert len(rows) == len(expected)
        found += [
            (dict(zip(COLUMNS, row, strict=True)), other) for row, other in zip(rows.tolist(), expected, strict=True)
        ]
    return found


def plain(index: SearchIndex, text: str, draft: TextSpans, hits: Hits) -> list[Row]:
    """The columns of each span that has hits, in their order."""
    by_span: dict[int, list[tuple[str, float, str]]] = {}
    for part, code, _, chance, wording in zip(*(column.tolist() for column in hits), strict=True):
        found = (index.catalog.codes[code].code, chance, index.wordings.text(wording))
        by_span.setdefault(part, []).append(found)
    rows = [of_mention(index, text, draft, number, found) for number, found in by_span.items()]
    mentions = [number for number in by_span if draft.spans[number].chance > 0]
    disease = any(by_span[number][0][0][0] != "R" and by_span[number][0][1] >= 0.25 for number in mentions)
    outside = 1 - sum(spelled(draft.spans[number].part.text) for number in mentions) / spelled(text)
    for row in rows:
        row |= {"plain": draft.plain, "mentions": log(1 + len(mentions)), "length": log(1 + len(text))}
        row |= {"begun": draft.plain and stops_within_a_word(index, text)}
        row |= {"prose": min(1.0, max(0.0, outside)), "lower": bool(row["small"]) or text == text.lower()}
        row |= {"explained": row["symptom"] * disease, "verbatim_open": row["verbatim"] * row["unspecified"]}
        row |= {"explained_in_prose": row["explained"] * row["prose"], "logit_in_prose": row["logit"] * row["prose"]}
    return [{name: float(value) for name, value in row.items()} for row in rows]


def of_mention(
    index: SearchIndex, text: str, draft: TextSpans, number: int, found: list[tuple[str, float, str]]
) -> Row:
    """The columns of one span; `found` are its codes, their probabilities and wordings, best first."""
    span, claim = draft.spans[number].part, draft.assertions[number]
    code, chance, wording = found[0]
    sure = min(0.999, max(0.001, chance))
    title = index.catalog.codes[index.catalog.number(code)].title
    return {
        "logit": log(sure / (1 - sure)),
        "margin": sure - (found[1][1] if len(found) > 1 else 0),
        "category": sum(chance for other, chance, _ in found if other[:3] == code[:3]),
        "chance": draft.spans[number].chance,
        "words": log(1 + spelled(span.text)),
        "one_word": spelled(span.text) == 1,
        "verbatim": sorted(re.findall(r"\w+", span.text.lower())) == sorted(re.findall(r"\w+", wording.lower())),
        "unspecified": code.endswith(".9") or "nicht näher bez" in title,
        "symptom": code.startswith("R"),
        "small": span.text == span.text.lower() and text != text.lower(),
        "suspected": claim == "suspected",
        "history": claim == "history",
        "family": claim == "family",
        "doubt": doubt(draft, number),
        "common": float(index.suggester.tables.commonness[index.catalog.number(code)]),
        "everyday": index.catalog.codes[index.catalog.number(code)].everyday,
        "label": text[span.end :].startswith(":"),
    } | of_words(index, code, re.findall(r"\w+", span.text.lower()), re.findall(r"\w+", wording.lower()))


def doubt(draft: TextSpans, number: int) -> float:
    """The probability that the tagger gives to other claims than the one that is served; 0 without it."""
    part, served, reading = draft.spans[number].part, draft.claims[number], draft.reading
    told = reading.ruled(part.start, part.end)
    if draft.plain or part.text == reading.text.strip():
        return 0.0
    shares = tagger().read(reading.seen, reading.columns).shares(*reading.words_in(part.start, part.end), told.label)
    there = ("present", "suspected")
    kept = there if served.label in there else (served.label,)
    return sum(float(share) for label, share in zip(LABELS, shares, strict=True) if label not in kept)


def of_words(index: SearchIndex, code: str, said: list[str], worded: list[str]) -> Row:
    """The columns of how far the wording, the catalog and experience have the words of a span."""
    said, worded = [fold(word) for word in said], [fold(word) for word in worded]
    strange = [word for word in said if word.isalpha() and word not in index.wordings.vocabulary]
    bare, unsaid = unlike(said, worded), unlike(worded, said)
    letters = len("".join(said))
    return {
        "uncovered": len("".join(bare)) / letters,
        "unknown": len("".join(strange)) / letters,
        "guessed": strange == said and max(map(len, said)) <= 4,
        "unsaid": 0 if sorted(said) == sorted(worded) else len("".join(unsaid)) / len("".join(worded)),
    } | of_experience(index, code, " ".join(said))


def of_experience(index: SearchIndex, code: str, words: str) -> Row:
    """The share of times that the code was right, alone and for these words, each leaning on the general one."""
    assert index.confidence is not None
    seen = index.confidence.experience.seen
    alone = [one for (said, _), one in seen.items() if not said]
    general = (1 + sum(one.right for one in alone)) / (2 + sum(one.times for one in alone))
    right, times = seen.get(("", code), (0, 0))
    by_code = (right + 4 * general) / (times + 4)
    right, times = seen.get((words, code), (0, 0))
    by_words = (right + 2 * by_code) / (times + 2)
    logits = (log(share / (1 - share)) for share in (by_code, by_words))
    return dict(zip(("code_right", "words_right", "words_times"), (*logits, log(1 + times)), strict=True))


def unlike(words: list[str], others: list[str]) -> list[str]:
    """The words that none of the others is like."""
    found = []
    for word in words:
        alike = [other for other in others if word[:5] == other[:5] or word in other or other in word]
        long = [other for other in alike if len(other) >= 5 and len(word) >= 5]
        if word not in others and not long:
            found.append(word)
    return found


def stops_within_a_word(index: SearchIndex, text: str) -> bool:
    last = fold(re.findall(r"\w+", text.lower())[-1])
    return last not in index.wordings.vocabulary and any(word.startswith(last) for word in index.wordings.vocabulary)


def spelled(text: str) -> int:
    return len(re.findall(r"\w+", text))


def test_every_column_is_what_plain_loops_say(seen: list[tuple[Row, Row]]) -> None:
    assert len(seen) > 20
    for served, expected in seen:
        assert served == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(("one", "other"), pairwise(COLUMNS))
def test_two_columns_exchanged_would_not_pass(seen: list[tuple[Row, Row]], one: str, other: str) -> None:
    exchanged = [served | {one: served[other], other: served[one]} for served, _ in seen]
    assert any(row != pytest.approx(expected, abs=1e-4) for row, (_, expected) in zip(exchanged, seen, strict=True))
