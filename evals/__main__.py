"""python -m evals NAME ...: measure; each name is a module with a `main(arguments)`.

coding         how often the right ICD-10-GM code is found, and what high and medium are worth
batch          the old name of `python -m batch`: ICD-10-GM codes for every text of a file
batch-speed    texts a second and memory of batch coding
compare        two results of `coding`: what changed, tested in pairs, and which queries flipped
register       an artifact as a model in MLflow, to be loaded and served
report         the results of a folder as one HTML page with plots
gate           has quality dropped below the results that are kept? (make evals)
benchmark      our own public texts, with the baselines BM25, TF-IDF and plain vectors
reading        mentions and claims found in texts, what is shown of stated diagnoses, lists and sentence frames
extraction     lies that pass grounding, truths it removes, foreign letters, the rehearsal baseline, time
grounding      a leaderboard of judges: what passes and what is lost, also of a program of your own
letters        annotated letters read field by field: what is right, wrong and missing
whole-letters  whole invented letters of 80 layouts, filled in again and again: what is misread, by field and layout
invented-words one plain word that no letter says inside a true value: how often grounding keeps it
streams        tiers 2 and 3: lies that come through, our own time, streams at once, work left
heldout        the synonyms of one fold as queries
feedback       reviewed codings as an evaluation set and as candidate synonyms, shown for approval
card           the card of a data set: show, check or write it
bench          side by side: search against plain libraries, the text API against bare FastAPI, our client against none
idle           what `make up` takes: seconds until it greets, memory at rest
speed          latency, throughput, load time and memory of search and of the served API
soak           both servers under mixed load while parts of them fail: answers, counters, documents, memory
nearest        flat, HNSW and IVF over an artifact's vectors: build, search, recall
fhir-speed     requests a second, latency and memory of document retrieval
notebooks      run the notebooks: executed copies, HTML, pictures, the page of the documentation
sign-in        vendor sign-ins under load: nobody mixed up, and how many a second
slow-texts     texts made to be slow, against ordinary ones of the same length
trickle        connections that trickle: how many an ordinary visitor does not notice, behind the shipped nginx
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

from evals.command import INTERRUPTED

MEASURES = {
    "coding": "evals.coding.measure",
    "batch": "batch.__main__",
    "batch-speed": "evals.speed.batch",
    "compare": "evals.reports.compare",
    "report": "evals.reports.report",
    "register": "evals.reports.register",
    "gate": "evals.gate",
    "benchmark": "evals.benchmark.measure",
    "reading": "evals.reading.measure",
    "extraction": "evals.extraction.measure",
    "letters": "evals.extraction.annotated",
    "whole-letters": "evals.extraction.whole.command",
    "invented-words": "evals.extraction.whole.invented_words",
    "grounding": "evals.extraction.judges.leaderboard",
    "heldout": "evals.coding.heldout",
    "feedback": "evals.feedback.commands",
    "card": "evals.coding.card",
    "notebooks": "evals.notebooks.run",
    "bench": "evals.bench.measure",
    "idle": "evals.speed.idle",
    "speed": "evals.speed.search",
    "streams": "evals.speed.streams",
    "sign-in": "evals.speed.sign_in",
    "slow-texts": "evals.speed.slow_texts",
    "trickle": "evals.speed.trickle",
    "nearest": "evals.speed.nearest",
    "fhir-speed": "evals.speed.fhir.measure",
    "soak": "evals.soak.measure",
}
"""The module of each measure."""
MOVED = {"batch": "python -m batch"}
"""Names kept for those who know them, and what to say now."""
ONE_THREAD = ("coding", "gate", "reading", "benchmark")
"""As a served worker: matrices of one query are too small to share, and threads that wait for each other took 2.4 times
the processor's time on a busy machine."""


def main(arguments: Sequence[str]) -> int:
    """Run one measure; prints what there is when that is asked for, or the name is missing or unknown."""
    if arguments and arguments[0] == "--help":
        print(__doc__)
        return 0
    if not arguments or arguments[0] not in MEASURES:
        print(__doc__, file=sys.stderr)
        if arguments:
            print(f"evals: there is no {arguments[0]!r}; the names are above", file=sys.stderr)
        return 2
    if arguments[0] in MOVED:
        print(f"evals: `python -m evals {arguments[0]}` is now `{MOVED[arguments[0]]}`", file=sys.stderr)
    if arguments[0] in ONE_THREAD:
        os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy is imported
    try:
        return int(importlib.import_module(MEASURES[arguments[0]]).main(arguments[1:]))
    except KeyboardInterrupt:  # while the modules are still loading
        print(INTERRUPTED, file=sys.stderr)
        return 130


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
