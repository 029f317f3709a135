"""Train what reads texts further on annotated texts of one's own: tagger of mentions and claims, second stage.

The form of the texts is that of the authors (`catalog_build.training.authors`), a file an author, or the workbench's
feedback file (JSON lines): of it those texts that somebody has gone through to their end. The weights of an artifact
are trained further, beside what they have learned from, and the result is an artifact like it. What it brought is told
by author left out: the same training without one author's texts, measured on these, before and after. Where there are
fewer than PARTS authors, texts are left out in PARTS parts, which says less: an author's texts are alike.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from catalog_build.build import FITTED, folder_beside, put_in_place
from catalog_build.own_synonyms import index_without, load_authored
from catalog_build.training.authors import (
    CLAIMS,
    STATED,
    LabelledMention,
    LabelledText,
    WrittenInput,
    as_input,
    is_coded,
    parse,
    written_inputs,
)
from catalog_build.training.claims import REPLAYED, Recipe, retrained_claims
from catalog_build.training.confidence import refitted
from catalog_build.training.reading import material, read_by
from clinical import claims as of_claims
from clinical.claims import Reading
from clinical.coding import most_probable, with_written_codes
from clinical.contract import TIER1_MAX_CODES
from clinical.errors import SettingError, SourceError
from clinical.progress import note, progress
from clinical.reading import CONFIDENCE, TAGGER, SearchIndex
from clinical.search import checksums

PARTS: Final = 3
"""Parts in which texts are left out to say what the training brought; each takes as long as the training itself."""
FEWEST: Final = 20
"""Texts below which nothing is trained: one would learn their words by heart."""


@dataclass(frozen=True, slots=True)
class OwnRecipe:
    """Hyperparameters. `weight`: times that an own text is seen in a round, beside the authors' and generated texts
    seen once; `hidden`, `decay`: width of the second stage and its decay of weights; `written`: of the inputs that it
    was fitted on, how many are read again, `replayed`: of the authors' texts, and of generated ones, how many
    the tagger sees again (0: all)."""

    rounds: int = 2
    claims_rate: float = 5e-4
    weight: int = 3
    hidden: int = 32
    decay: float = 0.3
    written: int = 1_500
    replayed: int = 0
    parts: int = PARTS
    seed: int = 0
    only: tuple[str, ...] = FITTED


class Measured(NamedTuple):
    """A measure of texts left out, before and after the training: `of` mentions, statements or codes."""

    measure: str
    of: int
    before: float
    after: float


def train_on(artifact: Path, files: Sequence[Path], out: Path, recipe: OwnRecipe | None = None) -> list[Measured]:
    """Train the artifact's reading further on the texts of these files and write the artifact `out`.

    Returns what texts that were left out gained. Raises SourceError for a text that cannot be read, by file and line,
    SettingError for too few of them, ArtifactMissing or ArtifactMismatch.
    """
    recipe, index = recipe or OwnRecipe(), SearchIndex.load(artifact)
    if index.confidence is None:
        remedy = "build the artifact again: python -m catalog_build build SOURCE --out DIR"
        raise SettingError(
            f"{artifact} has no second stage to be trained further", "an artifact of this version", remedy
        )
    if out.resolve() == artifact.resolve():
        raise SettingError("--out is the artifact that is trained further", "another folder", "name another folder")
    texts = own_texts(named(files), index)
    blind = index_without(index, load_authored(artifact)) if "confidence" in recipe.only else index
    gained = left_out(index, blind, texts, recipe) if recipe.parts else []
    note(f"training on all {sum(map(len, texts.values()))} texts")
    made = trained(index, blind, texts, recipe)
    out.parent.mkdir(parents=True, exist_ok=True)
    with folder_beside(out.resolve()) as folder:
        whole = shutil.copytree(artifact, folder / "artifact")
        _save(made, whole)
        put_in_place(whole, out.resolve())
    return gained


def named(places: Sequence[Path]) -> list[Path]:
    """The files themselves, and those (`*.txt`, `*.jsonl`) of the folders among these places. Raises SettingError for
    none."""
    found = list[Path]()
    for place in places:
        found += sorted([*place.glob("*.txt"), *place.glob("*.jsonl")]) if place.is_dir() else [place]
    missing = [file for file in found if not file.is_file()]
    if missing or not found:
        where = ", ".join(map(str, missing or places))
        raise SettingError(
            f"no texts in {where}", "files in the authors' form (.txt), or a folder of them", "name them"
        )
    return found


def own_texts(files: Sequence[Path], index: SearchIndex) -> dict[str, tuple[LabelledText, ...]]:
    """The texts by author, which is the name of the file; what was fed back twice is taken once, as it was left last.
    Raises SourceError or SettingError."""
    codes = {code.code for code in index.catalog.codes if code.terminal}
    twice = [name for name, count in Counter(file.stem for file in files).items() if count > 1]
    if twice:
        raise SettingError(f"two files are called {twice[0]}", "a name an author", "rename one of them")
    texts = {file.stem: (fed_back if file.suffix == ".jsonl" else parse)(file, codes) for file in files}
    last = {one.text: one for own in texts.values() for one in own}
    texts = {name: tuple(one for one in own if last[one.text] is one) for name, own in texts.items()}
    total = sum(map(len, texts.values()))
    if total < FEWEST:
        raise SettingError(f"{total} texts to train on", f"at least {FEWEST}", "annotate more of them")
    return texts


def fed_back(file: Path, codes: Collection[str]) -> tuple[LabelledText, ...]:
    """The texts of the workbench's feedback file whose mentions somebody has gone through; the others are left out.
    Raises SourceError by file and line."""
    texts = []
    for number, line in enumerate(file.read_text("utf-8-sig").splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            if row.get("mentions") is not None:
                texts.append(_text_of(row, f"{file.stem}-{number:03d}", codes))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            found = str(error) if type(error) is ValueError else "no text with its mentions"
            expected = "query, and mentions with start, end, claim and codes, as the workbench writes them"
            raise SourceError(file.name, number, found, expected, "save the feedback again") from None
    return tuple(texts)


def _text_of(row: Mapping[str, Any], ident: str, codes: Collection[str]) -> LabelledText:
    text, at, found = row["query"], 0, []
    for one in sorted(row["mentions"], key=lambda mention: mention["start"]):
        start, end, claim, given = one["start"], one["end"], one["claim"], one.get("codes", [])
        if not at <= start < end <= len(text):
            raise ValueError(f"a mention from {start} to {end}, in a text of {len(text)} characters, behind {at}")
        if claim not in CLAIMS:
            raise ValueError("a claim that is none")
        if unknown := [code for code in given if code not in codes]:
            raise ValueError(f"the code {unknown[0]!r:.12}, which is no terminal code of the catalog")
        found.append(LabelledMention(start, end, claim, None, tuple(given), ()))
        at = end
    return LabelledText(ident, text, tuple(found))


def left_out(
    index: SearchIndex, blind: SearchIndex, texts: Mapping[str, Sequence[LabelledText]], recipe: OwnRecipe
) -> list[Measured]:
    """Measure what the training without some texts brings for these: over authors, in as many parts as asked for."""
    before: Counter[str] = Counter()
    after: Counter[str] = Counter()
    parts = parts_of(texts, recipe.parts)
    for number, part in enumerate(parts, start=1):
        names = ", ".join(part) if len(texts) >= recipe.parts else "a part of the texts"
        rest = {name: [one for one in own if one not in part.get(name, ())] for name, own in texts.items()}
        note(f"part {number} of {len(parts)}: training without {names}")
        asked = [text for own in part.values() for text in own]
        before += counted(index, asked)
        made = trained(index, blind, {name: own for name, own in rest.items() if own}, recipe)
        after += counted(made, asked)
    return measures(before, after)


def parts_of(texts: Mapping[str, Sequence[LabelledText]], parts: int) -> list[dict[str, list[LabelledText]]]:
    """Authors dealt to `parts` parts, the one with most texts first; texts where there are fewer authors."""
    found: list[dict[str, list[LabelledText]]] = [{} for _ in range(parts)]
    if len(texts) >= parts:
        for author in sorted(texts, key=lambda name: -len(texts[name])):
            least = min(found, key=lambda part: sum(map(len, part.values())))
            least[author] = list(texts[author])
        return found
    for author, own in texts.items():
        for number, text in enumerate(own):
            found[number % parts].setdefault(author, []).append(text)
    return found


def trained(
    index: SearchIndex, blind: SearchIndex, texts: Mapping[str, Sequence[LabelledText]], recipe: OwnRecipe
) -> SearchIndex:
    """An index like this one whose reading was trained further on these texts (by author). `blind`: the same without
    wordings of the authors whose inputs the second stage is fitted on."""
    own = [text for some in texts.values() for text in some]
    claims = index.tagger
    if "claims" in recipe.only:
        known = material(index)
        if recipe.replayed:
            known = known._replace(texts=known.texts[: recipe.replayed])
        written = min(recipe.replayed or REPLAYED, REPLAYED)
        how = Recipe(
            epochs=recipe.rounds, rate=recipe.claims_rate, framed=written, mixed=0, worded=written, seed=recipe.seed
        )
        claims = retrained_claims(claims or of_claims.tagger(), own, known, how, recipe.weight)
    made = read_by(index, claims, index.confidence)
    if "confidence" in recipe.only and blind.confidence is not None:
        coded = [as_input(one, name) for name, some in texts.items() for one in some if is_coded(one)]
        inputs = [*_some(written_inputs(), recipe), *coded]
        made.confidence = refitted(read_by(blind, claims, index.confidence), inputs, recipe.hidden, recipe.decay)
    return made


def _some(inputs: Sequence[WrittenInput], recipe: OwnRecipe) -> list[WrittenInput]:
    """As many of the inputs as are read again, drawn with the seed."""
    if not 0 < recipe.written < len(inputs):
        return list(inputs)
    drawn = np.random.default_rng(recipe.seed).choice(len(inputs), recipe.written, replace=False)
    return [inputs[at] for at in sorted(drawn.tolist())]


def _save(made: SearchIndex, folder: Path) -> None:
    """Write the trained parts into a copy of the artifact; the manifest last."""
    if made.tagger is not None:
        made.tagger.save(folder / TAGGER)
    if made.confidence is not None:
        made.confidence.save(folder / CONFIDENCE)
    replace(made.manifest, files=checksums(folder)).save(folder)


# --- what it brought --------------------------------------------------------------------------------------------------


def counted(index: SearchIndex, texts: Iterable[LabelledText]) -> Counter[str]:
    """Counts over texts: marked and found mentions, those found exactly, claims that are right; of texts with codes the
    statements and those shown, the codes shown and those that are right."""
    found: Counter[str] = Counter()
    for text in progress(texts, "texts left out", "read"):
        read_ = index.read(text.text)
        marks = {(one.start, one.end) for one in text.mentions}
        found += Counter(marked=len(marks), found=len(read_.mentions))
        found["exact"] += sum((one.start, one.end) in marks for one in read_.mentions)
        reading = Reading.of(text.text, index.tagger)
        for one in text.mentions:
            found["right claims"] += reading.claim(one.start, one.end).label in (one.claim, one.second)
        if is_coded(text):
            hits = with_written_codes(text.text, read_.codes, index.catalog, read_.reading)
            codes = {hit.code for hit in most_probable(hits, TIER1_MAX_CODES)}
            stated = [one for one in text.mentions if one.codes and one.claim in STATED]
            right = as_input(text, "").right
            found += Counter(stated=len(stated), codes=len(codes))
            found["shown"] += sum(bool(codes & {one.codes[0], *one.also}) for one in stated)
            found["right codes"] += len(codes & right)
    return found


def measures(before: Counter[str], after: Counter[str]) -> list[Measured]:
    """The shares of these counts, those that there is something to say of."""
    rows = []
    for name, part, whole in (
        ("marked mentions found exactly", "exact", "marked"),
        ("found mentions that are marked", "exact", "found"),
        ("claims right", "right claims", "marked"),
        ("statements shown with a right code", "shown", "stated"),
        ("shown codes that are right", "right codes", "codes"),
    ):
        if before[whole] and after[whole]:
            rows.append(Measured(name, before[whole], before[part] / before[whole], after[part] / after[whole]))
    return rows


def report_of(gained: Sequence[Measured], authors: int, parts: int) -> str:
    """Tell what texts that were left out gained, a line a measure, where one is worse, and of how many authors."""
    who = "by author left out" if authors >= parts else f"by part of the texts left out, of {authors} author(s)"
    lines = [f"{'on texts left out':38}{'n':>7}  before   after  ({who})"]
    for one in gained:
        worse = "  WORSE" if one.after < one.before - 0.005 else ""
        lines.append(f"{one.measure:38}{one.of:7}   {one.before:.3f}   {one.after:.3f}{worse}")
    if any(one.after < one.before - 0.005 for one in gained):
        lines.append("something is worse: try other --rounds, --rate or --weight, or train a part alone with --only")
    return "\n".join(lines)
