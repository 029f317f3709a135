"""Contents of the documentation: its pages, their links, code blocks and commands, for the tests that hold it to it."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGES = (ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md")))

_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} +(.+?)\s*$", re.MULTILINE)
_COMMAND = re.compile(r"(?:\w+=\S* +)*(?:\S*/)?(?:python -m|flask --app|bentoml|make|pip) .+")


@dataclass(frozen=True)
class Block:
    """A fenced code block: its language (empty where none is named) and what stands in it."""

    language: str
    text: str


def blocks(page: Path) -> list[Block]:
    """The fenced code blocks of a page, in their order."""
    return [Block(language, text) for language, text in _FENCE.findall(page.read_text("utf-8"))]


def prose(page: Path) -> str:
    """A page without its fenced code blocks."""
    return _FENCE.sub("", page.read_text("utf-8"))


def spans(page: Path) -> list[str]:
    """The pieces of code inside a page's sentences and tables."""
    return _SPAN.findall(prose(page))


def links(page: Path) -> list[str]:
    """The targets of a page's links and pictures."""
    return _LINK.findall(_SPAN.sub("", prose(page)))


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to a page's headings: small, without punctuation, hyphens for spaces."""
    titles = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title) for title in _HEADING.findall(prose(page)))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def commands(page: Path) -> list[list[str]]:
    """The commands of our own that a page shows, in words: `python -m`, `flask --app`, `make`, `bentoml`, `pip`."""
    shown = spans(page)
    for block in blocks(page):
        if block.language == "sh":
            shown += block.text.replace("\\\n", " ").splitlines()
    return [words for line in shown for command in _parts(line) if (words := _words(command))]


def _parts(line: str) -> list[str]:
    """The commands of a line of a shell, without comments and what is around them."""
    line = re.sub(r"(^|\s)#.*", "", line)
    inside = re.findall(r"\$\(([^()]+)\)", line)
    outside = re.split(r"&&|;|\|", re.sub(r"\$\([^()]+\)", "X", line))
    return [part.strip() for part in (*inside, *outside)]


def _words(command: str) -> list[str]:
    """The words of a command of ours, from the program on; none for any other text."""
    if not _COMMAND.fullmatch(command):
        return []
    words = shlex.split(command)
    while "=" in words[0]:
        words = words[1:]
    return [Path(words[0]).name, *words[1:]]


@dataclass(frozen=True)
class Step:
    """Commands of a page, and the lines that it says one then sees; `...` in them stands for anything."""

    heading: str
    commands: str
    seen: tuple[str, ...]

    def unseen(self, printed: str) -> str:
        """The first line that is not there, behind the ones before it; empty when all are."""
        at = 0
        for line in self.seen:
            pattern = ".*?".join(re.escape(part) for part in line.strip().split("..."))
            found = re.compile(pattern).search(printed, at)
            if found is None:
                return line
            at = found.end()
        return ""


def steps(page: Path) -> list[Step]:
    """The commands of a page that is gone through from above, each with the `text` block that follows it."""
    found: list[Step] = []
    for section in re.split(r"(?m)^(?=## )", page.read_text("utf-8"))[1:]:
        heading = section.partition("\n")[0].removeprefix("## ")
        pairs = _FENCE.findall(section)
        for (language, commands), (after, seen) in zip(pairs[::2], pairs[1::2], strict=True):
            if (language, after) != ("sh", "text"):
                raise ValueError(f"{heading}: {language} and {after}, where commands and what one sees should stand")
            found.append(Step(heading, commands, tuple(seen.splitlines())))
    return found


def example(page: Path, path: str) -> tuple[str, Block]:
    """The body that a page's curl sends to `path` (empty for GET), and the answer shown after it."""
    found = blocks(page)
    at = next(n for n, block in enumerate(found) if block.language == "sh" and path in block.text)
    body = re.search(r"-d '(.*?)'$", found[at].text, re.DOTALL | re.MULTILINE)
    return (body[1] if body else ""), found[at + 1]


def events(block: Block) -> list[Any]:
    """The events of a shown stream."""
    return [json.loads(line.removeprefix("data: ")) for line in block.text.splitlines()]


def shortened(shown: Any, real: Any) -> bool:
    """Return True when the shown answer is the real one with fields and entries left out, and nothing else."""
    if isinstance(shown, dict):
        return isinstance(real, dict) and all(
            key in real and shortened(value, real[key]) for key, value in shown.items()
        )
    if isinstance(shown, list):
        left = iter(real) if isinstance(real, list) else iter(())
        return all(any(shortened(value, other) for other in left) for value in shown)
    return bool(shown == real)
