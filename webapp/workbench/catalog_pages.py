"""The pages "Katalog": chapters, groups and codes, each with an address of its own, and what scripts ask of it.

What somebody looks for may come from a letter: it is posted, so that it stands in no address and no log.
"""

from functools import lru_cache
from typing import Any

import httpx2
from flask import Blueprint, Response, abort, jsonify, render_template, request
from flask_babel import gettext as _
from pydantic import ValidationError

from clinical.contract import SUGGEST_MAX, SuggestedCode, SuggestResponse
from clinical.icd import PAIR_NOTE, Code
from clinical.tracing import outgoing
from webapp import guards
from webapp.config import settings
from webapp.extensions import limiter
from webapp.workbench.calls import api_key, api_url
from webapp.workbench.catalog import MARKS, CodeBook, Since, open_book, pairs, since
from webapp.workbench.conflicts import Checked, conflicts, usual_ages, usual_sex
from webapp.workbench.words import NOTES

LONGEST_SEARCH, MOST_FOUND, CHOSEN_FROM = 200, 50, 12
MOST_LOOKED_UP = 60
SYSTEM = "http://fhir.de/CodeSystem/bfarm/icd-10-gm"
LOOKUP = "/api/fhir/r4/CodeSystem/$lookup"
TIMEOUT = httpx2.Timeout(5.0, connect=1.0)
MOST_SYNONYMS = 40
PACE = "300 per minute"  # without signing in, one address; a clinic behind it types

catalog = Blueprint("catalog", __name__, url_prefix="/catalog")


class ApiSilent(Exception):
    """The text API does not answer, or not as the contract says."""


@catalog.before_request
def _readers_only() -> guards.Refused:
    """Members of an organization, or everybody where the operator says so."""
    return None if settings().workbench_catalog == "everybody" else guards.member()


@catalog.get("/")
def index() -> str:
    """All chapters."""
    return render_template("workbench/catalog.html", book=_book())


@catalog.post("/search/")
@limiter.limit(PACE)
def search() -> str | Response:
    """Codes by the first characters of their words: the page, or JSON for scripts; 503 without the text API."""
    book, words = _book(), request.form.get("q", "")[:LONGEST_SEARCH]
    for_script = request.accept_mimetypes.best == "application/json"
    try:
        found = _suggested(words, CHOSEN_FROM if for_script else MOST_FOUND)
    except ApiSilent:
        abort(503, description="the text API does not answer")
    known = [(code, one.wording) for one in found if (code := book.find(one.code)) is not None]
    if for_script:
        return jsonify([_told(code) | {"wording": wording} for code, wording in known])
    return render_template("workbench/catalog_found.html", book=book, words=words, found=[code for code, _ in known])


@catalog.post("/lookup/")
@limiter.limit(PACE)
def lookup() -> Response:
    """Returns details of codes to scripts: JSON `{"codes": [...]}` to an object by code; unknown ones are left out."""
    given = request.get_json(silent=True)
    codes = given.get("codes") if isinstance(given, dict) else None
    book = _book()
    wanted = [book.find(code) for code in (codes or [])[:MOST_LOOKED_UP] if isinstance(code, str)]
    return jsonify({code.code: _whole(book, code) for code in wanted if code})


@catalog.post("/conflicts/")
@limiter.limit(PACE)
def conflicting() -> Response:
    """Returns to scripts what of a result does not go together: JSON `Checked` to `[{kind, codes, text}]`."""
    try:
        case = Checked.model_validate(request.get_json(silent=True))
    except ValidationError:
        abort(400)
    return jsonify([one._asdict() for one in conflicts(_book(), case)])


@catalog.get("/chapters/<chapter>/")
def one_chapter(chapter: str) -> str:
    """The groups of a chapter."""
    book = _book()
    if chapter not in book.of_chapter:
        abort(404)
    return render_template("workbench/chapter.html", book=book, chapter=chapter)


