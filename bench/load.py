"""HTTP load generator with low overhead: raw keep-alive connections that repeat one request."""

import asyncio
import re
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast
from urllib.parse import urlsplit

_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)


@dataclass(frozen=True)
class Load:
    """rate: responses per second. latencies: seconds, sorted."""

    rate: float
    latencies: Sequence[float]

    def percentile(self, percent: float) -> float:
        """In milliseconds."""
        return self.latencies[min(int(len(self.latencies) * percent / 100), len(self.latencies) - 1)] * 1000


def request(url: str, **headers: str) -> bytes:
    """A GET. Headers by name with underscores."""
    parts = urlsplit(url)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    named = {"Host": parts.netloc, **{name.replace("_", "-"): value for name, value in headers.items()}}
    lines = [f"GET {target or '/'} HTTP/1.1", *(f"{name}: {value}" for name, value in named.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


class _Asker(asyncio.Protocol):
    """Sends a request, and repeats it when the response is complete. Responses need a Content-Length and a 200."""

    def __init__(self, payload: bytes, until: float, latencies: list[float], pause_s: float) -> None:
        self._payload = payload
        self._until = until
        self._latencies = latencies
        self._pause_s = pause_s
        self._got = b""
        self._left = 0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports do not inherit from asyncio's classes.
        self._transport = cast(asyncio.Transport, transport)
        self._ask()

    def _ask(self) -> None:
        self._began = time.perf_counter()
        self._transport.write(self._payload)

    def data_received(self, data: bytes) -> None:
        if self._left == 0:
            self._got += data
            head, blank, body = self._got.partition(b"\r\n\r\n")
            if not blank:
                return
            length = _LENGTH.search(head)
            if not head.startswith(b"HTTP/1.1 200") or length is None:
                self.done.set_exception(AssertionError(self._got[:500]))
                self._transport.close()
                return
            self._left = int(length[1]) - len(body)
            self._got = b""
        else:
            self._left -= len(data)
        if self._left == 0:
            now = time.perf_counter()
            self._latencies.append(now - self._began)
            if now > self._until:
                self._transport.close()
                self.done.set_result(None)
            elif self._pause_s:
                asyncio.get_running_loop().call_later(self._pause_s, self._ask)
            else:
                self._ask()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(error or ConnectionError("the server hung up"))


async def load(payload: bytes, port: int, *, seconds: float, connections: int, pause_s: float = 0.0) -> Load:
    """Send requests over several connections for a while; each waits for its response, and then pauses."""
    loop = asyncio.get_running_loop()
    latencies: list[float] = []
    began = time.perf_counter()
    askers = []
    for _ in range(connections):
        _, asker = await loop.create_connection(
            lambda: _Asker(payload, began + seconds, latencies, pause_s), "127.0.0.1", port
        )
        askers.append(asker)
    await asyncio.gather(*(asker.done for asker in askers))
    return Load(len(latencies) / (time.perf_counter() - began), sorted(latencies))


def median(values: Sequence[float]) -> float:
    return statistics.median(values)
