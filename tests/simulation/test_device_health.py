"""Accelerators that get out of order while sessions have them, in virtual time: everybody is told of each once."""

import asyncio
import json
from dataclasses import replace

from accelerator_kit import ScriptedDevices
from simulation.conftest import Play
from simulation.installation_life import Installation
from simulation.test_idle_sessions import another_leads

from carrel.accelerators.port import DeviceMetrics
from carrel.core.ids import SessionId

GIB = 1 << 30
METRICS = DeviceMetrics(50, 10 * GIB, 80 * GIB, 60, 300, 0)


def warnings(installation: Installation, session: SessionId) -> list[str]:
    [(codes,)] = installation.look.execute("SELECT warnings FROM sessions WHERE id = %s", (session,))
    return list(codes)


def reasons(installation: Installation, session: SessionId) -> list[str]:
    rows = installation.look.execute(
        "SELECT reason FROM session_history WHERE session_id = %s AND cause = 'device_unhealthy' ORDER BY id",
        (session,),
    )
    return [reason for (reason,) in rows]


def events(installation: Installation, like: str = "node.device%") -> list[tuple[str, str]]:
    rows = installation.look.execute(
        "SELECT kind, data->>'device' FROM events WHERE kind LIKE %s ORDER BY id", (like,)
    )
    return [(kind, device) for kind, device in rows]


def letters(installation: Installation) -> int:
    [(number,)] = installation.look.execute("SELECT count(*) FROM outbox")
    return int(number)


async def look(installation: Installation) -> None:
    await asyncio.sleep(6)
    await installation.round(1)


def add_image(installation: Installation) -> None:
    """For the containers of checks."""
    installation.look.execute(
        "INSERT INTO images (id, name, reference, title, description, min_slots, apps, present)"
        " VALUES ('small', 'small', 'tiny', '', '', '{}', '[]', true)"
    )


async def put_back(installation: Installation) -> None:
    """Carrel checks what has no problem any more, and what it was set aside for is over."""
    for _ in range(6):
        await look(installation)


def checks(installation: Installation) -> list[tuple[str | None, str, str | None]]:
    rows = installation.look.execute(
        "SELECT device, state, results->0->>'outcome' FROM accelerator_checks ORDER BY created_at, id"
    )
    return [(device, state, outcome) for device, state, outcome in rows]


def offered(installation: Installation) -> list[str]:
    [(devices, slots)] = installation.look.execute("SELECT devices, slots FROM nodes")
    assert slots.get("npu.device", 0) == len(devices)
    return sorted(device["id"] for device in devices)


async def holder(installation: Installation, devices: int) -> SessionId:
    session = await installation.create(cpu=100, more={"npu.device": devices})
    await installation.settle()
    return session


def test_whoever_has_a_device_and_the_superadmins_are_informed_once(play: Play) -> None:
    async def story(installation: Installation) -> None:
        devices = ScriptedDevices(*[METRICS] * 4)
        installation.world.equip("local", devices)
        mail = json.dumps({"mail_host": "mail", "mail_sender": "carrel@example.org"})
        installation.look.execute("UPDATE site SET values = values || %s", (mail,))
        installation.look.execute("DELETE FROM outbox")
        pair, other = await holder(installation, 2), await holder(installation, 1)
        [(held,)] = installation.look.execute(
            "SELECT devices FROM allocations WHERE session_id = %s AND devices IS NOT NULL", (pair,)
        )
        first, second = sorted(held)
        devices.fail(first, "It fell off the bus.")
        await look(installation)
        assert (warnings(installation, pair), warnings(installation, other)) == (["device_unhealthy"], [])
        sentence = f"Its accelerator {first} on local is out of order: It fell off the bus."
        assert reasons(installation, pair) == [sentence]
        assert events(installation) == [("node.device_unhealthy", first)]
        assert letters(installation) == 1
        # Its problem has another name now, time goes by, and another process leads: nothing is new.
        devices.fail(first, "It is still missing.")
        for _ in range(5):
            await look(installation)
        await another_leads(installation)
        for _ in range(5):
            await look(installation)
        assert (reasons(installation, pair), len(events(installation)), letters(installation)) == (
            [sentence],
            1,
            1,
        )
        # The other one too: the warning is there already, the history has both.
        devices.fail(second, "It is hot.")
        await look(installation)
        assert (len(reasons(installation, pair)), letters(installation)) == (2, 2)
        # One of them is not enough to take the warning back.
        devices.recover(first)
        await look(installation)
        assert warnings(installation, pair) == ["device_unhealthy"]
        devices.recover(second)
        await look(installation)
        assert warnings(installation, pair) == []
        # A check needs them alone, and comes when the session has ended.
        assert [kind for kind, _ in events(installation)] == ["node.device_unhealthy"] * 2
        assert checks(installation) == []
        assert (len(reasons(installation, pair)), letters(installation)) == (2, 2)
        # It is told of again when it gets out of order again.
        devices.fail(first, "It fell off the bus.")
        await look(installation)
        assert (len(reasons(installation, pair)), letters(installation)) == (3, 3)
        assert warnings(installation, pair) == ["device_unhealthy"]
        await installation.remove(pair)
        await installation.settle()

    play(story)


