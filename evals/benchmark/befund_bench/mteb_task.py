"""A retrieval task for `mteb`: the wordings of dev ask, those of train are found; right are those with a right code.

    mteb.evaluate(model, [BefundWordings()])

Queries without any right wording in train are left out. The split is dev: the answers of test are hashed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from mteb.abstasks.retrieval import AbsTaskRetrieval
from mteb.abstasks.task_metadata import TaskMetadata

from .data import DATA, card, texts

SPLIT: Final = "dev"


class BefundWordings(AbsTaskRetrieval):
    """German wordings of diagnoses, found by wordings of others with the same ICD-10-GM code."""

    folder: Path = DATA
    metadata = TaskMetadata(
        name="BefundWordings",
        description="German wordings of diagnoses from clinical notes; relevant are wordings of other authors with a "
        "right ICD-10-GM code.",
        reference=None,
        dataset={"path": "befund-bench", "revision": card()["digest"]},
        type="Retrieval",
        category="t2t",
        modalities=["text"],
        eval_splits=[SPLIT],
        eval_langs=["deu-Latn"],
        main_score="ndcg_at_10",
        date=("2026-01-01", "2026-12-31"),
        domains=["Medical", "Written"],
        task_subtypes=[],
        license="not specified",
        annotations_creators="human-annotated",
        dialect=[],
        sample_creation="created",
        bibtex_citation="",
    )

    def load_data(self, num_proc: int | None = None, **_: Any) -> None:
        """Read the package's own data; nothing is fetched."""
        if self.data_loaded:
            return
        asked, there = texts("wordings", SPLIT, self.folder), texts("wordings", "train", self.folder)
        by_code: dict[str, set[str]] = {}
        for row in there:
            for code in (code for codes in row["answer"]["right"] for code in codes):
                by_code.setdefault(code, set()).add(row["id"])
        relevant = {
            row["id"]: {name: 1 for codes in row["answer"]["right"] for code in codes for name in by_code.get(code, ())}
            for row in asked
        }
        self.corpus = {SPLIT: {row["id"]: {"title": "", "text": row["text"]} for row in there}}
        self.queries = {SPLIT: {row["id"]: row["text"] for row in asked if relevant[row["id"]]}}
        self.relevant_docs = {SPLIT: {name: right for name, right in relevant.items() if right}}
        self.data_loaded = True
