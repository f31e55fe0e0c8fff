"""What `carrel up` keeps from one start to the next, and how it is forgotten."""

import json
from pathlib import Path

import pytest

from carrel.core.errors import Conflict
from carrel.server.grammar import parse
from carrel.server.remembered import effective_settings, require_as_running
from carrel.server.settings import Settings

BEHIND_A_PROXY = {
    "CARREL_PUBLIC_URL": "https://carrel.test",
    "CARREL_APPS_URL": "https://apps.carrel.test",
    "CARREL_TRUSTED_PROXIES": "127.0.0.1",
    "CARREL_GATEWAY_PORT": "9000",
}


@pytest.fixture
def former(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory whose last `up` was given these variables."""
    for name in BEHIND_A_PROXY:
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "run.json").write_text(
        json.dumps(
            {
                "environment": {
                    "CARREL_HOST": "127.0.0.1",
                    "CARREL_PORT": "8700",
                    "CARREL_INSTALLATION": "a",
                    "CARREL_APPS_DOMAIN": "localhost",
                    **BEHIND_A_PROXY,
                }
            }
        )
    )
    return tmp_path


def settled(data_dir: Path, *options: str) -> Settings:
    return effective_settings(parse(["up", "--data-dir", str(data_dir), *options]))


def test_where_it_is_reached_is_remembered(former: Path) -> None:
    settings = settled(former)
    assert settings.effective_public_url == "https://carrel.test"
    assert settings.effective_apps_url == "https://apps.carrel.test"
    assert settings.effective_trusted_proxies == ["127.0.0.1"]
    assert settings.effective_gateway_port == 9000


def test_an_empty_variable_forgets_and_another_value_takes_its_place(
    former: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARREL_PUBLIC_URL", "")
    monkeypatch.setenv("CARREL_TRUSTED_PROXIES", "10.0.0.0/8")
    monkeypatch.setenv("CARREL_GATEWAY_PORT", "0")
    settings = settled(former)
    assert settings.effective_public_url == "http://localhost:8700"
    assert settings.effective_apps_url == "https://apps.carrel.test"
    assert settings.effective_trusted_proxies == ["10.0.0.0/8"]
    assert settings.effective_gateway_port == 8701


def test_a_copy_is_not_where_the_original_is(former: Path) -> None:
    settings = settled(former, "--as-copy", "--port", "8800")
    assert (settings.public_url, settings.apps_url, settings.installation) == ("", "", "")
    assert settings.effective_trusted_proxies == ["127.0.0.1"]


def test_one_that_runs_with_other_settings_must_be_stopped_first(
    former: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_as_running(settled(former))
    with pytest.raises(Conflict, match="with another --port: 8700"):
        require_as_running(settled(former, "--port", "8800"))
    monkeypatch.setenv("CARREL_PUBLIC_URL", "")
    with pytest.raises(Conflict, match=r"with another CARREL_PUBLIC_URL: https://carrel\.test"):
        require_as_running(settled(former))
