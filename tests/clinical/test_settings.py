"""Settings come from the environment, .env and a running `make up`, in this order; a bad one is a sentence."""

import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from clinical.errors import SettingError
from clinical.running import RUNNING, leave
from clinical.settings import FROM_FILES, NO_SETTINGS, NO_SETTINGS_BEGIN, Settings

ROOT = Path(__file__).resolve().parents[2]
NAME = re.compile(r"\bBEFUND_[A-Z][A-Z_]*[A-Z]\b")
LONG = "only-for-tests-and-nothing-else-4711-Xyz"


@pytest.fixture(autouse=True)
def _folder(monkeypatch, tmp_path):
    """A working folder of its own."""
    monkeypatch.chdir(tmp_path)


def test_the_environment_wins_over_the_file(monkeypatch, tmp_path):
    (tmp_path / ".env").write_text("BEFUND_API_PORT=4001\nBEFUND_WEB_PORT=4002\nOTHER=x\n")
    monkeypatch.setenv("BEFUND_API_PORT", "4003")
    settings = Settings.read()
    assert (settings.api_port, settings.web_port) == (4003, 4002)


def test_an_empty_value_is_the_default(monkeypatch):
    monkeypatch.setenv("BEFUND_LIMITS_URL", "")
    assert Settings.read().limits_url == "memory://"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BEFUND_API_PORT", "geheim"),
        ("BEFUND_WORKERS", "0"),
        ("BEFUND_INTERNAL_PATH", "/api"),
        ("BEFUND_MAIL_URL", "smtp://"),
        ("BEFUND_PUBLIC_URL", "geheim.example"),
        ("BEFUND_PUBLIC_URL", "http://geheim.example"),
        ("BEFUND_DATABASE_URL", "mysql://geheim"),
        ("BEFUND_LIMITS_URL", "redis:/geheim"),
        ("BEFUND_DATABASE_URL", "postgresql://user:a/b@127.0.0.1:geheim/name"),
        ("BEFUND_API_DATABASE_URL", "postgresql://user@127.0.0.1:70000/geheim"),
        ("BEFUND_DATABASE_URL", "postgresql://user:ge@heim@127.0.0.1/name"),
        ("BEFUND_API_DATABASE_URL", "postgresql://user@b:ge@heim/x@127.0.0.1/name"),
        ("BEFUND_MAIL_URL", "smtp://127.0.0.1:geheim"),
        ("BEFUND_LLM_BASE_URL", "http://127.0.0.1:8000/v1, http://127.0.0.1:geheim/v1"),
    ],
)
def test_a_bad_value_is_refused_by_its_name_and_not_repeated(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingError, match=name) as refused:
        Settings.read()
    assert "geheim" not in str(refused.value)


def test_production_refuses_limits_in_memory_for_several_workers(monkeypatch):
    monkeypatch.setenv("BEFUND_WORKERS", "2")
    with pytest.raises(SettingError, match="BEFUND_LIMITS_URL"):
        Settings.read()
    monkeypatch.setenv("BEFUND_LIMITS_URL", "redis://127.0.0.1")
    assert Settings.read().workers == 2
    monkeypatch.delenv("BEFUND_LIMITS_URL")
    monkeypatch.setenv("BEFUND_ENV", "development")
    assert Settings.read().workers == 2


@pytest.mark.parametrize(
    ("typo", "meant"),
    [("BEFUND_LMM", "BEFUND_LLM"), ("BEFUND_WEBPORT", "BEFUND_WEB_PORT"), ("BEFUND_SECRET", "BEFUND_SECRET_KEY")],
)
@pytest.mark.parametrize("where", ["environment", "file"])
def test_a_name_that_is_no_setting_is_refused_with_the_nearest(monkeypatch, tmp_path, typo, meant, where):
    if where == "environment":
        monkeypatch.setenv(typo, "geheim")
    else:
        (tmp_path / ".env").write_text(f"{typo}=geheim\n")
    with pytest.raises(SettingError, match=rf"{typo} is no setting; expected perhaps {meant};") as refused:
        Settings.read()
    assert "geheim" not in str(refused.value)


