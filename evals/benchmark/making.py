"""Makes the data of `befund_bench` from what lies in this repository, to the byte; needs Python and numpy alone.

Texts: the authors' files of `catalog_build/training`, by the split of their author (tune becomes dev, report test),
and 554 texts by one hand (`evals/data/everyday.tsv`, and lists, notes and claims made of it), all of them dev. A
phrasing is in one split alone: the last of train, dev, test that has it, so that test stays as it is when others join.
Lists, first characters and lies are drawn with a fixed seed. `setup.py` of this folder calls `write` when the package
is built; nothing of it is kept twice.
"""

from __future__ import annotations

import csv
import datetime
import hashlib
import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from .befund_bench.coders import agreement, second_texts
from .befund_bench.data import TaskRow, digest_of, hashed, words_of
from .befund_bench.marked import MarkedLetter, MarkedMention, MarkedText, marked_letters, marked_texts
from .befund_bench.scoring import words_within
from .befund_bench.tasks import LISTS, SPLITS, TASKS

HERE: Final = Path(__file__).resolve().parent
ROOT: Final = HERE.parents[1]
TRAINING: Final = ROOT / "catalog_build" / "training"
EVERYDAY: Final = ROOT / "evals" / "data" / "everyday.tsv"
TYPED: Final = HERE / "data" / "typed.tsv"
VERSION: Final = "2"
SPLIT_OF: Final = {"train": "train", "tune": "dev", "report": "test"}
STATED: Final = ("present", "suspected", "history", "family")
"""Claims that have a code of their own: as the authors' brief says."""
SEED: Final = 2026
EACH: Final = 120
"""Texts of each made task of the 554."""
DRAWN: Final = 240
"""Lists and first characters drawn of each split."""
CUTS: Final = (3, 4, 5, 6, 8, 12)
"""Characters of a phrasing that are typed."""
TRUE, LIES = 6, 6
"""Values and lies of each letter, at most."""
LONGEST: Final = 45
"""Characters of a phrasing that is set into a list or a sentence; a longer one is a sentence already."""
SEPARATORS: Final = (", ", "; ", " / ", "\n", "\n- ", " + ")
NOTES: Final = (
    "Patient, {age} Jahre. Bekannt: {0}. Heute {1}. Verlauf besprochen, Kontrolle in zwei Wochen.",
    "{0}. Im Übrigen beschwerdefrei, Vitalwerte unauffällig.",
    "Wiedervorstellung. {0}, außerdem {1}. Therapie fortgeführt.",
    "Anamnese: {0}; seit gestern {1}; in der Akte auch {2}. Labor abgenommen.",
    "Diagnosen:\n- {0}\n- {1}\n- {2}\nProzedere: Überweisung.",
)
SAID_OTHERWISE: Final = (
    "Kein Hinweis auf {1}. {0}.",
    "{0}. Ausgeschlossen: {1}.",
    "{0}; Vater: {1}.",
    "Mutter hatte: {1}. Jetzt {0}.",
    "{0}. Früher: {1}, folgenlos ausgeheilt.",
    "{0}. Differentialdiagnostisch kein Anhalt für {1}.",
)


LICENCE: Final = "not given yet: the project's owner has yet to name one; the codes are those of ICD-10-GM (BfArM)"
SOURCE: Final = (
    "written for this project by 112 authors of texts and 26 of letters, each after the same brief and blind to the "
    "others and to every program, and by one hand of before (authors `everyday`, `typed`); all persons are invented"
)
FAULTS: Final = (
    "nothing is a real patient's: authors wrote by a brief what their setting writes; real notes may be harder",
    "the answers of test are hashed, so that nobody reads them by accident and no model learns them from this package; "
    "whoever wants to cheat finds them: codes are few, so that digests can be tried, and the authors' files lie in the "
    "repository that this package is built from",
    "of test the notes of `notes` and of `claims` are different ones, since the one gives what the other asks; the "
    "same texts are in `codes` where their author gave codes",
    "wordings, lists and first characters are cut out of notes: what the note adds to a wording is missing, and all "
    "codes that some author gave for it count as right",
    "letters have four authors in test and one in dev: intervals there draw letters, and say nothing of other authors",
    "lies are values changed by a program: another day, number, side, or the value of another letter",
    "554 texts of before (dev, author `everyday`) are by people who know the classification, and by a program that "
    "made lists, notes and claims of their phrasings",
)


