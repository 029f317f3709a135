"""How commands end: a deliberate error is one sentence on stderr and status 1, never a traceback.

Built on click. `Group` and `Command` are click's own with that one addition; `as_sentence` is for places that are no
click command.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from clinical.errors import BefundError


class Refused(click.ClickException):
    """Ends the command with `befund: ` and the sentence on stderr, and status 1."""

    def show(self, file: Any = None) -> None:
        """Print the sentence."""
        click.echo(f"befund: {self.format_message()}", file=file, err=True)


@contextmanager
def as_sentence() -> Iterator[None]:
    """Deliberate errors inside the block end the command."""
    try:
        yield
    except BefundError as error:
        raise Refused(str(error)) from None


class Command(click.Command):
    """One command."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run it; a BefundError ends it in a sentence."""
        with as_sentence():
            return super().invoke(ctx)


class Group(click.Group):
    """A command with commands below it, which end in sentences too."""

    command_class = Command
    group_class = type
