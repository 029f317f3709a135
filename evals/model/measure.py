"""python -m evals model --base-url URL --catalog DIR --folder DIR [--price IN OUT]: a model's worth here.

In one go, on texts that are public: what the server can do (`bentos check-model`), tiers 2 and 3 beside tier 1 on
written inputs and coded authors, fields of letters beside the rules that read them without a model, letters that tempt
to lie, drafts, seconds to the first token and tokens a second. Every figure has its interval, and each part its cost in
tokens as the server counts them, with `--price` (of a million tokens, in and out) in money.

What the model answered is kept in the folder as it comes. Whoever is cut off, or asks again after something here has
changed, runs the same command: only what has no answer is asked for. The folder then holds `report.md`, `result.json`
(the table of all figures), `tiers-*.json` (a line for each text, for `evals compare` with another model) and the
drafts. Key, thinking tokens and the like are the settings that serve (BEFUND_LLM_...).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import click

from bentos.check_model import check
from bentos.language_model import Endpoint, OpenAIModel
from bentos.models import endpoint_of
from catalog_build.files import check_place, write_json, write_text
from clinical.coding import PROMPT_VERSION
from clinical.command_line import PATH, Command, Several, paragraphs
from clinical.contract import ExtractResponse, values_of
from clinical.llm import LanguageModel, Limits, Message
from clinical.progress import note
from clinical.reading import SearchIndex
from evals.coding.costs import TIERS, Call, Metered
from evals.coding.measure import MOST_AT_ONCE
from evals.coding.targets import settings_for
from evals.command import CATALOG, JSON, main_of
from evals.exchange import KeptModel
from evals.letters.fields import SINGLE, authored, counted, extracted, generated
from evals.letters.generator import letters
from evals.measures.intervals import mean, ratio
from evals.measures.paired import changes, pairs_of
from evals.measures.results import MeasuredResult, Row, row
from evals.measures.texts import EVERY
from evals.measures.texts import rows_of as text_rows
from evals.model import drafts, lies, speed, tiers
from evals.model.report import ModelReport, markdown
from evals.reading.inputs import frame_of
from evals.report import tracking
from evals.rules_model import RulesModel

PARTS: Final = ("check", "tiers", "extraction", "lies", "generation", "speed")
GENERATED: Final = 80
"""Generated letters: each template once."""
TRIES: Final = 10
"""Letters of each class of lies."""
DRAFTED: Final = 20
"""Letters that are drafted from, under each instruction."""
FIRST = (Message("user", "Antworte mit: ok"),)
FIRST_LIMITS = Limits(max_tokens=16, timeout_s=100.0)
Item = TypeVar("Item")


class Price(NamedTuple):
    """Price of a million tokens, in and out."""

    tokens_in: float
    tokens_out: float


@dataclass(frozen=True, slots=True)
class ModelRun:
    """The options of a run. `limit`: items of each set (None: all)."""

    index: SearchIndex
    folder: Path
    at_once: int
    price: Price
    inputs: Path | None
    limit: int | None
    parts: Sequence[str]

    def some(self, items: Sequence[Item]) -> list[Item]:
        """As many as the limit allows, spread evenly over all."""
        if self.limit is None or len(items) <= self.limit:
            return list(items)
        return [items[number * len(items) // self.limit] for number in range(self.limit)]


@click.command(cls=Command, help=paragraphs(__doc__))
@click.option("--base-url", required=True, help="of an OpenAI-compatible server, such as http://gpu-host:8000/v1")
@click.option("--model", "name", help="the name to ask for (the first that the server lists)")
@CATALOG
@click.option("--folder", type=PATH, required=True, help="answers, results and report; the same for a run that goes on")
@click.option("--price", type=(float, float), default=(0.0, 0.0), help="of a million tokens, in and out")
@click.option(
    "--concurrency", type=click.IntRange(1, MOST_AT_ONCE), default=16, show_default=True, help="texts at once"
)
@click.option("--inputs", type=PATH, help="coding: your own texts instead (as `evals reading` takes them); their words "
              "may stand in the kept answers")  # fmt: skip
@click.option("--limit", type=click.IntRange(1), help="at most so many items of each set: a first look")
@click.option("--only", cls=Several, type=click.Choice(PARTS), help="these parts alone")
@JSON
def command(base_url: str, name: str | None, catalog: Path, folder: Path, as_json: bool, **asked: Any) -> int:
    """Measure, write the report and say where it is."""
    tracking.check()
    check_place(folder / "report.md")
    index = SearchIndex.load(catalog)
    parts = asked["only"] or PARTS
    run = ModelRun(index, folder, asked["concurrency"], Price(*asked["price"]), asked["inputs"], asked["limit"], parts)
    made = asyncio.run(measured(run, base_url, name))
    every = [each._replace(set=f"{part}: {each.set}") for part, rows in made.rows.items() for each in rows]
    every += [each._replace(set=f"cost: {each.set}") for each in made.costs]
    result = MeasuredResult.of("model", "python -m evals model", every, **made.about)
    result.write(folder / "result.json")
    text = markdown(made)
    write_text(folder / "report.md", text)
    print(json.dumps(result.rows.to_dict("records")) if as_json else text)
    note(f"report in {folder / 'report.md'}")
    return tracking.logged(result, text)


main = main_of(command, "model")


async def measured(run: ModelRun, base_url: str, name: str | None) -> ModelReport:
    """Every part that was asked for. Raises LanguageModelError where the server gives no first answer, SettingError
    where the folder holds answers of another model."""
    settings = settings_for(run.at_once)
    endpoint = endpoint_of(settings.model_copy(update={"llm_model": name or settings.llm_model}), base_url)
    server = OpenAIModel(endpoint)
    try:
        await server.complete(FIRST, schema=None, limits=FIRST_LIMITS)  # names the model, proves the key
        asked = {"model": server.name, "thinking_tokens": endpoint.thinking_tokens, "extra": dict(endpoint.extra_body)}
        about = {**asked, "prompts": PROMPT_VERSION, "manifest": run.index.manifest.digest, "limit": run.limit}
        about |= {"concurrency": run.at_once, "price": list(run.price)}
        if run.inputs is not None:
            about["inputs"] = run.inputs.name
        model = KeptModel(server, run.folder / "answers.jsonl", asked)
        if model.kept:
            note(f"{model.kept} answers are kept: what they answer is not asked again")
        made = ModelReport(about)
        try:
            await _parts(run, made, model, server, endpoint)
        finally:
            model.close()
    finally:
        await server.close()
    return made


async def _parts(run: ModelRun, made: ModelReport, model: KeptModel, server: OpenAIModel, endpoint: Endpoint) -> None:
    steps: dict[str, Callable[[], Coroutine[Any, Any, None]]] = {
        "check": lambda: _check(made, endpoint),
        "tiers": lambda: _tiers(run, made, model),
        "extraction": lambda: _extraction(run, made, model),
        "lies": lambda: _lies(run, made, model),
        "generation": lambda: _generation(run, made, model),
        "speed": lambda: _speed(run, made, server, endpoint.api_key),
    }
    for number, part in enumerate(run.parts, start=1):
        note(f"part {number} of {len(run.parts)}: {part}")
        await steps[part]()


async def _check(made: ModelReport, endpoint: Endpoint) -> None:
    made.checks += [each async for each in check(endpoint)]


async def _tiers(run: ModelRun, made: ModelReport, model: LanguageModel) -> None:
    """All tiers on each set of texts, beside each other in pairs."""
    sets = tiers.own_inputs(run.inputs) if run.inputs else tiers.public_inputs()
    rows = made.rows.setdefault("tiers", [])
    for name, every in sets.items():
        inputs = run.some(every)
        coded = await tiers.coded_together(run.index, model, [one["text"] for one in inputs], run.at_once)
        results = {}
        for tier in TIERS:
            shown = {one["text"]: each.found[tier] for one, each in zip(inputs, coded, strict=True)}
            codes = {text: None if got is None else [(hit.code, hit.confidence) for hit in got if hit.shown]
                     for text, got in shown.items()}  # fmt: skip
            frame = frame_of(inputs, codes.__getitem__)
            own = [each._replace(set=f"{name}, tier {tier}: {each.set}") for each in text_rows(frame)]
            own += row("failed", f"{name}, tier {tier}: {EVERY}", len(frame), float(frame["failed"].sum()))
            rows += own
            about = {**made.about, "tier": str(tier), "dataset": {"name": name, "rows": len(inputs)}}
            results[tier] = MeasuredResult.of("reading", f"python -m evals model, {name}", own, frame, **about)
            results[tier].write(run.folder / f"tiers-{name.replace(' ', '-')}-{tier}.json")
            if tier > 1:
                made.changes[f"{name}, tier {tier}"] = changes(pairs_of(results[1], results[tier]))
                made.costs += costs(f"{name}, tier {tier}", [each.calls_of(tier) for each in coded], run.price)
        rows += tiers.offered_rows(name, inputs, coded)
        rows += row("malformed", name, sum(len(each.calls) for each in coded), float(sum(e.malformed for e in coded)))


async def _extraction(run: ModelRun, made: ModelReport, model: LanguageModel) -> None:
    """Fields of authors' letters and of generated ones, by the model and by the rules."""
    rows = made.rows.setdefault("extraction", [])
    sets = {"authors' letters": [*authored("train"), *authored("tune")],
            "generated letters": generated(letters(GENERATED, lies.SEED))}  # fmt: skip
    for name, every in sets.items():
        own = run.some(every)
        metered, requests = [Metered(model) for _ in own], [one.request for one in own]
        said = await extracted(requests, metered.__getitem__, run.at_once)
        found = counted(own, said)
        rows += [each._replace(set=f"{name}, model: {each.set}") for each in found.rows()]
        rows += _removed(f"{name}, model: {SINGLE}", said)
        rows += row("malformed", name, sum(len(e.calls) for e in metered), float(sum(e.malformed for e in metered)))
        rules = counted(own, await extracted(requests, [RulesModel() for _ in own].__getitem__, run.at_once))
        rows += [each._replace(set=f"{name}, rules: {each.set}") for each in rules.rows()]
        made.costs += costs(name, [each.calls for each in metered], run.price)