@pytest.mark.parametrize("name", [*NO_SETTINGS, "BEFUND_NOTEBOOK_CATALOG", "BEFUND_VLLM_VENV"])
def test_names_that_other_programs_of_the_project_read_are_let_through(monkeypatch, name):
    monkeypatch.setenv(name, "x")
    Settings.read()


def test_every_name_of_the_project_is_a_setting_or_let_through():
    """A variable that code or documentation names and that nobody would accept were a trap."""
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False).stdout.split(b"\0")
    known = {f"BEFUND_{name.upper()}" for name in Settings.model_fields} | set(NO_SETTINGS)
    known |= {f"BEFUND_{name.upper()}_FILE" for name in FROM_FILES}
    strange = set()
    for file in filter(None, files):
        path = ROOT / file.decode()
        if path.suffix in {".py", ".md", ".sh", ""} and path != Path(__file__) and path.is_file():
            strange |= set(NAME.findall(path.read_text("utf-8", errors="replace"))) - known
    assert {name for name in strange if not name.startswith(NO_SETTINGS_BEGIN)} == set()


def test_whatever_is_hidden_as_a_secret_may_be_a_file():
    secret = {name for name, field in Settings.model_fields.items() if "SecretStr" in str(field.annotation)}
    hidden = {name for name, field in Settings.model_fields.items() if not field.repr}
    assert len(secret) >= 5
    assert secret | hidden == set(FROM_FILES)


