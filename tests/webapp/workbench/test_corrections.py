"""Corrections that a coder has to make on texts by others' hands: the real API's answer, as the page's own module holds
it after "accept all that is very probably right", beside the codes that the author gave.

`CATALOG=var/catalog python -m pytest -s tests/webapp/workbench/test_corrections.py` prints the table (tier 1 alone, so
that no language model is needed). The twelve texts, named before any was looked at: of each author of split `report`
who gives codes to most mentions (nothing is fitted on these) the first three with three to six statements, all of them
with a code.

A correction is what somebody has to change in what is offered first: a code put in the place of another, one added, one
taken out (also one that is offered and not accepted yet), an undecided mention whose right code is among the candidates
it shows (a pick), or a certainty changed. A right code that waits for Enter, and an undecided mention that the author
gives no code, ask for a key and are counted beside.
"""

import os
from collections.abc import Sequence
from statistics import median
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Page

from catalog_build.training.authors import LabelledMention, LabelledText, authors, read

STATED = {"present": "G", "suspected": "V", "history": "Z"}
PER_AUTHOR = 3
CANDIDATES = 4
"""Candidates that the page shows for an undecided mention."""

JS = """async ([texts, most]) => {
  const state = await import("/static/workbench/state.js");
  const { post, given } = await import("/static/workbench/page.js");
  const { quote } = await import("/static/workbench/marks.js");
  const first = async (query) => {
    const answer = await (await post(given.urls.events, { query })).text();
    return answer.split("\\n\\n").map((piece) => piece.trim()).filter((piece) => piece.startsWith("data: "))
      .map((piece) => JSON.parse(piece.slice(6))).find((event) => event.layer === 1);
  };
  const candidates = async (q) => {
    const headers = { Accept: "application/json" };
    const ask = () => fetch(given.urls.search, { method: "POST", body: new URLSearchParams({ q }), headers });
    let answer = await ask();
    for (; answer.status === 429; answer = await ask()) await new Promise((done) => setTimeout(done, 2000));
    return (await answer.json()).slice(0, most).map(({ code }) => code);
  };
  const all = [];
  for (const text of texts) {
    const now = state.allProbable(state.found(state.typed(state.EMPTY, text), await first(text)));
    const cards = [];
    for (const card of state.cards(now)) {
      const { shown, partner, state, certainty, evidence } = card;
      const goes = partner && (partner.goes || state === "open");
      cards.push({ codes: [shown.code, ...(goes ? [partner.code] : [])].filter(Boolean), state, certainty, evidence,
                   candidates: shown.code ? [] : await candidates(quote(card, text)) });
    }
    all.push(cards);
  }
  return all;
}"""


class Corrections(NamedTuple):
    """Of a text: undecided mentions whose right candidate is taken, codes exchanged, added and taken out, certainties
    changed; beside them the right codes that wait for Enter and the undecided mentions that stay without a code."""

    picked: int = 0
    exchanged: int = 0
    added: int = 0
    removed: int = 0
    certainties: int = 0
    entered: int = 0
    left: int = 0

    @property
    def total(self) -> int:
        """The corrections; what only asks for a key is none."""
        return sum(self[:5])


def corrections(mentions: Sequence[LabelledMention], cards: Sequence[dict[str, Any]]) -> Corrections:
    """Count the changes to the cards until they hold the author's codes; a defensible one is as good as the first, and
    a code that the author gives for a relative's disease may be there."""
    stated = [one for one in mentions if one.claim in STATED or one.second in STATED]
    welcome = {code for one in [*stated, *(one for one in mentions if one.claim == "family")] for code in _right(one)}
    coded, undecided = [card for card in cards if card["codes"]], [card for card in cards if not card["codes"]]
    there = {code for card in coded for code in card["codes"]}
    wrong = [card for card in coded if not welcome & {*card["codes"]}]
    right = [card for card in coded if card not in wrong]
    missing = [
        (code, one)
        for one in stated
        if one.codes and not there & {*one.also} and not {*one.codes} <= there
        for code in one.codes
        if code not in there
    ]
    picked = exchanged = 0
    for card in (*undecided, *wrong):
        place = next((pair for pair in missing if _fits(card, *pair)), None)
        if place is not None:
            missing = [pair for pair in missing if pair[0] != place[0]]
            picked, exchanged = picked + (not card["codes"]), exchanged + bool(card["codes"])
    waiting = sum(card["state"] == "open" for card in right)
    added = len({code for code, _ in missing})
    said = {one for one in stated if one.codes}
    left = sum(not any(_meet(card["evidence"], one) for one in said) for card in undecided)
    return Corrections(picked, exchanged, added, len(wrong) - exchanged, _certainties(stated, right), waiting, left)


def _right(mention: LabelledMention) -> tuple[str, ...]:
    return (*mention.codes, *mention.also)


def _fits(card: dict[str, Any], code: str, mention: LabelledMention) -> bool:
    """True where a missing code is put in on this card: another in the place of a wrong one on the same words, or a
    candidate that an undecided mention shows."""
    if not _meet(card["evidence"], mention):
        return False
    return bool(card["codes"]) or bool({code, *mention.also} & {*card["candidates"]})


