"""Limits on folders: how many and how much, measured, told to their owners and held however many ask at once."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest
from controller_kit import tools
from databases import sql
from files_kit import folder as new_folder
from folder_kit import mounted
from installation import Api, Caller
from people import eventually
from people_kit import domain_admin, project_admin, said
from sqlalchemy import text, update

from carrel.controllers import storage_monitor
from carrel.controllers.storage_monitor import StorageMonitor
from carrel.core.errors import Refused
from carrel.core.ids import FolderId
from carrel.db.leader import Leader, lead
from carrel.folders import measuring, quotas
from carrel.folders.hosts.storages import Storages
from carrel.storage.fake import FakeBackend, FakeQuotaBackend
from carrel.storage.port import FolderLocation, Measure
from carrel.tables.folders import VFolder

MIB = 1 << 20
Limit = Callable[..., Awaitable[None]]


class Hands:
    """A clock that tests move on."""

    def __init__(self) -> None:
        self.at = datetime(2026, 6, 15, 12, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at

    def on(self, **by: int) -> None:
        self.at += timedelta(**by)


class Late(FakeBackend):
    """Counts what was written half a minute later."""

    usage_late_s = 30.0


class Care:
    """The controller over fake storages; each host's back end by the name of its root."""

    def __init__(self, api: Api, leader: Leader) -> None:
        self.clock = Hands()
        self.backends: dict[str, FakeBackend] = {}
        self.storages = Storages(api.database, self._made)
        self.storage = StorageMonitor(tools(api.database, leader, clock=self.clock, storages=self.storages))

    def _made(self, kind: str, root: Path, settings: object) -> FakeBackend:
        fake = {"hard": FakeQuotaBackend, "late": Late}.get(root.name, FakeBackend)
        return self.backends.setdefault(root.name, fake(root))

    async def round(self, **by: int) -> None:
        """Later, everything that is due."""
        self.clock.on(**by)
        # The first step asks whether hosts answer, the second works on those that do.
        for _ in range(2):
            await self.storage.step()
            await self.storage.drain()


@pytest.fixture
async def care(api: Api) -> AsyncIterator[Care]:
    leader = await lead(api.database.url)
    care = Care(api, leader)
    yield care
    for backend in care.backends.values():
        backend.answer()
    await care.storage.close()
    care.storages.close()
    await leader.resign()


@pytest.fixture
def limit(api: Api) -> Limit:
    """Sets what the default policies of people, or of projects, allow."""

    async def change(kind: str = "user", **limits: object) -> None:
        admin = await api.as_("superadmin")
        answer = await admin.patch(f"/policies/default-{kind}", {"limits": limits})
        assert answer.status_code == 200, answer.text

    return change


async def made(who: Caller, name: str, **wanted: object) -> dict:  # type: ignore[type-arg]
    answer = await who.post("/vfolders", {"name": name, **wanted})
    assert answer.status_code == 201, answer.text
    return answer.json()  # type: ignore[no-any-return]


async def quota(who: Caller, **params: object) -> dict[str, dict]:  # type: ignore[type-arg]
    answer = await who.get("/quotas", params=params)
    assert answer.status_code == 200, answer.text
    return {row["label"]: row for row in answer.json()["items"]}


async def fill(api: Api, folder: str, size: int, name: str = "file") -> None:
    """Put a file of that size into a folder, and say that it changed."""
    async with api.database.transaction() as tx:
        row = await tx.get_one(VFolder, FolderId(folder))
        storage = await api.services.storages.of(row.host_id)
        (storage.backend.files(FolderLocation(row.scope, row.id)) / name).write_bytes(b"x" * size)
        row.touched_at = (row.measured_at or datetime(2026, 6, 15, 12, tzinfo=UTC)) + timedelta(
            milliseconds=1
        )


async def test_the_number_of_folders_holds_however_many_ask_at_once(api: Api, limit: Limit):
    user = await api.as_("user")
    await limit(folders=3)
    answers = await asyncio.gather(*(user.post("/vfolders", {"name": f"f{n}"}) for n in range(8)))
    assert sorted(a.status_code for a in answers) == [201] * 3 + [409] * 5
    assert {a.json()["code"] for a in answers if a.status_code == 409} == {"quota.folders"}
    one = next(a.json()["id"] for a in answers if a.status_code == 201)
    assert (await user.post(f"/vfolders/{one}/trash")).status_code == 200
    refused = await user.post("/vfolders", {"name": "more"})
    assert said(refused) == (409, "quota.folders"), "the trash counts"
    assert refused.json()["details"] == {"folders": 3, "most_folders": 3}
    assert (await (await api.as_("colleague")).post("/vfolders", {"name": "theirs"})).status_code == 201


async def test_a_projects_folders_count_for_the_project(api: Api, limit: Limit):
    lead_ = await project_admin(api)
    await limit("project", folders=1)
    await limit("user", folders=0)
    await made(lead_, "shared", project=api.people.project)
    refused = await lead_.post("/vfolders", {"name": "another", "project": api.people.project})
    assert said(refused) == (409, "quota.folders")
    assert said(await lead_.post("/vfolders", {"name": "own"})) == (409, "quota.folders")


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

    await eventually(counted, within_s=30)


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


