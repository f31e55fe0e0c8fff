"""Terminals that outlive their connection, in one copy of the API; clients of other copies are relayed to it.

A terminal is a shell in a container whose output is always read here. The last megabyte is buffered by position, so
that a client resumes after a network failure. One client is attached at a time; the newest wins. A slow attached
client applies back pressure to the shell; without a client the shell keeps running and the oldest output is dropped.

    opening -> attached <-> detached --(5 minutes)--> hung up
                   |            |
                   +-- ended ---+   (the shell exited, or its session stopped running)
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Coroutine
from contextlib import suppress

import structlog

from carrel.apps.buffer import OutputBuffer
from carrel.apps.container_engines import ContainerEngines
from carrel.apps.denials import of_engine
from carrel.apps.terminal_locations import TerminalLocations
from carrel.core.errors import CarrelError, Conflict, Refused, Unavailable
from carrel.core.ids import ContainerId, UserId, new_id
from carrel.engines.port import APP_LAYER, EngineError, ExecStream, TerminalSize

log = structlog.get_logger()

BUFFER_BYTES = 1 << 20
WINDOW_BYTES = 256 << 10
"""How far an attached client may lag before the shell has to wait."""
PIECE_BYTES = 64 << 10
KEPT_S = 300.0
STALL_S = 30.0
"""A client that reads nothing for this long, although output is pending, is disconnected."""
MAX_PER_CONTAINER = 20

# The wrapper first prints its process id, for a later hangup; that line is not forwarded. Then it executes the
# owner's preferred shell, if the image has it. Programs of the app layer come after those of the image.
SHELL = (
    "sh",
    "-c",
    f'echo $$; [ -d {APP_LAYER} ] && PATH="$PATH:{APP_LAYER}/bin:{APP_LAYER}/busybox"; '
    'liked=$CARREL_SHELL; unset CARREL_SHELL; for shell in "$liked" bash; do '
    '[ -n "$shell" ] && command -v "$shell" >/dev/null 2>&1 && exec "$shell" -l; done; exec sh -l',
)
ENVIRONMENT = {"TERM": "xterm-256color", "LANG": "C.UTF-8"}
_LONGEST_FIRST_LINE = 16
_BEGIN_S = 5.0


class TerminalAttachment:
    """One client's attachment to a terminal. `lost`: why it ended before the shell did."""

    def __init__(self, terminal: "Terminal", position: int) -> None:
        self._terminal = terminal
        self.position = position
        self.news = asyncio.Event()
        self.lost: asyncio.Future[CarrelError | None] = asyncio.get_running_loop().create_future()

    async def pieces(self) -> AsyncIterator[bytes]:
        """Output from the position on, until the shell ends. Requesting the next chunk acknowledges the last."""
        while True:
            self.news.clear()
            piece = self._terminal.buffer.read(self.position, PIECE_BYTES)
            if piece:
                yield piece
                self.position += len(piece)
                self._terminal.taken.set()
            elif self._terminal.ended:
                return
            else:
                await self.news.wait()

    def lose(self, why: CarrelError | None) -> None:
        """End this attachment. None: the client was too slow and may reattach."""
        if not self.lost.done():
            self.lost.set_result(why)


