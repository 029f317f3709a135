"""Past diseases of a text, and the wordings of the catalog for what is over.

"Z. n. Apoplex", "Schlaganfall vor drei Jahren", "früherer Herzinfarkt": the classification has words and codes of
their own for what is over (Z. n., alter, Folgen, in der Eigenanamnese), and a disease that is over is not coded as one
that is there. Such a mention is therefore also searched with its sign. That it is over says its claim
(`clinical.claims.Reading`).
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

from clinical.claims import Claim
from clinical.icd import Catalog
from clinical.search import Ints, Wordings

_PAST_WORDING: Final = re.compile(
    r"\bz\.\s?n\.|\bzustand\b|\balte[rsn]?\b|\bfolge(?:n|zustand)|folgen\b|eigenanamnese|\bresiduen|\bspät"
    r"|\bfrühere|\bverlust\b|\bvorhandensein\b|\berworbenes fehlen\b",
    re.I,
)
_SIGNS: Final = (
    *("z.", "zustand", "alte", "folge", "eigenanamnese", "residuen", "spät", "frühere", "verlust", "vorhandensein"),
    "erworbenes fehlen",
)
"""One of them is in every wording that the pattern finds something in; looking for them takes a sixth of its time."""
UNREAD: Final = -1
"""Mark of a wording not tested yet."""
REACH: Final = 40
"""Code points from a mention within which the sign of the past is searched along with it."""


def with_sign(text: str, start: int, end: int, claim: Claim) -> str:
    """The mention from `start` to `end` with the sign of the past that stands in it or beside it ("Z. n. Apoplex");
    empty where its claim is not that it is past."""
    if not claim.is_past:
        return ""
    sign = next((one for one in claim.signs if one.axis == "temporality"), None)
    if sign is not None and sign.start >= start - REACH and sign.end <= end + REACH:
        start, end = min(start, sign.start), max(end, sign.end)
    return text[start:end].strip()


def says_past(wording: str) -> bool:
    """True if a wording of the catalog means a past disease or state."""
    small = wording.lower()
    return any(sign in small for sign in _SIGNS) and _PAST_WORDING.search(wording) is not None


class PastWordings:
    """Wordings of a catalog that mean something past, by themselves or by the title of their code. Each wording is
    tested once and the result kept."""

    def __init__(self, catalog: Catalog, wordings: Wordings) -> None:
        self._catalog, self._wordings = catalog, wordings
        self._known = np.full(len(wordings), UNREAD, dtype=np.int8)  # 1 where it means what is over, else 0

    def among(self, wordings: Ints, codes: Ints) -> NDArray[np.bool_]:
        """Of each wording (n,) with its code (n,)."""
        for at in np.flatnonzero(self._known[wordings] == UNREAD).tolist():
            wording, title = int(wordings[at]), self._catalog.codes[int(codes[at])].title
            self._known[wording] = says_past(self._wordings.text(wording)) or says_past(title)
        found: NDArray[np.bool_] = self._known[wordings] == 1
        return found
