"""Speed of planning: CPU time of one plan on an in-memory snapshot, by number of nodes and of pending sessions.

A plan is single-threaded and never blocks, so its CPU time equals its wall-clock time on an idle machine.
"""

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from unittest.mock import patch

from bench.load import median
from bench.table import Line
from carrel.core.ids import DEFAULT_GROUP, NodeId, SessionId
from carrel.scheduling import ranking
from carrel.scheduling.plan import plan
from carrel.scheduling.snapshot import (
    GroupSnapshot,
    NodeSnapshot,
    PendingSession,
    Plan,
    QueueOrder,
    ScopeSnapshot,
    Slots,
    Snapshot,
    Strategy,
)

_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_NODES = (100, 1_000, 10_000)
_WAITING = (1_000, 10_000, 100_000)
_PRESETS = 24
_DIFFERENT = 1_000_000
_OWNERS = 50


async def measure() -> list[Line]:
    return [*_thousand(), *_many(), *_curve(), *_misfits()]


def _thousand() -> Iterator[Line]:
    """A plan of typical size, for each strategy and order."""
    for shapes in (_PRESETS, _DIFFERENT):
        for strategy in Strategy:
            took = {
                order: _took(_snapshot(1_000, 1_000, shapes, strategy, order, busy=True), times=5)
                for order in QueueOrder
            }
            slowest = max(took, key=lambda order: took[order])
            ms = took[slowest] * 1000
            yield Line(
                f"plan, 1,000 nodes, 1,000 wait, {strategy}",
                f"{ms:.1f} ms",
                f"{_kinds(shapes)}, half in use; {slowest}, the slowest order",
                goal=50,
                value=ms,
            )


def _many() -> Iterator[Line]:
    """Placements per second at large scale."""
    cases = [(_PRESETS, strategy, QueueOrder.FIFO) for strategy in Strategy]
    cases += [(_DIFFERENT, strategy, QueueOrder.FIFO) for strategy in Strategy]
    others = [order for order in QueueOrder if order is not QueueOrder.FIFO]
    cases += [(_PRESETS, Strategy.DISPERSED, order) for order in others]
    cases += [(_DIFFERENT, Strategy.CONCENTRATED, order) for order in others]
    for shapes, strategy, order in cases:
        rate = 100_000 / _took(_snapshot(10_000, 100_000, shapes, strategy, order))
        yield Line(
            f"placements, 10,000 nodes, 100,000 wait, {strategy}",
            f"{rate:,.0f} /s",
            f"{_kinds(shapes)}; {order}",
            goal=20_000,
            best="high",
            value=rate,
        )


def _curve() -> Iterator[Line]:
    """Cost of one placement by nodes and by pending sessions; nodes have room for all."""
    kinds = [(strategy, _PRESETS) for strategy in Strategy]
    for strategy, shapes in [*kinds, (Strategy.CONCENTRATED, _DIFFERENT)]:
        cost: dict[int, float] = {}
        for waiting in _WAITING:
            for nodes in _NODES:
                snapshot = _snapshot(nodes, waiting, shapes, strategy, QueueOrder.FIFO, large=True)
                # Reading the nodes has a fixed cost, independent of the pending sessions.
                idle = _took(replace(snapshot, waiting=snapshot.waiting[:1]), times=3)
                cost[nodes] = (_took(snapshot) - idle) / waiting
                yield Line(
                    f"a placement, {nodes:,} nodes, {waiting:,} wait, {strategy}",
                    f"{cost[nodes] * 1e6:.1f} us",
                    f"{_kinds(shapes)}; fifo",
                )
        small, large = _NODES[0], _NODES[-1]
        yield Line(
            f"a placement, growth with nodes, {strategy}",
            f"{cost[large] * 1e6:.1f} us",
            f"{_kinds(shapes)}; {large:,} nodes against {small:,}, {waiting:,} wait; logarithms: 2",
            cost[large] / cost[small],
            f"{cost[small] * 1e6:.1f} us",
            2.0,
        )


