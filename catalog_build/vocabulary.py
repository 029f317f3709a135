"""Own synonyms from files of the user: read, checked line by line against the catalog at hand, and laid over ours.

A file is a TSV with the columns `text` and `code`, and optionally `weight` and `source`. `code` is one terminal code,
or two that are coded together (`B37.3+ N77.1*`). Layers, the later on top: the official wordings, Befund's own, then
the files in the order given. Words that the official files give to another code stay theirs unless the user says
otherwise (`over_official`); a title always stays. Among codes of the same words in one file the greatest weight wins.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from catalog_build.official import Synonym
from catalog_build.own_synonyms import OWN, spelled
from catalog_build.synonyms import NEVER_HELD_OUT
from clinical.errors import SourceError
from clinical.icd import EXAMPLE_PAIR, Catalog
from clinical.search import checksum

FILE: Final = "vocabulary.tsv"
"""Beside the manifest: every line of every file with its state and a sentence."""
LONGEST: Final = 250
"""Characters of a wording: the longest of BfArM's alphabetical index has 230."""
STATES: Final = ("taken", "known", "conflict", "replaced", "refused")
REMEDY: Final = "a TSV whose first line is: text, code, and optionally weight and source, with tabs between"

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a file. `state`: taken; known (the catalog has it); conflict (official under another code);
    replaced (a later file, or a greater weight, gives the words to another code); refused (no such synonym can be)."""

    file: str
    line: int
    text: str
    codes: tuple[str, ...] = ()
    weight: float = 1.0
    source: str = ""
    state: str = "taken"
    why: str = "added"

    @property
    def words(self) -> Words:
        """The text as the search reads it."""
        return spelled(self.text)

    def but(self, state: str, why: str) -> Entry:
        """The same line in another state."""
        return replace(self, state=state, why=why)


@dataclass(frozen=True)
class Layers:
    """Layers of wordings in a build. `texts`: all wordings of the build; `entries`: every line of the files; `about`:
    one row a layer."""

    texts: tuple[Synonym, ...]
    entries: tuple[Entry, ...] = ()
    about: tuple[Mapping[str, Any], ...] = ()

    def save(self, folder: Path) -> None:
        """Write the lines with their states; nothing where no file was given."""
        if not self.entries:
            return
        with (folder / FILE).open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file, delimiter="\t", lineterminator="\n")
            rows.writerow(["file", "line", "state", "text", "codes", "weight", "source", "why"])
            rows.writerows([e.file, e.line, e.state, e.text, " ".join(e.codes), e.weight, e.source, e.why]
                           for e in self.entries)  # fmt: skip


def layered(
    official: Sequence[Synonym], own: Sequence[Synonym], files: Sequence[Path], catalog: Catalog, over: bool = False
) -> Layers:
    """The wordings of the build. `over`: files win over official synonyms too. Raises SourceError for a file without
    one good line."""
    if not files:
        return Layers((*official, *own))
    if len({path.name for path in files}) < len(files):
        raise SourceError(files[-1].name, None, "is the name of two files", "one name each", "rename one of them")
    read = [read_file(path, catalog) for path in files]
    entries = _against_each_other(_against_official(read, official, over))
    taken = [entry for entry in entries if entry.state == "taken"]
    mine = {entry.words for entry in taken}
    theirs = [text for text in official if text.source in NEVER_HELD_OUT or spelled(text.text) not in mine]
    ours = [text for text in own if spelled(text.text) not in mine]
    added = [Synonym(entry.text, entry.codes[0], entry.codes[1:], source=OWN) for entry in taken]
    about: list[Mapping[str, Any]] = [
        {"name": "official", "taken": len(theirs), "replaced": len(official) - len(theirs)},
        {"name": "befund", "taken": len(ours), "replaced": len(own) - len(ours)},
    ]
    for path in files:
        states = Counter(entry.state for entry in entries if entry.file == path.name)
        about.append({"name": path.stem, "sha256": checksum(path)} | {state: states[state] for state in STATES})
    return Layers((*theirs, *ours, *added), tuple(entries), tuple(about))


def read_file(path: Path, catalog: Catalog) -> list[Entry]:
    """Every line that is not empty. Raises SourceError where the header is missing or no line is a synonym."""
    try:
        lines = path.read_bytes().decode("utf-8-sig", "replace").splitlines()
    except OSError:
        raise SourceError(str(path), None, "cannot be read", "a file of synonyms", REMEDY) from None
    head = [cell.strip().lower() for cell in (lines[0] if lines else "").split("\t")]
    if not {"text", "code"} <= set(head):
        raise SourceError(path.name, 1, "has no columns text and code", "text, code, weight, source", REMEDY)
    entries = []
    for number, line in enumerate(lines[1:], start=2):
        if line.strip():
            entries.append(_entry(path.name, number, dict(zip(head, line.split("\t"), strict=False)), catalog))
    if not any(entry.state == "taken" for entry in entries):
        first = f"; the first, line {entries[0].line}: {entries[0].why}" if entries else ""
        raise SourceError(path.name, None, f"holds no synonym{first}", "at least one", REMEDY)
    return entries


def _entry(file: str, line: int, row: Mapping[str, str], catalog: Catalog) -> Entry:
    text = " ".join(row["text"].split())
    bare = Entry(file, line, text[:LONGEST], source=row.get("source", "").strip())
    try:
        _check_text(text)
        codes = _codes(row.get("code", ""), catalog)
        return replace(bare, codes=codes, weight=_weight(row.get("weight", "")))
    except ValueError as error:
        return bare.but("refused", str(error))


def _check_text(text: str) -> None:
    if not text:
        raise ValueError("text is empty")
    if "\ufffd" in text:
        raise ValueError("text is not in UTF-8: save the file as UTF-8")
    if len(text) > LONGEST:
        raise ValueError(f"text has {len(text):,} characters, a wording has at most {LONGEST}")
    if not spelled(text):
        raise ValueError("text holds no word")


def _weight(given: str) -> float:
    try:
        weight = float(given.strip().replace(",", ".") or 1)
    except ValueError:
        weight = 0.0
    if not 0 < weight < float("inf"):
        raise ValueError("weight is no number above 0")
    return weight


NAMED = 3
"""Finer codes that a message names."""


def _codes(given: str, catalog: Catalog) -> tuple[str, ...]:
    """One terminal code, or the primary code and the one coded with it. Raises ValueError saying what is wrong."""
    found = []
    for name in given.replace(",", " ").replace("|", " ").split():
        known = catalog.parse(name)
        code = catalog.get(known) if known else None
        if code is None:
            size = f"{len(catalog):,} codes of ICD-10-GM {catalog.version}"
            raise ValueError(f"{known or 'code'} is not among the {size} in this catalog")
        if not code.terminal:
            finer = ", ".join(leaf.code for leaf in catalog.leaves(code.code)[:NAMED])
            raise ValueError(f"{code.code} is not terminal, one of its finer codes is expected ({finer} ...)")
        found.append(code)
    if len(found) == 1:
        return (found[0].code,)
    if len(found) != 2 or sum(code.never_alone for code in found) != 1:
        raise ValueError(f"code is neither one code nor a pair that is coded together, such as {EXAMPLE_PAIR}")
    return tuple(code.code for code in sorted(found, key=lambda code: code.never_alone))


def _against_official(read: Iterable[list[Entry]], official: Sequence[Synonym], over: bool) -> Iterator[list[Entry]]:
    synonyms, titles = dict[Words, dict[str, None]](), dict[Words, dict[str, None]]()
    for text in official:
        place = titles if text.source in NEVER_HELD_OUT else synonyms
        place.setdefault(spelled(text.text), {}).update(dict.fromkeys((text.code, *text.secondary)))
    for entries in read:
        yield [_judged(entry, titles.get(entry.words, {}), synonyms.get(entry.words, {}), over) for entry in entries]


def _judged(entry: Entry, titles: Iterable[str], synonyms: Iterable[str], over: bool) -> Entry:
    official = [*titles, *synonyms]
    if entry.state != "taken" or not official:
        return entry
    if set(entry.codes) <= set(official):
        return entry.but("known", "the official files say the same")
    if list(titles):
        return entry.but("conflict", f"is the official title or note of {', '.join(titles)}, which always stays")
    if over:
        return replace(entry, why=f"added, in place of the official {', '.join(synonyms)}")
    return entry.but("conflict", f"official under {', '.join(synonyms)}; to take it all the same: --over-official")


def _against_each_other(files: Iterable[list[Entry]]) -> list[Entry]:
    """Later files win; in one file the greatest weight, and equal weights all count."""
    winners = dict[Words, list[Entry]]()
    done: list[list[Entry]] = []
    for entries in reversed(list(files)):
        best: dict[Words, float] = {}
        for entry in entries:
            if entry.state == "taken":
                best[entry.words] = max(best.get(entry.words, 0.0), entry.weight)
        done.append([_placed(entry, best, winners) for entry in entries])
    return [entry for entries in reversed(done) for entry in entries]


def _placed(entry: Entry, best: Mapping[Words, float], winners: dict[Words, list[Entry]]) -> Entry:
    if entry.state != "taken":
        return entry
    before = winners.get(entry.words, [])
    for other in before:
        if other.codes == entry.codes:
            return entry.but("known", f"{other.file}, line {other.line}, says the same")
        if other.file != entry.file:
            return entry.but("replaced", f"{other.file}, line {other.line}, gives these words to {other.codes[0]}")
    if entry.weight < best[entry.words]:
        return entry.but("replaced", "another line gives these words to another code with more weight")
    winners.setdefault(entry.words, []).append(entry)
    return entry
