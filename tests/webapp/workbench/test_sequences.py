"""Random sequences of what people do, against a plain model: nothing leaves but what was accepted for the text.

The model knows words by identity where the page counts characters, and asks of each code only: which words does it rest
on, and what was said of it. The state is stepped in the browser by its own module, with the answers of a made-up API.
"""

import copy
import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from playwright.sync_api import Page

SEQUENCES, STEPS = 600, 30
CODES = {"Gicht": "M10.99", "Asthma": "J45.99", "Hypertonie": "I10.90", "Struma": "E04.9", "Nephropathie": "E11.20"}
UNDECIDED = "Müdigkeit"
"""A mention for which no code was sure enough."""
WORDS = (*CODES, "seit", UNDECIDED, "🙂")
PAIRS = {"E11.20": "N08.3"}
OF_THE_WHOLE = "Z00.0"
"""A code that tier 2 finds sometimes, without words that it rests on."""
CATALOG = ("M10.99", "K21.9", "E66.99", "N08.3", OF_THE_WHOLE)
"""Codes added by hand, and in the place of another."""
REMAINS = 0.2
BETWEEN = ", "

JS = """async (sequences) => {
  const state = await import("/static/workbench/state.js");
  const { bundle, csv, line } = await import("/static/workbench/outcome.js");
  const head = { columns: "K", main: "H", secondary: "N" };
  const undecided = (one, code) => code[0] === "?" && one.code === "?" && one.evidence.start === Number(code.slice(1));
  const card = (now, code) => state.cards(now).find((one) => one.code === code || undecided(one, code));
  const steps = {
    type: (now, text, selected, back) => state.typed(now, text, selected, back),
    answer: (now, event) => state.found(now, event),
    judge: (now, code, wanted) => state.judged(now, card(now, code), wanted),
    mark: (now, code, letter) => state.marked(now, card(now, code), "certainty", letter),
    join: (now, code, goes) => state.joined(now, card(now, code), goes),
    instead: (now, code, found) => state.instead(now, card(now, code), found),
    add: (now, found) => state.added(now, found),
    place: (now, code, to) => {
      const moved = state.placed(now, code, to);
      if (state.result(moved)[to].code !== code) throw new Error("it is somewhere else");
      return moved;
    },
    correct: (now, span, claim) => state.corrects(now, span, claim),
    undo: state.undone, next: state.next, back: state.back,
  };
  const left = (now) => {
    const codes = state.result(now);
    const rows = csv(codes, head).trim().split("\\r\\n").slice(1)
      .map((row) => row.split(";").map((cell) => cell.slice(1, -1)));
    return { text: state.here(now).text, line: codes.length ? line(codes).split("; ") : [],
      csv: rows.map(([code, , certainty]) => code + certainty),
      fhir: bundle(codes, "2026").entry.map(({ resource }) => resource.code.coding[0])
        .map((one) => one.code + (one.extension ?? []).map((mark) => mark.valueCoding.code).join("")) };
  };
  return sequences.map((sequence) => {
    let now = state.EMPTY;
    return sequence.map(([step, ...rest]) => {
      try { now = steps[step](now, ...rest); } catch (error) { return { error: `${step}: ${error.stack}` }; }
      return left(now);
    });
  });
}"""


@dataclass
class Word:
    """A word of a text; `grown`: letters were written on to it, so that it is another until they are gone."""

    text: str
    number: int
    grown: bool = False

    @property
    def shown(self) -> str:
        return self.text + ("x" if self.grown else "")


@dataclass
class Said:
    """Decision on a code: for which words, each as it stood then (None: for the text), and which other
    code takes its place."""

    words: frozenset[tuple[int, bool]] | None
    state: str = "open"
    certainty: str | None = None
    instead: str | None = None
    by_hand: bool = False


@dataclass
class Seen:
    """A code that was found: the words it rests on (None: the text), by which tier, in which version of the text."""

    words: frozenset[int] | None
    tier: int
    version: int


