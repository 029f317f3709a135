"""The catalog: tolerant spelling of one code, the tree, and its file."""

from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_build.official.source import Source
from clinical.errors import ArtifactMismatch, ArtifactMissing
from clinical.icd import CODE_PATTERN, Catalog, Code, Note, parent_of, parse

NOTES = (Note("exclusion", "Gestationsdiabetes", ("O24.4",)),)


def code(spelling: str, terminal: bool = True, notes: tuple[Note, ...] = ()) -> Code:
    block, chapter = {"E10": ("E10-E14", "04"), "E11": ("E10-E14", "04"), "E16": ("E15-E16", "04")}.get(
        spelling[:3], ("I10-I15", "09")
    )
    return Code(
        code=spelling,
        title=f"Titel {spelling}",
        level=len(spelling.replace(".", "")),
        terminal=terminal,
        parent=parent_of(spelling),
        block=block,
        chapter=chapter,
        kind="plain",
        use_295="P" if terminal else "V",
        use_301="P" if terminal else "V",
        notes=notes,
    )


@pytest.fixture
def catalog() -> Catalog:
    inner = {"E10", "E11", "E11.9", "E11.2"}
    order = ["E10", "E10.1", "E11", "E11.2", "E11.20", "E11.21", "E11.8", "E11.9", "E11.90", "E11.91", "E16", "I10"]
    codes = [code(spelling, spelling not in inner, NOTES if spelling == "E11" else ()) for spelling in order]
    return Catalog("2026", codes, {"04": "Stoffwechsel"}, {"E10-E14": "Diabetes"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("E11.90", "E11.90"),
        ("e119", "E11.9"),
        ("E1190", "E11.90"),
        ("E11.-", "E11"),
        ("E11-", "E11"),
        ("E11.9-", "E11.9"),
        ("E11.--", "E11"),
        ("E11.–", "E11"),
        ("G01*", "G01"),
        ("G01.-*", "G01"),
        ("A17.0+", "A17.0"),
        ("A17.0†", "A17.0"),
        ("U61.2!", "U61.2"),
        ("U61.-!", "U61"),
        ("  i10\n", "I10"),
        ("E 11 . 9", "E11.9"),
        ("E11 .9", "E11.9"),
        ("E11\u00a0.90", "E11.90"),
        ("Ｅ１１．９", "E11.9"),
        ("E11,9", "E11.9"),
        ("E11.", "E11"),
        (" " * 500 + "E11.9" + "\n" * 500, "E11.9"),
        ("B12", "B12"),
        ("X99.99", "X99.99"),
    ],
)
def test_one_bare_code_in_any_spelling(text: str, expected: str) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "-", "E", "E1", "E1.1", "E111111", "E11.999", "EE11", "11.9", "T4 Lymphozyten", "T4", "L5", "T1 2"),
        *("E11.9 E11.8", "E11.9, I10", "E11-E14", "A17.0+ G01*", "Z. n. I21.9, jetzt Dyspnoe", "Vitamin B12", "H1N1"),
        *("E11.9 Diabetes", "E11.9 G", "ICD E11.9", "C3/C4", "I10?", "E１x", "E1१.9", "É11", "E11.9" + " " * 50 + "x"),
    ],
)
def test_anything_else_is_no_code(text: str) -> None:
    assert parse(text) is None


codes = st.from_regex(CODE_PATTERN, fullmatch=True)


@given(
    spelling=codes,
    lower=st.booleans(),
    dot=st.booleans(),
    blanks=st.lists(st.sampled_from(["", " ", "\t", "\u00a0"]), min_size=4, max_size=4),
    dash=st.sampled_from(["", "-", "--", "–"]),
    mark=st.sampled_from(["", "+", "*", "!", "†"]),
)
def test_every_tolerated_spelling_of_a_code_is_that_code(
    spelling: str, lower: bool, dot: bool, blanks: list[str], dash: str, mark: str
) -> None:
    shown = spelling if dot else spelling.replace(".", "")
    typed = blanks[0] + shown[0] + blanks[1] + shown[1:] + blanks[2] + dash + mark + blanks[3]
    assert parse(typed.lower() if lower else typed) == spelling


@given(st.text(max_size=40))
def test_what_parses_is_canonical_and_stays(text: str) -> None:
    found = parse(text)
    if found is not None:
        assert CODE_PATTERN.fullmatch(found)
        assert parse(found) == found


@given(
    one=codes,
    other=codes,
    between=st.sampled_from([" ", ", ", "; ", "/", " und ", "\n"]),
    word=st.from_regex(r"[a-zäöüß]{2,20}", fullmatch=True),
)
def test_a_code_beside_another_or_a_word_is_no_bare_code(one: str, other: str, between: str, word: str) -> None:
    assert parse(one + between + other) is parse(f"{word} {one}") is parse(f"{one} {word}") is None


