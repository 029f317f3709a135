"""Nothing that outlives a request holds its words; loaded objects are left alone by the garbage collector."""

import asyncio
import operator
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from clinical.claims import Reading
from clinical.coding.case import locate
from clinical.contract import BulkText, ExtractRequest, ResearchRequest, StatusEvent, Zuweisung
from clinical.letters import extract, extract_by_rules, ground
from clinical.letters.extraction import Draft
from clinical.llm import Form
from clinical.loaded import MANY
from clinical.reading.index import SearchIndex
from clinical.settings import ROOT
from clinical.sse import Decoder, encode
from tests.caches import caches, kept_by_caches
from tests.fakes import FakeModel

TEXT = "Frau Quendolina Zwirnwald, geb. 03.04.1951\nDiagnosen:\n- Xanthoplexie rechts\n- kein Murgelfieber\nZ. n. Vlorp"
ANSWER = {
    "patient": {"nachname": "Zwirnwald", "vorname": "Quendolina", "geburtsdatum": "1951-04-03"},
    "diagnosen": ["Xanthoplexie rechts", "Murgelfieber", "Z. n. Vlorp 2011"],
}


def sizes_of_caches() -> dict[str, int]:
    """Entries of every process-wide cache of functions of ours."""
    return {
        f"{one.__module__}.{one.__qualname__}": one.cache_info().currsize
        for one in caches()
        if one.__module__.startswith("clinical")
    }


def use(index: SearchIndex, mark: str) -> None:
    text = TEXT.replace("Murgel", mark).replace("Vlorp", f"Vlorp{mark}")
    reading = Reading.of(text)
    reading.claim(60, 70)
    ground(ANSWER | {"diagnosen": [f"Vlorp{mark}", f"Anders{mark}leiden"]}, text, Zuweisung)
    index.search(text, 5)


def test_no_process_wide_cache_grows_with_the_words_of_a_text(index: SearchIndex):
    use(index, "Erstens")
    before = sizes_of_caches()
    assert len(before) > 10
    use(index, "Zweitens")
    assert sizes_of_caches() == before


@dataclass(frozen=True)
class Words:
    """Invented words of one letter; the values of its model's answer are made of them."""

    last: str
    first: str
    born: str
    case: str
    place: str
    doctor: str
    mail: str
    title: str
    phone: str

    def letter(self) -> str:
        """A letter of a form: the reader finds the patient by its own ways, grounding each value by another of its."""
        lines = (
            f"Klinik {self.place}", f"Seestr. 5, 4711 {self.place}", f"Tel. {self.phone}-DW", self.scanned_mail, "",
            f"Herrn Dr. rned. {self.doctor}", "Weg 3", f"4712 {self.place}", "", " ".join(self.title), "",
            f"Betreff: {self.last}, geb. {self.born}", f"Anna {self.last}",
            f"Fallnr. {self.case[:3].lower()} {self.case[3:]}", f"Mitglied {self.serial}", "",
            "Sehr geehrter Herr Kollege,", f"wir berichten über Frau {self.first} {self.last},",
            f"4712 {self.place}, {self.last}, {self.born}.", f"Frau Dr. {self.last.upper()} wurde entlassen.", "",
            "Diagnosen:", f"- {' '.join(self.last.upper())}", "", "Mit freundlichen Grüssen", f"Dr. med. {self.doctor}",
        )  # fmt: skip
        return "\n".join(lines)

    @property
    def scanned_mail(self) -> str:
        return self.mail.replace("m", "rn")

    @property
    def serial(self) -> str:
        """An Austrian number of the insured: four digits and the day of birth."""
        day, month, year = self.born.split(".")
        return f"4711 {day}{month}{year[2:]}"

    def answer(self) -> dict[str, object]:
        doctor = {"name": f"Dr. rned. {self.doctor}", "email": self.mail, "telefon": f"{self.phone}-DW"}
        patient = {"nachname": self.last, "vorname": self.first, "fallnummer": self.case, "strasse": "Seestr. l5"}
        return {"dokument": {"typ": self.title}, "patient": patient, "absender": doctor, "empfaenger": doctor}

    def used(self) -> Iterator[str]:
        """Make each answer with it that a request may have."""
        for kind, document in (("zuweisung", "Zuweisung"), ("arztbrief", "Arztbrief")):
            request = ExtractRequest(document_type=kind, text=self.letter())
            model = FakeModel(**{document: self.answer()})
            for answer in (extract(request, model), extract_by_rules(request)):
                yield asyncio.run(answer).model_dump_json()
        assert locate(self.letter(), f"frau  {self.first} {self.last.lower()}")


