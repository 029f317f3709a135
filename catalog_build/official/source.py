"""The official ICD-10-GM files of one year, read as one `Source`: catalog, notes, synonyms, cross references.

Required: `icd10gm<year>syst_kodes.txt`. Optional, each with what its absence costs in `missing`: the block and
chapter titles, Alpha-ID-SE or the alphabetical index, ClaML. Any year from 2024 on, as a folder or a zip.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from catalog_build.official.claml import read_notes
from catalog_build.official.files import SourceFile, checksum, find_files
from catalog_build.official.tables import (
    CrossReference,
    Synonym,
    read_alphabet,
    read_alphaid,
    read_blocks,
    read_chapters,
    read_codes,
    read_moves,
)
from clinical.errors import SourceError
from clinical.icd import Catalog, Code, Note

_COSTS: Final = {
    "gruppen": "block titles (icd10gm*syst_gruppen.txt): blocks have no title",
    "kapitel": "chapter titles (icd10gm*syst_kapitel.txt): chapters have no title",
    "alphaid": "Alpha-ID-SE (icd10gm*alphaidse*.txt): some 90,000 everyday wordings; without them most shorthand, "
    "eponyms and lay words are not found, only wordings close to the official titles",
    "claml": "ClaML (icd10gm*claml*.xml): inclusion, exclusion and coding notes; some wordings are not found, and "
    "the language model chooses among codes without the official hints",
}


@dataclass(frozen=True)
class Source:
    """Everything read from one year's files. `files`: name -> SHA-256; `missing`: sentences for the operator."""

    year: int
    catalog: Catalog
    synonyms: tuple[Synonym, ...]
    cross_references: tuple[CrossReference, ...]
    files: Mapping[str, str]
    missing: tuple[str, ...]


def read_source(path: Path) -> Source:
    """Read the official files under `path`, a zip or a folder. Raises SourceError naming file, line, what to do."""
    files = find_files(path)
    if "kodes" not in files:
        expected = "icd10gm<year>syst_kodes.txt, from BfArM's metadata zip (icd10gm2026syst-meta.zip)"
        raise SourceError(str(path), None, "no code table found", expected, "name the zip or the folder that holds it")
    bare = _bare_catalog(files)
    readers = {"alphaid": read_alphaid, "alphabet": read_alphabet}
    wordings = [read(files[role], bare) for role, read in readers.items() if role in files]
    notes, daggers = read_notes(files["claml"], bare) if "claml" in files else ({}, frozenset[str]())
    for wording in wordings:
        daggers |= wording.daggers
    catalog = Catalog(
        bare.version,
        (_finished(code, notes.get(code.code, ()), code.code in daggers) for code in bare),
        bare.chapters,
        bare.blocks,
        read_moves(files["umsteiger"], bare) if "umsteiger" in files else (),
    )
    present = set(files) | ({"alphaid"} if "alphabet" in files else set())
    missing = [cost for role, cost in _COSTS.items() if role not in present]
    return Source(
        year=files["kodes"].year,
        catalog=catalog,
        synonyms=tuple(synonym for wording in wordings for synonym in wording.synonyms),
        cross_references=tuple(dict.fromkeys(ref for wording in wordings for ref in wording.cross_references)),
        files={file.name: checksum(file) for file in files.values()},
        missing=(*missing, *(gap for wording in wordings for gap in wording.gaps)),
    )


def _bare_catalog(files: Mapping[str, SourceFile]) -> Catalog:
    chapters = read_chapters(files["kapitel"]) if "kapitel" in files else {}
    blocks = read_blocks(files["gruppen"]) if "gruppen" in files else {}
    codes = read_codes(files["kodes"], chapters, blocks)
    return Catalog(str(files["kodes"].year), codes, chapters, blocks)


def _finished(code: Code, notes: tuple[Note, ...], dagger: bool) -> Code:
    kind = "dagger" if dagger and code.kind == "plain" else code.kind
    return replace(code, notes=notes, kind=kind) if notes or kind != code.kind else code
