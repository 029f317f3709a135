"""The reader's own connections: what they give back, that a lost one is replaced once, and that no fork shares one."""

import os
import uuid

import pytest
import sqlalchemy as sa

from webapp.fhir.searching.reading import PREPARED, Reader, Statement
from webapp.watching import part_of

ID = uuid.UUID("6f0c3a52-0d5e-4c0e-9d1b-1f6c2d3e4f50")


def statement(reader: Reader) -> Statement:
    """Gives back what it is given, without a table."""
    given = (sa.bindparam("id", type_=sa.Uuid()), sa.bindparam("number", type_=sa.BigInteger()), sa.bindparam("text"))
    return Statement(sa.select(*given), reader.engine)


@pytest.fixture
def reader(postgres_url):
    made = Reader(postgres_url)
    yield made
    made.close()


def ended(reader: Reader) -> None:
    """The server ends the connections that rest, as a restart does."""
    with sa.create_engine(reader.engine.url, poolclass=sa.NullPool).connect() as connection:
        for one in reader._idle:
            connection.execute(sa.text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": one.driver.info.backend_pid})


def test_values_come_back_as_they_were_given_whatever_their_size(reader):
    asked = statement(reader)
    for number in (0, -1, 40_000, 3_000_000_000, 2**62, None):
        row = reader.rows(asked, {"id": ID, "number": number, "text": "ä\n'$1%"})[0]
        assert row == (ID, number, "ä\n'$1%")


def test_sqlite_gives_the_same(tmp_path):
    reader = Reader(f"sqlite:///{tmp_path}/a.sqlite3")
    assert reader.rows(statement(reader), {"id": reader.value(ID), "number": 7, "text": "ä"}) == [(ID.hex, 7, "ä")]
    reader.close()


def test_a_connection_that_the_server_ended_is_replaced_and_the_others_go_with_it(reader):
    asked, values = statement(reader), {"id": ID, "number": 1, "text": ""}
    taken = [reader._taken() for _ in range(3)]
    reader._idle.extend(taken)
    assert reader.rows(asked, values)
    ended(reader)
    assert reader.rows(asked, values) == [(ID, 1, "")]
    assert len(reader._idle) == 1
    assert all(one.driver.closed for one in taken)


def test_an_error_of_a_statement_leaves_the_connection(reader):
    wrong = Statement(sa.select(sa.bindparam("number", type_=sa.Integer()) / sa.literal(0)), reader.engine)
    for _ in range(2):
        with pytest.raises(Exception, match="division by zero"):
            reader.rows(wrong, {"number": 1})
    assert len(reader._idle) == 1
    assert reader.rows(statement(reader), {"id": ID, "number": 1, "text": ""}) == [(ID, 1, "")]


def test_a_server_that_is_away_is_an_outage_of_the_database():
    reader = Reader("postgresql://nobody@127.0.0.1:1/nowhere?connect_timeout=1")
    with pytest.raises(Exception) as found:  # noqa: PT011 - the driver's or SQLAlchemy's own
        reader.rows(statement(reader), {"id": ID, "number": 1, "text": ""})
    assert part_of(found.value) == "database"


def test_no_more_is_kept_prepared_than_there_is_room_for(reader):
    for number in range(PREPARED + 2):
        asked = sa.select(sa.literal_column(str(number)), sa.bindparam("number", type_=sa.Integer()))
        assert reader.rows(Statement(asked, reader.engine), {"number": 5}) == [(number, 5)]
    count = Statement(sa.select(sa.func.count()).select_from(sa.text("pg_prepared_statements")), reader.engine)
    assert reader.rows(count, {}) == [(3,)], "the last two and this one"


def test_a_process_that_was_forked_makes_connections_of_its_own(reader):
    here = Statement(sa.select(sa.func.pg_backend_pid()), reader.engine)
    mine = reader.rows(here, {})
    read, write = os.pipe()
    if (child := os.fork()) == 0:  # the way of gunicorn, which loads the application once
        try:
            os.write(write, str(reader.rows(here, {})[0][0]).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert int(os.read(read, 20)) != mine[0][0]
    assert reader.rows(here, {}) == mine