ONE = Words(
    "Zwirnwald", "Quendolina", "03.04.1951", "QX77418", "Murgelau", "Vlorpinger", "qum.vlorp@murgel.de",
    "Xanthobericht", "0417 30l3",
)  # fmt: skip
OTHER = Words(
    "Knorzbach", "Philomeda", "17.12.1948", "WZ90263", "Fludernau", "Brimsdorfer", "tym.brims@fluder.de",
    "Yggabericht", "0528 41l6",
)  # fmt: skip


def test_no_pattern_that_python_keeps_is_made_of_a_letter():
    kept = getattr(re, "_cache", None)
    if kept is None:
        pytest.skip("this Python keeps its compiled patterns elsewhere")
    re.purge()
    answers = [*ONE.used()]
    before = set(kept)
    assert 0 < len(before) < 400, "fewer than Python keeps, so that none has been dropped"
    answers += OTHER.used()
    assert [key for key in kept if key not in before] == [], "patterns that depend on the words of the letter"
    for words in (ONE, OTHER):
        for word in (words.last, words.first, words.case, words.place, words.doctor, words.title, words.mail[:4]):
            assert [key for key in kept if word.lower() in str(key[1]).lower()] == []
            assert kept_by_caches(word) == []
    for words, (by_model, by_rules) in ((ONE, answers[:2]), (OTHER, answers[4:6])):
        for value in (words.last, words.case, words.mail, f"rned. {words.doctor}", words.phone, words.title):
            assert value in by_model, "grounding looked for it and found it"
        assert words.last in by_rules
        assert words.serial in by_rules


class Plain(BaseModel):
    text: str


class Filled(Form):
    text: str


class Drafted(Draft):
    text: str = ""


TEXT_OF = operator.attrgetter("text")


def twice(form: type[BaseModel], body: str, value: Callable[[Any], str] = TEXT_OF) -> tuple[str, str]:
    """A value of a body that is read two times."""
    return value(form.model_validate_json(body)), value(form.model_validate_json(body))


def test_no_string_of_a_body_is_kept_by_pydantic():
    first, second = twice(Plain, '{"text": "Zwirnwald"}')
    assert first is second, "it keeps short strings by its default: without that, this test says nothing"
    read = (
        twice(BulkText, '{"text": "Zwirnwald"}'),
        twice(ExtractRequest, '{"text": "Zwirnwald", "document_type": "arztbrief"}'),
        twice(ResearchRequest, '{"query": "Zwirnwald"}', operator.attrgetter("query")),
        twice(Filled, '{"text": "Zwirnwald"}'),
        twice(Drafted, '{"text": "Zwirnwald"}'),
        twice(Zuweisung, '{"patient": {"nachname": "Zwirnwald"}}', operator.attrgetter("patient.nachname")),
    )
    for first, second in read:
        assert first == second == "Zwirnwald"
        assert first is not second


def test_no_event_read_back_is_kept_by_pydantic():
    events = [*Decoder().feed(encode(StatusEvent(status="error", message="Zwirnwald")) * 2)]
    assert events[0] == events[1]
    assert events[0].message is not events[1].message


SAID = """
import gc
from clinical.loaded import keep_loaded
keep_loaded()
print(gc.get_freeze_count() > len(gc.get_objects()), gc.get_threshold()[0])
"""


def test_what_is_loaded_is_gone_through_no_more() -> None:
    said = subprocess.run([sys.executable, "-c", SAID], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["True", str(MANY)]


KEPT = """
import gc
from clinical.loaded import loading
with loading(keep=True):
    assert not gc.isenabled()
    many = [[] for _ in range(100_000)]
print(gc.isenabled(), gc.get_freeze_count() > len(many), gc.get_stats()[2]["collections"])
"""
WEBAPP = """
import gc
import webapp
print(gc.isenabled(), gc.get_freeze_count() > 50_000, gc.get_stats()[2]["collections"])
"""
WORKER = """
import asyncio, gc, os
folder = os.environ["PROMETHEUS_MULTIPROC_DIR"]
os.environ["_BENTOS_SERVER_FOLDER"] = f"{os.getppid()}:{folder}"
from bentos.service import GENERATION
assert not gc.isenabled()
async def run():
    async with GENERATION._alive(GENERATION):
        print(gc.isenabled(), gc.get_freeze_count() > 50_000, gc.get_stats()[2]["collections"] < 2)
asyncio.run(run())
"""


@pytest.mark.parametrize(("code", "looks"), [(KEPT, "0"), (WEBAPP, "0"), (WORKER, "True")])
def test_nothing_is_looked_for_while_a_server_loads_and_is_again_from_then_on(
    tmp_path: Path, code: str, looks: str
) -> None:
    given = {"BEFUND_ENV": "development", "BEFUND_VAR": str(tmp_path), "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    given |= {"BEFUND_SECRET_KEY": "x" * 40, "BEFUND_API_DATABASE_URL": f"sqlite:///{tmp_path}/api.sqlite"}
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **given}
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["True", "True", looks], done.stderr
