"""The map of the files (`docs/map.md`): one comment per file, kept true by a test.

    python -m tests.tree     bring every line up to date, add new files, drop those that are gone

A module is commented by the first sentence of its docstring, a notebook by its question. Any other file keeps the
comment that the map has; a new one gets a question mark, which the test refuses.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MAP = ROOT / "docs" / "map.md"
START, END = "<!-- tree -->\n```text\n", "```\n<!-- /tree -->"
WHOLE = (
    "catalog_build/starter/",
    "catalog_build/weights/",
    "docs/pictures/",
    "evals/data/",
    "evals/results/",
    "tests/bentos/",
    "tests/catalog_build/",
    "tests/clinical/",
    "tests/evals/",
    "tests/node/",
    "tests/system/",
    "tests/vllm/",
    "tests/webapp/",
    "webapp/migrations/",
    "webapp/static/",
    "webapp/templates/",
    "webapp/translations/",
)
"""Folders that have one line for all that is in them."""

MISSING = "?"
_WIDTH, _COMMENT_MAX = 32, 118
_LINE = re.compile(r"( *)(\S+)(?: {2,}(.+))?")


def files() -> list[str]:
    """Files under version control and new ones that git does not ignore, as the tree shows them."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    shown = {_shown(name) for name in listed if (ROOT / name).is_file()}
    folders = {f"{parent}/" for name in shown for parent in Path(name).parents if str(parent) != "."}
    return sorted(shown | folders, key=lambda name: (name.count("/") == 0, name.rstrip("/").split("/")))


def _shown(name: str) -> str:
    """A package is shown by its folder, whose comment is the package's docstring."""
    name = name.removesuffix("__init__.py")
    return next((folder for folder in WHOLE if name.startswith(folder)), name)


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
    for path in files():
        depth = path.rstrip("/").count("/")
        name = "  " * depth + path.rstrip("/").rpartition("/")[2] + ("/" if path.endswith("/") else "")
        lines.append(f"{name:<{_WIDTH}}  {_commented(path, comments.get(path) or MISSING)}")
    return "\n".join(lines) + "\n"


def _commented(path: str, before: str) -> str:
    """What the file says of itself, else what the map said of it before."""
    said = MISSING if path in WHOLE else _comment(path)
    return before if said == MISSING else said


def _comment(path: str) -> str:
    """The first sentence of a module's, or a package's, docstring; the question of a notebook."""
    source = ROOT / path / "__init__.py" if path.endswith("/") else ROOT / path
    if source.suffix == ".ipynb":
        opening = "".join(json.loads(source.read_text("utf-8"))["cells"][0]["source"])
        return opening.partition("**")[2].partition("**")[0] or MISSING
    if source.suffix != ".py" or not source.is_file():
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
