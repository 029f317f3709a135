"""Own synonyms as a file: every line is judged with a sentence, layers are laid in order, and the search finds them."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from bentos.api.health import catalog_health
from catalog_build.__main__ import main
from catalog_build.build import BuildOptions, build_artifact
from catalog_build.official import read_source
from catalog_build.vocabulary import read_file
from clinical.errors import SourceError
from clinical.reading import SearchIndex
from clinical.search import Manifest
from tests.catalog_build.official_files import folder, release

LINES = [
    "text\tcode\tweight\tsource",
    "Süßes Blut\te1191\t\tStation 3",
    "Altersdiabetes\tE11.90",
    "Alterszucker\tE11.91",
    "Kategorie 2\tE11.90",
    "Zuckerding\tE11.9",
    "Zuckerding\tZ99.9",
    "Zuckerding\tganz viel",
    "\tE11.90",
    "Hirnhautzucker\tG01* E11.8+",
    "Zwei Kodes\tE11.90 E11.91",
    "Schwerer Zucker\tE11.90\t1",
    "schwerer zucker\tE11.91\t2,5",
    "Schwebezucker\tE11.90\tviel",
    "süsses  Blut\tE11.91",
    "Beides\tE11.90",
    "Beides\tE11.91",
]


@pytest.fixture
def source(tmp_path) -> Path:
    return folder(tmp_path / "source", release())


def written(place: Path, lines: list[str]) -> Path:
    place.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return place


def states(out: Path) -> dict[int, tuple[str, str]]:
    with (out / "vocabulary.tsv").open(encoding="utf-8", newline="") as file:
        return {int(row["line"]): (row["state"], row["why"]) for row in csv.DictReader(file, delimiter="\t")}


def test_every_line_is_judged_with_a_sentence(source, tmp_path, capsys):
    file, out = written(tmp_path / "klinik.tsv", LINES), tmp_path / "out"
    assert main(["build", str(source), "--out", str(out), "--synonyms", str(file)]) == 0
    judged = states(out)
    assert {line: state for line, (state, _) in judged.items()} == {
        2: "taken", 3: "known", 4: "conflict", 5: "conflict", 6: "refused", 7: "refused", 8: "refused", 9: "refused",
        10: "taken", 11: "refused", 12: "replaced", 13: "taken", 14: "refused", 15: "known", 16: "taken", 17: "taken",
    }  # fmt: skip
    assert "official under E11.90" in judged[4][1]
    assert "not terminal" in judged[6][1]
    assert "E11.90" in judged[6][1]
    assert re.fullmatch(r"Z99.9 is not among the \d+ codes of ICD-10-GM 2026 in this catalog", judged[7][1])
    assert all(why for _, why in judged.values())
    said = capsys.readouterr().out
    assert "layer klinik: 5 taken, 2 known, 2 conflict, 1 replaced, 6 refused" in said
    assert "klinik.tsv, line 6: refused: E11.9 is not terminal" in said


def test_what_was_taken_is_found_and_shown(source, tmp_path):
    file, out = written(tmp_path / "klinik.tsv", LINES), tmp_path / "out"
    build_artifact(source, out, BuildOptions(synonyms=(file,)))
    index = SearchIndex.load(out)
    assert index.search("Süßes Blut")[0].code == "E11.91"
    assert index.search("schwerer Zucker")[0].code == "E11.91"
    assert index.search("Hirnhautzucker")[0].code in ("E11.8", "G01")
    assert index.search("Alterszucker")[0].code == "E11.90"
    assert [layer["name"] for layer in Manifest.load(out).layers] == ["official", "befund", "klinik"]
    health = catalog_health(index).model_dump()
    assert health["vocabularies"] == {"klinik": 5}


def test_without_own_synonyms_health_is_the_contract(source, tmp_path):
    build_artifact(source, tmp_path / "out", BuildOptions())
    assert not (tmp_path / "out" / "vocabulary.tsv").exists()
    health = catalog_health(SearchIndex.load(tmp_path / "out")).model_dump()
    assert "vocabularies" not in health


def test_later_files_win_and_official_ones_only_where_told(source, tmp_path):
    first = written(tmp_path / "verbund.tsv", ["text\tcode", "Süßes Blut\tE11.91", "Alterszucker\tE11.8"])
    second = written(tmp_path / "haus.tsv", ["text\tcode", "Süßes Blut\tE11.8", "Kategorie 2\tE11.8"])
    out = tmp_path / "out"
    build_artifact(source, out, BuildOptions(synonyms=(first, second), over_official=True))
    index = SearchIndex.load(out)
    assert index.search("Süßes Blut")[0].code == "E11.8"
    assert index.search("Alterszucker")[0].code == "E11.8"
    official, _, below, above = Manifest.load(out).layers
    assert (official["replaced"], below["taken"], below["replaced"]) == (1, 1, 1)
    assert (above["taken"], above["conflict"]) == (1, 1)  # a title stays, whatever is told


@pytest.mark.parametrize(
    ("text", "why"),
    [(b" ", "empty"), (b"!!!", "no word"), (b"Bl\xe4hung", "UTF-8"), (b"lang " * 60, "has 299 characters")],
)
def test_a_text_that_cannot_be_a_wording_is_told_why(source, tmp_path, text, why):
    (tmp_path / "haus.tsv").write_bytes(b"text\tcode\n" + text + b"\tE11.90\nGut\tE11.90\n")
    refused, _ = read_file(tmp_path / "haus.tsv", read_source(source).catalog)
    assert (refused.state, refused.line) == ("refused", 2)
    assert why in refused.why


@pytest.mark.parametrize(
    ("lines", "found"),
    [([], "no columns"), (["a;b"], "no columns"), (["text\tcode"], "no synonym"), (["text\tcode", "A\tX"], "line 2")],
)
def test_a_file_without_synonyms_stops_the_build(source, tmp_path, lines, found):
    file = written(tmp_path / "leer.tsv", lines)
    with pytest.raises(SourceError, match=found):
        build_artifact(source, tmp_path / "out", BuildOptions(synonyms=(file,)))
    assert not (tmp_path / "out").exists()
