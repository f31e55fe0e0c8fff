"""Where keypairs are kept, and which one is used."""

import stat
from pathlib import Path

import pytest
from carrel_client import CarrelError
from carrel_client.profiles import Profile, load, path_of, remove, resolve, save

_KEYS = {"CARREL_URL": "http://env", "CARREL_ACCESS_KEY": "EK", "CARREL_SECRET_KEY": "es"}


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """An environment whose profiles are in a fresh folder."""
    return {"XDG_CONFIG_HOME": str(tmp_path)}


def _profile(name: str = "default", key: str = "AK") -> Profile:
    return Profile(name, url="http://server", access_key=key, secret_key="s", email="ada@example.org")


def test_a_saved_profile_comes_back_and_only_its_owner_can_read_it(
    home: dict[str, str], tmp_path: Path
) -> None:
    path = Path(save(_profile(), home))
    profile = load("default", home)
    assert profile is not None
    assert (profile.url, profile.access_key, profile.secret_key) == ("http://server", "AK", "s")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in (path.parent, path.parent.parent)} == {0o700}
    assert [file.name for file in path.parent.iterdir()] == ["default.json"]


def test_a_profile_that_others_can_read_is_refused(home: dict[str, str]) -> None:
    path = Path(save(_profile(), home))
    path.chmod(0o640)
    with pytest.raises(CarrelError) as raised:
        load("default", home)
    assert raised.value.code == "client.profile_shared"
    assert str(path) in raised.value.hint


def test_a_failed_save_leaves_the_old_profile(home: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    save(_profile(key="OLD"), home)

    def full(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="disk full"):
        save(_profile(key="NEW"), home)
    profile = load("default", home)
    assert profile is not None
    assert profile.access_key == "OLD"
    assert len(list(Path(path_of("default", home)).parent.iterdir())) == 1


def test_the_order_is_named_profile_then_keys_then_variable_then_default(home: dict[str, str]) -> None:
    for name in ("default", "work", "named"):
        save(_profile(name, key=name.upper()), home)
    everything = {**home, **_KEYS, "CARREL_PROFILE": "work"}
    assert resolve("named", everything).access_key == "NAMED"
    assert resolve(None, everything).access_key == "EK"
    assert resolve(None, {**home, "CARREL_PROFILE": "work"}).access_key == "WORK"
    assert resolve(None, home).access_key == "DEFAULT"


def test_half_a_keypair_in_the_environment_is_an_error_and_not_somebody_else(home: dict[str, str]) -> None:
    save(_profile(), home)
    with pytest.raises(CarrelError) as raised:
        resolve(None, {**home, "CARREL_ACCESS_KEY": "EK"})
    assert raised.value.code == "client.keypair_incomplete"
    assert "CARREL_URL and CARREL_SECRET_KEY" in raised.value.detail


def test_an_address_alone_chooses_the_profile_of_that_server(home: dict[str, str]) -> None:
    for name, url in (("default", "http://server"), ("a", "https://far/x"), ("b", "https://far/x")):
        save(Profile(name, url=url, access_key=name.upper(), secret_key="s"), home)
    assert resolve(None, {**home, "CARREL_URL": "http://server/"}).name == "default"
    assert resolve(None, {**home, "CARREL_URL": "far/x"}).name == "a"
    assert resolve(None, {**home, "CARREL_URL": "far/x", "CARREL_PROFILE": "b"}).name == "b"
    assert resolve("default", {**home, "CARREL_URL": "far/x"}).name == "default"


def test_an_address_that_nobody_is_signed_in_to_is_not_answered_by_another_server(
    home: dict[str, str],
) -> None:
    save(_profile(), home)
    Path(path_of("broken", home)).write_text("{")
    with pytest.raises(CarrelError) as raised:
        resolve(None, {**home, "CARREL_URL": "http://other"})
    assert raised.value.status == 401
    assert "CARREL_ACCESS_KEY and CARREL_SECRET_KEY are missing" in raised.value.detail
    assert raised.value.hint == "carrel login http://other --profile NAME"


def test_nobody_signed_in_says_how_to(home: dict[str, str]) -> None:
    with pytest.raises(CarrelError) as raised:
        resolve(None, home)
    assert raised.value.status == 401
    assert "carrel login" in raised.value.hint


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "-o", "naïve"])
def test_a_profile_cannot_leave_its_folder(name: str, home: dict[str, str]) -> None:
    with pytest.raises(CarrelError):
        path_of(name, home)


@pytest.mark.parametrize("text", ["", "[]", '{"url": "x"}', "null"])
def test_a_damaged_profile_says_so(text: str, home: dict[str, str]) -> None:
    Path(save(_profile(), home)).write_text(text)
    with pytest.raises(CarrelError) as raised:
        load("default", home)
    assert raised.value.code == "client.profile_damaged"


def test_removing_twice_is_fine(home: dict[str, str]) -> None:
    save(_profile(), home)
    remove("default", home)
    remove("default", home)
    assert load("default", home) is None


def test_a_token_of_the_environment_goes_before_everything_but_a_named_profile(home: dict[str, str]) -> None:
    save(_profile("named"), home)
    given = {**home, "CARREL_URL": "http://localhost:1", "CARREL_TOKEN": "carrel_x"}
    profile = resolve(None, given)
    assert (profile.url, profile.token, profile.access_key) == ("http://localhost:1", "carrel_x", "")
    assert resolve("named", given).token is None
