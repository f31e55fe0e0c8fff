"""Back ends come in by entry points, those of other distributions as ours."""

import sys
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from textwrap import dedent

import pytest
from pydantic import BaseModel, Field, SecretStr

from carrel import plugins
from carrel.core.errors import Invalid, Unavailable
from carrel.plugins import Plugin, Port, find, kinds, secrets_of
from carrel.signin.providers.schemas import ProviderKind
from carrel.storage.btrfs import BtrfsBackend
from carrel.storage.make import make
from carrel.storage.posix import PosixBackend
from carrel.tables.storage_hosts import BackendKind

MODULE = dedent("""
    from carrel.plugins import Plugin
    from carrel.storage.port import StorageSettings

    class Shelf:
        def __init__(self, root):
            self.root = root

    PLUGIN = Plugin(StorageSettings, lambda settings: Shelf(settings.root))
    NO_PLUGIN = Shelf
""")
Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Installs a distribution with these entry points, by group."""

    def installed(name: str, **kinds: str) -> None:
        site = tmp_path / name
        described = site / f"{name}-1.0.dist-info"
        described.mkdir(parents=True)
        (site / f"{name}.py").write_text(MODULE)
        (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = [f"{kind} = {name}:{value}" for kind, value in kinds.items()]
        (described / "entry_points.txt").write_text("\n".join(["[carrel.storage]", *lines, ""]))
        monkeypatch.syspath_prepend(site)

    find.cache_clear()
    yield installed
    find.cache_clear()
    for name in ("acme", "other"):
        sys.modules.pop(name, None)


def refusal(kind: str) -> str:
    with pytest.raises(Unavailable) as refused:
        make(kind, Path("/srv"))
    assert refused.value.code == "plugin.unusable"
    return refused.value.message


def test_a_back_end_of_another_distribution_is_made(install: Install):
    install("acme", acme="PLUGIN")
    backend = make("acme", Path("/srv"))
    assert (type(backend).__module__, backend.root) == ("acme", Path("/srv"))


def test_ours_come_by_entry_points_and_nobody_stands_in_for_them(install: Install):
    install("acme", posix="PLUGIN")
    assert (type(make("posix", Path("/srv"))), type(make("btrfs", Path("/srv")))) == (PosixBackend, BtrfsBackend)


@pytest.mark.parametrize(("port", "kinds"), [(Port.STORAGE, BackendKind), (Port.IDENTITY, ProviderKind)])
def test_every_kind_that_the_api_knows_has_its_plugin(port: Port, kinds: type[BackendKind] | type[ProviderKind]):
    entries = plugins.distribution(plugins.DISTRIBUTION).entry_points.select(group=port)
    assert {entry.name for entry in entries} == set(kinds)
    assert all(find(port, kind) for kind in kinds)


def test_what_cannot_be_used_says_why(install: Install):
    install("acme", one="PLUGIN", gone="NOTHING", wrong="NO_PLUGIN")
    install("other", one="PLUGIN")
    assert "nothing installed brings it" in refusal("none")
    assert "acme and other both bring it" in refusal("one")
    assert "it does not load" in refusal("gone")
    assert "acme:NO_PLUGIN is no Plugin" in refusal("wrong")


class Tls(StrEnum):
    """How it is encrypted."""

    OFF = "off"
    ON = "on"


class Settings(BaseModel):
    """What the tests' back end is made from."""

    host: str = Field(description="A name or an address.")
    port: int | None = Field(default=None, ge=1)
    tls: Tls = Tls.ON
    token: SecretStr | None = None


SOME: Plugin[Settings, Settings] = Plugin(Settings, lambda settings: settings)


def test_a_schema_describes_the_settings_without_references_and_null():
    schema = SOME.schema()
    assert schema["required"] == ["host"]
    assert list(schema["properties"]) == ["host", "port", "tls", "token"]
    properties = schema["properties"]
    assert properties["host"] == {"type": "string", "title": "Host", "description": "A name or an address."}
    assert properties["port"] == {"type": "integer", "title": "Port", "minimum": 1, "default": None}
    assert (properties["tls"]["enum"], properties["tls"]["default"]) == (["off", "on"], "on")
    assert (properties["token"]["format"], properties["token"]["writeOnly"]) == ("password", True)
    assert secrets_of(schema) == {"token"}


@pytest.mark.parametrize(
    ("values", "setting"),
    [
        ({}, "host"),
        ({"host": "one", "port": 0}, "port"),
        ({"host": "one", "tls": "half"}, "tls"),
        ({"host": "one", "colour": "blue"}, "colour"),
    ],
)
def test_settings_that_are_wrong_are_refused_by_name(values: dict[str, object], setting: str):
    with pytest.raises(Invalid, match=setting) as refused:
        SOME.checked(values)
    assert (refused.value.code, refused.value.field) == ("plugin.setting_invalid", f"settings.{setting}")


def test_a_refused_secret_is_not_in_the_message():
    with pytest.raises(Invalid) as refused:
        SOME.checked({"host": "one", "token": {"key": "hunter2"}})
    assert "hunter2" not in refused.value.message


def test_settings_that_are_right_are_as_given():
    settings = SOME.checked({"host": "one", "token": "hunter2"})
    assert (settings.host, settings.tls) == ("one", Tls.ON)
    assert settings.token
    assert settings.token.get_secret_value() == "hunter2"


def test_all_kinds_that_can_be_used_are_listed_ours_first(install: Install):
    install("acme", acme="PLUGIN", gone="NOTHING", posix="PLUGIN")
    listed = kinds(Port.STORAGE)
    assert list(listed) == ["btrfs", "posix", "acme"]
    assert "root" in listed["acme"].schema()["properties"]