@catalog.get("/groups/<block>/")
def one_block(block: str) -> str:
    """The codes of a group."""
    book = _book()
    codes = book.of_block(block)
    if block not in book.blocks or not codes:
        abort(404)
    return render_template("workbench/block.html", book=book, block=block, codes=codes, chapter=codes[0].chapter)


@catalog.get("/<code>/")
def one_code(code: str) -> str:
    """One code: its notes, what stands above, beside and below it."""
    book = _book()
    found = book.find(code)
    if found is None:
        abort(404)
    return render_template(
        "workbench/code.html",
        book=book,
        code=found,
        uses=_uses(),
        sex=usual_sex(found),
        ages=usual_ages(found),
        kinds=NOTES,
        synonyms=_synonyms(found.code),
        changed=_changed(book, found),
    )


def _book() -> CodeBook:
    book = open_book(settings().catalog)
    if book is None:
        abort(404, description="no catalog")
    return book


def _changed(book: CodeBook, code: Code) -> Since | None:
    """The change since the earlier catalog that the operator named; None without one."""
    folder = settings().workbench_earlier
    before = open_book(folder) if folder else None
    return since(before, book, code) if before else None


def _told(code: Code) -> dict[str, Any]:
    return {"code": code.code, "mark": MARKS[code.kind], "title": code.title, "terminal": code.terminal}


def _whole(book: CodeBook, code: Code) -> dict[str, Any]:
    near = {"above": book.path(code), "below": book.children(code.code), "beside": book.siblings(code.code)}
    notes = [note for note in code.notes if note.kind != PAIR_NOTE]
    partners = [partner for one in pairs(code) if (partner := book.get(one))]
    return {
        **_told(code), "use": _uses().get(code.use_295, ""), "pairs": [_told(one) for one in partners],
        "notes": [{"kind": note.kind, "text": note.text, "codes": note.references} for note in notes],
        **{name: [_told(other) for other in others] for name, others in near.items()},
    }  # fmt: skip


def _uses() -> dict[str, str]:
    """The permitted uses of a code (BfArM, explanation of the metadata files)."""
    return {
        "P": _("allein zur Kodierung zugelassen"),
        "O": _("nur als Sternkode, zusammen mit einem Kreuzkode"),
        "Z": _("nur zusätzlich zu einem anderen Kode (Ausrufezeichen)"),
        "V": _("nicht zur Kodierung zugelassen: es gibt genauere Kodes"),
    }


def _suggested(words: str, limit: int) -> tuple[SuggestedCode, ...]:
    """Codes for the first characters of words, the likeliest first. Raises ApiSilent."""
    if not words.strip():
        return ()
    body = {"text": words[:SUGGEST_MAX], "limit": limit}
    try:
        return SuggestResponse.model_validate(_asked("POST", "/api/codes/suggest", json=body)).codes
    except ValueError:
        raise ApiSilent from None


def _synonyms(code: str) -> list[str]:
    """Other wordings of a code; none where the text API does not answer: the page stands without them."""
    parameters = {"system": SYSTEM, "code": code, "property": "designation"}
    try:
        rows = _asked("GET", LOOKUP, params=parameters)["parameter"]
        parts = [{part["name"]: part for part in row["part"]} for row in rows if row["name"] == "designation"]
        return [str(part["value"]["valueString"]) for part in parts[1 : MOST_SYNONYMS + 1]]
    except (ApiSilent, KeyError, TypeError):
        return []


def _asked(method: str, path: str, **more: Any) -> Any:
    given = settings()
    headers = {"Authorization": f"Bearer {api_key(given)}", **outgoing()}
    try:
        answer = _client().request(method, api_url(given) + path, headers=headers, **more)
        answer.raise_for_status()
        return answer.json()
    except (httpx2.HTTPError, ValueError):
        raise ApiSilent from None


@lru_cache(maxsize=1)
def _client() -> httpx2.Client:
    """One for all threads of a process: a new connection for each key would take longer than the answer."""
    return httpx2.Client(trust_env=False, timeout=TIMEOUT)
