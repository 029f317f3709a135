"""Reports that the command line prints on a source, its checks, an artifact and a code. Plain text, no side effects."""

from __future__ import annotations

import csv
from pathlib import Path

import orjson

from catalog_build.checks import CheckReport, counts
from catalog_build.official import Source
from catalog_build.vocabulary import FILE, STATES
from clinical.errors import ArtifactMismatch, ArtifactMissing, BefundError
from clinical.icd import EXAMPLE, Catalog
from clinical.search import Manifest

NEIGHBOURS_SHOWN = 5
LINES_SHOWN = 50


def of_source(source: Source, texts: int) -> str:
    """Year, counts, files, and what is missing with what it costs."""
    now = counts(source)
    lines = [
        f"ICD-10-GM {source.year}: {now['codes']} codes, {now['terminal_codes']} of them terminal; "
        f"{now['synonyms']} synonyms, {texts} wordings in all, {len(source.cross_references)} cross references",
        *(f"  read     {name}" for name in source.files),
        *(f"  missing  {sentence}" for sentence in source.missing),
    ]
    return "\n".join(lines)


def of_checks(report: CheckReport) -> str:
    """One line for each condition; says where the HTML is not written."""
    lines = []
    for result in report.results:
        state = "holds" if result.holds else ("FAILS" if result.fatal else "noted")
        tail = "" if result.holds else f"  {result.against} of {result.examined}, e.g. {'; '.join(result.examples)}"
        lines.append(f"  {state}    {result.name}{tail}")
    if report.engine == "plain":
        lines.append("  checked in plain Python, no data docs: they need the extra 'checks' (Great Expectations)")
    return "\n".join(lines)


def of_build(manifest: Manifest, folder: Path) -> str:
    """One line: what came out, and where it is."""
    bounds = manifest.thresholds
    return (
        f"{folder}: ICD-10-GM {manifest.year}, {manifest.codes:,} codes, {manifest.wordings:,} wordings, encoder "
        f"{manifest.encoder}; high from {bounds.high:.3f}, medium from {bounds.medium:.3f}"
    )


def of_layers(manifest: Manifest, folder: Path) -> str:
    """The layers of wordings, the lines of the user's files that were not added, and where all of them stand."""
    lines = []
    for layer in manifest.layers:
        states = ", ".join(f"{layer[state]} {state}" for state in STATES if layer.get(state))
        lines.append(f"layer {layer['name']}: {states or 'nothing'}")
    with (folder / FILE).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    left = [row for row in rows if row["state"] not in ("taken", "known")]
    lines += [f"  {row['file']}, line {row['line']}: {row['state']}: {row['why']}" for row in left[:LINES_SHOWN]]
    return "\n".join([*lines, f"every line with its reason: {folder / FILE}"])


def of_artifact(folder: Path) -> str:
    """The manifest without its file lists. Raises ArtifactMissing or ArtifactMismatch."""
    remedy = "build it: python -m catalog_build build SOURCE --out DIR"
    try:
        manifest = orjson.loads((folder / "manifest.json").read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise ArtifactMissing(f"there is no finished artifact in {folder}", "manifest.json", remedy) from None
    except orjson.JSONDecodeError:
        manifest = None
    if not isinstance(manifest, dict):
        raise ArtifactMismatch(f"manifest.json in {folder} is not a manifest", "a JSON object", remedy)
    plain = {name: value for name, value in manifest.items() if isinstance(value, str | int | float)}
    sources = manifest.get("sources", {})
    layers = [f"layer           {layer['name']}: {layer['taken']} taken" for layer in manifest.get("layers", ())]
    return "\n".join(
        [*(f"{name:16}{value}" for name, value in plain.items()), *(f"source          {n}" for n in sources), *layers]
    )


def of_code(folder: Path, text: str) -> str:
    """A code with its place in the tree, its rules and its notes. Raises BefundError where there is no such code."""
    catalog = Catalog.load(folder / "codes.json")
    spelling = catalog.parse(text)
    code = catalog.get(spelling) if spelling else None
    if code is None:
        near = catalog.nearest_existing(spelling) if spelling else None
        remedy = f"the nearest that exists is {near.code} {near.title}" if near else "check the spelling"
        raise BefundError(
            f"there is no code {text!r} in ICD-10-GM {catalog.version}", f"a code such as {EXAMPLE}", remedy
        )
    lines = [
        f"{code.marked}  {code.title}",
        f"  chapter     {code.chapter} {catalog.chapter_title(code.chapter)}",
        f"  block       {code.block} {catalog.block_title(code.block)}",
        f"  coding      {'terminal' if code.terminal else 'not terminal'}; §295 {code.use_295}, §301 {code.use_301}",
        f"  limits      sex {code.sex or '-'}, age {code.age_low or '-'} to {code.age_high or '-'}",
    ]
    lines += [f"  {note.kind:12}{note.text} {' '.join(note.references)}".rstrip() for note in code.notes]
    lines += [f"  child       {child.code} {child.title}" for child in catalog.children(code.code)]
    near_by = catalog.neighbours(code.code, NEIGHBOURS_SHOWN)
    return "\n".join(lines + [f"  neighbour   {other.code} {other.title}" for other in near_by])
