"""Published forms of executed notebooks: HTML without scripts, pictures, and the page of questions and answers.

A notebook's sizes are the numbers that its parameter cell declares, such as QUERIES or TRIES; the comment behind one
says which size the figures of the documentation have ("2000 for the figures of the documentation").
The page shows records (`docs/notebooks.json`): of each notebook its answer, on what it was measured, when, with which
sizes, and the checksums of its pictures. A test renders the page from them again.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from catalog_build.files import write_json, write_text
from clinical.errors import SettingError

_DOCUMENTED: Final = re.compile(r"(\d+) (?:\([^)]*\) )?for the figures of the documentation")


class NotebookSize(NamedTuple):
    """`small`: the default; `documented`: of the documentation's figures, the default where the notebook names none."""

    small: int
    documented: int


@dataclass(frozen=True)
class Sizes:
    """Sizes given by name; `full`: the documentation's where none is given."""

    given: Mapping[str, int] = field(default_factory=dict)
    full: bool = False

    def for_notebook(self, notebook: Path, parameters: Mapping[str, str]) -> dict[str, Any]:
        """The parameters that this notebook declares, its sizes among them."""
        sizes = declared_sizes(notebook)
        named = {name: value for name, value in parameters.items() if name in declared(notebook)}
        asked = {name: size.documented for name, size in sizes.items()} if self.full else {}
        return named | asked | {name: value for name, value in self.given.items() if name in sizes}


@lru_cache(maxsize=64)
def declared(notebook: Path) -> dict[str, tuple[str, str]]:
    """Every parameter of a notebook: its default as written, and the comment behind it."""
    import papermill

    found = papermill.inspect_notebook(str(notebook))
    return {name: (str(one["default"]), str(one["help"])) for name, one in found.items()}


def declared_sizes(notebook: Path) -> dict[str, NotebookSize]:
    """The parameters that are numbers."""
    sizes = {}
    for name, (default, comment) in declared(notebook).items():
        if default.isdigit():
            documented = _DOCUMENTED.search(comment)
            sizes[name] = NotebookSize(int(default), int(documented[1]) if documented else int(default))
    return sizes


def sizes_of(words: Iterable[str], full: bool, notebooks: Path) -> Sizes:
    """From `NAME=N`. Raises SettingError for a size that no notebook declares, or that is no number."""
    known = sorted({name for path in notebooks.glob("[0-9]*.ipynb") for name in declared_sizes(path)})
    given = {}
    for word in words:
        name, _, value = word.partition("=")
        if name not in known or not value.isdigit() or not int(value):
            raise SettingError(f"--size {word}", f"NAME=N with a name of {', '.join(known)}", "name another")
        given[name] = int(value)
    return Sizes(given, full)


NOTEBOOKS: Final = Path(__file__).resolve().parents[2] / "notebooks"
PICTURE: Final = "picture:"
"""A cell with the tag `picture:NAME` draws the picture NAME.png of the documentation."""
ANSWER: Final = "answer"
"""The tag of the last cell, which displays the answer as Markdown, computed from the data."""
COLOURS: Final = 96
"""Colours kept of a picture: plots stay as they look at a third of the size."""
RECORDS: Final = "notebooks.json"
_HEAD: Final = (
    "# The notebooks\n\n"
    "What each asks and what it found. `make pictures` writes this page and `notebooks.json`, on which it rests, from "
    "the last run of `make notebooks`; a smaller run does not replace a larger one unless `SMALLER=1` says so. Below "
    "each answer stand the command that gives it, what it was measured on, and when. `make notebooks CATALOG=DIR "
    "DATA=mine.tsv` asks your own queries instead, `QUERIES=300` and the other sizes say how many, `FULL=1` takes the "
    "sizes of this page.\n"
)
_QUESTION: Final = re.compile(r"\A# (?P<title>.+?)\n+\*\*(?P<question>.+?\?)\*\*", re.DOTALL)


class Record(NamedTuple):
    """An executed notebook, as the page shows it. `on`: what it was measured on (`run.about_of`); `sizes`: by name;
    `pictures`: name to SHA-256 of the file."""

    name: str
    title: str
    question: str
    answer: str
    date: str
    on: dict[str, Any]
    sizes: dict[str, int]
    pictures: dict[str, str]

    @property
    def command(self) -> str:
        """The command that reproduces these figures; places are named as the documentation names them."""
        words = ["make notebooks CATALOG=var/catalog"]
        words += ["SOURCE=SOURCE"] * bool(self.on.get("source"))
        words += ["HOLDOUT=var/fold0"] * bool(self.on.get("holdout"))
        words += [f'EARLIER="{" ".join(map(str, self.on["earlier"]))}"'] * bool(self.on.get("earlier"))
        words += [f"DATA={self.on['data']['name']}"] if self.on.get("data") else []
        words += [f"ONLY={self.name[:2]}", *(f"{name}={value}" for name, value in self.sizes.items())]
        return " ".join(words)

    @property
    def card(self) -> str:
        """The data, in a line."""
        on, data = self.on, self.on.get("data")
        said = [f"{on['catalog']} ({on['codes']:,} codes, artifact {on['artifact']})"]
        said += [f"a fold held out by artifact {on['holdout']}"] * bool(on.get("holdout"))
        said += [f"own data {data['name']} (SHA-256 {data['sha256'][:12]})"] if data else []
        return ", ".join(said)


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


