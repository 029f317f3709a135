"""Settings come from the environment, then .env, and a bad one is a sentence with its name."""

import pytest

from bentos.settings import Settings
from clinical.errors import SettingError


def test_the_environment_wins_over_the_file(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("BEFUND_API_PORT=4001\nBEFUND_WEB_PORT=4002\nOTHER=x\n")
    monkeypatch.setenv("BEFUND_API_PORT", "4003")
    settings = Settings.read()
    assert (settings.api_port, settings.web_port) == (4003, 4002)


def test_an_empty_value_is_the_default(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BEFUND_LIMITS_URL", "")
    assert Settings.read().limits_url == "memory://"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BEFUND_API_PORT", "geheim"),
        ("BEFUND_API_PORT", "70000"),
        ("BEFUND_ENV", "geheim"),
        ("BEFUND_WORKERS", "0"),
        ("BEFUND_INTERNAL_PATH", "geheim"),
        ("BEFUND_INTERNAL_PATH", "/api"),
    ],
)
def test_a_bad_value_is_refused_by_its_name_and_not_repeated(monkeypatch, tmp_path, name, value):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingError, match=name) as refused:
        Settings.read()
    assert "geheim" not in str(refused.value)


def test_production_refuses_limits_in_memory_for_several_workers(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BEFUND_WORKERS", "2")
    with pytest.raises(SettingError, match="BEFUND_LIMITS_URL"):
        Settings.read()
    monkeypatch.setenv("BEFUND_LIMITS_URL", "redis://127.0.0.1")
    assert Settings.read().workers == 2
    monkeypatch.delenv("BEFUND_LIMITS_URL")
    monkeypatch.setenv("BEFUND_ENV", "development")
    assert Settings.read().workers == 2
