"""Metrics of the worker threads of storage hosts."""

from collections.abc import Iterable, Iterator
from typing import Protocol
from weakref import WeakSet

from prometheus_client import REGISTRY, Metric
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.registry import Collector


class Work(Protocol):
    """Calls of one storage host: running, past their deadline, and waiting for a thread."""

    @property
    def host(self) -> str: ...

    @property
    def running(self) -> int: ...

    @property
    def stuck(self) -> int: ...

    @property
    def queued(self) -> int: ...


class _Hosts(Collector):
    """Reads the threads of all storage hosts of the process on each scrape."""

    def __init__(self) -> None:
        self._known: WeakSet[Work] = WeakSet()

    def add(self, work: Work) -> None:
        self._known.add(work)

    def describe(self) -> Iterable[Metric]:
        return [self._family()]

    def collect(self) -> Iterator[Metric]:
        family = self._family()
        known = list(self._known)
        for host in sorted({work.host for work in known}):
            same = [work for work in known if work.host == host]
            for state in ("running", "stuck", "queued"):
                family.add_metric((host, state), sum(getattr(work, state) for work in same))
        yield family

    def _family(self) -> GaugeMetricFamily:
        return GaugeMetricFamily(
            "carrel_storage_calls",
            "Calls to a storage host with a deadline: running (stuck ones included), stuck past the deadline, and "
            "queued for a thread.",
            labels=("host", "state"),
        )


HOSTS = _Hosts()
REGISTRY.register(HOSTS)
