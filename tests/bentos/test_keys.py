"""API keys, the rate per minute and the quota per day, on SQLite and PostgreSQL, in memory and in Redis; the tables of
the keys from version to version."""

import multiprocessing
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from prometheus_client import REGISTRY
from sqlalchemy import inspect, text
from sqlalchemy.exc import OperationalError

from bentos.__main__ import main
from bentos.keys.database import STEPS, bring_up_to_date, changing, open_database, schema
from bentos.keys.keys import WRITTEN_BACK, KeyInfo, KeyLimits, Keys, KeysUnavailable, LimitReached, Unauthorized
from clinical.errors import SettingError
from tests.bentos.conftest import ROOT, admit


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'keys.sqlite'}"
    return request.getfixturevalue("postgresql_url")


@pytest.fixture
def engine(url):
    engine = open_database(url)
    yield engine
    engine.dispose()


@pytest.fixture(params=["memory", "redis"])
def limits_url(request):
    return "memory://" if request.param == "memory" else request.getfixturevalue("redis_url")


@pytest.fixture
def store(engine, limits_url):
    """Keys with their limits, which are counted in memory or in Redis."""
    return Keys(engine, limits_url)


@pytest.fixture
def keys(engine):
    """Keys for tests of what counts nothing."""
    return Keys(engine)


def test_a_new_key_has_the_form_of_the_contract_and_is_admitted(store):
    key = store.create("Praxis", KeyLimits(5, 5))
    prefix, key_id, secret = key.split("_", 2)
    assert (prefix, len(key_id), len(secret)) == ("bfd", 8, 43)
    assert admit(store, key).id == key_id


def test_only_a_hash_of_the_secret_is_stored(keys, engine):
    secret = keys.create("Praxis").split("_", 2)[2]
    with engine.connect() as connection:
        row = connection.execute(text("SELECT * FROM api_keys")).one()
    assert secret not in str(row)
    assert secret.encode() not in bytes(row.secret_sha256)
    assert len(row.secret_sha256) == 32


def test_wrong_keys_are_refused_alike(keys):
    key = keys.create("Praxis")
    wrong = [
        None,
        "",
        "bfd_",
        key[:-1],
        key + "x",
        key.upper(),
        key.replace("bfd_", "bfa_"),
        "bfd_00000000_" + "x" * 43,
    ]
    wrong.append(key[:-1] + ("A" if key[-1] != "A" else "B"))
    said = set()
    for token in wrong:
        with pytest.raises(Unauthorized) as refused:
            keys.check(token)
        said.add(str(refused.value))
    assert len(said) == 1


def test_the_rate_is_refused_with_the_seconds_to_wait(store):
    key = store.create("Praxis", KeyLimits(per_minute=3, per_day=0))
    for _ in range(3):
        admit(store, key)
    with pytest.raises(LimitReached) as refused:
        admit(store, key)
    assert 1 <= refused.value.retry_after <= 60


def test_the_quota_is_refused_until_midnight_utc(store):
    key = store.create("Praxis", KeyLimits(per_minute=0, per_day=2))
    admit(store, key)
    admit(store, key)
    with pytest.raises(LimitReached) as refused:
        admit(store, key)
    assert abs(refused.value.retry_after - (86_400 - time.time() % 86_400)) < 5
    assert store.list()[0].today == 2


def test_zero_is_unlimited_and_still_counted(store):
    key = store.create("Praxis", KeyLimits(0, 0))
    for _ in range(70):
        admit(store, key)
    assert store.list()[0].today == 70


def test_a_refused_request_does_not_count(store):
    key = store.create("Praxis", KeyLimits(per_minute=1, per_day=10))
    admit(store, key)
    with pytest.raises(LimitReached):
        admit(store, key)
    assert store.list()[0].today == 1


def test_the_quota_is_exact_with_many_workers_and_survives_a_restart(url, engine):
    key = Keys(engine).create("Praxis", KeyLimits(per_minute=0, per_day=100))
    workers = [Keys(open_database(url)) for _ in range(4)]

    def admitted(number: int) -> bool:
        """Asked again where a busy machine keeps the file's writer longer than a caller waits: nothing was counted."""
        try:
            admit(workers[number % 4], key)
        except LimitReached:
            return False
        except KeysUnavailable:
            return admitted(number)
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(admitted, range(160))) == 100
    with pytest.raises(LimitReached):
        admit(Keys(open_database(url)), key)


def _admitted_in_threes(url: str, key: str, times: int) -> int:
    store, asked = Keys(open_database(url)), [key] * 3
    answers = [answer for _ in range(times) for answer in store.admit_at_once(asked) or store.admit_all(asked)]
    return sum(isinstance(answer, KeyInfo) for answer in answers)


def test_the_quota_is_exact_across_processes_that_ask_for_several_requests_together(url, engine):
    key = Keys(engine).create("Praxis", KeyLimits(per_minute=0, per_day=100))
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        both = [pool.submit(_admitted_in_threes, url, key, 30) for _ in range(2)]
        assert sum(one.result(120) for one in both) == 100
    assert Keys(engine).list()[0].today == 100


