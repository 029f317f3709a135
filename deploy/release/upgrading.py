"""The upgrade note for operators of an earlier version, made from the changelog and the migrations."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from clinical import __version__
from deploy.bundle.wheels import ROOT, BundleError, output_of

MIGRATIONS = "webapp/migrations/versions"
_SETTING = re.compile(r"^#(BEFUND_\w+)=", re.MULTILINE)
_MUST = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes since an earlier version: the changelog's section, migrations (name, sentence), and settings by name."""

    section: str
    migrations: Sequence[tuple[str, str]]
    settings: Sequence[str] = ()
    gone: Sequence[str] = ()
    since: str = ""


def changes(since: str = "") -> Changes:
    """Of this checkout; with `since`, a commit or tag, migrations and settings are those that came after it."""
    section = section_of((ROOT / "CHANGELOG.md").read_text("utf-8"), __version__)
    files = sorted(path.name for path in (ROOT / MIGRATIONS).glob("[0-9]*.py"))
    if not since:
        return Changes(section, [_migration(name) for name in files])
    before = set(_git("ls-tree", "--name-only", since, f"{MIGRATIONS}/").split())
    new = [_migration(name) for name in files if f"{MIGRATIONS}/{name}" not in before]
    was = set(_SETTING.findall(_git("show", f"{since}:.env.example")))
    now = set(_SETTING.findall((ROOT / ".env.example").read_text("utf-8")))
    return Changes(section, new, sorted(now - was), sorted(was - now), since)


def section_of(changelog: str, version: str) -> str:
    """The changelog's section of a version, or, where it has none, of Unreleased. Raises BundleError without both."""
    for heading in (re.escape(version), "Unreleased"):
        if found := re.search(rf"^## \[?{heading}\b.*?\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL):
            return found[1].strip()
    raise BundleError(f"CHANGELOG.md has no section {version} or Unreleased", "one of them")


def _migration(name: str) -> tuple[str, str]:
    said = ast.get_docstring(ast.parse((ROOT / MIGRATIONS / name).read_text("utf-8"))) or ""
    return name.removesuffix(".py"), " ".join(said.split("\n\n")[0].split()).rstrip(".")


def _git(*arguments: str) -> str:
    expected = "a commit or tag of this repository"
    return output_of(["git", *arguments], f"git {arguments[0]} failed", ROOT, expected=expected)


def note(found: Changes) -> str:
    """The note in Markdown."""
    from_where = f"from {found.since}" if found.since else "from any earlier version"
    must = [f"- {' '.join(sentence.split())}" for sentence in _MUST.findall(found.section)]
    lines = [f"# Upgrading to Befund {__version__}, {from_where}", ""]
    lines += ["## Before", "", "1. `python -m webapp backup FOLDER`: both databases and all stored files."]
    lines += ["2. What has to be done by hand:", *(must or ["- nothing."]), ""]
    lines += ["## The update", "", "1. `./install.sh`, which builds the new environment beside the one in use."]
    lines += ["2. `flask --app webapp db upgrade` (the unit of systemd does it at its start):", ""]
    lines += [f"   - `{name}`: {said}" for name, said in found.migrations] or ["   - no change of the tables."]
    lines += [
        "",
        "3. Restart the servers one after the other; the first start takes the API's own tables along.",
    ]
    lines += ["", "Back: the link `.venv` to the environment before, and the backup where a migration ran.", ""]
    if found.settings or found.gone:
        lines += ["## Settings", "", *(f"- new: `{name}`" for name in found.settings)]
        lines += [*(f"- gone, refused from now on: `{name}`" for name in found.gone), ""]
    return "\n".join([*lines, "## What changed", "", found.section]) + "\n"
