"""python -m catalog_build check | train | build | show. Errors are one sentence on stderr and exit code 2."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from catalog_build import report
from catalog_build.checks import check, previous_counts
from catalog_build.official import read_source
from catalog_build.options import BuildOptions
from catalog_build.synonyms import all_texts
from catalog_build.training.calibration import choose
from clinical.errors import BefundError, SettingError
from clinical.thresholds import NOTEBOOKS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0, or 2 after an error that says what to do."""
    chosen = _parser().parse_args(arguments)
    commands = {"check": _check, "train": _train, "build": _build, "show": _show}
    try:
        commands[chosen.command](chosen)
    except BefundError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of our output, such as `head`, has left
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        print(f"error: {error.strerror}: {error.filename}; check the path and its permissions", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m catalog_build", description=__doc__, allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)
    source = argparse.ArgumentParser(add_help=False)
    source.add_argument("source", type=Path, help="folder or zip with BfArM's files of one year")
    previous = argparse.ArgumentParser(add_help=False)
    previous.add_argument("--previous", type=Path, help="artifact folder whose counts are compared (2 %%)")
    holdout = argparse.ArgumentParser(add_help=False)
    holdout.add_argument("--holdout", type=int, help="leave this fold (0-19) out, to measure on it")
    one = commands.add_parser("check", parents=[source, previous], help="read the files and check the tables")
    one.add_argument("--docs", type=Path, help="folder for the checks as HTML (Great Expectations)")
    one = commands.add_parser("train", parents=[source, holdout], help="train encoder and ranking model")
    one.add_argument("--out", type=Path, required=True, help="folder to write the weights into")
    one = commands.add_parser("build", parents=[source, previous, holdout], help="build the artifact")
    one.add_argument("--out", type=Path, required=True, help="artifact folder to write")
    one.add_argument("--encoder", help="sentence-transformers model, path or name, instead of the shipped weights")
    one.add_argument("--train", action="store_true", help="train the weights from these files first")
    one.add_argument("--official-only", action="store_true", help="leave Befund's own synonyms out")
    one = commands.add_parser("show", help="what an artifact holds, or one of its codes")
    one.add_argument("folder", type=Path, help="artifact folder")
    one.add_argument("code", nargs="?", help="a code, in any spelling")
    return parser


def _check(chosen: argparse.Namespace) -> None:
    before = previous_counts(chosen.previous) if chosen.previous else None
    with tqdm(total=2, desc="check", unit="step", leave=False, disable=None) as steps:
        source = read_source(chosen.source)
        texts = all_texts(source)
        steps.update()
        outcome = check(source, texts, docs=chosen.docs, previous=before)
        steps.update()
    print(report.of_source(source, len(texts)))
    print(report.of_checks(outcome))


def _train(chosen: argparse.Namespace) -> None:
    BuildOptions(train=True, holdout=chosen.holdout)
    try:
        from catalog_build.build import WEIGHTS, train_weights
        from catalog_build.own_synonyms import own_texts

        source = read_source(chosen.source)
        texts = all_texts(source)
        weights = train_weights(source, texts + own_texts(source, texts, chosen.holdout), chosen.holdout)
    except ModuleNotFoundError as error:
        raise _extra_missing(error) from None
    weights.save(chosen.out)
    assert weights.calibration is not None  # noqa: S101 - training gives it
    _, outcome = choose(weights.calibration.probability, weights.calibration.right)
    print(f"{weights.encoder.name} in {chosen.out}; on queries it has not seen: {json.dumps(outcome)}")
    print(f"to ship them: copy the files to {WEIGHTS}, then run {NOTEBOOKS['confidence']} with WRITE = True")


def _build(chosen: argparse.Namespace) -> None:
    options = BuildOptions(chosen.encoder, chosen.train, chosen.holdout, chosen.previous, chosen.official_only)
    try:
        from catalog_build.build import build_artifact

        build_artifact(chosen.source, chosen.out, options)
    except ModuleNotFoundError as error:
        raise _extra_missing(error) from None


def _extra_missing(error: ModuleNotFoundError) -> Exception:
    if (error.name or "").startswith(("catalog_build", "clinical")):
        return error
    remedy = "install the extra: pip install 'befund[train]'"
    return SettingError(f"the package {error.name} is not installed", "what training needs", remedy)


def _show(chosen: argparse.Namespace) -> None:
    print(report.of_code(chosen.folder, chosen.code) if chosen.code else report.of_artifact(chosen.folder))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # a build that is stopped takes its half-made folder along
    sys.exit(main())
