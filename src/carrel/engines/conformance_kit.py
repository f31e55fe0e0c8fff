"""Test harness and helpers of the engine conformance suite."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar
from unittest import SkipTest

from carrel.core.ids import new_id
from carrel.engines.port import (
    IDLE,
    IN_PLACE_RESTART,
    LOG_STREAMS,
    OOM_EVENTS,
    ContainerSpec,
    Engine,
    EngineError,
    LogRecord,
    Observed,
    ObservedState,
    Progress,
)

MIB = 1 << 20
_POLLS = 200
POLL_S = 0.05
BOUND_S = 60.0

CONDITIONAL = frozenset({IN_PLACE_RESTART, LOG_STREAMS, OOM_EVENTS})
"""Capabilities that tests of the common suites need. A node has them unless the harness says that it lacks them."""

E = TypeVar("E", bound=EngineError)


class EngineHarness(Protocol):
    """An engine under test, with operations outside of the port."""

    engine: Engine
    image: str
    """A local image with a shell."""
    pullable_image: str
    """An image with a shell in a registry, not pulled yet."""
    unknown_image: str
    """An image that its registry does not have."""
    shellless_image: str
    measures_disk: bool
    """True if it can tell the disk space of a container."""
    lacks: frozenset[str]
    """Those of CONDITIONAL that its nodes do not have; a test compares it with what they declare."""

    def another(self) -> Engine:
        """A second control plane for the same engine, without cached state."""
        ...

    async def pass_time(self, seconds: float) -> None: ...

    async def vanish(self, container: str) -> None:
        """Delete the container outside of Carrel."""
        ...

    async def exhaust_memory(self, container: str) -> None:
        """Let a child process exceed the memory limit; the main process continues."""
        ...

    async def transfer(self, container: str) -> None:
        """Write 4 MiB to its disk, outside of any folder, and send something to its network."""
        ...


class FaultyHarness(EngineHarness, Protocol):
    """A harness that can stop the whole engine."""

    async def go_away(self) -> None: ...

    async def come_back(self) -> None: ...


@dataclass(slots=True)
class Ran:
    """The result of a process."""

    exit_code: int
    stdout: bytes = b""
    stderr: bytes = b""


@dataclass(slots=True)
class ProgressLog:
    """A progress sink that records its calls."""

    seen: list[Progress] = field(default_factory=list)

    @property
    def phases(self) -> list[str]:
        """Without what the engine reports besides."""
        return [one.phase for one in self.seen if one.phase != "event"]

    def __call__(self, progress: Progress) -> None:
        self.seen.append(progress)


def require(harness: EngineHarness, capability: str) -> None:
    """Skip the test if the nodes do not have the capability. Raises: SkipTest."""
    if capability in harness.lacks:
        raise SkipTest(f"the nodes of this engine do not have {capability}")


def spec(harness: EngineHarness, *command: str, image: str = "", mem_bytes: int = 64 * MIB) -> ContainerSpec:
    """A small container with a new id."""
    slots = {"cpu": 500, "mem": mem_bytes}
    return ContainerSpec(new_id(), image or harness.image, slots, command=command or IDLE, epoch=7)


async def run(engine: Engine, container: str, *command: str, stdin: bytes = b"", env: str = "") -> Ran:
    """Run a process to completion; writes all of `stdin`, then end of input."""
    ran = Ran(0)
    async with (
        asyncio.timeout(BOUND_S),
        engine.exec(container, command, env={"CONFORMANCE": env}, terminal=None) as process,
    ):

        async def feed() -> None:
            await process.write(stdin)
            await process.close_stdin()

        feeding = asyncio.create_task(feed())
        async for fd, chunk in process.output():
            if fd == 1:
                ran.stdout += chunk
            else:
                ran.stderr += chunk
        await feeding
        ran.exit_code = await process.exit_code()
    return ran


async def eventually(harness: EngineHarness, claim: Callable[[], Awaitable[bool]], what: str) -> None:
    """Poll until the claim holds; fail with `what` after a limit."""
    for _ in range(_POLLS):
        if await claim():
            return
        await harness.pass_time(POLL_S)
    raise AssertionError(f"never: {what}")


async def refused(kind: type[E], attempt: Awaitable[object]) -> E:
    """The error of that kind raised by `attempt`; its message must be a sentence."""
    try:
        await attempt
    except kind as error:
        if not error.message.endswith("."):
            raise AssertionError(f"not a sentence: {error.message}") from error
        return error
    raise AssertionError(f"did not raise {kind.__name__}")


async def look(engine: Engine, container: str) -> Observed | None:
    """The container in the engine's list, or None."""
    return next((one for one in await engine.list() if one.id == container), None)


class HarnessListener:
    """Events of a watcher, collected by a task."""

    def __init__(self, engine: Engine) -> None:
        self.heard: list[str] = []
        self.task = asyncio.create_task(self._listen(engine.watch()))

    async def _listen(self, hints: AsyncIterator[str]) -> None:
        async for container in hints:
            self.heard.append(container)

    async def has_heard(self, container: str) -> bool:
        return container in self.heard


async def drain(output: AsyncIterator[tuple[int, bytes]]) -> None:
    """Read a process's output to its end."""
    async for _ in output:
        pass


async def log_records(
    engine: Engine,
    container: str,
    *,
    follow: bool = False,
    tail: int | None = None,
    since: bytes | None = None,
) -> list[LogRecord]:
    """All records of `logs`."""
    batches = engine.logs(container, follow=follow, tail=tail, since=since)
    return [record async for records in batches for record in records]


async def whole_log(
    engine: Engine, container: str, *, follow: bool = False, tail: int | None = None
) -> bytes:
    """The complete output of `logs`."""
    return b"".join(one.content for one in await log_records(engine, container, follow=follow, tail=tail))


async def exited(harness: EngineHarness, container: str) -> Observed:
    """Wait for the container to exit."""
    last: list[Observed | None] = [None]

    async def has_exited() -> bool:
        last[0] = await look(harness.engine, container)
        return last[0] is not None and last[0].state is ObservedState.EXITED

    await eventually(harness, has_exited, "the container exited")
    assert last[0] is not None
    return last[0]


async def running(harness: EngineHarness, *, env: Mapping[str, str] | None = None) -> str:
    """The id of a new idle container."""
    desired = replace(spec(harness), env=env or {})
    await harness.engine.ensure(desired, ProgressLog())
    return desired.id


async def listed(harness: EngineHarness, container: str) -> Observed:
    """The container in the engine's list; fails if missing."""
    seen = await look(harness.engine, container)
    assert seen is not None
    return seen
