"""Dry runs: an operator's real round trip with a vendor that ends in a record of what came, not in an account.

It leaves and comes back through the code of a sign-in (state, PKCE, `iss`, the vendor's own callback). The records
are in the operator's own session for half an hour, masked before they get there. A wrong id field signs people
in as somebody else: hence account A signs in twice, account B once, and the subjects must say so.
"""

import contextlib
import json
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2
from flask import Request, session

from webapp.sessions import digest
from webapp.sso.models import Provider
from webapp.sso.profile import Profile, SubjectMissing, clean, read_profile
from webapp.sso.vendor import read_json
from webapp.wire import Answer

Observer = Callable[[Answer], None]
Run = dict[str, Any]

MARK = "dry-run:"  # stands where the path to go to stands; no person can send it: `local_path` demands a slash
ACCOUNTS = ("A", "B")
KEY = "dry_runs"
LEFT = "dry_run_left"
KEPT_S = 30 * 60
RUNS_AT_MOST = 6
FIELDS_AT_MOST = 60
SHOWN = 200  # characters of a value
CANDIDATES = (  # profile field, vendor's field; in the order in which `read_profile` looks
    ("subject", "sub"), ("subject", "id"), ("email", "email"), ("given_name", "given_name"),
    ("given_name", "first_name"), ("family_name", "family_name"), ("family_name", "last_name"),
)  # fmt: skip
NAME_SHOWN = 80
MASK = "•••"
TOO_DEEP = "…"
SECRET_NAME = re.compile(
    r"token|secret|code|passw|assertion|cookie|authorization|nonce|state|session|key|location", re.IGNORECASE
)
SECRET_VALUE = re.compile(r"eyJ[\w-]+\.[\w-]+|Bearer\s|Basic\s", re.IGNORECASE)  # a JWT, whatever field it stands in
PLAIN = ("token_type",)
HARMLESS = ("token_type", "expires_in", "scope", "error")
ECHO_AT_LEAST = 6  # characters; shorter ones are no secret and stand in every text


def step(answer: Answer, hidden: set[str]) -> dict[str, Any]:
    """One call to the vendor as it went over the wire, masked; of the token answer nothing but known harmless fields.
    `hidden`: code, verifier, secret of this run; what the token answer holds is added, so that no echo is shown."""
    body, asked = read_json(answer.body), answer.request
    is_token = asked.method == "POST"
    fields = body if isinstance(body, dict) else {}
    if is_token:
        kept = {name: value if name in HARMLESS else MASK for name, value in fields.items()}
        values = [fields.get("access_token"), *list(fields.values())[:FIELDS_AT_MOST]]
        hidden |= {value for value in values if isinstance(value, str) and value not in kept.values()}
        fields = kept
    return {
        "name": "token" if is_token else "userinfo",
        "line": f"{asked.method} {_without_query(str(asked.url))} → {answer.status}",
        "sent": masked(_as_written(asked.headers), hidden),
        "headers": masked(_as_written(answer.headers), hidden),
        "fields": masked(fields, hidden),
    }


def callback_step(request: Request) -> dict[str, Any]:
    """The callback's query, masked: only `iss` and `error` are shown."""
    shown = {name: value if name in ("iss", "error") else MASK for name, value in request.args.items()}
    return {"name": "callback", "line": f"GET {request.path}", "sent": [], "headers": [], "fields": masked(shown, ())}


def masked(values: Mapping[str, Any], hidden: Iterable[str]) -> list[tuple[str, str]]:
    """Names and values for the page, cut, with everything that is or may be a secret replaced."""
    lines = []
    for name, value in list(values.items())[:FIELDS_AT_MOST]:
        try:
            shown = _masked(name, value)
            text = shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False)
        except RecursionError:
            text = TOO_DEEP
        name, text = (MASK if _holds(part, hidden) else part for part in (name, text))
        lines.append((clean(name[:NAME_SHOWN], NAME_SHOWN), clean(text[:SHOWN], SHOWN)))
    return lines