@pytest.mark.parametrize("field", FROM_FILES)
def test_what_may_hold_a_password_may_be_named_as_a_file(monkeypatch, tmp_path, field):
    others = {
        "secret_key": LONG,
        "llm_api_key": LONG,
        "limits_url": "redis://:geheim@127.0.0.1/0",
        "mail_url": "smtp://user:geheim@127.0.0.1",
        "traces_url": "https://user:geheim@127.0.0.1:4318/v1/traces",
    }
    value = others.get(field, "postgresql://user:geheim@127.0.0.1/befund")
    name = f"BEFUND_{field.upper()}"
    (tmp_path / "secret").write_text(f"{value}\n")
    monkeypatch.setenv(f"{name}_FILE", str(tmp_path / "secret"))
    read = getattr(Settings.read(), field)
    assert getattr(read, "get_secret_value", lambda: read)() == value
    assert "geheim" not in repr(Settings.read())
    assert LONG not in repr(Settings.read())
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingError, match=f"{name} and {name}_FILE are both set"):
        Settings.read()
    monkeypatch.delenv(name)
    (tmp_path / "secret").write_text("\n")
    with pytest.raises(SettingError, match=f"{name}_FILE names an empty file"):
        Settings.read()
    (tmp_path / "secret").unlink()
    with pytest.raises(SettingError, match=f"{name}_FILE names a file that cannot be read"):
        Settings.read()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BEFUND_DATABASE_URL", "postgresql://user:a/b:c#d@[::1]:5432/name?sslmode=require"),
        ("BEFUND_DATABASE_URL", "postgresql:///name?host=/run/postgresql"),
        ("BEFUND_DATABASE_URL", "postgresql://user@realm:secret@127.0.0.1/name?application_name=a@b"),
        ("BEFUND_DATABASE_URL", "postgresql://user:a%40b@127.0.0.1/name"),
        ("BEFUND_DATABASE_URL", "sqlite:////srv/a:b/webapp.sqlite3"),
        ("BEFUND_LIMITS_URL", "redis+sentinel://:pass@10.0.0.1:26379,10.0.0.2:26379/befund"),
        ("BEFUND_LIMITS_URL", "redis+unix:///run/redis.sock?db=1"),
        ("BEFUND_LLM_BASE_URL", "http://[fd00::7]/v1,https://gpu.klinik.example:8443/v1"),
        ("BEFUND_MAIL_URL", "smtps://user:pass@mail.klinik.example"),
    ],
)
def test_an_address_with_or_without_a_port_is_taken_as_it_is(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    assert getattr(Settings.read(), name.removeprefix("BEFUND_").lower()) == value


# --- a make up that runs beside -------------------------------------------------------------------------------------


@pytest.fixture
def var(monkeypatch, tmp_path):
    """The folder that the other process has too."""
    monkeypatch.setenv("BEFUND_VAR", str(tmp_path / "var"))
    return tmp_path / "var"


def test_what_runs_beside_counts_after_the_environment_and_the_file(monkeypatch, tmp_path, var):
    (tmp_path / ".env").write_text("BEFUND_API_PORT=4001\n")
    monkeypatch.setenv("BEFUND_LLM_QUEUE", "3")
    started = {"BEFUND_ENV": "development", "BEFUND_API_PORT": "1", "BEFUND_LLM_QUEUE": "1", "BEFUND_WEB_PORT": "4002",
               "BEFUND_MAIL_FROM": "it's a \\ \"sender\""}  # fmt: skip
    with leave(var / RUNNING, started):
        assert stat.S_IMODE((var / RUNNING).stat().st_mode) == 0o600
        read = Settings.read()
        assert (read.env, read.api_port, read.llm_queue, read.web_port) == ("development", 4001, 3, 4002)
        assert read.mail_from == started["BEFUND_MAIL_FROM"]
    assert Settings.read().web_port == 5000
    assert not (var / RUNNING).exists()


def test_a_process_with_an_environment_of_its_own_takes_nothing_from_it(monkeypatch, var):
    with leave(var / RUNNING, {"BEFUND_ENV": "development", "BEFUND_WEB_PORT": "4002"}):
        monkeypatch.setenv("BEFUND_ENV", "production")
        assert (Settings.read().env, Settings.read().web_port) == ("production", 5000)


def test_what_a_killed_process_left_behind_is_not_believed(var):
    code = (
        "import os, sys; from pathlib import Path; from clinical.running import leave\n"
        "with leave(Path(sys.argv[1]), {'BEFUND_ENV': 'development'}): os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, str(var / RUNNING)], cwd=ROOT, timeout=60, check=False)
    assert (var / RUNNING).exists()
    assert Settings.read().env == "production"


def test_a_second_make_up_with_the_same_folder_leaves_the_file_of_the_first(var):
    with leave(var / RUNNING, {"BEFUND_ENV": "development"}):
        with leave(var / RUNNING, {"BEFUND_ENV": "production"}):
            assert Settings.read().env == "development"
        assert Settings.read().env == "development"


def test_the_secret_of_development_is_made_once(monkeypatch, var):
    monkeypatch.setenv("BEFUND_ENV", "development")
    assert Settings.read().secret == ""
    made = Settings.read().with_secret().secret
    assert len(made) >= 32
    assert Settings.read().with_secret().secret == made
    assert [(file.name, stat.S_IMODE(file.stat().st_mode)) for file in var.iterdir()] == [("secret_key", 0o600)]


def test_no_command_has_another_secret_than_the_servers_beside_it(monkeypatch, var):
    with leave(var / RUNNING, {"BEFUND_ENV": "development", "BEFUND_SECRET_KEY": LONG}):
        assert Settings.read().with_secret().secret == LONG
        monkeypatch.setenv("BEFUND_SECRET_KEY", "another-" + LONG)
        with pytest.raises(SettingError, match="not the one of the running `make up`"):
            Settings.read().with_secret()
        monkeypatch.setenv("BEFUND_ENV", "development")
        with pytest.raises(SettingError, match="not the one of the running `make up`"):
            Settings.read().with_secret()


def test_a_secret_that_both_read_from_one_file_is_no_contradiction(monkeypatch, tmp_path, var):
    (tmp_path / "secret").write_text(LONG)
    (tmp_path / ".env").write_text(f"BEFUND_SECRET_KEY_FILE={tmp_path / 'secret'}\n")
    with leave(var / RUNNING, {"BEFUND_ENV": "development", "BEFUND_SECRET_KEY": LONG}):
        assert Settings.read().with_secret().secret == LONG
