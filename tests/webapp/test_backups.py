"""A backup, restored elsewhere, has every row and every file; what is damaged, unfinished or in the way is refused."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import MetaData, create_engine, select, text

from bentos.keys import KeyLimits, open_keys
from clinical.errors import BefundError
from clinical.settings import settings
from tests.webapp.conftest import add_organization, add_user
from webapp.__main__ import main
from webapp.backups import back_up, restore
from webapp.database import parsed
from webapp.storage import open_files

CONTENTS = (b"", b"Ein erfundener Brief.", b"x" * 3_000_000)


def _rows(url: str) -> dict[str, list]:
    """All rows of all tables, as the database itself says which there are."""
    engine = create_engine(parsed(url))
    tables = MetaData()
    tables.reflect(engine)
    with engine.connect() as connection:
        rows = {name: sorted(map(repr, connection.execute(select(t)))) for name, t in tables.tables.items()}
    engine.dispose()
    return rows


def _sql(url: str, statement: str) -> None:
    engine = create_engine(parsed(url).set(database="postgres"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(statement))
    engine.dispose()


@pytest.fixture
def lived_in(app: Flask, tmp_path: Path):
    """Settings of an installation with people, a key and files, and those of an empty one of the same kind."""
    add_organization(app, member=add_user(app, email="jürgen@example.org"))
    here = app.config["BEFUND"].model_copy(update={"storage": f"file://{tmp_path}/files"})
    elsewhere = {
        "storage": f"file://{tmp_path}/other/files",
        "api_database_url": f"sqlite:///{tmp_path}/other/api.sqlite",
    }
    elsewhere["database_url"] = f"sqlite:///{tmp_path}/other/webapp.sqlite3"
    on_postgres = here.database_url.startswith("postgresql")
    if on_postgres:
        elsewhere["database_url"] = here.database_url.replace("/befund", "/restored")
        _sql(here.database_url, "CREATE DATABASE restored")
    open_keys(here).create("Praxis", KeyLimits(60, 1000))
    for content in CONTENTS:
        open_files(here.storage).put(io.BytesIO(content))
    yield here, here.model_copy(update=elsewhere)
    if on_postgres:
        _sql(here.database_url, "DROP DATABASE restored WITH (FORCE)")


def test_every_row_and_every_file_comes_back(lived_in, tmp_path):
    here, there = lived_in
    kept = back_up(here, tmp_path / "kept")
    assert (kept.databases, kept.files) == (("webapp.database", "api.database"), len(CONTENTS))
    assert restore(there, tmp_path / "kept") == kept
    for field in ("database_url", "api_database_url"):
        rows = _rows(getattr(here, field))
        assert sum(map(len, rows.values())) > 1
        assert _rows(getattr(there, field)) == rows
    files = open_files(there.storage)
    found = {b"".join(files.read(digest)): digest for digest in files.digests()}
    assert found == {content: hashlib.sha256(content).digest() for content in CONTENTS}
    assert (tmp_path / "kept").stat().st_mode & 0o077 == 0
    with pytest.raises(BefundError, match="empty place"):  # nothing is ever written over
        restore(there, tmp_path / "kept")


def test_a_damaged_backup_leaves_the_databases_empty(lived_in, tmp_path):
    here, there = lived_in
    folder = tmp_path / "kept"
    back_up(here, folder)
    (file,) = (path for path in (folder / "files").glob("??/??/*") if path.read_bytes() == CONTENTS[1])
    file.write_bytes(b"another letter")
    with pytest.raises(BefundError, match="damaged"):
        restore(there, folder)
    with (folder / "webapp.database").open("ab") as database:
        database.write(b"!")
    with pytest.raises(BefundError, match=r"webapp\.database is damaged"):
        restore(there, folder)
    (folder / "manifest.json").unlink()
    with pytest.raises(BefundError, match="no finished backup"):
        restore(there, folder)
    assert not Path(parsed(there.api_database_url).database).exists()
    if there.database_url.startswith("postgresql"):
        assert _rows(there.database_url) == {}
    else:
        assert not Path(parsed(there.database_url).database).exists()


@pytest.mark.parametrize("which", ["a file", "a folder of files", "a database"])
def test_a_backup_that_leads_elsewhere_is_refused_and_nothing_of_it_is_kept(lived_in, tmp_path, which):
    """Somebody else's letters, put into a backup by a link, would be in the storage before their hash is compared."""
    here, there = lived_in
    folder = tmp_path / "kept"
    back_up(here, folder)
    (one, *_) = (folder / "files").glob("??/??/*")
    place = {"a file": one, "a folder of files": one.parent, "a database": folder / "webapp.database"}[which]
    place.rename(tmp_path / "moved")
    place.symlink_to(tmp_path / "moved")
    with pytest.raises(BefundError, match=r"damaged or missing \(the name leads out"):
        restore(there, folder)
    assert hashlib.sha256(one.read_bytes()).digest() not in set(open_files(there.storage).digests())


@pytest.fixture
def alone(tmp_path, monkeypatch, sqlite_template):
    """An installation on SQLite that a command finds by its environment."""
    (tmp_path / "webapp.sqlite3").write_bytes(sqlite_template.read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BEFUND_ENV", "development")
    monkeypatch.setenv("BEFUND_VAR", str(tmp_path))
    settings.cache_clear()
    yield tmp_path
    settings.cache_clear()


def test_the_command_names_what_it_left_out_and_keeps_no_half_of_a_backup(alone, capsys):
    stored = open_files(f"file://{alone}/files")
    good, bad = stored.put(io.BytesIO(b"good")), stored.put(io.BytesIO(b"bad"))
    Path(stored.path(bad.digest)).write_bytes(b"rotten")
    assert main(["backup", "kept"]) == 1
    said = capsys.readouterr()
    assert bad.digest.hex() in said.err
    assert good.digest.hex() not in said.err
    assert "webapp.database, 1 files" in said.out
    assert json.loads((alone / "kept" / "manifest.json").read_text())["damaged"] == [bad.digest.hex()]
    assert main(["backup", "kept"]) == 1
    assert "is there" in capsys.readouterr().err
    (alone / "webapp.sqlite3").write_bytes(b"no database at all" * 100)
    assert main(["backup", "second"]) == 1
    assert "cannot be copied (SQLITE_NOTADB)" in capsys.readouterr().err
    assert sorted(path.name for path in alone.glob("second*")) == []


def test_the_command_restores(alone, capsys):
    open_files(f"file://{alone}/files").put(io.BytesIO(b"letter"))
    before = _rows(f"sqlite:///{alone}/webapp.sqlite3")
    assert main(["backup", "kept"]) == 0
    (alone / "webapp.sqlite3").rename(alone / "old")
    (alone / "files").rename(alone / "old-files")
    assert main(["restore", "kept"]) == 0
    assert "restored: webapp.database, 1 files" in capsys.readouterr().out
    assert _rows(f"sqlite:///{alone}/webapp.sqlite3") == before
