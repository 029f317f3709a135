"""Invented fields of a letter, a list and a list of objects, read from a letter as the text API serves them."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from clinical.contract import Arztbrief, ExtractRequest, ExtractResponse
from clinical.contract.shared import Frozen
from clinical.letters import FIELDS, Field, extract
from clinical.letters.fields import DOCUMENTS
from tests.fakes import FakeModel

LETTER = """\
Spital Seeblick

Herr Beat Muster, geb. 01.02.1950

Diagnosen:
- Arterielle Hypertonie

Medikation:
- Ramipril 5 mg 1-0-0

Allergien: Penicillin, Jod
Implantate: Herzschrittmacher Modell A2, eingesetzt am 10.03.2024
Operationen: keine
"""


class Implantat(Frozen):
    bezeichnung: str | None = None
    datum: str | None = None


class Pass(Arztbrief):
    """An Arztbrief with a list and a list of objects more."""

    allergien: tuple[str, ...] = ()
    implantate: tuple[Implantat, ...] = ()


MORE = (
    Field("allergien", "statement", "block", "allergien", "eine Allergie je Eintrag."),
    Field("implantate.bezeichnung", "verbatim", "block", "implantate", required=True, taken_for="entry"),
    Field("implantate.datum", "day", "neighbourhood"),
)
ANSWER = {
    "allergien": ["Penicillin", "Latex", "Ramipril 5 mg 1-0-0"],
    "implantate": [
        {"bezeichnung": "Herzschrittmacher Modell A2", "datum": "2024-03-10"},
        {"bezeichnung": "Hüftprothese", "datum": "2024-03-10"},
        {"bezeichnung": "Herzschrittmacher Modell A2", "datum": "2024-03-11"},
    ],
}


def served(text: str = LETTER) -> tuple[ExtractResponse, FakeModel]:
    """A letter read with the invented fields: the answer as it is served, and the model that was asked."""
    model = FakeModel(Pass=ANSWER)
    request = ExtractRequest(document_type="arztbrief", text=text, evidence=True)
    fields = {**FIELDS, **{row.path: row for row in MORE}}
    answer = extract(request, model, documents={**DOCUMENTS, "arztbrief": Pass}, fields=fields)
    with ThreadPoolExecutor(1) as pool:  # a browser's event loop may run in this thread
        return pool.submit(asyncio.run, answer).result(), model
