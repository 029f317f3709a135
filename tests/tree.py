"""The map of the folders (`docs/map.md`): one comment per folder, kept true by a test.

    python -m tests.tree     bring every line up to date, add new folders, drop those that are gone

A package is commented by the first sentence of its docstring. Any other folder keeps the comment that the map has; a
new one gets a question mark, which the test refuses.
"""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MAP = ROOT / "docs" / "map.md"
START, END = "<!-- tree -->\n```text\n", "```\n<!-- /tree -->"
WHOLE = ("tests/", "webapp/migrations/", "webapp/static/", "webapp/templates/", "webapp/translations/")
"""Folders that have one line for all that is in them."""

MISSING = "?"
_WIDTH, _COMMENT_MAX = 32, 118
_LINE = re.compile(r"( *)(\S+)(?: {2,}(.+))?")


def folders() -> list[str]:
    """Folders that hold files under version control, or new ones that git does not ignore, as the tree shows them."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    above = {parent for name in listed if (ROOT / name).is_file() for parent in Path(name).parents}
    shown = {_shown(f"{folder}/") for folder in above if folder != Path()}
    return sorted(shown, key=lambda name: name.rstrip("/").split("/"))


def _shown(folder: str) -> str:
    return next((whole for whole in WHOLE if folder.startswith(whole)), folder)


def read(text: str) -> dict[str, str]:
    """Path to comment, as the map has them."""
    block = text.partition(START)[2].partition(END)[0]
    found: dict[str, str] = {}
    above: list[str] = []
    for line in block.splitlines():
        indent, name, comment = _LINE.fullmatch(line).groups()
        above[len(indent) // 2 :] = [name]
        found["".join(above)] = comment or ""
    return found


def write(comments: dict[str, str]) -> str:
    """The tree as it stands between the marks, folders before what is in them."""
    lines = []
    for path in folders():
        depth = path.rstrip("/").count("/")
        name = "  " * depth + path.rstrip("/").rpartition("/")[2] + "/"
        lines.append(f"{name:<{_WIDTH}}  {_commented(path, comments.get(path) or MISSING)}")
    return "\n".join(lines) + "\n"


def _commented(path: str, before: str) -> str:
    """The package's own words on itself, else those of the map before."""
    said = _comment(path)
    return before if said == MISSING else said


def _comment(path: str) -> str:
    """The first sentence of a package's docstring."""
    source = ROOT / path / "__init__.py"
    if not source.is_file():
        return MISSING
    said = ast.get_docstring(ast.parse(source.read_text("utf-8"))) or MISSING
    sentence = re.split(r"(?<![(\"\s.]\w)(?<=[^.]{3})\.(?:\s|$)|\n\n", said.replace("\n    ", "\n\n", 1), maxsplit=1)[0]
    sentence = " ".join(sentence.split()).rstrip(".:")
    if len(sentence) <= _COMMENT_MAX:
        return sentence
    return re.split(r"[,:;] [^,:;]*$| \([^()]*$", sentence[:_COMMENT_MAX])[0].rstrip(",:;")


def main() -> None:
    """Bring the map up to date."""
    text = MAP.read_text("utf-8")
    before, _, rest = text.partition(START)
    after = rest.partition(END)[2]
    MAP.write_text(before + START + write(read(text)) + END + after, "utf-8")


if __name__ == "__main__":
    main()
