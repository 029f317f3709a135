"""The options of `vllm serve` that an operator may add, and the refusal of all others.

A list of what is refused would be passed: vLLM's parser reads `_` as `-`, takes any beginning that is unambiguous
(`--enable-prefix`), short forms and whole files (`--config`), and each version adds options that log, keep or send
contents. Hence the list of what is allowed, by full names; `tests/bentos/vllm_options.txt` holds all of the pinned one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

SWITCHES = frozenset(
    {"--async-scheduling", "--disable-cascade-attn", "--disable-custom-all-reduce", "--disable-log-stats"}
    | {"--disable-sliding-window", "--enable-chunked-prefill", "--enable-expert-parallel", "--enable-lora"}
    | {"--enforce-eager", "--language-model-only", "--skip-mm-profiling", "--use-tqdm-on-load"}
)
"""Options without a value; `--no-...` is allowed too."""

VALUES = frozenset(
    # what is loaded
    {"--chat-template", "--chat-template-content-format", "--config-format", "--download-dir", "--dtype"}
    | {"--generation-config", "--load-format", "--lora-modules", "--max-lora-rank", "--max-loras", "--model-impl"}
    | {"--max-parallel-loading-workers", "--quantization", "--reasoning-parser", "--revision"}
    | {"--safetensors-load-strategy", "--seed", "--tokenizer", "--tokenizer-mode", "--tokenizer-revision"}
    # how fast it is and what it takes
    | {"--attention-backend", "--block-size", "--cpu-offload-gb", "--kv-cache-dtype", "--kv-cache-memory-bytes"}
    | {"--linear-backend", "--max-cudagraph-capture-size", "--max-num-batched-tokens", "--max-num-seqs"}
    | {"--moe-backend", "--num-gpu-blocks-override", "--optimization-level", "--performance-mode"}
    | {"--scheduling-policy"}
    # several GPUs and hosts
    | {"--all2all-backend", "--data-parallel-address", "--data-parallel-backend", "--data-parallel-rpc-port"}
    | {"--data-parallel-size", "--data-parallel-size-local", "--decode-context-parallel-size"}
    | {"--distributed-executor-backend", "--expert-placement-strategy", "--master-addr", "--master-port", "--nnodes"}
    | {"--node-rank", "--pipeline-parallel-size"}
)
"""Options with one value, behind `=` or as the next word."""

OBJECTS = frozenset(
    {"--default-chat-template-kwargs", "--hf-overrides", "--limit-mm-per-prompt", "--override-generation-config"}
)
"""Options with one JSON object, or one of its values each: `--limit-mm-per-prompt.image 0`."""

ALLOWED = SWITCHES | VALUES | OBJECTS

LONGEST_NAME = 60
_NAME = re.compile(r"--?[A-Za-z][\w.+-]*")
_NUMBER = re.compile(r"-\d+|-\d*\.\d+")


def normalized(word: str) -> str:
    """Name of an option as vLLM's parser reads it: `_` is `-` from the two hyphens to the first dot."""
    name = word.partition("=")[0]
    if not name.startswith("--"):
        return name
    head, dot, path = name.partition(".")
    return head.replace("_", "-") + dot + path


def why_refused(words: Sequence[str], own_settings: Mapping[str, str], given: Sequence[str]) -> str:
    """The first word that may not be added, in one sentence without any value; "" when all may.

    `own_settings` maps options to the settings they have; the switches `given` by us may be repeated as they are.
    """
    place = 0
    while place < len(words):
        word, name = words[place], normalized(words[place])
        place += 1
        if not word.startswith("-"):
            return f"word {place} belongs to no option that takes a value; expected an option such as --seed 3"
        if name in own_settings:
            return f"{_shown(word, place)} has a setting of its own, {own_settings[name]}"
        object_ = name.partition(".")[0]
        if name in SWITCHES or name.replace("--no-", "--", 1) in SWITCHES or name in given:
            if "=" in word:
                return f"{_shown(word, place)} takes no value; expected {name} alone"
        elif name not in VALUES and object_ not in OBJECTS:
            allowed = ", ".join(sorted(ALLOWED))
            return f"{_shown(word, place)} is refused; allowed, by their full names with two hyphens, are {allowed}"
        elif "=" not in word:
            if place == len(words) or (words[place].startswith("-") and not _NUMBER.fullmatch(words[place])):
                return f"{_shown(word, place)} has no value; expected one behind it, or {name}=... if it begins with -"
            place += 1
    return ""


def _shown(word: str, place: int) -> str:
    """The option as it was written, without its value; its place where that could be anything."""
    name = word.partition("=")[0]
    return name if _NAME.fullmatch(name) and len(name) <= LONGEST_NAME else f"word {place}"
