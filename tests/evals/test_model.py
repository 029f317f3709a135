"""A language model measured in one go: on public texts, resumable, with its cost, against a server of its shape."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import JSONResponse

from catalog_build.training.authors import authors
from clinical.contract import ExtractRequest, ExtractResponse
from clinical.errors import ModelUnavailable, SettingError
from clinical.letters import DOCUMENTS
from clinical.llm import Limits, Message
from evals.coding.costs import Call, Metered
from evals.exchange import KeptModel
from evals.letters.fields import extracted
from evals.measures.results import read_result
from evals.model import drafts, lies, tiers
from evals.model.measure import Price, costs, main
from tests.fakes import FakeModel
from tests.openai_server import model_server

DRAFT = "Die Patientin wurde am 3. Mai mit der Diagnose einer Pneumonie in der Klinik aufgenommen und behandelt."
PARTS = ("tiers", "extraction", "lies", "generation", "speed")
QUESTION = (Message("user", "Husten"),)
LIMITS = Limits(max_tokens=100, timeout_s=30)


# --- kept answers -----------------------------------------------------------------------------------------------------


def said(model: KeptModel | Metered, question: tuple[Message, ...] = QUESTION, limits: Limits = LIMITS) -> str:
    return asyncio.run(model.complete(question, schema=None, limits=limits)).text


def test_what_was_answered_is_not_asked_again(tmp_path: Path) -> None:
    file, real = tmp_path / "answers.jsonl", FakeModel(text=["eins", "zwei", "", "drei"])
    model = KeptModel(real, file, {"model": "a"})
    assert [said(model), said(model), said(model, limits=Limits(200, 30))] == ["eins", "eins", "zwei"]
    other = (Message("user", "Fieber"),)
    assert [said(model, other), said(model, other)] == ["", "drei"], "an empty answer is asked for again"
    model.close()
    with file.open("a") as torn:
        torn.write('["torn')
    again, silent = KeptModel(unreachable := FakeModel(text=ModelUnavailable("x")), file, {"model": "a"}), QUESTION
    assert (again.kept, said(again), said(again, other)) == (3, "eins", "drei")
    assert unreachable.asked == []
    metered = Metered(again)
    said(metered, silent)
    assert (metered.calls[0].tokens_in, metered.calls[0].tokens_out) == (100, 20)
    new = (Message("user", "Gicht"),)
    with pytest.raises(ModelUnavailable):
        said(again, new)
    again.close()
    third = KeptModel(FakeModel(text="vier"), file, {"model": "a"})
    assert (said(third, new), third.kept) == ("vier", 3)
    assert "Husten" not in file.read_text()
    with pytest.raises(SettingError, match="name another folder"):
        KeptModel(real, file, {"model": "b"})


def test_seconds_are_those_of_the_call_that_was_made(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    said(first := Metered(KeptModel(FakeModel(delay=0.05, text="eins"), file, {})))
    said(second := Metered(KeptModel(FakeModel(text="zwei"), file, {})))
    assert first.calls == second.calls
    assert first.calls[0].seconds >= 0.05


def test_cost_is_of_the_tokens_and_the_price() -> None:
    calls = [
        [Call("Findings", 1_000, 100, 1.0), Call("Step", 1_000, 100, 2.0)],
        [],
        [Call("Findings", 4_000, 600, 5.0)],
    ]
    found = {each.measure: (each.n, each.value) for each in costs("x", calls, Price(1.0, 10.0))}
    assert found["tokens_in"] == (2, 3_000)
    assert found["seconds"] == (2, 4.0)
    assert found["money_of_1000"] == (2, (2_000 + 200 * 10 + 4_000 + 600 * 10) / 2 / 1e3)
    assert "money_of_1000" not in {each.measure for each in costs("x", calls, Price(0, 0))}


# --- the sets ---------------------------------------------------------------------------------------------------------


def test_no_text_kept_for_reporting_is_asked() -> None:
    splits = {one.ident: one.split for one in authors()}
    sets = tiers.public_inputs()
    assert {splits[str(one["class"])] for one in sets["coded authors"]} == {"tune"}
    assert len(sets["written inputs"]) > 400
    kept = next(name for name, split in splits.items() if split == "report")
    with pytest.raises(SettingError, match="kept for reporting"):
        tiers.own_inputs(tiers.AUTHORS / f"{kept}.txt")


def test_baits_are_of_every_class_and_the_same_each_time() -> None:
    asked = lies.baits(2)
    assert {one.kind for one in asked} == set(lies.CLASSES)
    assert [one.value for one in asked] == [one.value for one in lies.baits(2)]


def answer(kind: str, data: dict[str, Any], text: str) -> ExtractResponse | None:
    """The answer where a model says these fields of a text."""
    whole = {**DOCUMENTS[kind]().model_dump(), **data}
    request = ExtractRequest(document_type=kind, text=text, evidence=True)
    said = FakeModel(**{DOCUMENTS[kind].__name__: whole})
    return asyncio.run(extracted([request], lambda _: said, 1))[0]


@pytest.mark.parametrize(
    ("sentence", "how"),
    [
        ("Diagnose: Leistenhernie rechts", "passed"),
        ("Diagnose: Leistenhernie rechts ausgeschlossen", "removed"),
        ("Diagnose: Gicht", "removed"),
    ],
)
def test_a_lie_that_is_told_passes_or_is_removed(sentence: str, how: str) -> None:
    text = f"Sehr geehrte Kollegin\n\n{sentence}\n\nMit Grüssen"
    found = answer("arztbrief", {"diagnosen": ["Leistenhernie rechts"]}, text)
    assert found is not None
    bait = lies.baits(1)[0]._replace(path="diagnosen", value="Leistenhernie rechts")
    assert lies.told(found, bait) == how
    assert lies.told(found, bait._replace(value="Epilepsie")) == "not told"
    assert lies.told(found, bait._replace(path="dringlichkeit", value="notfall")) == "not told"


def test_a_value_told_with_its_denial_is_no_lie() -> None:
    denied = "Leistenhernie rechts: nein"
    found = answer("arztbrief", {"diagnosen": [denied]}, f"Diagnose: {denied}\n")
    bait = lies.baits(1)[0]._replace(path="diagnosen", value="Leistenhernie rechts")
    assert found is not None
    assert lies.told(found, bait) == "not told"


def test_numbers_of_a_draft() -> None:
    assert drafts.numbers("1. Aufnahme am 05.03.2024\n2) Metformin 500 mg") == {5, 3, 2024, 500}
    assert drafts.numbers("am 5. März 2024 mit 500 mg") == {5, 3, 2024, 500}
    assert drafts.is_german(DRAFT)
    assert not drafts.is_german("The patient was admitted to the hospital and treated with antibiotics.")
    assert not drafts.is_german("")


# --- the whole --------------------------------------------------------------------------------------------------------


def rows_of(folder: Path) -> dict[tuple[str, str], tuple[Any, ...]]:
    rows = read_result(folder / "result.json").rows
    return {(one.measure, one.set): (one.n, one.value) for one in rows.itertuples()}


def counted_calls(calls: list[dict[str, Any]]) -> int:
    """The calls that are no first word and no measurement of speed."""
    return sum("stream" not in one and one["messages"][-1]["content"] != "Antworte mit: ok" for one in calls)


def test_letters_that_got_no_answer_are_failures() -> None:
    rows = lies.rows_of("model", lies.baits(1)[:2], [None, None])
    assert [(one.n, one.value) for one in rows if one.measure == "failed"] == [(2, 2.0)]


def test_a_run_that_was_cut_goes_on_and_says_the_same(starter_artifact: Path, tmp_path: Path, capsys) -> None:
    """The server refuses everything after twenty calls; the second run asks for what is missing, the third nothing."""
    broken = JSONResponse({"error": {"message": "gone"}}, status_code=500)
    with model_server(text=DRAFT) as server:
        fixed = ["--base-url", server.base_url, "--catalog", str(starter_artifact), "--limit", "2", "--price", "1", "4"]
        fixed += ["--concurrency", "4", "--only", *PARTS]
        assert main([*fixed, "--folder", str(tmp_path / "whole")]) == 0
        whole, asked = rows_of(tmp_path / "whole"), counted_calls(server.calls)
        cut = [*fixed, "--folder", str(tmp_path / "cut")]
        server.calls.clear()
        server.quirk = lambda body, number: broken if number > 20 else None
        assert main(cut) == 0
        first = rows_of(tmp_path / "cut")
        done = len((tmp_path / "cut" / "answers.jsonl").read_text().splitlines()) - 1
        server.quirk = None
        server.calls.clear()
        (tmp_path / "cut" / "speed.json").unlink()
        assert main(cut) == 0
        assert counted_calls(server.calls) == asked - done
        server.calls.clear()
        capsys.readouterr()
        assert main(cut) == 0
        assert (counted_calls(server.calls), sum("stream" in one for one in server.calls)) == (0, 0)
    again = rows_of(tmp_path / "cut")
    timed = ("seconds", "first_token", "tokens_a_second")
    assert {key: v for key, v in again.items() if not key[0].startswith(timed)} == {
        key: v for key, v in whole.items() if not key[0].startswith(timed)
    }
    assert sum(value for (measure, _), (_, value) in first.items() if measure == "failed") > 0
    report = (tmp_path / "cut" / "report.md").read_text()
    assert report == capsys.readouterr().out.removesuffix("\n")
    for part in ("Coding", "Letters", "lie set", "Drafts", "Speed", "Cost"):
        assert part in report
    assert "At 1 for a million tokens in and 4 out" in report
    assert "- 0 items failed" in report
    assert again["money_of_1000", "cost: drafts"] == (6, pytest.approx((11 + 7 * 4) / 1e3, abs=1e-4))
    assert again["tokens_in", "cost: written inputs, tier 3"][1] > again["tokens_in", "cost: written inputs, tier 2"][1]
    assert len(list((tmp_path / "cut" / "drafts").iterdir())) == 2 * len(drafts.INSTRUCTIONS)


def test_own_texts_instead_and_another_model_in_the_same_folder(starter_artifact: Path, tmp_path: Path, capsys) -> None:
    own = tmp_path / "mine.jsonl"
    said = {
        "id": "x-1",
        "class": "note",
        "text": "Bluthochdruck",
        "codes": [{"codes": ["I10.90"], "text": "Bluthochdruck"}],
    }
    own.write_text(json.dumps(said) + "\n")
    with model_server() as server:
        fixed = ["--base-url", server.base_url, "--catalog", str(starter_artifact), "--inputs", str(own)]
        fixed += ["--folder", str(tmp_path / "a"), "--only", "tiers"]
        assert main(fixed) == 0
        assert "coding on mine.jsonl" in capsys.readouterr().out
        result = read_result(tmp_path / "a" / "tiers-mine-3.json")
        assert (result.about["tier"], result.queries["hit"].tolist()) == ("3", [[True]])
        assert main([*fixed, "--model", "test/other"]) == 2
        assert "another folder" in capsys.readouterr().err


def test_without_a_server_it_says_so(starter_artifact: Path, tmp_path: Path, capsys) -> None:
    given = ["--base-url", "http://127.0.0.1:9/v1", "--catalog", str(starter_artifact), "--folder", str(tmp_path / "a")]
    assert main(given) == 2
    assert "the connection to the language model broke" in capsys.readouterr().err
