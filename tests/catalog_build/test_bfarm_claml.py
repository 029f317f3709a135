"""Notes are read from ClaML as BfArM writes it; nothing outside the file is ever read."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from catalog_build.official.source import read_source
from clinical.errors import SourceError
from clinical.icd import Catalog, Note
from tests.catalog_build.official_files import CLASS, claml, folder, release, rubric

IN_BRACKETS = '<Reference class="in brackets" code="E10">{}</Reference>'


def catalog_of(place: Path, xml: str) -> Catalog:
    return read_source(folder(place, release(claml=xml.encode()))).catalog


def notes_of(place: Path, body: str, code: str = "E11") -> tuple[Note, ...]:
    found = catalog_of(place, claml(CLASS.format(code=code, body=body))).get(code)
    assert found is not None
    return found.notes


def test_several_rubrics_of_a_kind_stay_apart_and_titles_are_no_notes(tmp_path: Path) -> None:
    body = (
        rubric("preferred", "Diabetes")
        + rubric("preferredLong", "Diabetes mellitus")
        + rubric("modifierlink", "[4. Stellen siehe oben]")
        + rubric("inclusion", "Alterszucker")
        + rubric("inclusion", "Zucker")
        + rubric("coding-hint", "Benutze eine zusätzliche Schlüsselnummer")
    )
    assert notes_of(tmp_path, body) == (
        Note("inclusion", "Alterszucker"),
        Note("inclusion", "Zucker"),
        Note("coding-hint", "Benutze eine zusätzliche Schlüsselnummer"),
    )


@pytest.mark.parametrize(
    ("label", "words", "references"),
    [
        ("Delir" + IN_BRACKETS.format("F05.-"), "Delir", ("F05.-",)),
        ('Katatonie<Reference class="in brackets">F20.2</Reference>', "Katatonie", ("F20.2",)),
        (
            'Wie unter <Reference code="F00">F00-F03</Reference> beschrieben',
            "Wie unter F00-F03 beschrieben",
            ("F00-F03",),
        ),
        (
            "Störung" + IN_BRACKETS.format("F11-F19, vierte Stelle .5"),
            "Störung",
            ("F11-F19, vierte Stelle .5",),
        ),
        (
            '<Fragment type="list">Stupor:</Fragment><Fragment type="list">dissoziativ'
            + IN_BRACKETS.format("F44.2")
            + "</Fragment>",
            "Stupor: dissoziativ",
            ("F44.2",),
        ),
        ("\n\t<Para>Erster Satz.</Para>\n\t<Para>Zweiter Satz.</Para>\n", "Erster Satz. Zweiter Satz.", ()),
        ('Vitamin B<Term class="subscript">12</Term>', "Vitamin B12", ()),
        ("Mangel an Vitamin B12", "Mangel an Vitamin B12", ()),
        ("<!-- intern -->Zucker", "Zucker", ()),
        ("Stenose des DuodenumsQ41.0", "Stenose des Duodenums", ("Q41.0",)),
        ("Arthrose (primär)M15-M19, M24.-", "Arthrose (primär)", ("M15-M19", "M24.-")),
        ("Grippe und akute Infektionen J00-J22", "Grippe und akute Infektionen", ("J00-J22",)),
    ],
)
def test_labels_become_words_and_references(
    tmp_path: Path, label: str, words: str, references: tuple[str, ...]
) -> None:
    assert notes_of(tmp_path, rubric("exclusion", label)) == (Note("exclusion", words, references),)


def test_notes_of_a_subdivision_go_to_the_codes_that_it_makes(tmp_path: Path) -> None:
    modifiers = (
        f'<ModifierClass modifier="S4" code=".8">{rubric("inclusion", "Mit allem")}</ModifierClass>'
        f'<ModifierClass modifier="S5" code="1">{rubric("inclusion", "Entgleist")}</ModifierClass>'
    )
    body = '<ModifiedBy code="S4"/><ModifiedBy code="S5"/>' + rubric("inclusion", "Zucker")
    catalog = catalog_of(tmp_path, claml(CLASS.format(code="E11", body=body), modifiers))
    notes = {code.code: [note.text for note in code.notes] for code in catalog if code.notes}
    assert notes == {"E11": ["Zucker"], "E11.8": ["Mit allem"], "E11.91": ["Entgleist"]}


def test_a_subdivision_counts_only_where_it_is_valid_and_its_dagger_reaches_below(tmp_path: Path) -> None:
    modifiers = "".join(
        f'<ModifierClass modifier="S4" code="{digit}" usage="dagger">{rubric("note", f"Mit {digit}")}</ModifierClass>'
        for digit in (".8", ".9")
    )
    body = '<ModifiedBy code="S4" all="false"><ValidModifierClass code=".9"/></ModifiedBy>'
    catalog = catalog_of(tmp_path, claml(modifiers, CLASS.format(code="E11", body=body)))
    assert {code.code: [note.text for note in code.notes] for code in catalog if code.notes} == {"E11.9": ["Mit .9"]}
    below = [code.code for code in catalog if code.kind == "dagger"]
    assert below == ["E11.9", "E11.90", "E11.91", "E11.8"]  # E11.8 by the "+" of its synonym


def test_a_dagger_class_makes_a_dagger_code(tmp_path: Path) -> None:
    dagger = '<Class code="E11.90" kind="category" usage="dagger"></Class>'
    code = catalog_of(tmp_path, claml(dagger)).get("E11.90")
    assert code is not None
    assert code.kind == "dagger"


def test_chapters_and_blocks_in_the_file_are_passed_over(tmp_path: Path) -> None:
    xml = claml(
        f'<Class code="IV" kind="chapter">{rubric("exclusion", "Anderes")}</Class>',
        f'<Class code="E10-E14" kind="block">{rubric("note", "Hinweis")}</Class>',
    )
    assert not any(code.notes for code in catalog_of(tmp_path, xml))


def test_a_doctype_is_never_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.dtd"
    secret.write_text("<!ENTITY geheim 'geheim'>")
    doctype = f'<!DOCTYPE ClaML SYSTEM "{secret.as_uri()}">'
    body = CLASS.format(code="E11", body=rubric("inclusion", "Zucker"))
    catalog = catalog_of(tmp_path / "source", claml(body, doctype=doctype))
    assert [note.text for note in catalog.codes[0].notes] == ["Zucker"]


@pytest.mark.parametrize(
    "declaration",
    ['<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">', '<!ENTITY b SYSTEM "file:///etc/hostname">', '<!ENTITY % b "x">'],
)
def test_declared_entities_are_refused(tmp_path: Path, declaration: str) -> None:
    reference = "" if "%" in declaration else "&b;"
    body = CLASS.format(code="E11", body=rubric("inclusion", f"Zucker {reference}"))
    with pytest.raises(SourceError, match=r"claml.*declares XML entities"):
        catalog_of(tmp_path, claml(body, doctype=f"<!DOCTYPE ClaML [{declaration}]>"))


ZUCKER = claml(CLASS.format(code="E11", body=rubric("inclusion", "Zucker")))
LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
REFUSED = {
    "a billion laughs": (claml(CLASS.format(code="E11", body=rubric("note", "&l11;")),
                               doctype=f'<!DOCTYPE ClaML [<!ENTITY l0 "ha">{LAUGHS}]>'), "entities"),
    "a file cut off": (ZUCKER[: len(ZUCKER) // 2], r"claml_20250912\.xml, line \d+: broken XML.*download it again"),
    "an unknown category": (claml("\n", CLASS.format(code="E99", body="")),
                            "claml.*line 7: E99 is not in the catalog.*one year"),
    "another year": (claml(CLASS.format(code="E11", body=""), version="2025"), "content is of 2025, the name of 2026"),
    "another kind of XML": ("<html><body/></html>", "no Class element"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused_with_a_sentence(tmp_path: Path, name: str) -> None:
    xml, said = REFUSED[name]
    with pytest.raises(SourceError, match=said):
        catalog_of(tmp_path, xml)


def test_the_sample_of_the_real_file_reads_whole(shared_data: Path, tmp_path: Path) -> None:
    sample = (shared_data / "icd10gm/format-samples/icd10gm2026syst_claml_sample.xml").read_bytes()
    official = shared_data / "icd10gm/2026-reconstructed/Klassifikationsdateien/icd10gm2026syst_kodes.txt"
    (tmp_path / "icd10gm2026syst_kodes.txt").write_bytes(official.read_bytes())
    (tmp_path / "icd10gm2026syst_claml_20250912.xml").write_bytes(sample)
    notes = {code.code: code.notes for code in read_source(tmp_path).catalog if code.notes}
    assert set(notes) == {"F06", "F06.1", "F06.2"}
    expected = len(re.findall(rb'kind="(?:inclusion|exclusion|definition)"', sample))
    assert sum(map(len, notes.values())) == expected
    assert notes["F06"][0] == Note("exclusion", "In Verbindung mit Demenz, wie unter F00-F03 beschrieben", ("F00-F03",))
    assert notes["F06.1"][2:] == (
        Note("exclusion", "Stupor: dissoziativ", ("F44.2",)),
        Note("exclusion", "Stupor: o.n.A.", ("R40.1",)),
    )


def test_memory_stays_flat_on_a_file_of_the_official_size(tmp_path: Path) -> None:
    """15 MB of XML, as a tree and as a stream, each in a process of its own: its peak is what counts."""
    if not Path("/proc/self/status").exists():
        pytest.skip("the peak of memory is read from /proc, which this system does not have")
    classes = [CLASS.format(code="E11", body=rubric("definition", "Wort " * 60)) for _ in range(35_000)]
    source = folder(tmp_path, release(claml=claml(*classes).encode()))
    (xml,) = source.rglob("*.xml")
    tree = peak_in_mib(f"etree.parse({str(xml)!r})")
    stream = peak_in_mib(f"read_source(Path({str(source)!r}))")
    nothing = peak_in_mib("None")
    assert stream - nothing < 0.5 * (tree - nothing)


def peak_in_mib(statement: str) -> float:
    program = (
        "from pathlib import Path; from lxml import etree; from catalog_build.official.source import read_source\n"
        f"kept = {statement}\n"
        "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))\n"
    )
    repository = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", program], cwd=repository, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return int(done.stdout) / 1024