@dataclass
class Text:
    """One text: its words, what was found in them, what was decided, and what had been decided before that."""

    words: list[Word] = field(default_factory=list)
    seen: dict[str, Seen] = field(default_factory=dict)
    said: dict[str, list[Said]] = field(default_factory=dict)
    claims: dict[tuple[int, bool], str | None] = field(default_factory=dict)
    past: list[tuple[dict[str, list[Said]], dict[tuple[int, bool], str | None]]] = field(default_factory=list)
    version: int = 0
    answered: int = -1

    @property
    def shown(self) -> str:
        return BETWEEN.join(word.shown for word in self.words)

    def of(self, code: str) -> Said | None:
        """The decision on a code for words it still rests on."""
        on = self.resting(code)
        there = self.resting() if on is None else on
        return next((one for one in reversed(self.said.get(code, [])) if one.words is None or one.words & there), None)

    def resting(self, code: str = "") -> frozenset[tuple[int, bool]] | None:
        """The words a code rests on, as they stand now; of none, all words."""
        on = {word.number for word in self.words}
        if code:
            seen = self.read()[code].words if code in self.read() else None
            if seen is None:
                return None
            on = seen
        return frozenset((word.number, word.grown) for word in self.words if word.number in on)

    def read(self) -> dict[str, Seen]:
        """Finds, with somebody's corrections: words that state nothing, or are none, carry no code; those that
        do and have none are undecided."""
        said = {word.number: self.claims.get((word.number, word.grown), "") for word in self.words}
        gone = {number for number, claim in said.items() if claim in (None, "excluded")}
        read = {
            code: replace(one, words=one.words and one.words - gone)
            for code, one in self.seen.items()
            if one.words is None or one.words - gone
        }
        coded = {number for one in self.seen.values() for number in one.words or ()}
        for number, claim in said.items():
            if claim == "present" and number not in coded:
                read[f"?{number}"] = Seen(frozenset({number}), 1, self.version)
        return read

    def state(self, code: str) -> str:
        said = self.of(code)
        return said.state if said else "open"

    def cards(self) -> list[str]:
        """The codes with a card of their own."""
        by_hand = [code for code, all_ in self.said.items() if any(one.by_hand for one in all_)]
        seen = self.read()
        held = {PAIRS[code] for code in seen if code in PAIRS and not self.replaced(code)}
        return [*(code for code in seen if code not in held or code in by_hand), *(set(by_hand) - set(seen))]

    def replaced(self, code: str) -> str | None:
        said = self.of(code)
        return said.instead if said else None

    def partner(self, code: str) -> str | None:
        if self.replaced(code):
            return None
        seen = self.read()
        if code in seen and code in PAIRS:
            return PAIRS[code]
        return next((head for head, pair in PAIRS.items() if pair == code and code in seen and head in seen), None)

    def say(self, changes: dict[str, dict[str, Any]]) -> None:
        self.keep()
        for code, change in changes.items():
            said = self.of(code)
            if said is None:
                said = Said(None)
                self.said.setdefault(code, []).append(said)
            said.words = self.resting(code)
            for name, value in change.items():
                setattr(said, name, value)

    def keep(self) -> None:
        """Undo goes back to the decisions of now."""
        self.past.append((copy.deepcopy(self.said), dict(self.claims)))

    def leaving(self) -> list[str]:
        """The accepted codes with their certainty, as they are to leave."""
        left = []
        for code in self.cards():
            said = self.of(code)
            if said is None or said.state != "accepted":
                continue
            certainty = "G" if said.certainty is None else said.certainty
            left.append((said.instead or code) + certainty)
            partner = self.partner(code)
            if partner and self.state(partner) == "accepted":
                left.append(partner + certainty)
        return sorted(set(left))


