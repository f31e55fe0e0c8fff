"""Conditions of devices, and which ones are set aside."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from databases import sql
from node_kit import gpu_machine

from carrel.accelerators.port import DeviceState
from carrel.core.clock import SystemClock
from carrel.db.database import Database
from carrel.engines.port import NodeInfo
from carrel.nodes import service as nodes

LATER = timedelta(minutes=2)
MACHINE = gpu_machine("n1", None, gpus=2)


def monitored(*, identified: bool) -> NodeInfo:
    states = tuple(DeviceState(device, identified=identified) for device in MACHINE.devices)
    return replace(MACHINE, device_states=states)


def without_devices() -> NodeInfo:
    return replace(MACHINE, devices=(), slots={"cpu": 8000, "mem": 1 << 32})


async def report(database: Database, *machines: NodeInfo) -> list[str]:
    """Reported in turn, each some minutes later; the devices that are offered then."""
    now = SystemClock().now()
    for number, machine in enumerate(machines):
        async with database.transaction() as tx:
            await nodes.record(tx, [machine], now + number * LATER)
    [(devices,)] = await sql(database, "SELECT devices FROM nodes")
    return [device["id"] for device in devices]


async def conditions(database: Database) -> Sequence[tuple[object, ...]]:
    return await sql(database, "SELECT device, healthy FROM device_conditions ORDER BY device")


async def test_devices_that_are_not_monitored_any_more_are_not_missing(database: Database) -> None:
    both = ["n1-gpu0", "n1-gpu1"]
    assert await report(database, monitored(identified=True), MACHINE, MACHINE) == both
    assert await conditions(database) == []
    # Also if they were set aside before.
    aside = [monitored(identified=True), without_devices(), monitored(identified=True)]
    assert await report(database, *aside) == []
    assert await report(database, *aside, MACHINE) == both


async def test_numbered_devices_return_without_a_check(database: Database) -> None:
    seen = monitored(identified=False)
    assert await report(database, seen, without_devices(), seen) == ["n1-gpu0", "n1-gpu1"]
    assert await conditions(database) == [("n1-gpu0", True), ("n1-gpu1", True)]
    assert await sql(database, "SELECT kind FROM events WHERE kind LIKE 'node.device%'") == []
