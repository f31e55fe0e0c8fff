"""Checks of accelerators by the API and the command line, over the fake engine."""

from pathlib import Path

import pytest
from command_line import command_line
from databases import sql
from installation import Api
from node_kit import gpu_machine, join, machine
from people import eventually
from people_kit import status_and_code

from carrel.accelerators.fake import FakeAccelerators

ONE = {"cpu": 500, "mem": 1 << 30, "fake.device": 1}


@pytest.fixture
async def equipped(living: Api) -> Api:
    """An installation with a node that has two devices."""
    living.engine.world.equip("local", FakeAccelerators(2))
    living.engine.world.hint("local")
    admin = await living.as_("superadmin")

    async def offered() -> bool:
        return "fake.device" in (await admin.get("/resources")).json()["capacity"]

    await eventually(offered)
    await sql(
        living.database,
        "INSERT INTO images (id, name, reference, title, description, min_slots, apps, present)"
        " VALUES ('small', 'small', 'tiny', '', '', '{}', '[]', true)",
    )
    return living


async def test_a_check_leaves_out_what_sessions_hold(equipped: Api, tmp_path: Path):
    admin, user = await equipped.as_("superadmin"), await equipped.as_("user")
    session = await user.start(slots=ONE)
    await equipped.until(user, session["id"], "RUNNING")
    [node] = (await admin.get("/nodes")).json()["items"]
    [held] = [one["id"] for one in node["devices"] if one["used"]]
    [free] = [one["id"] for one in node["devices"] if not one["used"]]
    refused = await admin.post("/accelerator-checks", {"node": "local", "device": held})
    assert status_and_code(refused) == (409, "accelerator_check.held")
    line = await command_line(equipped, "superadmin", tmp_path)
    check = await line.as_json("node", "check-accelerators", "local")
    assert (check["state"], check["outcome"], check["taken"]) == ("done", "passed", [free])
    [result] = check["results"]
    assert (result["device"], result["variables"]) == (free, {"CARREL_DEVICES": f"{free}:1000"})
    listed = await line.as_json("node", "accelerator-checks", "local")
    assert [one["id"] for one in listed["items"]] == [check["id"]]
    assert "granted" in await line.ok("node", "show-check", check["id"])
    assert check["requested_by"]["email"] in await line.ok("node", "accelerator-checks")
    assert not [one for one in equipped.engine.world.containers if one.startswith("probe")]


async def test_a_node_is_checked_once_at_a_time_and_can_be_cancelled(equipped: Api, tmp_path: Path):
    admin = await equipped.as_("superadmin")
    equipped.engine.world.pull_s = 3600.0
    body = {"node": "local", "image": "large:1"}
    first = (await admin.post("/accelerator-checks", body)).json()

    async def runs() -> bool:
        shown = (await admin.get(f"/accelerator-checks/{first['id']}")).json()
        return bool(shown["taken"])

    await eventually(runs)
    second = await admin.post("/accelerator-checks", {"node": "local"})
    assert status_and_code(second) == (409, "accelerator_check.running")
    assert "cancel-check" in second.json()["hint"]
    # No session gets its devices.
    user = await equipped.as_("user")
    session = await user.start(slots=ONE)

    async def refused() -> bool:
        shown = (await user.get(f"/sessions/{session['id']}")).json()
        return shown["state"] == "PENDING" and shown["reason"] is not None

    await eventually(refused)
    line = await command_line(equipped, "superadmin", tmp_path)
    await line.ok("node", "cancel-check", first["id"])

    async def cancelled() -> bool:
        shown = (await admin.get(f"/accelerator-checks/{first['id']}")).json()
        return shown["state"] == "cancelled" and shown["ended_at"] is not None

    await eventually(cancelled)
    equipped.engine.world.pull_s = 0.0
    await equipped.until(user, session["id"], "RUNNING")
    again = await admin.delete(f"/accelerator-checks/{first['id']}")
    assert status_and_code(again) == (409, "accelerator_check.ended")


async def test_what_cannot_be_checked_is_refused(equipped: Api):
    admin = await equipped.as_("superadmin")
    for body, refusal in (
        ({"node": "nowhere"}, (404, "node.not_found")),
        ({"node": "local", "device": "gpu7"}, (404, "device.not_found")),
    ):
        assert status_and_code(await admin.post("/accelerator-checks", body)) == refusal
    assert status_and_code(await admin.get("/accelerator-checks/none")) == (
        404,
        "accelerator_check.not_found",
    )
    await sql(equipped.database, "UPDATE nodes SET devices = '[]'")
    refused = await admin.post("/accelerator-checks", {"node": "local"})
    assert status_and_code(refused) == (409, "accelerator_check.no_devices")


async def test_a_node_that_is_not_ready_is_not_checked(api: Api):
    admin = await api.as_("superadmin")
    await join(api.database, gpu_machine("n1", None))
    await sql(api.database, "UPDATE nodes SET state = 'DOWN'")
    refused = await admin.post("/accelerator-checks", {"node": "n1"})
    assert status_and_code(refused) == (409, "accelerator_check.not_ready")


async def test_a_superadmin_puts_a_device_back_without_a_check(api: Api, tmp_path: Path):
    admin = await api.as_("superadmin")
    await join(api.database, machine("local"))
    await sql(
        api.database,
        """
        INSERT INTO device_conditions (node_id, device, description, healthy, problem, since, metrics, measured_at)
        SELECT id, 'npu0', '{"id": "npu0", "family": "npu", "slots": {}}', FALSE, 'It is hot.', now(), '{}', now()
        FROM nodes
        """,
    )
    [(node,)] = await sql(api.database, "SELECT name FROM nodes")
    refused = await admin.post(f"/nodes/{node}/put-back", {"device": "npu0"})
    assert status_and_code(refused) == (409, "device.unhealthy")
    unknown = await admin.post(f"/nodes/{node}/put-back", {"device": "npu1"})
    assert status_and_code(unknown) == (404, "device.not_found")
    await sql(api.database, "UPDATE device_conditions SET cleared_at = now()")
    line = await command_line(api, "superadmin", tmp_path)
    assert "offered to sessions again" in await line.ok("node", "put-back", node, "npu0")
    assert await sql(api.database, "SELECT put_back FROM device_conditions") == [(True,)]
