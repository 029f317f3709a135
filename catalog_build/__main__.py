"""python -m catalog_build COMMAND: the catalog and what is trained, offline. Errors: a line, status 2."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from catalog_build import report
from catalog_build.build import FITTED, WEIGHTS, BuildOptions, build_artifact, confidence_of, train_weights
from catalog_build.checks import check, previous_counts
from catalog_build.official import read_source
from catalog_build.own_synonyms import NOT_LEARNED, heard, index_without, load_authored, own_texts, with_everyday
from catalog_build.synonyms import all_texts
from catalog_build.training import authors, suggesting
from catalog_build.training.calibration import choose, silent_bands
from catalog_build.training.feedback import command as feedback
from catalog_build.training.finetuning import tuned
from clinical.claims import Tagger
from clinical.command_line import PATH, Group, entry, paragraphs
from clinical.errors import SettingError
from clinical.progress import progress
from clinical.reading import CONFIDENCE, SearchIndex
from clinical.thresholds import NOTEBOOKS


@click.group(cls=Group, help=paragraphs(__doc__))
def command() -> None:
    """The catalog, offline."""


SOURCE = click.argument("source", type=PATH)
PREVIOUS = click.option("--previous", type=PATH, help="artifact folder whose counts are compared (2 %)")
HOLDOUT = click.option("--holdout", type=int, help="leave this fold (0-19) out, to measure on it")


command.add_command(feedback, "feedback")


@command.command("check")
@SOURCE
@PREVIOUS
@click.option("--docs", type=PATH, help="folder for the checks as HTML (Great Expectations)")
def _check(source: Path, previous: Path | None, docs: Path | None) -> None:
    """Read the files (SOURCE: folder or zip with BfArM's files of one year) and check the tables."""
    before = previous_counts(previous) if previous else None
    with progress(None, "check", "steps", total=2) as steps:
        files = read_source(source)
        texts = all_texts(files)
        steps.update()
        outcome = check(files, texts, docs=docs, previous=before)
        steps.update()
    click.echo(report.of_source(files, len(texts)))
    click.echo(report.of_checks(outcome))


@command.command("train")
@SOURCE
@HOLDOUT
@click.option("--out", type=PATH, required=True, help="folder to write the weights into")
@click.option("--encoder", type=PATH, help="only this sentence-transformers model (a folder), fine-tuned on the pairs")
@click.option("--rounds", type=click.IntRange(1), help="with --encoder: pairs of each code (4); with --texts (2)")
@click.option("--rate", type=float, default=5e-4, help="with --encoder: learning rate (0.0005; large models 0.00002)")
@click.option("--reading", is_flag=True, help="only the confidence in codes of texts; SOURCE: an artifact")
@click.option("--suggest", type=PATH, help="only the weights of suggestions, with this artifact")
@click.option("--commonness", is_flag=True, help="with --suggest: also how common codes are; --reading is due then")
@click.option("--texts", type=PATH, multiple=True, help="own annotated texts (files, folders); SOURCE: an artifact")
@click.option("--only", type=click.Choice(FITTED), multiple=True, help="with --texts: fit this alone; repeat for two")
@click.option("--parts", type=click.IntRange(0), default=3, help="with --texts: left out in so many parts (3; 0: none)")
@click.option("--weight", type=click.IntRange(1), default=3, help="with --texts: times one is seen in a round (3)")
@click.option("--claims-rate", type=float, default=5e-4, help="with --texts: learning rate of the tagger (0.0005)")
@click.option("--hidden", type=click.IntRange(1), default=32, help="with --texts: width of the second stage (32)")
@click.option("--decay", type=float, default=0.3, help="with --texts: decay of the second stage's weights (0.3)")
@click.option("--written", type=click.IntRange(0), default=1_500, help="with --texts: kept inputs read again (0: all)")
@click.option("--replayed", type=click.IntRange(0), default=0, help="with --texts: authors' texts seen again (0: all)")
@click.option("--seed", type=int, default=0, help="with --texts")
def _train(
    source: Path,
    holdout: int | None,
    out: Path,
    encoder: Path | None,
    reading: bool,
    suggest: Path | None,
    commonness: bool,
    texts: tuple[Path, ...],
    rounds: int | None,
    rate: float,
    **how: Any,
) -> None:
    """Train encoder, ranking model and confidence from SOURCE; or fine-tune a model of your own; or train an
    artifact's reading further on own annotated texts: train ARTIFACT --texts FILE --out DIR."""
    BuildOptions(train=True, holdout=holdout)
    with _extra():
        if texts:
            _train_texts(source, texts, out, rounds or 2, **how)
        elif suggest is not None:
            _train_suggestions(suggest, out, commonness)
        elif encoder is not None:
            _tune(source, encoder, out, holdout or 0, rounds=rounds or 4, rate=rate)
        elif reading:
            _train_reading(source, out)
        else:
            _train_weights(source, out, holdout)


def _train_weights(source: Path, out: Path, holdout: int | None) -> None:
    files = with_everyday(read_source(source))
    wordings = all_texts(files)
    weights = train_weights(files, heard(wordings, files.catalog) + own_texts(files, wordings, holdout), holdout)
    weights.save(out)
    assert weights.calibration is not None  # noqa: S101 - training gives it
    thresholds, outcome = choose(weights.calibration.probability, weights.calibration.right)
    _warn(silent_bands(thresholds))
    click.echo(f"{weights.encoder.name} in {out}; on queries it has not seen: {json.dumps(outcome)}")
    click.echo(f"to ship them: copy the files to {WEIGHTS}, then run {NOTEBOOKS['confidence']} with WRITE = True")


def _train_texts(artifact: Path, files: tuple[Path, ...], out: Path, rounds: int, **how: Any) -> None:
    from catalog_build.training.own_texts import OwnRecipe, named, report_of, train_on

    recipe = OwnRecipe(rounds=rounds, **how | {"only": how["only"] or FITTED})
    gained = train_on(artifact, files, out, recipe)
    if gained:
        click.echo(report_of(gained, len(named(files)), recipe.parts))
    sure = confidence_of(out)
    _warn(silent_bands(sure.bounds, "in texts") if sure else "")
    click.echo(f"artifact in {out}; to serve it: BEFUND_CATALOG={out}")


def _tune(source: Path, encoder: Path, out: Path, fold: int, **how: Any) -> None:
    files = read_source(source)
    texts = all_texts(files)
    own = tuple(one for one in own_texts(files, texts, fold) if one.source not in NOT_LEARNED)
    found = tuned(encoder, texts + own, fold, out, **how)
    click.echo(
        f"model in {out}; of {found.queries} synonyms it was not shown the nearest wording has the right code for "
        f"{found.after:.1%}, before {found.before:.1%}"
    )
    click.echo(f"to build with it: python -m catalog_build build {source} --encoder {out} --out DIR")


def _train_reading(artifact: Path, out: Path) -> None:
    from catalog_build.training.reading import train_reading

    confidence = train_reading(artifact)
    out.mkdir(parents=True, exist_ok=True)
    confidence.save(out / CONFIDENCE)
    (out / CONFIDENCE).chmod(0o644)
    bounds = confidence.bounds
    click.echo(f"confidence in {out}; in texts high from {bounds.high:.3f}, medium from {bounds.medium:.3f}")
    click.echo(f"to ship it: copy {CONFIDENCE} to {WEIGHTS}")


def _train_suggestions(artifact: Path, out: Path, commonness: bool) -> None:
    index = index_without(SearchIndex.load(artifact), load_authored(artifact))  # their phrases are learned from
    weights = suggesting.fitted(index.catalog, index.wordings, index.encoder, commonness)
    file = out / suggesting.WEIGHTS
    weights.save(file)
    click.echo(f"weights of suggestions in {file}; to ship them: copy the file to {WEIGHTS}")


@command.command("authors")
@click.argument("files", type=PATH, nargs=-1, required=True)
@click.option("--source", type=PATH, help="BfArM's files: every code must be a terminal one of theirs")
def _authors(files: tuple[Path, ...], source: Path | None) -> None:
    """Check labelled texts (FILES in the form of catalog_build/training/authors) and count their mentions."""
    codes = {code.code for code in read_source(source).catalog if code.terminal} if source else None
    for file in files:
        click.echo(f"{file.name}: {authors.summary(authors.parse(file, codes))}")


@command.command("letters")
@click.argument("files", type=PATH, nargs=-1, required=True)
def _letters(files: tuple[Path, ...]) -> None:
    """Check annotated letters (FILES in the form of catalog_build/training/letters) and count their values."""
    from catalog_build.training import letters

    for file in files:
        click.echo(f"{file.name}: {letters.summary(letters.parse_letters(file))}")


@command.command("statements")
@click.option("--out", type=PATH, help="folder to write the weights into")
@click.option("--measure", is_flag=True, help="every author by a model of the others: right, wrong, missing statements")
def _statements(out: Path | None, measure: bool) -> None:
    """Train the models of a letter's statements, of its question, of its entries' parts and words, and of its single
    values on the annotated letters to learn from."""
    with _extra():
        from catalog_build.training import letters, statements
        from catalog_build.training.spans import spans_left_out, train_spans
        from catalog_build.training.values import train_values, values_left_out
    by_author = letters.read_letters("train")
    heads = [letter for own in letters.read_letters("heads").values() for letter in own]
    if measure:
        measured: dict[str, dict[str, Any]] = {
            "statements": statements.left_out(by_author),
            "questions": {"fragestellung": statements.questions_left_out(by_author)},
            "entries": spans_left_out(by_author),
            "single values": values_left_out(by_author, heads),
        }
        for of, sums in measured.items():
            for name, (right, wrong, missing) in sums.items():
                f1 = 2 * right / max(1, 2 * right + wrong + missing)
                click.echo(f"{of} of {name}: right {right}, wrong {wrong}, missing {missing}, F1 {f1:.3f}")
        click.echo("parts of entries: {} of {} right".format(*statements.parts_left_out(by_author)))
    if out is not None:
        from clinical.letters import PARTS, QUESTION, SPANS, STATEMENTS, VALUES

        every = [letter for own in by_author.values() for letter in own]
        out.mkdir(parents=True, exist_ok=True)
        statements.train_statements(every).save(out / STATEMENTS)
        statements.train_questions(every).save(out / QUESTION)
        statements.train_parts(every).save(out / PARTS)
        train_spans(by_author).save(out / SPANS)
        train_values([*every, *heads]).save(out / VALUES)
        click.echo(f"weights in {out}; to ship them: copy them to clinical/letters/reader, then run the tests")


@command.command("tagger")
@click.argument("artifact", type=PATH)
@click.option("--out", type=PATH, required=True, help="file to write the weights into")
@click.option("--seed", type=int, default=0, help="of the first network")
@click.option("--nets", type=click.IntRange(1), default=4, help="networks whose answers are averaged (4)")
@click.option("--width", type=click.IntRange(1), default=32, help="of the tables of words and of n-grams (32)")
@click.option("--hidden", type=click.IntRange(1), default=128, help="units of a layer (128)")
@click.option("--layers", type=click.IntRange(1), default=5, help="each sees twice as far as the one before (5)")
@click.option("--epochs", type=click.IntRange(1), default=10, help="rounds of training (10)")
@click.option("--rate", type=float, default=2e-3, help="learning rate (0.002)")
@click.option("--framed", type=click.IntRange(0), default=30_000, help="texts written from frames and wordings (30000)")
@click.option("--mixed", type=click.IntRange(0), default=6_500, help="of those from frames in each round (6500)")
@click.option("--worded", type=click.IntRange(0), default=2_500, help="of those from wordings in each round (2500)")
@click.option("--texts", type=PATH, multiple=True, help="authors' files to learn from, in place of Befund's own")
@click.option("--further", type=PATH, help="weights of as many networks to go on from, in place of new ones")
def _tagger(artifact: Path, out: Path, texts: tuple[Path, ...], further: Path | None, **how: Any) -> None:
    """Train the tagger of mentions and claims, from scratch or further: on the labelled texts of the authors to learn
    from, and on texts written from the wordings of an artifact."""
    with _extra():
        from catalog_build.training.claims import Recipe, train_claims
        from catalog_build.training.reading import material

        known = material(SearchIndex.load(artifact))
        if texts:
            known = known._replace(texts=[text for file in texts for text in authors.parse(file)])
        tagger = train_claims(known, Recipe(**how), Tagger.load(further) if further else None)
    tagger.save(out)
    click.echo(f"tagger in {out}; to ship it: copy it to clinical/claims, then fit the confidence: train --reading")


@command.command("build")
@SOURCE
@PREVIOUS
@HOLDOUT
@click.option("--out", type=PATH, required=True, help="artifact folder to write")
@click.option(
    "--encoder", help="folder of a sentence-transformers model, copied into the artifact, for the shipped one"
)
@click.option("--train", is_flag=True, help="train the weights from these files first")
@click.option("--official-only", is_flag=True, help="leave Befund's own synonyms out")
@click.option("--synonyms", type=PATH, multiple=True, help="TSV of own synonyms: text, code; repeat: later ones win")
@click.option("--over-official", is_flag=True, help="own synonyms win over official ones, too (never over titles)")
def _build(source: Path, out: Path, **given: Any) -> None:
    """Build the artifact from SOURCE."""
    options = BuildOptions(**given)
    with _extra():
        manifest = build_artifact(source, out, options)
    click.echo(report.of_build(manifest, out))
    sure = confidence_of(out)
    _warn(silent_bands(manifest.thresholds))
    _warn(silent_bands(sure.bounds, "in texts") if sure else "")
    if options.synonyms:
        click.echo(report.of_layers(manifest, out))


def _warn(warning: str) -> None:
    if warning:
        click.secho(warning, fg="red", bold=True, err=True)


@contextmanager
def _extra() -> Iterator[None]:
    """Inside, a package of the training that is not installed is a sentence."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith(("catalog_build", "clinical")):
            raise
        remedy = "install the extra: pip install 'befund[quality]'"
        raise SettingError(f"the package {error.name} is not installed", "what training needs", remedy) from None


@command.command("show")
@click.argument("folder", type=PATH)
@click.argument("code", required=False)
def _show(folder: Path, code: str | None) -> None:
    """Print the contents of the artifact in FOLDER, or one CODE of it, in any spelling."""
    click.echo(report.of_code(folder, code) if code else report.of_artifact(folder))


main = entry(command, "python -m catalog_build")

if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # a build that is stopped takes its half-made folder along
    sys.exit(main(None))
