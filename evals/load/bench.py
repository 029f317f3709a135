"""Processor time in process: search, a coded note, grounding, a letter read by rules, a page of a file; also in turns
with other code.

Two workers, one with the code of this checkout and one with that of another (`--against`), answer the same texts in
turn, so that other work on the machine meets both alike. The ratio is that of the sums over all texts, with the
bootstrap over texts as its interval; a ratio under 1 means that the code here is faster.
"""

from __future__ import annotations

import base64
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import psutil

from clinical.contract import QUERY_MAX, TEXT_MAX
from clinical.icd import Catalog
from clinical.settings import ROOT
from evals.letters.generator import Letter, letters
from evals.letters.negatives import values_of
from evals.letters.printed import reportlab_pdf, scanned
from evals.measures.intervals import bootstrap, rounded
from evals.measures.results import Row, percentiles, row

WORKER: Final = Path(__file__).with_name("worker.py")
SEED: Final = 2026
WARM_UP: Final = 20
VALUES: Final = 60
"""Values of a long letter that grounding looks for."""
LETTER_LENGTHS: Final = (1_000, 5_000, TEXT_MAX)
WAYS: Final = ("search", "note", "grounding", "letter", "file")
SCAN_DPI: Final = 300

Asked = Mapping[str, Any]


def short_queries(titles: Sequence[str], count: int) -> list[str]:
    """Queries as people type them: one to four words of titles."""
    chance = random.Random(SEED)  # noqa: S311 - reproducible, not secret
    made = [" ".join(chance.choice(titles).split()[: chance.randint(1, 4)])[:60] for _ in range(count)]
    return [query for query in made if query.strip()]


def notes(catalog: Catalog, count: int) -> list[str]:
    """Short clinical notes of the catalog's titles: present, past, excluded, in the family."""
    chance = random.Random(SEED)  # noqa: S311 - reproducible, not secret
    titles = [code.title.partition(":")[0] for code in catalog if code.level == 3]
    forms = (
        "{}, V. a. {}. Kein {}.",
        "Z. n. {}. Jetzt {} und {}.",
        "{} bei {}; Mutter mit {}.",
        "Kontrolle: {}. {}, {}.",
    )
    return [chance.choice(forms).format(*chance.sample(titles, 3)) for _ in range(count)]


def long_letter(made: Sequence[Letter], length: int) -> tuple[str, dict[str, Any]]:
    """Letters one after the other, cut to `length`, and VALUES values of them and of others."""
    text, pool = "", list[str]()
    for letter in made:
        text += letter.text + "\n\n"
        pool += [value for path, value in values_of(letter.truth) if path in ("diagnosen", "medikation", "procedere")]
        if len(text) > length and len(pool) > 3 * VALUES:
            break
    chance = random.Random(length)  # noqa: S311 - reproducible, not secret
    scalars = {key: value for key, value in made[0].truth.items() if isinstance(value, dict)}
    count = VALUES - sum(map(len, scalars.values()))
    return text[:length], {**scalars, "diagnosen": chance.sample(pool, count)}


