"""The starter catalog is official where it claims to be, whole, and in the official file formats."""

import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from catalog_build.checks import check
from catalog_build.official.source import Source, read_source
from catalog_build.synonyms import all_texts

REPOSITORY = Path(__file__).resolve().parents[2]
STARTER = REPOSITORY / "catalog_build" / "starter"
METADATA = "Klassifikationsdateien/icd10gm2026syst_{}.txt"
SYNONYMS = "icd10gm2026_alphaidse_edvtxt_starter.txt"
WORDS = "icd10gm2026alpha_edvtxt_starter.txt"
NOTES = "icd10gm2026syst_claml_starter.xml"
MARKS = "+*!"


def lines(name: str, folder: Path = STARTER) -> list[str]:
    return (folder / name).read_text(encoding="utf-8").splitlines()


def code_rows() -> list[list[str]]:
    return [line.split(";") for line in lines(METADATA.format("kodes"))]


def code_names(terminal: bool = False) -> set[str]:
    return {row[6] for row in code_rows() if row[1] == "T" or not terminal}


def synonym_rows() -> list[list[str]]:
    return [line.split("|") for line in lines(SYNONYMS)]


def parent(code: str) -> str | None:
    return {3: None, 5: code[:3], 6: code[:5]}[len(code)]


def mapped_codes(row: list[str]) -> list[str]:
    return [code for code in row[2:6] if code]


@pytest.mark.parametrize("table", ["kodes", "gruppen", "kapitel"])
def test_every_row_is_the_official_one_in_all_fields_and_in_the_official_order(shared_data: Path, table: str) -> None:
    official = shared_data / "icd10gm" / "2026-reconstructed"
    ours = lines(METADATA.format(table))
    position = {line: number for number, line in enumerate(lines(METADATA.format(table), official))}
    assert [line for line in ours if line not in position] == []
    assert [position[line] for line in ours] == sorted({position[line] for line in ours})


def test_the_catalog_is_large_enough_for_everyday_use() -> None:
    assert len(code_names(terminal=True)) >= 500
    assert len(synonym_rows()) >= 1500


def test_an_asterisk_code_stands_with_a_dagger_code_and_a_dagger_with_an_asterisk_code() -> None:
    assert [row for row in synonym_rows() if bool(row[3]) != row[2].endswith("+")] == []


def test_every_terminal_code_has_an_everyday_wording() -> None:
    named = {code.rstrip(MARKS) for row in synonym_rows() for code in mapped_codes(row)}
    assert code_names(terminal=True) - named == set()


def test_synonyms_are_unique_tidy_and_carry_an_id_of_our_own() -> None:
    rows = synonym_rows()
    pairs = Counter((row[7].casefold(), tuple(row[2:6])) for row in rows)
    assert [pair for pair, count in pairs.items() if count > 1] == []
    assert len({row[1] for row in rows}) == len(rows)
    assert [row for row in rows if row[0] != "1" or not re.fullmatch(r"B\d{6}", row[1]) or row[6]] == []
    assert [row[7] for row in rows if row[7] != " ".join(row[7].split()) or len(row[7]) < 2] == []


def test_word_references_point_from_one_word_to_another() -> None:
    rows = [line.split("|") for line in lines(WORDS)]
    assert len(rows) >= 100
    for row in rows:
        assert [row[0], *row[3:7]] == ["0", "", "", "", ""], row
        assert re.fullmatch(r"[^|]+? - s\.(a\.)? [^|]+", row[7]), row


def test_notes_are_about_codes_of_the_catalog_under_their_official_titles() -> None:
    titles = {row[6]: row[9 + int(row[0]) - 3] for row in code_rows()}
    root = ElementTree.parse(STARTER / NOTES).getroot()
    classes = root.findall("Class")
    assert len(classes) >= 10
    for element in classes:
        code = element.attrib["code"]
        assert element.findtext("Rubric[@kind='preferred']/Label") == titles[code]
        assert {child.attrib["code"] for child in element.findall("SubClass")} == {
            other for other in titles if parent(other) == code
        }
        for reference in element.iter("Reference"):
            assert reference.attrib["code"] in titles


@pytest.fixture(scope="module")
def source() -> Source:
    return read_source(STARTER)


def test_the_readers_of_the_official_files_read_it_whole(source: Source) -> None:
    assert source.year == 2026
    assert source.missing == ()
    assert {code.code for code in source.catalog} == code_names()
    assert len(source.synonyms) == len(synonym_rows())
    assert len(source.cross_references) == len(lines(WORDS))


@pytest.mark.parametrize(
    ("text", "code", "together_with"),
    [
        ("Zuckerkrankheit", "E14.90", ()),
        ("Schaufensterkrankheit", "I73.9", ()),
        ("aHT", "I10.90", ()),
        ("Z. n. Herzinfarkt", "I25.29", ()),
        ("Bauchweh", "R10.4", ()),
        ("Commotio cerebri", "S06.0", ()),
        ("diabetische Retinopathie bei Typ-2-Diabetes", "E11.30", ("H36.0",)),
        ("E. coli", "B96.2", ()),
    ],
)
def test_everyday_wordings_lead_to_their_code(
    source: Source, text: str, code: str, together_with: tuple[str, ...]
) -> None:
    assert {(found.code, found.secondary) for found in source.synonyms if found.text == text} == {(code, together_with)}


def test_daggers_asterisks_and_notes_arrive_in_the_catalog(source: Source) -> None:
    assert {source.catalog.get(code).kind for code in ("E11.30", "G30.9", "M51.1")} == {"dagger"}
    assert source.catalog.get("H36.0").kind == "asterisk"
    assert source.catalog.get("B96.2").kind == "exclamation"
    assert "Z86.7" in {code.code for code in source.catalog if code.notes}


def test_the_checks_of_a_build_find_nothing_against_it(source: Source) -> None:
    report = check(source, all_texts(source), engine="plain")
    assert [result.name for result in report.results if not result.holds] == []
