"""Energy of accelerators: their power, integrated for those who held them, and shown as "not measured" otherwise."""

import csv
import io
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from command_line import command_line
from databases import sql
from installation import Api
from usage_kit import ran

from carrel.accelerators.port import Device, DeviceMetrics, DeviceState
from carrel.core.ids import LOCAL_ENGINE
from carrel.core.slots import SlotKind, SlotType
from carrel.engines.port import NodeInfo
from carrel.nodes import service as nodes

START = datetime(2026, 3, 2, 12, tzinfo=UTC)
KIND = SlotKind("cuda.device", "cuda", SlotType.COUNT)
SHARES = SlotKind("cuda.shares", "cuda", SlotType.SHARES)
CARDS = tuple(Device(f"GPU-{n}", "cuda", "H100", pci=f"0000:1{n}:00.0") for n in range(2))
MARCH = {"from": "2026-03-01", "to": "2026-03-31"}
S = timedelta(seconds=1)


class Machine:
    """Reports the power of its two devices."""

    def __init__(self, api: Api) -> None:
        self._database = api.database

    async def report(self, after_s: float, *watts: float | None) -> None:
        states = tuple(
            DeviceState(card, metrics=DeviceMetrics(power_w=power))
            for card, power in zip(CARDS, watts, strict=True)
        )
        info = NodeInfo("n1", "x86_64", {"cpu": 8000}, "Fake 1", devices=CARDS, slot_kinds=(KIND, SHARES))
        async with self._database.transaction() as tx:
            now = START + timedelta(seconds=after_s)
            await nodes.record(tx, [replace(info, device_states=states)], now, engine=LOCAL_ENGINE)


@pytest.fixture
def machine(api: Api) -> Machine:
    return Machine(api)


async def holds(
    api: Api, slot: str, amount: int, devices: str, begin_s: float = 0, end_s: float | None = None
):
    end = None if end_s is None else START + timedelta(seconds=end_s)
    session, _ = await ran(
        api.database, api.people, START + timedelta(seconds=begin_s), end, slots={"cpu": 1000, slot: amount}
    )
    await sql(
        api.database,
        "UPDATE allocations SET devices = CAST(:devices AS jsonb) WHERE session_id = :session AND slot = :slot",
        session=session,
        slot=slot,
        devices=devices,
    )
    return session


async def energy_of(api: Api, session: str) -> dict[str, float]:
    """Joules by device."""
    user = await api.as_("user")
    shown = (await user.get(f"/sessions/{session}/usage")).json()["energy"]
    return {one["device"]: round(one["energy_kwh"] * 3_600_000, 3) for one in shown}


async def test_power_is_integrated_for_the_session_that_holds_the_device(api: Api, machine: Machine) -> None:
    session = await holds(api, "cuda.device", 1, '{"GPU-0": 1000}')
    for after_s, watts in ((0, 100.0), (10, 200.0), (20, 200.0)):
        await machine.report(after_s, watts, 70.0)
    assert await energy_of(api, session) == {"GPU-0": 1500 + 2000}
    user = await api.as_("user")
    [one] = (await user.get(f"/sessions/{session}/usage")).json()["energy"]
    assert (one["model"], round(one["power_hours"] * 3600, 3)) == ("H100", 20)


async def test_only_the_time_that_a_device_was_held_counts_and_parts_of_it_in_part(
    api: Api, machine: Machine
) -> None:
    early = await holds(api, "cuda.device", 1, '{"GPU-0": 1000}', end_s=4)
    late = await holds(api, "cuda.device", 1, '{"GPU-0": 1000}', begin_s=6)
    part = await holds(api, "cuda.shares", 250, '{"GPU-1": 250}')
    for after_s in (0, 10):
        await machine.report(after_s, 100.0, 80.0)
    assert await energy_of(api, early) == {"GPU-0": 400}
    assert await energy_of(api, late) == {"GPU-0": 400}
    assert await energy_of(api, part) == {"GPU-1": 200}


async def test_what_is_not_measured_is_absent_not_zero(api: Api, machine: Machine) -> None:
    session = await holds(api, "cuda.device", 2, '{"GPU-0": 1000, "GPU-1": 1000}')
    for after_s, watts in ((0, 100.0), (10, None), (20, 100.0), (200, 100.0), (210, 100.0)):
        await machine.report(after_s, watts, None)
    # Neither around the missing value nor over a gap.
    assert await energy_of(api, session) == {"GPU-0": 1000}


async def test_measurements_that_are_not_stored_do_not_count_twice(api: Api, machine: Machine) -> None:
    session = await holds(api, "cuda.device", 1, '{"GPU-0": 1000}')
    for after_s in (0, 5, 10, 15, 20):
        await machine.report(after_s, 100.0, None)
    assert await energy_of(api, session) == {"GPU-0": 2000}


async def test_statistics_their_file_and_the_command_line_have_the_energy(
    api: Api, machine: Machine, tmp_path: Path
) -> None:
    session = await holds(api, "cuda.device", 1, '{"GPU-0": 1000}')
    for after_s in (0, 36):
        await machine.report(after_s, 50_000.0, None)
    user = await api.as_("user")

    async def row(**params: str) -> Any:
        view = (await user.get("/usage/statistics", params={**MARCH, **params})).json()
        return view["items"][0], view["total"]

    for of in await row(by="project"):
        assert of["energy_kwh"] == pytest.approx(0.5)
        assert of["slots"]["cuda.device"]["power_hours"] == pytest.approx(0.01)
    answer = await user.get("/usage/statistics/export", params=MARCH)
    [line, total] = [one for one in csv.DictReader(io.StringIO(answer.text)) if one["slot"] == "cuda.device"]
    assert (line["energy_kwh"], line["power_measured_hours"]) == ("0.5", "0.01")
    assert total["energy_kwh"] == "0.5"
    terminal = await command_line(api, "user", tmp_path)
    assert "0.50 kWh" in await terminal.ok("stats", "--from", "2026-03-01", "--to", "2026-03-31")
    assert "0.500 kWh" in await terminal.ok("session", "usage", session)


async def test_without_measured_power_statistics_have_none(api: Api, machine: Machine) -> None:
    await holds(api, "cuda.device", 1, '{"GPU-0": 1000}')
    for after_s in (0, 10):
        await machine.report(after_s, None, None)
    user = await api.as_("user")
    view = (await user.get("/usage/statistics", params=MARCH)).json()
    assert view["total"]["energy_kwh"] is None
