"""Every field of the tables is read as BfArM describes it; a wrong one is named with file and line."""

from pathlib import Path

import pytest

from catalog_build.official.source import CrossReference, Source, Synonym, read_source
from catalog_build.official.tables import split_reference
from catalog_build.synonyms import WordSynonym, all_texts, fold, fold_of, word_synonyms
from clinical.errors import SourceError
from clinical.icd import Code
from tests.catalog_build.official_files import ALPHAID, GRUPPEN, KODES, folder, release, text


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return read_source(folder(tmp_path, release()))


def test_a_code_row_becomes_a_code(source: Source) -> None:
    assert source.catalog.get("E11.8") == Code(
        code="E11.8",
        title="Typ 2: Mit Komplikationen",
        level=4,
        terminal=True,
        parent="E11",
        block="E10-E14",
        chapter="04",
        kind="dagger",  # by the "+" of a synonym
        use_295="P",
        use_301="P",
        sex="W",
        age_low="j010",
        age_high="t028",
    )


def test_marks_make_the_kind(source: Source) -> None:
    kinds = {code.code: code.kind for code in source.catalog}
    assert kinds["G01"] == "asterisk"
    assert kinds["U61"] == kinds["U61.2"] == "exclamation"
    assert kinds["E11.90"] == "plain"


def test_titles_of_chapters_and_blocks(source: Source) -> None:
    assert source.catalog.chapter_title("06") == "Krankheiten des Nervensystems"
    assert source.catalog.block_title("E10-E14") == "Diabetes mellitus"
    assert source.catalog.block_title("Z00-Z99") == ""


def test_alphaid_lines_become_synonyms_and_invalid_lines_do_not(source: Source) -> None:
    assert [synonym for synonym in source.synonyms if synonym.source == "alphaid"] == [
        Synonym("Altersdiabetes", "E11.90"),
        Synonym("Zucker", "E11.90", raw="Zucker - s.a. Diabetes mellitus"),
        Synonym("Diabetische Meningitis", "E11.8", ("G01",), "173"),
        Synonym("Helferzellen vermindert", "U61.2"),
        Synonym("Entgleister Zucker mit Komplikation", "E11.91", ("E11.8",)),
    ]


def test_the_alphabetical_index_gives_synonyms_and_cross_references_but_no_instructions(source: Source) -> None:
    assert [s.text for s in source.synonyms if s.source == "alphabet"] == ["Alterszucker", "200 bis 499 Helferzellen"]
    assert source.cross_references == (
        CrossReference("Zucker", ("Diabetes mellitus",), True, raw="Zucker - s.a. Diabetes mellitus"),
        CrossReference("BWK", ("Brustwirbelsäule", "Brustwirbelkörper"), False),
        CrossReference("Bruch", ("Fraktur", "Hernie"), True),
        CrossReference("Card-", ("Kard-",), False),
        CrossReference("Abnorm", ("Art der Krankheit",), False),
    )


@pytest.mark.parametrize(
    ("line", "head", "targets", "also"),
    [
        ("ISG - s. Iliosakralgelenk oder s. Inneres Sprunggelenk", "ISG", 2, False),
        (
            "Bandscheibe - s.a. Diskus oder s.a. Nucleus pulposus oder s.a. Zwischenwirbelscheibe",
            "Bandscheibe",
            3,
            True,
        ),
        ("CIN - s. Neoplasie, zervikal, intraepithelial", "CIN", 1, False),
        ("Colon - s. a. Kolon", "Colon", 1, True),
        ("Cranio- - s.a. Kranio-", "Cranio-", 1, True),
    ],
)
def test_the_forms_of_a_cross_reference(line: str, head: str, targets: int, also: bool) -> None:
    rest, reference = split_reference(line)
    assert reference is not None
    assert (rest, reference.head, len(reference.targets), reference.also) == (head, head, targets, also)


