"""python -m evals NAME ...: measure; each name is a module with a `main(arguments)`.

coding         how often the right ICD-10-GM code is found, and what high and medium are worth
suggest        is a right code among the first that are suggested for the first characters?
compare        two results of `coding`: what changed, tested in pairs, and which queries flipped
register       an artifact as a model in MLflow, to be loaded and served
report         the results of a folder as one HTML page with plots
load           time and memory: in process, in turns with other code, and of the real servers under load
gate           has quality dropped below the results that are kept? (make evals)
benchmark      Befund beside the baselines on the public benchmark befund-bench; submissions checked and scored
reading        what is shown of the diagnoses that texts state, and of what they deny or say of others
claims         what is claimed of marked mentions, by author: right, there read as not there, and the other way round
letters        letters read field by field, generated or annotated; negatives and positives behind grounding; review
model          a language model behind a server: tiers, letters, lies, drafts, speed and cost, in one report
heldout        the synonyms of one fold as queries
card           the card of a data set: show, check or write it
notebooks      run the notebooks: executed copies, HTML, pictures, the page of the documentation
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

from evals.command import INTERRUPTED

MEASURES = {
    "coding": "evals.coding.measure",
    "suggest": "evals.coding.suggest",
    "compare": "evals.report.compare",
    "report": "evals.report.page",
    "register": "evals.report.register",
    "load": "evals.load.measure",
    "gate": "evals.gate",
    "benchmark": "evals.benchmark.measure",
    "reading": "evals.reading.measure",
    "claims": "evals.reading.claims",
    "letters": "evals.letters.measure",
    "model": "evals.model.measure",
    "heldout": "evals.coding.heldout",
    "card": "evals.data.cards",
    "notebooks": "evals.lab.run",
}
"""The module of each measure."""
ONE_THREAD = ("coding", "suggest", "gate", "reading", "claims", "benchmark", "model")
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
    if arguments[0] in ONE_THREAD:
        os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy is imported
    try:
        return int(importlib.import_module(MEASURES[arguments[0]]).main(arguments[1:]))
    except KeyboardInterrupt:  # while the modules are still loading
        print(INTERRUPTED, file=sys.stderr)
        return 130


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
