"""The library of the C files here: compiled where the project is installed, or where it is first needed.

Only Python's own library is imported here: `setup.py` and the recipe of the image run this file before anything else
is installed. `python clinical/search/native/library.py` compiles.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
import tempfile
import zlib
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
SOURCES: Final = tuple(
    FOLDER / f"{name}.c" for name in ("loops", "columns", "graph", "ranking", "encoding", "tagging", "texts")
)
HEADERS: Final = tuple(FOLDER / f"{name}.h" for name in ("loops", "ranking_lanes", "tagging_lanes"))
LIBRARY: Final = FOLDER / f"_loops-{sysconfig.get_platform()}.so"
"""Beside its sources; it serves any Python of this system and processor."""
FLAGS: Final = ("-std=c11", "-O3", "-ffp-contract=off", "-fPIC", "-shared")
"""No product is joined with a sum, so that the figures are the same on every processor."""
PATIENCE: Final = 120.0
"""Seconds that the compiler may take; it takes one."""


class Unwritable(OSError):
    """The folder of the library cannot be written."""


def compiler() -> str | None:
    """The C compiler of this machine: the one that `CC` names, else the first that is there."""
    names = [os.environ["CC"]] if os.environ.get("CC") else ["cc", "gcc", "clang"]
    return next(filter(None, map(shutil.which, names)), None)


def is_current(library: Path) -> bool:
    """True if the library exists and was compiled from the sources here, or no sources lie here."""
    if not library.is_file():
        return False
    return not HEADERS[0].is_file() or f"befund loops {_digest()}".encode() in library.read_bytes()


def compile_into(library: Path, *flags: str) -> None:
    """Compile the sources, with further flags. Raises Unwritable, OSError without a compiler, SubprocessError where the
    compiler fails.

    Processes that do it at the same time do not meet: each writes a file of its own and puts it in place.
    """
    program = compiler()
    if program is None:
        raise FileNotFoundError("there is no C compiler (cc)")
    try:
        library.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=library.parent, prefix=".loops-")
    except OSError as error:
        raise Unwritable(str(error)) from error
    os.close(handle)
    draft = Path(name)
    try:
        command = [program, *FLAGS, *flags, f'-DDIGEST="{_digest()}"', *map(str, SOURCES), "-o", name, "-lm"]
        subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE)
        draft.chmod(0o755)
        draft.replace(library)
    finally:
        draft.unlink(missing_ok=True)


def _digest() -> str:
    return f"{zlib.crc32(b''.join(path.read_bytes() for path in (*HEADERS, *SOURCES))):08x}"


if __name__ == "__main__":
    compile_into(LIBRARY)
