"""`python -m evals`: every name is a module with a `main`, and is explained."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path

import pytest

from evals import __main__ as command


@pytest.mark.parametrize("name", command.MEASURES)
def test_every_name_is_a_module_with_a_main(name):
    spec = importlib.util.find_spec(command.MEASURES[name])
    tree = ast.parse(Path(spec.origin).read_text("utf-8"))
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    targets = [target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
    assigned = {target.id for target in targets if isinstance(target, ast.Name)}
    assert "main" in functions | assigned


def test_the_old_name_of_batch_coding_still_works_and_says_the_new_one(capsys):
    assert command.main(["batch", "--help"]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("Usage: python -m batch")
    assert "`python -m evals batch` is now `python -m batch`" in shown.err


def test_every_name_is_explained_and_an_unknown_one_is_refused(capsys):
    explained = re.findall(r"^([a-z-]+) +\S", command.__doc__.partition("\n\n")[2], re.MULTILINE)
    assert sorted(explained) == sorted(command.MEASURES)
    assert command.main(["codeing"]) == 2
    assert capsys.readouterr().err.endswith("there is no 'codeing'; the names are above\n")
    assert command.main([]) == 2
    assert "\ncoding " in capsys.readouterr().err
    assert command.main(["--help"]) == 0
    assert "\ncoding " in capsys.readouterr().out
