"""The same query as somebody else types it: one slip of the keyboard, or another accepted spelling."""

from __future__ import annotations

import random
import re
import string

_UMLAUTS = (("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("Ä", "Ae"), ("Ö", "Oe"), ("Ü", "Ue"), ("ß", "ss"))


def typo(query: str, chance: random.Random) -> str:
    """One random edit of a letter inside a word: swapped with the next, dropped, doubled, or replaced."""
    places = [match.start() for match in re.finditer(r"[^\W\d_](?=[^\W\d_])", query)]
    if not places:
        return query
    at = chance.choice(places)
    return chance.choice(
        (
            query[:at] + query[at + 1] + query[at] + query[at + 2 :],
            query[:at] + query[at + 1 :],
            query[: at + 1] + query[at:],
            query[:at] + chance.choice(string.ascii_lowercase) + query[at + 1 :],
        )
    )


def spelling(query: str, chance: random.Random) -> str:
    """Umlauts written out, and c for k or z, k or z for c, each letter by chance."""
    for umlaut, written in _UMLAUTS:
        query = query.replace(umlaut, written)
    return "".join(_other_letter(query, at, chance) for at in range(len(query)))


def _other_letter(query: str, at: int, chance: random.Random) -> str:
    """Karzinom, Carcinom: c before a, o, u, l, r is also k; c before e, i, y is also z; and the other way round."""
    letter, following = query[at], query[at + 1 : at + 2].lower()
    if letter.lower() not in "ckz" or following in "hkszt" or query[at - 1 : at].lower() in "sct":
        return letter
    hard = following in "aoulr"
    other = {"c": "k" if hard else "z", "k": "c", "z": "c"}[letter.lower()]
    fits = following != "" and (hard or (following in "eiyäö" and letter.lower() != "k"))
    if not fits or chance.random() < 0.5:
        return letter
    return other.upper() if letter.isupper() else other