def test_a_session_that_leaves_its_node_leaves_the_warning_there(play: Play) -> None:
    async def story(installation: Installation) -> None:
        devices = ScriptedDevices(METRICS)
        installation.world.equip("local", devices)
        installation.set_group(on_node_loss="reschedule", node_loss_s=60)
        session = await holder(installation, 1)
        devices.fail("npu0", "It fell off the bus.")
        await look(installation)
        assert warnings(installation, session) == ["device_unhealthy"]
        installation.world.nodes = []
        for _ in range(4):
            await asyncio.sleep(60)
            await look(installation)
        assert warnings(installation, session) == []
        assert len(events(installation)) == 1

    play(story)


def test_a_device_that_a_restarted_driver_no_longer_lists_is_missing_after_a_minute(play: Play) -> None:
    async def story(installation: Installation) -> None:
        devices = ScriptedDevices(*[METRICS] * 2)
        installation.world.equip("local", devices)
        session = await holder(installation, 1)
        [(held,)] = installation.look.execute(
            "SELECT devices FROM allocations WHERE session_id = %s AND devices IS NOT NULL", (session,)
        )
        [device] = held
        devices.lose(device)
        await look(installation)
        assert events(installation) == []
        await asyncio.sleep(60)
        await look(installation)
        assert events(installation) == [("node.device_unhealthy", device)]
        assert "The device is missing." in reasons(installation, session)[0]
        # While it is held it stays on record; a day after that it is gone.
        await asyncio.sleep(90_000)
        await look(installation)
        assert rows(installation) == 2
        await installation.remove(session)
        await installation.settle()
        await look(installation)
        assert rows(installation) == 1

    def rows(installation: Installation) -> int:
        [(number,)] = installation.look.execute("SELECT count(*) FROM device_conditions")
        return int(number)

    play(story)


def test_a_device_is_put_back_after_a_check_of_it(play: Play) -> None:
    async def story(installation: Installation) -> None:
        devices = ScriptedDevices(*[METRICS] * 2)
        installation.world.equip("local", devices)
        add_image(installation)
        session = await holder(installation, 1)
        [(held,)] = installation.look.execute(
            "SELECT devices FROM allocations WHERE session_id = %s AND devices IS NOT NULL", (session,)
        )
        [device] = held
        [other] = {"npu0", "npu1"} - {device}
        devices.fail(device, "It fell off the bus.")
        await look(installation)
        devices.recover(device)
        await put_back(installation)
        # It works for whoever has it, and is neither checked nor offered meanwhile.
        assert (warnings(installation, session), checks(installation)) == ([], [])
        assert offered(installation) == [other]
        await installation.remove(session)
        await installation.settle()
        await put_back(installation)
        assert checks(installation) == [(device, "done", "passed")]
        assert offered(installation) == ["npu0", "npu1"]
        assert events(installation) == [
            ("node.device_unhealthy", device),
            ("node.device_healthy", device),
        ]
        assert not installation.world.containers

    play(story)


def test_devices_that_were_out_of_order_together_are_checked_together(play: Play) -> None:
    async def story(installation: Installation) -> None:
        devices = ScriptedDevices(*[METRICS] * 3)
        installation.world.equip("local", devices)
        add_image(installation)
        await installation.round(1)
        for device in ("npu0", "npu1"):
            devices.fail(device, "It is hot.")
        await look(installation)
        for device in ("npu0", "npu1"):
            devices.recover(device)
        await put_back(installation)
        assert offered(installation) == ["npu0", "npu1", "npu2"]
        taken = installation.look.execute("SELECT device, taken FROM accelerator_checks").fetchall()
        assert [(device, sorted(ids)) for device, ids in taken] == [(None, ["npu0", "npu1"])]

    play(story)


def test_a_check_by_carrel_of_devices_that_are_no_longer_aside_takes_none(play: Play) -> None:
    async def story(installation: Installation) -> None:
        installation.world.equip("local", ScriptedDevices(METRICS, METRICS))
        add_image(installation)
        await look(installation)
        # As if they were put back meanwhile, or whoever requested the check was deleted.
        installation.look.execute(
            "INSERT INTO accelerator_checks (id, node_id, state, created_at)"
            " SELECT 'late', id, 'waiting', now() FROM nodes"
        )
        await put_back(installation)
        rows = installation.look.execute("SELECT state, taken, results FROM accelerator_checks").fetchall()
        assert rows == [("cancelled", [], [])]

    play(story)


