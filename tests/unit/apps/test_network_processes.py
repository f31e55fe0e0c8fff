"""The processes of a check of the network, many at a time, with containers that are slow or stuck."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from carrel.apps.network_checks import all_reduce
from carrel.apps.network_checks.all_reduce import AllReduceMethod, Participant, measure
from carrel.core.errors import Conflict
from carrel.core.ids import ContainerId
from carrel.engines.port import Engine

_READY: dict[str, object] = {"port": 4000, "lacks": "no_torch", "devices": 0, "free_bytes": 64}
_NCCL: dict[str, object] = {"port": 4000, "devices": 2, "free_bytes": 4 << 30}


@dataclass
class Process:
    """Answers like the program. The end of it is known to who reads its output, as in a cluster."""

    ready: dict[str, object]
    stuck: bool
    _lines: "asyncio.Queue[bytes | None]" = field(default_factory=asyncio.Queue)
    _ended: asyncio.Event = field(default_factory=asyncio.Event)
    _begun: bool = False

    async def output(self) -> AsyncIterator[tuple[int, bytes]]:
        while (line := await self._lines.get()) is not None:
            yield 1, line
        self._ended.set()

    async def write(self, chunk: bytes) -> None:
        if not self._begun:
            self._begun = True
            self._print({"here": True})
            self._print(self.ready)
            return
        order = json.loads(chunk)
        self._print(
            {"seconds": 0.2} if "size" in order else {"interface": "eth0"} if "finish" in order else {}
        )

    async def close_stdin(self) -> None:
        if not self.stuck:
            self._lines.put_nowait(None)

    async def exit_code(self) -> int:
        await self._ended.wait()
        return 0

    def _print(self, answer: dict[str, object]) -> None:
        self._lines.put_nowait(json.dumps(answer).encode() + b"\n")


@dataclass
class Containers:
    """together: none has started before so many are starting. stuck: processes do not end, not even when the connection
    is closed. failing: the container in which no process starts.
    """

    together: int = 1
    stuck: bool = False
    ready: dict[str, object] = field(default_factory=lambda: _READY)
    failing: str = ""
    starting: int = 0
    most_starting: int = 0
    running: int = 0
    _enough: asyncio.Event = field(default_factory=asyncio.Event)

    @asynccontextmanager
    async def exec(self, container: str, command: Any, **more: Any) -> AsyncIterator[Process]:
        if container == self.failing:
            raise Conflict("gone", "It is gone.")
        self.starting += 1
        self.most_starting = max(self.starting, self.most_starting)
        if self.starting >= self.together:
            self._enough.set()
        try:
            await self._enough.wait()
            await asyncio.sleep(0)
        finally:
            self.starting -= 1
        self.running += 1
        try:
            yield Process(self.ready, self.stuck)
            if self.stuck:
                await asyncio.Event().wait()
        finally:
            self.running -= 1

    def participants(self, count: int) -> list[Participant]:
        return [Participant(ContainerId(str(one)), f"h{one}", cast(Engine, self), 2) for one in range(count)]


async def test_many_start_at_a_time_but_not_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_reduce, "_SETUP_S", 2.0)
    containers = Containers(together=16)
    measured = await measure(containers.participants(40))
    assert measured.hosts == tuple(f"h{one}" for one in range(40))
    assert containers.most_starting == 16
    assert containers.running == 0


async def test_processes_of_accelerators_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_reduce, "_SETUP_S", 2.0)
    containers = Containers(together=16, ready=_NCCL)
    measured = await measure(containers.participants(20))
    assert measured.method is AllReduceMethod.NCCL
    assert measured.hosts == tuple(f"h{one // 2}" for one in range(40))
    assert containers.most_starting == 16


async def test_an_end_is_noticed_by_the_output() -> None:
    begin = time.monotonic()
    await measure(Containers().participants(4))
    assert time.monotonic() - begin < all_reduce._END_S


async def test_stuck_processes_end_together_and_within_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_reduce, "_END_S", 0.3)
    monkeypatch.setattr(all_reduce, "CLOSE_S", 0.3)
    containers = Containers(stuck=True)
    begin = time.monotonic()
    measured = await measure(containers.participants(20))
    assert time.monotonic() - begin < 3
    assert len(measured.hosts) == 20
    assert containers.running == 0


async def test_a_failed_start_leaves_nothing_open() -> None:
    containers = Containers(together=40, failing="3")
    with pytest.raises(Conflict, match="It is gone"):
        await measure(containers.participants(40))
    assert (containers.starting, containers.running) == (0, 0)
