"""The public benchmark: made by its program to the byte, plain and hashed answers scored alike, its faults named."""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from catalog_build.training.authors import CLAIMS, authors, parse
from catalog_build.training.letters import letter_authors, parse_letters
from clinical.letters import DOCUMENTS, FIELDS
from clinical.text import folded_words
from evals.benchmark import making, measure, systems
from evals.benchmark.befund_bench import __main__ as package
from evals.benchmark.befund_bench import baselines, coders, leaderboard, marked, scoring, submission, tasks
from evals.benchmark.befund_bench.data import BenchmarkError, card, checked, key_of, texts, tried
from evals.benchmark.befund_bench.model import LanguageModelBaseline
from evals.letters import fields
from evals.measures import intervals

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = leaderboard.read()
RUN = 6
"""Words in a row that two texts share only where one was taken from the other; medical phrases are shorter."""


def _perfect(task, row):
    """The answer that was hidden, found as whoever cheats would: plain rows alone."""
    answer = row["answer"]
    if task in baselines.RANKED:
        return {"codes": [each[0] for each in answer["right"]][: tasks.DEPTH]}
    if task == "notes":
        return {"mentions": [[int(place) for place in span.split("-")] for span in answer["spans"]]}
    if task == "claims":
        return {"claims": [one[0].partition("=")[2] for one in answer["claims"]]}
    if task == "lies":
        return {"supported": answer["supported"] == "true"}
    joined = {
        path: [" ".join(words) for words in (*own["right"], *(own["optional"] or []))]
        if path in tasks.LISTS
        else " ".join(own["right"][0])
        for path, own in answer["fields"].items()
    }
    return {"fields": joined}


# --- the data --------------------------------------------------------------------------------------------------------


def test_the_data_are_those_of_the_card_and_come_out_again_to_the_byte(data):
    assert checked(data) == [], "python -m evals benchmark --make writes the card again"
    written = {path.name: making.digest_of(path) for path in data.glob("*.jsonl")}
    assert making.made_card(written) == card()
    assert sum(card()["texts"].values()) > 10_000
    assert len({name for some in card()["authors"].values() for name in some}) >= 51


def test_a_file_that_was_changed_is_named(data, tmp_path):
    for path in data.glob("*.jsonl"):
        (tmp_path / path.name).write_bytes(path.read_bytes() + (b"{}\n" if path.name == "notes-dev.jsonl" else b""))
    assert checked(tmp_path) == ["notes-dev.jsonl"]


def test_each_author_is_in_the_split_that_their_table_says_and_nobody_in_two(data):
    said = {one.ident: making.SPLIT_OF[one.split] for one in authors()}
    for split, names in card()["authors"].items():
        assert {said[name] for name in names if name in said} == {split}
    letters = {one.ident: one.split for one in letter_authors()}
    assert {name for name in card()["authors"]["test"] if name in letters} == {
        name for name, split in letters.items() if split == "report"
    }


def test_no_phrasing_is_in_two_splits(data):
    names = [{" ".join(folded_words(row["text"])) for row in texts("wordings", split, data)} for split in tasks.SPLITS]
    everything = [{row["text"].casefold() for row in texts("wordings", split, data)} for split in tasks.SPLITS]
    assert all(len(one) > 400 for one in names)
    assert not everything[0] & everything[1]
    assert not everything[0] & everything[2]
    assert not everything[1] & everything[2]


def test_a_text_of_test_gives_no_answer_away(data):
    hidden = re.compile(r"[0-9a-f]{12}|True|False|right|absent|fields|spans|words|claims|optional|supported")
    for task in tasks.TASKS:
        for row in texts(task, "test", data):
            assert all(hidden.fullmatch(word) for word in re.findall(r"\w+", str(row["answer"]))), row["id"]
    places = {split: {row["text"] for row in texts("notes", split, data)} for split in tasks.SPLITS}
    given = {split: {row["text"] for row in texts("claims", split, data)} for split in tasks.SPLITS}
    assert not places["test"] & given["test"], "claims gives the places that notes asks for"
    assert places["dev"] == given["dev"]


