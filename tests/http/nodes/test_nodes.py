"""Nodes by the API: what they show to whom, and what closing, changing and emptying them does."""

from dataclasses import asdict, replace
from datetime import datetime, timedelta

import pytest
from accelerator_kit import ScriptedDevices
from databases import sql
from installation import Api
from node_kit import join
from people import eventually
from people_kit import status_and_code
from sqlalchemy import text

from carrel.accelerators.fake import FakeAccelerators
from carrel.accelerators.port import DeviceMetrics
from carrel.controllers import observe
from carrel.core.clock import SystemClock
from carrel.core.ids import LOCAL_ENGINE
from carrel.engines.accelerated import node_with
from carrel.engines.port import NodeInfo
from carrel.nodes import service as nodes
from carrel.nodes.host_load import HostLoad
from carrel.usage import history

MACHINE = node_with(
    [FakeAccelerators(4)],
    NodeInfo(
        "machine",
        "x86_64",
        {"cpu": 8000, "mem": 16 << 30},
        "Fake 1",
        frozenset({"seccomp"}),
        images=frozenset({"debian:12"}),
        labels={"rack": "7"},
    ),
)
UNKNOWN_METRICS = {**asdict(DeviceMetrics()), "measured_at": None}
SECOND = NodeInfo("second", "aarch64", {"cpu": 4000, "mem": 4 << 30}, "Fake 1")


@pytest.fixture
async def two(api: Api) -> Api:
    """An installation whose engine has named two nodes."""
    await join(api.database, MACHINE, SECOND)
    return api


async def test_a_node_shows_what_it_has_offers_and_holds(two: Api):
    admin = await two.as_("superadmin")
    shown = (await admin.get("/nodes/machine")).json()
    assert shown | {"id": "", "seen_at": ""} == {
        "id": "",
        "seen_at": "",
        "name": "machine",
        "group": {"id": "default", "name": "default"},
        "group_fixed": False,
        "selected_by": [],
        "state": "READY",
        "cordoned": False,
        "draining": None,
        "closed": "",
        "machine": dict.fromkeys(
            ("pool", "zone", "instance_type", "capacity_type", "nvidia_driver", "cuda"), ""
        ),
        "down_since": None,
        "architecture": "x86_64",
        "engine": {"id": "local", "name": "local"},
        "engine_version": "Fake 1",
        "capabilities": ["seccomp"],
        "labels": {"rack": "7"},
        "own_labels": {},
        "slots": {"cpu": 8000, "mem": 16 << 30, "fake.device": 4, "fake.shares": 4000},
        "reserved": {"mem": 1 << 30},
        "cpu_overcommit": 1,
        "offered": {"cpu": 8000, "mem": 15 << 30, "fake.device": 4, "fake.shares": 4000},
        "used": {},
        "devices": [
            {
                "id": f"fake{n}",
                "family": "fake",
                "model": "Fake accelerator",
                "set": n // 2,
                "pci": "",
                "numa": None,
                "clique": "",
                "switch": "",
                "mem_bytes": None,
                "used": 0,
                "holders": [],
                "slots": {"fake.device": 1000, "fake.shares": 1},
                "healthy": True,
                "problem": "",
                "metrics": UNKNOWN_METRICS,
            }
            for n in range(4)
        ],
        "sharing": None,
        "images": 1,
        "image_names": ["debian:12"],
        "live_sessions": 0,
        "host": None,
        "sessions": [],
    }
    assert (await admin.get(f"/nodes/{shown['id']}")).json() == shown
    assert status_and_code(await admin.get("/nodes/none")) == (404, "node.not_found")