def _removed(of: str, said: Sequence[ExtractResponse | None]) -> list[Row]:
    """The share of the values told that grounding took away, over letters."""
    answers = [one for one in said if one is not None]
    gone = [len(one.removed_by_grounding) for one in answers]
    kept = [sum(1 for _ in values_of(one.data.model_dump())) for one in answers]
    told = [a + b for a, b in zip(gone, kept, strict=True)]
    found = ratio(gone, told, [str(n) for n in range(len(told))]) if told else None
    return row("removed_by_grounding", of, sum(told), found)


async def _lies(run: ModelRun, made: ModelReport, model: LanguageModel) -> None:
    """Baits through the model and through the rules."""
    asked = lies.baits(run.limit or TRIES)
    metered, requests = [Metered(model) for _ in asked], [one.request for one in asked]
    rows = lies.rows_of("model", asked, await extracted(requests, metered.__getitem__, run.at_once))
    rules = RulesModel()
    rows += lies.rows_of("rules", asked, await extracted(requests, lambda _: rules, run.at_once))
    made.rows["lies"] = rows
    made.costs += costs("letters that tempt", [each.calls for each in metered], run.price)


async def _generation(run: ModelRun, made: ModelReport, model: LanguageModel) -> None:
    """Drafts, and the files to read them."""
    every = authored("train")
    chosen = replace(run, limit=min(run.limit or DRAFTED, DRAFTED)).some(every)
    found = await drafts.drafted(model, chosen, run.at_once)
    for one in found:
        if one.draft is not None:
            write_text(run.folder / "drafts" / f"{one.name}.md", one.draft + "\n")
    made.rows["generation"] = drafts.rows_of(run.index, found)
    made.costs += costs("drafts", [one.metered.calls for one in found], run.price)


