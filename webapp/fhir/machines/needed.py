"""Rights that a request needs: by its path, and by what its parameters were understood to ask for.

Letters are those of SMART (App Launch 2.2, scopes for requesting FHIR resources): `c` creates, `u` updates, `d`
deletes, `r` reads what is named (also its versions), `s` lists (search, and the history of a type). People have all
rights; programs have scopes.
"""

from webapp.fhir.machines.scopes import TYPES, Right
from webapp.fhir.searching.params import Everything, History, ResourceSearch, Search
from webapp.fhir.searching.wanted import EVERYTHING_TYPES

Rights = frozenset[Right]


def of_path(method: str, path: str) -> Rights:
    """Rights for this path whatever the parameters are; paths that lead nowhere need none."""
    kind, _, rest = path.partition("/fhir/r4/")[2].strip("/").partition("/")
    if kind == "_history":
        return frozenset({("DocumentReference", "s")})  # the one type with a history
    if kind not in TYPES:
        return frozenset()
    within = rest.split("/")[1:2]
    if kind == "Patient" and within and within[0] in TYPES:  # a compartment tells that there is such a patient
        return frozenset({("Patient", "r"), (within[0], "s")})
    if method == "POST" and not rest:
        return frozenset({(kind, "c")})
    if method == "POST" and rest.endswith("/$update-metadata"):
        return frozenset({(kind, "u")})
    if letter := {"PUT": "u", "PATCH": "u", "DELETE": "d"}.get(method):
        return frozenset({(kind, letter)})
    return frozenset({(kind, "s" if rest in ("", "_search", "_history", "$docref") else "r")})


def of_search(wanted: Search | Everything | History | ResourceSearch) -> Rights:
    """Rights for what a search adds to its path: the types of `$everything`, patients that are included, and
    what is searched by a chain, forth or back, since the matches tell of it."""
    if isinstance(wanted, Everything):
        return frozenset((kind, "s" if kind in EVERYTHING_TYPES else "r") for kind in wanted.types)
    followed = {("Patient", "s")} if isinstance(wanted, Search) and wanted.terms else set()
    followed |= {("DocumentReference", "s")} if isinstance(wanted, ResourceSearch) and wanted.having else set()
    return frozenset({("Patient", "r")} if wanted.answer.with_patients else ()) | followed
