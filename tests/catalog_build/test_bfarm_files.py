"""Official files are found wherever they lie; what is damaged, dangerous or mixed is refused in one sentence."""

import zipfile
from pathlib import Path

import pytest

from catalog_build.official import files as bfarm_files
from catalog_build.official.source import read_source
from clinical.errors import SourceError
from tests.catalog_build.official_files import ALPHAID, KODES, folder, release, text, zipped


def test_a_folder_and_a_zip_of_the_same_files_read_the_same(tmp_path: Path) -> None:
    from_folder = read_source(folder(tmp_path / "folder", release()))
    from_zip = read_source(zipped(tmp_path / "icd10gm2026syst-meta.zip", release()))
    assert list(from_folder.catalog) == list(from_zip.catalog)
    assert from_folder.synonyms == from_zip.synonyms
    assert from_folder.files == from_zip.files
    assert from_folder.missing == ()


def test_several_zips_at_any_depth_make_one_source(tmp_path: Path) -> None:
    files = release()
    for number, (name, data) in enumerate(files.items()):
        zipped(tmp_path / "downloads" / f"part {number}" / f"any name {number}.ZIP", {f"deep/er/{name}": data})
    source = read_source(tmp_path)
    assert (source.year, source.missing) == (2026, ())
    assert len(source.files) == len(files)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", [False, True])
def test_line_ends_and_a_byte_order_mark_do_not_matter(tmp_path: Path, end: str, bom: bool) -> None:
    changed = release(kodes=text(KODES, end, bom), alphaid=text(ALPHAID, end, bom))
    source = read_source(folder(tmp_path / "changed", changed))
    plain = read_source(folder(tmp_path / "plain", release()))
    assert list(source.catalog) == list(plain.catalog)
    assert source.synonyms == plain.synonyms


def test_readme_files_and_resource_forks_beside_the_tables_are_no_tables(tmp_path: Path) -> None:
    beside = {
        "icd10gm2026_alphaidse_edvtxt_liesmich.txt": b"Liesmich",
        "icd10gm2026alpha_edvtxt_liesmich.txt": b"Liesmich",
        "__MACOSX/Klassifikationsdateien/._icd10gm2026syst_kodes.txt": b"\x00\x05",
        "Klassifikationsdateien/morbl_2026.txt": b"001;Cholera\r\n",
        "Klassifikationsdateien/ClaML2.0.0.xsd": b"<schema/>",
        "Klassifikationsdateien/icd10gm2025_alphaid_umsteiger.txt": b"I1;I1\r\n",
    }
    assert len(read_source(zipped(tmp_path / "a.zip", release() | beside)).files) == 6


def test_the_same_file_in_a_zip_and_unpacked_is_one_file(tmp_path: Path) -> None:
    zipped(tmp_path / "meta.zip", release())
    assert len(read_source(folder(tmp_path, release())).catalog) == len(KODES)


def test_two_different_files_of_one_kind_are_refused(tmp_path: Path) -> None:
    folder(tmp_path / "old", release(kodes=text(KODES[:3] + KODES[5:])))
    with pytest.raises(SourceError, match=r"kodes\.txt.*differs from.*keep the newer one"):
        read_source(folder(tmp_path, release()).parent / tmp_path.name)


def test_two_years_mixed_are_refused_naming_both(tmp_path: Path) -> None:
    folder(tmp_path, release(alphaid=None))
    (tmp_path / "icd10gm2025_alphaidse_edvtxt_20240913.txt").write_bytes(text(ALPHAID))
    with pytest.raises(SourceError) as caught:
        read_source(tmp_path)
    assert "2025" in str(caught.value)
    assert "2026" in str(caught.value)
    assert "one year" in str(caught.value)


def test_a_path_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="nowhere"):
        read_source(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("role", "cost"),
    [("gruppen", "block titles"), ("kapitel", "chapter titles"), ("claml", "inclusion, exclusion")],
)
def test_an_optional_file_that_is_absent_is_said_with_its_cost(tmp_path: Path, role: str, cost: str) -> None:
    source = read_source(folder(tmp_path, release(**{role: None})))
    assert [cost in sentence for sentence in source.missing] == [True]


def test_without_any_synonym_file_the_cost_is_said_and_the_alphabet_alone_is_enough(tmp_path: Path) -> None:
    neither = read_source(folder(tmp_path / "neither", release(alphaid=None, alphabet=None)))
    assert any("Alpha-ID-SE" in sentence for sentence in neither.missing)
    assert read_source(folder(tmp_path / "alphabet", release(alphaid=None))).missing == ()


def test_blocks_without_a_block_file_run_to_their_last_category(tmp_path: Path) -> None:
    source = read_source(folder(tmp_path, release(gruppen=None)))
    assert {code.block for code in source.catalog} == {"E10-E11", "G00-G01", "U60-U61"}


@pytest.mark.parametrize("name", ["../evil.txt", "/etc/evil.txt", "a/../../evil.txt", "..\\evil.txt", "C:\\evil.txt"])
def test_a_zip_whose_entries_lead_out_of_it_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SourceError, match=r"evil\.zip.*leads out of the zip"):
        read_source(zipped(tmp_path / "evil.zip", release() | {name: b"x"}))
    assert [path.name for path in tmp_path.rglob("*")] == ["evil.zip"]


def test_a_zip_bomb_is_refused_unread(tmp_path: Path) -> None:
    bomb = release(kodes=b"0" * (bfarm_files.FILE_MAX + 1))
    with pytest.raises(SourceError, match=r"bomb\.zip: .*kodes\.txt.*64 MiB unpacked"):
        read_source(zipped(tmp_path / "bomb.zip", bomb))


def test_a_cut_off_zip_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "cut.zip", release())
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(SourceError, match=r"cut\.zip.*not a readable zip.*download it again"):
        read_source(path)


def test_a_zip_with_a_damaged_entry_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "damaged.zip", release())
    with zipfile.ZipFile(path) as archive:
        start = archive.getinfo("Klassifikationsdateien/icd10gm2026syst_kodes.txt").header_offset
    data = bytearray(path.read_bytes())
    data[start + 90 : start + 120] = bytes(30)
    path.write_bytes(data)
    with pytest.raises(SourceError, match=r"kodes\.txt.*cannot be read"):
        read_source(path)


def test_an_encrypted_zip_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "locked.zip", {"icd10gm2026syst_kodes.txt": text(KODES)})
    data = bytearray(path.read_bytes())
    data[6] |= 1  # local header: encrypted
    data[data.index(b"PK\x01\x02") + 8] |= 1  # central directory: the same
    path.write_bytes(data)
    with pytest.raises(SourceError, match="unencrypted"):
        read_source(path)


def test_a_text_file_named_zip_is_refused(tmp_path: Path) -> None:
    (tmp_path / "icd10gm2026syst-meta.zip").write_text("not a zip")
    with pytest.raises(SourceError, match="not a readable zip"):
        read_source(tmp_path)
