"""Runs of words that two texts share: longer ones only where one was taken from the other."""

import json
import re
from pathlib import Path


def runs(text: str, length: int, slots: bool = False) -> set[tuple[str, ...]]:
    """Every `length` words in a row of a text; with `slots` none across a slot ({name}, [x|y]) of a frame."""
    words = re.findall(r"\w+|[\[\]{}|]" if slots else r"\w+", text.casefold())
    found = {tuple(words[at : at + length]) for at in range(len(words) - length + 1)}
    return {run for run in found if not set("[]{}|") & set(run)}


def measured_with(folder: Path) -> list[str]:
    """The texts of others that are measured with: inputs, and marked mentions."""
    files = [folder / "eval-dev" / "queries.jsonl", *sorted((folder / "eval-dev" / "claims").glob("*.jsonl"))]
    return [json.loads(line)["text"] for file in files for line in file.read_text("utf-8").splitlines()]