async def test_devices_show_their_condition_and_what_was_measured_lately(two: Api):
    admin, user = await two.as_("superadmin"), await two.as_("user")
    await admin.patch("/site", {"nodes_visible": True})
    metrics = DeviceMetrics(80, 10 << 30, 80 << 30, 61.5, None, 0)
    devices = ScriptedDevices(metrics, metrics)
    devices.fail("npu0", "It fell off the bus.")
    await join(two.database, node_with([devices], SECOND))
    shown = (await admin.get("/nodes/second")).json()
    # Sessions get the healthy one only.
    assert shown["slots"]["npu.device"] == 1
    assert [(one["id"], one["healthy"], one["problem"], one["slots"]) for one in shown["devices"]] == [
        ("npu1", True, "", {"npu.device": 1000, "npu.shares": 1}),
        ("npu0", False, "It fell off the bus.", {"npu.device": 1000, "npu.shares": 1}),
    ]
    assert shown["devices"][0]["metrics"] | {"measured_at": ""} == {**asdict(metrics), "measured_at": ""}
    [listed] = [node for node in (await admin.get("/nodes")).json()["items"] if node["name"] == "second"]
    assert listed["devices"] == shown["devices"]
    # Others see the condition, not who is how busy.
    [seen] = [node for node in (await user.get("/nodes")).json()["items"] if node["name"] == "second"]
    assert [(one["healthy"], one["metrics"]) for one in seen["devices"]] == [
        (True, UNKNOWN_METRICS),
        (False, UNKNOWN_METRICS),
    ]
    # Old measurements are none, and it shows how old they are.
    await sql(two.database, "UPDATE device_conditions SET measured_at = measured_at - interval '2 minutes'")
    old = (await admin.get("/nodes/second")).json()["devices"][0]
    assert old["metrics"] | {"measured_at": None} == UNKNOWN_METRICS
    assert old["metrics"]["measured_at"] < shown["devices"][0]["metrics"]["measured_at"]
    assert old["healthy"] is True


async def test_the_load_of_a_machine_is_shown_to_those_who_may_read_its_usage(two: Api):
    admin, user = await two.as_("superadmin"), await two.as_("user")
    await admin.patch("/site", {"nodes_visible": True})
    now = SystemClock().now().replace(second=0, microsecond=0)
    load = HostLoad(
        cpu=2500, mem=3 << 30, received=10, sent=20, read=30, written=40, disk_used=5 << 30, disk_size=9 << 30
    )
    other = replace(load, cpu=500)
    async with two.database.transaction() as tx:
        await history.record(tx, now - timedelta(minutes=1), {(LOCAL_ENGINE, "machine"): other})
        await history.record(tx, now, {(LOCAL_ENGINE, "machine"): load})
    measured = {node["name"]: node["host"] for node in (await admin.get("/nodes")).json()["items"]}
    assert measured["second"] is None
    assert measured["machine"] | {"at": ""} == {"at": "", **asdict(load)}
    assert datetime.fromisoformat(measured["machine"]["at"]) == now
    assert (await admin.get("/nodes/machine")).json()["host"] == measured["machine"]
    assert [node["host"] for node in (await user.get("/nodes")).json()["items"]] == [None, None]
    series = (await admin.get("/usage/history", params={"scope": "node", "ref": "machine"})).json()[
        "measures"
    ]
    assert series["host.cpu"]["mean"] == [500, 2500]
    # Not measured for some minutes: nothing is shown, and the history has a gap instead of zeros.
    async with two.database.transaction() as tx:
        for minute in (1, 2, 3):
            await history.record(tx, now + timedelta(minutes=minute))
    assert (await admin.get("/nodes/machine")).json()["host"] is None
    params = {"scope": "node", "ref": "machine"}
    series = (await admin.get("/usage/history", params=params)).json()["measures"]
    assert series["host.mem"]["mean"] == [3 << 30, 3 << 30, None, None, None]
    assert "host.cpu" not in (await admin.get("/usage/history", params={"scope": "site"})).json()["measures"]


async def test_lists_of_nodes_are_filtered_and_paged(two: Api):
    admin = await two.as_("superadmin")
    await admin.post("/groups", {"name": "Arm"})
    await admin.patch("/nodes/second", {"group": "arm"})
    entry = (await admin.get("/audit?action=node.update")).json()["items"][0]
    assert entry["details"]["to"] == "Arm"

    async def names(**params):
        return [row["name"] for row in (await admin.get("/nodes", params=params)).json()["items"]]

    assert await names() == ["machine", "second"]
    assert await names(group="arm") == ["second"]
    assert await names(q="CHIN") == ["machine"]
    async with two.database.transaction() as tx:
        await nodes.record(tx, [MACHINE], SystemClock().now() + timedelta(seconds=5))
    assert await names(state="DOWN") == ["second"]
    assert await names(state="READY") == ["machine"]
    assert await names(sort="-seen_at") == ["machine", "second"]
    first = (await admin.get("/nodes", params={"limit": 1})).json()
    assert await names(limit=1, cursor=first["next_cursor"]) == ["second"]


