"""Queue order. A queue is notified of placements, after which fair-share queues re-rank."""

import heapq
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise, takewhile
from typing import Protocol

from carrel.scheduling.ceilings import total_slots
from carrel.scheduling.snapshot import GroupSnapshot, PendingSession, QueueOrder, ShareSnapshot, Slots

_NOTHING = ShareSnapshot()


class GroupQueue(Protocol):
    """line: every session once. placed, guarded: the last returned session was placed, or nodes are reserved for it."""

    def line(self, waiting: Iterable[PendingSession]) -> Iterator[PendingSession]: ...

    def placed(self, one: PendingSession) -> None: ...

    def guarded(self, one: PendingSession) -> None: ...


def queue(group: GroupSnapshot, capacity: Slots, now: datetime) -> GroupQueue:
    """The queue of a group: highest priority first, then the group's scheduler.

    capacity: total of all its nodes; shares are fractions of it.
    """
    if group.order in (QueueOrder.FIFO, QueueOrder.LIFO):
        return _Line(group, now)
    return _Fair(group, capacity, now)


def _by_arrival(waiting: Iterable[PendingSession]) -> list[PendingSession]:
    return sorted(waiting, key=lambda one: (one.since, one.id))


class _Line:
    """FIFO; or LIFO, except for sessions that have waited longer than the group's patience."""

    def __init__(self, group: GroupSnapshot, now: datetime) -> None:
        self._group = group
        self._now = now

    def line(self, waiting: Iterable[PendingSession]) -> Iterator[PendingSession]:
        line = _by_arrival(waiting)
        if self._group.order is QueueOrder.LIFO:
            patient = sum(self._now - one.since > self._group.patience for one in line)
            line[patient:] = reversed(line[patient:])
        return iter(sorted(line, key=lambda one: -one.priority))

    def placed(self, one: PendingSession) -> None:
        """Nothing depends on it."""

    def guarded(self, one: PendingSession) -> None:
        """Nothing depends on it."""


_Amounts = list[tuple[str, int, int]]
"""Slot, requested amount and capacity, for existing slots only."""


@dataclass(eq=False, slots=True)
class _ShareUsage:
    """The share of a domain, project or owner in the group. part: the dominant share, the largest fraction over all
    slots. level: part divided by weight. Both only grow during a plan.
    """

    share: ShareSnapshot
    held: dict[str, float]
    part: float = 0.0
    level: float = 0.0

    def take(self, amounts: _Amounts) -> None:
        held, past, part = self.held, self.share.past, self.part
        for slot, amount, most in amounts:
            now = held[slot] = held.get(slot, 0.0) + amount
            part = max(part, (now + past.get(slot, 0.0)) / most)
        self.part = part
        self.level = part / self.share.weight


_Entry = tuple[float, datetime, str, str, PendingSession]
"""Level, arrival and id of the next session, name of the claimant, and the next session."""


@dataclass(eq=False, slots=True)
class _Claimant:
    """A claimant among the pending sessions of one priority.

    heap: entries of children with pending sessions; below the top some may be outdated. line: only for an owner.
    entry: None if nothing is pending.
    """

    name: str
    usage: _ShareUsage
    children: dict[str, "_Claimant"] = field(default_factory=dict)
    heap: list[_Entry] = field(default_factory=list)
    line: deque[PendingSession] = field(default_factory=deque)
    entry: _Entry | None = None

    def enter(self) -> None:
        """Build the subtree before the first session is taken."""
        for child in self.children.values():
            child.enter()
        self.heap = [child.entry for child in self.children.values() if child.entry is not None]
        heapq.heapify(self.heap)
        self.entry = self._now()

    def renew(self, child: "_Claimant") -> None:
        """A session of the child was taken."""
        heap, children = self.heap, self.children
        before, now = child.entry, child._now()
        child.entry = now
        if now is not None and heap[0] is before:
            heapq.heapreplace(heap, now)
        elif now is not None:
            heapq.heappush(heap, now)
        while heap and heap[0] is not children[heap[0][3]].entry:
            heapq.heappop(heap)

    def _now(self) -> _Entry | None:
        if self.line:
            first = self.line[0]
        elif self.heap:
            first = self.heap[0][4]
        else:
            return None
        return self.usage.level, first.since, first.id, self.name, first


