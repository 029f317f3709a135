"""Answers by rules never hold the event loop, end when nobody waits, and take time in proportion to the text."""

import asyncio
import json
import time

import pytest

from clinical.budget import Budget
from clinical.contract import Arztbrief
from clinical.errors import ModelTimeout
from clinical.letters import messages_for, schema_of
from clinical.llm import Limits
from evals.rules_model import RULES, RulesModel

LIMITS = Limits(max_tokens=100, timeout_s=30)
TOKENS = (
    "IIII",
    "I21.",
    "Dr. ",
    "1.1.",
    "Diagnose: ",
    "- a\n",
    "Frau A",
    "A\n",
    "A:\n",
    "a, ",
    "Tel. 1 ",
    "\n\n",
    "[x] ",
    "a-",
)
"""Pieces repeated by a text made to be slow: starts of a code, a date, a name, a label, an item, a number, boxes."""


def seconds(rule: str, text: str) -> float:
    times = []
    for _ in range(3):
        began = time.thread_time()
        RULES[rule]({"text": text}, Budget())
        times.append(time.thread_time() - began)
    return min(times)


@pytest.mark.parametrize(("rule", "most"), [("Arztbrief", 20_000), ("Findings", 2_000)])
@pytest.mark.parametrize("token", TOKENS)
def test_an_answer_takes_time_in_proportion_to_the_text(token, rule, most):
    short, long = (seconds(rule, token * (length // len(token))) for length in (most // 4, most))
    assert long < 9 * short + 0.05


def test_lines_below_a_heading_that_begins_on_its_own_line_are_read_once():
    short, long = (seconds("Zuweisung", "Befund: Herz\n" + "a\n" * lines) for lines in (2_500, 10_000))
    assert long < 9 * short + 0.05


def test_the_event_loop_goes_on_while_an_answer_by_rules_is_made():
    async def turns_of_the_loop() -> int:
        messages = messages_for("arztbrief", "Diagnosen: Gicht, Husten, Fieber\n" * 600)
        work = asyncio.create_task(RulesModel().complete(messages, schema=schema_of(Arztbrief), limits=LIMITS))
        turns = 0
        while not work.done():
            await asyncio.sleep(0)
            turns += 1
        assert json.loads((await work).text)["diagnosen"]
        return turns

    assert asyncio.run(turns_of_the_loop()) > 2


def test_a_stopped_or_used_up_budget_ends_the_work():
    stopped, spent = Budget(), Budget(0)
    stopped.stop()
    for budget in (stopped, spent):
        with pytest.raises(ModelTimeout):
            RULES["Arztbrief"]({"text": "Diagnosen: Gicht\n" * 10}, budget)
        with pytest.raises(ModelTimeout):
            RULES["Findings"]({"text": "Gicht. Husten."}, budget)
