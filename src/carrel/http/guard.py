"""Limits on HTTP requests as they arrive: the size and time of a head, the progress of a body, connections per client.

A `Guard` belongs to one connection and knows no parser: the server's protocol reports each read to it. It holds for
both servers, the API's (uvicorn) and the apps' gateway (aiohttp).
"""

import asyncio
import ipaddress
import json
import resource
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache
from http import HTTPStatus
from typing import NamedTuple

from prometheus_client import Counter as Metric

_REFUSED = Metric(
    "carrel_http_refused_total",
    "Connections refused before a request was parsed, by code.",
    ("code",),
)


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Limits of one connection.

    head_bytes, head_lines: of a request line with its headers; also of trailers. head_s: for all of it.
    body_bytes, body_s: a body must grow by so many bytes in each period of so many seconds.
    linger_s: how long the rest of a body is read and dropped after its response. pipelined: most requests queued on
    the connection.
    """

    head_bytes: int = 128 << 10
    head_lines: int = 256
    head_s: float = 20.0
    body_bytes: int = 4 << 10
    body_s: float = 30.0
    linger_s: float = 5.0
    pipelined: int = 64


class ReadingPhase(Enum):
    """The phase of a connection."""

    NOTHING = auto()
    HEAD = auto()
    BODY = auto()
    REST = auto()
    """The end of a body whose request has been answered."""


class HeadTooLarge(Exception):
    """Raised in a parser's callback, to stop it."""


