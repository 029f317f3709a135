"""One process of a bench in turns: `python evals/load/worker.py WAY CATALOG`, with PYTHONPATH at the code to measure.

Each line of its input is a JSON object with a text, each of its output the milliseconds of processor time that reading
it took. It stands alone, so that code of another checkout can be measured by the bench of this one.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
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
    from clinical.reading import SearchIndex

    index = SearchIndex.load(catalog)
    if name == "search":
        return lambda asked: index.search(asked["text"], 10)
    from clinical.coding import research
    from clinical.contract import ResearchRequest

    async def note(text: str) -> object:
        return [event async for event in research(ResearchRequest(query=text, details=True), index)]

    return lambda asked: asyncio.run(note(asked["text"]))


def main() -> None:
    """Answer every line."""
    way = way_of(sys.argv[1], Path(sys.argv[2]))
    gc.collect()
    gc.freeze()  # as the servers do: what was loaded before is not gone through again
    with contextlib.suppress(ImportError):  # which code of before has not
        from clinical.loaded import keep_loaded

        keep_loaded()
    for line in sys.stdin:
        asked = json.loads(line)
        began = time.process_time()
        way(asked)
        print(1_000 * (time.process_time() - began), flush=True)


if __name__ == "__main__":
    main()
