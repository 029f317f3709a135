"""The cause of an unreachable database is one of our own phrases, never the drivers' words, which may hold values."""

import sqlite3

import psycopg
import pytest
import redis
from limits.errors import StorageError
from limits.storage import storage_from_string
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError

from clinical.errors import cause_of
from evals.load.servers import free_port


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        ('connection to server at "10.1.2.3" failed: FATAL:  password authentication failed for user "geheim"',
         "the user or password is wrong"),
        ('connection failed: connection to server failed: FATAL:  database "geheim" does not exist',
         "there is no database of that name"),
        ("connection failed: fe_sendauth: no password supplied", "it wants a password"),
        ('FATAL:  no pg_hba.conf entry for host "10.1.2.3", user "geheim", no encryption',
         "it does not let this host or user in, or not without TLS (pg_hba.conf)"),
        ("FATAL:  sorry, too many clients already", "it takes no further connections"),
        ("consuming input failed: server closed the connection unexpectedly", "it closed the connection"),
        ("WRONGPASS invalid username-password pair or user is disabled.", "the user or password is wrong"),
        ("duplicate key value violates unique constraint: (geheim)", "OperationalError"),
    ],
)  # fmt: skip
def test_what_servers_say_is_said_in_our_words(words: str, cause: str) -> None:
    assert cause_of(OperationalError("SELECT 'geheim'", {}, Exception(words))) == cause


def test_what_the_drivers_say_here(tmp_path) -> None:
    (tmp_path / "no.sqlite").write_text("this is no database at all, but a text of some length\n" * 9)
    for url, cause in (
        (f"postgresql+psycopg://user:geheim@127.0.0.1:{free_port()}/name", "nothing listens at its address"),
        ("postgresql+psycopg://user:geheim@nirgends.invalid/name", "its host is not known"),
        (f"sqlite:///{tmp_path}/nowhere/x.sqlite", "its file cannot be opened or made"),
        (f"sqlite:///{tmp_path}/no.sqlite", "its file is no SQLite database"),
    ):
        with pytest.raises(Exception) as refused, create_engine(url).connect() as connection:  # noqa: PT011 - the type
            connection.execute(text("SELECT 1 FROM x"))  # is the driver's, and the next line asks what it says
        assert cause_of(refused.value) == cause
    with pytest.raises(redis.ConnectionError) as gone:
        redis.Redis(port=free_port()).ping()
    assert cause_of(gone.value) == "nothing listens at its address"


def test_what_the_counter_of_limits_wraps_is_said_too() -> None:
    """Its own error has no words: it was said by its class alone."""
    counter = storage_from_string(f"redis://user:geheim@127.0.0.1:{free_port()}/0", wrap_exceptions=True)
    with pytest.raises(StorageError) as gone:
        counter.get("x")
    assert cause_of(gone.value) == "nothing listens at its address"
    assert cause_of(StorageError(KeyError("geheim"))) == "KeyError"


def test_any_other_error_is_its_class() -> None:
    assert cause_of(sqlite3.OperationalError("no such table: geheim")) == "OperationalError"
    assert cause_of(psycopg.errors.UndefinedTable('relation "geheim" does not exist')) == "UndefinedTable"
