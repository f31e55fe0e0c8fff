"""1,000 sessions that print at once: what the controller that stores their output costs, and whether it has all of it.

A real PostgreSQL and the real log files; the engine is the fake one, in this process.
"""

import asyncio
import time
from datetime import timedelta

from bench.placing import _Place, _place
from bench.table import Line
from bench.usage import _START, _cpu_seconds, _fill
from carrel.controllers.log_collection import BATCH_BYTES, LogCollection
from carrel.controllers.loop import Tools
from carrel.core.clock import SystemClock
from carrel.core.ids import ContainerId
from carrel.db.encryption import SecretBox
from carrel.db.leader import lead
from carrel.engines.fake_world import FakeContainer, FakeWorld
from carrel.engines.port import ContainerSpec, ObservedState
from carrel.folders.hosts.storages import Storages
from carrel.nodes.engines.connections import Engines
from carrel.sessions.logs.blocks import unpack
from carrel.sessions.logs.records import NOTICE, decode
from carrel.sessions.logs.store import DIRECTORY, LogStore

_SESSIONS, _SECONDS, _LINES_PER_S = 1000, 40, 20
_TEXT = b"a line of output of usual length, of a training that tells its loss at each step\n"


async def measure() -> list[Line]:
    async with _place() as place:
        await _fill(place, "r", _SESSIONS, "RUNNING", _START - timedelta(hours=1), timedelta(minutes=1))
        logs = LogStore(place.settings.data_dir / DIRECTORY)
        collection, world = await _collecting(place, logs)
        printing_s, before = _cpu_seconds(place), time.perf_counter()
        most_bytes = 0
        for second in range(_SECONDS):
            for container in world.containers.values():
                world.write(container, _TEXT * _LINES_PER_S)
            if second % collection.tick_s == 0:
                await collection.step()
            await asyncio.sleep(max(before + second + 1 - time.perf_counter(), 0))
            most_bytes = max(most_bytes, sum(batch._bytes for batch in collection._batches.values()))
        percent = (_cpu_seconds(place) - printing_s) / (time.perf_counter() - before) * 100
        for batch in list(collection._batches.values()):
            await batch.store()
        await collection.close()
        missing, notices = await asyncio.to_thread(_missing, logs)
    conditions = f"{_SESSIONS * _LINES_PER_S:,} lines a second in all, for {_SECONDS} s"
    most_mib, limit_mib = most_bytes / (1 << 20), _SESSIONS * BATCH_BYTES / (1 << 20)
    return [
        Line(
            f"output of {_SESSIONS:,} sessions stored",
            f"{percent:.0f} %",
            f"of one core, with PostgreSQL and the fake engine; {conditions}",
            goal=100,
            value=percent,
        ),
        Line(
            "output in memory at most",
            f"{most_mib:.1f} MiB",
            f"not stored yet; {conditions}",
            goal=limit_mib,
            value=most_mib,
        ),
        Line("lines lost", f"{missing}", f"{notices} notices; {conditions}", goal=0, value=missing),
    ]


async def _collecting(place: _Place, logs: LogStore) -> tuple[LogCollection, FakeWorld]:
    """The controller once it follows all sessions."""
    world = place.engine.world = FakeWorld(SystemClock())
    for number in range(_SESSIONS):
        spec = ContainerSpec(f"r{number}", "image", {"cpu": 2000, "mem": 1 << 32})
        world.containers[spec.id] = FakeContainer(spec, state=ObservedState.RUNNING, started_at=_START)
    tools = Tools(
        place.database,
        Engines(place.database, lambda row: place.engine),
        SystemClock(),
        await lead(place.database.url),
        SecretBox(place.settings.key()),
        Storages(place.database),
        logs,
    )
    collection = LogCollection(tools)
    while len(list(collection._active)) < _SESSIONS:
        await collection.step()
        await asyncio.sleep(0)
    return collection, world


def _missing(logs: LogStore) -> tuple[int, int]:
    """Lines that are not stored, and notices in the logs."""
    lines = notices = 0
    for number in range(_SESSIONS):
        for attempt in logs.index(ContainerId(f"r{number}")):
            records = [record for member in attempt for record in decode(unpack(member))]
            notices += sum(record.stream == NOTICE for record in records)
            lines += sum(record.content == _TEXT for record in records)
    return _SESSIONS * _SECONDS * _LINES_PER_S - lines, notices