async def test_at_the_limit_nothing_more_comes_in(api: Api, care: Care, limit: Limit):
    user = await api.as_("user")
    folder = await made(user, "data")
    await fill(api, folder["id"], 3 * MIB)
    await care.round()
    await limit(folder_bytes=4 * MIB)

    async def refused(more: int) -> bool:
        async with api.database.transaction() as tx:
            row = await tx.get_one(VFolder, FolderId(folder["id"]))
            with suppress(Refused):
                await quotas.require_room(tx, row, more)
                return False
            return True

    assert [await refused(more) for more in (0, MIB // 2, 2 * MIB)] == [False, False, True]
    await limit(folder_bytes=2 * MIB)
    assert await refused(0)
    await limit(folder_bytes="unlimited")
    assert not await refused(1 << 50)


async def test_uploads_that_have_begun_count_for_those_that_begin(api: Api, limit: Limit):
    user = await api.as_("user")
    folder, other = await made(user, "data"), await made(user, "other")
    await limit(folder_bytes=1000)

    async def begin(where: str, name: str) -> httpx2.Response:
        headers = {"Tus-Resumable": "1.0.0", "Upload-Length": "600", "Upload-Metadata": f"path {name}"}
        return await user.post(f"/vfolders/{where}/uploads", headers=headers)

    answers = await asyncio.gather(*(begin(folder["id"], f"YWF{n}") for n in range(4)))
    assert sorted(each.status_code for each in answers) == [201, 409, 409, 409]
    assert said(await begin(other["id"], "YQ==")) == (409, "quota.bytes"), "of the same owner"
    begun = next(each.headers["location"] for each in answers if each.status_code == 201)
    ended = await user.delete(f"/vfolders/{folder['id']}/{begun}", headers={"Tus-Resumable": "1.0.0"})
    assert ended.status_code == 204, ended.text
    assert (await begin(other["id"], "YQ==")).status_code == 201


async def test_owners_are_told_once_when_the_limit_comes_near_is_reached_and_is_far_again(
    api: Api, care: Care, limit: Limit
):
    user = await api.as_("user")
    await limit(folder_bytes=10 * MIB)
    folder = await made(user, "data")
    for number, size in enumerate((5, 1, 3, 0, 2, 1, 0)):
        await fill(api, folder["id"], size * MIB, f"file{number}")
        await care.round(minutes=5)
    assert (await quota(user))["user@example.org"]["level"] == "insufficient"
    await fill(api, folder["id"], 0, "file0")
    await care.round(minutes=5)
    told = await sql(
        api.database, "SELECT owner_id, data ->> 'level' FROM events WHERE kind = 'quota.updated' ORDER BY id"
    )
    owner = api.people.user.user_id
    assert told == [(owner, "caution"), (owner, "insufficient"), (owner, "adequate")]


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
    assert said(await user.post("/vfolders", {"name": "new", "host": "slow"})) == (503, "storage.unavailable")
    assert (await made(user, "new"))["host"]["name"] != "slow", "another is chosen"
    care.backends["slow"].answer()
    care.clock.on(minutes=1)
    await eventually(lambda: _is(state("slow"), ("ok", 1)))


async def _is(found: Awaitable[object], wanted: object) -> bool:
    return await found == wanted


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
    assert said(refused) == (503, "storage.unavailable")
    await care.round(minutes=1)
    host = (await admin.get("/storage-hosts/lost")).json()
    assert host["state"] == "unavailable"
    assert "mounted" in host["problem"]
    assert list((disks / "lost").iterdir()) == []


async def test_a_host_that_enforces_quotas_is_told_them(
    api: Api, care: Care, limit: Limit, tmp_path_factory: pytest.TempPathFactory
):
    admin, user = await api.as_("superadmin"), await api.as_("user")
    root = tmp_path_factory.mktemp("disks") / "hard"
    assert (await admin.post("/storage-hosts", {"name": "hard", "root": str(root)})).status_code == 201
    await made(user, "data", host="hard")
    await care.round()
    hard = care.backends["hard"]
    assert isinstance(hard, FakeQuotaBackend)
    scope = quotas.scope_of(owner=api.people.user.user_id)
    for most, told in ((MIB, {scope: MIB}), (2 * MIB, {scope: 2 * MIB}), ("unlimited", {})):
        await limit(folder_bytes=most)
        await care.round(seconds=30)
        assert hard.limits == told
    hard.calls.clear()
    await care.round(seconds=30)
    assert "set_quota" not in hard.calls


async def test_quotas_are_listed_for_those_who_may_see_them(api: Api):
    admin, head, lead_, user, foreigner = [
        await api.as_("superadmin"),
        await domain_admin(api),
        await project_admin(api),
        await api.as_("user"),
        await api.as_("foreigner"),
    ]
    assert set(await quota(user)) == {"default/default", "user@example.org"}
    assert set(await quota(user, of="all")) == {"default/default", "user@example.org"}
    assert set(await quota(lead_, of="all")) == {"default/default", "lead@example.org"}
    assert set(await quota(foreigner, of="all")) == {"abroad/default", "foreigner@example.org"}
    seen = await quota(head, of="all")
    assert "foreigner@example.org" not in seen
    assert {"user@example.org", "stranger@example.org", "default/other"} <= set(seen)
    assert {"foreigner@example.org", "abroad/default"} <= set(await quota(admin, of="all"))
    assert set(await quota(admin, of="all", kind="project")) == {
        "abroad/default",
        "default/default",
        "default/other",
    }
    assert set(await quota(admin, of="all", q="FOREIGN")) == {"foreigner@example.org"}
    async with api.database.transaction() as tx:
        await tx.execute(update(VFolder).values(used_bytes=0))
    await made(user, "data")
    async with api.database.transaction() as tx:
        await tx.execute(update(VFolder).values(used_bytes=5 * MIB))
    first = (await admin.get("/quotas", params={"of": "all", "sort": "-used_bytes", "limit": 1})).json()
    assert [(row["label"], row["used_bytes"]) for row in first["items"]] == [("user@example.org", 5 * MIB)]
    rest = await admin.get(
        "/quotas", params={"of": "all", "sort": "-used_bytes", "cursor": first["next_cursor"]}
    )
    assert "user@example.org" not in {row["label"] for row in rest.json()["items"]}
    assert len(rest.json()["items"]) == 9


async def test_who_would_be_over_a_limit_on_folders_is_said_and_gauges_tell_what_they_take(api: Api):
    admin, user, lead_ = await api.as_("superadmin"), await api.as_("user"), await project_admin(api)
    for name in ("one", "two"):
        await made(user, name)
    await made(lead_, "shared", project=api.people.project)
    async with api.database.transaction() as tx:
        await tx.execute(update(VFolder).values(used_bytes=3 * MIB))

    async def over(kind: str, **limits: object) -> list[tuple[object, ...]]:
        answer = await admin.post(f"/policies/default-{kind}/over", {"limits": limits})
        assert answer.status_code == 200, answer.text
        return [(o["scope"], o["id"], o["slot"], o["ceiling"], o["used"]) for o in answer.json()["items"]]

    me, project = api.people.user.user_id, api.people.project
    assert await over("user", folders=1, folder_bytes=5 * MIB) == [
        ("user", me, "folders", 1, 2),
        ("user", me, "folder_bytes", 5 * MIB, 6 * MIB),
    ]
    assert await over("user", folders=2, folder_bytes=6 * MIB) == await over("user") == []
    assert await over("project", folders=0) == [("project", project, "folders", 0, 1)]
    gauges = (await admin.get("/metrics")).text
    assert 'carrel_storage_folder_bytes{host="local"} 9.437184e+06' in gauges, "9 MiB"
    assert 'carrel_storage_up{host="local"} 0.0' in gauges, "nobody looked at it yet"


async def test_a_file_may_be_as_large_as_the_installation_says(api: Api):
    admin, user = await api.as_("superadmin"), await api.as_("user")
    folder = f"/vfolders/{(await made(user, 'data'))['id']}"
    assert (await admin.patch("/site", {"upload_most_bytes": 100})).status_code == 200
    tus = {"Tus-Resumable": "1.0.0", "Upload-Metadata": "path YQ=="}

    async def begun(**headers: str) -> str:
        answer = await user.post(f"{folder}/uploads", headers={**tus, **headers})
        assert answer.status_code in (201, 413), answer.text
        return answer.headers.get("location", answer.json()["code"] if answer.content else "")

    assert await begun(**{"Upload-Length": "101"}) == "upload.too_large"
    assert (await begun(**{"Upload-Length": "100"})).startswith("uploads/")
    # Of one whose length is not known at first, and of parts, no more comes in either.
    place = f"{folder}/{await begun(**{'Upload-Defer-Length': '1'})}"
    more = {**tus, "Content-Type": "application/offset+octet-stream", "Upload-Offset": "0"}
    assert said(await user.ask("PATCH", place, headers=more, content=b"x" * 101)) == (413, "upload.too_large")
    parts = []
    for _ in range(2):
        part = await begun(**{"Upload-Concat": "partial", "Upload-Length": "60"})
        sent = await user.ask("PATCH", f"{folder}/{part}", headers=more, content=b"x" * 60)
        assert sent.status_code == 204, sent.text
        parts.append(part.rpartition("/")[2])
    assert await begun(**{"Upload-Concat": "final;" + " ".join(parts)}) == "upload.too_large"
    for content, headers in ((b"x" * 101, {}), (_pieces(), {"Transfer-Encoding": "chunked"})):
        written = await user.ask(
            "PUT", f"{folder}/content", params={"path": "b"}, content=content, headers=headers
        )
        assert said(written) == (413, "upload.too_large")
    assert (
        await user.ask("PUT", f"{folder}/content", params={"path": "b"}, content=b"x" * 100)
    ).status_code == 200


async def _pieces() -> AsyncIterator[bytes]:
    for _ in range(3):
        yield b"x" * 50
