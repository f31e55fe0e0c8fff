"""Records on their way from the engine to the disk."""

import asyncio
import errno
from collections.abc import Callable
from pathlib import Path

import pytest
from people import eventually
from structlog.testing import capture_logs

from carrel.controllers.log_collection import BATCH_BYTES, LogBatch
from carrel.core.ids import ContainerId
from carrel.engines.fake import FakeEngine, FakeWorld
from carrel.engines.port import ContainerGone, ContainerSpec, EngineUnavailable
from carrel.sessions.logs.blocks import unpack
from carrel.sessions.logs.records import decode
from carrel.sessions.logs.store import LogStore, LogWriter

CONTAINER = ContainerId("abcdefghijkl")


@pytest.fixture
async def engine() -> FakeEngine:
    engine = FakeEngine(FakeWorld())
    await engine.ensure(ContainerSpec(CONTAINER, "debian:12", {"cpu": 1000}), lambda _: None)
    return engine


@pytest.fixture
def logs(tmp_path: Path) -> LogStore:
    return LogStore(tmp_path)


def say(engine: FakeEngine, text: bytes) -> None:
    engine.world.write(engine.world.containers[CONTAINER], text)


def stored(logs: LogStore) -> bytes:
    members = [member for parts in logs.index(CONTAINER) for member in parts]
    return b"".join(record.content for one in members for record in decode(unpack(one)))


async def until(holds: Callable[[], bool]) -> None:
    async def it_holds() -> bool:
        return holds()

    await eventually(it_holds, every_s=0.01)


async def has_read(batch: LogBatch) -> None:
    await until(lambda: batch.age_s > 0)


async def test_batch_is_stored_when_it_is_large_and_the_rest_is_read_again(
    engine: FakeEngine, logs: LogStore
) -> None:
    large = (b"x" * 1023 + b"\n") * (BATCH_BYTES // 1024)
    batch = LogBatch(logs, CONTAINER, None)
    following = asyncio.create_task(batch.read(engine, follow=True))
    say(engine, large)
    await until(lambda: stored(logs) == large)
    assert batch.age_s == 0.0
    say(engine, b"small\n")
    await has_read(batch)
    # As when the process is killed.
    following.cancel()
    assert stored(logs) == large
    say(engine, b"later\n")
    again = LogBatch(logs, CONTAINER, None)
    await again.read(engine, follow=False)
    await again.store()
    assert stored(logs) == large + b"small\nlater\n"
    await again.read(engine, follow=False)
    await again.end()
    assert stored(logs) == large + b"small\nlater\n"
    assert logs.current_attempt(CONTAINER) == 2


async def test_full_disk_drops_lines_with_one_warning_and_stops_nothing(
    engine: FakeEngine, logs: LogStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: LogWriter, member: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    batch = LogBatch(logs, CONTAINER, None)
    following = asyncio.create_task(batch.read(engine, follow=True))
    with monkeypatch.context() as patch, capture_logs() as warned:
        patch.setattr(LogWriter, "_write", full)
        for _ in range(2):
            say(engine, b"lost\n")
            await has_read(batch)
            await batch.store()
    assert [(one["event"], one["container"]) for one in warned] == [("logs.dropped", CONTAINER)]
    say(engine, b"kept\n")
    await has_read(batch)
    await batch.store()
    assert not following.done()
    following.cancel()
    assert stored(logs) == b"kept\n"
    assert logs.index(CONTAINER)[0][0].first_line == 2


async def test_engine_that_goes_away_is_reported_and_a_removed_container_too(
    engine: FakeEngine, logs: LogStore
) -> None:
    say(engine, b"one\n")
    batch = LogBatch(logs, CONTAINER, None)
    following = asyncio.create_task(batch.read(engine, follow=True))
    await has_read(batch)
    engine.world.go_away()
    with pytest.raises(EngineUnavailable):
        await following
    engine.world.come_back()
    await batch.read(engine, follow=False)
    await engine.remove(CONTAINER, grace_s=0)
    with pytest.raises(ContainerGone):
        await batch.read(engine, follow=False)
    assert stored(logs) == b"one\n"
