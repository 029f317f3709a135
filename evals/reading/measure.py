"""python -m evals reading --catalog DIR: how texts are read.

Mentions and claims on generated texts, by kind and claim; wordings that alone are high, in lists and sentence frames;
short texts with denials and relatives; what the labels are worth by kind of text; with `--inputs FILE`, what is shown
of written inputs, by class, as tier 1 serves it; with `--letters FILE TEXTS`, mentions, claims and codes of annotated
letters.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from clinical.coding import with_written_codes
from clinical.contract import TIER1_MAX_CODES
from clinical.errors import BefundError
from clinical.search import SearchIndex
from evals.reading.bands import bands
from evals.reading.bands import lines as band_lines
from evals.reading.denials import clauses, misread, plain_names
from evals.reading.generated import found_in, generated
from evals.reading.inputs import HEADER, given, line_of, read_inputs, scored
from evals.reading.letters import counted, lines
from evals.reading.offered import lines as offered_lines
from evals.reading.offered import offered
from evals.reading.probes import in_lists, in_sentences, sure_wordings

GIVEN = {"first code right": "first", "among ten": "ten", "shown": "found"}
SEED, TEXTS, WORDINGS, CLAUSES = 2026, 400, 160, 4000


def main(arguments: Sequence[str]) -> int:
    """0: measured; 2: it cannot be measured."""
    parser = argparse.ArgumentParser(prog="python -m evals reading", description=__doc__)
    parser.add_argument("--catalog", type=Path, required=True, help="folder of an artifact")
    parser.add_argument("--inputs", type=Path, help="written inputs with claims, one JSON object a line")
    parser.add_argument("--letters", type=Path, nargs=2, metavar=("FILE", "TEXTS"), help="annotated letters")
    parser.add_argument("--texts", type=int, default=TEXTS, help="generated texts")
    parser.add_argument("--wordings", type=int, default=WORDINGS, help="wordings that are set into lists and frames")
    options = parser.parse_args(arguments)
    try:
        index = SearchIndex.load(options.catalog)
    except BefundError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    texts = generated(index, options.texts, SEED)
    _print_generated(found_in(index, texts))
    print("\n" + "\n".join(band_lines(bands(index, texts))))
    wordings = sure_wordings(index, options.wordings, SEED)
    print(f"\n{len(wordings)} wordings that alone are high: share shown in lists")
    _print_shares(in_lists(index, wordings, SEED))
    print("\nthe same in sentences")
    _print_shares(in_sentences(index, wordings))
    _print_clauses(plain_names(index, WORDINGS, SEED))
    print("\nshort texts with what is there and what is not")
    print("\n".join(offered_lines(offered(index))))
    if options.inputs:
        _print_inputs(index, read_inputs(options.inputs))
    if options.letters:
        print("\n" + "\n".join(lines(counted(index, *options.letters))))
    return 0


def _print_inputs(index: SearchIndex, rows: Sequence[Mapping[str, Any]]) -> None:
    print(f"\n{HEADER}")
    for name, own in scored(rows, lambda text: shown(index, text)).items():
        print(line_of(name, own))
    alone = given(rows, lambda text: [(hit.code, hit.confidence) for hit in index.search(text, TIER1_MAX_CODES)])
    said = max(1, alone["statements"])
    shares = ", ".join(f"{name} {alone[count] / said:.3f}" for name, count in GIVEN.items())
    print(f"each of the {alone['statements']} statements by itself: {shares}")


def shown(index: SearchIndex, text: str) -> list[tuple[str, str]]:
    """The codes that tier 1 shows, with their confidence: those of its mentions, and those that the text spells out."""
    found = [one for one in index.search(text, TIER1_MAX_CODES) if one.confidence != "low"]
    return [(hit.code, hit.confidence) for hit in with_written_codes(text, found, index.catalog)[:TIER1_MAX_CODES]]


def _print_generated(counts: Mapping[str, Mapping[str, int]]) -> None:
    print("generated texts    said  exact  touched  claims right")
    for name, own in sorted(counts.items()):
        said, claims = max(1, own["said"]), max(1, own["claims"])
        shares = f"{own['exact'] / said:.3f}    {own['touched'] / said:.3f}         {own['claims_right'] / claims:.3f}"
        print(f"{name:16s} {own['said']:6d}  {shares}")


def _print_clauses(names: Sequence[str]) -> None:
    counts, wrong = misread(clauses(names, CLAUSES, SEED))
    print("\ngenerated clauses about a disease: share read as written")
    for denied, name in ((True, "deny it"), (False, "deny something else")):
        failed = sum(one.denied is denied for one in wrong)
        print(f"  {1 - failed / max(1, counts[denied]):.3f}  {name} ({counts[denied]})")


def _print_shares(shares: Mapping[str, float]) -> None:
    for name, share in shares.items():
        print(f"  {share:.3f}  {name}")
