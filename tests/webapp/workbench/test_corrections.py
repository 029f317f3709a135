"""Corrections that a coder has to make on texts by others' hands: the real API's answer, as the page's own module holds
it after "accept all that is very probably right", beside the codes that the author gave.

`CATALOG=var/catalog python -m pytest -s tests/webapp/workbench/test_corrections.py` prints the table (tier 1 alone, so
that no language model is needed). The texts, named before any was looked at: of each author of split `tune` who gives
codes (nothing is fitted on these) the first six with three to twelve statements, all of them with a code.
"""

import os
from collections.abc import Sequence
from statistics import median
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Page

from catalog_build.training.authors import LabelledMention, LabelledText, authors, read

STATED = {"present": "G", "suspected": "V", "history": "Z"}
PER_AUTHOR = 6

JS = """async (texts) => {
  const state = await import("/static/workbench/state.js");
  const { post } = await import("/static/workbench/page.js");
  const first = async (query) => {
    const answer = await (await post("/coding/events/", { query })).text();
    return answer.split("\\n\\n").map((piece) => piece.trim()).filter((piece) => piece.startsWith("data: "))
      .map((piece) => JSON.parse(piece.slice(6))).find((event) => event.layer === 1);
  };
  const all = [];
  for (const text of texts) {
    const now = state.allProbable(state.found(state.typed(state.EMPTY, text), await first(text)));
    all.push(state.cards(now).map(({ shown, partner, state, certainty, evidence }) =>
      ({ codes: [shown.code, ...(partner?.goes ? [partner.code] : [])].filter(Boolean), state, certainty, evidence })));
  }
  return all;
}"""


class Corrections(NamedTuple):
    """Of a text: right codes that only have to be accepted, codes to be put in or taken out (one for the place of
    another counts once), certainties to be changed."""

    accepted: int
    codes: int
    certainties: int

    @property
    def total(self) -> int:
        return sum(self)


def corrections(mentions: Sequence[LabelledMention], cards: Sequence[dict[str, Any]]) -> Corrections:
    """List the changes to the cards until they hold the author's codes; a defensible one is as good as the first."""
    stated = [one for one in mentions if one.claim in STATED or one.second in STATED]
    right = {code for one in stated for code in (*one.codes, *one.also)}
    taken = [card for card in cards if card["state"] == "accepted"]
    there = {code for card in taken for code in card["codes"]}
    offered = {code for card in cards if card["state"] == "open" for code in card["codes"]}
    wrong = [card for card in taken if not right & {*card["codes"]}]
    to_accept: set[str] = set()
    missing = []
    for one in stated:
        if not one.codes or there & {*one.also} or {*one.codes} <= there:
            continue
        rest = [code for code in one.codes if code not in there]
        if found := offered & {*rest, *one.also}:
            to_accept |= {sorted(found, key=lambda code: code in one.also)[0]}
        else:
            missing += [(code, one) for code in rest]
    for card in wrong:
        place = next((pair for pair in missing if _meet(card["evidence"], pair[1])), None)
        if place:
            missing.remove(place)
    absent = len({code for code, _ in missing})
    return Corrections(len(to_accept), absent + len(wrong), _certainties(stated, taken))


def _certainties(stated: Sequence[LabelledMention], taken: Sequence[dict[str, Any]]) -> int:
    """Accepted cards whose certainty none of the statements they are right for has; what is over may be a Z code."""
    differ = 0
    for card in taken:
        own = [one for one in stated if {*card["codes"]} & {*one.codes, *one.also}]
        letters = {STATED[claim] for one in own for claim in (one.claim, one.second) if claim in STATED}
        if "Z" in letters and card["codes"][0].startswith("Z"):
            letters.add("G")
        differ += bool(own) and card["certainty"] not in letters
    return differ


def _meet(span: dict[str, int] | None, mention: LabelledMention) -> bool:
    return span is not None and span["start"] < mention.end and mention.start < span["end"]


def is_whole(text: LabelledText) -> bool:
    """Three to twelve statements, all with a code: the author's codes are those of the text."""
    stated = [one for one in text.mentions if one.claim in STATED]
    return 3 <= len(stated) <= 12 and all(one.codes for one in stated)


def asked() -> list[tuple[LabelledText, bool]]:
    """Every whole text of the coded authors of `tune`, and whether it is one of the twelve."""
    coded = {author.ident for author in authors() if author.coded != "no"}
    found = []
    for author, texts in read("tune").items():
        if author in coded:
            found += [(text, place < PER_AUTHOR) for place, text in enumerate(filter(is_whole, texts))]
    return found


def told(name: str, some: Sequence[Corrections]) -> str:
    totals, changes = [one.total for one in some], [one.codes + one.certainties for one in some]
    return (
        f"{name}: corrections a text, median {median(totals):g}, none in {totals.count(0)} of {len(some)}; "
        f"without right codes that only wait to be accepted {median(changes):g}, none in {changes.count(0)}"
    )


def test_corrections_that_texts_by_others_need(page: Page) -> None:
    texts = asked()
    assert sum(chosen for _, chosen in texts) == 2 * PER_AUTHOR
    texts = [pair for pair in texts if pair[1] or os.environ.get("CATALOG")]
    cards = page.evaluate(JS, [text.text for text, _ in texts])
    rows = [(text, chosen, corrections(text.mentions, one)) for (text, chosen), one in zip(texts, cards, strict=True)]
    print("\ntext     statements  to accept  codes  certainty")
    for text, chosen, one in rows:
        if chosen:
            stated = sum(mention.claim in STATED for mention in text.mentions)
            print(f"{text.ident}  {stated:>10}  {one.accepted:>9}  {one.codes:>5}  {one.certainties:>9}")
    print(told("twelve texts", [one for _, chosen, one in rows if chosen]))
    if os.environ.get("CATALOG"):
        print(told("all such texts of these authors", [one for *_, one in rows]))
    assert any(cards), "the API found nothing at all"


def card(*codes: str, state: str = "accepted", certainty: str = "G", at: int = 0) -> dict[str, Any]:
    return {"codes": list(codes), "state": state, "certainty": certainty, "evidence": {"start": at, "end": at + 5}}


def said(*codes: str, claim: str = "present", also: tuple[str, ...] = (), at: int = 0) -> LabelledMention:
    return LabelledMention(at, at + 5, claim, None, codes, also)


@pytest.mark.parametrize(
    ("mentions", "cards", "expected"),
    [
        ([said("I10.90")], [card("I10.90")], (0, 0, 0)),
        ([said("I10.90", also=("I10.00",))], [card("I10.00")], (0, 0, 0)),
        ([said("I10.90")], [card("I10.90", state="open")], (1, 0, 0)),
        ([said("I10.90")], [card("I10.00")], (0, 1, 0)),
        ([said("I10.90", at=20)], [card("I10.00")], (0, 2, 0)),
        ([said("I10.90")], [], (0, 1, 0)),
        ([said("I10.90", claim="excluded")], [card("I10.90")], (0, 1, 0)),
        ([said("I10.90", claim="suspected")], [card("I10.90")], (0, 0, 1)),
        ([said("Z90.4", claim="history")], [card("Z90.4")], (0, 0, 0)),
        ([said("E11.20", "N08.3")], [card("E11.20")], (0, 1, 0)),
        ([said("E11.20", "N08.3")], [card("E11.20", "N08.3")], (0, 0, 0)),
    ],
)
def test_what_counts_as_a_correction(mentions: list[LabelledMention], cards: list[Any], expected: tuple[int]) -> None:
    assert corrections(mentions, cards) == expected
