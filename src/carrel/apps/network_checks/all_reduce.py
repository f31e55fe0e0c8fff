"""Measure an all-reduce between participants: one process (`program`) each, driven from here.

1  a process in every container says what it has
2  the best method that all of them have is chosen; NCCL gets a process for each accelerator
3  they connect
4  all-reduces of growing size, until the time or the free memory is used up
5  each reports the interface that carried its messages
"""

import asyncio
import contextlib
import json
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path as FilePath
from typing import Annotated, TypeVar

from pydantic import BaseModel, Field, ValidationError

from carrel.apps.container_ports import SHELLS, by_python
from carrel.apps.network_checks import message_paths, program
from carrel.core.errors import CarrelError, Conflict
from carrel.core.ids import ContainerId
from carrel.engines.port import Engine, ExecStream

LIMIT_S = float(program.LIMIT_S)
_SETUP_S = 35.0
_ORDER_S = 20.0
_MEASURE_S = 10.0
_EACH_S = 0.4
_END_S = 5.0
CLOSE_S = 3.0
"""After LIMIT_S, for what did not end by itself."""
_AT_ONCE = 16
"""Processes that are being started."""
_LARGEST_LINE = 1 << 20
_SIZES = (8, 64 << 10, 1 << 20, 16 << 20, 64 << 20)
_MAX_COUNT = 200
_BUFFERS = 8
"""Sizes up to this part of the free memory."""
_NCCL_BYTES = 1 << 30
"""Free memory for the context of an accelerator."""
_MISSING = 127
_SOURCE = FilePath(program.__file__).read_bytes()
# Modules next to the user's files do not hide those of Python.
_LOADER = (
    "import sys; sys.path = [one for one in sys.path if one]; "
    'exec(compile(sys.stdin.buffer.read(int(sys.argv[1])), "carrel", "exec"))'
)


class AllReduceMethod(StrEnum):
    """nccl: PyTorch with NCCL or RCCL, between accelerators. gloo: PyTorch with Gloo, between processors. tcp: a ring
    over TCP without libraries.
    """

    NCCL = "nccl"
    GLOO = "gloo"
    TCP = "tcp"


class Lack(StrEnum):
    """Why not a better method."""

    NO_TORCH = "no_torch"
    LITTLE_MEMORY = "little_memory"
    BROKEN_TORCH = "broken_torch"


class _Report(BaseModel):
    """What a process prints; a session can print anything. failed: instead of everything else."""

    failed: str = Field(default="", max_length=1000)


class _Ready(_Report):
    port: int = Field(default=0, ge=0, lt=1 << 16)
    lacks: Lack | None = None
    devices: int = Field(default=0, ge=0)
    free_bytes: int = Field(default=0, ge=0)


class _Measured(_Report):
    seconds: float = Field(default=0.0, ge=0, le=1e6)


class _Finished(_Report):
    interface: str = Field(default="", max_length=64)
    lines: list[Annotated[str, Field(max_length=300)]] = Field(default=[], max_length=1000)


_A = TypeVar("_A", bound=_Report)


@dataclass(frozen=True, slots=True)
class Participant:
    """A container of the session. devices: how many accelerators it has at most."""

    id: ContainerId
    host: str
    engine: Engine
    devices: int = 1


@dataclass(frozen=True, slots=True)
class MessageTiming:
    """count all-reduces of the size took seconds on the slowest rank."""

    size_bytes: int
    count: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Measurement:
    """hosts: of each rank. lack: None: the best method was used."""

    method: AllReduceMethod
    lack: Lack | None
    hosts: tuple[str, ...]
    paths: tuple[message_paths.Path, ...]
    messages: tuple[MessageTiming, ...]


