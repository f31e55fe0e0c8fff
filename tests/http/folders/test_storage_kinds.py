"""Kinds of storage: from plug-ins, with settings that the API, the command line and the page read from their schema."""

from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from command_line import command_line
from installation import Api
from people_kit import status_and_code
from pydantic import BaseModel, Field, SecretStr
from sqlalchemy import text

from carrel import plugins
from carrel.core.ids import StorageHostId
from carrel.plugins import Plugin
from carrel.storage.fake import FakeBackend


class AcmeSettings(BaseModel):
    """Folders on an ACME filer."""

    root: Path
    stripes: int = Field(default=1, ge=1, description="Over so many disks.")
    token: SecretStr


class AcmeBackend(FakeBackend):
    def __init__(self, settings: AcmeSettings) -> None:
        super().__init__(settings.root)
        self.settings = settings


PLUGIN = Plugin(AcmeSettings, AcmeBackend, "ACME filer", AcmeBackend)
ACME = {"backend": "acme", "settings": {"stripes": "4", "token": "hunter2"}}


@pytest.fixture
def acme(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Another distribution has brought a kind of storage."""
    theirs = metadata.EntryPoint("acme", f"{__name__}:PLUGIN", plugins.Port.STORAGE)
    entry_points = plugins.entry_points

    def with_theirs(*, group: str, name: str | None = None) -> list[metadata.EntryPoint]:
        ours = list(entry_points(group=group) if name is None else entry_points(group=group, name=name))
        return [*ours, theirs] if group == plugins.Port.STORAGE and name in (None, "acme") else ours

    monkeypatch.setattr(plugins, "entry_points", with_theirs)
    plugins.find.cache_clear()
    yield
    plugins.find.cache_clear()


async def test_kinds_are_listed_with_their_settings(api: Api, acme: None):
    answer = await (await api.as_("superadmin")).get("/storage-host-kinds")
    assert answer.status_code == 200, answer.text
    listed = answer.json()["items"]
    assert [(one["kind"], one["hard_quota"]) for one in listed][:2] == [("btrfs", True), ("posix", False)]
    [theirs] = [one for one in listed if one["kind"] == "acme"]
    assert (theirs["title"], theirs["description"]) == ("ACME filer", "Folders on an ACME filer.")
    assert theirs["settings"]["required"] == ["root", "token"]
    assert theirs["settings"]["properties"]["token"]["writeOnly"]


async def test_a_host_of_another_kind_is_made_with_its_settings(api: Api, acme: None, tmp_path_factory):
    root = tmp_path_factory.mktemp("acme") / "folders"
    admin = await api.as_("superadmin")
    made = await admin.post("/storage-hosts", {"name": "filer", "root": str(root), **ACME})
    assert made.status_code == 201, made.text
    assert "hunter2" not in made.text
    async with api.database.transaction() as tx:
        kept = (
            await tx.execute(text("SELECT settings FROM storage_hosts WHERE name = 'filer'"))
        ).scalar_one()
        trail = (await tx.execute(text("SELECT string_agg(details::text, '') FROM audit"))).scalar_one()
    assert b"hunter2" not in kept
    assert "hunter2" not in trail
    storage = await api.app.state.services.storages.of(StorageHostId(made.json()["id"]))
    assert isinstance(storage.backend, AcmeBackend)
    assert storage.backend.settings.stripes == 4
    assert storage.backend.settings.token.get_secret_value() == "hunter2"


async def test_wrong_settings_and_kinds_are_refused_by_name(api: Api, acme: None, tmp_path_factory):
    root = str(tmp_path_factory.mktemp("acme") / "folders")
    admin = await api.as_("superadmin")
    for fields, code, field in (
        ({"backend": "none"}, "plugin.kind_unknown", "backend"),
        ({"backend": "acme"}, "plugin.setting_invalid", "settings.token"),
        ({**ACME, "settings": {"token": "x", "stripes": 0}}, "plugin.setting_invalid", "settings.stripes"),
        ({"settings": {"colour": "blue"}}, "plugin.setting_invalid", "settings.colour"),
    ):
        refused = await admin.post("/storage-hosts", {"name": "filer", "root": root, **fields})
        assert status_and_code(refused) == (422, code)
        assert refused.json()["field"] == field


async def test_the_command_line_lists_kinds_and_takes_their_settings(api: Api, acme: None, tmp_path_factory):
    admin = await command_line(api, "superadmin", tmp_path_factory.mktemp("home"))
    root = str(tmp_path_factory.mktemp("acme") / "folders")
    assert "Over so many disks." in await admin.ok("storage-host", "kinds")
    words = ["create", "acme", "filer", "--root", root, "--stripes", "2", "--token", "-"]
    await admin.ok("storage-host", *words, stdin=b"a=b\n")
    assert (await admin.as_json("storage-host", "show", "filer"))["backend"] == "acme"
