"""Changes since an earlier year: a code beside the same code of that catalog (`BEFUND_WORKBENCH_EARLIER`)."""

from typing import NamedTuple

from webapp.workbench.catalog import CodeBook, ListedCode


class Since(NamedTuple):
    """The difference of a code from the earlier `version`: the code is new, had another `title` (empty: the same), or
    codes that stood below it are `gone`."""

    version: str
    new: bool
    title: str
    gone: tuple[ListedCode, ...]


def since(before: CodeBook, now: CodeBook, code: ListedCode) -> Since | None:
    """The changes of a code from one catalog to a later one; None where there are none."""
    old = before.codes.get(code.code)
    if old is None:
        return Since(before.version, True, "", ())
    gone = tuple(other for other in before.below.get(code.code, []) if other.code not in now.codes)
    title = "" if old.title == code.title else old.title
    return Since(before.version, False, title, gone) if title or gone else None