class _Fair:
    """The claimant with the smallest share goes next.

    DRF: among owners, by the dominant share of what they hold (Ghodsi et al., NSDI 2011). Fair share: among domains,
    then projects, then owners, by current and past usage (like Slurm's Fair Tree).

    The first starved session (pending longer than the group's starvation limit) goes before claimants whose share is
    smaller by no more than its request; otherwise two alternating claimants would keep taking each other's
    reservations. There is one per round, so that many old sessions do not turn the order into FIFO.
    """

    def __init__(self, group: GroupSnapshot, capacity: Slots, now: datetime) -> None:
        self._group = group
        self._capacity = capacity
        self._now = now
        self._usages: dict[tuple[str, ...], _ShareUsage] = {}
        # Root, domain, project and owner nodes of one priority, by path; for DRF only root and owner.
        self._ways: dict[tuple[str, ...], tuple[_Claimant, ...]] = {}
        self._starving: Iterator[PendingSession] = iter(())
        self._starved: PendingSession | None = None

    def line(self, waiting: Iterable[PendingSession]) -> Iterator[PendingSession]:
        bands: defaultdict[int, list[PendingSession]] = defaultdict(list)
        for one in _by_arrival(waiting):
            bands[one.priority].append(one)
        for priority in sorted(bands, reverse=True):
            yield from self._band(bands[priority])

    def placed(self, one: PendingSession) -> None:
        amounts = self._amounts(one)
        for claimant in self._ways[one.path][1:]:
            claimant.usage.take(amounts)
        self._one_went(one)

    def guarded(self, one: PendingSession) -> None:
        self._one_went(one)

    def _band(self, waiting: Sequence[PendingSession]) -> Iterator[PendingSession]:
        root = self._tree(waiting)
        gone: set[str] = set()
        # Sessions that are set aside do not represent their claimant (tests/unit/scheduling/test_plan_aside.py).
        patient = (one for one in waiting if not one.aside)
        self._starving = takewhile(lambda one: self._now - one.since > self._group.patience, patient)
        self._starved = next(self._starving, None)
        while root.heap:
            while self._starved is not None and self._starved.id in gone:
                self._starved = next(self._starving, None)
            starved, first = self._starved, root.heap[0][4]
            one = starved if starved is not None and self._goes_before(starved, first) else first
            way = self._ways[one.path]
            # A starved session leaves sessions that are set aside behind.
            way[-1].line.remove(one)
            gone.add(one.id)
            yield one
            for child, above in pairwise(reversed(way)):
                above.renew(child)

    def _one_went(self, one: PendingSession) -> None:
        if one is self._starved:
            self._starved = None
            self._starving = iter(())

    def _goes_before(self, starved: PendingSession, first: PendingSession) -> bool:
        for mine, other in zip(self._ways[starved.path], self._ways[first.path], strict=True):
            if mine is not other:
                demand = max((amount / most for _, amount, most in self._amounts(starved)), default=0.0)
                return mine.usage.level <= other.usage.level + demand / mine.usage.share.weight
        return True

    def _amounts(self, one: PendingSession) -> _Amounts:
        return [
            (slot, amount, most)
            for slot, amount in total_slots(one).items()
            if (most := self._capacity.get(slot))
        ]

    def _tree(self, waiting: Iterable[PendingSession]) -> _Claimant:
        root = _Claimant("", _ShareUsage(_NOTHING, {}))
        self._ways = {}
        for one in waiting:
            way = self._ways.get(one.path)
            if way is None:
                way = self._ways[one.path] = self._way(root, one)
            way[-1].line.append(one)
        root.enter()
        return root

    def _way(self, root: _Claimant, one: PendingSession) -> tuple[_Claimant, ...]:
        """From the root to its owner."""
        drf = self._group.order is QueueOrder.DRF
        way = [root]
        for path in (one.path[2:],) if drf else (one.path[:1], one.path[:2], one.path):
            children = way[-1].children
            if path[-1] not in children:
                children[path[-1]] = _Claimant(path[-1], self._usage(path))
            way.append(children[path[-1]])
        return tuple(way)

    def _usage(self, path: tuple[str, ...]) -> _ShareUsage:
        usage = self._usages.get(path)
        if usage is None:
            share = self._group.shares.get(path, _NOTHING)
            usage = self._usages[path] = _ShareUsage(share, dict(share.held))
            slots = share.held.keys() | share.past.keys()
            usage.take([(slot, 0, most) for slot in slots if (most := self._capacity.get(slot))])
        return usage