class Model:
    """Texts, one after the other, and somebody who works on them by lot. Each step is told as the page's own."""

    def __init__(self, seed: int) -> None:
        self.lot = random.Random(seed)
        self.numbers = count()
        self.texts = [Text()]
        self.at = 0

    @property
    def here(self) -> Text:
        return self.texts[self.at]

    def word(self, text: str) -> Word:
        return Word(text, next(self.numbers))

    def step(self) -> list[Any]:
        """One thing that somebody does, or an answer that comes."""
        doing = {
            self.paste: 2, self.insert: 4, self.remove: 3, self.replace: 2, self.grow: 2, self.answer: 8,
            self.judge: 8, self.mark: 2, self.join: 3, self.put_instead: 4, self.add: 2, self.undo: 4,
            self.place: 2, self.next: 1, self.back: 1, self.correct: 3,
        }  # fmt: skip
        while True:
            told = self.lot.choices(list(doing), list(doing.values()))[0]()
            if told:
                return told

    # --- the text

    def edit(self, words: list[Word], start: int, end: int, size: int) -> list[Any]:
        """The box holds `words` now; characters from `start` to `end` gave way to `size` others."""
        old = self.here.shown
        new = BETWEEN.join(word.shown for word in words)
        if new == old and start == end:
            return []
        gone = not new or (size and len(old) - (end - start) < len(old) * REMAINS)
        if gone:
            self.texts = [text for text in self.texts if text.said or text.claims or text is not self.here]
            self.texts.append(Text(words))
            self.at = len(self.texts) - 1
        else:
            self.here.words = words
            self.here.version += 1
            self.settle()
        return ["type", new, {"start": start, "end": end}, False]

    def settle(self) -> None:
        """Codes that rested on words alone that are gone go too."""
        text = self.here
        there = {word.number for word in text.words}
        text.seen = {
            code: Seen(one.words & there if one.words is not None else None, one.tier, one.version)
            for code, one in text.seen.items()
            if one.words is None or one.words & there
        }
        for claims in (text.claims, *(claims for _, claims in text.past)):
            for word in [word for word in claims if word[0] not in there]:
                del claims[word]
        for said in (text.said, *(said for said, _ in text.past)):
            for code, all_ in list(said.items()):
                for one in all_:
                    one.words = one.words and frozenset(word for word in one.words if word[0] in there)
                said[code] = [one for one in all_ if one.words is None or one.words]
                if not said[code]:
                    del said[code]

    def paste(self) -> list[Any]:
        """The next text, over all of the one before."""
        words = [self.word(self.lot.choice(WORDS)) for _ in range(self.lot.randint(0, 6))]
        return self.edit(words, 0, len(self.here.shown), len(BETWEEN.join(word.shown for word in words)))

    def insert(self) -> list[Any]:
        words, new = self.here.words, self.word(self.lot.choice(WORDS))
        place = self.lot.randint(0, len(words))
        start = len("".join(word.shown + BETWEEN for word in words[:place]))
        if place == len(words) and words:
            start -= len(BETWEEN)
        size = len(new.shown) + (len(BETWEEN) if words else 0)
        return self.edit([*words[:place], new, *words[place:]], start, start, size)

    def remove(self) -> list[Any]:
        words = self.here.words
        if not words:
            return []
        place = self.lot.randrange(len(words))
        start = len("".join(word.shown + BETWEEN for word in words[:place]))
        end = start + len(words[place].shown) + len(BETWEEN)
        if place == len(words) - 1:
            start, end = max(0, start - len(BETWEEN)), len(self.here.shown)
        return self.edit([*words[:place], *words[place + 1 :]], start, end, 0)

    def replace(self) -> list[Any]:
        """Some words are selected, and others written over them."""
        words = self.here.words
        if not words:
            return []
        first = self.lot.randrange(len(words))
        last = self.lot.randint(first, len(words) - 1)
        new = [self.word(self.lot.choice(WORDS)) for _ in range(self.lot.randint(1, 3))]
        start = len("".join(word.shown + BETWEEN for word in words[:first]))
        end = start + len(BETWEEN.join(word.shown for word in words[first : last + 1]))
        size = len(BETWEEN.join(word.shown for word in new))
        return self.edit([*words[:first], *new, *words[last + 1 :]], start, end, size)

    def grow(self) -> list[Any]:
        """A letter is written on to a word, or taken away again."""
        words = [copy.copy(word) for word in self.here.words if word.text != "🙂"]
        if len(words) != len(self.here.words) or not words:
            return []
        place = self.lot.randrange(len(words))
        word = words[place]
        end = len("".join(one.shown + BETWEEN for one in words[:place])) + len(word.shown)
        word.grown = not word.grown
        return self.edit(words, end, end, 1) if word.grown else self.edit(words, end - 1, end, 0)

    # --- what is found

    def answer(self) -> list[Any]:
        """Tier 1 for the text as it is, or tier 2 once that has come."""
        text = self.here
        if not text.words:
            return []
        tier = 2 if text.answered == text.version and self.lot.random() < 0.6 else 1
        text.answered = text.version
        rests: dict[str, list[tuple[int, Word]]] = {}
        start = 0
        undecided = {}
        for word in text.words:
            if word.text == UNDECIDED and not word.grown:
                undecided[f"?{word.number}"] = {"start": start, "end": start + len(word.shown)}
            code = CODES.get(word.text) if not word.grown else None
            if code:
                rests.setdefault(code, []).append((start, word))
            start += len(word.shown) + len(BETWEEN)
        entries, mentions = [], []
        for code, places in rests.items():
            for first, word in places:
                span = {"start": first, "end": first + len(word.shown)}
                codes = [code, *([PAIRS[code]] if code in PAIRS else [])]
                mentions.append(
                    {"span": span, "claim": "present", "certainty": "G", "side": None, "codes": codes, "reason": None}
                )
            evidence = {"start": places[0][0], "end": places[0][0] + len(places[0][1].shown)}
            pair = PAIRS.get(code)
            entries += [entry(code, pair, evidence), *([entry(pair, code, evidence)] if pair else [])]
        mentions += [
            {"span": span, "claim": "present", "certainty": "G", "side": None, "codes": [], "reason": "no-code-found"}
            for span in undecided.values()
        ]
        if tier == 1:
            text.seen = {code: one for code, one in text.seen.items() if not code.startswith("?")}
            for key in undecided:
                text.seen[key] = Seen(frozenset({int(key[1:])}), 1, text.version)
        found: dict[str, frozenset[int] | None] = {
            one["code"]: frozenset(word.number for _, word in rests[key])
            for key in rests
            for one in entries
            if one["code"] in (key, PAIRS.get(key))
        }
        whole = tier == 2 and self.lot.random() < 0.5
        self.keep({**found, **({OF_THE_WHOLE: None} if whole else {})}, tier)
        event = {"layer": tier, "codes": [*entries, *([entry(OF_THE_WHOLE, None, None)] if whole else [])]}
        return ["answer", {**event, **({"mentions": mentions} if tier == 1 else {})}]

    def keep(self, found: dict[str, frozenset[int] | None], tier: int) -> None:
        text = self.here
        for code, one in list(text.seen.items()):
            accepted = one.words is None and text.state(code) == "accepted"
            if (
                code not in found
                and not code.startswith("?")
                and not (one.version == text.version or one.tier > tier or accepted)
            ):
                del text.seen[code]
        for code, words in found.items():
            before = text.seen.get(code)
            text.seen[code] = Seen(words if words is not None or before is None else before.words, tier, text.version)

    # --- what is decided

    def card(self) -> str | None:
        cards = sorted(self.here.cards())
        return self.lot.choice(cards) if cards else None

    def named(self, code: str) -> str:
        """A code as the page is told of it: an undecided mention by its place."""
        if not code.startswith("?"):
            return code
        words = self.here.words
        place = next(place for place, word in enumerate(words) if word.number == int(code[1:]))
        return f"?{len(''.join(word.shown + BETWEEN for word in words[:place]))}"

    def place(self) -> list[Any]:
        """A code of the result is moved to the front, or to the second place."""
        codes = sorted({one.rstrip("GVAZ") for one in self.here.leaving()})
        if not codes or len(codes) != len(self.here.leaving()):
            return []
        return ["place", self.lot.choice(codes), self.lot.randrange(min(2, len(codes)))]

    def judge(self) -> list[Any]:
        code = self.card()
        if code is None:
            return []
        text, wanted = self.here, self.lot.choice(("accepted", "accepted", "accepted", "rejected", "open"))
        partner = text.partner(code)
        others = [one for one in text.cards() if one != code and text.state(one) == "accepted"]
        held = wanted != "accepted" and any(partner in (one, text.partner(one)) for one in others)
        if wanted == "accepted" and code.startswith("?") and not text.replaced(code):
            return ["judge", self.named(code), wanted]
        text.say({code: {"state": wanted}, **({partner: {"state": wanted}} if partner and not held else {})})
        return ["judge", self.named(code), wanted]

    def mark(self) -> list[Any]:
        code = self.card()
        letter = self.lot.choice(("G", "V", "A", "Z", ""))
        if code:
            self.here.say({code: {"certainty": letter}})
        return ["mark", self.named(code), letter] if code else []

    def join(self) -> list[Any]:
        code = self.card()
        partner = self.here.partner(code) if code else None
        if not partner:
            return []
        goes = self.lot.random() < 0.4
        self.here.say({partner: {"state": "accepted" if goes else "rejected"}})
        return ["join", code, goes]

    def put_instead(self) -> list[Any]:
        code, other = self.card(), self.lot.choice(CATALOG)
        if code is None:
            return []
        partner = self.here.partner(code)
        itself = self.lot.random() < 0.3 and not code.startswith("?")
        self.here.say(
            {
                code: {"state": "accepted", "instead": None if itself or other == code else other},
                **({partner: {"state": "accepted" if itself or other == code else "open"}} if partner else {}),
            }
        )
        return ["instead", self.named(code), {"code": code if itself else other, "title": "T", "terminal": True}]

    def add(self) -> list[Any]:
        code = self.lot.choice(CATALOG)
        if code in self.here.cards():
            self.here.say({code: {"state": "accepted", "instead": None}})
        else:
            self.here.say({code: {"state": "accepted", "by_hand": True}})
        return ["add", {"code": code, "title": "T", "terminal": True, "mark": ""}]

    def correct(self) -> list[Any]:
        """Words are said to be a mention that states something, one that does not, or none."""
        words = self.here.words
        if not words:
            return []
        place = self.lot.randrange(len(words))
        word, claim = words[place], self.lot.choice(("present", "excluded", None))
        start = len("".join(one.shown + BETWEEN for one in words[:place]))
        self.here.keep()
        for number in [one for one in self.here.claims if one[0] == word.number]:
            del self.here.claims[number]
        self.here.claims[word.number, word.grown] = claim
        return ["correct", {"start": start, "end": start + len(word.shown)}, claim]

    def undo(self) -> list[Any]:
        if self.here.past:
            self.here.said, self.here.claims = self.here.past.pop()
        return ["undo"]

    def next(self) -> list[Any]:
        if self.at + 1 < len(self.texts):
            self.at += 1
        elif self.here.words or self.here.said or self.here.claims:
            self.texts.append(Text())
            self.at += 1
        return ["next"]

    def back(self) -> list[Any]:
        self.at = max(0, self.at - 1)
        return ["back"]


