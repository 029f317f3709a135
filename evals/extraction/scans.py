"""A text as a scan gives it: characters mixed up, spaces doubled, words broken at line ends, at three strengths."""

from __future__ import annotations

import random

LOOKALIKES = (("0", "O"), ("1", "l"), ("l", "1"), ("O", "0"), ("rn", "m"), ("m", "rn"), ("I", "l"))
RATES = {1: 0.003, 2: 0.01, 3: 0.03}
"""Share of places at which a scan goes wrong, by strength."""


def scanned(text: str, strength: int, seed: int) -> str:
    """The text as OCR gives it: look-alikes, doubled spaces, words broken at line ends, typographic dashes."""
    chance = random.Random(seed)  # noqa: S311 - reproducible, not secret
    rate = RATES[strength]
    out, i = [], 0
    while i < len(text):
        if chance.random() < rate:
            pair = next((p for p in LOOKALIKES if text.startswith(p[0], i) and _in_context(text, i, p)), None)
            if pair:
                out.append(pair[1])
                i += len(pair[0])
                continue
            if text[i] == " ":
                out.append("  ")
                i += 1
                continue
            if _may_break(text, i):
                out.append(text[i] + "-\n")
                i += 1
                continue
        out.append("–" if text[i] == "-" and chance.random() < rate else text[i])
        i += 1
    return "".join(out)


def _in_context(text: str, i: int, pair: tuple[str, str]) -> bool:
    """Among digits, a digit turns into an alphabetic character; within a word, that into a digit or another one."""
    before, after = text[max(0, i - 1) : i], text[i + len(pair[0]) : i + len(pair[0]) + 1]
    if pair[0] in ("0", "1"):
        return before.isdigit() or after.isdigit()
    return before.isalpha() and after.isalpha()


def _may_break(text: str, i: int) -> bool:
    around = text[max(0, i - 3) : i + 5]
    return len(around) == 8 and around.isalpha() and around[4:].islower()
