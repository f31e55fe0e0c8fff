"""Folders in sessions: which one gets, where and how, and what holds them."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from databases import scalar, sql
from installation import Api, Caller
from limit_kit import limit
from people import eventually
from people_kit import status_and_code
from session_kit import SMALL, spec
from sqlalchemy import select

from carrel.controllers import failed_starts
from carrel.core.clock import SystemClock
from carrel.core.ids import ShareId, new_id
from carrel.engines.conformance_kit import run
from carrel.engines.port import Mount
from carrel.queue import check as checking
from carrel.sessions.spec import MountRequest
from carrel.storage.port import Capacity, FolderLocation
from carrel.storage.posix import PosixBackend
from carrel.tables.folders import FolderShare, Permission, ShareState, VFolder
from carrel.tables.session_states import SessionState

HOME = "/home/work"


def main_of(session: dict[str, Any]) -> str:
    """The id of its main container."""
    return str(session["containers"][0]["id"])


async def folder(who: Caller, name: str, **fields: object) -> dict[str, Any]:
    answer = await who.post("/vfolders", {"name": name, **fields})
    assert answer.status_code == 201, answer.text
    return answer.json()  # type: ignore[no-any-return]


async def share(api: Api, made: dict[str, Any], who: Caller, permission: Permission) -> None:
    assert who.actor is not None
    async with api.database.transaction() as tx:
        tx.add(
            FolderShare(
                id=ShareId(new_id()),
                folder_id=made["id"],
                user_id=who.actor.user_id,
                permission=permission,
                state=ShareState.ACCEPTED,
                created_at=SystemClock().now(),
                accepted_at=SystemClock().now(),
            )
        )


async def refused(who: Caller, *mounts: dict[str, object]) -> tuple[int, str, str]:
    """Status, code and field of the refusal; the same from asking whether it would be possible."""
    body = {"slots": SMALL, "mounts": list(mounts)}
    answer = await who.try_start(**body)
    checked = (await who.post("/sessions/check", body)).json()
    assert (checked["verdict"], checked["code"], checked["field"]) == (
        "never",
        answer.json()["code"],
        answer.json()["field"],
    )
    return answer.status_code, answer.json()["code"], answer.json()["field"]


async def files_of(api: Api, made: dict[str, Any]) -> Path:
    """Where the storage has the folder's files."""
    async with api.database.transaction() as tx:
        row = (await tx.execute(select(VFolder).where(VFolder.id == made["id"]))).scalar_one()
    storage = await api.services.storages.of(row.host_id)
    return storage.backend.files(FolderLocation(row.scope, row.id))  # type: ignore[no-any-return]


def where(session: dict[str, Any]) -> dict[str, tuple[str, bool]]:
    return {mount["path"]: (mount["folder_name"], mount["read_only"]) for mount in session["mounts"]}


async def test_a_session_has_its_folders_and_what_it_writes_stays(living: Api):
    user = await living.as_("user")
    made = await folder(user, "data")
    files = await files_of(living, made)
    (files / "runs" / "one").mkdir(parents=True)
    started = await user.start(
        mounts=[
            {"folder": "data"},
            {"folder": made["id"], "path": "/srv/runs", "subpath": "/runs/one/", "read_only": True},
        ]
    )
    assert where(started) == {f"{HOME}/data": ("data", False), "/srv/runs": ("data", True)}
    await living.until(user, started["id"], "RUNNING")
    assert living.engine.world.containers[main_of(started)].spec.mounts == (
        Mount(str(files), f"{HOME}/data"),
        Mount(str(files), "/srv/runs", "runs/one", read_only=True),
    )
    assert (await run(living.engine, main_of(started), "touch", f"{HOME}/data/runs/one/log")).exit_code == 0
    assert (await run(living.engine, main_of(started), "cat", "/srv/runs/log")).exit_code == 0
    assert (await run(living.engine, main_of(started), "touch", "/srv/runs/other")).exit_code == 1
    await user.delete(f"/sessions/{started['id']}")
    ended = await living.until(user, started["id"], "TERMINATED")
    assert (files / "runs" / "one" / "log").exists()
    assert [(mount["folder_id"], mount["subpath"]) for mount in ended["mounts"]] == [
        (made["id"], ""),
        (made["id"], "runs/one"),
    ]