def texts_of(way: str, catalog: Path, count: int) -> dict[str, list[Asked]]:
    """The texts of a bench by their set."""
    if way in ("grounding", "letter"):
        made = letters(2 * count, SEED)
        return {
            f"{length:,} characters": [_long(made[number % len(made) :] + made, length) for number in range(count)]
            for length in LETTER_LENGTHS
        }
    if way == "file":
        return dict(_files(count))
    codes = Catalog.load(catalog / "codes.json")
    if way == "note":
        return {"notes": [{"text": text} for text in notes(codes, count)]}
    titles = [code.title for code in codes]
    chance = random.Random(SEED)  # noqa: S311 - reproducible, not secret
    long = [", ".join(chance.choices(titles, k=80))[:QUERY_MAX] for _ in range(max(1, count // 20))]
    sets = {"short queries": short_queries(titles, count), f"{QUERY_MAX:,} characters": long}
    return {name: [{"text": text} for text in texts] for name, texts in sets.items()}


def _long(made: Sequence[Letter], length: int) -> Asked:
    text, answer = long_letter(made, length)
    return {"text": text, "answer": answer}


def _files(count: int) -> Iterator[tuple[str, list[Asked]]]:
    """Letters as PDF, and a twentieth of them as scans."""
    import pypdfium2 as pdfium

    printed = [reportlab_pdf(letter.text) for letter in letters(count, SEED)]
    pages = [len(pdfium.PdfDocument(pdf)) for pdf in printed]
    scans = [scanned(pdf, SCAN_DPI, seed).data for seed, pdf in enumerate(printed[: max(1, count // 20)])]
    for name, files in (("a page of a PDF", printed), (f"a page scanned at {SCAN_DPI} dpi", scans)):
        asked = zip(files, pages, strict=False)
        yield name, [{"file": base64.b64encode(file).decode(), "pages": of} for file, of in asked]


@contextmanager
def worker(way: str, catalog: Path, checkout: Path) -> Iterator[subprocess.Popen[str]]:
    """A worker with the code of a checkout, on one core as a served one."""
    environment = {**os.environ, "PYTHONPATH": str(checkout), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(WORKER), way, str(catalog)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=checkout
    )
    try:
        yield process
    finally:
        process.communicate("")


def milliseconds(process: subprocess.Popen[str], asked: Asked) -> float:
    """Processor time of one text. Raises RuntimeError where the worker has ended."""
    assert process.stdin is not None and process.stdout is not None  # noqa: S101, PT018 - pipes were asked for
    process.stdin.write(json.dumps(asked) + "\n")
    process.stdin.flush()
    said = process.stdout.readline()
    if not said:
        raise RuntimeError("the worker ended; run evals/load/worker.py by hand to see why")
    return float(said)


def measured(way: str, catalog: Path, count: int, against: Path | None = None) -> Iterator[Row]:
    """p50 and p99 of each set of texts; with `against` also those of the other code, and the ratio."""
    checkouts = {"": ROOT} | ({" of the other code": against} if against else {})
    with ExitStack() as open_ones:
        workers = {name: open_ones.enter_context(worker(way, catalog, place)) for name, place in checkouts.items()}
        for name, texts in texts_of(way, catalog, count).items():
            for asked in texts[:WARM_UP]:
                for process in workers.values():
                    milliseconds(process, asked)
            took = {whose: np.empty(len(texts)) for whose in workers}
            for place, asked in enumerate(texts):
                in_turns = [*workers.items()][:: 1 if place % 2 else -1]  # who comes second finds a warmer processor
                for whose, process in in_turns:
                    took[whose][place] = milliseconds(process, asked)
            for whose, times in took.items():
                yield from percentiles(f"{way}_p{{}}_ms{whose}".replace(" ", "_"), name, times)
            if against:
                yield from row(f"{way}_ratio", name, len(texts), ratio(*took.values()))


def ratio(ours: np.ndarray, theirs: np.ndarray) -> tuple[float, float, float]:
    """Our time by theirs, with the 95 % interval of the bootstrap over texts."""
    low, high = bootstrap(len(ours), lambda weights: (weights @ ours) / (weights @ theirs))
    return rounded(float(ours.sum() / theirs.sum()), low, high)


# --- by the clock ---------------------------------------------------------------------------------------------------


def least(search: Callable[[str], object], texts: Sequence[str], rounds: int) -> list[float]:
    """Milliseconds of each search by the clock, the least of several rounds, of which each warms up the next: other
    work on the machine only ever adds."""

    def timed(text: str) -> float:
        began = time.perf_counter()
        search(text)
        return 1_000 * (time.perf_counter() - began)

    return [min(times) for times in zip(*([timed(text) for text in texts] for _ in range(rounds)), strict=True)]


_LOAD: Final = """
import pathlib, sys, time
from clinical.reading import SearchIndex
began, kept = time.perf_counter(), []
for folder in sys.argv[1:]:
    kept.append(SearchIndex.load(pathlib.Path(folder), beside=kept))
print(time.perf_counter() - began, flush=True)
sys.stdin.read()
"""


class FreshLoad(NamedTuple):
    """Seconds to load, and memory then (MB): resident, and without the mapped files that all workers share."""

    seconds: float
    resident: float
    own: float


def fresh_load(*catalogs: Path) -> FreshLoad:
    """Load these artifacts in a process of their own, on one core as a served one; the imports do not count."""
    command, one_core = [sys.executable, "-c", _LOAD, *map(str, catalogs)], {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=one_core) as process:
        assert process.stdout is not None  # noqa: S101 - a pipe was asked for
        seconds = float(process.stdout.readline())
        memory = psutil.Process(process.pid).memory_info()
        process.communicate("")
    return FreshLoad(seconds, memory.rss / 1e6, (memory.rss - memory.shared) / 1e6)
