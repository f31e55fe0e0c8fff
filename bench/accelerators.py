"""What accelerators cost: finding and measuring the GPUs of a machine, planning shares of them, and attaching one.

The GPUs are those of a simulated machine. A program that prints the recorded output stands in for the vendor's tool;
its CPU time is counted apart.
"""

import asyncio
import random
import resource
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import httpx2

from bench.control_plane import SMALL, control_plane
from bench.following import Follower, following
from bench.idle import cpu_seconds, postgres_of
from bench.load import median
from bench.placing import _Place, _place
from bench.planning import _snapshot, _took
from bench.table import Line
from carrel.accelerators import make
from carrel.accelerators.driver import SAMPLE_S, AcceleratorDriver
from carrel.accelerators.hardware import Machine, recording
from carrel.accelerators.port import Accelerators, DeviceState
from carrel.accelerators.simulated import machine
from carrel.core.clock import SystemClock
from carrel.engines.accelerated import node_with
from carrel.engines.port import NodeInfo
from carrel.nodes import service as nodes
from carrel.scheduling.snapshot import DeviceSnapshot, QueueOrder, Snapshot, Strategy

_GPUS = "h100x8"
_GPU, _SHARES = "cuda.device", "cuda.shares"
_INTERVAL_S = 10
_SAMPLES = int(_INTERVAL_S / SAMPLE_S)
_INTERVALS = 60
_STARTS = 15
_DEVICES = 16
_MACHINE = NodeInfo("local", "x86_64", {"cpu": 64_000, "mem": 256 << 30}, "Fake 1")


async def measure() -> list[Line]:
    return [*await _watched(), *_planned(), *await _attached()]


async def _watched() -> list[Line]:
    """Discovery and measurements, until they are in the database."""
    with TemporaryDirectory() as folder, patch.object(Machine, "_replay", _run):
        counts = machine.parse(_GPUS)
        root = machine.write(counts, Path(folder))
        accelerators = make.make(machine.plugin_settings(counts, root))
        for one in accelerators:
            if isinstance(one, AcceleratorDriver):
                one._sample_s, one._background = 0, lambda sample: sample()
        async with _place() as place:
            await _reported(place, accelerators)  # a warm-up
            server = postgres_of(place.settings.data_dir)
            own, tool = time.process_time() + cpu_seconds(server), _of_tools()
            for _ in range(_INTERVALS):
                await _reported(place, accelerators)
            own, tool = time.process_time() + cpu_seconds(server) - own, _of_tools() - tool
    percent, percent_of_tool = (spent / _INTERVALS / _INTERVAL_S * 100 for spent in (own, tool))
    return [
        Line(
            "8 GPUs found and measured",
            f"{percent:.2f} %",
            f"of one core, PostgreSQL included: {_SAMPLES} samples and a report each {_INTERVAL_S} s; beside it "
            f"{percent_of_tool:.2f} % for programs that stand in for nvidia-smi",
            goal=1,
            value=percent,
        )
    ]


def _run(self: Machine, name: str, arguments: tuple[str, ...]) -> str:
    """Instead of reading the recorded output of a tool: of a process that prints it."""
    return self._output(name, ["/bin/cat", str(self.root / "tools" / name / recording(arguments))], {})


def _of_tools() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def _reported(place: _Place, accelerators: list[Accelerators]) -> None:
    for _ in range(_SAMPLES - 1):
        for each in accelerators:
            if isinstance(each, AcceleratorDriver):
                each.states()
    node = node_with(accelerators, _MACHINE)
    node = replace(node, device_states=tuple(map(_busy, node.device_states)))
    async with place.database.transaction() as tx:
        await nodes.record(tx, [node], SystemClock().now())


def _busy(state: DeviceState) -> DeviceState:
    """With measurements that differ each time, as those of a device at work."""
    used = round(random.random() * 100)
    measured = replace(state.metrics, utilization_percent=used, temperature_c=used, mem_used_bytes=used << 30)
    return replace(state, metrics=measured)


def _planned() -> Iterator[Line]:
    for strategy in Strategy:
        without = _snapshot(1_000, 1_000, 24, strategy, QueueOrder.FIFO, busy=True)
        plain, shares = (_took(one, times=5) * 1000 for one in (without, _with_shares(without)))
        yield Line(
            f"plan, 1,000 nodes of {_DEVICES} devices, 1,000 wait for shares, {strategy}",
            f"{shares:.1f} ms",
            f"half in use; the same without devices: {plain:.1f} ms",
            value=shares,
        )


def _with_shares(snapshot: Snapshot) -> Snapshot:
    amounts = random.Random(2)
    return replace(
        snapshot,
        nodes=tuple(
            replace(
                node,
                capacity={**node.capacity, _GPU: _DEVICES, _SHARES: _DEVICES * 1000},
                devices=tuple(
                    DeviceSnapshot(
                        f"{node.id}-{number}",
                        "cuda",
                        used=amounts.choice((0, 250, 500, 1000)),
                        set=number // 8,
                        slots={_GPU: 1000, _SHARES: 1},
                    )
                    for number in range(_DEVICES)
                ),
            )
            for node in snapshot.nodes
        ),
        waiting=tuple(
            replace(one, slots={**one.slots, _SHARES: 50 * amounts.randint(1, 19)})
            for one in snapshot.waiting
        ),
    )


async def _attached() -> list[Line]:
    """A start with a GPU against one without, by turns."""
    took: dict[int, list[float]] = {0: [], 1: []}
    async with (
        control_plane(app_layer=False, simulated_accelerators=_GPUS) as own,
        own.client() as client,
        following(own) as follower,
    ):
        for turn in range(_STARTS + 2):
            for gpus, starts in took.items():
                seconds = await _start(client, follower, gpus)
                if turn > 1:  # the first ones are a warm-up
                    starts.append(seconds)
    added = (median(took[1]) - median(took[0])) * 1000
    return [
        Line(
            "a GPU, added to a session's start",
            f"{added:.0f} ms",
            f"to {median(took[0]) * 1000:.0f} ms; {_STARTS} by turns, simulated",
            goal=20,
            value=added,
        )
    ]


async def _start(client: httpx2.AsyncClient, follower: Follower, gpus: int) -> float:
    slots = {**SMALL, _GPU: gpus} if gpus else SMALL
    began = time.perf_counter()
    made = (await client.post("/sessions", json={"image": "tiny", "slots": slots})).json()
    took = await follower.reached(made["id"], "RUNNING") - began
    await client.delete(f"/sessions/{made['id']}", params={"force": "true"})
    await follower.reached(made["id"], "TERMINATED")
    await asyncio.sleep(0.2)  # until the next starts on an idle system
    return took
