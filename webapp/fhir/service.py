"""The parts that the routes work with, made once per application: reader, searches, tokens, files, presigner."""

import uuid
from dataclasses import dataclass
from typing import Any, cast

from flask import Flask, current_app, request

from webapp.config import Settings
from webapp.fhir.callers import Callers
from webapp.fhir.machines.origins import Origins
from webapp.fhir.models import ImagingStudy, Patient
from webapp.fhir.searching.history import Histories
from webapp.fhir.searching.reading import Reader
from webapp.fhir.searching.search import Documents, Resources
from webapp.fhir.writing.together import Together
from webapp.storage import BucketFiles, Files, open_files
from webapp.urls import Presigner, public_origin

_KEY = "befund_fhir"
POSTED_TOGETHER = 50  # documents a transaction; more than a process has threads, far below what an import holds others


@dataclass(frozen=True, slots=True)
class Service:
    """The parts of document retrieval of one application."""

    documents: Documents
    histories: Histories
    stored: dict[str, Resources]
    """Documents and what else is stored, by its type."""
    callers: Callers
    origins: Origins
    files: Files
    presigner: Presigner
    together: Together[Any, Any]
    """Documents that are posted at the same moment."""
    storage_link: int
    """Seconds that an S3 storage's own links live; 0 where the webapp hands files out itself."""


def init_app(app: Flask) -> None:
    """Make the parts from the settings of `app`."""
    given: Settings = app.config["BEFUND"]
    reader = Reader(given.database_url)
    documents = Documents(reader)
    files = open_files(given.storage)
    others = {"Patient": Resources(reader, Patient), "ImagingStudy": Resources(reader, ImagingStudy)}
    app.extensions[_KEY] = Service(
        documents=documents,
        histories=Histories(reader),
        stored={"DocumentReference": documents, **others},
        callers=Callers(reader, given.secret),
        origins=Origins(reader),
        files=files,
        presigner=Presigner(given.secret, given.presign_window, given.previous_secret),
        together=Together(POSTED_TOGETHER),
        storage_link=given.storage_link if given.presign == "storage" and isinstance(files, BucketFiles) else 0,
    )


def service() -> Service:
    """The parts of the current application."""
    return cast(Service, current_app.extensions[_KEY])


def public_base() -> str:
    """The absolute URL of the webapp without a trailing slash, as integrators see it."""
    return public_origin() + request.script_root


def fhir_base(organization: uuid.UUID) -> str:
    """The FHIR base URL of an organization."""
    return f"{public_base()}/{organization}/fhir/r4"