async def test_people_see_nodes_only_where_they_are_shown_and_of_groups_that_they_may_use(two: Api):
    admin, user = await two.as_("superadmin"), await two.as_("user")
    for path in ("/nodes", "/nodes/machine"):
        assert status_and_code(await user.get(path)) == (403, "node.hidden")
    permissions = [(await one.get("/auth/me")).json()["actions"].get("node.read") for one in (user, admin)]
    assert permissions == [None, "all"]
    assert (await admin.patch("/site", {"nodes_visible": True})).status_code == 200
    assert (await user.get("/auth/me")).json()["actions"]["node.read"] == "all"
    await admin.post("/groups", {"name": "closed", "public": False})
    await admin.patch("/nodes/second", {"group": "closed"})
    assert [row["name"] for row in (await user.get("/nodes")).json()["items"]] == ["machine"]
    hidden, none = await user.get("/nodes/second"), await user.get("/nodes/none")
    assert status_and_code(hidden) == status_and_code(none) == (404, "node.not_found")
    assert hidden.json()["detail"].replace("second", "none") == none.json()["detail"]


async def test_a_node_is_changed_and_told_of(two: Api):
    admin = await two.as_("superadmin")
    changed = await admin.patch("/nodes/machine", {"reserved": {"cpu": 1000}, "cpu_overcommit": 2})
    assert changed.json()["offered"]["cpu"] == 14_000, "of what is not reserved, two for one"
    assert changed.json()["offered"]["mem"] == 16 << 30
    refused = await admin.patch("/nodes/machine", {"reserved": {"gpu.device": 1}})
    assert (status_and_code(refused), refused.json()["field"]) == (
        (422, "node.no_such_slot"),
        "reserved.gpu.device",
    )
    refused = await admin.patch("/nodes/machine", {"reserved": {"cpu": 8001}})
    assert (status_and_code(refused), refused.json()["field"]) == (
        (422, "node.reserve_too_large"),
        "reserved.cpu",
    )
    assert status_and_code(await admin.patch("/nodes/machine", {"group": "none"})) == (404, "group.not_found")
    for wrong in ({"cpu_overcommit": 0.5}, {"cpu_overcommit": 101}, {"cordoned": None}, {"extra": 1}):
        assert (await admin.patch("/nodes/machine", wrong)).status_code == 422, wrong
    async with two.database.transaction() as tx:
        written = (
            (
                await tx.execute(
                    text("SELECT details FROM audit WHERE object_kind = 'node' AND outcome = 'done'")
                )
            )
            .scalars()
            .all()
        )
        rows = await tx.execute(
            text("SELECT data ->> 'name' FROM events WHERE kind = 'node.updated' ORDER BY id")
        )
        *joined, last = rows.scalars()
    # Both joined at once.
    assert ({*joined}, len(joined), last) == ({"machine", "second"}, 2, "machine")
    assert written == [
        {
            "before": {"reserved": {"mem": 1 << 30}, "cpu_overcommit": 1.0},
            "after": {"reserved": {"cpu": 1000}, "cpu_overcommit": 2.0},
        }
    ]


async def test_well_known_labels_say_what_a_machine_is(two: Api):
    admin = await two.as_("superadmin")
    labels = {
        "topology.kubernetes.io/zone": "eu-1a",
        "node.kubernetes.io/instance-type": "g5.xlarge",
        "eks.amazonaws.com/nodegroup": "gpus",
        "eks.amazonaws.com/capacityType": "ON_DEMAND",
    }
    await join(two.database, replace(MACHINE, labels=labels), SECOND)
    shown = {"pool": "gpus", "zone": "eu-1a", "instance_type": "g5.xlarge", "capacity_type": "on-demand"}
    shown |= {"nvidia_driver": "", "cuda": ""}
    assert (await admin.get("/nodes/machine")).json()["machine"] == shown
    spot = {"own_labels": {"cloud.google.com/gke-spot": "true"}}
    assert (await admin.patch("/nodes/machine", spot)).json()["machine"]["capacity_type"] == "spot"


