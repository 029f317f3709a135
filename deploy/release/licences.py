"""Under which licence each package of a bundle stands, without unknowns.

What a package's metadata does not say stands in licences.json beside this file, with the reason; an entry there that is
not needed (any more) is refused, so that the list stays short and true.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name

from deploy.bundle.wheels import BundleError, output_of

EXCEPTIONS = Path(__file__).with_name("licences.json")
UNKNOWN = ("", "UNKNOWN")


@dataclass(frozen=True, slots=True)
class Licensed:
    """A package, its version, its licence as its metadata or the exceptions say, and who says so."""

    name: str
    version: str
    licence: str
    source: str


def installed(python: Path) -> list[Mapping[str, str]]:
    """The rows of pip-licenses for each package of an environment: Name, Version, License, URL. Raises BundleError."""
    program = Path(sys.executable).with_name("pip-licenses")
    command = [str(program), f"--python={python}", "--from=mixed", "--format=json", "--with-urls", "--with-system"]
    found: list[Mapping[str, str]] = json.loads(output_of(command, "pip-licenses failed"))
    return found


def exceptions() -> dict[str, dict[str, str]]:
    """Package -> licence and reason."""
    said: dict[str, dict[str, str]] = json.loads(EXCEPTIONS.read_text("utf-8"))
    return said


def licensed(found: Sequence[Mapping[str, str]], known: Mapping[str, Mapping[str, str]]) -> list[Licensed]:
    """Each package with a licence. Raises BundleError naming those without one, and exceptions that nobody needs."""
    report, unknown, used = [], [], set()
    for package in sorted(found, key=lambda package: canonicalize_name(package["Name"])):
        name, licence, source = canonicalize_name(package["Name"]), package["License"].strip(), "its metadata"
        if licence.upper() in UNKNOWN:
            used.add(name)
            if name not in known:
                unknown.append(name)
                continue
            licence, source = known[name]["licence"], known[name]["reason"]
        report.append(Licensed(package["Name"], package["Version"], licence, source))
    if unknown:
        raise BundleError(f"no licence is known of {', '.join(unknown)}", "one each", f"add them to {EXCEPTIONS.name}")
    if spare := sorted(set(known) - used):
        raise BundleError(f"{EXCEPTIONS.name} names {', '.join(spare)} without need", "packages that say none")
    return report


def page(report: Sequence[Licensed]) -> str:
    """The report as a table in Markdown, and how many packages stand under each licence."""
    counts = Counter(package.licence for package in report)
    lines = ["# Licences", "", "| licence | packages |", "|---|---|"]
    lines += [f"| {licence} | {count} |" for licence, count in counts.most_common()]
    lines += ["", "| package | version | licence | said by |", "|---|---|---|---|"]
    lines += [f"| {p.name} | {p.version} | {p.licence} | {p.source} |" for p in report]
    return "\n".join(lines) + "\n"
