"""A language model behind files: questions are written, somebody answers, the same command goes on.

`python -m evals coding --tier N --exchange DIR` asks this model. A question without an answer is written as
`<hash>.prompt.txt` (everything a model would be sent, word for word), and the call fails; put the model's words,
nothing else, into `<hash>.answer.json` beside it and run the command again, until no question is left.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from clinical.errors import ModelUnavailable
from clinical.llm import Completion, JsonSchema, Limits, Message

CHARACTERS_PER_TOKEN: Final = 4
"""Of German text, estimated: whoever answered may not have counted, and what is counted shall not be zero."""
DIGITS: Final = 16
"""Of a question's SHA-256, in the names of its files."""


class ExchangedModel:
    """A LanguageModel whose answers lie in a folder; questions that have none are written there."""

    name = "answers-from-files"
    busy = False

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder

    async def complete(self, messages: Sequence[Message], *, schema: JsonSchema | None, limits: Limits) -> Completion:
        """The answer to exactly this question. Raises ModelUnavailable where there is none yet."""
        asked = prompt_of(messages, schema)
        name = hashlib.sha256(asked.encode()).hexdigest()[:DIGITS]
        answer = self._folder / f"{name}.answer.json"
        if not answer.is_file():
            form = f"### {schema.name}\n\n" if schema else ""
            (self._folder / f"{name}.prompt.txt").write_text(form + asked, "utf-8")
            raise ModelUnavailable(f"question {name} is not answered", f"{answer.name}", "answer it and run again")
        text = answer.read_text("utf-8")
        return Completion(text, estimated_tokens(asked), estimated_tokens(text))

    async def health(self) -> bool:
        """Always there."""
        return True

    def unanswered(self) -> list[str]:
        """The questions of the folder that have no answer, by name."""
        asked = {path.name.removesuffix(".prompt.txt") for path in self._folder.glob("*.prompt.txt")}
        return sorted(asked - {path.name.removesuffix(".answer.json") for path in self._folder.glob("*.answer.json")})


def prompt_of(messages: Sequence[Message], schema: JsonSchema | None) -> str:
    """All that a model is given: every message, and the schema that its answer is bound to."""
    said = [f"### {message.role}\n{message.content}\n" for message in messages]
    if schema is not None:
        said.append(f"### JSON schema of the answer\n{json.dumps(schema.schema, ensure_ascii=False)}\n")
    return "\n".join(said)


def estimated_tokens(text: str) -> int:
    """Tokens of a text, for whoever answered without counting them."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)
