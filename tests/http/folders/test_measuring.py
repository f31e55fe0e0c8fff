"""Measuring folders and watching over their hosts: what is looked at, when, and what is told of it."""

import asyncio
from collections.abc import Awaitable
from datetime import timedelta

import pytest
from databases import sql
from files_kit import folder as new_folder
from folder_kit import mounted
from installation import Api
from people import eventually
from people_kit import status_and_code
from quota_kit import MIB, Care, Limit, fill, made, quota
from sqlalchemy import text, update

from carrel.controllers import storage_monitor
from carrel.controllers.storage_monitor import StorageMonitor
from carrel.core.ids import FolderId
from carrel.folders import measuring
from carrel.storage.port import FolderLocation, Measure
from carrel.tables.folders import VFolder


async def test_what_folders_take_is_measured_and_shown(api: Api, care: Care, limit: Limit):
    user = await api.as_("user")
    await limit(folder_bytes=10 * MIB, folders=5)
    folder, other = await made(user, "data"), await made(user, "other")
    await fill(api, folder["id"], 3 * MIB)
    await fill(api, other["id"], 2 * MIB)
    await care.round()
    mine = (await quota(user))["user@example.org"]
    assert 5 * MIB <= mine["used_bytes"] < 6 * MIB
    assert (mine["folders"], mine["most_folders"], mine["most_bytes"]) == (2, 5, 10 * MIB)
    assert (mine["kind"], mine["level"]) == ("user", "adequate")
    assert mine["measured_at"] is not None
    shown = (await user.get(f"/vfolders/{folder['id']}")).json()
    assert 3 * MIB <= shown["used_bytes"] < 4 * MIB
    host = (await user.get("/storage-hosts/local")).json()
    assert (host["folders"], host["used_bytes"]) == (2, mine["used_bytes"])
    await fill(api, folder["id"], 0)
    await care.round(seconds=30)
    assert (await quota(user))["user@example.org"]["used_bytes"] < 3 * MIB, "the sum is made anew"


async def test_a_measured_change_is_published_once_and_directories_are_not_files(api: Api, care: Care):
    user = await api.as_("user")
    folder = await made(user, "data")
    await care.round()

    async def published() -> int:
        async with api.database.transaction() as tx:
            changes = text("SELECT count(*) FROM events WHERE kind = 'vfolder.updated' AND object_id = :id")
            return int((await tx.execute(changes, {"id": folder["id"]})).scalar_one())

    before = await published()
    await fill(api, folder["id"], 10)
    async with api.database.transaction() as tx:
        row = await tx.get_one(VFolder, FolderId(folder["id"]))
        (care.backends["folders"].files(FolderLocation(row.scope, row.id)) / "directory").mkdir()
    await care.round(seconds=10)
    assert (await user.get(f"/vfolders/{folder['id']}")).json()["files"] == 1
    assert await published() == before + 1
    await care.round(days=2)
    assert care.backends["folders"].calls.count("measure") == 3
    assert await published() == before + 1, "the same size as before"


@pytest.fixture
def only_when_notified(monkeypatch: pytest.MonkeyPatch) -> None:
    """The controller of storage waits for notifications only."""
    monkeypatch.setattr(StorageMonitor, "tick_s", 3600.0)
    monkeypatch.setattr(storage_monitor, "_REST", timedelta())


async def test_a_change_of_files_wakes_the_measuring(only_when_notified: None, living: Api):
    data = await new_folder(living)
    admin = await living.as_("superadmin")

    async def first() -> bool:
        await admin.patch("/storage-hosts/local", {"active": True})
        return bool((await data.get()).json()["measured_at"])

    await eventually(first)

    async def counted() -> bool:
        # One that comes while it measures is left to the tick, which is an hour here.
        await data.write("a", b"x")
        return bool((await data.get()).json()["files"] == 1)

    await eventually(counted)


async def test_only_what_may_have_changed_is_measured_again(api: Api, care: Care):
    user = await api.as_("user")
    folder = await made(user, "data")
    await care.round()
    backend = care.backends["folders"]
    backend.calls.clear()
    await care.round(minutes=10)
    assert "measure" not in backend.calls
    await mounted(api, user, folder["id"], read_only=True)
    await care.round(minutes=10)
    assert "measure" not in backend.calls
    await mounted(api, user, folder["id"], read_only=False)
    await care.round(minutes=2)
    assert backend.calls.count("measure") == 1
    await care.round(seconds=20)
    assert backend.calls.count("measure") == 1, "about once a minute"
    await care.round(minutes=2)
    assert backend.calls.count("measure") == 2
    await sql(api.database, "UPDATE vfolder_mounts SET released_at = now()")
    await care.round(minutes=2)
    assert backend.calls.count("measure") == 2
    await care.round(days=2)
    assert backend.calls.count("measure") == 3


