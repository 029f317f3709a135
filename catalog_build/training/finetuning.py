"""Fine-tune a sentence-transformers model on the catalog's pairs: two wordings of one code come together.

Multiple negatives ranking loss (Henderson et al. 2017, arXiv 1705.00652), as sentence-transformers has it: the other
texts of a batch are the wrong answers. In each round every code gives one pair of its wordings, drawn anew, so that no
batch holds a code twice. What it brought is measured on synonyms that it was not shown: how often the nearest wording
has the right code.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from catalog_build.official import Synonym
from catalog_build.synonyms import fold_of
from catalog_build.training.remembered import Remembered
from clinical.progress import note, progress
from clinical.search import Encoder, TransformerEncoder

SEED: Final = 2026
ROUNDS: Final = 4
"""Pairs of each code; more rounds take longer and can be asked for (`--rounds`)."""
BATCH: Final = 64
RATE: Final = 5e-4
"""For small models; a large one that is trained already forgets with it, and takes 2e-5 (`--rate`)."""
ASKED: Final = 2_000
"""Held-out synonyms that are asked before and after."""


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