class Phrasing(NamedTuple):
    """Words for one diagnosis, its codes, and who wrote them."""

    text: str
    codes: tuple[str, ...]
    author: str


Draft = Mapping[str, Any]


def rows() -> dict[tuple[str, str], list[TaskRow]]:
    """(task, split) -> its rows, answers of test hashed."""
    found = {(task, split): list[TaskRow]() for task in TASKS for split in SPLITS}
    for split in SPLITS:
        for task, made in _drafts(split):
            ident = f"{task}-{split}-{len(found[task, split]) + 1:04}"
            row = {"id": ident, **made}
            found[task, split].append(row | {"answer": _hidden(ident, row["answer"])} if split == "test" else row)
    return found


def write(folder: Path) -> dict[str, str]:
    """Write `<task>-<split>.jsonl` into a folder; name and SHA-256 of each file."""
    folder.mkdir(parents=True, exist_ok=True)
    for (task, split), some in rows().items():
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in some)
        (folder / f"{task}-{split}.jsonl").write_bytes(lines.encode())
    return {path.name: digest_of(path) for path in sorted(folder.glob("*.jsonl"))}


def made_card(files: Mapping[str, str]) -> dict[str, Any]:
    """The card of the data whose files have these checksums."""
    found = rows()
    of_split = {split: [row for (_, own), some in found.items() if own == split for row in some] for split in SPLITS}
    tasks = {
        name: {"about": task.about, "measures": list(task.measures)}
        | {split: len(found[name, split]) for split in SPLITS}
        for name, task in TASKS.items()
    }
    return {
        "name": "befund-bench",
        "version": VERSION,
        "licence": LICENCE,
        "source": SOURCE,
        "texts": {split: len({row["text"] for row in some}) for split, some in of_split.items()},
        "authors": {split: sorted({row["author"] for row in some}) for split, some in of_split.items()},
        "tasks": tasks,
        "second_coder": second_coder(),
        "faults": list(FAULTS),
        "digest": hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest(),
        "sha256": dict(files),
    }


def second_coder(folder: Path = HERE / "second") -> dict[str, Any]:
    """Agreement of the authors with people who marked and coded some of their texts anew."""
    second, places = second_texts(folder)
    names = [name for name, _ in places]
    known = {name: marked_texts(TRAINING / "authors" / f"{name}.txt") for name in names}
    first = [known[name][number] for name, number in places]
    found = {name: list(value) for name, value in agreement(first, second, names).items()}
    return {"texts": len(second), "authors": sorted(set(names)), "coders": len(list(folder.glob("s*.txt"))), **found}


def _hidden(ident: str, answer: Any) -> Any:
    """The answer with every word as its digest."""
    if isinstance(answer, str):
        return hashed(ident, answer)
    if isinstance(answer, list):
        return [_hidden(ident, one) for one in answer]
    if not isinstance(answer, Mapping):
        return answer
    names = {path: hashed(ident, path) for path in answer.get("fields", ())}
    if names:
        return {"fields": {names[path]: _hidden(ident, own) for path, own in answer["fields"].items()}}
    return {name: _hidden(ident, one) for name, one in answer.items()}


