"""Devices of nodes by the API and the command line: what is known of them, and who holds which part."""

from dataclasses import replace
from pathlib import Path

import pytest
from command_line import command_line
from databases import sql
from installation import Api
from node_kit import join
from people import eventually
from people_kit import status_and_code
from simulated_accelerators import driver, tree

from carrel.accelerators.fake import FakeAccelerators
from carrel.accelerators.nvidia import PLUGIN, Nvidia
from carrel.accelerators.port import Device, slots_of, whole_and_shares
from carrel.engines.accelerated import node_with
from carrel.engines.port import NodeInfo

GIB = 1 << 30
HALF = {"cpu": 500, "mem": GIB, "cuda.shares": 500}


@pytest.fixture
async def gpus(living: Api, tmp_path: Path) -> Api:
    """An installation with a node that has two simulated GPUs."""
    living.engine.world.equip("local", driver(Nvidia(shares=True), tree(tmp_path / "machine", "h100x2")))
    living.engine.world.hint("local")
    admin = await living.as_("superadmin")

    async def offered() -> bool:
        return "cuda.device" in (await admin.get("/resources")).json()["capacity"]

    await eventually(offered)
    await admin.patch("/site", {"nodes_visible": True})
    return living


async def test_devices_show_what_they_are_and_who_holds_which_part(gpus: Api, tmp_path: Path):
    admin, user, colleague = await gpus.as_("superadmin"), await gpus.as_("user"), await gpus.as_("colleague")
    mine = await user.start(slots=HALF, name="mine")
    await gpus.until(user, mine["id"], "RUNNING")
    theirs = await colleague.start(slots=HALF | {"cuda.shares": 300}, name="theirs")
    await gpus.until(colleague, theirs["id"], "RUNNING")
    first, second = (await admin.get("/nodes/local")).json()["devices"]
    assert (first["used"], second["used"], second["holders"]) == (800, 0, [])
    assert [(one["amount"], one["session"]["name"]) for one in first["holders"]] == [
        (500, "mine"),
        (300, "theirs"),
    ]
    assert first["holders"][0]["session"]["owner"]["email"] == "user@example.org"
    assert first["holders"][0]["session"]["container"]
    assert (first["mem_bytes"], first["pci"].count(":")) == (81559 << 20, 2)
    assert (first["numa"], first["clique"] == second["clique"] != "") == (0, True)
    # Of others there are only the parts, in lists too.
    for path in ("/nodes/local", "/nodes"):
        seen = (await user.get(path)).json()
        holders = seen.get("items", [seen])[0]["devices"][0]["holders"]
        assert [(one["amount"], one["session"] and one["session"]["id"]) for one in holders] == [
            (500, mine["id"]),
            (300, None),
        ]
    line = await command_line(gpus, "user", tmp_path)
    assert "0.8 of 1 in use, held by mine (0.5), others (0.3)" in await line.ok("node", "show", "local")
    assert "mine (0.5), others (0.3)" in await line.ok("node", "devices", "local")
    assert "0000:" in await line.ok("node", "devices", "local", "--wide")
    printed = await line.as_json("node", "devices", "local")
    assert (printed["node"]["name"], len(printed["devices"])) == ("local", 2)


async def test_a_node_shows_how_it_enforces_shares_and_why_not_better(api: Api, tmp_path: Path):
    admin, line = await api.as_("superadmin"), await command_line(api, "superadmin", tmp_path)
    made = PLUGIN.make(PLUGIN.checked({"root": str(tree(tmp_path, "h100-slicex2")), "simulated": True}))
    plain = NodeInfo("local", "x86_64", {"cpu": 8000, "mem": 16 * GIB}, "Fake 1")
    await join(api.database, plain)
    assert (await admin.get("/nodes/local")).json()["sharing"] is None
    assert "GPU shares" not in await line.ok("node", "show", "local")
    await join(api.database, node_with([made], plain))
    assert (await admin.get("/nodes/local")).json()["sharing"] == {
        "tier": "slice",
        "enforced": True,
        "reason": "No daemon of MPS version 3 answers.",
    }
    shown = "slice (memory is limited, computing is not) - No daemon of MPS version 3 answers."
    assert shown in await line.ok("node", "show", "local")
    assert shown in await line.ok("node", "devices", "local")