class Terminal:
    """A shell with a terminal and its output buffer. exit_code: None until it has exited."""

    def __init__(self, container: ContainerId, user: UserId, stream: ExecStream) -> None:
        self.id = new_id()
        self.container = container
        self.user = user
        self.stream = stream
        self.buffer = OutputBuffer(BUFFER_BYTES)
        self.taken = asyncio.Event()
        self.ended = False
        self.exit_code: int | None = None
        self.pid: int | None = None
        self.begun = asyncio.Event()
        """Wait for the wrapper's first line, so that input cannot precede it."""
        self._attached: TerminalAttachment | None = None

    @property
    def attached(self) -> TerminalAttachment | None:
        return self._attached

    def attach(self, position: int | None) -> TerminalAttachment:
        """Attach from the position on (None: from the oldest buffered output); detaches the previous client."""
        self.detach(
            self._attached,
            Conflict("terminal.taken", "This terminal was opened elsewhere.", hint="Open it again here."),
        )
        self._attached = TerminalAttachment(
            self, self.buffer.nearest(self.buffer.start if position is None else position)
        )
        return self._attached

    def detach(self, attachment: TerminalAttachment | None, why: CarrelError | None = None) -> None:
        """Detach. Already detached: no-op."""
        if attachment is not None and attachment is self._attached:
            self._attached = None
            attachment.lose(why)
            self.taken.set()

    async def pump(self) -> None:
        """Read the shell's output until it exits."""
        async for chunk in self._after_first_line():
            if not chunk:
                continue
            # A client that reattached may be at the oldest byte, which this chunk would evict.
            await self._wait_for_client()
            self.buffer.append(chunk)
            if self._attached:
                self._attached.news.set()
                await self._wait_for_client()
        self.exit_code = await self.stream.exit_code()

    def end(self, why: CarrelError | None = None) -> None:
        """Mark the end of output. why: None if the shell exited by itself."""
        self.ended = True
        self.begun.set()
        if self._attached:
            if why:
                self._attached.lose(why)
            self._attached.news.set()

    async def _wait_for_client(self) -> None:
        while (attached := self._attached) and self.buffer.end - attached.position > WINDOW_BYTES:
            self.taken.clear()
            try:
                async with asyncio.timeout(STALL_S):
                    await self.taken.wait()
            except TimeoutError:
                log.info("terminal.stalled", terminal=self.id, container=self.container)
                self.detach(attached)

    async def _after_first_line(self) -> AsyncIterator[bytes]:
        first: bytes | None = b""
        async for _, chunk in self.stream.output():
            if first is None:
                yield chunk
                continue
            first += chunk
            line, newline, rest = first.partition(b"\n")
            if newline or len(first) > _LONGEST_FIRST_LINE:
                self.pid = int(line) if line.strip().isdigit() else None
                self.begun.set()
                yield rest if self.pid else first
                first = None
        if first:
            yield first