@pytest.mark.parametrize("line", ["Hals - Nasen - Ohren", "Z. n. Apoplex s. a. Befund", "Fraktur - kodiere nach Ort"])
def test_other_texts_are_no_cross_references(line: str) -> None:
    assert split_reference(line) == (line, None)


def test_word_synonyms_leave_rules_out_and_mark_beginnings_of_words(source: Source) -> None:
    assert word_synonyms(source.cross_references) == (
        WordSynonym("Zucker", ("Diabetes mellitus",)),
        WordSynonym("BWK", ("Brustwirbelsäule", "Brustwirbelkörper")),
        WordSynonym("Bruch", ("Fraktur", "Hernie")),
        WordSynonym("Card", ("Kard",), prefix=True),
    )


def test_a_meaning_in_brackets_is_a_word_synonym() -> None:
    reference = CrossReference("MEN [Multiple endokrine Neoplasie]", ("Neoplasie, endokrin, multipel",), True)
    expected = WordSynonym("MEN", ("Multiple endokrine Neoplasie", "Neoplasie, endokrin, multipel"))
    assert word_synonyms([reference]) == (expected,)


def test_a_held_out_synonym_takes_its_cross_reference_with_it(source: Source) -> None:
    held_out = fold("Zucker - s.a. Diabetes mellitus")
    words = {synonym.word for synonym in word_synonyms(source.cross_references, holdout=held_out)}
    assert words == {"BWK", "Bruch", "Card"}


def test_texts_are_titles_inclusions_and_synonyms_once_each(tmp_path: Path) -> None:
    twice = [*ALPHAID, "1|I7|E11.8+|G01*|||173|Typ 2: Mit  Komplikationen", "1|I8|E11.91|||||Altersdiabetes"]
    texts = all_texts(read_source(folder(tmp_path, release(alphaid=text(twice)))))
    assert len({(entry.text, entry.code) for entry in texts}) == len(texts)
    assert {entry.code for entry in texts if entry.text == "Altersdiabetes"} == {"E11.90", "E11.91"}
    title = next(entry for entry in texts if entry.text == "Typ 2: Mit Komplikationen")
    assert (title.source, title.secondary, title.orpha) == ("title", ("G01",), "173")
    assert "Alterszuckerkrankheit" in {entry.text for entry in texts if entry.source == "inclusion"}


def test_folds_come_from_the_text_as_in_the_file_and_titles_have_none(source: Source) -> None:
    by_text = {entry.text: entry for entry in all_texts(source)}
    assert fold_of(by_text["Zucker"]) == fold("Zucker - s.a. Diabetes mellitus")
    assert fold_of(by_text["Altersdiabetes"]) == 1  # by hand: printf Altersdiabetes | sha1sum, modulo 20
    assert fold_of(by_text["Alterszuckerkrankheit"]) is None
    assert fold_of(by_text["Typ 2: Entgleist"]) is None


def field(row: str, number: int, value: str, separator: str = ";") -> str:
    fields = row.split(separator)
    fields[number - 1] = value
    return separator.join(fields)


@pytest.mark.parametrize(
    ("number", "value"),
    [
        *((1, "6"), (1, "3"), (2, "X"), (4, "99"), (5, "A00"), (7, "E1190"), (9, " "), (13, "Q"), (13, "PO")),
        *((20, "X"), (22, "j1"), (23, "t999")),
    ],
)
def test_a_wrong_value_in_the_code_table_is_named_with_line_and_field(tmp_path: Path, number: int, value: str) -> None:
    rows = [*KODES[:2], field(KODES[2], number, value), *KODES[3:]]
    with pytest.raises(SourceError, match=rf"kodes\.txt, line 3: .*field {number}"):
        read_source(folder(tmp_path, release(kodes=text(rows))))


def test_a_wrong_field_count_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"kodes\.txt, line 2: 27 fields; expected 28 fields"):
        read_source(folder(tmp_path, release(kodes=text([KODES[0], KODES[1][:-2], *KODES[2:]]))))


