"""docs/examples/poll.py against a real server: killed and restarted at random while writers work."""

import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

from tests.webapp.fhir.conftest import add_document

POLL = Path(__file__).parents[3] / "docs" / "examples" / "poll.py"
WRITERS, EACH = 4, 20


def test_nothing_is_lost_and_nothing_filed_twice(place, base, tmp_path):
    random.seed(11)
    written, failures, target = {}, [], tmp_path / "filed.sqlite3"

    def write(number):
        for index in range(EACH):
            body = f"{number}/{index}".encode()
            written[str(add_document(place, body))] = body
            time.sleep(random.random() * 0.12)

    def poller():
        command = [sys.executable, str(POLL), base, place.token, str(target), "0.05"]
        return subprocess.Popen(command, stderr=subprocess.PIPE)

    writers = [threading.Thread(target=write, args=(number,)) for number in range(WRITERS)]
    for writer in writers:
        writer.start()
    deadline, kills = time.monotonic() + 60, 0
    while time.monotonic() < deadline and (
        any(writer.is_alive() for writer in writers) or count(target) < len(written)
    ):
        process = poller()
        time.sleep(0.15 + random.random() * 0.5)
        process.send_signal(signal.SIGKILL)
        kills += 1
        stopped = process.wait(10)
        failures += [process.stderr.read().decode()] if stopped != -signal.SIGKILL else []
        process.stderr.close()
    with sqlite3.connect(target) as filed:
        rows = filed.execute("SELECT id, content FROM document").fetchall()
    assert failures == []  # filing twice would break the table's primary key and end the poller by itself
    assert kills >= 3
    assert len(rows) == WRITERS * EACH
    assert dict(rows) == written


def count(target):
    with sqlite3.connect(target) as filed:
        known = filed.execute("SELECT 1 FROM sqlite_master WHERE name = 'document'").fetchone()
        return filed.execute("SELECT count(*) FROM document").fetchone()[0] if known else 0
