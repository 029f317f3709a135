"""One process of a bench in turns: `python evals/load/worker.py WAY CATALOG`, with PYTHONPATH at the code to measure.

Each line of its input is a JSON object with a text or a file, each of its output the milliseconds of processor time
that reading it took, a page of it where it has pages; forks count. It stands alone, so that code of another checkout
can be measured by the bench of this one.
"""

from __future__ import annotations

import asyncio
import base64
import gc
import json
import resource
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Way = Callable[[Mapping[str, Any]], object]


def way_of(name: str, catalog: Path) -> Way:
    """The work that is measured, with everything loaded that it needs."""
    if name == "grounding":
        from clinical.contract import Arztbrief
        from clinical.letters import ground

        return lambda asked: ground(asked["answer"], asked["text"], Arztbrief)
    if name == "letter":
        from clinical.letters import read_letter

        return lambda asked: read_letter(asked["text"], "arztbrief")
    if name == "file":
        from clinical.letters import ForkingFileReader, words_of

        reader = ForkingFileReader()
        return lambda asked: words_of(asyncio.run(reader.text(base64.b64decode(asked["file"]))))
    from clinical.reading import SearchIndex

    index = SearchIndex.load(catalog)
    if name == "search":
        return lambda asked: index.search(asked["text"], 10)
    from clinical.coding import research
    from clinical.contract import ResearchRequest

    async def note(text: str) -> object:
        return [event async for event in research(ResearchRequest(query=text, details=True), index)]

    return lambda asked: asyncio.run(note(asked["text"]))


def _spent() -> float:
    """Seconds of processor time of this process and of the forks that have ended."""
    forks = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + forks.ru_utime + forks.ru_stime


def main() -> None:
    """Answer every line."""
    way = way_of(sys.argv[1], Path(sys.argv[2]))
    try:
        from clinical.loaded import keep_loaded

        keep_loaded()  # as the servers do: what was loaded before is not gone through again
    except ImportError:  # code of before has it not, but did this
        gc.collect()
        gc.freeze()
    for line in sys.stdin:
        asked = json.loads(line)
        began = _spent()
        way(asked)
        print(1_000 * (_spent() - began) / asked.get("pages", 1), flush=True)


if __name__ == "__main__":
    main()
