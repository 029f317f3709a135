"""The benchmark as a `datasets.Dataset`, without a network: answers are a column of JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from .data import DATA, texts
from .tasks import SPLITS

if TYPE_CHECKING:
    from datasets import DatasetDict


def dataset(task: str, folder: Path = DATA) -> DatasetDict:
    """The splits of a task, a row for each text; `answer` as JSON, since its form is the task's."""
    from datasets import Dataset, DatasetDict

    splits = {split: texts(task, split, folder) for split in SPLITS}
    return DatasetDict(
        {
            split: Dataset.from_list([row | {"answer": json.dumps(row["answer"])} for row in rows])
            for split, rows in splits.items()
        }
    )
