"""Every block of docs/clients.md, run as it stands against a real server."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from joserfc.jwk import RSAKey

from tests import docs
from tests.conftest import stay_out
from tests.webapp.conftest import ONE_DATABASE
from tests.webapp.fhir.conftest import Caller, Place, resources_of, run

PAGE = docs.ROOT / "docs" / "clients.md"
SCOPES = "system/DocumentReference.crs system/Binary.r system/Patient.c"
TEXT = "Arztbrief, Grüße".encode()
PROGRAMS = {"sh": ["bash", "-eu"], "python": [sys.executable], "js": ["node"]}
ENDINGS = {"sh": "sh", "python": "py", "js": "mjs"}
LANGUAGES = pytest.mark.parametrize("language", PROGRAMS)


def examples() -> dict[str, dict[str, str]]:
    """The blocks by the heading they stand under and their language."""
    sections = re.split(r"^## (.+)$", PAGE.read_text("utf-8"), flags=re.MULTILINE)[1:]
    found: dict[str, dict[str, str]] = {}
    for title, text in zip(sections[::2], sections[1::2], strict=True):
        found[title] = dict(re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    return found


class Example:
    """Runs blocks in a folder of their own, as a program of the organization."""

    def __init__(self, folder: Path, base: str, place: Place) -> None:
        self._folder = folder
        self.account, secret = place.machine("--scopes", SCOPES)
        self.caller, self.place = place.calls(secret), place
        self.environment = {"BASE": base, "TOKEN": secret, "ACCOUNT": self.account, "CURSOR": str(folder / "cursor")}
        (folder / "brief.txt").write_bytes(TEXT)

    def run(self, title: str, language: str, **more: str) -> list[str]:
        """The lines that the block prints."""
        if any(shutil.which(program) is None for program in ("curl", "jq", "openssl", "node")):
            stay_out("curl, jq, openssl and node run the examples (apt-get install curl jq openssl nodejs)")
        script = self._folder / f"example.{ENDINGS[language]}"
        script.write_text(examples()[title][language], "utf-8")
        environment = os.environ | self.environment | more | {"NO_PROXY": "*", "no_proxy": "*"}
        done = subprocess.run(
            [*PROGRAMS[language], str(script)],
            cwd=self._folder, env=environment, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.split()

    def one(self, value: str) -> dict[str, Any]:
        """The document of that identifier."""
        (found,) = resources_of(self.caller.bundle(f"DocumentReference?identifier=urn:oid:1.2.3%7C{value}"))
        return found


@pytest.fixture
def example(tmp_path: Path, base: str, place: Place) -> Example:
    return Example(tmp_path, base, place)


def test_there_is_an_example_of_each_in_each_language() -> None:
    titles = ["Create", "Replace", "Transaction", "Sign in with a key", "Poll", "Extract"]
    assert {title: list(blocks) for title, blocks in examples().items()} == {key: list(PROGRAMS) for key in titles}


@ONE_DATABASE
@LANGUAGES
def test_create_twice_is_one_document_and_replace_supersedes_it(example: Example, language: str) -> None:
    (first,) = example.run("Create", language)
    assert example.run("Create", language) == [first]
    assert example.one("brief-1")["id"] == first
    assert example.caller.get(f"Binary/{first}").data == TEXT
    (second,) = example.run("Replace", language)
    assert example.one("brief-2")["id"] == second
    assert example.one("brief-1")["status"] == "superseded"


@ONE_DATABASE
@LANGUAGES
def test_transaction(example: Example, language: str) -> None:
    patient, document = example.run("Transaction", language)
    assert example.run("Transaction", language) == [patient, document], "it is repeatable"
    assert example.one("brief-3")["subject"]["reference"] == patient.rpartition("/fhir/r4/")[2]
    assert document.endswith(example.one("brief-3")["id"])


@ONE_DATABASE
@LANGUAGES
def test_sign_in_with_a_key(example: Example, language: str, tmp_path: Path) -> None:
    key = RSAKey.generate_key(2048, {"kid": "key-1"})
    (tmp_path / "key.pem").write_bytes(key.as_pem(private=True))
    (tmp_path / "jwks.json").write_text(f'{{"keys": [{key.as_dict(private=False)!r}]}}'.replace("'", '"'))
    run(example.place.app, "keys", example.account, "--file", str(tmp_path / "jwks.json"))
    (token,) = example.run("Sign in with a key", language, KEY_FILE=str(tmp_path / "key.pem"), KID="key-1")
    caller = Caller(Place(example.place.app, example.place.organization, example.place.user, token))
    assert caller.bundle("DocumentReference")["total"] == 0
    assert caller.get("Patient").status_code == 403, "the token has the scope that was asked for"


@ONE_DATABASE
@LANGUAGES
def test_poll(example: Example, language: str) -> None:
    assert example.run("Poll", language) == []
    first = {str(example.place.add_document()) for _ in range(3)}
    assert set(example.run("Poll", language)) == first
    later = str(example.place.add_document())
    again = example.run("Poll", language)
    assert later in again
    assert len(again) == 2, "the last of those before, and what is new"
