"""Which rights a request needs, by its path and parameters (people have all of them; programs have scopes)."""

from collections.abc import Iterator

from flask import Request

from webapp.fhir.machines.scopes import TYPES

Right = tuple[str, str]


def needed(request: Request) -> Iterator[Right]:
    """Resource type and letter of each right that this call needs; paths that lead nowhere need none."""
    kind, _, rest = request.path.partition("/fhir/r4/")[2].strip("/").partition("/")
    if rest.endswith("/$everything"):
        yield "Patient", "r"
        yield "DocumentReference", "s"
        if _only_documents(request):
            return
        yield "ImagingStudy", "s"
    elif kind not in TYPES:
        return
    elif request.method == "POST" and not rest:
        yield kind, "c"
    else:
        yield kind, "r" if rest and rest != "_search" else "s"
        if any(name.startswith("_include") for name in request.values):
            yield "Patient", "r"


def _only_documents(request: Request) -> bool:
    """Whether `_type` keeps `$everything` to documents."""
    asked = request.values.getlist("_type")
    return bool(asked) and all(kind == "DocumentReference" for value in asked for kind in value.split(","))
