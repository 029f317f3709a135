"""Every field of the tables is read as BfArM describes it; a wrong one is named with file and line."""

from pathlib import Path

import pytest

from catalog_build.official.files import FILE_MAX
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


LONG = text([ALPHAID[0].replace("Alters", f"Typ {number} ") for number in range(1_200)])
REFUSED = {
    "a wrong count of fields": ({"kodes": text([KODES[0], KODES[1][:-2], *KODES[2:]])},
                                r"kodes\.txt, line 2: 27 fields; expected 28 fields"),
    "a line that breaks off": ({"alphaid": text(ALPHAID)[:-25]}, r"alphaidse.*line 6: .*cut off: download it again"),
    "cut at the end of a line": ({"kodes": text(KODES[:6])},
                                 r"line 6: the file ends, and block U60-U61 has no code.*cut off"),
    "a long file without its last end": ({"alphaid": LONG.rstrip(b"\r\n")}, "line 1200: the last line does not end"),
    "a code twice": ({"kodes": text([*KODES, KODES[0]])}, "line 9: E11 comes a second time"),
    "a synonym of no code": ({"alphaid": text(["1|I9|E99.9|||||Fremd"])}, r"line 1: E99\.9 is not in the catalog"),
    "an entry of no code": ({"alphabet": text(["1|9|1|E99.9||||Fremd"])}, r"line 1: E99\.9 is not in the catalog"),
    "a synonym without a text": ({"alphaid": text(["1|I9|E11.90||||| "])}, "line 1: an empty text"),
    "a block that is no range": ({"gruppen": text([GRUPPEN[0].replace("E10", "E1"), *GRUPPEN[1:]])},
                                 r"gruppen\.txt, line 1: block 'E1' to 'E14'"),
    "another encoding": ({"alphaid": text(ALPHAID[:2]) + "1|I9|E11.90|||||Übergewicht\r\n".encode("cp1252")},
                         "alphaidse.*line 3: not UTF-8"),
    "an empty file": ({"kodes": b"\xef\xbb\xbf\r\n"}, r"kodes\.txt: the file is empty"),
    "more than the limit": ({"kodes": b"0" * (FILE_MAX + 1)}, "more than 64 MiB"),
    "no code table": ({"kodes": None}, r"no code table.*icd10gm<year>syst_kodes\.txt"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_damaged_table_is_refused_with_file_and_line(tmp_path: Path, name: str) -> None:
    changed, said = REFUSED[name]
    with pytest.raises(SourceError, match=said):
        read_source(folder(tmp_path, release(**changed)))


def test_wordings_without_a_code_are_left_out_and_said(tmp_path: Path) -> None:
    source = read_source(folder(tmp_path, release(alphaid=text([*ALPHAID, "1|I9||||||Ohne Kode"]))))
    assert "Ohne Kode" not in {synonym.text for synonym in source.synonyms}
    assert source.missing == (
        "1 lines of icd10gm2026_alphaidse_edvtxt_20250926.txt without any code: these wordings are not found",
    )


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