def test_the_tree(catalog: Catalog) -> None:
    assert [child.code for child in catalog.children("E11")] == ["E11.2", "E11.8", "E11.9"]
    assert catalog.children("I10") == catalog.children("Z99") == ()
    assert [other.code for other in catalog.siblings("E11.90")] == ["E11.91"]
    assert [other.code for other in catalog.siblings("E11")] == ["E10"]
    assert [leaf.code for leaf in catalog.leaves("E11")] == ["E11.20", "E11.21", "E11.8", "E11.90", "E11.91"]
    assert catalog.siblings("Z99") == catalog.leaves("Z99") == ()


def test_neighbours_are_siblings_then_the_nearest_under_the_parents_siblings(catalog: Catalog) -> None:
    assert [other.code for other in catalog.neighbours("E11.90", 9)] == ["E11.91", "E11.8", "E11.21", "E11.20"]
    assert [other.code for other in catalog.neighbours("E11.90", 2)] == ["E11.91", "E11.8"]
    assert [other.code for other in catalog.neighbours("E11", 9)] == ["E10", "E16"]
    assert catalog.neighbours("Z99", 9) == catalog.neighbours("E11", 0) == ()


def test_neighbours_never_repeat_nor_hold_the_code_itself(catalog: Catalog) -> None:
    assert len(catalog) > 5
    for own in catalog:
        near = [other.code for other in catalog.neighbours(own.code, 99)]
        assert len(set(near)) == len(near)
        assert own.code not in near


@pytest.mark.parametrize("spelling", ["", "E", "E1", ".", "E1.", "x" * 9])
def test_nothing_is_near_to_what_is_no_code(catalog: Catalog, spelling: str) -> None:
    assert catalog.nearest_existing(spelling) is None


def test_the_nearest_existing_code_is_itself_or_an_ancestor(catalog: Catalog) -> None:
    found = {
        spelling: catalog.nearest_existing(spelling) for spelling in ("E11.90", "E11.99", "E11.7", "I10.90", "B12")
    }
    assert {spelling: code and code.code for spelling, code in found.items()} == {
        "E11.90": "E11.90",
        "E11.99": "E11.9",
        "E11.7": "E11",
        "I10.90": "I10",
        "B12": None,
    }


def test_lookup(catalog: Catalog) -> None:
    assert len(catalog) == len(list(catalog)) == 12
    assert "E11.9" in catalog
    assert "e119" not in catalog
    assert catalog.get("E11.9") is catalog.codes[catalog.number("E11.9")]
    assert catalog.get("E99") is None
    assert (catalog.system, catalog.version) == ("ICD-10-GM", "2026")
    assert catalog.chapter_title("04") == "Stoffwechsel"
    assert catalog.block_title("E15-E16") == ""
    assert catalog.parse("e11.-") == "E11"


def test_a_saved_catalog_loads_equal(catalog: Catalog, tmp_path: Path) -> None:
    catalog.save(tmp_path / "codes.json")
    loaded = Catalog.load(tmp_path / "codes.json")
    assert list(loaded) == list(catalog)
    assert loaded.codes[2].notes == NOTES
    assert (loaded.version, loaded.chapters, loaded.blocks) == (catalog.version, catalog.chapters, catalog.blocks)


def test_a_missing_file_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(ArtifactMissing, match="catalog_build build"):
        Catalog.load(tmp_path / "codes.json")


@pytest.mark.parametrize("cut", [0, 1, 200])
def test_a_truncated_file_is_refused(catalog: Catalog, tmp_path: Path, cut: int) -> None:
    path = tmp_path / "codes.json"
    catalog.save(path)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(ArtifactMismatch, match="catalog_build build"):
        Catalog.load(path)


@pytest.mark.parametrize("tree", [[], {}, {"columns": ["code"]}, {"columns": list(Code.__slots__)}, 7])
def test_a_file_of_another_schema_is_refused(tmp_path: Path, tree: object) -> None:
    (tmp_path / "codes.json").write_bytes(orjson.dumps(tree))
    with pytest.raises(ArtifactMismatch):
        Catalog.load(tmp_path / "codes.json")


def test_a_catalog_with_kinds_of_codes_that_nobody_knows_is_refused(catalog: Catalog, tmp_path: Path) -> None:
    path = tmp_path / "codes.json"
    catalog.save(path)
    path.write_bytes(path.read_bytes().replace(b'"plain"', b'"star"'))
    with pytest.raises(ArtifactMismatch, match="kind star; expected plain, dagger, asterisk, exclamation; build the"):
        Catalog.load(path)


def test_the_full_catalog_survives_its_file(official: Source, tmp_path: Path) -> None:
    official.catalog.save(tmp_path / "codes.json")
    assert list(Catalog.load(tmp_path / "codes.json")) == list(official.catalog)


def test_every_code_of_the_full_catalog_parses_from_every_spelling(official: Source) -> None:
    full = official.catalog
    assert len(full) > 16_000
    for own in full:
        for typed in (own.code, own.code.lower().replace(".", ""), f" {own.marked} ", f"{own.code}-"):
            assert parse(typed) == own.code
        assert own.parent is None or own.parent in full
        assert full.nearest_existing(own.code + "9"[: 6 - len(own.code)]) is not None