def test_a_line_that_breaks_off_says_the_file_is_cut_off(tmp_path: Path) -> None:
    data = text(ALPHAID)[:-25]
    with pytest.raises(SourceError, match=r"alphaidse.*line 6: .*cut off: download it again"):
        read_source(folder(tmp_path, release(alphaid=data)))


def test_a_code_table_cut_at_the_end_of_a_line_is_noticed_by_its_blocks(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"line 6: the file ends, and block U60-U61 has no code.*cut off"):
        read_source(folder(tmp_path, release(kodes=text(KODES[:6]))))


def test_a_long_file_whose_last_line_does_not_end_is_cut_off(tmp_path: Path) -> None:
    many = text([ALPHAID[0].replace("Alters", f"Typ {number} ") for number in range(1_200)])
    with pytest.raises(SourceError, match=r"line 1200: the last line does not end"):
        read_source(folder(tmp_path, release(alphaid=many.rstrip(b"\r\n"))))


def test_a_code_that_comes_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"line 9: E11 comes a second time"):
        read_source(folder(tmp_path, release(kodes=text([*KODES, KODES[0]]))))


@pytest.mark.parametrize("role", ["alphaid", "alphabet"])
def test_an_unknown_code_in_a_synonym_is_refused(tmp_path: Path, role: str) -> None:
    rows = {"alphaid": ["1|I9|E99.9|||||Fremd"], "alphabet": ["1|9|1|E99.9||||Fremd"]}[role]
    with pytest.raises(SourceError, match=r"line 1: E99\.9 is not in the catalog"):
        read_source(folder(tmp_path, release(**{role: text(rows)})))


def test_a_synonym_without_a_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"line 1: an empty text"):
        read_source(folder(tmp_path, release(alphaid=text(["1|I9|E11.90||||| "]))))


def test_wordings_without_a_code_are_left_out_and_said(tmp_path: Path) -> None:
    source = read_source(folder(tmp_path, release(alphaid=text([*ALPHAID, "1|I9||||||Ohne Kode"]))))
    assert "Ohne Kode" not in {synonym.text for synonym in source.synonyms}
    assert source.missing == (
        "1 lines of icd10gm2026_alphaidse_edvtxt_20250926.txt without any code: these wordings are not found",
    )


def test_a_block_that_is_no_range_of_categories_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"gruppen\.txt, line 1: block 'E1' to 'E14'"):
        read_source(folder(tmp_path, release(gruppen=text([GRUPPEN[0].replace("E10", "E1"), *GRUPPEN[1:]]))))


def test_the_sample_of_the_alphabetical_index_reads_whole(shared_data: Path, tmp_path: Path) -> None:
    sample = (shared_data / "icd10gm/format-samples/icd10gm2026alpha_edvtxt_sample.txt").read_text(encoding="utf-8")
    official = shared_data / "icd10gm/2026-reconstructed/Klassifikationsdateien"
    (tmp_path / "icd10gm2026alpha_edvtxt_sample.txt").write_text(sample, encoding="utf-8")
    (tmp_path / "icd10gm2026syst_kodes.txt").write_bytes((official / "icd10gm2026syst_kodes.txt").read_bytes())
    source = read_source(tmp_path)
    coded = [line for line in sample.splitlines() if not line.startswith("0|")]
    uncoded = [reference for reference in source.cross_references if reference.raw is None]
    assert len(source.synonyms) == len(coded)
    assert len(coded) + len(uncoded) + sample.count(" - kodiere") == len(sample.splitlines())
    words = {synonym.word: synonym for synonym in word_synonyms(source.cross_references)}
    assert words["Bauchspeicheldrüse"].others == ("Pankreas",)
    assert words["Coronar"].others == ("Koronar",)
    assert words["Cyano"].prefix
    assert "Abnorm" not in words