def sources(claims: Mapping[str, Any], profile: Profile) -> dict[str, str]:
    """Profile field -> the vendor's field it was read from, asked of the reading itself."""
    found: dict[str, str] = {}
    for field, name in CANDIDATES:
        if name not in claims or field in found:
            continue
        subject = {} if field == "subject" else {"sub": "x"}
        with contextlib.suppress(SubjectMissing):
            if getattr(read_profile(subject | {name: claims[name]}), field) == getattr(profile, field) != "":
                found[field] = name
    return found


def left(account: str, url: str) -> None:
    """Note where and with what the operator left for the vendor: the first step of the run to come."""
    fields = masked(dict(parse_qsl(urlsplit(url).query)), ())
    session[LEFT] = {**session.get(LEFT, {}), account: [f"GET {_without_query(url)} → 302", fields]}


def keep(
    provider: Provider, account: str, steps: list[dict[str, Any]], claims: Any, said: str, hidden: set[str]
) -> None:
    """Add a run to the operator's session; `said` is why it failed, "" when `claims` have a profile."""
    profile = None if said else read_profile(claims)
    line, fields = session.get(LEFT, {}).get(account, ["", []])
    leaving = {"name": "authorization", "line": line, "sent": [], "headers": [], "fields": fields}
    run = {
        "provider_id": provider.id,
        "version": provider.updated_at.isoformat(),
        "at": int(time.time()),
        "account": account,
        "steps": [leaving, *steps],
        "profile": _without_secrets(profile, hidden) if profile else None,
        "sources": sources(claims, profile) if profile else {},
        "said": clean(said, SHOWN),
    }
    session[KEY] = [*_fresh(), run][-RUNS_AT_MOST:]


def runs_of(provider: Provider) -> list[Run]:
    """The runs of the last half hour with the provider row as it is now; a changed provider must be tried anew."""
    version = provider.updated_at.isoformat()
    return [run for run in _fresh() if (run["provider_id"], run["version"]) == (provider.id, version)]


def forget(provider: Provider) -> None:
    """Drop the runs of a vendor, to begin anew."""
    session[KEY] = [run for run in _fresh() if run["provider_id"] != provider.id]


def verdict(runs: list[Run]) -> str:
    """`changes` (one account, several subjects), `collides` (one subject, two accounts), `failed` (the last run),
    `good`, or what is to be done next: `first`, `again`, `other`."""
    good = [run for run in runs if run["profile"]]
    subjects = {name: [run["profile"]["subject"] for run in good if run["account"] == name] for name in ACCOUNTS}
    if any(len(set(found)) > 1 for found in subjects.values()):
        return "changes"
    if set(subjects["A"]) & set(subjects["B"]):
        return "collides"
    if runs and not runs[-1]["profile"]:
        return "failed"
    if len(subjects["A"]) < 2:
        return "again" if subjects["A"] else "first"
    return "good" if subjects["B"] else "other"


def _as_written(headers: httpx2.Headers) -> dict[str, str]:
    """Header lines with names as they were sent."""
    return {name.decode("latin-1"): headers[name.decode("latin-1")] for name, _ in headers.raw}


def _fresh() -> list[Run]:
    return [run for run in session.get(KEY, []) if time.time() - run["at"] <= KEPT_S]


def _masked(name: str, value: Any) -> Any:
    if name.lower() not in PLAIN and SECRET_NAME.search(name):
        return MASK
    if isinstance(value, dict):
        return {inner: _masked(str(inner), item) for inner, item in value.items()}
    if isinstance(value, list):
        return [_masked(name, item) for item in value]
    return MASK if isinstance(value, str) and SECRET_VALUE.search(value[:SHOWN]) else value


def _holds(text: str, hidden: Iterable[str]) -> bool:
    return any(secret in text for secret in hidden if len(secret) >= ECHO_AT_LEAST)


def _without_secrets(profile: Profile, hidden: set[str]) -> dict[str, Any]:
    """A subject that is a token can still be compared: its place takes a part of its SHA-256."""
    return {
        name: f"{MASK} {digest(value)[:8]}" if isinstance(value, str) and _holds(value, hidden) else value
        for name, value in asdict(profile).items()
    }


def _without_query(url: str) -> str:
    return urlsplit(url)._replace(query="", fragment="").geturl()
