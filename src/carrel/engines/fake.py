"""A fake engine: implements the port on a `FakeWorld`, for simulations, tests and benchmarks."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from pydantic import BaseModel, Field, SecretStr

from carrel.engines import barrier, fake_shell
from carrel.engines.context import Connect, EngineContext
from carrel.engines.fake_optional import FakeAdjusting
from carrel.engines.fake_world import CAPABILITIES, KILLED_BY_SIGKILL, FakeContainer, FakeWorld, VirtualClock
from carrel.engines.port import (
    ContainerGone,
    ContainerSpec,
    ContainerUsage,
    EngineError,
    ExecStream,
    ImageUnusable,
    LogRecord,
    NodeInfo,
    Observed,
    Permit,
    Progress,
    ProgressSink,
    TerminalSize,
)
from carrel.plugins import Plugin

__all__ = ["FakeContainer", "FakeEngine", "FakeWorld", "VirtualClock"]

_QUEUED_CHUNKS = 16


class FakeEngine(FakeAdjusting):
    """An engine client of one control plane; create another one for the same world to simulate a restart."""

    def __init__(self, world: FakeWorld | None = None) -> None:
        super().__init__(world or FakeWorld())

    async def nodes(self) -> Sequence[NodeInfo]:
        return await self.step("nodes", self.world.reported)

    async def ensure(
        self, spec: ContainerSpec, progress: ProgressSink, permit: Permit | None = None
    ) -> Observed:
        world = self.world
        world.before("ensure")
        await self.world.turn()
        world.require_answer("ensure")
        # 1. Node and image.
        if not world.on_a_node(FakeContainer(spec, spec.node)):
            raise EngineError(f"The node {spec.node} is gone.", retriable=True)
        world.require_runtime(spec)
        if spec.pull_always or spec.image in world.unknown_images or spec.image not in world.local_images:
            await self.fetch(spec.image, progress, step="ensure.pull")
        if spec.image in world.shellless_images:
            raise ImageUnusable(f"The image {spec.image} has no shell, so a session cannot run in it.")
        # 2. Container, identified by id: a second spec with the same id changes nothing. A container lost with its node
        # is replaced: an engine with several nodes must ensure that the old one never returns.
        there = world.containers.get(spec.id)
        if there is None or not world.on_a_node(there):
            await self.step("ensure.create", lambda: self._create(spec))
        for sentence in world.start_events:
            progress(Progress("event", text=sentence))
        # 3. Main process.
        progress(Progress("start"))
        known = self.find(spec.id)
        if not known.running and not (spec.once and known.starts):
            if permit:
                await permit()
            await self.step("ensure.start", lambda: self._start(spec.id))
        world.after("ensure")
        digest, image_id = world.identity_of(spec.image)
        return replace(self._observed(self.find(spec.id)), image_digest=digest, image_id=image_id)

    async def remove(self, container: str, *, grace_s: float, signal: str = "SIGTERM") -> None:
        self.world.stops[container] = (signal, grace_s)
        self.world.before("remove")
        await self.world.turn()
        self.world.require_answer("remove")
        await self.step("remove.stop", lambda: self._stop(container))
        await self.step("remove.delete", lambda: self._delete(container))
        self.world.after("remove")

    async def list(self) -> Sequence[Observed]:
        return await self.step("list", lambda: tuple(map(self._observed, self._reachable())))

    def watch(self) -> AsyncIterator[str]:
        watcher = self.world.hints.watch()
        if self.world.away:
            self.world.hints.end()
        return watcher

    @asynccontextmanager
    async def exec(
        self, container: str, command: Sequence[str], *, env: Mapping[str, str], terminal: TerminalSize | None
    ) -> AsyncIterator[ExecStream]:
        known = await self.step("exec", lambda: self.find(container))
        if not known.running:
            raise ContainerGone(f"The container {container} is not running.")
        async with self.process(known, command, env, terminal) as process:
            yield process

    @asynccontextmanager
    async def process(
        self,
        container: FakeContainer,
        command: Sequence[str],
        env: Mapping[str, str],
        terminal: TerminalSize | None,
    ) -> AsyncIterator[ExecStream]:
        """Start a process in a running container; subclasses may override it."""
        if refused := fake_shell.refusal(command[0], terminal):
            yield refused
            return
        around = self.world.around(container, terminal)
        around.env = {**around.env, **env}
        if tuple(command) == barrier.CLOSE:
            waited, container.behind = container.behind, None
            command = ("false",) if waited is None else ("true",)
        process = FakeProcess(self.world, container, fake_shell.run(command, around), around)
        driver = asyncio.create_task(process.drive())
        try:
            yield process
        finally:
            driver.cancel()

    async def send(self, container: str, content: bytes) -> None:
        known = await self.step("send", lambda: self.find(container))
        if not known.running:
            raise ContainerGone(f"The container {container} is not running.")
        if not known.spec.stdin:
            raise EngineError(f"The container {container} has no standard input.", retriable=True)
        if content == barrier.OPEN:
            self.world.open(known)

    async def logs(
        self, container: str, *, follow: bool, tail: int | None = None, since: bytes | None = None
    ) -> AsyncIterator[Sequence[LogRecord]]:
        known = await self.step("logs", lambda: self.find(container))
        sent = 0 if tail is None else max(len(known.output) - tail, 0)
        while True:
            records = [one for one in known.output[sent:] if since is None or one.at >= since]
            sent = len(known.output)
            if records:
                yield records
            if not follow:
                return
            if len(known.output) > sent:
                continue
            self.world.require_answer("logs")
            if not known.running:
                return
            await known.changed.wait()

    async def usage(self) -> Sequence[ContainerUsage]:
        return await self.step("usage", lambda: tuple(self._usage(c) for c in self._reachable() if c.running))

    def _create(self, spec: ContainerSpec) -> None:
        there = self.world.containers.get(spec.id)
        if there is None or not self.world.on_a_node(there):
            made = self.world.containers[spec.id] = FakeContainer(spec, self.world.node_for(spec))
            made.files |= self.world.image_files.get(spec.image, {})
        self.world.hint(spec.id)

    def _start(self, container: str) -> None:
        known = self.find(container)
        if not known.running:
            self.world.start(known)

    def _stop(self, container: str) -> None:
        known = self.world.containers.get(container)
        if known is not None and known.running and self.world.on_a_node(known):
            self.world.exit(container, KILLED_BY_SIGKILL)

    def _delete(self, container: str) -> None:
        known = self.world.containers.get(container)
        if known is not None and self.world.on_a_node(known):
            self.world.vanish(container)

    def _reachable(self) -> Iterator[FakeContainer]:
        return filter(self.world.on_a_node, self.world.containers.values())

    def _observed(self, container: FakeContainer) -> Observed:
        return Observed(
            id=container.spec.id,
            state=container.state,
            address=self.world.address_of(container.spec.id) if container.running else None,
            exit_code=container.exit_code,
            out_of_memory=container.out_of_memory,
            epoch=container.spec.epoch,
            started_at=container.started_at,
            node=container.node,
        )

    def _usage(self, container: FakeContainer) -> ContainerUsage:
        assert container.started_at is not None
        runs_s = (self.world.clock.now() - container.started_at).total_seconds()
        cpu_ns = int(runs_s * container.load * container.spec.slots.get("cpu", 1000) * 1_000_000)
        rates: Sequence[int | None] = container.transfers or (None,) * 4
        read, write, rx, tx = (None if rate is None else int(rate * runs_s) for rate in rates)
        return ContainerUsage(
            container.spec.id,
            cpu_ns,
            container.mem_bytes,
            container.accelerator_percent,
            container.accelerator_mem_percent,
            read_bytes=read,
            write_bytes=write,
            rx_bytes=rx,
            tx_bytes=tx,
            disk_bytes=container.disk_bytes,
        )


class FakeProcess:
    """An `ExecStream` over a process of `fake_shell`, with short queues to exercise back pressure."""

    def __init__(
        self,
        world: FakeWorld,
        container: FakeContainer,
        process: fake_shell.Process,
        around: fake_shell.ProcessEnvironment,
    ) -> None:
        self._world = world
        self._container = container
        self._process = process
        self._around = around
        self._input: asyncio.Queue[bytes] = asyncio.Queue(_QUEUED_CHUNKS)
        self._input_ended = False
        self._output: asyncio.Queue[tuple[int, bytes] | None] = asyncio.Queue(_QUEUED_CHUNKS)
        self._ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def drive(self) -> None:
        """Run the process until it or its container ends."""
        life = asyncio.create_task(self._live())
        death = asyncio.create_task(self._container_ended())
        try:
            await asyncio.wait({life, death}, return_when=asyncio.FIRST_COMPLETED)
            code = life.result() if life.done() else KILLED_BY_SIGKILL
        finally:
            life.cancel()
            death.cancel()
        self._ended.set_result(code)
        await self._output.put(None)

    async def output(self) -> AsyncIterator[tuple[int, bytes]]:
        while (piece := await self._output.get()) is not None:
            yield piece

    async def write(self, chunk: bytes) -> None:
        """Queue the chunk, waiting for space; input of an ended process is dropped."""
        if chunk and not self._input_ended:
            await self._put(chunk)

    async def _put(self, chunk: bytes) -> None:
        room = asyncio.ensure_future(self._input.put(chunk))
        waits: set[asyncio.Future[None] | asyncio.Future[int]] = {room, self._ended}
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        room.cancel()

    async def close_stdin(self) -> None:
        if not self._input_ended:
            await self._put(b"")
            self._input_ended = True

    async def resize(self, size: TerminalSize) -> None:
        if self._around.terminal:
            self._around.terminal = size

    async def exit_code(self) -> int:
        return await asyncio.shield(self._ended)

    async def _live(self) -> int:
        answer: bytes | None = None
        try:
            while True:
                step = next(self._process) if answer is None else self._process.send(answer)
                answer = None
                match step:
                    case fake_shell.Write(fd, chunk):
                        await self._output.put((1 if self._around.terminal else fd, chunk))
                    case fake_shell.Sleep(seconds):
                        await self._world.sleep(seconds)
                    case fake_shell.Park():
                        await self._container_ended()
                    case fake_shell.Read():
                        answer = await self._input.get()
        except StopIteration as end:
            return int(end.value)

    async def _container_ended(self) -> None:
        while self._container.running:
            await self._container.changed.wait()


class FakeEngineSettings(BaseModel):
    """Containers that are not there, for trying out: they are forgotten when Carrel starts again."""

    nodes: int = Field(default=1, ge=1, le=1000, title="Nodes", description="How many machines it makes up.")
    cpu: int = Field(default=8, ge=1, le=1024, title="CPU", description="Cores of each.")
    mem_gib: int = Field(default=32, ge=1, le=65_536, title="Memory", description="GiB of each.")
    password: SecretStr | None = Field(
        default=None, title="Password", description="Kept sealed, and asked for by nobody."
    )


def _make(settings: FakeEngineSettings) -> Connect:
    slots = {"cpu": settings.cpu * 1000, "mem": settings.mem_gib << 30}
    names = [f"fake-{number}" for number in range(1, settings.nodes + 1)]

    def connect(context: EngineContext) -> FakeEngine:
        world = FakeWorld()
        world.nodes = [NodeInfo(name, "x86_64", slots, "Fake 1", CAPABILITIES) for name in names]
        return FakeEngine(world)

    return connect


PLUGIN = Plugin(FakeEngineSettings, _make, "Fake")
