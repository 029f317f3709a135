"""What is shown of executed notebooks: HTML without scripts, pictures, and the page of questions and answers."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from clinical.errors import SettingError

PICTURE: Final = "picture:"
"""A cell with the tag `picture:NAME` draws the picture NAME.png of the documentation."""
ANSWER: Final = "answer"
"""The tag of the last cell, which displays the answer as Markdown, computed from the data."""
COLOURS: Final = 96
"""Colours kept of a picture: plots stay as they look at a third of the size."""
_HEAD: Final = """# The notebooks

What each asks and what it found; `make pictures` writes this page from the last run of `make notebooks`.
"""
_QUESTION: Final = re.compile(r"\A# (?P<title>.+?)\n+\*\*(?P<question>.+?\?)\*\*", re.DOTALL)


class Shown(NamedTuple):
    """An executed notebook, as the page shows it."""

    name: str
    title: str
    question: str
    answer: str
    pictures: list[str]


def save_html(notebook: Any, path: Path) -> None:
    """One file that needs nothing else: every script is left out, pictures and styles are inside."""
    import lxml.html
    from nbconvert import HTMLExporter

    page, _ = HTMLExporter(template_name="lab").from_notebook_node(notebook)  # type: ignore[no-untyped-call]
    tree = lxml.html.document_fromstring(page)
    for element in tree.xpath("//script | //link[@href]"):
        element.drop_tree()
    path.write_bytes(lxml.html.tostring(tree, encoding="utf-8", doctype="<!DOCTYPE html>"))


def save_pictures(notebook: Any, folder: Path) -> None:
    """Every picture that a cell is tagged with, as a small PNG."""
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    for cell in (cell for cell in notebook.cells if _pictures(cell)):
        pngs = [output.data["image/png"] for output in cell.get("outputs", ()) if "image/png" in output.get("data", {})]
        for name, png in zip(_pictures(cell), pngs, strict=True):
            drawn = Image.open(io.BytesIO(base64.b64decode(png))).convert("RGB")
            drawn.quantize(COLOURS, dither=Image.Dither.NONE).save(folder / f"{name}.png", optimize=True)


def _pictures(cell: Any) -> list[str]:
    tags = cell.metadata.get("tags", [])
    return [tag.removeprefix(PICTURE) for tag in tags if tag.startswith(PICTURE)]


def write_page(notebooks: Sequence[Path], reports: Path, docs: Path) -> str:
    """Write `docs/notebooks.md` and `docs/pictures/` from what `run` left in `reports`; says what was written.

    A notebook that was not run keeps what the page says of it. Raises SettingError where none was run.
    """
    shown = [_read(notebook, reports) for notebook in notebooks if (reports / notebook.name).is_file()]
    if not shown:
        remedy = "run them first: make notebooks CATALOG=DIR SOURCE=DIR"
        raise SettingError(f"there is no executed notebook in {reports}", "at least one", remedy)
    (docs / "pictures").mkdir(parents=True, exist_ok=True)
    pictures = [name for each in shown for name in each.pictures]
    for name in pictures:
        (docs / "pictures" / f"{name}.png").write_bytes((reports / "pictures" / f"{name}.png").read_bytes())
    page = docs / "notebooks.md"
    sections = _sections(page) | {each.name: _section(each) for each in shown}
    page.write_text("\n".join([_HEAD, *(sections[name] for name in sorted(sections))]), "utf-8")
    return f"{len(shown)} notebooks and {len(pictures)} pictures in {docs}"


def _sections(page: Path) -> dict[str, str]:
    """What the page says of each notebook that is still there, by its file name."""
    if not page.is_file():
        return {}
    found = {}
    for part in page.read_text("utf-8").split("\n## ")[1:]:
        name = re.search(r"notebooks/(\S+?\.ipynb)", part)
        if name and (page.parent.parent / "notebooks" / name[1]).is_file():
            found[name[1]] = f"## {part.rstrip()}\n"
    return found


def _read(notebook: Path, reports: Path) -> Shown:
    import nbformat

    executed = reports / notebook.name
    tree: Any = nbformat.read(executed, as_version=4)  # type: ignore[no-untyped-call]
    said = _QUESTION.match(tree.cells[0].source)
    answers = [cell for cell in tree.cells if ANSWER in cell.metadata.get("tags", [])]
    if said is None or not answers or not answers[-1].outputs:
        expected = "a title and a question in bold at the top, an answer displayed at the end"
        raise SettingError(f"{executed.name} lacks its question or its answer", expected, "run it again")
    answer = "".join(answers[-1].outputs[0].data["text/markdown"])
    return Shown(notebook.name, said["title"], said["question"], answer, [p for c in tree.cells for p in _pictures(c)])


def _section(shown: Shown) -> str:
    lines = [
        f"## {shown.title}\n",
        f"[`notebooks/{shown.name}`](../notebooks/{shown.name}). **{' '.join(shown.question.split())}**\n",
        shown.answer.strip() + "\n",
        *(f"![{name.replace('-', ' ')}](pictures/{name}.png)\n" for name in shown.pictures),
    ]
    return "\n".join(lines)