def test_the_packages_reader_of_marks_reads_what_the_builders_reader_reads():
    texts_of = making.TRAINING / "authors"
    for name in ("a05", "a21", "a33"):
        for one, other in zip(
            marked.marked_texts(texts_of / f"{name}.txt"), parse(texts_of / f"{name}.txt"), strict=True
        ):
            assert one.text == other.text
            assert [tuple(mention) for mention in one.mentions] == [tuple(mention) for mention in other.mentions]
    assert tuple(CLAIMS) == tasks.CLAIMS
    folder = making.TRAINING / "letters"
    for one, other in zip(marked.marked_letters(folder / "l03.txt"), parse_letters(folder / "l03.txt"), strict=True):
        assert (one.kind, one.text) == (other.kind, other.text)
        assert [value.field for value in one.values] == [value.field for value in other.values]
        row = making._extraction("l03", one)["answer"]["fields"]
        for path, value in fields.single_values(other.data):
            if value is not None:
                assert scoring.words_of(value) in row[path]["right"]
        for path in tasks.LISTS:
            wanted = [scoring.words_of(entry) for entry in fields.entries(other.data.get(path))]
            assert row.get(path, {"right": []})["right"] == wanted


def test_the_fields_of_a_letter_are_those_of_the_contract():
    for kind, document in DOCUMENTS.items():
        own = {path.removesuffix(".bezeichnung") for path in FIELDS} - {"eingriffe.datum"}
        assert {path for path in own if path.partition(".")[0] in document.model_fields} == set(tasks.FIELDS[kind])


def test_nothing_of_it_is_from_the_texts_for_looking_and_measuring(data, shared_data):
    theirs = {
        run
        for path in (shared_data / "eval-dev").rglob("*")
        if path.suffix in (".tsv", ".jsonl", ".txt")
        for run in _runs(path.read_text("utf-8", "replace"))
    }
    assert len(theirs) > 10_000
    own = {run for task in ("wordings", "lists") for row in texts(task, "dev", data) for run in _runs(row["text"])}
    assert not theirs & own


def _runs(text):
    own = folded_words(re.sub(r"\\[nrt]", " ", text))
    return {tuple(own[at : at + RUN]) for at in range(len(own) - RUN + 1)}


# --- scores ----------------------------------------------------------------------------------------------------------

WORST = {"notes": "word_f1", "claims": "there_as_not", "extraction": "recall", "lies": "truths_lost", "typed": "in_8"}
WORST |= dict.fromkeys(("wordings", "lists", "codes"), "recall_10")
PERFECT = {"there_as_not": 0, "not_as_there": 0, "lies_kept": 0, "truths_lost": 0, "denied": 0}


@pytest.mark.parametrize("task", tasks.TASKS)
def test_a_perfect_answer_has_a_perfect_score_and_an_empty_one_the_worst(data, task):
    rows = texts(task, "dev", data)
    rows = [row for row in rows if task not in baselines.RANKED or len(row["answer"]["right"]) <= tasks.DEPTH]
    for name, (value, low, high) in scoring.score(task, rows, [_perfect(task, row) for row in rows]).items():
        assert low <= value <= high
        assert value == PERFECT.get(name, 1) or (task, name) == ("codes", "precision"), name
    empty = {"codes": [], "mentions": [], "fields": {}, "supported": False}
    none = scoring.score(task, rows, [empty | {"claims": ["other"] * len(row.get("mentions", ()))} for row in rows])
    worst = none[WORST[task]][0]
    assert worst > 0.99 if task in ("claims", "lies") else worst == 0


def test_hashed_answers_score_as_plain_ones(data, monkeypatch):
    """The rows of dev, hashed as test is: every measure is the same."""
    for task in tasks.TASKS:
        rows = texts(task, "dev", data)[:60]
        names = [row["id"].replace("-dev-", "-test-") for row in rows]
        hidden = [
            row | {"id": name, "answer": making._hidden(name, row["answer"])}
            for row, name in zip(rows, names, strict=True)
        ]
        said = [_perfect(task, row) for row in rows]
        said[::2] = [_perfect(task, row) for row in [*rows[2::2], rows[0]]] if task in baselines.RANKED else said[::2]
        assert scoring.score(task, hidden, said) == scoring.score(task, rows, said), task
        assert key_of(hidden[0])("I10.90") != "I10.90" == key_of(rows[0])("I10.90")


def test_measures_of_codes_by_hand():
    answer = {"right": [["A00.0", "A00.1"], ["B00.1"]], "absent": [["C00.0"]]}
    row = {"id": "codes-dev-0001", "author": "x", "text": "", "answer": answer}
    found = scoring.score("codes", [row], [{"codes": ["C00.0", "A00.1", "A00.1", "B00.1"]}])
    assert {name: value[0] for name, value in found.items()} == {
        "top_1": 0, "recall_10": 1, "precision": 0.5, "denied": 1,
    }  # fmt: skip


