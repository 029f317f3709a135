"""Text written for readers holds: links, commands with their options, settings, JSON."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import runpy
import subprocess
import sys
import tomllib
from functools import cache
from importlib.util import find_spec
from itertools import takewhile

import click
import pytest
from playwright.sync_api import sync_playwright

from bentos.gpu_host import Host
from clinical.settings import FROM_FILES, NO_SETTINGS
from tests import docs
from tests.conftest import ROOT
from tests.test_architecture import PACKAGES, PYTHON_FILES
from tests.webapp.browser import FLAGS
from tests.webapp.sso import live
from webapp import create_app

README = ROOT / "README.md"
PAGES = pytest.mark.parametrize("page", docs.PAGES, ids=lambda page: page.name)
OF_TODAY = pytest.mark.parametrize(
    "page", [one for one in docs.PAGES if one.name != "CHANGELOG.md"], ids=lambda page: page.name
)
"""Sentences on older versions stay as they were: a command of then need not be there now."""
EXAMPLE = (ROOT / ".env.example").read_text("utf-8")
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
LONGEST_MS = 150_000
"""For a browser on a machine that is busy: it bounds the wait and judges nothing."""
BENTOML = {"build", "import", "get", "containerize", "serve"}


# --- links ----------------------------------------------------------------------------------------------------------


@PAGES
def test_every_link_leads_to_a_file_and_every_anchor_to_a_heading(page):
    wrong = []
    for link in docs.links(page):
        if re.match(r"https?://", link):
            continue
        name, _, anchor = link.partition("#")
        target = page if not name else (page.parent / name).resolve()
        if not target.exists() or (anchor and anchor not in docs.anchors(target)):
            wrong.append(link)
    assert wrong == []


def test_every_picture_is_shown_on_a_page():
    shown = {(page.parent / link).resolve() for page in docs.PAGES for link in docs.links(page)}
    assert set((ROOT / "docs" / "pictures").iterdir()) <= shown


# --- code blocks ----------------------------------------------------------------------------------------------------


@PAGES
def test_every_json_block_parses(page):
    for block in docs.blocks(page):
        if block.language == "json":
            json.loads(block.text)


@PAGES
def test_every_setting_that_is_named_exists(page):
    named = set(re.findall(r"\bBEFUND_[A-Z][A-Z_]*[A-Z]\b", page.read_text("utf-8")))
    there = set(re.findall(r"^#(BEFUND_\w+)=", EXAMPLE, re.MULTILINE))
    there |= {f"BEFUND_{name.upper()}_FILE" for name in FROM_FILES}
    there |= {f"BEFUND_VLLM_{name.upper()}" for name in Host.model_fields}
    assert named - there - set(NO_SETTINGS) == set()


@OF_TODAY
def test_every_command_exists_with_its_options(page):
    wrong = [" ".join(words) for words in docs.commands(page) if (said := _fault(words)) and said]
    assert wrong == []


@OF_TODAY
def test_every_option_that_is_explained_alone_is_an_option_of_ours(page):
    alone = {span.split()[0].partition("=")[0] for span in docs.spans(page) if span.startswith("--")} - {"--arg"}
    ours = "".join(path.read_text("utf-8") for path in PYTHON_FILES)
    assert [option for option in sorted(alone) if not re.search(rf"{option}(?![\w-])", ours)] == []


def test_the_pages_show_commands_and_a_wrong_one_is_noticed():
    shown = {" ".join(words[:3]) for page in docs.PAGES for words in docs.commands(page)}
    assert {"make up", "python -m evals", "flask --app webapp"} <= shown
    for wrong in (
        "make upp",
        "make catalog SUORCE=x",
        "python -m evals codign",
        "python -m evals coding --catalogue x",
    ):
        assert _fault(wrong.split()), wrong
    for wrong in ("flask --app webapp orgs ad x", "flask --app webapp orgs members add x y --rolle z", "bentoml bild"):
        assert _fault(wrong.split()), wrong
    for right in ("python -m bentos keys create --name x", "flask --app webapp db upgrade", "make catalog SOURCE=x"):
        assert not _fault(right.split()), right


def _fault(words: list[str]) -> str:
    """The fault of a command; empty when it exists and has the options that are given."""
    program, rest = words[0], words[1:]
    if program == "make":
        return _fault_of_make(rest)
    if program == "flask":
        return _fault_of_flask(rest[2:])
    if program == "bentoml":
        return "" if rest[0] in BENTOML else f"bentoml has no {rest[0]}"
    if program == "pip":
        return _fault_of_pip(rest)
    return _fault_of_module(rest[1], rest[2:]) if rest[1] in PACKAGES else _fault_of_foreign(rest[1])


def _fault_of_foreign(module: str) -> str:
    """A module that is not served by a parser of ours only has to be there: running it could change something."""
    return "" if find_spec(module) else f"no module {module}"


def _fault_of_make(rest: list[str]) -> str:
    targets = re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE)
    variables = [word.partition("=")[0] for word in rest[1:]]
    sizes = re.findall(r"^SIZES := (.*)$", MAKEFILE, re.MULTILINE)[0].split()
    unknown = [name for name in variables if f"$({name})" not in MAKEFILE and name not in sizes]
    return "" if rest[0] in targets and not unknown else f"no target {rest[0]} with {unknown}"


def _fault_of_pip(rest: list[str]) -> str:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    asked = [name for word in rest for found in re.findall(r"\.\[([\w,]+)\]", word) for name in found.split(",")]
    return "" if set(asked) <= set(extras) else f"no extra among {asked}"


def _fault_of_flask(rest: list[str]) -> str:
    command: click.Command = _flask()
    for word in rest:
        if word.startswith("--"):
            known = {option for parameter in command.params for option in parameter.opts} | {"--help"}
            if word.partition("=")[0] not in known:
                return f"{command.name} has no option {word}"
        elif isinstance(command, click.Group) and word not in ("...", "COMMAND"):
            found = command.commands.get(word)
            if found is None:
                return f"{command.name} has no command {word}"
            command = found
    return ""


@cache
def _flask() -> click.Group:
    return create_app({"env": "development", "secret_key": "only-for-tests-and-nothing-else-4711-Xyz"}).cli


def _fault_of_module(module: str, rest: list[str]) -> str:
    """By the help of the module and of the subcommands that are named one after the other."""
    text, before = _help(module), ()
    options = [word.partition("=")[0] for word in rest if word.startswith("--")]
    leading = takewhile(lambda word: re.fullmatch(r"[a-z][a-z|-]*", word), rest)
    names = [word.split("|") for word in leading]
    for alternatives in names[:2]:
        known = [name for name in alternatives if re.search(rf"(?m)^\s*{re.escape(name)}\b|[{{,]{name}[,}}]", text)]
        if before and not known:
            break  # an argument, not a subcommand
        if len(known) < len(alternatives):
            return f"{module} has no {alternatives}"
        before = (*before, alternatives[0])
        text = _help(module, *before) or text
    missing = [option for option in options if not re.search(rf"{re.escape(option)}\b", text)]
    return f"{missing} not in the help of {module} {before}" if missing else ""


@cache
def _help(module: str, *names: str) -> str:
    """The output of `python -m module names --help`, run in this process: importing once is most of its time."""
    written = io.StringIO()
    given, sys.argv = sys.argv, [f"python -m {module}", *names, "--help"]
    try:
        with contextlib.redirect_stdout(written), contextlib.redirect_stderr(written), contextlib.suppress(SystemExit):
            runpy.run_module(module, run_name="__main__", alter_sys=False)
    finally:
        sys.argv = given
    return written.getvalue()


# --- the site -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The pages as `make docs` builds them; MkDocs itself is strict about links between them."""
    if not (ROOT / "tests" / "node" / "node_modules" / "iframe-worker").is_dir():
        pytest.skip("the scripts of the site are not installed (npm ci --prefix tests/node)")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_no_page_of_the_site_loads_anything_from_elsewhere(site):
    loads = r"<(?:script|img|iframe|source|link)\b[^>]*\b(?:src|href)=[\"']?https?://[^>]*|url\([\"']?https?://[^)]*\)"
    found = {f"{path.name}: {hit}" for path in site.rglob("*.[hc][ts][ms]*") for hit in re.findall(loads, _text(path))}
    assert {hit for hit in found if 'rel="canonical"' not in hit} == set()
    assert [path.name for path in site.rglob("*.js") if "//unpkg.com" in _text(path)] == []
    assert {page.stem for page in docs.PAGES} - {"README", "CHANGELOG"} <= {page.stem for page in site.glob("*.html")}


def _text(path):
    return path.read_text("utf-8")


def test_a_browser_opens_the_site_from_the_folder_and_draws_the_picture(site):
    if not live.chromium():
        pytest.skip("Chromium is not installed (apt-get install chromium)")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=live.chromium(), args=list(FLAGS))
        page, asked, errors = chromium.new_page(), [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto((site / "index.html").as_uri())
        page.set_default_timeout(LONGEST_MS)
        page.wait_for_selector("div.mermaid")
        assert page.locator("div.mermaid").bounding_box()["height"] > 100
        chromium.close()
    assert asked
    assert [url for url in asked if not re.match(r"file:|data:|blob:|about:", url)] == []
    assert errors == []
