"""The folder in which the processes of one server keep their counts, made by the one that becomes gunicorn.

The library of the metrics reads the folder's name once, when it is loaded, so it is in the environment before gunicorn
loads anything. What was there already is another server's.
"""

import os
import shutil
import tempfile

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
_BEGINS = "befund-web-"


def in_a_folder() -> None:
    """Name a new folder in the environment of the server that this process is about to become."""
    os.environ[FOLDER] = tempfile.mkdtemp(prefix=_BEGINS)


def server_ended() -> None:
    """Remove the folder, if it is one of ours."""
    folder = os.environ.get(FOLDER, "")
    if os.path.basename(folder).startswith(_BEGINS):
        shutil.rmtree(folder, ignore_errors=True)
