"""`python -m evals letters [FILE TEXTS]`: the fields of letters that are read right, wrong, or not at all.

Without FILE: generated letters, every template `--times` times, file by file. With FILE and TEXTS: letters that people
have annotated (`evals.letters.fields` says their form); `--authors` measures on the letters of independent authors.
Every letter goes through extraction and grounding as a request does, with the language model of the settings where one
is set, else with the rules.

`--write-prompts DIR` writes what a language model would be sent instead, as `<id>.prompt.txt`; `--answers DIR` measures
what one answered (`<id>.answer.json`, its words and nothing else), on the letters that have an answer. `--review`
measures what `review` says of values in the wrong field: of each true answer with two values exchanged, and of the true
ones. `--grounding` measures evidence (`evals.letters.grounding`): negatives kept and positives lost. `--as KIND` sets
the letters as files by several programs first, and judges the boxes of evidence too (`evals.letters.as_files`);
`--forms` copies them first (`evals.forms`): wrapped, with entities of HTML, with a wrong encoding.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from bentos.models import model_of
from catalog_build.training.authors import SPLITS
from clinical.command_line import PATH, paragraphs
from clinical.letters import messages_for
from clinical.settings import Settings
from evals.coding.costs import Metered
from evals.command import JSON, main_of
from evals.exchange import ExchangedModel
from evals.forms import FORMS, OTHER_WORDS
from evals.letters import as_files, review
from evals.letters.fields import Asked, annotated, authored, generated, measured, shown
from evals.letters.generator import FILES, letters
from evals.letters.grounding import MEASURES, invented_words, labelled, labelled_rows
from evals.measures.intervals import share
from evals.measures.results import MeasuredResult, Row, printed, row
from evals.report import tracking

TEMPLATES = 20
"""Of each file."""


@click.command(help=paragraphs(__doc__))
@click.argument("file", type=PATH, required=False)
@click.argument("texts", type=PATH, required=False)
@click.option("--authors", type=click.Choice(SPLITS), help="instead of FILE: the letters of the authors of a split")
@click.option("--times", type=click.IntRange(1), default=6, help="generated: letters of each template (6)")
@click.option("--seed", type=int, default=0, help="generated: other letters")
@click.option("--only", type=click.Choice(FILES), multiple=True, help="generated: these files alone")
@click.option("--faults", is_flag=True, help="also every value that is not right, and every one removed")
@click.option("--concurrency", type=click.IntRange(1), default=1, help="letters at once, for a configured model")
@click.option("--write-prompts", "prompts", type=PATH, help="write <id>.prompt.txt into this folder, measure nothing")
@click.option("--answers", "given", type=PATH, help="measure the <id>.answer.json of this folder")
@click.option("--review", "reviewing", is_flag=True, help="measure the review of values in the wrong field instead")
@click.option("--grounding", is_flag=True, help="measure the judging of evidence instead")
@click.option("--tries", type=click.IntRange(1), default=100, help="with --grounding: negatives of each class (100)")
@click.option("--as", "kind", type=click.Choice(as_files.KINDS), help="set the letters as files first")
@click.option("--forms", is_flag=True, help="copy the letters first: wrapped, with a wrong encoding and so on")
@click.option("--out", type=PATH, help="also write the rows as a result")
@JSON
def command(file: Path | None, texts: Path | None, out: Path | None, as_json: bool, **asked: Any) -> int:
    """Measure and print."""
    tracking.check()
    if (file is None) != (texts is None):
        raise click.UsageError("FILE and TEXTS go together")
    if asked["prompts"] is not None:
        wanted = _letters(file, texts, asked)
        model = exchanged(wanted, asked["prompts"])
        measured(wanted, model)
        print(f"{len(model.unanswered())} prompts written to {asked['prompts']}")
        return 0
    about: dict[str, Any] = {"seed": asked["seed"]}
    if asked["grounding"]:
        rows, said = _grounding(file, texts, asked)
    elif asked["kind"]:
        rows, said = _as_files(_letters(file, texts, asked), asked)
    elif asked["forms"]:
        rows = [*_in_forms(_letters(file, texts, asked))]
        said = printed(rows)
    elif asked["reviewing"]:
        rows = review.rows_of(_letters(file, texts, asked))
        said = printed(rows)
    else:
        rows, said = _fields(file, texts, asked, about)
    words = "python -m evals letters" + (f" {file} {texts}" if file else "")
    words += f" --authors {asked['authors']}" if asked["authors"] else ""
    words += f" --as {asked['kind']}" if asked["kind"] else " --forms" * asked["forms"]
    result = MeasuredResult.of("letters", words, rows, **about)
    if out:
        result.write(out)
    print(json.dumps(result.rows.to_dict("records")) if as_json else said)
    return tracking.logged(result, said)


main = main_of(command, "letters")


def _letters(file: Path | None, texts: Path | None, asked: dict[str, Any]) -> list[Asked]:
    if asked["authors"] is not None:
        return authored(asked["authors"])
    if file is not None and texts is not None:
        return annotated(file, texts, explain=asked["given"] is not None)
    names = asked["only"] or FILES
    return generated(letters(TEMPLATES * len(names) * asked["times"], asked["seed"], names))


def _fields(
    file: Path | None, texts: Path | None, asked: dict[str, Any], about: dict[str, Any]
) -> tuple[list[Row], str]:
    """Field by field; generated letters file by file."""
    settings = Settings.read()
    configured = model_of(settings) if settings.llm_base_url else None
    metered = Metered(configured) if configured else None
    rows, said, count = list[Row](), list[str](), 0
    for name in ("",) if file or asked["authors"] else asked["only"] or FILES:
        own = _letters(file, texts, {**asked, "only": (name,)} if name else asked)
        model: Any = metered
        if asked["given"] is not None:
            own = [one for one in own if (asked["given"] / f"{one.name}.answer.json").is_file()]
            model = exchanged(own, asked["given"])
        report = measured(own, model, asked["concurrency"])
        rows += [one._replace(set=f"{name}: {one.set}" if name else one.set) for one in report.rows()]
        said.append(f"== {name or file or asked['authors']}: {len(own)} letters\n{shown(report, asked['faults'])}")
        count += len(own)
    if metered:
        about |= {"model": metered.name, "per_text": _spent(metered, count)}
    return rows, "\n".join(said)


def exchanged(asked: Sequence[Asked], folder: Path) -> ExchangedModel:
    """A model whose questions and answers lie in a folder under the names of the letters."""
    names = {messages_for(one.request.document_type, one.request.text)[-1].content: one.name for one in asked}
    return ExchangedModel(folder, names)


def _as_files(letters: Sequence[Asked], asked: dict[str, Any]) -> tuple[list[Row], str]:
    """The same letters as text, and as files set in several ways."""
    plain = measured(letters)
    rows = [one._replace(set=f"text: {one.set}") for one in plain.rows() if one.set.startswith("all ")]
    faults = []
    for name, report in as_files.measured_as(letters, asked["kind"]).items():
        rows += report.rows(name)
        new = [one for one in report.values.faults if one not in plain.faults]
        faults += [f"{name} | {one.letter} | {one.path} | got {one.got!r} | want {one.want!r}" for one in new]
    return rows, "\n".join([printed(rows), *(faults if asked["faults"] else ())])


def _in_forms(letters: Sequence[Asked]) -> Iterator[Row]:
    """The same letters in each form that leaves their words as they are."""
    for name, form in FORMS.items():
        if name not in OTHER_WORDS:
            copies = [one.request.model_copy(update={"text": form(one.request.text)}) for one in letters]
            report = measured([one._replace(request=copy) for one, copy in zip(letters, copies, strict=True)])
            yield from (one._replace(set=f"{name}: {one.set}") for one in report.rows() if one.set.startswith("all "))


def _spent(metered: Metered, letters: int) -> dict[str, float]:
    calls = metered.calls
    sums = {"calls": len(calls), "tokens_in": sum(one.tokens_in for one in calls)}
    sums |= {"tokens_out": sum(one.tokens_out for one in calls)}
    return {name: round(count / max(1, letters), 3) for name, count in sums.items()}


def _grounding(file: Path | None, texts: Path | None, asked: dict[str, Any]) -> tuple[list[Row], str]:
    """Negatives and positives over all and by class, and one invented word inside a true value."""
    found = list(labelled(letters(4 * TEMPLATES, asked["seed"]), asked["tries"], asked["seed"]))
    rows = list[Row]()
    for measure in MEASURES:
        wrong, of = (sum(getattr(one, name) for one in found if one.measure == measure) for name in ("wrong", "of"))
        rows += row(measure, "all", of, share(wrong, of))
    words = invented_words(_letters(file, texts, asked), asked["seed"])
    rows += row("invented_word_kept", "all", words.invented, share(len(words.kept), words.invented))
    rows += row("true_value_removed", "all", words.true, share(len(words.removed), words.true))
    by_class = labelled_rows(found)
    more = [f"  kept: {path}: {value[:140]}" for path, value in words.kept]
    more += [f"  removed: {path}: {value[:140]}" for path, value in words.removed]
    return [*rows, *by_class], "\n".join([printed([*rows, *by_class] if asked["faults"] else rows), *more])
