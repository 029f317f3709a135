"""The tables of cases beside the tests of grounding: TSV with comments, \\n and \\t in their cells."""

from pathlib import Path


def rows(name: str) -> list[list[str]]:
    """The rows of a table, by their cells."""
    lines = Path(__file__).with_name(name).read_text("utf-8").splitlines()
    return [
        [cell.replace("\\n", "\n").replace("\\t", "\t") for cell in line.split("\t")]
        for line in lines
        if line and line[0] != "#"
    ]