def test_intervals_are_those_of_the_projects_own_measures():
    parts, wholes = [3, 5, 2, 9, 4, 4, 0], [10, 6, 4, 9, 8, 5, 3]
    names = ["a", "b", "c", "d", "e", "f", "g"]
    for cluster in (names, ["a", "a", *names[:5]]):
        assert scoring.ratio(parts, wholes, cluster) == pytest.approx(intervals.ratio(parts, wholes, cluster), abs=2e-4)


def test_wordings_are_alike_as_the_measures_of_letters_have_it():
    said = ["Z. n. Hüft-TEP rechts", "Hüft-TEP rechts", "Hüft TEP links", "COPD", "COPD GOLD II", "", "Tel. 030 1234"]
    for one in said:
        for other in said:
            ours = scoring.alike(scoring.words_of(one), scoring.words_of(other))
            assert ours == fields.alike(one, other), (one, other)


# --- submissions -----------------------------------------------------------------------------------------------------

FAULTY = {
    "lists": [
        "{",
        '{"codes": []}',
        '{"id": "lists-dev-0001", "codes": "I10.90"}',
        '{"id": "lists-dev-0002", "codes": ["I10.9-", "i1090"]}',
        '{"id": "lists-dev-0002", "codes": []}',
        '{"id": "lists-dev-9999", "codes": []}',
        '{"id": "lists-dev-0003", "codes": ["R05", "R05"]}',
        json.dumps({"id": "lists-dev-0004", "codes": [f"E11.{n}" for n in range(10, 21)]}),
    ],
    "others": [
        '{"id": "notes-dev-0001", "mentions": [[5, 2]]}',
        '{"id": "notes-dev-0002", "mentions": [["a", 2]]}',
        '{"id": "claims-dev-0001", "claims": []}',
        '{"id": "claims-dev-0002", "claims": "present"}',
        '{"id": "extraction-dev-0001", "fields": {"patient.name": "x", "diagnosen": "y", "patient.ort": 3}}',
        '{"id": "lies-dev-0001", "supported": "yes"}',
    ],
}


def test_every_fault_of_a_submission_is_named_by_its_line_with_what_to_do(data, tmp_path, capsys):
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(FAULTY["lists"]))
    faults = submission.faults_of(path, lambda task, split: texts(task, split, data))
    assert [one.line for one in faults] == [1, 2, 3, 4, 4, 5, 6, 7, 8, None]
    assert [one.fatal for one in faults] == [True] * 7 + [False, False, True]
    for words, one in zip(
        ("is no JSON", "has no id", "no list of strings", "'I10.9-'; write I10.9", "'i1090'; write I10.90",
         "after line 4", "no text is called", "R05 twice", "the first 10 count", "texts of lists, dev"),
        map(str, faults), strict=True,
    ):  # fmt: skip
        assert words in one
    assert package.main(["--data", str(data), "check", str(path)]) == 1
    assert "8 faults" in capsys.readouterr().out
    assert package.main(["--data", str(data), "score", str(path)]) == 2
    assert "line 1: is no JSON" in capsys.readouterr().err


def test_every_form_of_answer_is_looked_at(data, tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(FAULTY["others"]))
    faults = submission.faults_of(path, lambda task, split: texts(task, split, data))
    said = [str(one) for one in faults if one.line]
    for words, one in zip(
        ("the place [5, 2]", "no list of [start, end]", "0 claims; write one for each of the", "no list of claims",
         "the field 'patient.name'", "diagnosen is no list", "patient.ort is no string", "neither true nor false"),
        said, strict=True,
    ):  # fmt: skip
        assert words in one
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(BenchmarkError, match="has no answers"):
        submission.faults_of(tmp_path / "empty.jsonl")
    with pytest.raises(BenchmarkError, match="cannot be read"):
        submission.faults_of(tmp_path / "nowhere.jsonl")


def test_a_whole_submission_is_scored_and_joins_the_leaderboard(data, tmp_path, capsys):
    path, table = tmp_path / "mine.jsonl", tmp_path / "all.csv"
    rows = [(task, row) for task in ("wordings", "lies") for row in texts(task, "dev", data)]
    path.write_text("\n".join(json.dumps({"id": row["id"], **_perfect(task, row)}) for task, row in rows))
    given = ["--data", str(data)]
    assert package.main([*given, "check", str(path)]) == 0
    assert "this can be scored" in capsys.readouterr().out
    for _ in range(2):
        assert package.main([*given, "score", str(path), "--csv", str(table)]) == 0
    found = leaderboard.read(table)
    assert {(row["system"], row["task"], row["split"]) for row in found} == {
        ("mine", "wordings", "dev"), ("mine", "lies", "dev"),
    }  # fmt: skip
    assert len(found) == 5
    assert {row["texts"] for row in found} == {leaderboard.texts_name()}


