"""Channels that clients open to ports of a session: `ssh -L`, `ssh -D` and `ssh -J`."""

import asyncio
from contextlib import AsyncExitStack

import asyncssh

from carrel.apps import container_ports
from carrel.apps.container_ports import PortConnection
from carrel.core.errors import CarrelError
from carrel.engines.port import EngineError
from carrel.gateway.ssh_processes import Visit

_BACKLOG_BYTES = 1 << 20


async def opened(visit: Visit, host: str, port: int, noted: set[tuple[str, int]]) -> "ForwardSession":
    """A session for a channel to the port. noted: destinations with an audit entry. Raises: ChannelOpenError."""
    stack = AsyncExitStack()
    try:
        entrance = await visit.entrance()
        engine = await visit.engine(entrance)
        connection = await stack.enter_async_context(
            container_ports.connect(engine, entrance.container, entrance.address, host, port)
        )
        if (host, port) not in noted:
            noted.add((host, port))
            await visit.note(entrance, {"ssh": "port", "host": host[:253], "port": port})
    except (CarrelError, EngineError, ConnectionError) as error:
        await stack.aclose()
        sentence = str(error) if isinstance(error, ConnectionError) else error.message
        raise asyncssh.ChannelOpenError(asyncssh.OPEN_CONNECT_FAILED, sentence) from None
    except BaseException:
        await stack.aclose()
        raise
    return ForwardSession(visit, connection, stack)


class ForwardSession(asyncssh.SSHTCPSession[bytes]):
    """Passes bytes on in both directions, with back pressure. Owns the stack."""

    def __init__(self, visit: Visit, connection: PortConnection, stack: AsyncExitStack) -> None:
        self._visit = visit
        self._connection = connection
        self._stack = stack
        self._input: list[bytes] = []
        self._backlog = 0
        self._input_ended = False
        self._news = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._task: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None
        self._channel: asyncssh.SSHTCPChannel[bytes]

    def connection_made(self, chan: asyncssh.SSHTCPChannel[bytes]) -> None:
        self._channel = chan
        chan.set_write_buffer_limits(high=_BACKLOG_BYTES, low=_BACKLOG_BYTES // 4)
        self._task = asyncio.create_task(self._carry())

    def data_received(self, data: bytes, datatype: int | None) -> None:
        self._input.append(data)
        self._backlog += len(data)
        if self._backlog > _BACKLOG_BYTES:
            self._channel.pause_reading()
        self._news.set()

    def eof_received(self) -> bool:
        self._input_ended = True
        self._news.set()
        return True

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._visit.leave(self)
        self.close()

    def close(self) -> None:
        """Close the connection to the port. Twice: no-op."""
        if self._task:
            self._task.cancel()
        if self._closing is None:
            self._closing = asyncio.create_task(self._stack.aclose())

    async def _carry(self) -> None:
        sending = asyncio.create_task(self._send())
        try:
            while piece := await self._connection.read():
                self._visit.record_activity()
                self._channel.write(piece)
                await self._writable.wait()
                await self._visit.room.wait()
            self._channel.close()
        except OSError:
            self._channel.close()
        finally:
            sending.cancel()
            await asyncio.wait([sending])

    async def _send(self) -> None:
        try:
            while True:
                while not self._input and not self._input_ended:
                    self._news.clear()
                    await self._news.wait()
                if not self._input:
                    await self._connection.write_end()
                    return
                batch, self._input = b"".join(self._input), []
                self._backlog = 0
                self._visit.record_activity()
                await self._connection.write(batch)
                self._channel.resume_reading()
        except OSError:
            pass  # the other direction ends too
