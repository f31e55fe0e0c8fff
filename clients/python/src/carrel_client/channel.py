"""A WebSocket that reads and writes concurrently in one thread.

Neither direction blocks the other. With one lock for both, as in the threaded client of `websockets` 17.4, a command
that echoes its input stalls once the kernel's buffers are full. The protocol is that library's, without its I/O.
"""

from __future__ import annotations

import json
import selectors
import ssl
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidStatus
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.uri import parse_uri

from carrel_client.errors import CarrelError, from_problem, too_slow, unreachable
from carrel_client.transport import CONNECT_TIMEOUT_S, USER_AGENT, Transport, with_query
from carrel_client.wire import dial

_PING_EVERY_S = 20.0
_SILENCE_S = 45.0
# With this much unread input a pong may be late, because the command does not read.
_UNHEARD_LIMIT = 65536
_BLOCK = 65536
_READ_LIMIT = 1 << 20
_MESSAGE_LIMIT = 16 << 20
# An error closes with 4000 plus its HTTP status.
_REFUSALS = range(4400, 4600)
# 1001 and 1012: the server stops; 1006: no close frame. A new connection may succeed.
_PASSING = frozenset({1001, 1005, 1006, 1012, 1013, 1014})
# epoll refuses regular files, and macOS' poll refuses terminals.
_Selector = selectors.PollSelector if sys.platform == "linux" else selectors.SelectSelector
_LATER = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class ChannelBroken(ConnectionError):
    """The connection was lost without a close frame."""


class Step(NamedTuple):
    """The result of one wait: messages in order, and readable watched descriptors."""

    messages: list[str | bytes]
    readable: set[int]


