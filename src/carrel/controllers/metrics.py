"""Metrics of the controllers: leadership, steps, and scheduler decisions."""

import time
from collections import Counter as Tally
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from prometheus_client import Counter, Gauge, Histogram

from carrel.scheduling.snapshot import Cause, Refusal

_STEP_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120)

_IS_LEADER = Gauge("carrel_leader", "1 while this process runs the controllers, else 0.")
_EPOCH = Gauge("carrel_leader_epoch", "Number of the last term that this process led; 0 when it never did.")
STEP_SECONDS = Histogram(
    "carrel_controller_step_duration_seconds",
    "Duration of a controller's steps.",
    ("controller",),
    buckets=_STEP_BUCKETS,
)
FAILURES = Counter("carrel_controller_failures_total", "Steps of a controller that failed.", ("controller",))
_LAST_SUCCESS = Gauge(
    "carrel_controller_last_success_timestamp_seconds",
    "When a controller's last successful step ended, or when its leader began; only of a process that leads.",
    ("controller",),
)
_INTERVAL = Gauge(
    "carrel_controller_interval_seconds",
    "How long a controller waits for a notification before it takes a step anyway.",
    ("controller",),
)
PLAN_SECONDS = Histogram(
    "carrel_scheduler_plan_duration_seconds",
    "Time to decide where everything that waits starts, without loading and writing.",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
)
PLACEMENTS = Counter("carrel_scheduler_placements_total", "Sessions that were given a node.")
_REFUSED = Gauge(
    "carrel_scheduler_refused_sessions",
    "Sessions that the last plan left waiting, by what was in the way.",
    ("cause",),
)


@contextmanager
def leading(epoch: int, intervals_s: Mapping[str, float]) -> Iterator[None]:
    """This process leads within the block. intervals_s: of its controllers, by name."""
    _IS_LEADER.set(1)
    _EPOCH.set(epoch)
    for controller, interval_s in intervals_s.items():
        # A controller that never finishes its first step must show up as late.
        succeeded(controller)
        _INTERVAL.labels(controller).set(interval_s)
        FAILURES.labels(controller)
    waiting(())
    try:
        yield
    finally:
        _IS_LEADER.set(0)
        _LAST_SUCCESS.clear()
        _INTERVAL.clear()
        _REFUSED.clear()


def succeeded(controller: str) -> None:
    _LAST_SUCCESS.labels(controller).set(time.time())


def waiting(refusals: Iterable[Refusal]) -> None:
    """Set the pending counts after a plan was applied."""
    causes = Tally[Cause]()
    for refusal in refusals:
        causes[refusal.cause] += 1 + refusal.behind
    for cause in Cause:
        _REFUSED.labels(cause).set(causes[cause])
