"""Commands end in a sentence and a status; an option may take several words."""

import click
import pytest

from clinical.command_line import Command, Group, Several, entry
from clinical.errors import SettingError


@click.command(cls=Command)
@click.argument("word")
@click.option("--only", cls=Several, type=int)
@click.option("--loud", is_flag=True)
def _command(word: str, only: tuple[int, ...], loud: bool) -> int:
    """Tries everything."""
    errors = {
        "setting": SettingError("x is wrong", "y", "do z"),
        "file": FileNotFoundError(2, "No such file or directory", "here.txt"),
        "stop": KeyboardInterrupt(),
    }
    if word in errors:
        raise errors[word]
    click.echo(f"{word} {only} {loud}")
    return 1 if word == "one" else 0


main = entry(_command, "python -m tried", interrupted="stopped; begin again")


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["setting"], 2, "befund: x is wrong; expected y; do z\n"),
        (["file"], 2, "befund: No such file or directory: here.txt; check the path and its permissions\n"),
        (["stop"], 130, "stopped; begin again\n"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_a_status(capsys, words, status, said):
    assert main(words) == status
    assert capsys.readouterr() == ("", said)


def test_the_status_is_the_one_of_the_command_and_a_wrong_option_is_two(capsys):
    assert (main(["one"]), main(["two"]), main(["two", "--nothing"]), main([])) == (1, 0, 2, 2)
    assert "--nothing" in capsys.readouterr().err
    assert main(["--help"]) == 0
    assert capsys.readouterr().out.startswith("Usage: python -m tried")


@pytest.mark.parametrize(
    ("words", "only", "loud"),
    [
        (["a", "--only", "1", "3", "--loud"], (1, 3), True),
        (["--loud", "a", "--only", "1"], (1,), True),
        (["a", "--only", "--loud"], (), True),
        (["a", "--only", "1", "--only", "2"], (1, 2), False),
        (["a"], (), False),
    ],
)
def test_an_option_of_several_words_takes_all_up_to_the_next_option(capsys, words, only, loud):
    assert main(words) == 0
    assert capsys.readouterr().out == f"a {only} {loud}\n"


def test_commands_below_a_group_end_in_the_same_way(capsys):
    group = Group("all")
    group.add_command(_command, "one")
    assert entry(group, "python -m tried", status=1)(["one", "setting"]) == 1
    assert capsys.readouterr().err == "befund: x is wrong; expected y; do z\n"
