"""A storage host that hangs blocks its own callers, for a bounded time, and nobody else."""

import asyncio
import errno
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest
from people import eventually

from carrel.storage.fake import FakeBackend
from carrel.storage.port import OverQuota, StorageFull, StorageUnavailable
from carrel.storage.threads import Threads

SOON_S = 0.05
BOUND_S = 20.0


@pytest.fixture
def threads() -> Iterator[Threads]:
    threads = Threads("nas")
    yield threads
    threads.close()


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[FakeBackend]:
    fake = FakeBackend(tmp_path / "root")
    yield fake
    fake.answer()


async def test_it_gives_what_the_work_gives(threads: Threads) -> None:
    assert await threads.call(lambda a, b: a + b, 1, 2) == 3
    assert await threads.call(lambda a, b: a + b, 1, 2, deadline_s=None) == 3
    with pytest.raises(KeyError):
        await threads.call({}.__getitem__, 1)


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.EDQUOT, OverQuota),
        (errno.ENOSPC, StorageFull),
        (errno.ESTALE, StorageUnavailable),
        (errno.ETIMEDOUT, StorageUnavailable),
        (errno.EIO, StorageUnavailable),
        (errno.ENOENT, FileNotFoundError),
    ],
)
async def test_what_the_system_says_is_said_in_our_words(
    threads: Threads, number: int, kind: type[Exception]
) -> None:
    def fail() -> None:
        raise OSError(number, os.strerror(number))

    for deadline_s in (15.0, None):
        with pytest.raises(kind):
            await threads.call(fail, deadline_s=deadline_s)


async def test_a_hung_host_gives_up_its_callers_and_blocks_nobody_else(
    threads: Threads, fake: FakeBackend, tmp_path: Path
) -> None:
    fake.hang()
    hung = asyncio.create_task(threads.call(fake.probe, deadline_s=SOON_S))
    other = Threads("ssd")
    assert (await other.call(FakeBackend(tmp_path / "other").probe)).total_bytes > 0
    with pytest.raises(StorageUnavailable, match="nas did not respond"):
        await hung
    other.close()


async def test_many_stuck_calls_are_refused_at_once_and_it_recovers(
    threads: Threads, fake: FakeBackend
) -> None:
    fake.hang()
    calls = [threads.call(fake.probe, deadline_s=SOON_S) for _ in range(40)]
    ended = await asyncio.gather(*calls, return_exceptions=True)
    assert {type(one) for one in ended} == {StorageUnavailable}
    assert len(fake.calls) <= 16
    await eventually(lambda: threads.stuck == len(fake.calls))
    begun = len(fake.calls)
    with pytest.raises(StorageUnavailable, match="nas does not respond"):
        await threads.call(fake.probe, deadline_s=None)
    assert len(fake.calls) == begun
    fake.answer()
    await eventually(lambda: threads.stuck == 0)
    assert (await threads.call(fake.probe)).total_bytes > 0
    assert len(fake.calls) == begun + 1  # those that gave up before their turn were never begun


async def test_callers_that_go_away_do_not_hide_that_it_hangs(threads: Threads, fake: FakeBackend) -> None:
    fake.hang()
    calls: list[asyncio.Task[object]] = []

    def enough_threads_hang() -> bool:
        # One at a time: a call is dropped if no thread takes it before its deadline.
        calls.append(asyncio.create_task(threads.call(fake.probe, deadline_s=SOON_S)))
        return len(fake.calls) >= 8

    await eventually(enough_threads_hang)
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    await eventually(lambda: threads.stuck >= 8)
    with pytest.raises(StorageUnavailable, match="nas does not respond"):
        await threads.call(fake.probe)


async def test_long_work_has_no_deadline_and_is_in_nobodys_way(threads: Threads) -> None:
    go_on = threading.Event()
    long = [asyncio.create_task(threads.call(go_on.wait, BOUND_S, deadline_s=None)) for _ in range(20)]
    assert await threads.call(lambda: 1) == 1
    assert threads.stuck == 0
    go_on.set()
    assert all(await asyncio.gather(*long))


async def test_work_that_may_take_long_is_in_nobodys_way_either(threads: Threads) -> None:
    go_on = threading.Event()
    long = [asyncio.create_task(threads.call(go_on.wait, BOUND_S, deadline_s=900)) for _ in range(40)]
    await eventually(lambda: _named("storage-nas-slow") == 16)
    assert await threads.call(lambda: 1) == 1
    assert threads.stuck == 0
    go_on.set()
    assert all(await asyncio.gather(*long))
    threads.close()
    await eventually(lambda: _named("storage-nas-slow") == 0)


async def test_threads_are_few_and_end(threads: Threads, monkeypatch: pytest.MonkeyPatch) -> None:
    # A caller that comes again at once comes before a slow thread has done anything more.
    set_result = Future.set_result
    monkeypatch.setattr(Future, "set_result", lambda *given: (set_result(*given), time.sleep(0.005)))
    for _ in range(10):
        await threads.call(lambda: None)
    monkeypatch.undo()
    assert _named("storage-nas") == 1
    await asyncio.gather(*(threads.call(time.sleep, 0.001) for _ in range(200)))
    assert _named("storage-nas") <= 16
    threads.close()
    await eventually(lambda: _named("storage-nas") == 0)


def _named(name: str) -> int:
    return sum(thread.name == name for thread in threading.enumerate())