async def test_a_container_that_stopped_starts_again_with_its_folders(living: Api):
    user = await living.as_("user")
    await folder(user, "data")
    started = await user.start(mounts=[{"folder": "data"}])
    await living.until(user, started["id"], "RUNNING")
    before = living.engine.world.containers[main_of(started)]
    living.engine.world.exit(main_of(started), 1)
    await eventually(lambda: before.starts == 2)
    assert (await run(living.engine, main_of(started), "touch", f"{HOME}/data/again")).exit_code == 0


PLACES = {
    None: f"{HOME}/data",
    "runs/mine": f"{HOME}/runs/mine",
    ".cache/big": f"{HOME}/.cache/big",
    "/data": "/data",
    "/mnt/data/": "/mnt/data",
    "/home/other/data": "/home/other/data",
    "/opt/tools": "/opt/tools",
    "/tmp/x": "/tmp/x",
    "/varnish": "/varnish",
}
SYSTEM = [
    "/home/work",
    "/home/work/",
    "/home",
    "/tmp",
    "/opt",
    "/root",
    "/mnt",
    "/etc",
    "/etc/x",
    "/usr/local/x",
    "/var/lib/x",
    "/bin",
    "/lib64/x",
    "/proc/self",
    "/sys",
    "/dev/shm",
    "/run/carrel/folders/0",
    "/home/work/../../etc",
    "..",
    ".",
    "./data",
    "a/../b",
    "/./etc",
]
NO_PATHS = ["", "/", "a b", "a//b", "$HOME/x", "a\nb", "~/x", "ü", "x" * 513]


async def test_a_folder_is_put_where_it_is_wanted(api: Api):
    user = await api.as_("user")
    await folder(user, "data")
    for path, place in PLACES.items():
        started = await user.start(mounts=[{"folder": "data", "path": path}])
        assert where(started) == {place: ("data", False)}


async def test_what_belongs_to_the_system_is_refused(api: Api):
    user = await api.as_("user")
    await folder(user, "data")
    for path in SYSTEM:
        answer = await refused(user, {"folder": "data", "path": "fine"}, {"folder": "data", "path": path})
        assert answer == (422, "mount.path", "mounts.1.path"), path


async def test_what_is_no_path_is_refused(api: Api):
    user = await api.as_("user")
    await folder(user, "data")
    for path in NO_PATHS:
        answer = await user.try_start(mounts=[{"folder": "data", "path": path}])
        assert (answer.status_code, answer.json()["field"]) == (422, "mounts.0.path"), path


async def test_a_path_that_is_too_long_below_the_home_is_refused(api: Api):
    user = await api.as_("user")
    await folder(user, "data")
    for path in ("/".join(["x" * 100] * 5), "y" * 256):
        assert await refused(user, {"folder": "data", "path": path}) == (422, "mount.path", "mounts.0.path")


async def test_what_is_no_directory_of_a_folder_is_refused(api: Api):
    user = await api.as_("user")
    await folder(user, "data")
    for subpath in ("..", "a/../b", "a//b", "./a", "x" * 256):
        answer = await refused(user, {"folder": "data", "subpath": subpath})
        assert answer == (422, "mount.subpath", "mounts.0.subpath"), subpath


OVERLAPS = [
    (None, None),
    (None, "data/in"),
    ("/a/b", "/a"),
    ("x", f"{HOME}/x"),
    ("a/b", "a/b/c"),
    ("c", ".bash/x"),
]


async def test_no_folder_is_in_another(api: Api):
    user = await api.as_("user")
    await folder(user, "data")
    await folder(user, ".bash")
    for one, other in OVERLAPS:
        mounts = [{"folder": "data", "path": one}, {"folder": "data", "path": other}]
        assert await refused(user, *mounts) == (409, "mount.overlap", "mounts.1.path"), other
    beside = await user.start(mounts=[{"folder": "data", "path": "a"}, {"folder": "data", "path": "ab"}])
    assert len(beside["mounts"]) == 3


