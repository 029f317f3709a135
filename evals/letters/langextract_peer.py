"""A peer for `python -m evals letters --grounding`: langextract's own grounding, which aligns a value with the text.

    pip install langextract==1.7.1     (in an environment of its own)
    python -m evals letters --grounding --peer "PYTHON evals/letters/langextract_peer.py"

A value is kept where its aligner finds a place for it, by exact words or by its fuzzy alignment. No model is asked.
"""

from __future__ import annotations

import json
import sys


def main() -> None:
    """Judge every line of the standard input."""
    from langextract.core.data import Extraction
    from langextract.resolver import WordAligner

    for line in sys.stdin:
        asked = json.loads(line)
        value = Extraction(extraction_class=asked["path"], extraction_text=asked["value"])
        groups = WordAligner().align_extractions([[value]], asked["text"])
        kept = any(one.char_interval is not None for group in groups for one in group)
        sys.stdout.write(json.dumps({"id": asked["id"], "kept": kept}) + "\n")


if __name__ == "__main__":
    main()
