"""`python -m evals extraction`: lies, truths, foreign letters, the rehearsal baseline, and the time grounding takes.

Every number is reported with what it is a share of; a class of lies with its 95 % bound (Clopper and Pearson 1934: no
lie in n tries means a rate below 1 - 0.05 ** (1 / n)).
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import random
import re
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from bentos.embedded import RehearsalModel, second_opinion
from bentos.models import model_of
from clinical.command_line import PATH, paragraphs
from clinical.contract import TEXT_MAX, Arztbrief
from clinical.extraction import PROMPT
from clinical.grounding import field_of, ground, judge
from clinical.language import parse_date
from clinical.progress import progress
from clinical.settings import Settings
from evals.coding.studies.costs import Metered
from evals.command import main_of
from evals.extraction import fields
from evals.extraction.letters import Letter, letters
from evals.extraction.letters_varied import varied
from evals.extraction.lies import APART, LIES, answer_of, lies, passes, stands_in, values_of
from evals.extraction.truths import TRUTHS, removed_truths
from evals.reports import tracking
from evals.reports.intervals import share
from evals.reports.results import provenance, write_result

TRIES = 3_000
LETTERS = 480
SPEED_ROUNDS = 200
SPEED_VALUES = 60
LENGTHS = (1_000, 2_500, 5_000, 10_000, 20_000)


def measure(tries: int = TRIES, letter_count: int = LETTERS, seed: int = 2026, concurrency: int = 1) -> dict[str, Any]:
    """All measures as one JSON-ready report."""
    made = letters(letter_count, seed)
    return {
        "letters": letter_count,
        "seed": seed,
        "lies": {kind: _lies(kind, made, tries, seed) for kind in _bar(LIES, "lies")},
        "apart": {kind: _lies(kind, made, tries // 10, seed) for kind in APART},
        "truths": {kind: _truths(kind, made) for kind in _bar(TRUTHS, "truths")},
        "foreign_letters": foreign_letters(),
        "rehearsal": rehearsal(letters(letter_count // 2, seed + 1)),
        "rehearsal_varied": rehearsal(varied(letter_count // 2, seed + 1)),
        "reading": reading(varied(letter_count, seed)),
        **_configured(letters(letter_count // 2, seed + 1), concurrency),
        "speed": speed(made),
    }


def _configured(made: list[Letter], concurrency: int) -> dict[str, Any]:
    """The same for the model that the settings name, where they name one, and what a letter took."""
    settings = Settings.read()
    model = model_of(settings) if settings.llm_base_url else None
    if model is None:
        return {}
    prompt = hashlib.sha256(PROMPT.encode()).hexdigest()[:12]
    metered, began = Metered(model), time.perf_counter()
    found = fields.measured(fields.answered(made, metered, concurrency))
    calls = metered.calls
    spent = {
        "calls": len(calls) / len(made),
        "tokens_in": sum(call.tokens_in for call in calls) / len(made),
        "tokens_out": sum(call.tokens_out for call in calls) / len(made),
        "wall_s": round(time.perf_counter() - began, 1),
    }
    return {"model": model.name, "prompts": prompt, "configured": found, "per_letter": spent}


def _bar(names: Iterable[str], what: str) -> Any:
    return progress(names, what, "classes")


def _lies(kind: str, made: list[Letter], tries: int, seed: int) -> dict[str, Any]:
    total, passed = 0, 0
    for lie in lies(kind, made, tries, seed):
        total += 1
        passed += passes(lie)
    return {
        "n": total,
        "passed": passed,
        "rate": share(passed, total),
        "bound_95": round(_upper_bound(passed, total), 5),
    }


def _upper_bound(passed: int, total: int) -> float:
    """One-sided 95 % bound of a rate: exact for none; Wilson 1927 otherwise."""
    if not total:
        return 1.0
    if not passed:
        return float(1 - 0.05 ** (1 / total))
    rate, z = passed / total, 1.645
    middle = rate + z * z / (2 * total)
    return float((middle + z * (rate * (1 - rate) / total + z * z / (4 * total * total)) ** 0.5) / (1 + z * z / total))


def _truths(kind: str, made: list[Letter]) -> dict[str, Any]:
    total, removed = removed_truths(kind, made)
    fields = Counter(field_of(path) for path, _, _ in removed)
    rate = {"share": round(len(removed) / total, 5), "rate": share(len(removed), total)}
    return {"n": total, "removed": len(removed), **rate, "fields": dict(fields)}


def foreign_letters(folder: Path | None = None) -> dict[str, Any]:
    """GraSCCo (Modersohn et al. 2022): names and full dates of each letter against it, and against another letter."""
    folder = folder or _shared() / "eval-dev"
    if not (folder / "grascco_phi.jsonl").is_file():
        return {"skipped": "GraSCCo is not here: set BEFUND_SHARED_DATA to the folder that holds eval-dev/grascco"}
    rows = [json.loads(line) for line in (folder / "grascco_phi.jsonl").read_text("utf-8").splitlines()]
    texts = {row["doc"]: (folder / "grascco" / f"{row['doc']}.txt").read_bytes().decode("utf-8") for row in rows}
    values = {row["doc"]: sorted(set(_stated(row["phi"]))) for row in rows}
    result: dict[str, Any] = {}
    for kind in ("name", "date"):
        kept = [(_keeps(texts[doc], *one), one) for doc, stated in values.items() for one in stated if one[0] == kind]
        swapped = list(_swapped(values, texts, kind))
        result[kind] = {
            "true": len(kept),
            "kept": sum(ok for ok, _ in kept),
            "swapped": len(swapped),
            "swapped_removed": sum(not _keeps(text, *one) for text, one in swapped),
        }
    return result


def _shared() -> Path:
    return Path(os.environ.get("BEFUND_SHARED_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")


def _stated(spans: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Names of patients and doctors, and dates that name a day, as a model would give them."""
    names = [("name", span["text"]) for span in spans if span["kind"] in ("NAME_PATIENT", "NAME_DOCTOR")]
    dates = [("date", day) for span in spans if span["kind"] == "DATE" and (day := parse_date(span["text"]))]
    return [one for one in names if len(one[1]) > 2] + dates