class Terminals:
    """All terminals of this process, by id."""

    def __init__(self, engines: ContainerEngines, locations: TerminalLocations) -> None:
        self._engines = engines
        self.locations = locations
        self._terminals: dict[str, Terminal] = {}
        self._held: Counter[ContainerId] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self._lives: dict[str, asyncio.Task[None]] = {}
        self._expiries: dict[str, asyncio.TimerHandle] = {}

    @property
    def users(self) -> set[tuple[ContainerId, UserId]]:
        """The containers with terminals in this process, each with the users of its terminals."""
        return {(terminal.container, terminal.user) for terminal in self._terminals.values()}

    def find(self, terminal: str, container: ContainerId, user: UserId) -> Terminal | None:
        """The terminal with this id, if it is in this process and belongs to that container and user."""
        entry = self._terminals.get(terminal)
        if entry is None or entry.container != container or entry.user != user:
            return None
        if entry.ended and entry.exit_code is None:
            # The engine lost it; its exit code is unknown.
            self._forget(entry)
            return None
        return entry

    async def open(
        self, container: ContainerId, user: UserId, size: TerminalSize, *, shell: str = ""
    ) -> Terminal:
        """Start a new shell, the preferred one if available.

        Raises: Refused (too many), Conflict (not running), Unavailable.
        """
        elsewhere = await self.locations.count_elsewhere(container)
        if self._held[container] + elsewhere >= MAX_PER_CONTAINER:
            raise Refused(
                "terminal.too_many",
                f"The limit is {MAX_PER_CONTAINER} terminals per container.",
                hint="Close some; a detached terminal ends after five minutes.",
            )
        self._held[container] += 1
        opened: asyncio.Future[Terminal] = asyncio.get_running_loop().create_future()
        life = self._start(self._live(container, user, size, shell, opened))
        try:
            await asyncio.wait((opened, life), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            life.cancel()
            raise
        finally:
            if not opened.done():
                self._held[container] -= 1
        if not opened.done():
            try:
                life.result()
            except EngineError as error:
                raise of_engine(error) from error
        terminal = opened.result()
        with suppress(TimeoutError):
            async with asyncio.timeout(_BEGIN_S):
                await terminal.begun.wait()
        try:
            await self.locations.record(terminal.id, container, user)
        except Unavailable:
            self.hang_up(terminal)
            raise
        return terminal

    def attach(self, terminal: Terminal, position: int | None) -> TerminalAttachment:
        """Attach to the terminal; it does not expire while attached."""
        if expiry := self._expiries.pop(terminal.id, None):
            expiry.cancel()
        return terminal.attach(position)

    def detach(self, terminal: Terminal, attachment: TerminalAttachment) -> None:
        """Detach: it is kept for a while, or removed immediately if its end was delivered."""
        terminal.detach(attachment)
        if terminal.attached is not None or terminal.id not in self._terminals:
            return
        if terminal.ended and attachment.position >= terminal.buffer.end:
            self._forget(terminal)
        elif terminal.id not in self._expiries:
            self._expire_later(terminal)

    def hang_up(self, terminal: Terminal) -> None:
        """End the shell as a closed terminal window does."""
        self._forget(terminal)
        if not terminal.ended and terminal.pid:
            self._start(self._signal(terminal.container, terminal.pid))

    def stop_running(self, container: ContainerId, why: CarrelError) -> None:
        """Close the terminals of a container whose processes are gone."""
        for terminal in [t for t in self._terminals.values() if t.container == container]:
            terminal.end(why)
            self._forget(terminal)

    def revoke(self, container: ContainerId, user: UserId, why: CarrelError) -> None:
        """Close the user's terminals in a container, and end their shells."""
        for terminal in list(self._terminals.values()):
            if (terminal.container, terminal.user) == (container, user):
                self.hang_up(terminal)
                terminal.end(why)

    async def close(self) -> None:
        """Detach all; the shells keep running."""
        ended = bool(self._terminals)
        for terminal in list(self._terminals.values()):
            self._forget(terminal)
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(list(self._tasks))
        if ended:
            await self.locations.forget_own()

    async def run(self) -> None:
        """Tell other copies of the API which terminals this one has, until cancelled."""
        await self.locations.run(lambda: bool(self._terminals))

    async def _live(
        self,
        container: ContainerId,
        user: UserId,
        size: TerminalSize,
        shell: str,
        opened: "asyncio.Future[Terminal]",
    ) -> None:
        env = {**ENVIRONMENT, "CARREL_SHELL": shell}
        engine = await self._engines.of(container)
        async with engine.exec(container, SHELL, env=env, terminal=size) as stream:
            terminal = Terminal(container, user, stream)
            self._remember(terminal)
            opened.set_result(terminal)
            try:
                await terminal.pump()
            except EngineError as error:
                terminal.end(of_engine(error))
            else:
                terminal.end()

    def _remember(self, terminal: Terminal) -> None:
        self._terminals[terminal.id] = terminal
        life = asyncio.current_task()
        assert life is not None
        self._lives[terminal.id] = life
        self._expire_later(terminal)

    def _expire_later(self, terminal: Terminal) -> None:
        loop = asyncio.get_running_loop()
        self._expiries[terminal.id] = loop.call_later(KEPT_S, self.hang_up, terminal)

    def _start(self, work: Coroutine[None, None, None]) -> "asyncio.Task[None]":
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _forget(self, terminal: Terminal) -> None:
        if self._terminals.pop(terminal.id, None):
            self._held[terminal.container] -= 1
            self._held += Counter()  # drops zero counts
            self._start(self.locations.forget(terminal.id))
        if expiry := self._expiries.pop(terminal.id, None):
            expiry.cancel()
        if life := self._lives.pop(terminal.id, None):
            life.cancel()

    async def _signal(self, container: ContainerId, pid: int) -> None:
        """Send SIGHUP to the shell; bash forwards it to its jobs."""
        with suppress(EngineError, Unavailable):
            engine = await self._engines.of(container)
            async with engine.exec(
                container, ("sh", "-c", f"kill -HUP {pid}"), env={}, terminal=None
            ) as stream:
                await stream.exit_code()
