"""The report: complete in itself, with the figures of the results and without a text of them."""

from __future__ import annotations

import base64
import json
import re
import shutil
from html.parser import HTMLParser

import pytest
from lxml import etree

from evals.gate import RESULTS
from evals.report.page import groups, main, read_results, short


class Links(HTMLParser):
    """Everything a page asks a browser to load, and its open elements."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.open: list[str] = []
        self.alone: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.links += [value for name, value in attrs if name in ("src", "href", "data", "action")]
        if tag not in ("meta", "img", "br", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if self.open.pop() != tag:
            self.alone.append(tag)


@pytest.fixture
def folder(tmp_path):
    return shutil.copytree(RESULTS, tmp_path / "results")


def test_the_page_is_complete_in_itself_and_well_formed(folder, capsys):
    assert main([str(folder)]) == 0
    html = (folder / "report.html").read_text()
    links = Links()
    links.feed(html)
    assert links.open == links.alone == []
    assert "http" not in re.sub(r'src="data:[^"]+"', "", html)
    assert len(links.links) >= 3 * 4
    for link in links.links:
        kind, _, data = link.partition(";base64,")
        assert kind == "data:image/svg+xml"
        assert etree.fromstring(base64.b64decode(data)).tag.endswith("svg")


def test_it_shows_the_figures_and_no_text(folder, capsys):
    assert main([str(folder), "--out", str(folder / "page.html")]) == 0
    html = (folder / "page.html").read_text()
    result = json.loads((folder / "everyday-typo.json").read_text())
    rows = {tuple(row[:2]): row[3:] for row in result["rows"]}
    assert f"{rows['top_1', 'all'][0]:.3f}" in html
    assert f"{rows['high_precision', 'all'][1]:.3f}" in html
    assert all(row["text"] not in html for row in result["queries"] if len(row["text"]) > 12)
    assert "OCR strength 3" in html


def test_results_of_the_same_are_a_history(folder, capsys):
    older = json.loads((folder / "everyday-none.json").read_text())
    older["about"]["made_at"] = "2020-01-01T00:00:00+00:00"
    (folder / "before.json").write_text(json.dumps(older))
    (folder / "other.json").write_text("[]")
    results, others = read_results(folder)
    assert results[0].file == "before.json"
    assert len(others) == 1
    assert sorted(map(len, groups([one for one in results if one.result.about["kind"] == "coding"]).values())) == [
        1,
        1,
        2,
    ]
    assert main([str(folder)]) == 0
    assert "the same over time" in (folder / "report.html").read_text()
    assert "other.json" in capsys.readouterr().err


def test_names_are_escaped(folder, capsys):
    path = folder / "everyday-none.json"
    result = json.loads(path.read_text())
    result["about"]["dataset"]["name"] = "<script>alert(1)</script>"
    path.write_text(json.dumps(result))
    assert main([str(folder)]) == 0
    assert "<script>" not in (folder / "report.html").read_text()


def test_nothing_measured_is_still_a_page(folder, tmp_path):
    result = json.loads((folder / "everyday-none.json").read_text())
    (tmp_path / "empty").mkdir()
    empty = result | {"rows": [["failed", "all", 0, 0.0, None, None]]}
    del empty["queries"]
    (tmp_path / "empty" / "a.json").write_text(json.dumps(empty))
    assert main([str(tmp_path / "empty")]) == 0


def test_a_folder_without_results_is_a_sentence(tmp_path, capsys):
    assert main([str(tmp_path)]) == 2
    assert "holds no result" in capsys.readouterr().err
    assert short("a" * 64) == "a" * 12
