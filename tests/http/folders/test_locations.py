"""Locations of storage hosts on engines: who sets them, and what they mean for sessions."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from databases import sql
from installation import Api, Caller
from node_kit import machine
from people import eventually
from people_kit import status_and_code
from session_kit import SMALL

from carrel.core.ids import FolderId, StorageHostId
from carrel.engines.fake import FakeEngine
from carrel.engines.port import ContainerSpec, Mount
from carrel.folders.hosts import locations
from carrel.nodes.engines.probes import probe_id
from carrel.storage.port import FolderLocation

AT = "/storage-hosts/local/locations/local"


async def test_a_location_is_set_shown_and_removed(api: Api):
    admin = await api.as_("superadmin")
    for location in ("/mnt/folders", None):
        changed = await admin.ask("PUT", AT, json={"location": location})
        assert changed.status_code == 200, changed.text
        [shown] = changed.json()["locations"]
        assert (shown["engine"]["name"], shown["location"]) == ("local", location)
    assert (await (await api.as_("user")).get("/storage-hosts/local")).json()["locations"] is None
    changed = await admin.ask("PUT", AT, json={"location": ""})
    assert changed.json()["locations"] == []
    await admin.ask("PUT", AT, json={"location": ""})
    rows = await sql(
        api.database, "SELECT details FROM audit WHERE action = 'storage_host.update' ORDER BY id"
    )
    assert [details["after"]["locations"]["local"] for (details,) in rows] == ["/mnt/folders", None, ""]


async def test_the_same_path_stays_set_over_a_start_without_a_location(api: Api):
    admin = await api.as_("superadmin")
    data_dir = Path((await admin.get("/storage-hosts/local")).json()["root"]).parent

    async def started() -> list[str | None]:
        async with api.database.transaction() as tx:
            await locations.ensure_local(tx, data_dir, locations.NOWHERE)
        shown = (await admin.get("/storage-hosts/local")).json()["locations"]
        return [one["location"] for one in shown]

    assert await started() == [None]
    await admin.ask("PUT", AT, json={"location": ""})
    assert await started() == []


async def test_a_location_that_the_engine_cannot_mount_is_refused(api: Api):
    admin = await api.as_("superadmin")
    for location, code in (
        ("folders", "storage_host.location"),
        ("/mnt/../etc", "storage_host.location"),
        ("volume://folders", "storage_host.location"),
        ("x" * 1001, "invalid.request"),
    ):
        answer = await admin.ask("PUT", AT, json={"location": location})
        assert (answer.json()["code"], answer.json()["field"]) == (code, "location"), answer.text
    answer = await admin.ask("PUT", "/storage-hosts/local/locations/none", json={"location": None})
    assert status_and_code(answer) == (404, "engine.not_found")


async def test_a_kubernetes_engine_has_volumes(api: Api):
    admin = await api.as_("superadmin")
    await sql(
        api.database, "INSERT INTO engines (id, name, kind, state) VALUES ('k', 'west', 'kubernetes', 'DOWN')"
    )
    for location in ("volume://folders/a", "nfs://filer/export", "csi://driver.example/a?b=c"):
        answer = await admin.ask("PUT", "/storage-hosts/local/locations/west", json={"location": location})
        assert answer.status_code == 200, answer.text


async def test_a_session_does_not_go_where_its_folders_are_not(living: Api):
    admin, user = await living.as_("superadmin"), await living.as_("user")
    made = await user.post("/vfolders", {"name": "data"})
    await admin.ask("PUT", AT, json={"location": None})
    body = {"slots": SMALL, "mounts": [{"folder": "data"}]}
    reason = "1 node: cannot reach the storage host local."
    checked = (await user.post("/sessions/check", body)).json()
    assert (checked["groups"][0]["verdict"], checked["reason"]) == ("never", reason)
    waiting = await user.start(mounts=[{"folder": made.json()["id"]}])

    async def refused() -> bool:
        return bool((await user.get(f"/sessions/{waiting['id']}")).json()["reason"] == reason)

    await eventually(refused)
    why = (await user.get(f"/sessions/{waiting['id']}/why")).json()
    assert [cause["text"] for cause in why["nodes"]] == ["cannot reach the storage host local"]
    without = await user.start()
    await living.until(user, without["id"], "RUNNING")
    await admin.ask("PUT", AT, json={"location": ""})
    await living.until(user, waiting["id"], "RUNNING")


async def test_a_session_starts_without_dot_folders_where_these_are_not(living: Api):
    admin, user = await living.as_("superadmin"), await living.as_("user")
    await user.post("/vfolders", {"name": ".config"})
    await admin.ask("PUT", AT, json={"location": None})
    checked = (await user.post("/sessions/check", {"slots": SMALL})).json()
    assert checked["groups"][0]["verdict"] != "never", checked
    started = await user.start()
    await living.until(user, started["id"], "RUNNING")
    assert (await user.get(f"/sessions/{started['id']}")).json()["warnings"] == ["folders_left_out"]
    assert living.engine.world.containers[started["containers"][0]["id"]].spec.mounts == ()
    await admin.ask("PUT", AT, json={"location": ""})
    afterwards = await user.start()
    await living.until(user, afterwards["id"], "RUNNING")
    assert (await user.get(f"/sessions/{afterwards['id']}")).json()["warnings"] == []
    assert len(living.engine.world.containers[afterwards["containers"][0]["id"]].spec.mounts) == 1


async def test_containers_mount_from_the_location_of_their_engine(living: Api, tmp_path: Path):
    admin, user = await living.as_("superadmin"), await living.as_("user")
    folder = (await user.post("/vfolders", {"name": "data"})).json()
    root = Path((await admin.get("/storage-hosts/local")).json()["root"])
    elsewhere = tmp_path / "elsewhere"
    elsewhere.symlink_to(root)
    await admin.ask("PUT", AT, json={"location": str(elsewhere)})
    started = await user.start(mounts=[{"folder": "data"}])
    await living.until(user, started["id"], "RUNNING")
    [mount] = living.engine.world.containers[started["containers"][0]["id"]].spec.mounts
    [files] = root.glob(f"*/{folder['id']}/files")
    assert mount == Mount(str(elsewhere / files.relative_to(root)), "/home/work/data")


async def test_locations_are_for_superadmins(api: Api):
    user = await api.as_("user")
    assert (await user.ask("PUT", AT, json={"location": None})).status_code == 403


async def test_a_check_says_where_the_storage_is_not_the_same(living: Api, monkeypatch: pytest.MonkeyPatch):
    specs: list[ContainerSpec] = []
    ensure = FakeEngine.ensure

    def noted(engine: FakeEngine, spec: ContainerSpec, *rest: Any) -> Any:
        specs.append(spec)
        return ensure(engine, spec, *rest)

    monkeypatch.setattr(FakeEngine, "ensure", noted)
    admin = await living.as_("superadmin")
    root = Path((await admin.get("/storage-hosts/local")).json()["root"])

    async def problems() -> list[tuple[str, str]]:
        answer = await admin.post(f"{AT}/check", {"image": "debian:12"})
        assert answer.status_code == 200, answer.text
        assert answer.json()["ok"] == (not any(step["problem"] for step in answer.json()["steps"]))
        return [(step["place"], step["problem"]) for step in answer.json()["steps"]]

    [node] = await eventually(lambda: _nodes(admin))
    owner = root.stat().st_uid
    there, here = await problems()
    assert there == (node, "")
    # The containers of the fake engine write as this process.
    assert (here[0], here[1] == "") == ("server", owner == 1000), here
    await admin.ask("PUT", AT, json={"location": str(root.parent)})
    [(place, problem)] = await problems()
    assert (place, "is not there" in problem) == (node, True)
    await admin.ask("PUT", AT, json={"location": None})
    assert await problems() == [("local", "The storage host is nowhere on local.")]
    assert specs
    assert all(spec.helper for spec in specs)
    assert not living.engine.world.containers
    assert not list((root / "check").glob("*/*")), "nothing is left"


async def test_a_check_is_on_nodes_that_take_containers_and_have_room(living: Api):
    admin = await living.as_("superadmin")
    names = ["full", "small", "third", "wide"]
    slots = {"full": 150, "small": 50, "third": 1000, "wide": 1000}
    living.engine.world.nodes = [machine(name, cpu=slots[name]) for name in names]

    async def known() -> bool:
        shown = (await admin.get("/nodes")).json()["items"]
        return sorted(one["name"] for one in shown if one["state"] == "READY") == names

    async def places() -> list[str]:
        answer = await admin.post(f"{AT}/check", {"image": "debian:12"})
        assert answer.status_code == 200, answer.text
        return [step["place"] for step in answer.json()["steps"] if step["place"] != "server"]

    await eventually(known)
    assert await places() == ["full", "third"]
    started = await admin.start(node="full", slots={"cpu": 100, "mem": 64 << 20})
    await living.until(admin, started["id"], "RUNNING")
    assert await places() == ["third", "wide"]
    assert (await admin.patch("/nodes/third", {"cordoned": True})).status_code == 200
    assert await places() == ["wide"]
    # What the engine says of a node without room is better than no result.
    assert (await admin.patch("/nodes/wide", {"cordoned": True})).status_code == 200
    assert await places() == ["full", "small"]


async def test_a_check_removes_only_folders_of_interrupted_ones(living: Api):
    admin = await living.as_("superadmin")
    host = (await admin.get("/storage-hosts/local")).json()
    storage = await living.services.storages.of(StorageHostId(host["id"]))
    now = living.services.clock.now()
    others = {
        minutes: FolderLocation("check", FolderId(probe_id(now - timedelta(minutes=minutes))))
        for minutes in (8, 60)
    }
    for place in others.values():
        await storage.call(storage.backend.create, place)
    await eventually(lambda: _nodes(admin))
    assert (await admin.post(f"{AT}/check", {"image": "debian:12"})).status_code == 200
    assert [path.name for path in (Path(host["root"]) / "check").iterdir()] == [others[8].folder]


async def _nodes(who: Caller) -> list[str]:
    return [one["name"] for one in (await who.get("/nodes")).json()["items"]]


async def test_a_check_needs_a_node_and_an_image(api: Api):
    admin = await api.as_("superadmin")
    assert status_and_code(await admin.post(f"{AT}/check", {})) == (409, "storage_host.no_node")
    user = await api.as_("user")
    assert (await user.post(f"{AT}/check", {})).status_code == 403