def _drafts(split: str) -> Iterator[tuple[str, Draft]]:
    """Task and row without id of everything in a split, task by task."""
    own, chance = phrasings()[split], random.Random(f"{SEED}-{split}")  # noqa: S311 - reproducible, no secret
    some = texts_of(split)
    everyday = made_of_everyday() if split == "dev" else {}
    yield from (("wordings", _ranked(one.text, one.author, [one.codes])) for one in own)
    yield from (("typed", made) for made in _typed(split, own, chance))
    short = [one for one in own if len(one.text) <= LONGEST and "," not in one.text]
    yield from (("lists", one) for one in everyday.get("lists", ()))
    yield from (("lists", _list(short, chance)) for _ in range(DRAWN))
    yield from (("codes", one) for name in ("notes", "claims") for one in everyday.get(name, ()))
    yield from (("codes", made) for author, text in some if (made := _coded(author, text)) is not None)
    halves = [(author, text) for author, text in some if text.mentions]
    noted, claimed = (halves[::2], halves[1::2]) if split == "test" else (halves, halves)
    yield from (("notes", _noted(author, text)) for author, text in noted)
    yield from (("claims", _claimed(author, text)) for author, text in claimed)
    letters = letters_of(split)
    yield from (("extraction", _extraction(author, letter)) for author, letter in letters)
    yield from (("lies", made) for made in _lies(letters, chance))


def authors(folder: str = "authors") -> list[list[str]]:
    """The rows of `authors.tsv` of texts or of letters: author, split, and the rest."""
    lines = (TRAINING / folder / "authors.tsv").read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines if line.strip() and not line.startswith("#")]


@cache
def texts_of(split: str) -> list[tuple[str, MarkedText]]:
    """Author and text of every text of a split; of those who wrote by the brief (`a..`) alone, since the marks of the
    other hands' inputs were cut by a program."""
    names = [name for name, own, *_ in authors() if SPLIT_OF[own] == split and name.startswith("a")]
    return [(name, text) for name in names for text in marked_texts(TRAINING / "authors" / f"{name}.txt")]


def letters_of(split: str) -> list[tuple[str, MarkedLetter]]:
    """Author and letter of every letter of a split; dev has those of the last author of train. Heads and feet alone are
    no letters."""
    names = [(name, SPLIT_OF[own]) for name, own, *_ in authors("letters") if own in SPLIT_OF]
    last = [name for name, own in names if own == "train"][-1]
    chosen = [name for name, own in names if ("dev" if name == last else own) == split]
    return [(name, letter) for name in chosen for letter in marked_letters(TRAINING / "letters" / f"{name}.txt")]


def everyday() -> list[Phrasing]:
    """The everyday phrasings."""
    return _table(EVERYDAY, "everyday")


def _table(path: Path, author: str) -> list[Phrasing]:
    with path.open(encoding="utf-8", newline="") as file:
        lines = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [Phrasing(one["query"], tuple(sorted(set(one["codes"].split(",")))), author) for one in lines]


@cache
def phrasings() -> dict[str, list[Phrasing]]:
    """Split -> phrasings of diagnoses that are present, none in two splits; the codes are those of all its places."""
    taken: set[str] = set()
    found: dict[str, list[Phrasing]] = {}
    for split in reversed(SPLITS):
        own: dict[str, Phrasing] = {}
        for one in [*(everyday() if split == "dev" else ()), *_named(texts_of(split))]:
            name = " ".join(words_of(one.text))
            before = own.get(name, one)
            own[name] = before._replace(codes=tuple(sorted({*before.codes, *one.codes})))
        found[split] = [one for name, one in own.items() if name and name not in taken]
        taken |= set(own)
    return {split: found[split] for split in SPLITS}


def _named(texts: Iterable[tuple[str, MarkedText]]) -> Iterator[Phrasing]:
    for author, text in texts:
        for one in text.mentions:
            if one.codes and one.claim == "present" and one.second is None:
                yield Phrasing(text.text[one.start : one.end], (*one.codes, *one.also), author)


def _ranked(text: str, author: str, right: Sequence[Sequence[str]], absent: Sequence[Sequence[str]] = ()) -> TaskRow:
    sets: dict[str, Any] = {"right": [sorted(set(codes)) for codes in right]}
    if absent:
        sets["absent"] = [sorted(set(codes)) for codes in absent]
    return {"author": author, "text": text, "answer": sets}


