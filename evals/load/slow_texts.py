"""Texts made to be slow, against an ordinary text of the same length (`python -m evals load slow-texts`).

Each text repeats one token of a kind that some table or rule of the project knows: triggers, function words, titles,
months, parts of words, written codes, dates, digits of any script, brackets, boxes, line ends. It goes through the
instant search (tier 1), the findings of the rules and letters, and grounding. What counts is the processor's time
of the work, in a process of its own for each text, so that one that never ends is ended: by the kernel, after LONGEST.

An answer of the same length in every repeat is no measure of quality; the ordinary texts are generated letters.
"""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import select
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from statistics import fmean
from typing import Any

from clinical import claims as claims_of_texts
from clinical import letters as reading_of_letters
from clinical import text as written_text
from clinical.budget import Budget
from clinical.coding import research
from clinical.contract import Arztbrief, ResearchRequest
from clinical.icd import EXAMPLE, category
from clinical.letters import ground
from clinical.reading import SearchIndex
from evals.letters.generator import letters
from evals.load.bench import long_letter
from evals.measures.results import Row, row
from evals.rules_model import RULES

LENGTHS = (2_000, 20_000)  # the contract's limits of a query and of a letter
WORST = 3.0
LONGEST = 20  # seconds of processor time; an ordinary letter takes a tenth of one
REPEATS = 3  # of the ordinary text: the least counts
AGAIN = 8  # of what looks too slow: a busy machine takes twice the processor's time too, for a while
FLOOR = 0.004  # seconds: below it, a ratio compares the clock with itself
COUNTED = 0.1  # seconds of runs that a measurement lasts: some kernels count processor time in ticks of 4 ms
LETTERS = 40

SHAPES = (
    "1.", "1. ", f"{category(EXAMPLE)}.", f"{EXAMPLE} ", f"{category(EXAMPLE)}.- ",
    "Dr. ", "Prof. Dr. ", "IIII", "iv ", "I ", "1.1.", "01.02.", "1/2/",
    "2024-", "24.12.2024 ", "12", "\u0661", "\u0967", "\uff11", "²", "½", "5 mg ", "1-0-1 ", "100 % ", "<5 ", "...",
    ". ", ", ", ",", ";", ": ", ":", "- ", "-", "\u2013", "\u2022 ", "* ", "(", ")", "()", "[", "[x] ", "[ ] ", "{",
    "\u2610 ", "/", "//", "|", "+", "+ ", "&", "?", "(?) ", "!", "\"", "\u201e", "'", "\u2019", "_", "#", "@",
    "a@b.de ", "\n", "\n\n", "\r\n", "\t", " ", "\u00a0", "\u200b", "\u0085", "\u2028", "a", "A", "ä", "ß", "e\u0301",
    "\u0301", "\U0001f600", "a ", "A ", "aA", "a-", "A.", "a\n", "A\n", "AB\n", "A:\n", "- a\n", "1) a\n", "a: ",
    "A: b\n", "Diagnose: ", "Diagnosen:\n", "Procedere:\n", "Tel. 1 ", "Tel.: +49 ", "Frau A", "Herr Dr. Max Muster\n",
    "Frau Erika Muster, geb. 01.02.1960\n", "Musterstr. 1\n", "12345 Musterstadt\n", "z.", "z. n. ", "Z.n. ",
    "V. a. ", "kein ", "keine ", "nicht ", "ohne ", "und ", "oder ", "sowie ", "bei ", "mit ", "V.a. kein ",
    "weder noch ", "nicht nur ", "Mutter ", "2 Jahre ", "rechts ", "bds. ", "Husten", "Husten ", "Husten, ",
    "Husten und ", "Husten\n", "Husten. ", "Diabetes mellitus Typ 2 ", "Hustn ", "rn", "0O", "lI",
    "Kinderherzchirurgie", "herzherz", "itisitis", "ung", "itis ", "männlich ", "[x] stationär ", "Klasse: ",
    "privat ", "dringend ", "AB", "ABC ", "AbCd", "x" * 60 + " ", "x" * 60 + "\n",
)  # fmt: skip
"""Starts and ends of patterns: of codes, dates, numbers, names, labels, items, boxes, words and lines."""

Way = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Slow:
    """A text that repeats `token`, `length` characters long: `ratio` times the time of an ordinary one on this way."""

    way: str
    length: int
    token: str
    seconds: float
    ratio: float


