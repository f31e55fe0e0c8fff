"""Back ends come in by entry points, those of other distributions as ours."""

import sys
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path

import acme_distribution
import pytest
from pydantic import BaseModel, Field, SecretStr

from carrel.accelerators.make import make as make_accelerators
from carrel.accelerators.port import Attachment, DeviceNode
from carrel.core.errors import Invalid, Unavailable
from carrel.core.slots import SlotType
from carrel.engines.accelerated import attachment_of, node_with
from carrel.engines.port import ContainerSpec, NodeInfo
from carrel.plugins import Plugin, Port, find, kinds, require_kind
from carrel.storage.btrfs import BtrfsBackend
from carrel.storage.make import make
from carrel.storage.posix import PosixBackend

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Installs a distribution with these entry points, by group."""

    def installed(name: str, group: str = "carrel.storage", /, **kinds: str) -> None:
        site = tmp_path / name
        acme_distribution.write(site, name, group, **kinds)
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


def test_accelerators_of_another_distribution_reach_nodes_and_containers(install: Install):
    install("acme", Port.ACCELERATOR, npu="NPU")
    everything = make_accelerators({"npu": {"count": 2}})
    node = node_with(everything, NodeInfo("one", "x86_64", {"cpu": 1000}, "Fake 1"))
    assert node.slots == {"cpu": 1000, "npu.core-2": 2}
    assert [kind.type for kind in node.slot_kinds] == [SlotType.UNIQUE]
    spec = ContainerSpec("some", "image", {}, devices={"npu-1": 1000})
    assert attachment_of(everything, spec) == Attachment(nodes=(DeviceNode("/dev/npu-1"),))


def test_ours_come_by_entry_points_and_nobody_stands_in_for_them(install: Install):
    install("acme", posix="PLUGIN")
    assert (type(make("posix", Path("/srv"))), type(make("btrfs", Path("/srv")))) == (
        PosixBackend,
        BtrfsBackend,
    )


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


def test_the_hint_of_an_unknown_kind_names_a_few_others(install: Install):
    install("acme", **dict.fromkeys(["one", "two", "three", "four"], "PLUGIN"))
    with pytest.raises(Invalid) as refused:
        require_kind(Port.STORAGE, "none", field="backend")
    assert refused.value.hint == "Installed: btrfs, posix, four, one, three ..."