async def _speed(run: ModelRun, made: ModelReport, server: OpenAIModel, key: str | None) -> None:
    """Levels that are not measured yet, each kept when it is done."""
    file, texts = run.folder / "speed.json", [one.request.text for one in authored("train")]
    kept: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    levels = [level for level in speed.LEVELS if level <= run.at_once]
    for at_once in levels if run.limit is None else levels[:2]:
        if str(at_once) not in kept:
            kept[str(at_once)] = (await speed.measured(server, key, texts, at_once))[1:]
            write_json(file, kept)
    made.rows["speed"] = list(speed.rows_of([speed.level_of(int(n), *one) for n, one in kept.items()]))


def costs(of: str, items: Sequence[Sequence[Call]], price: Price) -> list[Row]:
    """Calls, tokens, seconds of the model and money of one item, means over those that were asked at all."""
    asked = [calls for calls in items if calls]
    spent = {
        "calls": [float(len(calls)) for calls in asked],
        "tokens_in": [float(sum(call.tokens_in for call in calls)) for calls in asked],
        "tokens_out": [float(sum(call.tokens_out for call in calls)) for calls in asked],
        "seconds": [sum(call.seconds for call in calls) for calls in asked],
    }
    if any(price):
        both = zip(spent["tokens_in"], spent["tokens_out"], strict=True)
        spent["money_of_1000"] = [(a * price.tokens_in + b * price.tokens_out) / 1e3 for a, b in both]
    return [each for measure, values in spent.items() for each in row(measure, of, len(values), mean(values))]
