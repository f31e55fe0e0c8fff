"""A raw pipe to a process: the hijacked connection of an exec, or of an attachment to a main process.

Not through an HTTP client, which reports the end of output only after all input was accepted, and a process that ended
accepts none.
"""

import asyncio
import json
import os
import ssl
import struct
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import aiodocker

from carrel.engines.port import EngineUnavailable

_FRAME = struct.Struct(">BxxxL")
_CHUNK_BYTES = 64 * 1024
_CONNECT_S = 5.0


class Pipe:
    """Input and output of the process. Without a terminal, the daemon frames stdout and stderr."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, framed: bool) -> None:
        self._reader = reader
        self._writer = writer
        self._framed = framed

    async def output(self) -> AsyncIterator[tuple[int, bytes]]:
        """Pairs of stream number and bytes; ends with the process or the connection."""
        try:
            while True:
                fd, left = 1, _CHUNK_BYTES
                if self._framed:
                    fd, left = _FRAME.unpack(await self._reader.readexactly(_FRAME.size))
                while left > 0:
                    chunk = await self._reader.read(min(left, _CHUNK_BYTES))
                    if not chunk:
                        return
                    yield fd, chunk
                    left = left - len(chunk) if self._framed else _CHUNK_BYTES
        except (asyncio.IncompleteReadError, ConnectionError):
            return

    async def write(self, chunk: bytes) -> None:
        """Write; returns once the daemon has accepted most of it. Raises: ConnectionError if the process has ended."""
        self._writer.write(chunk)
        await self._writer.drain()

    def end_input(self) -> bool:
        """Close the input only. False over TLS, which has no half-close: no-op."""
        ends = self._writer.can_write_eof()
        if ends and not self._writer.is_closing():
            self._writer.write_eof()
        return ends

    def close(self) -> None:
        """Close; pending input is still sent, unless the process has ended."""
        if self._reader.at_eof():
            self._writer.transport.abort()
        else:
            self._writer.close()


async def open_pipe(url: str, version: str, path: str, body: object = None, *, terminal: bool) -> Pipe:
    """Send the request and take over its connection.

    Raises: DockerError for error responses, EngineUnavailable for outages.
    """
    content = b"" if body is None else json.dumps(body).encode()
    head = (
        f"POST /{version}/{path} HTTP/1.1\r\nHost: docker\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n"
        "Connection: Upgrade\r\nUpgrade: tcp\r\n\r\n"
    )
    try:
        reader, writer = await asyncio.wait_for(_connect(url), _CONNECT_S)
    except (OSError, TimeoutError) as error:
        raise EngineUnavailable(f"The container engine at {url} does not respond.") from error
    try:
        writer.write(head.encode() + content)
        answer = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        status = int(answer.split(" ", 2)[1])
        if status not in (101, 200):
            raise aiodocker.DockerError(status, await _complaint(reader, answer))
    except (OSError, asyncio.IncompleteReadError) as error:
        writer.close()
        raise EngineUnavailable(f"The container engine at {url} closed the connection early.") from error
    except BaseException:
        writer.close()
        raise
    return Pipe(reader, writer, framed=not terminal)


async def _connect(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    parts = urlsplit(url)
    if parts.scheme == "unix":
        return await asyncio.open_unix_connection(parts.path, limit=_CHUNK_BYTES)
    return await asyncio.open_connection(
        parts.hostname, parts.port or 2375, ssl=_tls(parts.scheme), limit=_CHUNK_BYTES
    )


def _tls(scheme: str) -> ssl.SSLContext | None:
    """As Docker's own clients: by scheme or DOCKER_TLS_VERIFY, with the files of DOCKER_CERT_PATH."""
    if scheme != "https" and os.environ.get("DOCKER_TLS_VERIFY", "0") != "1":
        return None
    context = ssl.create_default_context()
    if folder := os.environ.get("DOCKER_CERT_PATH"):
        context.load_verify_locations(Path(folder) / "ca.pem")
        context.load_cert_chain(Path(folder) / "cert.pem", Path(folder) / "key.pem")
    return context


async def _complaint(reader: asyncio.StreamReader, head: str) -> str:
    lengths = [line.split(":")[1] for line in head.splitlines() if line.lower().startswith("content-length:")]
    body = await reader.readexactly(int(lengths[0])) if lengths else b""
    try:
        return str(json.loads(body)["message"])
    except (ValueError, KeyError):
        return body.decode(errors="replace")
