"""Who is asked next. A queue is told of placements, after which those who share fairly rank anew."""

import heapq
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import takewhile
from typing import Protocol

from carrel.scheduling.snapshot import GroupView, Order, ShareView, Slots, Waiting

_NOTHING = ShareView()


class Queue(Protocol):
    """line: everybody once. placed, guarded: the one given last has got a place, or nodes are kept for it now."""

    def line(self, waiting: Iterable[Waiting]) -> Iterator[Waiting]: ...

    def placed(self, one: Waiting) -> None: ...

    def guarded(self, one: Waiting) -> None: ...


def queue(group: GroupView, capacity: Slots, now: datetime) -> Queue:
    """The queue of a group: by priority, the highest first, then as the group has it.

    capacity: of all its nodes together, what shares are parts of.
    """
    if group.order in (Order.FIFO, Order.LIFO):
        return _Line(group, now)
    return _Fair(group, capacity, now)


def _by_arrival(waiting: Iterable[Waiting]) -> list[Waiting]:
    return sorted(waiting, key=lambda one: (one.since, one.id))


class _Line:
    """First come, first served; or the other way round, but for those who have waited past the group's patience."""

    def __init__(self, group: GroupView, now: datetime) -> None:
        self._group = group
        self._now = now

    def line(self, waiting: Iterable[Waiting]) -> Iterator[Waiting]:
        line = _by_arrival(waiting)
        if self._group.order is Order.LIFO:
            patient = sum(self._now - one.since > self._group.patience for one in line)
            line[patient:] = reversed(line[patient:])
        return iter(sorted(line, key=lambda one: -one.priority))

    def placed(self, one: Waiting) -> None:
        """Nothing depends on it."""

    def guarded(self, one: Waiting) -> None:
        """Nothing depends on it."""


@dataclass
class _Standing:
    """What a domain, project or owner has of the group. level: their dominant share, by their weight."""

    share: ShareView
    held: dict[str, float]
    level: float = 0.0


@dataclass
class _Claimant:
    """One of them, of those with the same priority who wait.

    heap: (level, arrival of who is next, name) of children with somebody waiting; a child may only have fallen behind
    since. line: only of an owner.
    """

    standing: _Standing
    children: dict[str, "_Claimant"] = field(default_factory=dict)
    heap: list[tuple[float, datetime, str, str]] = field(default_factory=list)
    line: deque[Waiting] = field(default_factory=deque)

    def entry(self, name: str) -> tuple[float, datetime, str, str]:
        if self.line:
            return self.standing.level, self.line[0].since, self.line[0].id, name
        _, since, first, _ = self.heap[0]
        return self.standing.level, since, first, name


class _Fair:
    """Whoever has the smallest share goes next.

    DRF: among owners, by the dominant share of what they hold (Ghodsi et al., NSDI 2011). Fair share: among domains,
    in one among projects, in one among owners, by what they hold and have held (as Slurm's Fair Tree descends).

    The first of those who have waited past the group's patience (the elder) goes before anybody whose side has less
    by no more than the elder asks for: two sides that get their turns in quick succession would otherwise take from
    each other what is kept. One elder in each round, so that many who wait long do not turn it into first come,
    first served.
    """

    def __init__(self, group: GroupView, capacity: Slots, now: datetime) -> None:
        self._group = group
        self._capacity = capacity
        self._now = now
        self._standings: dict[tuple[str, ...], _Standing] = {}
        self._elders: Iterator[Waiting] = iter(())

    def line(self, waiting: Iterable[Waiting]) -> Iterator[Waiting]:
        bands: defaultdict[int, list[Waiting]] = defaultdict(list)
        for one in _by_arrival(waiting):
            bands[one.priority].append(one)
        for priority in sorted(bands, reverse=True):
            yield from self._band(bands[priority])

    def placed(self, one: Waiting) -> None:
        for path in self._paths(one):
            standing = self._standings[path]
            for slot, amount in one.slots.items():
                standing.held[slot] = standing.held.get(slot, 0.0) + amount * one.count
            standing.level = self._level(standing)
        self._one_went(one)

    def guarded(self, one: Waiting) -> None:
        self._one_went(one)

    def _band(self, waiting: Sequence[Waiting]) -> Iterator[Waiting]:
        root = self._tree(waiting)
        gone: set[str] = set()
        self._elders = takewhile(lambda one: self._now - one.since > self._group.patience, waiting)
        self._elder = next(self._elders, None)
        while (first := self._first(root)) is not None:
            while self._elder is not None and self._elder.id in gone:
                self._elder = next(self._elders, None)
            elder = self._elder
            one = elder if elder is not None and self._goes_before(elder, first) else first
            self._owner(root, one).line.popleft()
            gone.add(one.id)
            yield one

    def _one_went(self, one: Waiting) -> None:
        if one is self._elder:
            self._elder = None
            self._elders = iter(())

    def _goes_before(self, elder: Waiting, first: Waiting) -> bool:
        for mine, other in zip(self._paths(elder), self._paths(first), strict=True):
            if mine != other:
                standing = self._standings[mine]
                asks = self._share({slot: amount * elder.count for slot, amount in elder.slots.items()})
                return standing.level <= self._standings[other].level + asks / standing.share.weight
        return True

    def _tree(self, waiting: Iterable[Waiting]) -> _Claimant:
        root = _Claimant(_Standing(_NOTHING, {}))
        for one in waiting:
            here = root
            for path in self._paths(one):
                child = here.children.get(path[-1])
                if child is None:
                    child = here.children[path[-1]] = _Claimant(self._standing(path))
                here = child
            here.line.append(one)
        self._heapify(root)
        return root

    def _paths(self, one: Waiting) -> tuple[tuple[str, ...], ...]:
        if self._group.order is Order.DRF:
            return (one.path[2:],)
        return one.path[:1], one.path[:2], one.path

    def _owner(self, root: _Claimant, one: Waiting) -> _Claimant:
        here = root
        for path in self._paths(one):
            here = here.children[path[-1]]
        return here

    def _standing(self, path: tuple[str, ...]) -> _Standing:
        standing = self._standings.get(path)
        if standing is None:
            share = self._group.shares.get(path, _NOTHING)
            standing = self._standings[path] = _Standing(share, dict(share.held))
            standing.level = self._level(standing)
        return standing

    def _level(self, standing: _Standing) -> float:
        past = standing.share.past
        slots = standing.held.keys() | past.keys() if past else standing.held
        had = {slot: standing.held.get(slot, 0.0) + past.get(slot, 0.0) for slot in slots}
        return self._share(had) / standing.share.weight

    def _share(self, had: Mapping[str, float]) -> float:
        shares = [amount / most for slot, amount in had.items() if (most := self._capacity.get(slot))]
        return max(shares, default=0.0)

    def _heapify(self, claimant: _Claimant) -> None:
        for name, child in claimant.children.items():
            self._heapify(child)
            claimant.heap.append(child.entry(name))
        heapq.heapify(claimant.heap)

    def _first(self, claimant: _Claimant) -> Waiting | None:
        """Who is next under it, after its heap has been brought up to date."""
        if claimant.line:
            return claimant.line[0]
        while claimant.heap:
            name = claimant.heap[0][3]
            first = self._first(claimant.children[name])
            if first is None:
                heapq.heappop(claimant.heap)
            elif (now := claimant.children[name].entry(name)) != claimant.heap[0]:
                heapq.heapreplace(claimant.heap, now)
            else:
                return first
        return None