def tokens() -> tuple[str, ...]:
    """SHAPES, and one token of every kind that the tables of `clinical` know."""
    found = dict.fromkeys(SHAPES)
    for words in (
        written_text.TITLES,
        written_text.SALUTATIONS,
        written_text.CONNECTORS,
        written_text.QUALIFYING,
        written_text.SIDES,
    ):
        found |= dict.fromkeys(f"{word} " for word in sorted(words)[:6])
    found |= dict.fromkeys(f"{word} " for word in sorted(claims_of_texts.denying_words())[:12])
    found |= dict.fromkeys(f"{word} " for word in sorted(written_text.FUNCTION_WORDS)[::25])
    found |= dict.fromkeys(f"1. {month} " for month in sorted(written_text.MONTH_NAMES)[:4])
    for module in (written_text, claims_of_texts, reading_of_letters):
        for table in sorted(Path(str(module.__file__)).parent.rglob("*.tsv")):
            found |= dict.fromkeys(_of_table(table))
    return tuple(found)


def _of_table(table: Path) -> Iterator[str]:
    """The first entry of each kind in a table: a kind is everything behind the first word of a line."""
    kinds: set[str] = set()
    for line in table.read_text("utf-8").splitlines():
        cells = line.split("\t")
        kind = "\t".join(cells[1:5]) if table.name == "context.tsv" else cells[0]
        if line.startswith("#") or len(cells) < 2 or kind in kinds:
            continue
        kinds.add(kind)
        words = cells[0] if table.name == "context.tsv" else cells[1]
        plain = " ".join(
            word.split("|")[0].strip("()*^$") for word in words.split(",")[0].split() if word[0] not in "@."
        )
        if plain:
            yield f"{plain} "


def ways(index: SearchIndex, answer: Mapping[str, Any]) -> dict[str, tuple[Way, tuple[int, ...]]]:
    """The readers of a text, each with the lengths to try. `answer`: values for which grounding looks up evidence."""

    def instant(text: str) -> object:
        request = ResearchRequest(query=text[: LENGTHS[0]], details=True)
        return asyncio.run(_events(research(request, index)))

    return {
        "instant": (instant, LENGTHS[:1]),
        "findings": (lambda text: RULES["Findings"]({"text": text}, Budget(LONGEST)), LENGTHS[:1]),
        "zuweisung": (lambda text: RULES["Zuweisung"]({"text": text}, Budget(LONGEST)), LENGTHS),
        "arztbrief": (lambda text: RULES["Arztbrief"]({"text": text}, Budget(LONGEST)), LENGTHS),
        "grounding": (lambda text: ground(answer, text, Arztbrief), LENGTHS),
    }


async def _events(stream: AsyncIterator[object]) -> list[object]:
    return [event async for event in stream]


def slow_texts(
    index: SearchIndex,
    wanted: Sequence[str],
    limit: float = WORST,
    say: Way = len,
    by: Sequence[str] = (),
    lengths: Sequence[int] = LENGTHS,
) -> list[Slow]:
    """Every way (or those named in `by`) with every token at these lengths, the slowest first. `say` hears of each way
    and length."""
    made = letters(LETTERS)
    _, answer = long_letter(made, LENGTHS[1])
    found = []
    for name, (way, readable) in ways(index, answer).items():
        if by and name not in by:
            continue
        for length in (one for one in readable if one in lengths):
            text, _ = long_letter(made, length)
            way(text)  # what is compiled or loaded at the first call is there before the children begin
            ordinary = max(FLOOR, min(_mean_seconds(way, text, cpu_seconds(way, text)) for _ in range(REPEATS)))
            mine = sorted(_measured(name, way, length, wanted, ordinary, limit), key=lambda one: -one.ratio)
            found += mine
            worst = ", ".join(f"{one.ratio:.2f} x {one.token!r}" for one in mine[:4])
            say(f"{name} {length}: ordinary {ordinary:.4f} s; {worst}")
    return sorted(found, key=lambda one: -one.ratio)