def _misfits() -> Iterator[Line]:
    """Many sessions with the same request that no node can satisfy."""
    for strategy in Strategy:
        one, all_of_them = (_misfit(count, strategy) for count in (1, 100_000))
        with _looked() as single:
            plan(one)
        with _looked() as many:
            took = _took(all_of_them)
        yield Line(
            f"100,000 that fit nowhere, {strategy}",
            f"{len(many)} look-ups",
            f"all alike, 1,000 nodes; {took:.2f} s",
            len(many) / len(single),
            f"{len(single)} for one",
            1.0,
        )


@contextmanager
def _looked() -> Iterator[list[ranking.RequirementsState]]:
    """Record every search for a node."""
    looked: list[ranking.RequirementsState] = []

    def counting(best: Callable[..., int | None]) -> Callable[..., int | None]:
        def counted(self: ranking.Ranking, requirements: ranking.RequirementsState) -> int | None:
            looked.append(requirements)
            return best(self, requirements)

        return counted

    with ExitStack() as patched:
        for kind in (ranking.Dispersed, ranking.Concentrated, ranking.RoundRobin):
            patched.enter_context(patch.object(kind, "best", counting(kind.best)))
        yield looked


def _misfit(count: int, strategy: Strategy) -> Snapshot:
    snapshot = _snapshot(1_000, count, 1, strategy, QueueOrder.FIFO)
    return replace(snapshot, waiting=tuple(replace(one, slots={"cpu": 65_000}) for one in snapshot.waiting))


def _took(snapshot: Snapshot, *, times: int = 1) -> float:
    """CPU seconds of a plan."""
    took = []
    for _ in range(times):
        gc.collect()
        start = time.process_time()
        made: Plan = plan(snapshot)
        took.append(time.process_time() - start)
        assert len(made.placements) + len(made.refusals) == len(snapshot.waiting)
    return median(took)


def _snapshot(
    nodes: int,
    waiting: int,
    shapes: int,
    strategy: Strategy,
    order: QueueOrder,
    *,
    large: bool = False,
    busy: bool = False,
) -> Snapshot:
    """shapes: most distinct requests. large: room for all sessions. busy: half of the capacity is in use."""
    random = Random(1)
    times = max(waiting // nodes, 1) if large else 1
    capacity = {"cpu": 64_000 * times, "mem": (256 << 30) * times}
    kinds = [_slots(random) for _ in range(min(shapes, waiting))]
    return Snapshot(
        tuple(
            NodeSnapshot(NodeId(f"n{n:05}"), f"n{n:05}", capacity, _used(capacity, random) if busy else {})
            for n in range(nodes)
        ),
        tuple(
            PendingSession(
                SessionId(f"s{n:06}"),
                dict(kinds[n % len(kinds)]),
                _NOW - timedelta(milliseconds=waiting - n),
                path=("d", f"p{n % 5}", f"u{n % _OWNERS}"),
                scopes=("d", f"p{n % 5}", f"u{n % _OWNERS}"),
            )
            for n in range(waiting)
        ),
        _NOW,
        (GroupSnapshot(DEFAULT_GROUP, order=order, strategy=strategy),),
        {
            scope: ScopeSnapshot(scope, {"cpu": 10**12, "sessions": 10**9})
            for scope in ("d", *(f"p{n}" for n in range(5)), *(f"u{n}" for n in range(_OWNERS)))
        },
    )


def _used(capacity: Slots, random: Random) -> dict[str, int]:
    return {slot: random.randint(0, amount) for slot, amount in capacity.items()}


def _slots(random: Random) -> dict[str, int]:
    return {"cpu": 100 * random.randint(1, 80), "mem": random.randint(1, 1 << 15) << 20}


def _kinds(shapes: int) -> str:
    return f"{shapes} shapes" if shapes == _PRESETS else "all shapes different"