async def test_who_may_only_read_mounts_read_only(api: Api):
    user, colleague = await api.as_("user"), await api.as_("colleague")
    lent, given, kept = [await folder(user, name) for name in ("lent", "given", "kept")]
    await share(api, lent, colleague, Permission.READ)
    await share(api, given, colleague, Permission.WRITE)
    await share(api, kept, colleague, Permission.DELETE)
    assert (await user.patch("/vfolders/kept", {"permission": "ro"})).status_code == 200
    mounts = [{"folder": "lent"}, {"folder": "given"}, {"folder": "kept"}]
    started = await colleague.start(mounts=mounts)
    assert where(started) == {
        f"{HOME}/lent": ("lent", True),
        f"{HOME}/given": ("given", False),
        f"{HOME}/kept": ("kept", True),
    }
    session = await colleague.start(mounts=[{"folder": "given", "read_only": True}])
    assert where(session) == {f"{HOME}/given": ("given", True)}
    own = await user.start(mounts=[{"folder": "kept"}])
    assert where(own) == {f"{HOME}/kept": ("kept", True)}


async def test_nobody_mounts_what_they_do_not_have(api: Api):
    user, stranger, admin = await api.as_("user"), await api.as_("stranger"), await api.as_("superadmin")
    made = await folder(user, "data")
    own = await folder(user, "own")
    for who in (stranger, await api.as_("foreigner")):
        assert await refused(who, {"folder": made["id"]}) == (404, "vfolder.not_found", "mounts.0.folder")
    status, _, field = await refused(admin, {"folder": made["id"]})
    assert (status, field) == (403, "mounts.0.folder")
    answer = await refused(user, {"folder": own["id"]}, {"folder": "nothing"})
    assert answer == (404, "vfolder.not_found", "mounts.1.folder")


async def test_own_folders_with_a_dot_come_by_themselves(api: Api):
    user, colleague = await api.as_("user"), await api.as_("colleague")
    await folder(user, ".config")
    theirs = await folder(colleague, ".theirs")
    await share(api, theirs, user, Permission.WRITE)
    await folder(user, "data")
    plain = await user.start()
    assert where(plain) == {f"{HOME}/.config": (".config", False)}
    assert plain["mounts"][0]["automatic"]
    both = await user.start(mounts=[{"folder": "data"}])
    assert list(where(both)) == [f"{HOME}/data", f"{HOME}/.config"]
    assert not both["mounts"][0]["automatic"]
    elsewhere = await user.start(mounts=[{"folder": ".config", "path": "conf", "read_only": True}])
    assert where(elsewhere) == {f"{HOME}/conf": (".config", True)}
    assert (await colleague.start())["mounts"][0]["folder_name"] == ".theirs"


async def test_a_folder_is_held_until_its_session_has_ended(living: Api):
    user = await living.as_("user")
    made = await folder(user, "data")
    started = await user.start(mounts=[{"folder": "data"}, {"folder": "data", "path": "again"}])
    await living.until(user, started["id"], "RUNNING")
    held = await user.post("/vfolders/data/trash")
    assert status_and_code(held) == (409, "vfolder.mounted")
    shown = (await user.get("/vfolders/data/mounts")).json()["items"]
    assert [(one["session_id"], one["session_name"], one["path"]) for one in shown] == [
        (started["id"], started["name"], f"{HOME}/data"),
        (started["id"], started["name"], f"{HOME}/again"),
    ]
    assert (await user.get("/vfolders/data")).json()["mounted"] == 1
    await user.delete(f"/sessions/{started['id']}")
    await living.until(user, started["id"], "TERMINATED")
    assert (await user.get("/vfolders/data/mounts")).json()["items"] == []
    assert (await user.post("/vfolders/data/trash")).status_code == 200
    answer = await refused(user, {"folder": made["id"]})
    assert answer == (409, "vfolder.state", "mounts.0.folder")


async def test_asking_what_would_happen_keeps_nobody_from_changing_the_folder(living: Api):
    user = await living.as_("user")
    made = await folder(user, "data")
    assert user.actor is not None
    request = spec(image="", mounts=(MountRequest(folder=made["id"]),))
    async with living.database.transaction() as tx:
        result = await checking.check(tx, SystemClock(), user.actor, request)
        assert result.refused is None
        async with living.database.transaction() as other:
            await other.execute(select(VFolder).where(VFolder.id == made["id"]).with_for_update(nowait=True))