def _typed(split: str, own: Sequence[Phrasing], chance: random.Random) -> Iterator[TaskRow]:
    if split == "dev":
        yield from (_ranked(one.text, "typed", [one.codes]) for one in _table(TYPED, "typed"))
    long = [one for one in own if len(one.text) > CUTS[0]]
    for _ in range(DRAWN):
        one = chance.choice(long)
        cut = chance.choice([cut for cut in CUTS if cut < len(one.text)])
        yield _ranked(one.text[:cut].rstrip(), one.author, [one.codes])


def _list(short: Sequence[Phrasing], chance: random.Random) -> TaskRow:
    chosen, separator = _apart(short, chance.randint(2, 6), chance), chance.choice(SEPARATORS)
    text = ("- " if separator == "\n- " else "") + separator.join(one.text for one in chosen)
    return _ranked(text, chosen[0].author, [one.codes for one in chosen])


def _apart(short: Sequence[Phrasing], count: int, chance: random.Random) -> list[Phrasing]:
    """Phrasings of different categories, so that no code of one is near to right for another."""
    chosen: list[Phrasing] = []
    while len(chosen) < count:
        one = chance.choice(short)
        taken = {code[:3] for other in chosen for code in other.codes}
        if not taken & {code[:3] for code in one.codes}:
            chosen.append(one)
    return chosen


def made_of_everyday() -> dict[str, list[TaskRow]]:
    """Lists, notes and claims made of the everyday phrasings, EACH of them."""
    short = [one for one in everyday() if "," not in one.text and len(one.text) <= LONGEST]
    chance = random.Random(SEED)  # noqa: S311 - reproducible, no secret
    makers = {"lists": _list, "notes": _frame, "claims": _denial}
    return {task: [make(short, chance) for _ in range(EACH)] for task, make in makers.items()}


def _frame(short: Sequence[Phrasing], chance: random.Random) -> TaskRow:
    frame = chance.choice(NOTES)
    chosen = _apart(short, sum(f"{{{place}}}" in frame for place in range(3)), chance)
    text = frame.format(*(one.text for one in chosen), age=chance.randint(18, 90))
    return _ranked(text, "everyday", [one.codes for one in chosen])


def _denial(short: Sequence[Phrasing], chance: random.Random) -> TaskRow:
    frame, (said, denied) = chance.choice(SAID_OTHERWISE), _apart(short, 2, chance)
    return _ranked(frame.format(said.text, denied.text), "everyday", [said.codes], [denied.codes])


def _coded(author: str, text: MarkedText) -> TaskRow | None:
    """The codes of a text as a whole; None where its author gave none for anything that it states."""
    said = [(*one.codes, *one.also) for one in text.mentions if one.codes and _is_stated(one)]
    every = {code for codes in said for code in codes}
    others = [(*one.codes, *one.also) for one in text.mentions if one.codes and not _is_stated(one)]
    absent = [codes for codes in others if every.isdisjoint(codes)]
    return _ranked(text.text, author, list(dict.fromkeys(said)), absent) if said else None


def _is_stated(mention: MarkedMention) -> bool:
    return mention.claim in STATED or mention.second in STATED


def _noted(author: str, text: MarkedText) -> TaskRow:
    spans = [(one.start, one.end) for one in text.mentions]
    answer = {
        "spans": [f"{start}-{end}" for start, end in spans],
        "words": list(map(str, words_within(text.text, spans))),
    }
    return {"author": author, "text": text.text, "answer": answer}


def _claimed(author: str, text: MarkedText) -> TaskRow:
    claims = [
        [f"{at}={claim}" for claim in dict.fromkeys((one.claim, one.second)) if claim]
        for at, one in enumerate(text.mentions)
    ]
    mentions = [[one.start, one.end] for one in text.mentions]
    return {"author": author, "text": text.text, "mentions": mentions, "answer": {"claims": claims}}