def _keeps(text: str, kind: str, value: str) -> bool:
    path = "absender.name" if kind == "name" else "eingriffe.datum"
    return all(finding.kept for finding in judge(answer_of(path, value, None), text))


def _swapped(values: dict[str, list[tuple[str, str]]], texts: dict[str, str], kind: str) -> Any:
    """Every value of every other letter that this one does not hold, by the eval's own idea of holding."""
    for doc, text in texts.items():
        days = {value for one, value in values[doc] if one == "date"}
        for other, stated in values.items():
            for one in stated if other != doc else ():
                if (one[0] == kind == "name" and not stands_in(one[1], text)) or (
                    one[0] == kind == "date" and one[1] not in days and not _day_in(one[1], text)
                ):
                    yield text, one


def _day_in(day: str, text: str) -> bool:
    """Whether year, month and day stand near each other in any order of writing: apart from the validator's reading."""
    year, month, number = day.split("-")
    plain = rf"0?{int(number)}\.?\s?[./-]\s?0?{int(month)}\.?\s?[./ -]\s?(?:{year}|{year[2:]})"
    ranged = rf"\b0?{int(number)}\.\s?(?:0?{int(month)}\.)?\s?(?:-|–|bis|und)"
    return re.search(plain, text) is not None or re.search(ranged, text) is not None


def rehearsal(made: list[Letter]) -> dict[str, Any]:
    """What the rehearsal model's fields are worth, behind grounding."""
    return fields.measured(fields.answered(made, RehearsalModel()))


