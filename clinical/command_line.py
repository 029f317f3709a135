"""Entry and exit of click commands: a deliberate error is one sentence on stderr and a status, never a traceback.

`entry` makes the `main(arguments) -> status` of a click command; `Group` and `Command` are click's own, with the same
end, for what click itself runs (`flask --app webapp ...`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import click

from clinical.errors import BefundError

REFUSED: Final = 2
"""The status for what cannot be done, as for options that do not fit."""
INTERRUPTED: Final = 130
"""Exit status that a shell gives for Ctrl-C."""
PATH: Final = click.Path(path_type=Path)


class Refused(click.ClickException):
    """Ends the command with `befund: ` and the sentence on stderr."""

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


class Several(click.Option):
    """An option that takes every word up to the next option: `--only 01 03`."""

    def __init__(self, names: Sequence[str], **given: Any) -> None:
        super().__init__(names, **{**given, "multiple": True})


class Command(click.Command):
    """One command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Name an option of several words again before each of its words, as click wants it."""
        several = {name for option in self.params if isinstance(option, Several) for name in option.opts}
        return super().parse_args(ctx, _spread(args, several) if several else args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run it; a BefundError ends it in a sentence."""
        with as_sentence():
            return super().invoke(ctx)


def _spread(words: Iterable[str], several: set[str]) -> list[str]:
    spread, current = [], ""
    for word in words:
        if word.startswith("--"):
            current = word if word in several else ""
            spread += [] if current else [word]
        else:
            spread += [current, word] if current else [word]
    return spread


class Group(click.Group):
    """A command with commands below it, which end in sentences too."""

    command_class = Command
    group_class = type


def entry(
    command: click.Command,
    name: str,
    *,
    status: int = REFUSED,
    interrupted: str = "interrupted",
) -> Callable[[Sequence[str] | None], int]:
    """The `main` of a command that is called `name`: takes arguments (None: those of the process), gives the status.

    A command's own return value is its status, None is 0. A deliberate error is its sentence and `status`; Ctrl-C is
    `interrupted` and 130; a reader of our output that left, such as `head`, is no error.
    """

    def main(arguments: Sequence[str] | None = None) -> int:
        try:
            words = list(sys.argv[1:] if arguments is None else arguments)
            with command.make_context(name, words) as context, as_sentence():
                return int(command.invoke(context) or 0)
        except click.exceptions.Exit as end:
            return end.exit_code
        except click.ClickException as error:
            error.show()
            return status if isinstance(error, Refused) else error.exit_code
        except (KeyboardInterrupt, click.Abort):
            click.echo(interrupted, err=True)
            return INTERRUPTED
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        except OSError as error:
            if error.filename is None:
                raise
            click.echo(f"befund: {error.strerror}: {error.filename}; check the path and its permissions", err=True)
            return REFUSED

    return main


def paragraphs(text: str | None) -> str:
    """Help as it is written: without this, click fills the lines of a paragraph anew."""
    return "\n\n".join(f"\b\n{part}" for part in (text or "").strip().split("\n\n"))