class Channel:
    """An open WebSocket. `send` only queues; `step` moves bytes both ways.

    Raises: CarrelError when the server refuses; from `step` also ChannelBroken when the network fails or falls silent.
    """

    def __init__(
        self,
        transport: Transport,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._address = transport.target.url
        self._clock = clock
        self._out = bytearray()
        self._parts: list[bytes] = []
        self._parts_are_text = False
        self._ready: list[str | bytes] = []
        self._failure: Exception | None = None
        self._silent_s = 0.0
        self._unheard = 0
        self._pinged = clock()
        self.ended = False
        url = transport.target.url.replace("http", "ws", 1) + with_query(path, query)
        self._protocol = ClientProtocol(parse_uri(url), max_size=_MESSAGE_LIMIT)
        self._open(transport)

    @property
    def backlog(self) -> int:
        """Number of unsent bytes; pause reading input when it grows."""
        return len(self._out)

    def send(self, message: str | bytes) -> None:
        """Queue a text or binary message. Discarded after the end."""
        if self._protocol.state is not State.OPEN:
            return
        if isinstance(message, str):
            self._protocol.send_text(message.encode())
        else:
            self._protocol.send_binary(message)
        self._queue()

    def step(
        self,
        watched: tuple[int, ...] = (),
        *,
        writable: tuple[int, ...] = (),
        timeout_s: float | None = None,
    ) -> Step:
        """Wait for messages or a readable watched descriptor.

        writable: descriptors to which earlier messages must be written first. Nothing is received meanwhile, so that
        the server waits too.
        """
        readable: set[int] = set()
        if not self._failure:
            pause_s = 0.0 if self._ready or self.ended else self._patience(timeout_s)
            readable = self._turn(watched, pause_s, writable)
        # Deliver messages received before the failure first.
        if self._failure and not self._ready:
            self._sock.close()
            raise self._failure
        messages, self._ready = self._ready, []
        return Step(messages, readable)

    def first(self) -> str | bytes | None:
        """The next message, without those that arrive with it; None after the end."""
        while not (self.ended and not self._ready):
            messages = self.step().messages
            if messages:
                self._ready[:0] = messages[1:]
                return messages[0]
        return None

    def __iter__(self) -> Iterator[str | bytes]:
        """The messages until the server closes the channel."""
        while not (self.ended and not self._ready):
            yield from self.step().messages

    def close(self) -> None:
        """Close the connection. Twice: no-op."""
        if self._protocol.state is State.OPEN:
            self._protocol.send_close(1000)
            self._queue()
            self._write()
        self.ended = True
        self._sock.close()

    def _open(self, transport: Transport) -> None:
        try:
            self._sock = dial(transport.target, timeout_s=CONNECT_TIMEOUT_S)
        except TimeoutError:
            raise too_slow(self._address, CONNECT_TIMEOUT_S) from None
        except OSError as broken:
            raise unreachable(self._address, broken) from broken
        self._sock.setblocking(False)
        request = self._protocol.connect()
        request.headers["User-Agent"] = USER_AGENT
        for name, value in transport.authorization().items():
            request.headers[name] = value
        self._protocol.send_request(request)
        self._queue()
        deadline = self._clock() + transport.timeout_s
        while (
            self._protocol.state is State.CONNECTING
            and not self._protocol.handshake_exc
            and not self._failure
        ):
            if self._clock() > deadline:
                self._failure = too_slow(self._address, transport.timeout_s)
            self._turn((), 1.0)
        if self._protocol.handshake_exc:
            self._failure = _refused(self._protocol.handshake_exc, self._address)
        if self._failure and not self._ready:
            self._sock.close()
            raise self._failure

    def _patience(self, timeout_s: float | None) -> float:
        """The timeout of the next wait; sends a ping when one is due."""
        now = self._clock()
        if now - self._pinged >= _PING_EVERY_S and self._protocol.state is State.OPEN:
            self._protocol.send_ping(b"")
            self._queue()
            self._pinged = now
        until_ping_s = max(0.0, self._pinged + _PING_EVERY_S - now)
        return until_ping_s if timeout_s is None else min(timeout_s, until_ping_s)

    def _turn(self, watched: tuple[int, ...], pause_s: float, writable: tuple[int, ...] = ()) -> set[int]:
        """Wait once, then write and read everything that does not block."""
        receives = not writable
        with _Selector() as selector:
            if not self.ended and not self._failure:
                wants = selectors.EVENT_READ * receives | selectors.EVENT_WRITE * bool(self._out)
                if wants:
                    selector.register(self._sock, wants)
            for descriptor in {*watched, *writable}:
                events = selectors.EVENT_READ * (descriptor in watched)
                selector.register(descriptor, events | selectors.EVENT_WRITE * (descriptor in writable))
            began = self._clock()
            happened = {
                key.fd: events
                for key, events in selector.select(0 if receives and self._undecoded() else pause_s)
            }
            self._silent_s += (self._clock() - began) * receives
        if not self.ended and not self._failure:
            mine = happened.pop(self._sock.fileno(), 0)
            self._write()
            if receives and (mine & selectors.EVENT_READ or self._undecoded()):
                self._read()
            elif self._silent_s > _SILENCE_S and self._unheard < _UNHEARD_LIMIT:
                self._failure = ChannelBroken("the server no longer responds")
        return {descriptor for descriptor, events in happened.items() if events & selectors.EVENT_READ}

    def _undecoded(self) -> bool:
        """True if TLS has buffered bytes, for which the socket is not readable."""
        return isinstance(self._sock, ssl.SSLSocket) and not self.ended and self._sock.pending() > 0

    def _queue(self) -> None:
        for block in self._protocol.data_to_send():
            self._out += block

    def _write(self) -> None:
        try:
            while self._out:
                sent = self._sock.send(self._out[:_BLOCK])
                self._unheard += sent
                del self._out[:sent]
        except _LATER:
            return
        except OSError as broken:
            # Read first what the server sent before it closed: that explains more.
            self._out.clear()
            self._failure = self._failure or ChannelBroken(str(broken))
            self._read()

    def _read(self) -> None:
        taken = 0
        try:
            while taken < _READ_LIMIT and not self.ended:
                block = self._sock.recv(_BLOCK)
                taken += len(block)
                self._silent_s, self._unheard = 0.0, 0
                if block:
                    self._protocol.receive_data(block)
                else:
                    self._protocol.receive_eof()
                for event in self._protocol.events_received():
                    if isinstance(event, Frame):
                        self._take(event)
                self._queue()
                if not block:
                    self._failure = self._failure or ChannelBroken("the connection was closed")
                    return
        except _LATER:
            return
        except OSError as broken:
            self._failure = self._failure or ChannelBroken(str(broken))

    def _take(self, frame: Frame) -> None:
        if frame.opcode is Opcode.CLOSE:
            self._end()
        elif frame.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            if frame.opcode is not Opcode.CONT:
                self._parts_are_text = frame.opcode is Opcode.TEXT
            self._parts.append(bytes(frame.data))
            if frame.fin:
                message, self._parts = b"".join(self._parts), []
                self._ready.append(message.decode("utf-8", "replace") if self._parts_are_text else message)

    def _end(self) -> None:
        """The server closed the channel: normally, with an error, or because it stops."""
        close = self._protocol.close_rcvd
        code, reason = (close.code, close.reason) if close else (1006, "")
        if code == 1000:
            self._failure = None
        elif code in _REFUSALS:
            self._failure = from_problem(code - 4000, _problem(reason))
        elif code in _PASSING:
            self._failure = ChannelBroken(reason or "the server is stopping")
        else:
            self._failure = CarrelError(
                "client.closed", f"The server ended the connection: {reason or code}.", status=502
            )
        self._queue()
        try:
            self._sock.send(self._out)
        except OSError:
            pass
        self.ended = True
        self._out.clear()
        self._sock.close()


def _refused(wrong: Exception, address: str) -> CarrelError:
    """The error of a server that refused the channel."""
    if isinstance(wrong, InvalidStatus):
        return from_problem(wrong.response.status_code, _problem(bytes(wrong.response.body or b"")))
    return unreachable(address, wrong)


def _problem(text: str | bytes) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return {"detail": text} if isinstance(text, str) and text else None
