"""python -m evals card FILE: the card of a data set: shows and checks it, or writes it (--source, --licence, ...).

A data set `NAME.tsv` or `NAME.jsonl` is described by `NAME.card.json` beside it: name, version, source, licence,
about, faults (those known), rows and sha256. A file that has changed since its card was written is refused: figures
measured on it would carry a wrong version.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import click

from catalog_build.files import write_json
from clinical.command_line import PATH, paragraphs
from clinical.errors import SourceError
from clinical.search import checksum
from evals.command import main_of
from evals.data.examples import Example, read_examples

REMEDY = "if the change is wanted, write the card again: python -m evals card FILE --version NEXT"


@dataclass(frozen=True, slots=True)
class Card:
    """The card of a data set: its origin, licence and known faults; `rows`: examples read from it."""

    name: str
    version: str
    source: str
    licence: str
    about: str
    rows: int
    sha256: str
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Dataset:
    """The examples of a file; its card, if it has one, agrees with it."""

    examples: list[Example]
    sha256: str
    card: Card | None
    file: str

    @property
    def about(self) -> dict[str, Any]:
        """Description of the data for a result: name, version (None without a card), sha256, rows."""
        name, version = (self.card.name, self.card.version) if self.card else (Path(self.file).stem, None)
        return {"name": name, "version": version, "sha256": self.sha256, "rows": len(self.examples)}


def place_of(path: Path) -> Path:
    """The path of the card of a data set."""
    return path.with_suffix(".card.json")


def read_dataset(path: Path) -> Dataset:
    """Examples and card. Raises SourceError for an unreadable line, or a card that does not fit the file."""
    examples, digest, card = read_examples(path), checksum(path), read_card(path)
    if card and card.sha256 != digest:
        raise SourceError(path.name, None, f"sha256 {digest[:12]}", f"{card.sha256[:12]} as on its card", REMEDY)
    if card and card.rows != len(examples):
        raise SourceError(path.name, None, f"{len(examples)} queries", f"{card.rows} as on its card", REMEDY)
    return Dataset(examples, digest, card, path.name)


def read_card(path: Path) -> Card | None:
    """The card of a data set; None where it has none. Raises SourceError for a card that is none."""
    place = place_of(path)
    if not place.is_file():
        return None
    expected = "an object with " + ", ".join(field.name for field in fields(Card))
    try:
        tree = json.loads(place.read_text(encoding="utf-8"))
        card = Card(**tree | {"faults": tuple(tree.get("faults", ()))})
    except (ValueError, TypeError, AttributeError):
        raise SourceError(place.name, None, "is no card", expected, "write it with python -m evals card") from None
    words = [card.name, card.version, card.source, card.licence, card.about]
    if not all(isinstance(word, str) and word for word in words) or not isinstance(card.rows, int):
        raise SourceError(place.name, None, "has empty or wrong fields", expected, "fill them in")
    return card


def write_card(path: Path, name: str, version: str, **said: Any) -> Card:
    """Count and hash the file and write its card; `said`: source, licence, about, faults."""
    card = Card(name, version, rows=len(read_examples(path)), sha256=checksum(path), **said)
    write_json(place_of(path), asdict(card))
    return card


@click.command(help=paragraphs(__doc__))
@click.argument("file", type=PATH)
@click.option("--name")
@click.option("--version")
@click.option("--source")
@click.option("--licence")
@click.option("--about")
@click.option("--fault", "faults", multiple=True, help="a known fault; may be given several times")
def command(file: Path, faults: Sequence[str], **texts: str | None) -> None:
    """Show and check, or write; what is not given stays as it is on the card that is there."""
    given = {name: text for name, text in texts.items() if text}
    if given or faults:
        _write(file, given, faults)
    data = read_dataset(file)
    card = asdict(data.card) if data.card else {"card": None, **data.about}
    print("\n".join(f"{key:8} {value}" for key, value in card.items()))


main = main_of(command, "card")


def _write(path: Path, given: dict[str, str], faults: Sequence[str]) -> None:
    old = read_card(path)
    said = {"name": path.stem} | ({k: v for k, v in asdict(old).items() if k not in ("rows", "sha256")} if old else {})
    said |= given | ({"faults": tuple(faults)} if faults else {})
    missing = [name for name in ("version", "source", "licence", "about") if not said.get(name)]
    if missing:
        raise SourceError(place_of(path).name, None, f"no {', '.join(missing)}", "all of them", "give them as options")
    write_card(path, **said)