async def test_every_end_of_a_session_lets_go_of_its_folders(living: Api):
    user = await living.as_("user")
    await folder(user, "data")
    living.engine.world.unknown_images.add("nowhere:1")
    mounts = [{"folder": "data"}]
    failed = await user.start(image="nowhere:1", mounts=mounts)
    await living.until(user, failed["id"], "ERROR")
    huge = (await user.post("/sessions/check", {"slots": SMALL})).json()["slots"]["cpu"]["most"]
    filling = [await user.start(slots={**SMALL, "cpu": huge}) for _ in range(2)]
    waiting = await user.start(slots={**SMALL, "cpu": huge}, mounts=mounts)
    assert (await user.get("/vfolders/data")).json()["mounted"] == 1
    await user.delete(f"/sessions/{waiting['id']}")
    assert (await user.get(f"/sessions/{waiting['id']}")).json()["state"] == "CANCELLED"
    for one in filling:
        await user.delete(f"/sessions/{one['id']}")
    lost = await user.start(mounts=mounts)
    await living.until(user, lost["id"], "RUNNING")
    living.engine.world.vanish(main_of(lost))
    await living.until(user, lost["id"], "ERROR")
    assert (await user.get("/vfolders/data")).json()["mounted"] == 0
    assert (await user.post("/vfolders/data/trash")).status_code == 200


async def test_of_a_start_and_the_trash_one_comes_first(api: Api):
    """No session ever waits with a folder that is in the trash."""
    user = await api.as_("user")
    outcomes = set()
    for number in range(12):
        name = f"data-{number}"
        await folder(user, name)
        requests = [user.try_start(mounts=[{"folder": name}]), user.post(f"/vfolders/{name}/trash")]
        answers = await asyncio.gather(*(requests if number % 2 else requests[::-1]))
        trashed, started = sorted(answers, key=lambda one: "sessions" in str(one.url))
        outcomes.add((trashed.status_code, started.status_code))
        if started.status_code != 201:
            assert started.json()["code"] in ("vfolder.state", "vfolder.not_found")
    assert outcomes <= {(200, 409), (200, 404), (409, 201)}
    both = await scalar(
        api.database,
        "SELECT count(*) FROM vfolder_mounts m JOIN vfolders f ON f.id = m.folder_id "
        "WHERE m.released_at IS NULL AND f.state <> 'READY'",
    )
    assert both == 0


async def test_many_who_mount_the_same_folders_do_not_wait_for_one_another(api: Api):
    user = await api.as_("user")
    names = [f"data-{number}" for number in range(6)]
    for name in names:
        await folder(user, name)
    orders = (names, names[::-1], names[3:] + names[:3]) * 4
    answers = await asyncio.gather(
        *(user.try_start(mounts=[{"folder": one} for one in order]) for order in orders)
    )
    assert {answer.status_code for answer in answers} == {201}


async def test_who_has_used_up_their_quota_mounts_read_only(api: Api):
    user = await api.as_("user")
    await folder(user, "data")
    await folder(user, ".config")
    await limit(api.database, "user", folder_bytes=1000)
    await sql(api.database, "UPDATE vfolders SET used_bytes = 1000 WHERE name = 'data'")
    answer = await refused(user, {"folder": "data"})
    assert answer == (409, "quota.bytes", "mounts.0.read_only")
    started = await user.start(mounts=[{"folder": "data", "read_only": True}])
    assert where(started) == {f"{HOME}/data": ("data", True), f"{HOME}/.config": (".config", True)}
    assert started["warnings"] == ["folders_read_only"]


@pytest.mark.parametrize("plant", [None, "file", "link"])
async def test_a_session_whose_directory_is_not_there_ends_and_says_so(living: Api, plant: str | None):
    user = await living.as_("user")
    files = await files_of(living, await folder(user, "data"))
    (files / "real").mkdir()
    match plant:
        case "file":
            (files / "runs").touch()
        case "link":
            (files / "runs").symlink_to("real")
    started = await user.start(mounts=[{"folder": "data", "subpath": "runs"}])
    ended = await living.until(user, started["id"], "ERROR")
    assert ended["reason"] == "The folder data has no directory runs that can be mounted."


