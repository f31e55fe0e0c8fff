"""Who is asked next. A queue is told of placements, after which those who share fairly rank anew."""

import heapq
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise, takewhile
from typing import Protocol

from carrel.scheduling.snapshot import GroupSnapshot, PendingSession, QueueOrder, ShareSnapshot, Slots

_NOTHING = ShareSnapshot()


class GroupQueue(Protocol):
    """line: everybody once. placed, guarded: the one given last has got a place, or nodes are kept for it now."""

    def line(self, waiting: Iterable[PendingSession]) -> Iterator[PendingSession]: ...

    def placed(self, one: PendingSession) -> None: ...

    def guarded(self, one: PendingSession) -> None: ...


def queue(group: GroupSnapshot, capacity: Slots, now: datetime) -> GroupQueue:
    """The queue of a group: by priority, the highest first, then as the group has it.

    capacity: of all its nodes together, what shares are parts of.
    """
    if group.order in (QueueOrder.FIFO, QueueOrder.LIFO):
        return _Line(group, now)
    return _Fair(group, capacity, now)


def _by_arrival(waiting: Iterable[PendingSession]) -> list[PendingSession]:
    return sorted(waiting, key=lambda one: (one.since, one.id))


class _Line:
    """First come, first served; or the other way round, but for those who have waited past the group's patience."""

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


_Asks = list[tuple[str, int, int]]
"""Slot, how much is asked of it, and how much of it there is. Only of slots that there are."""


@dataclass(eq=False, slots=True)
class _Standing:
    """What a domain, project or owner has of the group. part: the largest of what they have had of each slot, as a
    part of all there is. level: the same by their weight. Both only grow.
    """

    share: ShareSnapshot
    held: dict[str, float]
    part: float = 0.0
    level: float = 0.0

    def take(self, asks: _Asks) -> None:
        held, past, part = self.held, self.share.past, self.part
        for slot, amount, most in asks:
            now = held[slot] = held.get(slot, 0.0) + amount
            part = max(part, (now + past.get(slot, 0.0)) / most)
        self.part = part
        self.level = part / self.share.weight


_Entry = tuple[float, datetime, str, str, PendingSession]
"""Level, arrival and id of who is next, name of the claimant, and who is next."""


@dataclass(eq=False, slots=True)
class _Claimant:
    """One of them, of those with the same priority who wait.

    heap: entries of children with somebody waiting; below the top also some that were renewed since. line: only of an
    owner. entry: None when nobody waits.
    """

    name: str
    standing: _Standing
    children: dict[str, "_Claimant"] = field(default_factory=dict)
    heap: list[_Entry] = field(default_factory=list)
    line: deque[PendingSession] = field(default_factory=deque)
    entry: _Entry | None = None

    def enter(self) -> None:
        """With everybody under it, before anybody is asked."""
        for child in self.children.values():
            child.enter()
        self.heap = [child.entry for child in self.children.values() if child.entry is not None]
        heapq.heapify(self.heap)
        self.entry = self._now()

    def renew(self, child: "_Claimant") -> None:
        """One of the child's was asked."""
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
        return self.standing.level, first.since, first.id, self.name, first


class _Fair:
    """Whoever has the smallest share goes next.

    DRF: among owners, by the dominant share of what they hold (Ghodsi et al., NSDI 2011). Fair share: among domains,
    in one among projects, in one among owners, by what they hold and have held (as Slurm's Fair Tree descends).

    The first of those who have waited past the group's patience (the elder) goes before anybody whose side has less
    by no more than the elder asks for: two sides that get their turns in quick succession would otherwise take from
    each other what is kept. One elder in each round, so that many who wait long do not turn it into first come,
    first served.
    """

    def __init__(self, group: GroupSnapshot, capacity: Slots, now: datetime) -> None:
        self._group = group
        self._capacity = capacity
        self._now = now
        self._standings: dict[tuple[str, ...], _Standing] = {}
        # Root, domain, project and owner of everybody with the same priority, by path; of DRF root and owner.
        self._ways: dict[tuple[str, ...], tuple[_Claimant, ...]] = {}
        self._elders: Iterator[PendingSession] = iter(())
        self._elder: PendingSession | None = None

    def line(self, waiting: Iterable[PendingSession]) -> Iterator[PendingSession]:
        bands: defaultdict[int, list[PendingSession]] = defaultdict(list)
        for one in _by_arrival(waiting):
            bands[one.priority].append(one)
        for priority in sorted(bands, reverse=True):
            yield from self._band(bands[priority])

    def placed(self, one: PendingSession) -> None:
        asks = self._asks(one)
        for claimant in self._ways[one.path][1:]:
            claimant.standing.take(asks)
        self._one_went(one)

    def guarded(self, one: PendingSession) -> None:
        self._one_went(one)

    def _band(self, waiting: Sequence[PendingSession]) -> Iterator[PendingSession]:
        root = self._tree(waiting)
        gone: set[str] = set()
        # Who is set aside speaks for nobody (tests/unit/scheduling/test_plan_aside.py).
        patient = (one for one in waiting if not one.aside)
        self._elders = takewhile(lambda one: self._now - one.since > self._group.patience, patient)
        self._elder = next(self._elders, None)
        while root.heap:
            while self._elder is not None and self._elder.id in gone:
                self._elder = next(self._elders, None)
            elder, first = self._elder, root.heap[0][4]
            one = elder if elder is not None and self._goes_before(elder, first) else first
            way = self._ways[one.path]
            # Of who is set aside an elder leaves some behind.
            way[-1].line.remove(one)
            gone.add(one.id)
            yield one
            for child, above in pairwise(reversed(way)):
                above.renew(child)

    def _one_went(self, one: PendingSession) -> None:
        if one is self._elder:
            self._elder = None
            self._elders = iter(())

    def _goes_before(self, elder: PendingSession, first: PendingSession) -> bool:
        for mine, other in zip(self._ways[elder.path], self._ways[first.path], strict=True):
            if mine is not other:
                asks = max((amount / most for _, amount, most in self._asks(elder)), default=0.0)
                return mine.standing.level <= other.standing.level + asks / mine.standing.share.weight
        return True

    def _asks(self, one: PendingSession) -> _Asks:
        return [
            (slot, amount * one.count, most)
            for slot, amount in one.slots.items()
            if (most := self._capacity.get(slot))
        ]

    def _tree(self, waiting: Iterable[PendingSession]) -> _Claimant:
        root = _Claimant("", _Standing(_NOTHING, {}))
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
                children[path[-1]] = _Claimant(path[-1], self._standing(path))
            way.append(children[path[-1]])
        return tuple(way)

    def _standing(self, path: tuple[str, ...]) -> _Standing:
        standing = self._standings.get(path)
        if standing is None:
            share = self._group.shares.get(path, _NOTHING)
            standing = self._standings[path] = _Standing(share, dict(share.held))
            slots = share.held.keys() | share.past.keys()
            standing.take([(slot, 0, most) for slot in slots if (most := self._capacity.get(slot))])
        return standing
