"""TLS by the servers themselves, for the API's (uvicorn) and the apps' gateway (aiohttp).

Each connection is inspected before the server sees it: it must start a handshake in time, and plain HTTP is
redirected. After that the event loop handles it, with encryption. HTTP/2 is left to proxies, see deploy/.
"""

import asyncio
import os
import re
import socket
import ssl
from asyncio import BaseTransport, Protocol
from collections.abc import Callable
from contextlib import suppress
from typing import ClassVar

import structlog

from carrel.http.guard import ConnectionLimit, NoRequest, refusal

log = structlog.get_logger()

HANDSHAKE_S = 20.0
_LINGER_S = 2.0
_HANDSHAKE = b"\x16"
_PEEKED_BYTES = 8 << 10
_READABLE = re.compile(
    rb"(?:GET|HEAD) (/[!-~]*) HTTP/1\.[01]\r\n(?:.*\r\n)*?host:[ \t]*([a-z0-9.\-:\[\]]{1,255})[ \t]*\r\n",
    re.I,
)
_PLAIN = NoRequest(
    "http.tls_needed",
    "This port requires TLS.",
    "Use https:// in the address.",
)
_Stamp = tuple[tuple[int, int, int], ...]
_Factory = Callable[[], Protocol]


def context(certificate: str, key: str) -> ssl.SSLContext:
    """TLS 1.2 and newer with these PEM files. Raises: ssl.SSLError, OSError."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    made.set_alpn_protocols(["http/1.1"])
    # Without it, OpenSSL would prompt on the terminal for the password of an encrypted key.
    made.load_cert_chain(certificate, key, password=lambda: "")
    return made


class Tls:
    """A certificate and its key, reloaded when the files change.

    The files are checked on each new connection, so certificate renewal needs no signal. Open connections are
    unaffected. If the new pair is unusable (one file may not be written yet), the previous one stays in use.
    Raises: ssl.SSLError, OSError when the first pair cannot be used.
    """

    def __init__(self, certificate: str, key: str) -> None:
        self._files = (certificate, key)
        self._stamp = self._look()
        self._context = context(*self._files)

    def current(self) -> ssl.SSLContext:
        """The TLS context for the next connection."""
        try:
            stamp = self._look()
            if stamp != self._stamp:
                self._stamp = stamp
                self._context = context(*self._files)
                log.info("tls.renewed", certificate=self._files[0])
        except OSError as error:
            log.warning("tls.not_renewed", certificate=self._files[0], error=str(error))
        return self._context

    def _look(self) -> _Stamp:
        stats = map(os.stat, self._files)
        return tuple((each.st_mtime_ns, each.st_size, each.st_ino) for each in stats)


def over(tls: Tls, handshakes: ConnectionLimit, serving: _Factory) -> Protocol:
    """Protocol factory of a listening server. handshakes: counts connections not yet handed to `serving`."""
    return _Arrival(tls, handshakes, serving)


class _Arrival(Protocol):
    """Takes a connection from the server's transport before anything is read."""

    _at_work: ClassVar[set[asyncio.Task[None]]] = set()

    def __init__(self, tls: Tls, handshakes: ConnectionLimit, serving: _Factory) -> None:
        self._tls = tls
        self._serving = serving
        self._handshakes = handshakes

    def connection_made(self, transport: BaseTransport) -> None:
        peer = transport.get_extra_info("peername")
        address = str(peer[0]) if isinstance(peer, tuple) else ""
        if self._handshakes.enter(address):
            transport.abort()  # type: ignore[attr-defined]
            return
        # The duplicated descriptor keeps the connection open; the event loop has not started to read it.
        theirs = transport.get_extra_info("socket")
        ours = socket.socket(fileno=os.dup(theirs.fileno()))
        ours.setblocking(False)
        transport.abort()  # type: ignore[attr-defined]
        task = asyncio.get_running_loop().create_task(self._admit(ours, address))
        self._at_work.add(task)
        task.add_done_callback(self._at_work.discard)

    async def _admit(self, ours: socket.socket, address: str) -> None:
        try:
            async with asyncio.timeout(HANDSHAKE_S):
                first = await _peek(ours)
            if first[:1] == _HANDSHAKE:
                # From here on the event loop owns the socket and closes it.
                await asyncio.get_running_loop().connect_accepted_socket(
                    self._serving, ours, ssl=self._tls.current(), ssl_handshake_timeout=HANDSHAKE_S
                )
                return
            if first:
                await _send_away(ours, first)
        except (OSError, TimeoutError):
            pass  # the client disconnected, or the handshake failed
        finally:
            self._handshakes.leave(address)
        ours.close()


async def _peek(ours: socket.socket) -> bytes:
    """The first bytes, without consuming them."""
    loop, there = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(ours, there.set)
    try:
        await there.wait()
        return ours.recv(_PEEKED_BYTES, socket.MSG_PEEK)
    finally:
        loop.remove_reader(ours)


async def _send_away(ours: socket.socket, first: bytes) -> None:
    """Respond to a connection that is not TLS: a redirect for GET, otherwise an error. The request is not processed."""
    loop = asyncio.get_running_loop()
    match = _READABLE.match(first)
    if match:
        path, host = match.groups()
        answer = b"HTTP/1.1 307 Temporary Redirect\r\nLocation: https://%b%b\r\n" % (host, path)
        answer += b"Content-Length: 0\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n"
    else:
        answer = refusal(400, _PLAIN)
    with suppress(TimeoutError):
        async with asyncio.timeout(_LINGER_S):
            await loop.sock_sendall(ours, answer)
            ours.shutdown(socket.SHUT_WR)
            # Closing with unread data would reset the connection and discard the response.
            while await loop.sock_recv(ours, _PEEKED_BYTES):
                continue
