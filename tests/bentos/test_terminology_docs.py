"""The examples of docs/terminology.md run as they stand there: curl, Python, JavaScript."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from tests import docs
from tests.conftest import stay_out

ONE_API = True

PAGE = docs.ROOT / "docs" / "terminology.md"
RUN = {"sh": ["bash", "-euc"], "python": [sys.executable, "-c"], "js": ["node", "--input-type=module", "-e"]}
NEEDS = {"sh": "curl", "python": sys.executable, "js": "node"}
EXAMPLES = [block for block in docs.blocks(PAGE) if block.language in RUN]
SAID = ('"valueCode":"E11.90"', "diagnose-2; True\n", "E1", "I50.9 Herzinsuffizienz, nicht näher bezeichnet\n")
"""A part of the output of each, in their order."""
JUDGED = {
    "diagnose-2": "True",
    "diagnose-3": "True",
    "diagnose-4": "True; E11 ist nicht endständig",
    "diagnose-5": "False; Unknown code 'I1090'",
    "diagnose-6": "True; Wrong Display Name 'Schnupfen'",
    "diagnose-7": "True; 'I10.90 G' ist der Kode I10.90 mit Kennzeichen",
    "diagnose-8": "False; Unknown code 'X99.99'",
    "diagnose-9": "False; A definition for CodeSystem",
}


def ran(language: str, text: str, api: httpx2.Client, key: str) -> str:
    """The output of an example, which must end without an error."""
    if shutil.which(NEEDS[language]) is None:
        stay_out(f"{NEEDS[language]} is not installed")
    environment = {**os.environ, "BASE": str(api.base_url).rstrip("/"), "KEY": key, "NO_PROXY": "127.0.0.1"}
    done = subprocess.run(
        [*RUN[language], text],
        cwd=docs.ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    return done.stdout


def test_there_is_an_example_in_every_language() -> None:
    assert {block.language for block in EXAMPLES} == set(RUN)
    assert len(EXAMPLES) == len(SAID)


@pytest.mark.parametrize("number", range(len(SAID)))
def test_an_example_runs(api: httpx2.Client, key: str, number: int) -> None:
    assert SAID[number] in ran(EXAMPLES[number].language, EXAMPLES[number].text, api, key)


def test_right_and_wrong_diagnoses_of_a_bundle_are_told_apart(api: httpx2.Client, key: str) -> None:
    example = next(block for block in EXAMPLES if "diagnoses.json" in block.text)
    lines = ran("python", example.text, api, key).splitlines()
    found = dict(line.split("; ", 1) for line in lines)
    assert found.keys() == JUDGED.keys()
    wrong = {name: found[name] for name, begins in JUDGED.items() if not found[name].startswith(begins)}
    assert wrong == {}
    assert (Path(docs.ROOT) / "docs/examples/diagnoses.json").is_file()