async def test_a_storage_host_that_is_away_holds_up_only_what_needs_it(
    living: Api, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: Any
):
    monkeypatch.setattr(failed_starts, "_STORAGE_PAUSE_S", 1)
    user, admin = await living.as_("user"), await living.as_("superadmin")
    disk = tmp_path_factory.mktemp("disk")
    root = disk / "root"
    answer = await admin.post("/storage-hosts", {"name": "far", "root": str(root)})
    assert answer.status_code == 201, answer.text
    await folder(user, "near", host="local")
    await folder(user, "away", host="far")
    first = await user.start(name="first", mounts=[{"folder": "away"}])
    await living.until(user, first["id"], "RUNNING")
    root.rename(disk / "elsewhere")
    waits = await user.start(name="waits", mounts=[{"folder": "near"}, {"folder": "away"}])
    fine = await user.start(name="fine", mounts=[{"folder": "near"}])
    await living.until(user, fine["id"], "RUNNING")

    async def names_host() -> dict[str, Any] | None:
        shown = (await user.get(f"/sessions/{waits['id']}")).json()
        return shown if "far" in (shown["reason"] or "") else None

    waiting = await eventually(names_host, within_s=60)
    assert waiting
    assert waiting["state"] in ("PENDING", "SCHEDULED", "PREPARING")
    # what runs goes on, and comes back with the storage when it stopped meanwhile
    living.engine.world.exit(main_of(first), 1)
    await living.until(user, first["id"], "STARTING")
    (disk / "elsewhere").rename(root)
    await sql(living.database, "UPDATE storage_hosts SET state = 'ok'")
    for session in (first, waits):
        await living.until(user, session["id"], "RUNNING")


async def test_what_waits_for_a_storage_host_takes_no_place(living: Api):
    user, admin = await living.as_("user"), await living.as_("superadmin")
    await folder(user, "data")
    await folder(user, ".config")
    session = await user.start(name="before", mounts=[{"folder": "data"}], slots={**SMALL, "cpu": 10})
    await living.until(user, session["id"], "RUNNING")
    await sql(living.database, "UPDATE storage_hosts SET state = 'unavailable', checked_at = now()")
    waits = await user.start(name="waits", mounts=[{"folder": "data"}])
    assert waits["warnings"] == ["folders_left_out"]
    assert [mount["folder_name"] for mount in waits["mounts"]] == ["data"]

    async def names_host() -> bool:
        return "storage host local" in ((await user.get("/sessions/waits")).json()["reason"] or "")

    await eventually(names_host, within_s=60)
    assert (await user.get("/sessions/waits")).json()["state"] == SessionState.PENDING
    why = (await user.get("/sessions/waits/why")).json()
    assert "storage host local" in why["reason"]
    await sql(living.database, "UPDATE storage_hosts SET state = 'ok'")
    await living.until(user, waits["id"], "RUNNING")
    assert (await admin.get("/vfolders/data/mounts")).status_code in (200, 404)


async def test_a_storage_host_that_hangs_keeps_nobody_else_waiting(
    living: Api, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: Any
):
    user, admin = await living.as_("user"), await living.as_("superadmin")
    root = tmp_path_factory.mktemp("disk") / "root"
    assert (await admin.post("/storage-hosts", {"name": "far", "root": str(root)})).status_code == 201
    await folder(user, "far", host="far")
    await folder(user, "near", host="local")
    probe, released = PosixBackend.probe, threading.Event()

    def hang(backend: PosixBackend) -> Capacity:
        if backend.root == root:
            released.wait(60)
        return probe(backend)

    monkeypatch.setattr(PosixBackend, "probe", hang)
    slots = {**SMALL, "cpu": 10}
    stuck = [await user.start(slots=slots, mounts=[{"folder": "far"}]) for _ in range(20)]
    for one in stuck:
        await living.until(user, one["id"], "PREPARING")
    fine = await user.start(slots=slots, mounts=[{"folder": "near"}])
    await living.until(user, fine["id"], "RUNNING")
    states = {(await user.get(f"/sessions/{one['id']}")).json()["state"] for one in stuck}
    assert states <= {"PREPARING", "PENDING"}, "they were all begun, and wait"
    released.set()
    for one in stuck:
        await living.until(user, one["id"], "RUNNING")
