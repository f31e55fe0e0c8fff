"""Metrics of the gateway: requests, bytes, connections, and unresponsive apps."""

from prometheus_client import Counter, Gauge, Histogram

_REQUESTS = Counter(
    "carrel_gateway_requests_total",
    "Requests by who answered (the app or the gateway itself) and class of the status; 1xx for a WebSocket that was "
    "opened, client_left when the client left before the response began.",
    ("responder", "status"),
)
DENIALS = Counter(
    "carrel_gateway_denials_total", "Requests that the gateway did not pass on to an app.", ("code",)
)
SECONDS = Histogram(
    "carrel_gateway_response_duration_seconds",
    "Time from passing on a request until the app's response begins.",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
_BYTES = Counter("carrel_gateway_bytes_total", "Bytes passed on, heads included.", ("direction",))
TO_APP = _BYTES.labels("to_app")
TO_CLIENT = _BYTES.labels("to_client")
_CONNECTIONS = Gauge(
    "carrel_gateway_connections_open",
    "Open connections: of clients, and to apps (idle ones included).",
    ("side",),
)
CLIENT_CONNECTIONS = _CONNECTIONS.labels("client")
APP_CONNECTIONS = _CONNECTIONS.labels("app")
SSH_CONNECTIONS = Gauge("carrel_gateway_ssh_connections_open", "Open SSH connections.")
WEBSOCKETS = Gauge("carrel_gateway_websockets_open", "Open WebSockets.")
UPSTREAM_ERRORS = Counter(
    "carrel_gateway_upstream_errors_total",
    "Apps that failed: unreachable, closed before the response, interrupted within it, or malformed.",
    ("cause",),
)
for _cause in ("unreachable", "closed", "interrupted", "malformed"):
    UPSTREAM_ERRORS.labels(_cause)

_CLASSES = ("1xx", "2xx", "3xx", "4xx", "5xx")
_by_app = [_REQUESTS.labels("app", name) for name in (*_CLASSES, "other")]
_by_gateway = [_REQUESTS.labels("gateway", name) for name in (*_CLASSES, "other")]
CLIENT_LEFT = _REQUESTS.labels("gateway", "client_left")


def answered_by_app(status: int) -> None:
    _by_app[_class(status)].inc()


def answered_by_gateway(status: int) -> None:
    _by_gateway[_class(status)].inc()


def _class(status: int) -> int:
    return status // 100 - 1 if 100 <= status < 600 else len(_CLASSES)
