"""Baseline of a language model behind any OpenAI-compatible server: one request a text, its answer as JSON.

Nothing of a model is trusted: an answer that is none, or not well formed, counts as an empty one and is counted. Nobody
is asked but the server that is named.
"""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

from .data import BenchmarkError, TaskRow, split_of
from .submission import CODE, faults_of_answer
from .tasks import CLAIMS, DEPTH, FIELDS

EMPTY: Final[Mapping[str, Mapping[str, Any]]] = {
    "notes": {"mentions": []},
    "extraction": {"fields": {}},
    "lies": {"supported": False},
}
_CODES: Final = (
    f"Gib die ICD-10-GM-Kodes (2026, endstellig) der Diagnosen an, die der Text für den Patienten nennt, die sicherste "
    f'zuerst, höchstens {DEPTH}. Antworte nur mit JSON: {{"codes": ["I10.90"]}}'
)
ASKED: Final = {
    "wordings": _CODES,
    "typed": "Der Text ist der Anfang eines Wortes oder Satzes. " + _CODES,
    "lists": _CODES,
    "codes": _CODES + " Verneintes und nur Befürchtetes gehört nicht dazu.",
    "notes": "Nenne jede Krankheit, jeden Befund, jede Verletzung und jedes Symptom des Textes, auch verneinte, "
    'wörtlich und in der Reihenfolge des Textes. Antworte nur mit JSON: {"words": ["Husten", "Fieber"]}',
    "claims": f"Sage zu jeder genannten Stelle, was der Text von ihr behauptet: {', '.join(CLAIMS)}. "
    'Antworte nur mit JSON, eine Angabe je Stelle: {"claims": ["present", "excluded"]}',
    "extraction": "Lies die Felder aus dem Brief, wörtlich, Tage als JJJJ-MM-TT; lass weg, was nicht dasteht. "
    'Antworte nur mit JSON: {"fields": {"patient.nachname": "Huber", "diagnosen": ["COPD"]}}. Felder: ',
    "lies": 'Belegt der Brief diesen Wert dieses Feldes? Antworte nur mit JSON: {"supported": true}',
}
"""The instruction of each task, in the language of the texts."""


@dataclass
class LanguageModelBaseline:
    """Asks a model of a server; `failed` counts answers that could not be used."""

    base_url: str
    model: str
    key: str = ""
    at_once: int = 4
    seconds: float = 120.0
    failed: int = 0

    def __call__(self, rows: Sequence[TaskRow]) -> Iterator[dict[str, Any]]:
        """An answer for each row, in order."""
        with ThreadPoolExecutor(self.at_once) as pool:
            for row, said in zip(rows, pool.map(self._asked, rows), strict=True):
                answer = _answer_of(row, said)
                self.failed += answer is None
                yield _empty(row) if answer is None else answer

    def _asked(self, row: TaskRow) -> str:
        task = split_of(row["id"])[0]
        messages = [{"role": "system", "content": ASKED[task]}, {"role": "user", "content": _shown(task, row)}]
        body = {"model": self.model, "messages": messages, "temperature": 0}
        headers = {"Content-Type": "application/json"}
        headers |= {"Authorization": f"Bearer {self.key}"} if self.key else {}
        url = self.base_url.rstrip("/") + "/chat/completions"
        request = urllib.request.Request(url, json.dumps(body).encode(), headers)  # noqa: S310 - the caller's own server
        try:
            with urllib.request.urlopen(request, timeout=self.seconds) as answer:  # noqa: S310
                return str(json.load(answer)["choices"][0]["message"]["content"])
        except (ValueError, KeyError, IndexError, TypeError, TimeoutError):
            return ""
        except urllib.error.HTTPError as error:
            if error.code >= 500:
                return ""
            raise BenchmarkError(f"{url} answered {error.code}; look at address, model and key") from None
        except (urllib.error.URLError, OSError) as error:
            raise BenchmarkError(f"{url} does not answer: {error}; look at the address") from None


def _shown(task: str, row: TaskRow) -> str:
    text = str(row["text"])
    if task == "claims":
        places = [f"{at}. {text[start:end]}" for at, (start, end) in enumerate(row["mentions"], 1)]
        return text + "\n\nStellen:\n" + "\n".join(places)
    if task == "extraction":
        return f"Felder: {', '.join(FIELDS[row['kind']])}\n\n{text}"
    return f"{row['path']}: {row['value']}\n\n{text}" if task == "lies" else text


def _answer_of(row: TaskRow, said: str) -> dict[str, Any] | None:
    """The answer in the words of a model; None where it is none of this task."""
    task = split_of(row["id"])[0]
    match = re.search(r"\{.*\}", said, re.DOTALL)
    try:
        found = json.loads(match[0]) if match else None
    except ValueError:
        return None
    if not isinstance(found, dict):
        return None
    if isinstance(found.get("codes"), list):
        found["codes"] = [code for code in found["codes"] if isinstance(code, str) and CODE.fullmatch(code)]
    if task == "notes" and isinstance(found.get("words"), list):
        found = {"mentions": list(_places(row["text"], found["words"]))}
    if task == "extraction" and isinstance(found.get("fields"), dict):
        found["fields"] = {path: one for path, one in found["fields"].items() if path in FIELDS[row["kind"]] and one}
    return None if any(faults_of_answer(found, row)) else found


def _places(text: str, words: Sequence[Any]) -> Iterator[list[int]]:
    """The places of words that were copied from a text, one after the other."""
    at = 0
    for one in words:
        start = text.find(str(one), at)
        if one and start >= 0:
            yield [start, start + len(str(one))]
            at = start + len(str(one))


def _empty(row: TaskRow) -> dict[str, Any]:
    task = split_of(row["id"])[0]
    return {"claims": ["present"] * len(row["mentions"])} if task == "claims" else dict(EMPTY.get(task, {"codes": []}))