def _extraction(author: str, letter: MarkedLetter) -> TaskRow:
    fields: dict[str, dict[str, Any]] = {}
    for one in letter.values:
        words = words_of(one.value)
        if one.field in LISTS:
            own = fields.setdefault(one.field, {"right": [], "optional": []})
            own["optional" if one.optional else "right"].append(words)
        else:
            own = fields.setdefault(one.field, {"right": [], "optional": True})
            own["right"].append(words)
            own["optional"] = own["optional"] and one.optional
    return {"author": author, "kind": letter.kind, "text": letter.text, "answer": {"fields": fields}}


def _lies(letters: Sequence[tuple[str, MarkedLetter]], chance: random.Random) -> Iterator[TaskRow]:
    """Values of letters as they are, and changed so that the letter does not say them."""
    pool: dict[str, list[str]] = {}
    for _, letter in letters:
        for one in letter.values:
            pool.setdefault(one.field, []).append(one.value)
    for author, letter in letters:
        values = list(dict.fromkeys((one.field, one.value) for one in letter.values))
        chance.shuffle(values)
        own = [(path, value, True) for path, value in values[:TRUE]]
        chance.shuffle(values)
        changed = ((path, _lie(letter, path, value, pool[path], chance)) for path, value in values)
        own += islice(((path, value, False) for path, value in changed if value), LIES)
        for path, value, true in own:
            answer = {"supported": str(true).lower()}
            yield {"author": author, "kind": letter.kind, "text": letter.text, "path": path, "value": value,
                   "answer": answer}  # fmt: skip


def _lie(letter: MarkedLetter, path: str, value: str, pool: Sequence[str], chance: random.Random) -> str | None:
    """A value like this one that the letter does not support; None where none was found."""
    makers = (_other_day, _other_number, _other_side, _foreign)
    for maker in makers if chance.random() < 0.7 else makers[::-1]:
        lie = maker(value, pool, chance)
        if lie and not _says(letter, lie):
            return lie
    return None


def _other_day(value: str, pool: Sequence[str], chance: random.Random) -> str | None:
    try:
        day = datetime.date.fromisoformat(value)
    except ValueError:
        return None
    return str(day + datetime.timedelta(days=chance.choice((-31, -7, -1, 1, 3, 10, 365))))


def _other_number(value: str, pool: Sequence[str], chance: random.Random) -> str | None:
    places = [match.start() for match in re.finditer(r"[1-9]", value)]
    if not places or re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        return None
    at = chance.choice(places)
    return value[:at] + chance.choice([digit for digit in "123456789" if digit != value[at]]) + value[at + 1 :]


def _other_side(value: str, pool: Sequence[str], chance: random.Random) -> str | None:
    sides = {"rechts": "links", "links": "rechts", "re.": "li.", "li.": "re.", "männlich": "weiblich"}
    found = next((side for side in sides if re.search(rf"\b{re.escape(side)}", value)), None)
    return value.replace(found, sides[found], 1) if found else None


def _foreign(value: str, pool: Sequence[str], chance: random.Random) -> str | None:
    others = [one for one in pool if one != value]
    return chance.choice(others) if others else None


def _says(letter: MarkedLetter, value: str) -> bool:
    """Return True when the letter has the value, the half of its words, or that day in some notation."""
    if any(one.value == value for one in letter.values):
        return True
    try:
        day = datetime.date.fromisoformat(value)
    except ValueError:
        words, there = words_of(value), words_of(letter.text)
        digits = re.sub(r"\D", "", value)
        if digits:  # a number apart is a lie whatever stands around it
            return " ".join(words) in " ".join(there) or len(digits) < 2 or digits in re.sub(r"\D", "", letter.text)
        known = set(there)
        return not words or 2 * sum(word in known for word in words) >= len(words)
    return re.search(rf"\b0?{day.day}\.\s*(?:0?{day.month}\b|[A-ZÄ])", letter.text) is not None
