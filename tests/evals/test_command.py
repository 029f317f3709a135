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
    assert "main" in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_name_is_explained_and_an_unknown_one_is_refused(capsys):
    explained = re.findall(r"^([a-z-]+) +\S", command.__doc__.partition("\n\n")[2], re.MULTILINE)
    assert sorted(explained) == sorted(command.MEASURES)
    assert command.main(["codeing"]) == command.main([]) == 2
    assert "coding" in capsys.readouterr().err