def entry(code: str, pair: str | None, evidence: dict[str, int] | None) -> dict[str, Any]:
    return {"code": code, "description": code, "confidence": "high", "reasoning": "", "score": 0, "evidence": evidence,
            "assertion": "present", "terminal": True, "pair": pair, "probability": 0.9, "notes": [], "certainty": "G",
            "side": None, "missing": []}  # fmt: skip


def sequences(first: int, number: int) -> Iterator[tuple[list[list[Any]], list[tuple[str, list[str]]]]]:
    """(what is done, (text, what is to leave) after each step), one for each seed."""
    for seed in range(first, first + number):
        model = Model(seed)
        done, expected = [], []
        for _ in range(STEPS):
            done.append(model.step())
            expected.append((model.here.shown, model.here.leaving()))
        yield done, expected


def test_nothing_leaves_but_what_was_accepted_for_the_text(page: Page) -> None:
    made = list(sequences(0, SEQUENCES))
    answers = page.evaluate(JS, [done for done, _ in made])
    wrong, exports, steps = [], 0, 0
    for seed, ((done, expected), answered) in enumerate(zip(made, answers, strict=True)):
        for number, ((text, codes), answer) in enumerate(zip(expected, answered, strict=True)):
            steps += 1
            exports += bool(codes)
            ways = [sorted(answer.get(way, ["-"])) for way in ("line", "csv", "fhir")]
            if answer.get("text") != text or ways != [codes] * 3:
                wrong.append((seed, number, done[: number + 1], (text, codes), answer))
                break
    print(f"sequences {len(made)}, steps {steps}, of which with something to export {exports}, wrong {len(wrong)}")
    assert wrong[:1] == []
    assert exports > steps / 4
