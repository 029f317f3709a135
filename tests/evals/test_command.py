"""`python -m evals`: every name is a module with a `main`, and is explained."""

from __future__ import annotations

import re

from evals import __main__ as command


def test_every_name_is_explained_and_an_unknown_one_is_refused(capsys):
    explained = re.findall(r"^([a-z-]+) +\S", command.__doc__.partition("\n\n")[2], re.MULTILINE)
    assert sorted(explained) == sorted(command.MEASURES)
    assert command.main(["codeing"]) == 2
    assert capsys.readouterr().err.endswith("there is no 'codeing'; the names are above\n")
    assert command.main([]) == 2
    assert "\ncoding " in capsys.readouterr().err
    assert command.main(["--help"]) == 0
    assert "\ncoding " in capsys.readouterr().out
