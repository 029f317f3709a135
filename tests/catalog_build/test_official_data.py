"""The readers on the official files of three years and on an original Alpha-ID-SE file."""

from collections import Counter
from pathlib import Path

import pytest

from catalog_build.checks import check
from catalog_build.official.files import SourceFile
from catalog_build.official.source import Source, read_source
from catalog_build.official.tables import read_alphaid
from catalog_build.own_synonyms import OWN, own_texts
from catalog_build.synonyms import all_texts, fold_of
from catalog_build.vocabulary import layered


@pytest.mark.parametrize(
    ("folder", "codes", "terminal"),
    [("2024", 16_793, 14_290), ("2025", 16_817, 14_309), ("2026-reconstructed", 16_903, 14_369)],
)
def test_every_year_reads_whole(shared_data: Path, folder: str, codes: int, terminal: int) -> None:
    source = read_source(shared_data / "icd10gm" / folder)
    assert str(source.year) == source.catalog.version == folder[:4]
    assert (len(source.catalog), sum(code.terminal for code in source.catalog)) == (codes, terminal)
    assert {code.block for code in source.catalog if code.code == "E11.90"} == {"E10-E14"}


def test_years_without_synonyms_say_what_it_costs(shared_data: Path) -> None:
    missing = read_source(shared_data / "icd10gm/2024").missing
    assert len(missing) == 4
    assert any("Alpha-ID-SE" in sentence for sentence in missing)


def test_2026_is_complete(official: Source) -> None:
    assert official.missing == ()
    assert len(official.files) == 5
    assert len(official.synonyms) == 85_676
    assert len(official.catalog.blocks) == 243
    assert len(official.catalog.chapters) == 22
    assert {code.block for code in official.catalog} == set(official.catalog.blocks)
    assert Counter(code.kind for code in official.catalog)["asterisk"] == 1_010


def test_known_codes_of_2026(official: Source) -> None:
    codes = {code.code: code for code in official.catalog}
    assert codes["E11.90"].title == "Diabetes mellitus, Typ 2: Ohne Komplikationen: Nicht als entgleist bezeichnet"
    assert codes["A17.0"].kind == "dagger"
    assert codes["G01"].kind == "asterisk"
    assert codes["G93.3"].terminal is False
    assert codes["O80"].sex == "W"
    assert "R40.1" in {name for note in codes["F06.1"].notes for name in note.references}


def test_no_text_keeps_a_cross_reference_or_a_glued_code(official: Source) -> None:
    texts = all_texts(official)
    assert [entry.text for entry in texts if " - s." in entry.text] == []
    assert {reference.raw for reference in official.cross_references} >= {"Wundrose - s.a. Erysipel"}
    inclusions = {entry.text for entry in texts if entry.source == "inclusion"}
    assert "Enzephalitis, Myelitis oder Enzephalomyelitis (bei) (durch): tuberkulös" in inclusions


def test_every_title_is_searchable_and_folds_are_even(official: Source) -> None:
    texts = all_texts(official)
    free = [code for code in official.catalog if code.title.startswith("Nicht belegte Schlüsselnummer")]
    assert 0 < len(free) < 500
    assert sum(entry.source == "title" for entry in texts) == len(official.catalog) - len(free)
    sizes = Counter(fold_of(entry) for entry in texts)
    del sizes[None]
    assert len(sizes) == 20
    assert max(sizes.values()) < 1.1 * min(sizes.values())


@pytest.mark.parametrize("folder", ["2024", "2025", "2026-reconstructed"])
def test_the_conditions_hold_on_the_official_files(shared_data: Path, folder: str) -> None:
    source = read_source(shared_data / "icd10gm" / folder)
    report = check(source, all_texts(source), engine="plain")
    assert [result.name for result in report.results if not result.holds] == ["one-code"]


def test_the_original_alphaid_file_reads_whole(shared_data: Path) -> None:
    """7,278 lines, 9 of them invalid; its codes are of 2020, so any code is taken as known here."""
    path = shared_data / "icd10gm/alphaidse-2020-specimen/icd10gm2020_alphaid_se_muster_edvtxt_20191004.txt"

    class AnyCode:
        def __contains__(self, code: object) -> bool:
            return True

    wordings = read_alphaid(SourceFile("alphaid", path.name, 2020, path.name, lambda: path.open("rb")), AnyCode())
    assert len(wordings.synonyms) == 7_269
    assert all(synonym.orpha for synonym in wordings.synonyms)
    assert not wordings.gaps
    assert "Stiff-person-Syndrom" not in {synonym.text for synonym in wordings.synonyms}  # an invalid line
    assert sum(bool(synonym.secondary) for synonym in wordings.synonyms) == 115  # lines with two codes or more


def test_every_terminal_code_takes_an_own_synonym(official: Source, tmp_path: Path) -> None:
    codes = [code.code for code in official.catalog if code.terminal]
    file = tmp_path / "klinik.tsv"
    file.write_text("text\tcode\n" + "".join(f"Hauswort{number} Klinik\t{code}\n" for number, code in enumerate(codes)))
    texts = all_texts(official)
    layers = layered(texts, own_texts(official, texts), [file], official.catalog)
    assert layers.about[-1]["taken"] == len(codes) == 14_369
    assert {text.code for text in layers.texts if text.source == OWN} == set(codes)