def reading(made: list[Letter], rounds: int = SPEED_ROUNDS) -> dict[str, float]:
    """Milliseconds of CPU time in which the embedded reader reads 20,000 characters: letters one after the other."""
    times = []
    for n in range(rounds):
        text = "\n\n".join(one.text for one in (made[n % len(made) :] + made)[:40])[:TEXT_MAX]
        began = time.thread_time()
        second_opinion(text, "arztbrief")
        times.append((time.thread_time() - began) * 1000)
    times.sort()
    return {"p50_ms": round(times[rounds // 2], 1), "p99_ms": round(times[int(rounds * 0.99) - 1], 1)}


def long_letter(made: list[Letter], length: int) -> tuple[str, dict[str, Any]]:
    """Generated letters one after the other, cut to `length`, and 60 values of them and of others."""
    text = ""
    pool: list[str] = []
    for letter in made:
        text += letter.text + "\n\n"
        pool += [value for path, value in values_of(letter.truth) if path in ("diagnosen", "medikation", "procedere")]
        if len(text) > length and len(pool) > 3 * SPEED_VALUES:
            break
    chance = random.Random(length)  # noqa: S311 - reproducible, not secret
    first = made[0].truth
    scalars = {key: value for key, value in first.items() if isinstance(value, dict)}
    count = SPEED_VALUES - sum(map(len, scalars.values()))
    return text[:length], {**scalars, "diagnosen": chance.sample(pool, count)}


def speed(made: list[Letter], rounds: int = SPEED_ROUNDS) -> dict[str, Any]:
    """Milliseconds of the thread's own CPU time for grounding 60 values, by length of text; a warm process."""
    result: dict[str, Any] = {}
    gc.collect()
    gc.freeze()  # as the server does once it has loaded: what is there anyway is not searched again
    for length in LENGTHS:
        text, answer = long_letter(made, length)
        times = []
        for _ in range(rounds):
            began = time.thread_time()
            ground(answer, text, Arztbrief)
            times.append((time.thread_time() - began) * 1000)
        times.sort()
        result[str(length)] = {
            "p50_ms": round(times[rounds // 2], 2), "p99_ms": round(times[int(rounds * 0.99) - 1], 2),
        }  # fmt: skip
    return result


def _of_model(name: str, found: dict[str, Any]) -> list[str]:
    def line(what: str, row: dict[str, Any]) -> str:
        cells = (
            f"{key} {row[key][0]:.3f} ({row[key][1]:.3f}-{row[key][2]:.3f})" for key in ("precision", "recall", "f1")
        )
        return f"  {what:28} {', '.join(cells)}"

    named = {kind: row for kind, row in found["by_type"].items() if row["f1"]}
    if not found["f1"]:
        return [f"{name} model: nothing usable for {found['failed']} letters"]
    lines = [f"{name} model: fields of {found['letters']} letters, {found['failed']} failed", line("all", found)]
    lines += [line(kind, row) for kind, row in named.items()]
    weakest = sorted(
        ((row["f1"][0], f"{kind} {path}", row) for kind, rows in found["by_field"].items() for path, row in rows.items()
         if row["precision"] and row["recall"]), key=lambda each: each[:2],
    )  # fmt: skip
    return lines + [line(what, row) for _, what, row in weakest[:3]]


def shown(report: dict[str, Any]) -> str:
    """The report as lines for a person."""
    lines = [f"lies that pass ({report['letters']} letters, seed {report['seed']})"]
    for kind, row in {**report["lies"], **report["apart"]}.items():
        apart = "   (not covered by the contract)" if kind in report["apart"] else ""
        lines.append(f"  {kind:30} {row['passed']:5} of {row['n']:5}   95 % bound {100 * row['bound_95']:.2f} %{apart}")
    lines.append("truths removed")
    for kind, row in report["truths"].items():
        lines.append(f"  {kind:30} {row['removed']:5} of {row['n']:5}   {100 * row['share']:.2f} %")
    lines.append("foreign letters (GraSCCo)")
    lines += [f"  {kind}: {row}" for kind, row in report["foreign_letters"].items()]
    at_once = report["reading"]
    lines.append(f"embedded reader, 20,000 characters: p50 {at_once['p50_ms']} ms, p99 {at_once['p99_ms']} ms")
    for name in ("rehearsal", "rehearsal_varied", "configured"):
        lines += _of_model(name, report[name]) if name in report else []
    lines.append("grounding 60 values, CPU time by characters of text")
    lines += [f"  {n:>6}: p50 {row['p50_ms']:.1f} ms, p99 {row['p99_ms']:.1f} ms" for n, row in report["speed"].items()]
    return "\n".join(lines)


@click.command(help=paragraphs(__doc__))
@click.option("--json", "as_json", is_flag=True, help="the report as JSON")
@click.option("--tries", type=int, default=TRIES, help="lies of each class")
@click.option("--letters", "letter_count", type=int, default=LETTERS, help="generated letters")
@click.option("--seed", type=int, default=2026)
@click.option("--concurrency", type=click.IntRange(1), default=1, help="letters at once, for the configured model")
@click.option("--out", type=PATH, help="also write the report with what it was measured with")
def command(as_json: bool, out: Path | None, **sizes: int) -> int:
    """Measure and print."""
    tracking.check()
    report = measure(**sizes) | provenance("extraction")
    if out:
        write_result(out, report)
    print(json.dumps(report, ensure_ascii=False, indent=1) if as_json else shown(report))
    return tracking.logged(report, shown(report))


main = main_of(command, "extraction")
