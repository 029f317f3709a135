"""Sizes of a notebook's measurements: the numbers that its parameter cell declares, such as QUERIES or TRIES.

The comment behind a parameter says which size the figures of the documentation have ("2000 for the figures of the
documentation"), so that it stands in one place, beside the default.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

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