def write_page(notebooks: Sequence[Path], reports: Path, docs: Path, smaller: bool = False) -> str:
    """Write `docs/notebooks.md`, its records and `docs/pictures/` from what `run` left in `reports`; says what was
    written. A notebook that was not run keeps what the page says of it.

    Raises SettingError where none was run, or, unless `smaller`, where a run is smaller than the one on the page.
    """
    shown = [_read(notebook, reports) for notebook in notebooks if (reports / notebook.name).is_file()]
    if not shown:
        remedy = "run them first: make notebooks CATALOG=DIR SOURCE=DIR"
        raise SettingError(f"there is no executed notebook in {reports}", "at least one", remedy)
    records = {record.name: record for record in read_records(docs)}
    if not smaller:
        for each in shown:
            _check_size(records.get(each.name), each)
    (docs / "pictures").mkdir(parents=True, exist_ok=True)
    pictures = [name for each in shown for name in each.pictures]
    for name in pictures:
        (docs / "pictures" / f"{name}.png").write_bytes((reports / "pictures" / f"{name}.png").read_bytes())
    there = {path.name for path in NOTEBOOKS.glob("*.ipynb")}
    kept = [record for record in (records | {each.name: each for each in shown}).values() if record.name in there]
    write_json(docs / RECORDS, [record._asdict() for record in sorted(kept)])
    write_text(docs / "notebooks.md", page(sorted(kept)))
    return f"{len(shown)} notebooks and {len(pictures)} pictures in {docs}"


def read_records(docs: Path) -> list[Record]:
    """The records of the page; empty where there are none."""
    path = docs / RECORDS
    return [Record(**tree) for tree in json.loads(path.read_text("utf-8"))] if path.is_file() else []


def page(records: Sequence[Record]) -> str:
    """The page of these records, in their order."""
    return "\n".join([_HEAD, *map(_section, records)])


def _check_size(before: Record | None, now: Record) -> None:
    """Raises SettingError where the page would lose: fewer queries, a smaller catalog, no held-out fold any more."""
    if before is None:
        return
    sizes = {"codes of the catalog": before.on["codes"]} | before.sizes
    own = {"codes of the catalog": now.on["codes"]} | now.sizes
    less = [f"{name} {own[name]} (page: {size})" for name, size in sizes.items() if own.get(name, size) < size]
    less += ["no fold held out"] * bool(before.on.get("holdout") and not now.on.get("holdout"))
    if less:
        remedy = f"run it as the page was made: {before.command}; or replace it all the same: --smaller (SMALLER=1)"
        raise SettingError(f"{now.name} was run smaller than the page: {', '.join(less)}", "no less", remedy)


def _read(notebook: Path, reports: Path) -> Record:
    import nbformat

    executed = reports / notebook.name
    tree: Any = nbformat.read(executed, as_version=4)  # type: ignore[no-untyped-call]
    said = _QUESTION.match(tree.cells[0].source)
    answers = [cell for cell in tree.cells if ANSWER in cell.metadata.get("tags", [])]
    run = tree.metadata.get("befund", {})
    if said is None or not answers or not answers[-1].outputs or not run.get("on"):
        expected = "a title and a question in bold at the top, an answer displayed at the end, on what it was run"
        raise SettingError(f"{executed.name} lacks its question or its answer", expected, "run it again")
    answer = "".join(answers[-1].outputs[0].data["text/markdown"]).strip()
    given = tree.metadata.papermill.parameters
    sizes = {name: int(given.get(name, size.small)) for name, size in declared_sizes(notebook).items()}
    names = [name for cell in tree.cells for name in _pictures(cell)]
    digests = {name: hashlib.sha256((reports / "pictures" / f"{name}.png").read_bytes()).hexdigest() for name in names}
    question = " ".join(said["question"].split())
    return Record(notebook.name, said["title"], question, answer, run["date"], dict(run["on"]), sizes, digests)


def _section(record: Record) -> str:
    lines = [
        f"## {record.title}\n",
        f"[`notebooks/{record.name}`](../notebooks/{record.name}). **{record.question}**\n",
        record.answer + "\n",
        f"`{record.command}`, {record.date}: {record.card}.\n",
        *(f"![{name.replace('-', ' ')}](pictures/{name}.png)\n" for name in record.pictures),
    ]
    return "\n".join(lines)
