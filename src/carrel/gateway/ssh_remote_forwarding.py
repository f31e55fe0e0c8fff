"""What clients let a session connect to: their ports (`ssh -R`) and their SSH agent (`ssh -A`).

A script inside the container listens, and says when something has connected. The gateway then connects to the script as
to any port of the container, names the waiting connection by its token, and opens a channel to the client. Both
directions end with the first, as a process in a container cannot end its output alone.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress

import asyncssh

from carrel.apps import container_ports
from carrel.core.errors import CarrelError
from carrel.engines.port import EngineError, ExecStream
from carrel.gateway.ssh_access import Entrance
from carrel.gateway.ssh_forwarding import ForwardSession
from carrel.gateway.ssh_processes import Visit

AGENT = "agent"
_START_S = 10.0
_END_S = 2.0
_LONGEST_LINE = 200
_TOKEN = re.compile(r"[0-9a-f]{32}")

# Prints "PLACE PORT", where it listens and where the gateway connects, then a token for each connection. Works with old
# versions of Python too. It ends with its input.
_PYTHON = """
import binascii, os, shutil, socket, sys, tempfile, threading
folder = None
if sys.argv[1] == "agent":
    folder = tempfile.mkdtemp(prefix="ssh-")
    place = os.path.join(folder, "agent")
    server = socket.socket(socket.AF_UNIX)
    server.bind(place)
else:
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("127.0.0.1", int(sys.argv[1])))
    place = str(server.getsockname()[1])
inner = socket.socket()
inner.bind(("127.0.0.1", 0))
server.listen(16)
inner.listen(16)
waiting = {}
def say(line):
    os.write(1, (line + "\\n").encode())
def copy(source, sink):
    try:
        while True:
            piece = source.recv(65536)
            if not piece:
                break
            sink.sendall(piece)
    except OSError:
        pass
    try:
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass
def meet(end):
    token = b""
    while len(token) < 32:
        piece = end.recv(32 - len(token))
        if not piece:
            break
        token += piece
    peer = waiting.pop(token.decode("ascii", "replace"), None)
    if peer:
        other = start(copy, peer, end)
        copy(end, peer)
        other.join()
        peer.close()
    end.close()
def start(work, *arguments):
    thread = threading.Thread(target=work, args=arguments)
    thread.daemon = True
    thread.start()
    return thread
def join():
    while True:
        start(meet, inner.accept()[0])
def listen():
    while True:
        peer = server.accept()[0]
        if len(waiting) >= 16:
            peer.close()
            continue
        token = binascii.hexlify(os.urandom(16)).decode()
        waiting[token] = peer
        say(token)
say("%s %d" % (place, inner.getsockname()[1]))
start(join)
start(listen)
while os.read(0, 4096):
    pass
if folder:
    shutil.rmtree(folder, ignore_errors=True)
os._exit(0)
"""

Open = Callable[[Callable[[], ForwardSession]], Awaitable[object]]
"""Opens a channel to the client."""


async def listening(visit: Visit, what: str, opened: Open) -> "RemoteListener":
    """A listener in the session. what: AGENT, or a port; "0": a free one.

    Raises: ConnectionError with a sentence, CarrelError, EngineError.
    """
    stack = AsyncExitStack()
    try:
        entrance = await visit.entrance()
        engine = await visit.engine(entrance)
        command = container_ports.by_python(_PYTHON, what)
        for shell in container_ports.SHELLS:
            stream = await stack.enter_async_context(
                engine.exec(entrance.container, (shell, *command), env={}, terminal=None)
            )
            lines = _Announcements(stream)
            async with asyncio.timeout(_START_S):
                place, _, port = (await lines.next()).partition(" ")
            if port.isdigit():
                break
        else:
            raise ConnectionRefusedError(
                f"Nothing can listen at {what} in the session: it is in use, or the image has no Python."
            )
        await visit.note(
            entrance, {"ssh": AGENT} if what == AGENT else {"ssh": "remote_port", "port": int(place)}
        )
    except BaseException:
        await stack.aclose()
        raise
    return RemoteListener(visit, entrance, place, int(port), lines, stack, opened)


class RemoteListener(asyncssh.SSHListener):
    """Listens in the session until it is closed. place: its port, or the path of a socket. port: of the script."""

    def __init__(
        self,
        visit: Visit,
        entrance: Entrance,
        place: str,
        port: int,
        lines: "_Announcements",
        stack: AsyncExitStack,
        opened: Open,
    ) -> None:
        super().__init__()
        self.place = place
        self._visit = visit
        self._entrance = entrance
        self._port = port
        self._lines = lines
        self._stack = stack
        self._opened = opened
        self._tasks: set[asyncio.Task[None]] = set()
        self._task = asyncio.create_task(self._listen())

    def get_port(self) -> int:
        return int(self.place)

    def get_path(self) -> str:
        return self.place

    def close(self) -> None:
        """Twice: no-op."""
        self._task.cancel()

    async def wait_closed(self) -> None:
        await asyncio.wait([self._task])

    async def _listen(self) -> None:
        try:
            while _TOKEN.fullmatch(token := await self._lines.next()):
                try:
                    # Before anything is opened: what prints these lines belongs to the session.
                    self._visit.take_room()
                except asyncssh.ChannelOpenError:
                    continue
                task = asyncio.create_task(self._connect(token))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        except (EngineError, OSError):
            pass  # the session has ended, or its engine is away
        finally:
            for task in self._tasks:
                task.cancel()
            with suppress(EngineError, OSError, TimeoutError):
                async with asyncio.timeout(_END_S):
                    await self._lines.end()
            await self._stack.aclose()
            self._visit.leave(self)

    async def _connect(self, token: str) -> None:
        """Join what has connected in the session with a channel to the client."""
        stack = AsyncExitStack()
        session: ForwardSession | None = None
        try:
            engine = await self._visit.engine(self._entrance)
            connection = await stack.enter_async_context(
                container_ports.connect(
                    engine, self._entrance.container, self._entrance.address, "127.0.0.1", self._port
                )
            )
            await connection.write(token.encode())
            session = ForwardSession(self._visit, connection, stack)
            await self._opened(lambda: session)
        except (CarrelError, EngineError, OSError, asyncssh.ChannelOpenError):
            # Closed, as by a client that refuses.
            self._visit.leave(session)
        except BaseException:
            self._visit.leave(session)
            await stack.aclose()
            raise
        else:
            return
        await stack.aclose()


class _Announcements:
    """The script's."""

    def __init__(self, stream: ExecStream) -> None:
        self._stream = stream
        self._output = stream.output()
        self._rest = b""

    async def next(self) -> str:
        """Without its end; empty if there is no other."""
        while b"\n" not in self._rest and len(self._rest) < _LONGEST_LINE:
            if not (piece := await self._piece()):
                return ""
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode(errors="replace")

    async def _piece(self) -> bytes:
        async for number, piece in self._output:
            if number == 1 and piece:
                return piece
        return b""

    async def end(self) -> None:
        """End the script. Raises: EngineError, OSError."""
        await self._stream.close_stdin()
        await self._stream.exit_code()