def test_a_few_nodes_are_checked_at_once(play: Play) -> None:
    async def story(installation: Installation) -> None:
        world = installation.world
        world.equip("local", ScriptedDevices(METRICS))
        world.nodes = [replace(world.nodes[0], name=f"n{number}") for number in range(6)]
        add_image(installation)
        await look(installation)
        installation.look.execute(
            "INSERT INTO accelerator_checks (id, node_id, state, image, created_at)"
            " SELECT id, id, 'waiting', 'large:1', now() FROM nodes WHERE state = 'READY'"
        )
        installation.look.execute("UPDATE accelerator_checks SET device = 'npu0'")
        world.pull_s = 300.0
        await look(installation)
        assert checks_in(installation, "running") == 4
        for _ in range(200):
            await look(installation)
        assert checks_in(installation, "done") == 6

    def checks_in(installation: Installation, state: str) -> int:
        query = "SELECT count(*) FROM accelerator_checks WHERE state = %s"
        [(number,)] = installation.look.execute(query, (state,))
        return int(number)

    play(story)


def test_a_device_that_does_not_pass_its_check_stays_aside(play: Play) -> None:
    async def story(installation: Installation) -> None:
        devices = ScriptedDevices(METRICS, METRICS)
        installation.world.equip("local", devices)
        add_image(installation)
        await installation.round(1)
        devices.fail("npu0", "It is hot.")
        await look(installation)
        devices.break_("npu0")
        devices.recover("npu0")
        await put_back(installation)
        assert checks(installation) == [("npu0", "done", "failed")]
        assert offered(installation) == ["npu1"]
        # It is checked again after a while.
        devices.mend("npu0")
        await asyncio.sleep(600)
        await put_back(installation)
        assert checks(installation) == [("npu0", "done", "failed"), ("npu0", "done", "passed")]
        assert offered(installation) == ["npu0", "npu1"]

    play(story)


def test_no_session_gets_a_device_that_is_being_checked(play: Play) -> None:
    async def story(installation: Installation) -> None:
        devices = ScriptedDevices(METRICS)
        installation.world.equip("local", devices)
        add_image(installation)
        await installation.round(1)
        installation.look.execute(
            "INSERT INTO accelerator_checks (id, node_id, state, taken, containers, created_at, requested_by)"
            " SELECT 'running', id, 'running', '{npu0}', '{gone}', now(), (SELECT min(id) FROM users) FROM nodes"
        )
        session = await installation.create(cpu=100, more={"npu.device": 1})
        await installation.round(2)
        states = "SELECT state FROM sessions WHERE id = %s"
        assert installation.look.execute(states, (session,)).fetchall() == [("PENDING",)]
        # The next leader finds the check as a killed one left it.
        await another_leads(installation)
        await put_back(installation)
        await installation.settle()
        assert checks(installation) == [(None, "done", "passed")]
        assert installation.look.execute(states, (session,)).fetchall() == [("RUNNING",)]

    play(story)


def test_containers_of_a_check_that_start_slowly_are_no_orphans(play: Play) -> None:
    async def story(installation: Installation) -> None:
        installation.world.equip("local", ScriptedDevices(METRICS))
        add_image(installation)
        await look(installation)
        installation.look.execute(
            "INSERT INTO accelerator_checks (id, node_id, device, state, created_at)"
            " SELECT 'slow', id, 'npu0', 'waiting', now() FROM nodes"
        )
        # Each container waits for the image, and the first one for the second one.
        world = installation.world
        world.pull_s = 500.0
        world.after = lambda step: world.local_images.discard("tiny")
        for _ in range(120):
            await look(installation)
        assert len(world.containers) == 1
        for _ in range(60):
            await look(installation)
        assert checks(installation) == [("npu0", "done", "passed")]

    play(story)


def test_measurements_are_written_without_events(play: Play) -> None:
    async def story(installation: Installation) -> None:
        devices = ScriptedDevices(METRICS)
        installation.world.equip("local", devices)
        await installation.round(1)
        installation.look.execute("DELETE FROM events")
        for number in range(4):
            devices.measure("npu0", DeviceMetrics(number, 10 * GIB, 80 * GIB, 60 + number, 300, 0))
            await asyncio.sleep(4)
            await installation.round(1)
        [(metrics,)] = installation.look.execute("SELECT metrics FROM device_conditions")
        assert metrics["utilization_percent"] == 3
        assert events(installation, "%") == []

    play(story)
