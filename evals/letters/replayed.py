"""Prompts for a language model that is not at hand, and its answers behind our grounding.

`python -m evals letters FILE TEXTS --write-prompts DIR` writes what would be sent for each letter, word for word;
`--answers DIR` plays what was answered through extraction, as if the model had been asked. A folder holds
`<id>.prompt.txt` (to read and to answer) and `<id>.answer.json` (the model's words, nothing else).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from clinical.contract import ExtractRequest
from clinical.errors import ModelMalformed
from clinical.letters import DOCUMENTS, messages_for, schema_of
from clinical.listed import read_listed
from clinical.llm import Completion, JsonSchema, Limits, Message
from evals.exchange import estimated_tokens, prompt_of


class ReplayedModel:
    """A LanguageModel that says what was written down: answers by the user message that asked for them."""

    name = "replayed-answers"
    busy = False

    def __init__(self, answers: Mapping[str, str]) -> None:
        self.answers = answers

    async def complete(self, messages: Sequence[Message], *, schema: JsonSchema | None, limits: Limits) -> Completion:
        """The answer as it was given, also when asked to mend it. ModelMalformed where there is none."""
        asked = next(message.content for message in messages if message.role == "user")
        if asked not in self.answers:
            raise ModelMalformed("there is no answer to this question", f"{len(self.answers)} answers")
        text = self.answers[asked]
        return Completion(text, estimated_tokens(asked), estimated_tokens(text))

    async def health(self) -> bool:
        """Always there."""
        return True


def write_prompts(requests: Mapping[str, ExtractRequest], folder: Path) -> None:
    """One `<id>.prompt.txt` for each letter. Raises OSError where the folder cannot be written."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, request in requests.items():
        messages = messages_for(request.document_type, request.text)
        asked = prompt_of(messages, schema_of(DOCUMENTS[request.document_type]))
        (folder / f"{name}.prompt.txt").write_text(asked, "utf-8")


def answered(names: Iterable[str], folder: Path) -> list[str]:
    """The letters for which the folder holds an answer, in their order."""
    return [name for name in names if (folder / f"{name}.answer.json").is_file()]


def replayed(requests: Mapping[str, ExtractRequest], folder: Path) -> ReplayedModel:
    """The model that gives the folder's answers to these letters."""
    return ReplayedModel(
        {
            messages_for(request.document_type, request.text)[-1].content: read_listed(folder, f"{name}.answer.json")
            for name, request in requests.items()
        }
    )