async def test_a_node_that_its_engine_closes_takes_nothing_and_says_why(
    living: Api, monkeypatch: pytest.MonkeyPatch
):
    # A hint alone makes the observer list nodes, which it otherwise does from time to time.
    monkeypatch.setattr(observe, "_MACHINES_EVERY", timedelta(0))
    admin, user = await living.as_("superadmin"), await living.as_("user")
    taint = "has the taint dedicated=lab:NoSchedule, which sessions do not tolerate"
    world = living.engine.world
    world.nodes = [replace(one, closed=taint) for one in world.nodes]

    async def closed() -> bool:
        return (await admin.get("/nodes/local")).json().get("closed") == taint

    # Recorded by its observer alone: one that has listed the nodes before would record them afterwards.
    world.hint("local")
    await eventually(closed)
    assert (await user.get("/resources")).json()["left"]["cpu"] == 0
    assert (await admin.get("/groups/default")).json()["ready_nodes"] == 0
    session = await user.start()

    async def reason() -> bool:
        return (await user.get(f"/sessions/{session['id']}")).json()["reason"] == f"1 node: {taint}."

    await eventually(reason)
    world.nodes = [replace(one, closed="") for one in world.nodes]
    world.hint("local")
    await living.until(user, session["id"], "RUNNING")


async def test_what_an_administrator_set_outlives_what_the_engine_says_next(two: Api):
    admin = await two.as_("superadmin")
    await admin.patch("/nodes/machine", {"cordoned": True, "reserved": {}, "cpu_overcommit": 3})
    async with two.database.transaction() as tx:
        await nodes.record(tx, [MACHINE, SECOND], SystemClock().now())
    shown = (await admin.get("/nodes/machine")).json()
    assert (shown["cordoned"], shown["reserved"], shown["cpu_overcommit"]) == (True, {}, 3)


async def test_a_drain_says_first_what_it_does_and_an_open_node_is_no_longer_emptied(two: Api):
    admin = await two.as_("superadmin")
    said_first = (await admin.post("/nodes/machine/drain", {"how": "move", "dry_run": True})).json()
    assert (said_first["dry_run"], said_first["node"]["cordoned"], said_first["sessions"]) == (
        True,
        False,
        [],
    )
    begun = (await admin.post("/nodes/machine/drain", {"how": "move"})).json()
    assert (begun["node"]["cordoned"], begun["node"]["draining"]) == (True, "move")
    again = (await admin.post("/nodes/machine/drain", {"how": "wait"})).json()
    assert again["node"]["draining"] == "wait"
    opened = (await admin.patch("/nodes/machine", {"cordoned": False})).json()
    assert (opened["cordoned"], opened["draining"]) == (False, None)


async def test_only_a_node_that_is_gone_is_forgotten_and_it_is_back_when_it_is_named(two: Api):
    admin = await two.as_("superadmin")
    await admin.post("/groups", {"name": "Arm"})
    await admin.patch("/nodes/second", {"group": "arm"})
    assert status_and_code(await admin.post("/nodes/second/forget", {"confirm": "machine"})) == (
        422,
        "node.unconfirmed",
    )
    assert status_and_code(await admin.post("/nodes/second/forget", {"confirm": "second"})) == (
        409,
        "node.not_gone",
    )
    assert (await admin.post("/nodes/second/drain", {"how": "move"})).status_code == 200
    async with two.database.transaction() as tx:
        await nodes.record(tx, [MACHINE], SystemClock().now())
    given_up = (await admin.post("/nodes/second/forget", {"confirm": "second"})).json()
    assert (given_up["name"], given_up["sessions"]) == ("second", [])
    assert status_and_code(await admin.get("/nodes/second")) == (404, "node.not_found")
    assert [row["name"] for row in (await admin.get("/nodes")).json()["items"]] == ["machine"]
    assert (await admin.get("/groups/arm")).json()["nodes"] == 0
    async with two.database.transaction() as tx:
        noted = await tx.execute(text("SELECT object_name FROM audit WHERE details -> 'after' ? 'forgotten'"))
        assert noted.scalars().all() == ["second"]
    assert (await admin.delete("/groups/arm")).status_code == 204
    async with two.database.transaction() as tx:
        await nodes.record(tx, [MACHINE, SECOND], SystemClock().now())
    back = (await admin.get("/nodes/second")).json()
    assert (back["state"], back["down_since"], back["group"]["name"]) == ("READY", None, "default")
    assert (back["cordoned"], back["draining"]) == (True, None), "whoever closed it opens it"


