"""Generated texts and what is found in them: exact and overlapping mentions, and their claims, by kind and by claim."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from catalog_build.training.texts import Text, TextWriter
from clinical.search import SearchIndex


def generated(index: SearchIndex, texts: int, seed: int) -> list[Text]:
    """Texts of the index's own wordings; the grammar is that of training, the seed is not."""
    names = index.wordings.tables.code
    codes = index.catalog.codes
    wordings = [(index.wordings.text(number), codes[names[number]].code) for number in range(len(names))]
    writer = TextWriter(wordings, seed)
    return [writer.write() for _ in range(texts)]


def found_in(index: SearchIndex, texts: Sequence[Text]) -> dict[str, Counter[str]]:
    """Counts by kind of text and by claim: said, exact, touched, found, claims_right, claims."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for text in texts:
        mentions = index.read(text.text).mentions
        places = {(mention.start, mention.end): mention for mention in mentions}
        counts[text.kind]["found"] += len(mentions)
        for said in text.said:
            exact = places.get((said.start, said.end))
            near = exact or next((m for m in mentions if m.start < said.end and said.start < m.end), None)
            for name in (text.kind, f"claim {said.claim}"):
                counts[name] += Counter(said=1, exact=exact is not None, touched=near is not None)
                if near is not None:
                    counts[name] += Counter(claims=1, claims_right=near.claim == said.claim)
    return counts
