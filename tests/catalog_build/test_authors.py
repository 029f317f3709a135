"""The authors' labelled texts: marks become mentions, mistakes are named, who is measured on is not learnt from."""

import re
from pathlib import Path

import pytest

from catalog_build.training import authors as labelled
from clinical.errors import SourceError
from tests.catalog_build.runs import measured_with, runs

FILES = sorted(Path(labelled.__file__).parent.glob("a*.txt"))
SHARED = 16
"""Words in a row that two people rarely write alike; shorter ones are formulas."""


def _file(folder: Path, text: str) -> Path:
    file = folder / "a99.txt"
    file.write_text(text, "utf-8")
    return file


def test_marks_become_mentions_at_their_places(tmp_path):
    first, second = labelled.parse(
        _file(
            tmp_path,
            "Seit 3 Tagen {Husten|present},\nkein {Fieber|excluded/suspected|R50.9 / R50.88}.\n===\n\nBeschwerdefrei\n",
        )
    )
    assert first.text == "Seit 3 Tagen Husten,\nkein Fieber."
    assert [first.text[m.start : m.end] for m in first.mentions] == ["Husten", "Fieber"]
    assert first.mentions[1][2:] == ("excluded", "suspected", ("R50.9",), ("R50.88",))
    assert (first.ident, second.ident, second.text, second.mentions) == ("a99-001", "a99-002", "Beschwerdefrei", ())


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("gut\n===\nkein {Fieber|denied}", 3, "the claim 'denied'"),
        ("{Fieber|present/maybe}", 1, "the claim 'maybe'"),
        ("\n\n{Fieber |present}", 3, "begins or ends with a space"),
        ("kein {Fieber}", 1, "a mark that is none"),
        ("a\nb | c", 2, "a mark that is none"),
        ("{Fieber|present|R509}", 1, "the code 'R509'"),
        ("{Fieber|present|R50.7}", 1, "the code R50.7"),
    ],
)
def test_a_mistake_is_named_by_its_line(tmp_path, text, line, said):
    with pytest.raises(SourceError, match=re.escape(said)) as refused:
        labelled.parse(_file(tmp_path, text), {"R50.9"})
    assert refused.value.line == line


def test_every_author_is_listed_once_with_a_split_and_every_file_has_a_row():
    listed = [author.ident for author in labelled.authors()]
    assert len(set(listed)) == len(listed) >= 30
    assert {file.stem for file in FILES} <= set(listed)
    assert {author.split for author in labelled.authors()} == {"train", "tune", "report"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_authors_file_is_whole_and_its_codes_can_be_coded(file, terminal):
    texts = labelled.parse(file, terminal)
    by_brief = file.stem.startswith("a")
    assert len(texts) >= (100 if by_brief else 50)
    claims = {mention.claim for text in texts for mention in text.mentions}
    assert ({"present", "suspected", "excluded", "history", "hypothetical"} if by_brief else {"present"}) <= claims
    assert sum(len(text.mentions) for text in texts) >= (400 if by_brief else 100)


def test_nobody_writes_what_another_has_written(shared_data):
    """Not the other authors, and not the texts of others that are measured with."""
    theirs = dict.fromkeys((run for text in measured_with(shared_data) for run in runs(text, SHARED)), "others")
    assert theirs
    alike = []
    for file in FILES:
        own = {run for text in labelled.parse(file) for run in runs(text.text, SHARED)}
        alike += [(file.stem, theirs[run], " ".join(run)) for run in own if run in theirs]
        theirs.update(dict.fromkeys(own, file.stem))
    assert alike == []
