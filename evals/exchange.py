"""A language model behind files: questions are written, somebody answers, the same command goes on.

`python -m evals coding --tier N --exchange DIR` asks this model. A question without an answer is written as
`<hash>.prompt.txt` (everything a model would be sent, word for word), and the call fails; put the model's words,
nothing else, into `<hash>.answer.json` beside it and run the command again, until no question is left. `python -m evals
letters` asks it too (`--write-prompts DIR`, then `--answers DIR`): there the files have the names of the letters.

`python -m evals model` asks a real one and keeps its answers (`KeptModel`), so that a run that was cut goes on.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from clinical.errors import ModelUnavailable, SettingError
from clinical.listed import read_listed
from clinical.llm import Completion, JsonSchema, LanguageModel, Limits, Message

CHARACTERS_PER_TOKEN: Final = 4
"""Of German text, estimated: whoever answered may not have counted, and what is counted shall not be zero."""
DIGITS: Final = 16
"""Of a question's SHA-256, in the names of its files."""


class ExchangedModel:
    """A LanguageModel whose answers lie in a folder; questions that have none are written there."""

    name = "answers-from-files"
    busy = False

    def __init__(self, folder: Path, names: Mapping[str, str] | None = None) -> None:
        """`names`: of questions, by the first words of the user in them; any other is called by its hash."""
        self._folder, self._names = folder, names or {}

    async def complete(self, messages: Sequence[Message], *, schema: JsonSchema | None, limits: Limits) -> Completion:
        """The answer to exactly this question. Raises ModelUnavailable where there is none yet."""
        asked, user = prompt_of(messages, schema), next(one.content for one in messages if one.role == "user")
        name = self._names.get(user) or named(asked)
        answer = f"{name}.answer.json"
        if not (self._folder / answer).is_file():
            self._folder.mkdir(parents=True, exist_ok=True)
            form = f"### {schema.name}\n\n" if schema else ""
            (self._folder / f"{name}.prompt.txt").write_text(form + asked, "utf-8")
            raise ModelUnavailable(f"question {name} is not answered", answer, "answer it and run again")
        text = read_listed(self._folder, answer)
        return Completion(text, estimated_tokens(asked), estimated_tokens(text))

    async def health(self) -> bool:
        """Always there."""
        return True

    def unanswered(self) -> list[str]:
        """The questions of the folder that have no answer, by name."""
        asked = {path.name.removesuffix(".prompt.txt") for path in self._folder.glob("*.prompt.txt")}
        return sorted(asked - {path.name.removesuffix(".answer.json") for path in self._folder.glob("*.answer.json")})


@dataclass(frozen=True, slots=True)
class TimedCompletion(Completion):
    """An answer with the seconds that it took when it was asked for."""

    seconds: float = 0.0


class ModelInFront:
    """Base of a LanguageModel in front of another: name, business and health are those of the other."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def busy(self) -> bool:
        return self._model.busy

    async def health(self) -> bool:
        """As the model behind."""
        return await self._model.health()


class AnswerFile:
    """Answers kept in a file as they come: a line of JSON for each, under the hash of its question, without a question.

    The first line, `about`, says whose answers they are. A line that was torn where a run was cut is lost.
    """

    def __init__(self, file: Path, about: Mapping[str, Any], *, begun_anew: bool = False) -> None:
        """`begun_anew`: a file with the answers of somebody else is emptied, and else refused with a SettingError."""
        self.known = dict[str, Any]()
        lines = file.read_text("utf-8").split("\n") if file.is_file() else []
        head = json.dumps(dict(about), sort_keys=True)
        if lines and lines[0] != head:
            if not begun_anew:
                found = f"{file} holds the answers of {lines[0]:.200}"
                raise SettingError(found, head, "name another folder, one for each model and way of asking it")
            lines = []
        for line in lines[1:]:
            with suppress(ValueError, TypeError):
                name, *answer = json.loads(line)
                self.known[name] = answer
        file.parent.mkdir(parents=True, exist_ok=True)
        self._file = file.open("a" if lines else "w", encoding="utf-8")
        if not lines:
            self._file.write(head + "\n")
        elif lines[-1]:
            self._file.write("\n")

    def keep(self, question: str, *answer: Any) -> None:
        """One answer; from a thread that waited while the file was closed, nothing."""
        self.known[question] = answer
        if not self._file.closed:
            self._file.write(json.dumps([question, *answer], ensure_ascii=False) + "\n")
            self._file.flush()

    def close(self) -> None:
        """End the file."""
        self._file.close()


class KeptModel(ModelInFront):
    """A LanguageModel whose answers are kept in a file as they come, with tokens and seconds; a question that has its
    answer there is not asked again. Calls that failed and empty answers are. A model's words may repeat its text.
    """

    def __init__(self, model: LanguageModel, file: Path, about: Mapping[str, Any]) -> None:
        """Raises SettingError where the file holds the answers of another model, or of this one asked otherwise."""
        super().__init__(model)
        self._answers = AnswerFile(file, about)
        self.kept = len(self._answers.known)

    async def complete(self, messages: Sequence[Message], *, schema: JsonSchema | None, limits: Limits) -> Completion:
        """The kept answer to exactly this question under these limits, or the model's."""
        asked = f"{prompt_of(messages, schema)}\n### {limits.max_tokens} tokens, temperature {limits.temperature}"
        if (known := self._answers.known.get(name := named(asked))) is not None:
            return TimedCompletion(*known)
        began = time.perf_counter()
        said = await self._model.complete(messages, schema=schema, limits=limits)
        took = round(time.perf_counter() - began, 4)
        answer = TimedCompletion(said.text, said.tokens_in, said.tokens_out, said.truncated, took)
        if said.text.strip():
            self._answers.keep(name, *astuple(answer))
        return answer

    def close(self) -> None:
        """End the file."""
        self._answers.close()


Item = TypeVar("Item")
Found = TypeVar("Found")


async def gathered(
    work: Callable[[Item], Awaitable[Found]], items: Sequence[Item], at_once: int, bar: Any
) -> list[Found]:
    """The work on every item, so many at once, in the order of the items."""
    room = asyncio.Semaphore(at_once)

    async def one(item: Item) -> Found:
        async with room:
            found = await work(item)
        bar.update()
        return found

    with bar:
        return list(await asyncio.gather(*map(one, items)))


def named(asked: str) -> str:
    """The name of a question: the beginning of its SHA-256."""
    return hashlib.sha256(asked.encode()).hexdigest()[:DIGITS]


def prompt_of(messages: Sequence[Message], schema: JsonSchema | None) -> str:
    """All that a model is given: every message, and the schema that its answer is bound to."""
    said = [f"### {message.role}\n{message.content}\n" for message in messages]
    if schema is not None:
        said.append(f"### JSON schema of the answer\n{json.dumps(schema.schema, ensure_ascii=False)}\n")
    return "\n".join(said)


def estimated_tokens(text: str) -> int:
    """Tokens of a text, for whoever answered without counting them."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)
