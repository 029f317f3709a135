"""Changes from one catalog to the next: codes that came, went, were renamed, or were split."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from clinical.icd import Catalog, Code

Kind = Literal["added", "removed", "renamed", "split", "joined", "limits"]

KINDS: Final[dict[Kind, str]] = {
    "added": "a code that was not there before",
    "removed": "a code that is there no longer",
    "renamed": "the same code with another title",
    "split": "terminal before, now there are codes below it that have to be used",
    "joined": "there were codes below it, now it is terminal itself",
    "limits": "other limits of sex or age, or of use by §295 or §301",
}


class CodeChange(NamedTuple):
    """One change of one code; `before` and `after` are what differs, empty where there is nothing."""

    kind: Kind
    code: str
    before: str
    after: str


def changes(before: Catalog, after: Catalog) -> tuple[CodeChange, ...]:
    """All changes in the order of the codes; a code may have several."""
    codes = sorted({code.code for catalog in (before, after) for code in catalog})
    return tuple(change for code in codes for change in _of(code, before.get(code), after.get(code)))


def _of(code: str, old: Code | None, new: Code | None) -> Iterator[CodeChange]:
    if old is None or new is None:
        if new is not None:
            yield CodeChange("added", code, "", new.title)
        if old is not None:
            yield CodeChange("removed", code, old.title, "")
        return
    if old.title != new.title:
        yield CodeChange("renamed", code, old.title, new.title)
    if old.terminal != new.terminal:
        yield CodeChange("split" if old.terminal else "joined", code, _use(old), _use(new))
    if old.terminal == new.terminal and _limits(old) != _limits(new):
        yield CodeChange("limits", code, _limits(old), _limits(new))


def _use(code: Code) -> str:
    return "terminal" if code.terminal else "not terminal"


def _limits(code: Code) -> str:
    use = f"§295 {code.use_295}, §301 {code.use_301}, " if code.terminal else ""
    return f"{use}sex {code.sex or '-'}, age {code.age_low or '-'} to {code.age_high or '-'}"
