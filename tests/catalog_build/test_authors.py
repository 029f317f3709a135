"""The authors' labelled texts and generated ones: marks become mentions, mistakes are named, a seed repeats; and the
inputs that the second stage of calibration learns from are rightly coded, and none that is measured on."""

import json
import random
import re
from pathlib import Path

import numpy as np
import pytest

from catalog_build.training import authors as labelled
from catalog_build.training import framed, texts
from catalog_build.training.authors import CLAIMS, FOLDER, LabelledMention, LabelledText, as_input, written_inputs
from catalog_build.training.confidence import written_examples
from clinical.errors import SourceError
from clinical.reading import COLUMNS
from evals.reading.inputs import read_inputs

FILES = sorted(FOLDER.glob("a*.txt"))
SHARED, SHARED_OF_KEPT = 16, 7
"""Words in a row that two people rarely write alike, for shorter ones are formulas; in the texts to measure with none
is shared."""
DATA = Path(__file__).resolve().parents[2] / "evals" / "data"
KEPT = [row for name in ("written", "joined") for row in read_inputs(DATA / f"{name}.jsonl")]


def runs(text: str, length: int, slots: bool = False) -> set[tuple[str, ...]]:
    """Every `length` words in a row of a text; with `slots` none across a slot ({name}, [x|y]) of a frame."""
    words = re.findall(r"\w+|[\[\]{}|]" if slots else r"\w+", text.casefold())
    found = {tuple(words[at : at + length]) for at in range(len(words) - length + 1)}
    return {run for run in found if not set("[]{}|") & set(run)}


def measured_with(folder: Path) -> list[str]:
    """The texts of others that are measured with: inputs, and marked mentions."""
    files = [folder / "eval-dev" / "queries.jsonl", *sorted((folder / "eval-dev" / "claims").glob("*.jsonl"))]
    return [json.loads(line)["text"] for file in files for line in file.read_text("utf-8").splitlines()]


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
    assert len(texts) >= (90 if by_brief else 50)
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


NAMES = ("Gicht", "Asthma", "Migräne", "Fußpilz")
LABELLED = [
    LabelledText("a", f"Heute {name} da", (LabelledMention(6, 6 + len(name), "present", None, (), ()),))
    for name in NAMES
]
WORDINGS = [("Akute Pankreatitis", "K85.90"), ("Gicht", "M10.99"), ("Diabetes mellitus Typ 2", "E11.90")]
WRITERS = {
    "framed": (lambda seed: framed.FramedWriter(LABELLED, seed=seed), "mentions", set(CLAIMS)),
    "texts": (
        lambda seed: texts.TextWriter(WORDINGS, seed=seed), "said",
        {"present", "suspected", "excluded", "history", "family"},
    ),
}  # fmt: skip
OF_FRAMES = {"framed": 6, "texts": 5}
"""Words in a row that a frame may not share with a text that somebody wrote to measure with."""


@pytest.mark.parametrize("name", WRITERS)
def test_mentions_lie_where_they_say_and_have_every_claim(name):
    made, mentions, claims = WRITERS[name]
    writer, again = made(1), made(1)
    written = [writer.write() for _ in range(400)]
    assert written[:20] == [again.write() for _ in range(20)], "the same seed writes the same texts"
    for text in written:
        assert not re.search(r"\[[psehfoy][*+\]/=]|@\w+|\(\w*\|", text.text), text.text
        ends = 0
        for one in getattr(text, mentions):
            assert ends <= one.start < one.end <= len(text.text)
            ends = one.end
    assert {one.claim for text in written for one in getattr(text, mentions)} == claims


def test_every_frame_can_be_drawn():
    known = framed.frames()
    assert len(known.sentences) > 1_000
    for frame in known.sentences:
        assert "|" not in framed.drawn(frame, known.lists, random.Random(0)), frame
        assert set(re.findall(r"@(\w+)", frame)) <= set(known.lists), frame


