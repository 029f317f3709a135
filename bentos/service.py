"""The BentoML services: `Befund` is all in one process; `Coding`, `Extraction` and `Generation` can go apart.

    bentoml serve bentos.service:Befund          or, with every check before it: python -m bentos serve
    bentoml serve bentos.service:Coding          one part alone, behind one address with the others (bentos/proxy.conf)

BentoML's own pages, access log (which holds paths), metrics (which label by path) and traces are off; what the
application writes instead holds no content.
"""

from __future__ import annotations

import logging
import os
from typing import Any

os.environ.setdefault("BENTOML_DO_NOT_TRACK", "True")  # before the import that would read it

from bentos.server_folder import enter

enter()  # before the import that loads the library of the metrics

import bentoml  # noqa: E402

from bentos.api import PARTS, OnlyContractPaths, Part, contract_paths, create_app, internal_paths  # noqa: E402
from clinical.settings import server_settings  # noqa: E402
from clinical.tracing import write_lines  # noqa: E402

FIRST_BYTE_SECONDS = 180
"""Time to the first byte of an answer, at most: extraction and generation wait for a language model."""
FOREIGN = ("", "bentoml", "uvicorn", "uvicorn.error", "circus")
"""What has log lines of its own, which take the form of ours where that is JSON."""


_settings = server_settings()
write_lines(_settings.log_format, "befund", FOREIGN, logging.INFO)


def _options(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "workers": _settings.workers,
        "http": {"host": _settings.api_host, "port": _settings.api_port},
        "traffic": {"timeout": FIRST_BYTE_SECONDS},
        "metrics": {"enabled": False},
        "logging": {"access": {"enabled": False}},
        "tracing": {"excluded_urls": ".*"},
        # One search is one core: threads inside it would only fight with the other workers.
        "envs": [{"name": "OMP_NUM_THREADS", "value": "1"}],
    }


@bentoml.service(**_options("Befund"))
@bentoml.asgi_app(create_app(_settings), path="/")
class Befund:
    """German clinical text to ICD-10-GM codes, grounded fields and free text."""


@bentoml.service(**_options("Coding"))
@bentoml.asgi_app(create_app(_settings, parts=("coding",)), path="/")
class Coding:
    """ICD-10-GM codes alone; on CPU, needs the catalog."""


@bentoml.service(**_options("Extraction"))
@bentoml.asgi_app(create_app(_settings, parts=("extraction",)), path="/")
class Extraction:
    """Letters to grounded fields alone; needs the language model, no catalog."""


@bentoml.service(**_options("Generation"))
@bentoml.asgi_app(create_app(_settings, parts=("generation",)), path="/")
class Generation:
    """Free text by instruction alone; needs the language model, no catalog."""


def _close(service: Any, parts: tuple[Part, ...] = PARTS) -> None:
    """Leave nothing open but the contract's paths of these parts and the operator's."""
    paths = frozenset((*contract_paths(parts), *internal_paths(_settings)))
    service.add_asgi_middleware(OnlyContractPaths, paths=paths)


_close(Befund)
_close(Coding, ("coding",))
_close(Extraction, ("extraction",))
_close(Generation, ("generation",))
