"""A sentence-transformers model of one's own: fine-tuned on the catalog's pairs, and asked for a text once in a build.

Fine-tuning brings two wordings of one code together.

Multiple negatives ranking loss (Henderson et al. 2017, arXiv 1705.00652), as sentence-transformers has it: the other
texts of a batch are the wrong answers. In each round every code gives one pair of its wordings, drawn anew, so that no
batch holds a code twice. What it brought is measured on synonyms that it was not shown: how often the nearest wording
has the right code.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from catalog_build.official import Synonym
from catalog_build.synonyms import fold_of
from clinical.progress import note, progress
from clinical.search import Encoder, TransformerEncoder, Vectors
from clinical.text import folded_words

SEED: Final = 2026
ROUNDS: Final = 4
"""Pairs of each code; more rounds take longer and can be asked for (`--rounds`)."""
BATCH: Final = 64
RATE: Final = 5e-4
"""For small models; a large one that is trained already forgets with it, and takes 2e-5 (`--rate`)."""
ASKED: Final = 2_000
"""Held-out synonyms that are asked before and after."""
TOGETHER: Final = 4_096
"""Texts of one call while encoding ahead: the bar moves every few seconds."""


class Tuned(NamedTuple):
    """Share of held-out synonyms whose nearest wording has their code, before and after; of how many."""

    before: float
    after: float
    queries: int


def tuned(
    model: Path, texts: Sequence[Synonym], fold: int, out: Path, rounds: int = ROUNDS, rate: float = RATE
) -> Tuned:
    """Train a copy of `model` on all texts but those of `fold` and save it to `out`. Raises SettingError for a folder
    that holds no model."""
    kept = [text for text in texts if fold_of(text) != fold]
    asked = [text for text in texts if fold_of(text) == fold][:ASKED]
    note(f"encoding {len(kept):,} wordings with {model.name} as it is, to know what training brings")
    before = _right(TransformerEncoder(model), kept, asked)
    drawn = pairs(kept, rounds)
    note(f"fine-tuning {model.name} on {len(drawn):,} pairs of wordings; {before:.1%} of {len(asked):,} right before")
    _train(model, drawn, len(drawn) // rounds, out, rate)
    note(f"encoding {len(kept):,} wordings with the model that was trained")
    return Tuned(before, _right(TransformerEncoder(out), kept, asked), len(asked))


def pairs(texts: Sequence[Synonym], rounds: int) -> list[tuple[str, str]]:
    """Of each code with two wordings a pair, round after round, in a fixed random order."""
    of: dict[str, list[str]] = {}
    for text in texts:
        of.setdefault(text.code, []).append(text.text)
    several = [own for own in of.values() if len(set(own)) > 1]
    chance, drawn = np.random.default_rng(SEED), []
    for _ in range(rounds):
        for place in chance.permutation(len(several)):
            one, other = chance.choice(len(several[place]), 2, replace=False)
            drawn.append((several[place][one], several[place][other]))
    return drawn


def _train(model: Path, drawn: Sequence[tuple[str, str]], codes: int, out: Path, rate: float) -> None:
    """Fine-tune a model on pairs of texts. `codes`: pairs of a round, which hold no code twice."""
    from datasets import Dataset
    from sentence_transformers import (
        SentenceTransformer,
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
    from torch.cuda import is_available
    from transformers import PrinterCallback
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # type: ignore[no-untyped-call] # of loading and saving: there is one of ours
    encoder: Any = SentenceTransformer(str(model.resolve()), local_files_only=True)
    columns = {"anchor": [one for one, _ in drawn], "positive": [other for _, other in drawn]}
    with tempfile.TemporaryDirectory(prefix="befund-tuning-") as folder:
        how = SentenceTransformerTrainingArguments(
            output_dir=folder,
            num_train_epochs=1,
            per_device_train_batch_size=min(BATCH, codes),
            learning_rate=rate,
            warmup_steps=10,
            seed=SEED,
            save_strategy="no",
            report_to=[],
            logging_strategy="no",
            dataloader_pin_memory=is_available(),
            disable_tqdm=True,
        )
        loss = MultipleNegativesRankingLoss(encoder)
        data = Dataset.from_dict(columns)
        trainer = SentenceTransformerTrainer(
            model=encoder, args=how, train_dataset=data, loss=loss, callbacks=[_told()]
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    encoder.save(str(out))


def _told() -> Any:
    """Our bar of the training, in the trainer's place: it draws its own into a log as well."""
    from transformers import TrainerCallback

    class Told(TrainerCallback):
        def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.bar = progress(None, "fine-tuning", "steps", total=state.max_steps)

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.bar.update()

        def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.bar.close()

    return Told()


def _right(encoder: Encoder, kept: Sequence[Synonym], asked: Sequence[Synonym]) -> float:
    if not asked:
        return float("nan")
    table = Remembered(encoder).encode([text.text for text in kept])
    codes = np.array([text.code for text in kept])
    found = codes[(encoder.encode([text.text for text in asked]) @ table.T).argmax(axis=1)]
    return float(np.mean(found == np.array([text.code for text in asked])))


class Remembered:
    """The encoder port around another one, with its rows, for the time of a build: a model costs a call more than a
    row, and fitting asks for the same words thousands of times, a few at a time. Never used where requests are served:
    it keeps texts."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder, self.name, self.dimensions = encoder, encoder.name, encoder.dimensions
        self._rows: dict[str, Vectors] = {}

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Shape (texts, dimensions), in their order; new ones in calls of TOGETHER, with a bar where there are more."""
        new = list(dict.fromkeys(text for text in texts if text not in self._rows))
        starts = range(0, len(new), TOGETHER)
        for start in progress(starts, "wordings encoded", "batches") if len(starts) > 1 else starts:
            some = new[start : start + TOGETHER]
            self._rows |= zip(some, self.encoder.encode(some), strict=True)
        rows = [self._rows[text] for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self.dimensions), dtype=np.float32)

    def ahead(self, texts: Iterable[str]) -> None:
        """Encode texts as search asks for them, folded, and their words."""
        spelled = [folded_words(text) for text in texts]
        asked = dict.fromkeys(" ".join(own) for own in spelled if own)
        asked |= dict.fromkeys(word for own in spelled for word in own)
        some = [text for text in asked if text not in self._rows]
        for start in progress(range(0, len(some), TOGETHER), "words and texts encoded", "batches"):
            self.encode(some[start : start + TOGETHER])
