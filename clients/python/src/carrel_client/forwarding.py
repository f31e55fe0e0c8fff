"""Local TCP ports that lead to ports of a session, each connection over a WebSocket of its own."""

from __future__ import annotations

import selectors
import socket
import threading
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from carrel_client.channel import Channel, ChannelBroken
from carrel_client.errors import CarrelError
from carrel_client.transport import Transport, segment

_BLOCK = 65536
_BACKLOG_LIMIT = 1 << 20
_RECONNECT_FOR_S = 60.0
_PAUSE_S = 0.5
_END = "eof"
_PASSING = (502, 503, 504)


class Forward(NamedTuple):
    """local: the port on this machine; 0: any. remote: a port of the session."""

    local: int
    remote: int


class LocalPorts:
    """Listens until it is closed. Connections survive neither a lost server nor a lost network; new ones wait for it.

    Raises: CarrelError if a port is taken.
    """

    def __init__(
        self,
        transport: Transport,
        ref: str,
        forwards: Sequence[Forward],
        *,
        bind: str = "127.0.0.1",
        container: str | None = None,
        report: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._transport = transport
        self._ref = ref
        self._query = {"container": container} if container else {}
        self._report = report
        self._selector = selectors.DefaultSelector()
        self._listening: list[socket.socket] = []
        self._running = self._closed = False
        self._waking, self._wake = socket.socketpair()
        self._selector.register(self._waking, selectors.EVENT_READ)
        self.forwards: list[Forward] = []
        for forward in forwards:
            self._listen(bind, forward)

    def run(self) -> None:
        """Accept connections until interrupted, or closed by another thread."""
        self._running = True
        try:
            while not self._closed:
                for key, _ in self._selector.select():
                    if key.data:
                        end, _ = key.fileobj.accept()  # type: ignore[union-attr]
                        threading.Thread(target=self._serve, args=(end, key.data.remote), daemon=True).start()
        except OSError:
            if not self._closed:
                raise
        finally:
            self._end()

    def close(self) -> None:
        """Close the ports; open connections end with the program. Twice: no-op."""
        self._closed = True
        for listening in self._listening:
            listening.close()
        self._wake.close()
        # What `run` waits for is closed by it: otherwise it would not wake.
        if not self._running:
            self._end()

    def _end(self) -> None:
        self._selector.close()
        self._waking.close()

    def _listen(self, bind: str, forward: Forward) -> None:
        family = socket.AF_INET6 if ":" in bind else socket.AF_INET
        try:
            listening = socket.create_server((bind, forward.local), family=family)
        except OSError as taken:
            self.close()
            raise CarrelError(
                "client.port_taken",
                f"Port {forward.local} of {bind} cannot be used: {taken.strerror}.",
                status=409,
                hint=f"Choose another one: {forward.local + 1}:{forward.remote}, or 0:{forward.remote} for any.",
            ) from None
        self._listening.append(listening)
        made = Forward(listening.getsockname()[1], forward.remote)
        self._selector.register(listening, selectors.EVENT_READ, made)
        self.forwards.append(made)

    def _serve(self, end: socket.socket, port: int) -> None:
        with end:
            try:
                channel = self._connected(port)
                try:
                    carry(channel, end)
                finally:
                    channel.close()
            except ChannelBroken as broken:
                self._report(f"a connection to port {port} was lost: {broken}")
            except CarrelError as error:
                self._report(f"port {port}: {error.detail}")
            except OSError:
                pass  # the local program is gone

    def _connected(self, port: int) -> Channel:
        """An open connection; waits for a server that is away. Raises: CarrelError."""
        ends_at = time.monotonic() + _RECONNECT_FOR_S
        path = f"/api/v1/sessions/{segment(self._ref)}/ports/{port}"
        while True:
            try:
                channel = Channel(self._transport, path, query=self._query)
                if channel.first() is not None:
                    return channel
                raise ChannelBroken("the server closed the connection")
            except (CarrelError, ChannelBroken) as error:
                passing = isinstance(error, ChannelBroken) or (
                    error.status in _PASSING and error.code != "port.not_answering"
                )
                if not passing or time.monotonic() > ends_at:
                    raise
                time.sleep(_PAUSE_S)


def carry(channel: Channel, end: socket.socket) -> None:
    """Pass bytes on until the server closes the channel or the local end is gone. Raises: as `Channel.step`."""
    end.setblocking(False)
    waiting = bytearray()
    reads = True
    while True:
        watched = (end.fileno(),) if reads and channel.backlog < _BACKLOG_LIMIT else ()
        messages, readable = channel.step(watched, writable=(end.fileno(),) if waiting else ())
        for message in messages:
            waiting += message if isinstance(message, bytes) else b""
        if channel.ended and not messages:
            break
        _write(end, waiting)
        if readable:
            try:
                block = end.recv(_BLOCK)
            except BlockingIOError:
                continue
            reads = bool(block)
            channel.send(block or _END)
    end.setblocking(True)
    end.sendall(waiting)


def _write(end: socket.socket, waiting: bytearray) -> None:
    try:
        while waiting:
            del waiting[: end.send(waiting)]
    except BlockingIOError:
        return