async def test_devices_of_a_node_recorded_without_their_addresses_are_shown(api: Api):
    await join(api.database, NodeInfo("local", "x86_64", {"cpu": 8000, "mem": 16 * GIB}, "Fake 1"))
    await sql(
        api.database,
        """UPDATE nodes SET devices = '[{"id": "old", "family": "cuda", "model": "", "set": 0,
        "slots": {"cuda.device": 1000}}]'""",
    )
    admin = await api.as_("superadmin")
    (old,) = (await admin.get("/nodes/local")).json()["devices"]
    assert (old["pci"], old["numa"], old["mem_bytes"], old["holders"]) == ("", None, None, [])


async def test_all_devices_are_listed_by_family_and_group(api: Api, tmp_path: Path):
    machine = NodeInfo("machine", "x86_64", {"cpu": 8000, "mem": 16 * GIB}, "Fake 1")
    await join(
        api.database, node_with([FakeAccelerators(2, units=1)], machine), replace(machine, name="bare")
    )
    admin, user = await api.as_("superadmin"), await api.as_("user")
    assert status_and_code(await user.get("/devices")) == (403, "node.hidden")
    listed = (await admin.get("/devices")).json()
    assert listed["families"] == ["fake", "fake.unit-1g"]
    (node,) = listed["items"]
    assert (node["name"], node["group"]["name"], node["open"]) == ("machine", "default", True)
    assert [(one["id"], one["used"]) for one in node["devices"]] == [("fake0", 0), ("fake1", 0), ("unit0", 0)]
    units = (await admin.get("/devices", params={"family": "fake.unit-1g", "group": "DEFAULT"})).json()
    assert [one["id"] for one in units["items"][0]["devices"]] == ["unit0"]
    assert (await admin.get("/devices", params={"group": "none"})).json()["items"] == []
    await admin.patch("/nodes/machine", {"cordoned": True})
    assert [one["open"] for one in (await admin.get("/devices")).json()["items"]] == [False]
    line = await command_line(api, "superadmin", tmp_path)
    assert "fake          __" in " ".join((await line.ok("node", "device-map")).splitlines())


async def test_the_report_names_sessions_that_would_free_a_device_if_they_moved(gpus: Api, tmp_path: Path):
    admin, user = await gpus.as_("superadmin"), await gpus.as_("user")
    large = await user.start(slots=HALF | {"cuda.shares": 700}, name="large")
    await gpus.until(user, large["id"], "RUNNING")
    small = await user.start(slots=HALF | {"cuda.shares": 300}, name="small")
    other = await user.start(slots=HALF | {"cuda.shares": 500}, name="other")
    for session in (small, other):
        await gpus.until(user, session["id"], "RUNNING")
    assert (await user.get("/devices/fragmentation")).status_code == 403
    (full,) = (await admin.get("/devices/fragmentation")).json()["items"]
    assert [full[name] for name in ("devices", "free", "broken", "full", "freed")] == [2, 0, 1, 1, []]
    await user.delete(f"/sessions/{large['id']}")
    await gpus.until(user, large["id"], "TERMINATED")
    (broken,) = (await admin.get("/devices/fragmentation")).json()["items"]
    assert [broken[name] for name in ("free", "broken", "full", "stranded")] == [0, 2, 0, 0]
    (step,) = broken["freed"]
    assert [(move["name"], move["owner"]["email"], move["amount"]) for move in step["moves"]] == [
        ("small", "user@example.org", 300)
    ]
    printed = await (await command_line(gpus, "superadmin", tmp_path)).ok("node", "fragmentation")
    assert "small of user@example.org (0.3) to GPU-" in printed


async def test_the_memory_of_devices_is_known_in_groups_where_they_are_alike(api: Api):
    user = await api.as_("user")
    machine = NodeInfo("machine", "x86_64", {"cpu": 8000, "mem": 16 * GIB}, "Fake 1")

    async def memory(*sizes: int | None) -> object:
        kinds = whole_and_shares("cuda")
        devices = tuple(Device(f"d{n}", "cuda", mem_bytes=size) for n, size in enumerate(sizes))
        slots = dict(machine.slots) | slots_of(devices, kinds)
        await join(api.database, replace(machine, slots=slots, devices=devices, slot_kinds=kinds))
        answer = await user.post("/sessions/check", {"image": "starter", "slots": HALF})
        return answer.json()["device_mem_bytes"]

    assert await memory(80 * GIB, 80 * GIB) == {"cuda": 80 * GIB}
    assert await memory(80 * GIB, 40 * GIB) == {}
    assert await memory(80 * GIB, None) == {}
