"""The model that MLflow serves: tier 1 of an artifact, texts in, codes out. It needs a copy of `clinical` beside it.

In: a table with the column `text`, or a list of texts. Out, for each: a list of {code, title, confidence, probability,
wording, start, end, claim}, best first.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import mlflow.models
import mlflow.pyfunc

LIMIT = 10


class TextCoder(mlflow.pyfunc.PythonModel):  # type: ignore[misc, name-defined]
    """`artifacts["catalog"]` is the folder of the artifact."""

    def load_context(self, context: Any) -> None:
        """Load the index once, after comparing its checksums."""
        from clinical.reading import SearchIndex

        self._index = SearchIndex.load(Path(context.artifacts["catalog"]))

    def predict(self, context, model_input, params=None):  # type: ignore[no-untyped-def]
        """One list of codes for each text, `limit` of them at most. Without type hints: MLflow takes those for a schema
        and refuses a table where they say a list."""
        texts: Iterable[Any] = model_input["text"] if hasattr(model_input, "columns") else model_input
        asked = ["" if text is None else str(text) for text in texts]
        catalog, limit = self._index.catalog, int((params or {}).get("limit", LIMIT))
        return [
            [
                {
                    "code": one.code,
                    "title": catalog.codes[catalog.number(one.code)].title,
                    "confidence": one.confidence,
                    "probability": round(float(one.probability), 4),
                    "wording": one.text,
                    "start": one.start,
                    "end": one.end,
                    "claim": one.claim,
                }
                for one in hits
            ]
            for hits in self._index.search_many(asked, limit)
        ]


mlflow.models.set_model(TextCoder())
