"""Connections to TCP ports of a container, those that listen only on its loopback included.

A port on which the container listens for others is connected to by the container's address, or through an engine that
is `PortForwarding`. For its loopback, and for hosts that only the container may reach, a small relay runs inside it,
made of what the image or the app layer has. So nothing but the container's own address is ever reached from here.
"""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Protocol

from carrel.core.ids import ContainerId
from carrel.engines.optional import PortForwarding
from carrel.engines.port import Engine, EngineError, ExecStream
from carrel.nodes.engines.connections import in_time

CONNECT_S = 10.0
_DIRECT_S = 3.0
_PIECE_BYTES = 128 << 10
_LOOPBACK = ("localhost", "127.0.0.1", "::1", "0.0.0.0", "::", "")
_HOST = re.compile(r"[A-Za-z0-9_.:-]{1,253}")
_CONNECTED = b"ok\n"

# Python closes each direction on its own; the others close both with the server's. The line "ok" says that it is
# connected; everything after it belongs to the connection.
_PYTHON = """
import os, socket, sys, threading
peer = socket.create_connection((sys.argv[1], int(sys.argv[2])), 10)
peer.settimeout(None)
os.write(1, b"ok\\n")
def send():
    while True:
        piece = os.read(0, 65536)
        if not piece:
            break
        peer.sendall(piece)
    peer.shutdown(socket.SHUT_WR)
threading.Thread(target=send, daemon=True).start()
while True:
    piece = peer.recv(65536)
    if not piece:
        break
    while piece:
        piece = piece[os.write(1, piece):]
os._exit(0)
"""
_BY_PYTHON = """
for python in python3 /opt/carrel/bin/python3; do
  command -v "$python" >/dev/null 2>&1 && exec "$python" -c "$0" "$@" 2>/dev/null
done
"""
_OTHERWISE = """
if command -v bash >/dev/null 2>&1; then
  exec bash -c 'exec 3<>"/dev/tcp/$0/$1" || exit 1
    echo ok; exec 4<&0; cat <&4 >&3 & cat <&3; kill $!' "$1" "$2" 2>/dev/null
fi
if command -v nc >/dev/null 2>&1; then echo ok; exec nc "$1" "$2" 2>/dev/null; fi
exit 127
"""
SHELLS = ("sh", "/opt/carrel/bin/sh")
"""The second is of the app layer, for images without a shell."""
_MISSING = 127


def by_python(script: str, *arguments: str) -> tuple[str, ...]:
    """Arguments for one of SHELLS that run the script by the Python of the image or the app layer."""
    return ("-c", f"{_BY_PYTHON}exit {_MISSING}", script, *arguments)


class PortConnection(Protocol):
    """An open connection. Both directions end on their own."""

    async def read(self) -> bytes:
        """The next bytes; empty at the end."""
        ...

    async def write(self, piece: bytes) -> None:
        """Send; waits while the other end does not read. Raises: ConnectionError."""
        ...

    async def write_end(self) -> None:
        """The end of what is sent."""
        ...


@asynccontextmanager
async def connect(
    engine: Engine, container: ContainerId, address: str | None, host: str, port: int
) -> AsyncIterator[PortConnection]:
    """A connection to the port, closed with the block. host: as the container knows it; loopback: its own ports.

    address: of the container, if it can be reached. Raises: ConnectionError, with a sentence.
    """
    if not _HOST.fullmatch(host or "localhost"):
        raise ConnectionRefusedError(f"{host} is not a host.")
    own = host in _LOOPBACK
    if own and (direct := await _direct(engine, container, address, port)):
        reader, writer = direct
        try:
            yield _Socket(reader, writer)
        finally:
            writer.close()
        return
    async with AsyncExitStack() as stack:
        yield await _relay(stack, engine, container, "127.0.0.1" if own else host, port)


async def _direct(
    engine: Engine, container: ContainerId, address: str | None, port: int
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
    """A connection from outside; None if nothing listens there."""
    with suppress(OSError, TimeoutError, EngineError):
        if address is not None:
            async with asyncio.timeout(_DIRECT_S):
                return await asyncio.open_connection(address, port, limit=_PIECE_BYTES)
        if isinstance(engine, PortForwarding):
            end = await in_time(engine.connect_port(container, port), CONNECT_S)
            return await asyncio.open_connection(sock=end, limit=_PIECE_BYTES)
    return None


async def _relay(
    stack: AsyncExitStack, engine: Engine, container: ContainerId, host: str, port: int
) -> PortConnection:
    """A relay inside, which ends with the stack. Raises: ConnectionError."""
    for shell in SHELLS:
        command = (shell, "-c", _BY_PYTHON + _OTHERWISE, _PYTHON, host, str(port))
        try:
            stream = await stack.enter_async_context(engine.exec(container, command, env={}, terminal=None))
            relay = _Relayed(stream)
            async with asyncio.timeout(CONNECT_S):
                if await relay.connected():
                    return relay
                if await stream.exit_code() != _MISSING:
                    break
        except TimeoutError:
            break
        except EngineError as error:
            raise ConnectionRefusedError(error.message) from error
    else:
        raise ConnectionRefusedError(
            f"Port {port} listens only inside the session, whose image has no Python, bash or nc to reach it."
        )
    raise ConnectionRefusedError(f"Nothing answers on port {port} of {host} in the session.")


class _Socket:
    """From outside."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def read(self) -> bytes:
        try:
            return await self._reader.read(_PIECE_BYTES)
        except ConnectionError:
            return b""

    async def write(self, piece: bytes) -> None:
        self._writer.write(piece)
        await self._writer.drain()

    async def write_end(self) -> None:
        if self._writer.can_write_eof():
            with suppress(OSError):
                self._writer.write_eof()


class _Relayed:
    """Through a relay inside."""

    def __init__(self, stream: ExecStream) -> None:
        self._stream = stream
        self._output = stream.output()
        self._rest = b""

    async def connected(self) -> bool:
        """Wait for the relay's first line."""
        while len(self._rest) < len(_CONNECTED):
            if not (piece := await self._next()):
                return False
            self._rest += piece
        self._rest = self._rest.removeprefix(_CONNECTED)
        return True

    async def read(self) -> bytes:
        if self._rest:
            piece, self._rest = self._rest, b""
            return piece
        return await self._next()

    async def write(self, piece: bytes) -> None:
        await self._stream.write(piece)

    async def write_end(self) -> None:
        await self._stream.close_stdin()

    async def _next(self) -> bytes:
        async for number, piece in self._output:
            if number == 1 and piece:
                return piece
        return b""
