"""A benchmark of German clinical text: ICD-10-GM codes, conditions and claims in notes, fields of letters, and lies."""

from .coders import agreement
from .data import DATA, BenchmarkError, card, texts
from .scoring import score
from .submission import faults_of, read_submission
from .tasks import SPLITS, TASKS

__all__ = [
    "DATA",
    "SPLITS",
    "TASKS",
    "BenchmarkError",
    "agreement",
    "card",
    "faults_of",
    "read_submission",
    "score",
    "texts",
]
