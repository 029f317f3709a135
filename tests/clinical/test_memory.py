"""Nothing that outlives a request holds its words."""

import functools
import gc

from clinical.claims import Reading
from clinical.contract import Zuweisung
from clinical.letters import ground
from clinical.reading.index import SearchIndex

TEXT = "Frau Quendolina Zwirnwald, geb. 03.04.1951\nDiagnosen:\n- Xanthoplexie rechts\n- kein Murgelfieber\nZ. n. Vlorp"
ANSWER = {
    "patient": {"nachname": "Zwirnwald", "vorname": "Quendolina", "geburtsdatum": "1951-04-03"},
    "diagnosen": ["Xanthoplexie rechts", "Murgelfieber", "Z. n. Vlorp 2011"],
}


def sizes_of_caches() -> dict[str, int]:
    """Entries of every process-wide cache of functions of ours."""
    caches = (one for one in gc.get_objects() if isinstance(one, functools._lru_cache_wrapper))
    return {
        f"{one.__module__}.{one.__qualname__}": one.cache_info().currsize
        for one in caches
        if one.__module__.startswith("clinical")
    }


def use(index: SearchIndex, mark: str) -> None:
    text = TEXT.replace("Murgel", mark).replace("Vlorp", f"Vlorp{mark}")
    reading = Reading.of(text)
    reading.claim(60, 70)
    ground(ANSWER | {"diagnosen": [f"Vlorp{mark}", f"Anders{mark}leiden"]}, text, Zuweisung)
    index.search(text, 5)


def test_no_process_wide_cache_grows_with_the_words_of_a_text(index: SearchIndex):
    use(index, "Erstens")
    before = sizes_of_caches()
    use(index, "Zweitens")
    assert sizes_of_caches() == before
