"""The state behind fake engines: containers, images, faults and their clock.

It outlives every `FakeEngine` (as real containers outlive a control plane), so a test can drop an engine mid-call,
create another one and check what remains. It needs no tasks: callbacks of the clock advance main processes, so virtual
time drives them in any event loop.
"""

import asyncio
import heapq
import itertools
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from carrel.accelerators.port import NOTHING, Accelerators, Attachment, Monitored
from carrel.core.clock import Clock, SystemClock
from carrel.engines import barrier, fake_files, fake_shell, runtimes
from carrel.engines.accelerated import attachment_of, environment, node_with
from carrel.engines.hints import Hints
from carrel.engines.optional import BUILDS, COMMITS, LIVE_LIMITS, PUSHES, DiskSpace, HostUsage
from carrel.engines.port import (
    DISK_LIMIT,
    IDLE,
    IN_PLACE_RESTART,
    LOCAL_IMAGES,
    LOG_STREAMS,
    OOM_EVENTS,
    ContainerSpec,
    EngineUnavailable,
    LogRecord,
    MachineAwaited,
    MountUnusable,
    NodeInfo,
    ObservedState,
    PullCredentials,
    TerminalSize,
)
from carrel.engines.volumes import require_directories

CAPABILITIES = frozenset(
    {"fake", BUILDS, COMMITS, IN_PLACE_RESTART, LIVE_LIMITS, LOG_STREAMS, OOM_EVENTS, PUSHES}
)
"""Of its nodes, unless a test changes them."""
KILLED_BY_SIGKILL = 137
_MIB = 1 << 20
_TURNS = 50
"""Event loop iterations that `advance` grants to code woken by a timer before it moves on; bounded on purpose."""


class VirtualClock:
    """A clock that changes only by `advance`."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._now = start
        self._order = itertools.count()
        self._timers: list[tuple[datetime, int, Callable[[], None]]] = []

    def now(self) -> datetime:
        return self._now

    def call_later(self, seconds: float, callback: Callable[[], None]) -> None:
        """Run `callback` after this much virtual time."""
        heapq.heappush(self._timers, (self._now + timedelta(seconds=seconds), next(self._order), callback))

    async def sleep(self, seconds: float) -> None:
        """Wait for this much virtual time."""
        woken = asyncio.get_running_loop().create_future()
        self.call_later(seconds, lambda: None if woken.done() else woken.set_result(None))
        await woken

    async def advance(self, seconds: float) -> None:
        """Advance time, stopping at each timer so that woken code can run."""
        deadline = self._now + timedelta(seconds=seconds)
        await _settle()
        while self._timers and self._timers[0][0] <= deadline:
            self._now, _, callback = heapq.heappop(self._timers)
            callback()
            await _settle()
        self._now = deadline
        await _settle()


async def _settle() -> None:
    for _ in range(_TURNS):
        await asyncio.sleep(0)


Hook = Callable[[str], None]
"""Called with the name of a port call ("remove") or of a step in one ("ensure.create"); may raise any exception."""


class Signal:
    """Wakes all waiters each time it is fired."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Future[None]] = set()

    def fire(self) -> None:
        waiting, self._waiting = self._waiting, set()
        for future in waiting:
            if not future.done():
                future.get_loop().call_soon(_wake, future)

    async def wait(self) -> None:
        future = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        try:
            await future
        finally:
            self._waiting.discard(future)