def _certainties(stated: Sequence[LabelledMention], cards: Sequence[dict[str, Any]]) -> int:
    """Cards whose certainty none of the statements they are right for has; what is over may be a Z code."""
    differ = 0
    for card in cards:
        own = [one for one in stated if {*card["codes"]} & {*_right(one)}]
        letters = {STATED[claim] for one in own for claim in (one.claim, one.second) if claim in STATED}
        if "Z" in letters and card["codes"][0].startswith("Z"):
            letters.add("G")
        differ += bool(own) and card["certainty"] not in letters
    return differ


def _meet(span: dict[str, int] | None, mention: LabelledMention) -> bool:
    return span is not None and span["start"] < mention.end and mention.start < span["end"]


def is_whole(text: LabelledText) -> bool:
    """Three to six statements, all with a code: the author's codes are those of the text."""
    stated = [one for one in text.mentions if one.claim in STATED]
    return 3 <= len(stated) <= 6 and all(one.codes for one in stated)


def asked() -> list[tuple[LabelledText, bool]]:
    """Every whole text of the coded authors of `report`, and whether it is one of the twelve."""
    coded = {author.ident for author in authors() if author.coded == "yes"}
    found = []
    for author, texts in read("report").items():
        if author in coded:
            found += [(text, place < PER_AUTHOR) for place, text in enumerate(filter(is_whole, texts))]
    return found


def told(name: str, some: Sequence[Corrections]) -> str:
    totals, changes = [one.total for one in some], [one.total - one.picked for one in some]
    return (
        f"{name}: corrections a text, median {median(totals):g}, none in {totals.count(0)} of {len(some)}; "
        f"where a pick is an answer and no correction, median {median(changes):g}, none in {changes.count(0)}"
    )


def test_corrections_that_texts_by_others_need(page: Page) -> None:
    texts = asked()
    assert sum(chosen for _, chosen in texts) == 4 * PER_AUTHOR
    texts = [pair for pair in texts if pair[1] or os.environ.get("CATALOG")]
    cards = page.evaluate(JS, [[text.text for text, _ in texts], CANDIDATES])
    rows = [(text, chosen, corrections(text.mentions, one)) for (text, chosen), one in zip(texts, cards, strict=True)]
    print("\ntext     statements", *Corrections._fields)
    for text, chosen, one in rows:
        if chosen:
            stated = sum(mention.claim in STATED for mention in text.mentions)
            cells = [f"{count:>{len(name)}}" for name, count in zip(Corrections._fields, one, strict=True)]
            print(f"{text.ident}  {stated:>10}", *cells)
    print(told("twelve texts", [one for _, chosen, one in rows if chosen]))
    if os.environ.get("CATALOG"):
        print(told("all such texts of these authors", [one for *_, one in rows]))
    assert any(cards), "the API found nothing at all"


def card(*codes: str, state: str = "accepted", certainty: str = "G", at: int = 0, among: str = "") -> dict[str, Any]:
    span = {"start": at, "end": at + 5}
    return {"codes": list(codes), "state": state, "certainty": certainty, "evidence": span, "candidates": among.split()}


def said(*codes: str, claim: str = "present", also: tuple[str, ...] = (), at: int = 0) -> LabelledMention:
    return LabelledMention(at, at + 5, claim, None, codes, also)


@pytest.mark.parametrize(
    ("mentions", "cards", "expected"),
    [
        ([said("I10.90")], [card("I10.90")], Corrections()),
        ([said("I10.90", also=("I10.00",))], [card("I10.00")], Corrections()),
        ([said("I10.90")], [card("I10.90", state="open")], Corrections(entered=1)),
        ([said("I10.90")], [card("I10.00")], Corrections(exchanged=1)),
        ([said("I10.90")], [card("I10.00", state="open")], Corrections(exchanged=1)),
        ([said("I10.90", at=20)], [card("I10.00")], Corrections(added=1, removed=1)),
        ([said("I10.90")], [], Corrections(added=1)),
        ([said("I10.90")], [card(among="I10.00 I10.90", state="open")], Corrections(picked=1)),
        ([said("I10.90")], [card(among="I10.00", state="open")], Corrections(added=1)),
        ([said("I10.90"), said(at=9)], [card("I10.90"), card(at=9, state="open")], Corrections(left=1)),
        ([said("I10.90", claim="excluded")], [card("I10.90")], Corrections(removed=1)),
        ([said("Z80.3", claim="family")], [card("Z80.3")], Corrections()),
        ([said("Z80.3", claim="family")], [], Corrections()),
        ([said("I10.90", claim="suspected")], [card("I10.90")], Corrections(certainties=1)),
        ([said("Z90.4", claim="history")], [card("Z90.4")], Corrections()),
        ([said("E11.20", "N08.3")], [card("E11.20")], Corrections(added=1)),
        ([said("E11.20", "N08.3")], [card("E11.20", "N08.3")], Corrections()),
    ],
)
def test_what_counts_as_a_correction(mentions: list[LabelledMention], cards: list[Any], expected: Corrections) -> None:
    assert corrections(mentions, cards) == expected