@pytest.mark.parametrize("name", WRITERS)
def test_no_frame_is_taken_from_texts_to_measure_with(name, shared_data):
    own = (
        framed.frames().sentences if name == "framed" else [row for rows in texts.frames().values() for _, row in rows]
    )
    theirs = {run for text in measured_with(shared_data) for run in runs(text, OF_FRAMES[name])}
    assert len(theirs) > 1_000
    assert [frame for frame in own if runs(frame, OF_FRAMES[name], slots=True) & theirs] == []


def test_a_mention_stays_where_it_is_in_a_text_without_commas():
    writer = framed.FramedWriter(LABELLED, seed=1)
    texts = [text for text in (writer.write() for _ in range(200)) if "," in text.text and text.mentions]
    assert texts
    for text in texts:
        bare = framed.without(re.compile(","), text)
        assert bare.text == text.text.replace(",", "")
        said = [text.text[one.start : one.end].replace(",", "") for one in text.mentions]
        assert [bare.text[one.start : one.end] for one in bare.mentions] == said


# --- inputs that the second stage learns from ------------------------------------------------------------------------


def test_every_code_can_be_coded_and_every_statement_stands_in_its_text(terminal):
    for row in KEPT:
        for said in (*row["codes"], *row.get("absent", ())):
            assert said["text"] in row["text"], row["id"]
            assert {*said["codes"], *said.get("also", ())} <= terminal, row["id"]


def test_what_is_denied_is_not_right_elsewhere():
    for row in KEPT:
        right = {code for said in row["codes"] for code in (*said["codes"], *said.get("also", ()))}
        assert not right & {code for absent in row.get("absent", ()) for code in absent["codes"]}, row["id"]


def test_ids_name_the_set_and_the_number():
    ids = [row["id"] for row in KEPT]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z]\d-\d{3}", one) for one in ids)


def test_the_inputs_are_the_texts_of_the_authors_who_gave_codes():
    coded = {author.ident for author in labelled.authors() if author.split == "train" and author.coded != "no"}
    assert {one.source for one in written_inputs()} == {one for one in coded if (FOLDER / f"{one}.txt").is_file()}
    assert len(coded) >= 60


def test_what_an_author_left_uncoded_is_neither_right_nor_wrong(tmp_path):
    marked = (
        "{Husten|present|R05}, kein {Fieber|excluded|R50.9}, {Rötung|present}, Angst vor {Krebs|hypothetical|C80.9}"
    )
    (text,) = labelled.parse(_file(tmp_path, marked))
    some, complete = (as_input(text, "a02", whole) for whole in (False, True))
    assert (some.right, some.open) == ({"R05"}, ((21, 27),))
    assert (complete.right, complete.open) == ({"R05"}, ())


def test_what_is_kept_apart_is_in_no_set_that_is_learnt_from():
    learnt = {
        run for texts in labelled.read("train").values() for one in texts for run in runs(one.text, SHARED_OF_KEPT)
    }
    learnt = {run for run in learnt if not any(word.startswith("geehrte") for word in run)}  # everybody greets alike
    assert [row["id"] for row in KEPT if learnt & runs(row["text"], SHARED_OF_KEPT)] == []


def test_nothing_is_taken_from_the_inputs_of_others(shared_data):
    theirs = {run for text in measured_with(shared_data) for run in runs(text, SHARED_OF_KEPT)}
    assert [row["id"] for row in KEPT if theirs & runs(row["text"], SHARED_OF_KEPT)] == []


def test_an_example_is_right_where_the_input_states_its_code(index):
    some = written_inputs()[:60]
    found = written_examples(index, some)
    assert found.rows.shape == (len(found.right), len(COLUMNS))
    assert 0.5 < found.right.mean() < 1
    assert set(np.unique(found.part)) == {0}
    assert not found.rows[:, COLUMNS.index("plain")].any()
