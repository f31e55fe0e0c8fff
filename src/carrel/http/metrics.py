"""Metrics of the HTTP server: requests, how they ended, how long they took, and bytes.

Routes are named by their template, so that the number of series does not grow with what clients ask for.
"""

import time

from prometheus_client import Counter, Gauge, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_API = "/api/v1"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_UNMATCHED = "unmatched"
_PAGE = "page"
_SWITCHED = 101
_REFUSED = 403
_CLIENT_LEFT = 499

_REQUESTS = Counter(
    "carrel_http_requests_total",
    "Requests by route, method and status; 101 for a WebSocket that was opened, 499 when the client left before "
    "the response began.",
    ("route", "method", "status"),
)
_SECONDS = Histogram(
    "carrel_http_request_duration_seconds",
    "Time from the start of a request until its response begins.",
    ("route", "method"),
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
_OPEN = Gauge(
    "carrel_http_requests_in_progress",
    "Requests in progress; http includes event streams and downloads.",
    ("type",),
)
SENT = Counter("carrel_http_sent_bytes_total", "Bytes of response bodies, without WebSockets.")
RECEIVED = Counter("carrel_http_received_bytes_total", "Bytes of request bodies, without WebSockets.")

_counters: dict[tuple[str, str, int], Counter] = {}
_histograms: dict[tuple[str, str], Histogram] = {}
_open = {kind: _OPEN.labels(kind) for kind in ("http", "websocket")}


class Measured:
    """Wraps the application; outermost, so that it sees every response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        gauge = _open.get(scope["type"])
        if gauge is None:
            await self._app(scope, receive, send)
            return
        response = _Response(scope, receive, send)
        gauge.inc()
        try:
            await self._app(scope, response.receive, response.send)
        finally:
            gauge.dec()
            if not response.begun:
                _count(scope, _CLIENT_LEFT)


class _Response:
    """Counts a request when its response begins, and the bytes of both."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._since = time.perf_counter()
        self.begun = False

    async def receive(self) -> Message:
        message = await self._receive()
        # `Intake` counts what it reads from the socket.
        if body := message.get("body"):
            RECEIVED.inc(len(body))
        return message

    async def send(self, message: Message) -> None:
        kind = message["type"]
        if not self.begun:
            self._begin(kind, message)
        await self._send(message)
        # Ranges sent by sendfile are counted there.
        if kind == "http.response.body" and (body := message.get("body")):
            SENT.inc(len(body))

    def _begin(self, kind: str, message: Message) -> None:
        if kind in ("http.response.start", "websocket.http.response.start"):
            status = message["status"]
        elif kind == "websocket.accept":
            status = _SWITCHED
        elif kind == "websocket.close":
            status = _REFUSED
        else:
            return
        self.begun = True
        _count(self._scope, status, time.perf_counter() - self._since)


def _count(scope: Scope, status: int, seconds: float | None = None) -> None:
    route, method = _template(scope), _method(scope)
    counter = _counters.get((route, method, status))
    if counter is None:
        counter = _counters[route, method, status] = _REQUESTS.labels(route, method, str(status))
    counter.inc()
    if seconds is not None:
        histogram = _histograms.get((route, method))
        if histogram is None:
            histogram = _histograms[route, method] = _SECONDS.labels(route, method)
        histogram.observe(seconds)


def _template(scope: Scope) -> str:
    """The route's path as it is declared, such as /api/v1/sessions/{ref}."""
    path: str | None = getattr(scope.get("route"), "path", None)
    if path is None:
        return _UNMATCHED if scope["path"].startswith(_API) else _PAGE
    if scope["path"].startswith(_API) and not path.startswith(_API):
        return _API + path
    return path


def _method(scope: Scope) -> str:
    method: str = scope.get("method", "GET")
    return method if method in _METHODS else "OTHER"