def test_requests_that_come_together_are_judged_each_by_itself(store):
    good, revoked, ended, unlimited = (
        store.create("Praxis", KeyLimits(9, 9)),
        store.create("Praxis"),
        store.create("Praxis", good_for=timedelta(seconds=-1)),
        store.create("Praxis", KeyLimits(0, 0)),
    )
    store.revoke(revoked.split("_")[1])
    wrong = good[:-1] + ("A" if good[-1] != "A" else "B")
    asked = [None, good, revoked, unlimited, ended, wrong, good, unlimited]
    answers = [getattr(answer, "id", type(answer)) for answer in store.admit_all(asked)]
    right, free = good.split("_")[1], unlimited.split("_")[1]
    assert answers == [Unauthorized, right, Unauthorized, free, Unauthorized, Unauthorized, right, free]
    assert {each.id: each.today for each in store.list() if each.today} == {right: 2, free: 2}


@pytest.mark.parametrize("before", [0, 2])
def test_of_requests_that_come_together_the_quota_admits_as_many_as_are_left(store, before):
    key = store.create("Praxis", KeyLimits(per_minute=50, per_day=5))
    for _ in range(before):
        admit(store, key)
    answers = store.admit_all([key] * 8)
    left = [(answer.standing[0].left, answer.standing[-1].left) for answer in answers]
    assert left[: 5 - before] == [(49 - used, 4 - used) for used in range(before, 5)]
    assert {day for _, day in left[5 - before :]} == {0}
    assert [isinstance(answer, KeyInfo) for answer in answers] == [number < 5 - before for number in range(8)]
    assert store.list()[0].today == 5


@pytest.mark.parametrize("before", [0, 2])
def test_of_requests_that_come_together_the_rate_admits_as_many_as_are_left(store, before):
    key = store.create("Praxis", KeyLimits(per_minute=5, per_day=50))
    for _ in range(before):
        admit(store, key)
    answers = store.admit_all([key] * 8)
    assert [answer.standing[0].left for answer in answers[: 5 - before]] == list(range(4 - before, -1, -1))
    refused = answers[5 - before :]
    assert {type(answer) for answer in refused} == {LimitReached}
    assert all(1 <= answer.retry_after <= 60 for answer in refused)
    assert store.list()[0].today == 5


def test_sqlite_is_asked_at_once_where_nobody_else_writes(tmp_path, redis_url):
    file = tmp_path / "keys.sqlite"
    store = Keys(open_database(f"sqlite:///{file}"))
    key = store.create("Praxis", KeyLimits(50, 4))
    first, wrong, second = store.admit_at_once([key, "bfd_", key])
    assert (first.today, type(wrong), second.today) == (1, Unauthorized, 2)
    locker = sqlite3.connect(file, isolation_level=None)
    locker.execute("BEGIN IMMEDIATE")
    assert store.admit_at_once([key]) is None
    locker.execute("ROLLBACK")
    locker.close()
    answers = store.admit_at_once([key] * 3)
    assert [getattr(answer, "today", type(answer)) for answer in answers] == [3, 4, LimitReached]
    store.revoke(key.split("_")[1])
    assert [type(answer) for answer in store.admit_at_once([key])] == [Unauthorized]
    assert store.list()[0].today == 4
    assert Keys(open_database(f"sqlite:///{file}"), redis_url).admit_at_once([key]) is None


def test_now_and_then_sqlite_is_left_to_write_its_log_back(tmp_path):
    store = Keys(open_database(f"sqlite:///{tmp_path / 'keys.sqlite'}"))
    key = store.create("Praxis", KeyLimits(0, 0))
    answers = [store.admit_at_once([key]) for _ in range(3 * WRITTEN_BACK)]
    assert answers.count(None) == 3
    assert store.list()[0].today == len(answers) - 3


def test_workers_that_share_redis_share_the_rate(engine, redis_url):
    key = Keys(engine).create("Praxis", KeyLimits(per_minute=4, per_day=0))
    one, other = Keys(engine, redis_url), Keys(engine, redis_url)
    for worker in (one, other, one, other):
        admit(worker, key)
    for worker in (one, other):
        with pytest.raises(LimitReached):
            admit(worker, key)


def test_a_rotated_key_ends_the_old_secret_and_keeps_the_limits(keys):
    old = keys.create("Praxis", KeyLimits(7, 8))
    new = keys.rotate(old.split("_")[1])
    with pytest.raises(Unauthorized):
        keys.check(old)
    assert keys.check(new).limits == KeyLimits(7, 8)
    assert keys.rotate("00000000") is None


