"""Shared parts of the `python -m evals` commands: common options, and their exit on errors and interrupts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import click

from clinical.command_line import PATH, entry

INTERRUPTED = "interrupted: no half-written result is left; run the same command again, what a model answered is kept"

CATALOG = click.option("--catalog", type=PATH, required=True, help="the artifact folder")
JSON = click.option("--json", "as_json", is_flag=True, help="print JSON")


def main_of(command: click.Command, name: str) -> Callable[[Sequence[str] | None], int]:
    """The `main` of the measure that is called `name`."""
    return entry(command, f"python -m evals {name}", interrupted=INTERRUPTED)
