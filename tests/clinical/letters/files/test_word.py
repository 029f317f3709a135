"""Word files: what is shown is read, in its order; what is not shown is not."""

from __future__ import annotations

import io

import docx
import pytest
from docx.oxml import parse_xml

from clinical.letters.files.reading import read


def test_a_word_file_gives_paragraphs_items_rows_and_its_foot_last():
    document = docx.Document()
    document.add_paragraph("Spital Seeblick")
    document.add_paragraph("Hypertonie", style="List Bullet")
    table = document.add_table(1, 2)
    table.rows[0].cells[0].text, table.rows[0].cells[1].text = "Patient", "Anna Kern"
    document.sections[0].footer.paragraphs[0].text = "Bankverbindung"
    document.save(out := io.BytesIO())
    assert [line for line in read(out.getvalue()).text.split("\n") if line] == [
        "Spital Seeblick",
        "- Hypertonie",
        "Patient\tAnna Kern",
        "Bankverbindung",
    ]


def run(text: str) -> str:
    return f"<w:r><w:t xml:space='preserve'>{text}</w:t></w:r>"


def control(inner: str, more: str = "") -> str:
    return f"<w:sdt><w:sdtPr>{more}</w:sdtPr><w:sdtContent>{inner}</w:sdtContent></w:sdt>"


def cell(text: str) -> str:
    return f"<w:tc><w:p>{run(text)}</w:p></w:tc>"


def box(inner: str) -> str:
    """A text box in both ways in which Word writes it."""
    told = f"<w:txbxContent><w:p>{run(inner)}</w:p></w:txbxContent>"
    return (
        f"<w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing>{told}</w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict>{told}</w:pict></mc:Fallback></mc:AlternateContent></w:r>"
    )


@pytest.mark.parametrize(
    ("element", "read_as"),
    [
        (f"<w:p>{run('Frau ')}{control(run('Anna Kern'))}{run(', Bern')}</w:p>", "Frau Anna Kern, Bern"),
        (f"<w:p>{run('geb. ')}{control(run('Datum wählen'), '<w:showingPlcHdr/>')}</w:p>", "geb. "),
        (control(f"<w:p>{run('Diagnosen:')}</w:p>"), "Diagnosen:"),
        (
            f"<w:p>{run('seit ')}<w:del w:id='1'><w:r><w:delText>2019</w:delText></w:r></w:del>"
            f"<w:ins w:id='2'>{run('2021')}</w:ins>{run(' bekannt')}</w:p>",
            "seit 2021 bekannt",
        ),
        (
            f"<w:p><w:moveFrom w:id='1'>{run('alt')}</w:moveFrom><w:moveTo w:id='2'>{run('neu')}</w:moveTo></w:p>",
            "neu",
        ),
        (
            f"<w:tbl><w:tr>{control(cell('Patient'))}{cell('Anna Kern')}</w:tr>"
            f"<w:tr><w:trPr><w:del w:id='3'/></w:trPr>{cell('gelöscht')}</w:tr></w:tbl>",
            "Patient\tAnna Kern",
        ),
        (f"<w:p>{run('Spital')}{box('Chefarzt Prof. B. Moos')}</w:p>", "Spital\n\nChefarzt Prof. B. Moos"),
        (
            "<w:p><w:r><w:fldChar w:fldCharType='begin'><w:ffData><w:checkBox><w:default w:val='0'/><w:checked/>"
            f"</w:checkBox></w:ffData></w:fldChar><w:instrText>FORMCHECKBOX</w:instrText></w:r>{run(' Notfall')}</w:p>",
            "[x] Notfall",
        ),
        (f"<w:p><w:hyperlink>{run('Haus')}</w:hyperlink><w:r><w:noBreakHyphen/><w:tab/></w:r></w:p>", "Haus-\t"),
    ],
    ids=["control", "prompt", "control of a paragraph", "tracked", "moved", "table", "text box", "tick", "signs"],
)
def test_a_word_file_is_read_as_word_shows_it(element, read_as):
    spaces = (
        'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
        'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    )
    document = docx.Document()
    document.element.body.insert(0, parse_xml(f"<w:x {spaces}>{element}</w:x>")[0])
    document.save(out := io.BytesIO())
    assert read(out.getvalue()).text.strip("\n") == read_as


def test_heads_of_a_word_file_are_those_that_are_printed():
    document = docx.Document()
    document.add_paragraph("Bericht")
    section = document.sections[0]
    section.header.paragraphs[0].text = "Spital Seeblick"
    section.first_page_header.paragraphs[0].text = "Klinik für Kardiologie"
    section.different_first_page_header_footer = False
    document.save(without := io.BytesIO())
    section.different_first_page_header_footer = True
    document.save(out := io.BytesIO())
    assert read(without.getvalue()).text.split() == ["Spital", "Seeblick", "Bericht"]
    assert read(out.getvalue()).text.split("\n") == ["Klinik für Kardiologie", "Spital Seeblick", "", "Bericht"]