def _measured(
    name: str, way: Way, length: int, wanted: Sequence[str], ordinary: float, limit: float
) -> Iterator[Slow]:  # fmt: skip
    used = [token for token in wanted if token.strip() or length != LENGTHS[0]]  # white space alone is no query (422)
    texts = [(token * (length // len(token) + 1))[:length] for token in used]
    for token, text, first in zip(used, texts, cpu_seconds_of_all(way, texts), strict=True):
        seconds = _least(way, text, first, limit * ordinary)
        yield Slow(name, length, token, seconds, seconds / ordinary)


def _least(way: Way, text: str, first: float, allowed: float) -> float:
    """The least of several measurements, of which a second is only made where the first is over `allowed`."""
    least = first
    for _ in range(AGAIN):
        if least <= allowed or least >= LONGEST:
            break
        least = min(least, _mean_seconds(way, text, least))
    return least


def _mean_seconds(way: Way, text: str, about: float) -> float:
    """Processor time of a run, the mean of as many as last COUNTED seconds where one lasts `about` seconds."""
    runs = ceil(COUNTED / max(about, FLOOR))
    return fmean(cpu_seconds_of_all(way, [text] * runs))


def cpu_seconds(way: Way, text: str, longest: int = LONGEST) -> float:
    """Processor time of `way(text)` in a child process; `longest` when the kernel had to end it or it failed."""
    return cpu_seconds_of_all(way, [text], longest)[0]


def cpu_seconds_of_all(way: Way, texts: Sequence[str], longest: int = LONGEST) -> list[float]:
    """The same for many texts, one after the other in one child, and in a new one after each that had to be ended.

    A child that neither failed nor used up its time was ended by the machine (memory, a stop): its text says nothing
    by that and is read again. Raises RuntimeError where that happens REPEATS times in a row.
    """
    done: list[float] = []
    lost = 0
    while len(done) < len(texts):
        seconds, how = _by_a_child(way, texts[len(done) :], longest)
        done, lost = done + seconds, 0 if seconds else lost
        if how in (_FAILED, -signal.SIGXCPU):
            done, lost = [*done, float(longest)], 0
        elif len(done) < len(texts):
            lost += 1
            if lost == REPEATS:
                raise RuntimeError(f"{texts[len(done)][:20]!r}: its process was ended {lost} times from outside: {how}")
    return done


_FAILED = 1
"""Exit status of a child whose work raised."""


def _by_a_child(way: Way, texts: Sequence[str], longest: int) -> tuple[list[float], int]:
    """(seconds of the first texts, exit code): of all, or of those before the one the child did not survive."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os._exit(_measured_in_turn(way, texts, longest, writing))
    os.close(writing)
    said, said_more = b"", select.poll()  # `select` takes no descriptor from 1,024 on
    said_more.register(reading, select.POLLIN)
    while said_more.poll(10_000 * max(longest, LONGEST)):  # a stopped child must not stop us
        part = os.read(reading, 65_536)
        said += part
        if not part:
            break
    else:
        os.kill(child, signal.SIGKILL)
    os.close(reading)
    return [float(line) for line in said.splitlines()], os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _measured_in_turn(way: Way, texts: Sequence[str], longest: int, writing: int) -> int:
    """In the child: each text's seconds as a line, then 0; _FAILED where one raised, and the kernel ends what lasts."""
    gc.freeze()  # as the servers do: what was loaded before is not gone through again
    try:
        for text in texts:
            began = time.process_time()
            resource.setrlimit(resource.RLIMIT_CPU, (int(began) + 1 + longest, resource.RLIM_INFINITY))
            way(text)
            os.write(writing, f"{time.process_time() - began}\n".encode())
    except BaseException:  # noqa: BLE001 - the process ends here, whatever it was: nothing of it may run on as ours
        return _FAILED
    return 0


def measured(catalog: Path, limit: float) -> Iterator[Row]:
    """The worst ratio of each way and length and of all; `failures` counts texts over the limit. What is slow is told
    on stderr as it is found."""
    index = SearchIndex.load(catalog)
    index.search("Husten", 10)
    found = slow_texts(index, tokens(), limit, lambda line: print(line, file=sys.stderr))
    yield from row("ratio", "all", len(found), found[0].ratio)
    for of in sorted({(one.way, one.length) for one in found}):
        own = [one.ratio for one in found if (one.way, one.length) == of]
        yield from row("ratio", f"{of[0]}, {of[1]:,} characters", len(own), max(own))
    yield from row("failures", "all", len(found), sum(one.ratio > limit for one in found))