async def test_a_host_that_counts_late_is_asked_late(
    api: Api, care: Care, tmp_path_factory: pytest.TempPathFactory
):
    admin, user = await api.as_("superadmin"), await api.as_("user")
    root = tmp_path_factory.mktemp("disks") / "late"
    assert (await admin.post("/storage-hosts", {"name": "late", "root": str(root)})).status_code == 201
    folder = await made(user, "data", host="late")
    await care.round()
    backend = care.backends["late"]
    backend.calls.clear()

    async def measured(**by: int) -> int:
        await care.round(**by)
        return backend.calls.count("measure")

    async def touch() -> None:
        async with api.database.transaction() as tx:
            await tx.execute(update(VFolder).values(touched_at=care.clock.now(), used_bytes=MIB))

    await touch()
    assert [await measured(seconds=10), await measured(seconds=25), await measured(minutes=5)] == [0, 1, 1]
    for _ in range(20):
        await touch()
        await care.round(seconds=20)
    assert 1 < backend.calls.count("measure") < 5, "at times, while it goes on"
    async with api.database.transaction() as tx:
        row = await tx.get_one(VFolder, FolderId(folder["id"]))
        before = care.clock.now()
        await tx.execute(update(VFolder).values(touched_at=before + timedelta(seconds=1), used_bytes=MIB))
        await measuring.record(tx, row, Measure(1, 1), as_of=before)
        assert (await tx.execute(text("SELECT used_bytes FROM vfolders"))).scalar_one() == MIB, (
            "what came in counts"
        )


async def test_a_host_that_hangs_delays_no_other_and_is_seen_to_hang(
    api: Api, care: Care, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("carrel.storage.threads.Threads.call.__kwdefaults__", {"deadline_s": 0.2})
    admin, user = await api.as_("superadmin"), await api.as_("user")
    disks = tmp_path_factory.mktemp("disks")
    for name in ("slow", "quick"):
        assert (
            await admin.post("/storage-hosts", {"name": name, "root": str(disks / name)})
        ).status_code == 201
    slow, quick = [await made(user, name, host=name) for name in ("slow", "quick")]
    await care.round()
    for folder in (slow, quick):
        await fill(api, folder["id"], MIB)
    care.backends["slow"].hang()
    care.clock.on(minutes=1)

    async def state(name: str) -> tuple[str, int]:
        async with asyncio.timeout(5):
            await care.storage.step()
        host = (await admin.get(f"/storage-hosts/{name}")).json()
        return host["state"], host["used_bytes"] // MIB

    await eventually(lambda: _is(state("quick"), ("ok", 1)))
    await eventually(lambda: _is(state("slow"), ("unavailable", 0)))
    assert (await admin.get("/storage-hosts/slow")).json()["problem"]
    assert status_and_code(await user.post("/vfolders", {"name": "new", "host": "slow"})) == (
        503,
        "storage.unavailable",
    )
    assert (await made(user, "new"))["host"]["name"] != "slow", "another is chosen"
    care.backends["slow"].answer()
    care.clock.on(minutes=1)
    await eventually(lambda: _is(state("slow"), ("ok", 1)))


async def _is(actual: Awaitable[object], expected: object) -> bool:
    return await actual == expected


async def test_a_host_that_was_unmounted_is_no_empty_one(
    api: Api, care: Care, tmp_path_factory: pytest.TempPathFactory
):
    disks = tmp_path_factory.mktemp("disks")
    admin, user = await api.as_("superadmin"), await api.as_("user")
    await admin.post("/storage-hosts", {"name": "lost", "root": str(disks / "lost")})
    await made(user, "kept", host="lost")
    await care.round()
    (disks / "lost").rename(disks / "elsewhere")
    await care.round(minutes=1)
    host = (await admin.get("/storage-hosts/lost")).json()
    assert host["state"] == "unavailable"
    assert "mounted" in host["problem"]
    (disks / "lost").rmdir()
    (disks / "elsewhere").rename(disks / "lost")
    await care.round(minutes=1)
    assert (await admin.get("/storage-hosts/lost")).json()["state"] == "ok"


async def test_a_host_that_was_unmounted_before_it_had_folders_gets_none(
    api: Api, care: Care, tmp_path_factory: pytest.TempPathFactory
):
    disks = tmp_path_factory.mktemp("disks")
    admin, user = await api.as_("superadmin"), await api.as_("user")
    await admin.post("/storage-hosts", {"name": "lost", "root": str(disks / "lost")})
    (disks / "lost").rename(disks / "elsewhere")
    (disks / "lost").mkdir(mode=0o700)
    refused = await user.post("/vfolders", {"name": "kept", "host": "lost"})
    assert status_and_code(refused) == (503, "storage.unavailable")
    await care.round(minutes=1)
    host = (await admin.get("/storage-hosts/lost")).json()
    assert host["state"] == "unavailable"
    assert "mounted" in host["problem"]
    assert list((disks / "lost").iterdir()) == []
