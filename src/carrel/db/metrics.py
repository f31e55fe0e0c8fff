"""Metrics of this process's database connections."""

from collections.abc import Iterable, Iterator
from typing import Protocol
from weakref import WeakSet

from prometheus_client import REGISTRY, Counter, Gauge, Histogram, Metric
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.registry import Collector

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15)

TRANSACTION_SECONDS = Histogram(
    "carrel_database_transaction_duration_seconds",
    "Duration of transactions, with the wait for a connection.",
    buckets=_BUCKETS,
)
QUERY_SECONDS = Histogram(
    "carrel_database_query_duration_seconds",
    "Duration of read-only statements outside transactions, with the wait for a connection.",
    buckets=_BUCKETS,
)
ERRORS = Counter(
    "carrel_database_errors_total",
    "Transactions and statements that failed for a reason of the database's, by the code of the problem.",
    ("code",),
)
LISTENERS = Gauge("carrel_database_listeners", "Connections that should be listening for notifications.")
LISTENERS_CONNECTED = Gauge(
    "carrel_database_listeners_connected", "Connections that are listening for notifications."
)


class PoolMetrics(Protocol):
    """A pool's metrics. size: maximum connections. waiting: callers that wait for one."""

    @property
    def kind(self) -> str: ...

    @property
    def size(self) -> int: ...

    @property
    def in_use(self) -> int: ...

    @property
    def idle(self) -> int: ...

    @property
    def waiting(self) -> int: ...


class _Pools(Collector):
    """Reads all pools of the process on each scrape."""

    def __init__(self) -> None:
        self._known: WeakSet[PoolMetrics] = WeakSet()

    def add(self, pool: PoolMetrics) -> None:
        self._known.add(pool)

    def describe(self) -> Iterable[Metric]:
        return self._families()

    def collect(self) -> Iterator[Metric]:
        connections, limit, waiting = self._families()
        pools = list(self._known)
        for kind in sorted({pool.kind for pool in pools}):
            same = [pool for pool in pools if pool.kind == kind]
            connections.add_metric((kind, "in_use"), sum(pool.in_use for pool in same))
            connections.add_metric((kind, "idle"), sum(pool.idle for pool in same))
            limit.add_metric((kind,), sum(pool.size for pool in same))
            waiting.add_metric((kind,), sum(pool.waiting for pool in same))
        yield from (connections, limit, waiting)

    def _families(self) -> list[GaugeMetricFamily]:
        return [
            GaugeMetricFamily(
                "carrel_database_connections",
                "Open connections: pool transactions for transactions, reads for read-only statements.",
                labels=("pool", "state"),
            ),
            GaugeMetricFamily(
                "carrel_database_connections_limit", "Connections that may be open at once.", labels=("pool",)
            ),
            GaugeMetricFamily(
                "carrel_database_connection_waiters", "Callers that wait for a connection.", labels=("pool",)
            ),
        ]


POOLS = _Pools()
REGISTRY.register(POOLS)