async def test_a_node_is_emptied_for_real_and_a_closed_one_takes_nothing(living: Api):
    admin, user = await living.as_("superadmin"), await living.as_("user")
    session = await user.start()

    async def state() -> str:
        return str((await user.get(f"/sessions/{session['id']}")).json()["state"])

    await eventually(lambda: is_now(state, "RUNNING"))
    shown = (await admin.get("/nodes/local")).json()
    assert [row["id"] for row in shown["sessions"]] == [session["id"]]
    assert shown["used"] == shown["sessions"][0]["slots"] == session["slots"]
    preview = (await admin.post("/nodes/local/drain", {"how": "move", "dry_run": True})).json()
    assert [(row["id"], row["becomes"]) for row in preview["sessions"]] == [(session["id"], "moves")]
    assert "lost" in preview["sessions"][0]["sentence"]
    assert await state() == "RUNNING"
    await admin.post("/nodes/local/drain", {"how": "move"})
    await eventually(lambda: is_now(state, "PENDING"))
    assert (await admin.get("/nodes/local")).json()["live_sessions"] == 0
    history = (await user.get(f"/sessions/{session['id']}/history")).json()["items"]
    assert "drained" in [entry["cause"] for entry in history]
    # The only node is closed: it waits until it is opened again.
    await admin.patch("/nodes/local", {"cordoned": False})
    await eventually(lambda: is_now(state, "RUNNING"))


async def is_now(state, expected):  # type: ignore[no-untyped-def]
    return await state() == expected


async def test_sessions_of_others_are_not_shown_with_a_node(living: Api):
    admin, user, stranger = [await living.as_(name) for name in ("superadmin", "user", "stranger")]
    await admin.patch("/site", {"nodes_visible": True})
    session = await user.start()

    async def state() -> str:
        return str((await user.get(f"/sessions/{session['id']}")).json()["state"])

    await eventually(lambda: is_now(state, "RUNNING"))
    mine, theirs = [(await who.get("/nodes/local")).json() for who in (user, stranger)]
    assert [row["id"] for row in mine["sessions"]] == [session["id"]]
    assert (theirs["sessions"], theirs["live_sessions"]) == ([], 1)


async def test_what_is_left_is_on_open_nodes_of_groups_that_one_may_use(two: Api):
    admin, user = await two.as_("superadmin"), await two.as_("user")

    async def cpu(who, what):
        return (await who.get("/resources")).json()[what]["cpu"]

    assert await cpu(user, "left") == await cpu(user, "capacity") == 12_000
    assert await cpu(user, "largest") == 8000
    # Of each slot by itself: the node with the most CPU left may not be the one with the most memory.
    await admin.patch("/nodes/machine", {"reserved": {"mem": 14 << 30}})
    shown = (await user.get("/resources")).json()
    assert (shown["largest"]["cpu"], shown["largest"]["mem"]) == (8000, 4 << 30)
    await admin.patch("/nodes/machine", {"cordoned": True})
    assert (await cpu(user, "capacity"), await cpu(user, "left"), await cpu(user, "largest")) == (
        12_000,
        4000,
        4000,
    )
    await admin.post("/groups", {"name": "closed", "public": False})
    await admin.patch("/nodes/second", {"group": "closed"})
    assert (await cpu(user, "capacity"), await cpu(user, "left")) == (8000, 0)
    assert (await cpu(admin, "capacity"), await cpu(admin, "left")) == (12_000, 4000)