class Guard:
    """Times one connection and counts its bytes.

    refuse: called once with the status to send before the connection closes; 0: close without a response. progress:
    bytes of the current body received; None while the server itself applies back pressure.
    """

    def __init__(
        self, limits: RequestLimits, refuse: Callable[[int], None], progress: Callable[[], int | None]
    ) -> None:
        self._limits = limits
        self._refuse = refuse
        self._progress = progress
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._reading = ReadingPhase.NOTHING
        self._framing = 0
        self._mark = 0
        self._begun = False

    def begin(self) -> None:
        """Start: the connection is open and idle."""
        self._reading = ReadingPhase.HEAD
        self._arm(self._limits.head_s)

    def saw(self, count: int, reading: ReadingPhase, *, advanced: bool) -> None:
        """Report one read of `count` bytes and the phase after it.

        advanced: a request started or ended, or body bytes arrived. Everything else is framing: header lines, chunk
        extensions, trailers.
        """
        self._begun = True
        self._framing = 0 if advanced else self._framing + count
        if self._framing > self._limits.head_bytes:
            self.stop()
            self._refuse(431)
            return
        if reading is ReadingPhase.BODY and self._reading is ReadingPhase.REST:
            return
        if reading is self._reading and not (advanced and reading is ReadingPhase.HEAD):
            return
        self._reading = reading
        if reading is ReadingPhase.NOTHING:
            self._disarm()
        elif reading is ReadingPhase.HEAD:
            self._arm(self._limits.head_s)
        else:
            self._mark = self._progress() or 0
            self._arm(self._limits.body_s)

    def answered(self) -> None:
        """The current request has its response; an incomplete body must arrive within `linger_s`."""
        if self._reading is ReadingPhase.BODY:
            self._reading = ReadingPhase.REST
            self._arm(self._limits.linger_s)

    def stop(self) -> None:
        """Stop watching. Twice: no-op."""
        self._reading = ReadingPhase.NOTHING
        self._disarm()

    def _arm(self, seconds: float) -> None:
        self._disarm()
        self._timer = self._loop.call_later(seconds, self._expire)

    def _disarm(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _expire(self) -> None:
        self._timer = None
        if self._reading is ReadingPhase.BODY:
            seen = self._progress()
            if seen is None or seen - self._mark >= self._limits.body_bytes:
                self._mark = self._mark if seen is None else seen
                self._arm(self._limits.body_s)
                return
        silent = self._reading is ReadingPhase.REST or not self._begun
        self._reading = ReadingPhase.NOTHING
        self._refuse(0 if silent else 408)


class ConnectionLimit:
    """Connection counts per client address (IPv6: per /64 network), with a limit.

    exempt: networks without a limit, such as reverse proxies and this machine. per_address 0: no limit. total: of all
    addresses together; None: what the limit on open files allows.
    """

    def __init__(self, per_address: int, *, exempt: Iterable[str] = (), total: int | None = None) -> None:
        self._per_address = per_address
        self._exempt = [ipaddress.ip_network(each) for each in exempt]
        self._total = _spare_files() if total is None else total
        self._open: Counter[str] = Counter()
        self._all = 0
        self.client_of = lru_cache(4096)(self._named)

    def enter(self, address: str) -> int:
        """Count a new connection. Returns 0, or the status to refuse it with; a refused connection is not counted."""
        if self._all >= self._total:
            return 503
        key = self.client_of(address) if self._per_address else ""
        if key:
            if self._open[key] >= self._per_address:
                return 429
            self._open[key] += 1
        self._all += 1
        return 0

    def leave(self, address: str) -> None:
        """A counted connection has closed."""
        self._all -= 1
        if self._per_address and (key := self.client_of(address)):
            self._open[key] -= 1
            if not self._open[key]:
                del self._open[key]

    def _named(self, address: str) -> str:
        """The client that an address belongs to; "" if it is exempt."""
        try:
            known = ipaddress.ip_address(address)
        except ValueError:
            return ""
        if isinstance(known, ipaddress.IPv6Address) and known.ipv4_mapped:
            return self._named(str(known.ipv4_mapped))
        if any(known in network for network in self._exempt):
            return ""
        if known.version == 6:
            return str(ipaddress.ip_network((known, 64), strict=False))
        return str(known)


LOOPBACK = ("127.0.0.0/8", "::1/128")


def refusal(status: int, why: "NoRequest | None" = None) -> bytes:
    """A complete HTTP error response for input that is not a valid request. It closes the connection and is counted."""
    code, detail, hint = why or _REFUSALS[status]
    _REFUSED.labels(code).inc()
    phrase = HTTPStatus(status).phrase
    problem = {
        "type": "about:blank",
        "title": phrase,
        "status": status,
        "code": code,
        "detail": detail,
        "hint": hint,
        "field": None,
        "details": {},
        "request_id": "",
    }
    body = json.dumps(problem).encode()
    retry = "Retry-After: 5\r\n" if status in (429, 503) else ""
    head = (
        f"HTTP/1.1 {status} {phrase}\r\nContent-Type: application/problem+json\r\nContent-Length: {len(body)}\r\n"
        f"{retry}Cache-Control: no-store\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body


class NoRequest(NamedTuple):
    """Why a connection is refused before a request is parsed."""

    code: str
    detail: str
    hint: str


_REFUSALS = {
    400: NoRequest(
        "http.bad_request",
        "This is not a valid HTTP request.",
        "Check the request line, headers and framing.",
    ),
    408: NoRequest(
        "http.too_slow", "The request did not arrive in time.", "Try again over a faster connection."
    ),
    429: NoRequest(
        "http.too_many_connections",
        "Too many connections are open from this address.",
        "Close some, or reuse one for several requests.",
    ),
    431: NoRequest(
        "http.head_too_large",
        "The request line and headers are too large or too many.",
        "Send fewer and shorter headers; a browser may need to delete old cookies of this site.",
    ),
    503: NoRequest(
        "http.busy", "The server has reached its limit of connections.", "Try again in a few seconds."
    ),
}
for _refusal in _REFUSALS.values():
    _REFUSED.labels(_refusal.code)


def _spare_files() -> int:
    """Three quarters of the file descriptor limit: the rest is for the database, engines and files."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 1 << 20 if soft == resource.RLIM_INFINITY else max(64, soft * 3 // 4)