# --- systems ---------------------------------------------------------------------------------------------------------


class _StandIn(BaseHTTPRequestHandler):
    """A server that answers as an OpenAI-compatible one does, by what its instruction asks for."""

    answers: ClassVar = {
        "codes": '{"codes": ["I10.90", "Unsinn"]}',
        "words": 'Gern: {"words": ["Husten", "gibt es nicht"]}',
        "claims": '{"claims": ["present"]}',
        "fields": '{"fields": {"diagnosen": ["COPD"], "erfunden": "x"}}',
        "supported": '{"supported": true}',
    }
    asked: ClassVar[list[dict]] = []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(body | {"key": self.headers.get("Authorization")})
        system = body["messages"][0]["content"]
        said = next(answer for name, answer in self.answers.items() if f'"{name}"' in system)
        status = 401 if body["model"] == "locked" else 200
        reply = json.dumps({"choices": [{"message": {"content": said}}]}).encode()
        self.send_response(status)
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    """The address of a stand-in for a model's server."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _StandIn) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}/v1"
        running.shutdown()
        thread.join()


def test_a_language_model_of_any_server_is_asked_and_nothing_it_says_is_trusted(data, server):
    _StandIn.asked.clear()
    model = LanguageModelBaseline(server, "stand-in", "secret")
    for task in tasks.TASKS:
        rows = tried(texts(task, "test", data))
        said = list(model(rows))
        for row, answer in zip(rows, said, strict=True):
            assert not list(submission.faults_of_answer(answer, row))
        scoring.score(task, rows, said)
        if task in baselines.RANKED:
            assert said == [{"codes": ["I10.90"]}] * len(rows)
        if task == "extraction":
            assert said[0] == {"fields": {"diagnosen": ["COPD"]}}
    assert 0 < model.failed <= 6, "claims for another number of mentions"
    assert {one["key"] for one in _StandIn.asked} == {"Bearer secret"}
    assert {one["temperature"] for one in _StandIn.asked} == {0}
    assert not any("answer" in one["messages"][1]["content"].split() for one in _StandIn.asked)
    with pytest.raises(BenchmarkError, match="answered 401"):
        list(LanguageModelBaseline(server, "locked")(rows))
    with pytest.raises(BenchmarkError, match="does not answer"):
        list(LanguageModelBaseline("http://127.0.0.1:9", "nobody")(rows))


def test_a_trial_of_the_package_runs_every_baseline_on_six_texts_of_each_task(data, capsys, server):
    model = ["--base-url", server, "--model", "stand-in"]
    assert package.main(["--data", str(data), "run", "--test", *model]) == 0
    lines = capsys.readouterr().out.splitlines()
    named = {line[12:38].strip() for line in lines}
    assert {"random codes", "fuzzy, token set", "BM25, words", "BM25, character 4-grams", "TF-IDF, words"} < named
    assert {"TF-IDF, characters 2-5", "dense, random", "dense, own", "stand-in", "patterns", "overlap of words"} < named
    assert {line.split()[0] for line in lines} == set(tasks.TASKS)


def test_wordings_of_a_catalog_are_read_from_a_file(tmp_path):
    path = tmp_path / "catalog.tsv"
    path.write_text("I10.90\tBluthochdruck\nE11.90\tZucker\n")
    coding = baselines.of_codes(baselines.read_wordings(path))
    row = {"id": "wordings-dev-0001", "text": "hoher Bluthochdruck"}
    assert list(coding["BM25, words"]([row])) == [{"codes": ["I10.90"]}]
    path.write_text("I10.90 Bluthochdruck\n")
    with pytest.raises(BenchmarkError, match=r"line 1: no code and words"):
        baselines.read_wordings(path)


@pytest.mark.parametrize("task", tasks.TASKS)
def test_befund_answers_every_task_in_the_form_of_a_submission(data, index, task):
    rows = tried(texts(task, "dev", data))
    for system in systems.systems_of(task, index).values():
        for row, answer in zip(rows, list(system(rows)), strict=True):
            plain = json.loads(json.dumps(answer))
            assert not list(submission.faults_of_answer(plain, row))
            assert not plain.get("codes") or len(plain["codes"]) <= tasks.DEPTH


# --- what is published -----------------------------------------------------------------------------------------------


def test_the_published_rows_of_train_come_out_again(data):
    again = baselines.of_codes(baselines.train_wordings(data))
    found = {
        **package.measured("wordings", texts("wordings", "test", data), {"BM25, words": again["BM25, words"]}, "train"),
        **package.measured("lies", texts("lies", "test", data), {"overlap of words": baselines.overlap}, "train"),
    }
    for row in leaderboard.rows_of(found, "test"):
        keys = ("split", "system", "wordings", "task", "measure")
        (published,) = [one for one in PUBLISHED if all(one[key] == row[key] for key in keys)]
        assert [published[key] for key in ("texts", "value", "low", "high")] == [
            row[key] for key in ("texts", "value", "low", "high")
        ]
    assert len({row["system"] for row in PUBLISHED}) >= 12
    assert {row["texts"] for row in PUBLISHED} == {leaderboard.texts_name()}


def test_befund_is_what_is_published_of_it(data):
    """Tasks that ask no catalog: within the published interval, since it changes with each rule."""
    for task in ("claims", "lies"):
        rows = texts(task, "test", data)
        befund = {systems.BEFUND: systems.systems_of(task, None)[systems.BEFUND]}
        (found,) = package.measured(task, rows, befund).values()
        published = [row for row in PUBLISHED if (row["system"], row["task"]) == (systems.BEFUND, task)]
        assert {row["measure"] for row in published} == set(found)
        for row in published:
            assert float(row["low"]) <= found[row["measure"]][0] <= float(row["high"]), row


def test_the_page_shows_the_published_tables_and_the_ceiling():
    page = (ROOT / "docs" / "benchmark.md").read_text("utf-8")
    assert leaderboard.tables(PUBLISHED) in page
    ceiling = page.partition("**The ceiling.**")[2].partition("\n")[0]
    said = re.findall(r"\d\.\d+", ceiling)
    names = ("overlap_f1", "span_f1", "claim_same", "claim_kappa", "code_same", "code_accepted", "category_same")
    assert said == [f"{card()['second_coder'][name][0]:.3f}" for name in names]
    assert card()["second_coder"]["texts"] == 300


def test_new_rows_of_a_system_replace_its_old_ones_and_rows_on_other_texts_go(tmp_path):
    rows = leaderboard.rows_of({("mine", "train", "lies"): {"lies_kept": (0.5, 0.4, 0.6)}}, "test", "2026-01-01")
    older = [row | {"value": "0.1"} for row in rows] + [row | {"system": "other"} for row in rows]
    assert leaderboard.joined(older, rows) == [*older[1:], *rows]
    assert leaderboard.joined([row | {"texts": "1-older"} for row in older], rows) == rows
    page = tmp_path / "page.md"
    page.write_text(f"a\n{measure.BEGIN}\nold\n{measure.END}\nb\n")
    measure.publish(rows, tmp_path / "all.csv", page)
    assert leaderboard.read(tmp_path / "all.csv") == rows
    assert re.fullmatch(r"a\n.*mine \| train.*b\n", page.read_text(), re.DOTALL)
    assert "old" not in page.read_text()


# --- two people ------------------------------------------------------------------------------------------------------


def test_agreement_of_somebody_with_themselves_is_whole_and_another_text_is_refused():
    first = [marked.marked_text("Kein {Fieber|excluded|R50.9}, {Husten|present|R05}.")] * 2
    found = coders.agreement(first, first, ["a", "b"])
    assert {value[0] for value in found.values()} == {1}
    second = [marked.marked_text("Kein {Fieber|present|R50.8}, Husten."), first[1]]
    found = coders.agreement(first, second, ["a", "b"])
    assert found["span_f1"][0] == pytest.approx(6 / 7, abs=1e-4)
    assert found["claim_same"][0] == pytest.approx(2 / 3, abs=1e-4)
    assert found["code_same"][0] == pytest.approx(2 / 3, abs=1e-4)
    assert found["category_same"][0] == 1
    with pytest.raises(BenchmarkError, match="text 1 is not the same"):
        coders.agreement(first, [marked.marked_text("Anderes."), first[1]], ["a", "b"])


def test_kappa_is_that_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    said = [("present", "present"), ("excluded", "present"), ("excluded", "excluded"), ("family", "family")]
    texts_of = [[marked.marked_text("{x|" + claim + "}") for claim in side] for side in zip(*said, strict=True)]
    found = coders.agreement(*texts_of, list("abcd"))["claim_kappa"]
    assert found[0] == pytest.approx(metrics.cohen_kappa_score(*zip(*said, strict=True)), abs=1e-4)
