"""Room of the webapp: among its open files, and in the folders that it writes into, beside the storage of files, which
says for itself whether it is well."""

import os
import tempfile
from pathlib import Path

from clinical.room import require_files, require_room
from clinical.settings import Settings
from webapp.database import parsed
from webapp.watching.shared import FOLDER


def has_connections() -> bool:
    """Always true: raises NoRoom where a process of the webapp can hardly take a further connection."""
    require_files()
    return True


def has_room(given: Settings) -> bool:
    """Always true: raises NoRoom where there is none."""
    require_room(_written(given))
    return True


def _written(given: Settings) -> list[Path]:
    """Of SQLite's file, of mails in development, of uploads until they are stored, and of the counts."""
    database = parsed(given.database_url)
    folders = [Path(tempfile.gettempdir())]
    if database.get_backend_name() == "sqlite" and database.database:
        folders.append(Path(database.database).parent)
    if given.development and not given.mail_url:
        folders.append(given.var)
    if counts := os.environ.get(FOLDER):
        folders.append(Path(counts))
    return folders
