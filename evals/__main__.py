"""python -m evals NAME ...: measure; each name is a module of this package with a `main(arguments)`.

coding     how often the right ICD-10-GM code is found, and what high and medium are worth
batch      ICD-10-GM codes for every text of a Parquet or CSV file (codes, does not measure)
extraction lies that pass grounding, truths it removes, foreign letters, the rehearsal baseline, time
streams    tiers 2 and 3: lies that come through, our own time, streams at once, work left
heldout    the synonyms of one fold as queries
speed      latency, throughput, load time and memory of search and of the served API
fhir-speed requests a second, latency and memory of document retrieval
notebooks  run the notebooks: executed copies, HTML, pictures, the page of the documentation
sign-in    vendor sign-ins under load: nobody mixed up, and how many a second
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

MEASURES = ("coding", "batch", "extraction", "heldout", "notebooks", "speed", "streams", "sign-in", "fhir-speed")


def main(arguments: Sequence[str]) -> int:
    """Run one measure; prints what there is when the name is missing or unknown."""
    if not arguments or arguments[0] not in MEASURES:
        print(__doc__, file=sys.stderr)
        return 2
    return int(importlib.import_module(f"evals.{arguments[0].replace('-', '_')}").main(arguments[1:]))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