def _wake(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


@dataclass(slots=True, eq=False)
class FakeContainer:
    """A container of the world. `load`: busy fraction of its CPU limit. `transfers`: bytes per second (read, written,
    received, sent); None: not measurable. The others as `port.ContainerUsage`.
    """

    spec: ContainerSpec
    node: str = ""
    state: ObservedState = ObservedState.STARTING
    exit_code: int | None = None
    out_of_memory: bool = False
    started_at: datetime | None = None
    starts: int = 0
    output: list[LogRecord] = field(default_factory=list)
    load: float = 0.1
    mem_bytes: int = 16 * _MIB
    accelerator_percent: int | None = None
    accelerator_mem_percent: int | None = None
    transfers: tuple[int, int, int, int] | None = (0, 0, 0, 0)
    disk_bytes: int | None = 0
    changed: Signal = field(default_factory=Signal)
    paused: bool = False
    held: list[Callable[[], None]] = field(default_factory=list)
    """Callbacks to run when its processes resume."""
    behind: tuple[str, ...] | None = None
    """The command that waits for its barrier to open."""
    files: dict[str, bytes] = field(init=False)
    """Contents by path."""

    def __post_init__(self) -> None:
        self.files = {one.path: one.content for one in self.spec.files}

    @property
    def running(self) -> bool:
        return self.state is ObservedState.RUNNING


class FakeWorld:
    """Containers, images and faults. Tests may change every attribute at any time.

    A node removed from `nodes` is lost with its containers, which return with it.

    before, after: hooks around each port call and each of its steps; their exceptions propagate to the caller, and an
    exception in `before` prevents the step.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        self.clock: Clock = clock or SystemClock()
        self.containers: dict[str, FakeContainer] = {}
        self.starts: Counter[str] = Counter()
        """How often each main process was started, by id; deleted containers included."""
        self.opened: list[tuple[ContainerSpec, frozenset[str]]] = []
        """Containers whose barrier was opened, with the host names that they reached then."""
        self.stops: dict[str, tuple[str, float]] = {}
        """The last signal and grace period of each container's removal, by id."""
        self.nodes: list[NodeInfo] = [
            NodeInfo("local", "x86_64", {"cpu": 8000, "mem": 32 << 30}, "Fake 1", CAPABILITIES)
        ]
        self.hosts: dict[str, HostUsage] = {}
        """By node, of those that can be measured."""
        self.disk_spaces: list[DiskSpace] = []
        self.local_images: set[str] = set()
        self.image_labels: dict[str, Mapping[str, str]] = {}
        """By image."""
        self.image_ids: dict[str, str] = {}
        """Of built or tagged images; others are identified by their reference."""
        self.image_digests: dict[str, tuple[str, ...]] = {}
        """By id of an image: references by digest."""
        self.image_sizes: dict[str, int] = {}
        """By image."""
        self.pulled_with: dict[str, PullCredentials | None] = {}
        """Credentials of the latest pull that no container asked for, by image."""
        self.pushed: dict[str, tuple[str, PullCredentials | None]] = {}
        """Digests and credentials of pushes, by name in the registry."""
        self.push_s = 0.0
        self.image_files: dict[str, dict[str, bytes]] = {}
        """By image: contents by path."""
        self.commits: dict[str, str] = {}
        """Images of commits by key."""
        self.commit_s = 0.0
        self.builds: set[str] = set()
        """Groups of limited builds."""
        self.build_s = 0.0
        self.build_adds_bytes = 1000
        self.accelerators: dict[str, Accelerators] = {}
        """By node."""
        self.unknown_images: set[str] = set()
        self.image_versions: Counter[str] = Counter()
        """How often what an image's name means has changed."""
        self.shellless_images: set[str] = set()
        self.start_events: list[str] = []
        """What each start reports."""
        self.reports: dict[str, list[str]] = {}
        """By container."""
        self.pull_s = 0.0
        self.start_s = 0.0
        self.address_of: Callable[[str], str | None] = lambda container: "127.0.0.1"
        self.before: Hook = lambda step: None
        self.after: Hook = lambda step: None
        self.hints = Hints()
        self._away = False
        self._hung = False
        self._answers = Signal()
        self._faults: list[tuple[str, Exception]] = []

    def equip(self, node: str, accelerators: Accelerators) -> None:
        """Add accelerators to a node."""
        self.accelerators[node] = accelerators
        self.nodes = [node_with([accelerators], one) if one.name == node else one for one in self.nodes]

    def reported(self) -> tuple[NodeInfo, ...]:
        """The nodes, with their monitored devices as they are now."""
        return tuple(map(self._current, self.nodes))

    def _current(self, node: NodeInfo) -> NodeInfo:
        accelerators = self.accelerators.get(node.name)
        if not isinstance(accelerators, Monitored):
            return node
        provided = {kind.name for kind in node.slot_kinds}
        slots = {slot: amount for slot, amount in node.slots.items() if slot not in provided}
        return node_with([accelerators], replace(node, slots=slots))

    # Faults

    def fail_next(self, step: str, error: Exception, *, times: int = 1) -> None:
        """Make the next calls or steps of this name raise `error` without effect."""
        self._faults += [(step, error)] * times

    def forgive(self) -> None:
        """Drop scripted errors that were not raised."""
        self._faults.clear()

    def go_away(self) -> None:
        """Make the engine unavailable; containers keep running."""
        self._away = True
        self.hints.end()
        for container in self.containers.values():
            container.changed.fire()

    def hang(self) -> None:
        """Make the engine accept calls without answering; containers keep running."""
        self._hung = True

    def come_back(self) -> None:
        """Make the engine available again; pending calls complete."""
        self._away = self._hung = False
        self._answers.fire()

    def restart(self) -> None:
        """Restart the engine, which stops its containers, as Docker does by default."""
        self.go_away()
        for container in self.containers.values():
            if container.running:
                self.exit(container.spec.id, KILLED_BY_SIGKILL)
        self.come_back()

    def exit(self, container: str, code: int) -> None:
        """End the container's main process."""
        known = self.containers[container]
        known.state, known.exit_code = ObservedState.EXITED, code
        self.hint(container)

    def run_out_of_memory(self, container: str, *, main: bool = True) -> None:
        """Kill its main process, or only a child of it, by the memory limit."""
        self.containers[container].out_of_memory = True
        if main:
            self.exit(container, KILLED_BY_SIGKILL)
        else:
            self.hint(container)

    def write_disk(self, container: str, size_bytes: int) -> bool:
        """Write so much outside its folders; False if the node limits it (DISK_LIMIT) and it does not fit."""
        known = self.containers[container]
        limit = known.spec.disk_bytes
        limits = all(DISK_LIMIT in node.capabilities for node in self.nodes)
        total = (known.disk_bytes or 0) + size_bytes
        fits = limit is None or not limits or total <= limit
        known.disk_bytes = total if fits else limit
        return fits

    def vanish(self, container: str) -> None:
        """Delete the container externally."""
        known = self.containers.pop(container)
        known.state = ObservedState.EXITED
        known.changed.fire()
        self.hint(container)

    # Operations for engines

    def on_a_node(self, container: FakeContainer) -> bool:
        """True if the container's node is present."""
        return not container.node or any(node.name == container.node for node in self.nodes)

    def node_for(self, spec: ContainerSpec) -> str:
        """The node of a new container; that of an elastic one is the first with the labels and with room.

        Raises: MachineAwaited if there is none.
        """
        if spec.elastic is None:
            return spec.node
        for node in self.nodes:
            if node.name in spec.avoided:
                continue
            there = [one.spec.slots for one in self.containers.values() if one.node == node.name]
            fits = all(
                amount + sum(slots.get(slot, 0) for slots in there) <= node.slots.get(slot, 0)
                for slot, amount in spec.slots.items()
            )
            if fits and all(one.met_by(node.labels) for one in spec.elastic):
                return node.name
        raise MachineAwaited("No node has the labels and room.")

    def require_runtime(self, spec: ContainerSpec) -> None:
        """Raises: EngineError if no node of its name, or none at all, has its runtime."""
        nodes = [one for one in self.nodes if spec.node in ("", one.name)]
        offered = {name for one in nodes for name in runtimes.names(one.capabilities)}
        if spec.runtime and spec.runtime not in offered:
            raise runtimes.missing(spec.runtime, offered)

    @property
    def away(self) -> bool:
        return self._away

    async def turn(self) -> None:
        """Yield to other tasks, and wait while the engine hangs."""
        await asyncio.sleep(0)
        while self._hung:
            await self._answers.wait()

    def require_answer(self, step: str) -> None:
        """Raise the fault scripted for this step, or EngineUnavailable while the engine is unavailable."""
        if self._away:
            raise EngineUnavailable("The fake engine does not respond.")
        for fault in self._faults:
            if fault[0] == step:
                self._faults.remove(fault)
                raise fault[1]

    def pause(self, container: FakeContainer) -> None:
        """Suspend the main process until it is resumed."""
        container.paused = True

    def resume(self, container: FakeContainer) -> None:
        container.paused = False
        held, container.held = container.held, []
        for act in held:
            act()

    def identity_of(self, image: str) -> tuple[str, str]:
        """The digest and the id of what the image's name means now; no digest of one that no registry has."""
        name, _, digest = image.partition("@")
        if not digest and not name.startswith(LOCAL_IMAGES):
            digest = f"sha256:{sha256(f'{name} {self.image_versions[name]}'.encode()).hexdigest()}"
        return digest, f"sha256:{sha256((digest or image).encode()).hexdigest()}"

    def start(self, container: FakeContainer) -> None:
        """Start or restart its main process. Raises: MountUnusable."""
        require_directories(container.spec.mounts)
        if lost := fake_files.lost(container.spec.mounts):
            raise MountUnusable(
                f"The directory {lost}, which is to be mounted, is not there.", retriable=True
            )
        container.state = ObservedState.RUNNING
        container.exit_code, container.out_of_memory = None, False
        container.started_at = self.clock.now()
        container.starts += 1
        self.starts[container.spec.id] += 1
        container.paused, container.held = False, []
        container.behind = barrier.waiting(container.spec.command)
        if container.behind is None:
            self._run(container, container.spec.command)
        self.hint(container.spec.id)

    def open(self, container: FakeContainer) -> None:
        """Open its barrier. Twice: no-op."""
        command, container.behind = container.behind, None
        if command is not None:
            self.opened.append((container.spec, self._hosts(container)()))
            self._run(container, command)

    def _run(self, container: FakeContainer, command: tuple[str, ...]) -> None:
        if command != IDLE:
            process = fake_shell.run(command, self.around(container))
            self._step(container, process, container.starts)

    def around(
        self, container: FakeContainer, terminal: TerminalSize | None = None
    ) -> fake_shell.ProcessEnvironment:
        """The environment of a process in the container."""
        spec = container.spec
        return fake_shell.ProcessEnvironment(
            self.environment(container),
            spec.hostname,
            terminal,
            spec.mounts,
            self._hosts(container),
            container.files,
            spec.workdir,
        )

    def _hosts(self, container: FakeContainer) -> Callable[[], frozenset[str]]:
        """The names that it reaches at any moment."""

        def reached() -> frozenset[str]:
            mine = container.spec.network
            others = [one.spec.network for one in self.containers.values() if one.running]
            return frozenset(one.host for one in others if one and mine and one.id == mine.id)

        return reached

    def environment(self, container: FakeContainer) -> dict[str, str]:
        return dict(environment(container.spec, self.attachment(container.spec)))

    def attachment(self, spec: ContainerSpec) -> Attachment:
        """The attachment of the container's devices."""
        accelerators = self.accelerators.get(spec.node)
        return attachment_of([accelerators], spec) if accelerators else NOTHING

    def write(self, container: FakeContainer, text: bytes, *, fd: int = 1) -> None:
        """Output of the main process, received now."""
        at = f"{self.clock.now():%Y-%m-%dT%H:%M:%S.%f}000Z".encode()
        container.output += [LogRecord(at, fd, line) for line in text.splitlines(keepends=True)]
        container.changed.fire()

    def hint(self, container: str) -> None:
        """Notify watchers, followers of logs and processes of a change."""
        if known := self.containers.get(container):
            known.changed.fire()
        self.hints.send(container)

    async def sleep(self, seconds: float) -> None:
        """Sleep in virtual time if the clock is virtual, else in real time."""
        if isinstance(self.clock, VirtualClock):
            await self.clock.sleep(seconds)
        else:
            await asyncio.sleep(seconds)

    def _step(self, container: FakeContainer, process: fake_shell.Process, start: int) -> None:
        """Run the main process until it sleeps or ends; a later start makes this call obsolete."""
        if not container.running or container.starts != start:
            return
        if container.paused:
            container.held.append(lambda: self._step(container, process, start))
            return
        answer: bytes | None = None
        try:
            while True:
                step = next(process) if answer is None else process.send(answer)
                answer = b"" if isinstance(step, fake_shell.Read) else None
                if isinstance(step, fake_shell.Write):
                    self.write(container, step.chunk, fd=step.fd)
                elif isinstance(step, fake_shell.Park):
                    return
                elif isinstance(step, fake_shell.Sleep):
                    self._later(step.seconds, lambda: self._step(container, process, start))
                    return
        except StopIteration as end:
            container.state, container.exit_code = ObservedState.EXITED, end.value
            self.hint(container.spec.id)

    def _later(self, seconds: float, callback: Callable[[], None]) -> None:
        if isinstance(self.clock, VirtualClock):
            self.clock.call_later(seconds, callback)
        else:
            asyncio.get_running_loop().call_later(seconds, callback)