def test_both_secrets_are_good_while_a_rotation_overlaps_and_a_key_may_end_by_itself(keys):
    """A caller that runs has time to take the new one; the one before the last ends in any case."""
    first = keys.create("Praxis")
    second = keys.rotate(first.split("_")[1], timedelta(seconds=2))
    assert keys.check(first).id == keys.check(second).id
    third = keys.rotate(first.split("_")[1], timedelta(seconds=2))
    with pytest.raises(Unauthorized):
        keys.check(first)
    assert keys.check(second).id == keys.check(third).id
    study = keys.create("Studie", good_for=timedelta(seconds=2))
    assert keys.check(study).expires_at
    time.sleep(2.1)
    for ended in (second, study):
        with pytest.raises(Unauthorized):
            keys.check(ended)
    assert keys.check(third)
    assert {each.name: each.state for each in keys.list()}["Studie"] == "expired"


def test_a_quota_that_is_nearly_used_is_said_once_and_shown(store, caplog):
    key = store.create("Praxis", KeyLimits(per_minute=0, per_day=10))
    before = REGISTRY.get_sample_value("befund_quota_warnings_total")
    caplog.set_level("WARNING", logger="befund")
    for _ in range(9):
        admit(store, key)
    said = [record.getMessage() for record in caplog.records]
    assert said == [f"key {key.split('_')[1]} used 80 % of its 10 requests a day"]
    assert REGISTRY.get_sample_value("befund_quota_warnings_total") == before + 1
    assert [each.state for each in store.list()] == ["90 %"]


def test_a_revoked_key_ends_at_once_and_for_good(keys):
    key = keys.create("Praxis")
    key_id = key.split("_")[1]
    assert keys.revoke(key_id)
    assert not keys.revoke(key_id)
    assert keys.rotate(key_id) is None
    with pytest.raises(Unauthorized):
        keys.check(key)


def test_a_locked_database_is_said_within_seconds_and_the_next_request_works(tmp_path):
    path = tmp_path / "keys.sqlite"
    store = Keys(open_database(f"sqlite:///{path}"))
    key = store.create("Praxis")
    locker = sqlite3.connect(path, isolation_level=None)
    locker.execute("BEGIN EXCLUSIVE")
    begun = time.monotonic()
    with pytest.raises(KeysUnavailable) as refused:
        admit(store, key)
    assert time.monotonic() - begun < 4
    assert str(path) not in str(refused.value)
    locker.execute("ROLLBACK")
    locker.close()
    assert admit(store, key)


def test_a_redis_that_is_gone_is_said_without_its_address(engine):
    store = Keys(engine, "redis://user:geheim@127.0.0.1:1/0")
    key = store.create("Praxis")
    with pytest.raises(KeysUnavailable) as refused:
        admit(store, key)
    assert "geheim" not in str(refused.value)


def test_the_key_database_is_its_owners_only(tmp_path):
    open_database(f"sqlite:///{tmp_path / 'sub' / 'keys.sqlite'}")
    assert stat.S_IMODE((tmp_path / "sub" / "keys.sqlite").stat().st_mode) == 0o600


@pytest.mark.parametrize("bad", ["mysql://x/y", "nonsense", "", "postgresql://user:a@b:geheim@127.0.0.1/name"])
def test_a_database_of_another_kind_is_refused_by_name_and_not_quoted(bad):
    with pytest.raises(SettingError, match="BEFUND_API_DATABASE_URL") as refused:
        open_database(bad)
    assert "geheim" not in str(refused.value)


def _command(tmp_path, *arguments):
    environment = {"BEFUND_API_DATABASE_URL": f"sqlite:///{tmp_path / 'cli.sqlite'}", "PATH": ""}
    command = [sys.executable, "-m", "bentos", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_the_command_line_makes_lists_rotates_and_revokes(tmp_path):
    key = _command(tmp_path, "keys", "create", "--name", "Praxis", "--per-minute", "7", "--per-day", "0").stdout.strip()
    key_id = key.split("_")[1]
    listed = _command(tmp_path, "keys", "list").stdout
    assert f"{key_id}           7        0      0" in listed
    assert "Praxis" in listed
    assert key.split("_", 2)[2] not in listed
    assert _command(tmp_path, "keys", "rotate", key_id).stdout.startswith(f"bfd_{key_id}_")
    assert _command(tmp_path, "keys", "revoke", key_id).returncode == 0
    gone = _command(tmp_path, "keys", "revoke", key_id)
    assert gone.returncode == 1
    assert "keys list" in gone.stderr


@pytest.mark.parametrize("name", ["", "  ", "x" * 201, "a\nb"])
def test_a_name_that_could_not_be_listed_is_refused(capsys, name):
    assert main(["keys", "create", "--name", name]) == 2
    assert "printable" in capsys.readouterr().err


def test_a_negative_limit_is_refused(capsys):
    assert main(["keys", "create", "--name", "x", "--per-minute", "-1"]) == 2
    assert "--per-minute" in capsys.readouterr().err


# --- the tables from version to version ------------------------------------------------------------------------------


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