async def measure(
    participants: Sequence[Participant],
    *,
    python: str | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Measurement:
    """python: the interpreter; None: the image's, or that of the app layer.

    Raises: Conflict with a code network.*, EngineError.
    """
    starter = _Starter(python)
    try:
        return await _measured(starter, participants, clock)
    finally:
        await starter.close()


async def _measured(
    starter: "_Starter", participants: Sequence[Participant], clock: Callable[[], float]
) -> Measurement:
    begin = clock()
    async with _within(_SETUP_S):
        ranks = await starter.started((one, 0) for one in participants)
        ready = await _all(rank.next(_Ready) for rank in ranks)
        method, lack = _method(ready)
        if method is AllReduceMethod.NCCL:
            ranks, ready = await _for_each_device(starter, ranks, ready)
        await _connect(ranks, ready, method)
    free = min(one.free_bytes for one in ready) // _BUFFERS
    messages: list[MessageTiming] = []
    async with _within(LIMIT_S - (clock() - begin)):
        until = clock() + _MEASURE_S
        for size in _SIZES:
            if messages and (size > free or clock() > until):
                break
            messages.append(await _message(ranks, size))
        reports = await _ordered(ranks, {"finish": True}, _Finished)
    await _ended(ranks, min(_END_S, LIMIT_S - (clock() - begin)))
    if method is AllReduceMethod.NCCL:
        taken = message_paths.of_nccl({number: one.lines for number, one in enumerate(reports)})
    else:
        taken = message_paths.over_tcp([one.interface for one in reports])
    return Measurement(method, lack, tuple(rank.of.host for rank in ranks), tuple(taken), tuple(messages))


def _method(ready: Sequence[_Ready]) -> tuple[AllReduceMethod, Lack | None]:
    """Raises: Conflict for a single container without NCCL."""
    lacks = [one.lacks for one in ready if one.lacks]
    if not lacks and all(one.devices and one.free_bytes >= one.devices * _NCCL_BYTES for one in ready):
        return AllReduceMethod.NCCL, None
    if len(ready) == 1:
        raise Conflict(
            "network.no_nccl",
            "The network between accelerators of one container is measured with NCCL, which is not usable in it.",
            hint="Use an image with PyTorch for these accelerators, and at least 1 GiB of memory for each of them.",
        )
    return (AllReduceMethod.TCP, lacks[0]) if lacks else (AllReduceMethod.GLOO, None)


async def _for_each_device(
    starter: "_Starter", first: Sequence["_Rank"], ready: Sequence[_Ready]
) -> tuple[list["_Rank"], list[_Ready]]:
    """A process for each accelerator, those of a container together."""
    places = [
        (rank, local)
        for rank, one in zip(first, ready, strict=True)
        for local in range(min(one.devices, rank.of.devices))
    ]
    started = await starter.started((rank.of, local) for rank, local in places if local)
    others, own = iter(started), iter(ready)
    ranks = [next(others) if local else rank for rank, local in places]
    more = iter(await _all(rank.next(_Ready) for rank in started))
    return ranks, [next(more) if rank.local else next(own) for rank in ranks]


async def _connect(ranks: Sequence["_Rank"], ready: Sequence[_Ready], method: AllReduceMethod) -> None:
    start = {
        "method": method,
        "hosts": [rank.of.host for rank in ranks],
        "ports": [one.port for one in ready],
        "port": ready[0].port,
        "world": len(ranks),
        "secret": secrets.token_hex(16),
    }
    for number, rank in enumerate(ranks):
        await rank.say({**start, "rank": number, "local": rank.local})
    await _all(rank.next(_Report) for rank in ranks)


async def _message(ranks: Sequence["_Rank"], size: int) -> MessageTiming:
    """One to see how long it takes, then as many as fit into a moment."""

    async def lasted(count: int) -> float:
        answers = await _ordered(ranks, {"size": size, "count": count}, _Measured)
        return max(one.seconds for one in answers)

    once = await lasted(1)
    count = max(min(int(_EACH_S / max(once, 1e-6)), _MAX_COUNT), 1)
    return MessageTiming(size, count, await lasted(count) if count > 1 else once)


async def _ordered(ranks: Sequence["_Rank"], order: dict[str, object], kind: type[_A]) -> list[_A]:
    for rank in ranks:
        await rank.say(order)
    async with _within(_ORDER_S):
        return await _all(rank.next(kind) for rank in ranks)


async def _all(answers: Iterable[Awaitable[_A]]) -> list[_A]:
    """The answers of all; the first failure ends the waiting for others."""
    return await asyncio.gather(*answers)


async def _ended(ranks: Sequence["_Rank"], seconds: float) -> None:
    """Let all end by themselves, at most for so long."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(max(seconds, 0.0)):
            await asyncio.gather(*(rank.end() for rank in ranks), return_exceptions=True)


@contextlib.asynccontextmanager
async def _within(seconds: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(max(seconds, 0.0)):
            yield
    except TimeoutError:
        raise Conflict(
            "network.timed_out",
            "The containers did not complete the measurement in time.",
            hint="They may be busy, or something may drop their packets; try again, and see `carrel session usage`.",
        ) from None


@dataclass
class _Rank:
    """A process in a container, and the answers that it has printed."""

    of: Participant
    local: int
    stream: ExecStream
    _output: AsyncIterator[tuple[int, bytes]]
    _printed: bytearray = field(default_factory=bytearray)

    async def say(self, order: dict[str, object]) -> None:
        await self.stream.write(json.dumps(order).encode() + b"\n")

    async def next(self, kind: type[_A]) -> _A:
        """The next answer. Raises: Conflict if it fails instead."""
        line = await self.line()
        if line is None:
            raise Conflict(
                "network.failed",
                f"The measurement in {self.of.host} ended early.",
                hint="It may be out of memory or processes.",
            )
        try:
            answer = kind.model_validate_json(line)
        except ValidationError:
            raise _failed(self.of.host, "its answer is not of the measurement") from None
        if answer.failed:
            raise _failed(self.of.host, answer.failed)
        return answer

    async def line(self) -> bytes | None:
        """The next line that it prints; None once it has ended."""
        while b"\n" not in self._printed:
            async for number, chunk in self._output:
                if number == 1:
                    self._printed += chunk
                    break
            else:
                return None
            if len(self._printed) > _LARGEST_LINE:
                return None
        line, _, self._printed = self._printed.partition(b"\n")
        return bytes(line)

    async def end(self) -> None:
        await self.stream.close_stdin()
        # Some streams know of the end only once the output was read.
        while await self.line() is not None:
            pass
        await self.stream.exit_code()


class _Starter:
    """Starts processes, and hangs up in the end on those that are left. python: see `measure`."""

    def __init__(self, python: str | None) -> None:
        self._python = python
        self._room = asyncio.Semaphore(_AT_ONCE)
        self._open: list[AsyncExitStack] = []

    async def started(self, places: Iterable[tuple[Participant, int]]) -> list[_Rank]:
        """A process that runs the program in each place: a container, and an accelerator of it.

        Raises: Conflict without Python, EngineError.
        """
        tasks = [asyncio.create_task(self._start(*place)) for place in places]
        try:
            return await asyncio.gather(*tasks)
        finally:
            # One that has failed must not leave others that open what nobody closes.
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def close(self) -> None:
        """End all at once, at most for CLOSE_S."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_S):
                await asyncio.gather(*(one.aclose() for one in self._open), return_exceptions=True)

    async def _start(self, one: Participant, local: int) -> _Rank:
        arguments = (_LOADER, str(len(_SOURCE)))
        images = [(shell, *by_python(*arguments)) for shell in SHELLS]
        async with self._room:
            for command in [(self._python, "-c", *arguments)] if self._python else images:
                stack = AsyncExitStack()
                self._open.append(stack)
                context = one.engine.exec(one.id, command, env={}, terminal=None)
                stream = await stack.enter_async_context(context)
                rank = _Rank(one, local, stream, stream.output())
                await stream.write(_SOURCE)
                if await rank.line() is not None:
                    return rank
                if await stream.exit_code() != _MISSING:
                    break
        raise _no_python(one.host, self._python)


def _no_python(host: str, python: str | None) -> CarrelError:
    return Conflict(
        "network.no_python",
        f"{python} in {host} is not a usable Python, which measures the network."
        if python
        else f"The image of {host} has no usable Python, which measures the network.",
        hint="Use an image with python3 from 3.7, or let an administrator enable the app layer.",
    )


def _failed(host: str, problem: str) -> CarrelError:
    return Conflict(
        "network.failed",
        f"The measurement in {host} failed: {problem}",
        hint="Look for other programs of the session that listen or filter packets there.",
    )
