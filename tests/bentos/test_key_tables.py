"""The tables of the keys from version to version, on both databases, and where they lie."""

from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import inspect, text
from sqlalchemy.exc import OperationalError

from bentos.keys.database import STEPS, bring_up_to_date, changing, open_database, schema
from bentos.keys.keys import Keys
from clinical.errors import SettingError

NEXT = (*STEPS, ("ALTER TABLE api_keys ADD COLUMN note VARCHAR(20)", "UPDATE api_keys SET note = 'alt'"))
NOW = 1 + len(STEPS)
FIRST = (
    "DROP TABLE api_schema",
    *(f"ALTER TABLE api_keys DROP COLUMN {name}" for name in ("expires_at", "previous_sha256", "previous_until")),
)
"""Back to the tables as they were before versions were written down."""


def _version(engine):
    with engine.connect() as connection:
        return connection.execute(schema.select()).scalar_one()


def test_tables_of_an_earlier_version_are_taken_to_this_one_and_their_keys_stay(url):
    engine = open_database(url)
    key = Keys(engine).create("bleibt")
    with engine.connect() as connection:
        for statement in FIRST:
            connection.execute(text(statement))
    bring_up_to_date(engine, NEXT)
    assert _version(engine) == NOW + 1
    with engine.connect() as connection:
        assert connection.execute(text("SELECT note FROM api_keys")).scalar_one() == "alt"
    assert Keys(engine).check(key).name == "bleibt"
    assert Keys(engine).check(Keys(engine).rotate(key.split("_")[1])).name == "bleibt"
    bring_up_to_date(engine, NEXT)  # and once only
    assert _version(engine) == NOW + 1


def test_a_step_that_fails_changes_nothing(url):
    engine = open_database(url)
    broken = (*NEXT, ("ALTER TABLE none ADD COLUMN x INTEGER",))
    with pytest.raises(Exception, match="none"):
        bring_up_to_date(engine, broken)
    assert _version(engine) == NOW
    assert "note" not in {column["name"] for column in inspect(engine).get_columns("api_keys")}


def test_tables_of_a_later_version_are_refused(url):
    engine = open_database(url)
    bring_up_to_date(engine, NEXT)
    with pytest.raises(SettingError, match=f"the key database is of version {NOW + 1}; expected {NOW} at most"):
        open_database(url)


def test_workers_that_start_together_make_the_tables_once(url):
    with ThreadPoolExecutor(8) as pool:
        engines = list(pool.map(lambda _: open_database(url), range(8)))
    assert {_version(engine) for engine in engines} == {NOW}


def held_by_another(file: Path) -> sqlite3.Connection:
    """A new file in another's hands; SQLite turns whoever wants its write-ahead log away at once."""
    holder = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN IMMEDIATE")
    return holder


def test_a_new_file_that_another_holds_is_waited_for(tmp_path):
    holder = held_by_another(tmp_path / "api.sqlite")
    leaves = threading.Timer(0.1, holder.execute, ("COMMIT",))
    leaves.start()
    engine = open_database(f"sqlite:///{tmp_path}/api.sqlite")
    leaves.join()
    assert _version(engine) == NOW
    with engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar_one() == "wal"


def test_a_new_file_that_another_keeps_is_an_error(tmp_path):
    holder = held_by_another(tmp_path / "api.sqlite")
    with pytest.raises(OperationalError, match="database is locked"):
        open_database(f"sqlite:///{tmp_path}/api.sqlite")
    holder.execute("ROLLBACK")


def test_at_postgresql_a_count_does_not_wait_for_the_disk_and_the_change_of_a_key_does(postgresql_url):
    engine = open_database(postgresql_url)
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar_one() == "off"
    with changing(engine) as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar_one() == "on"
