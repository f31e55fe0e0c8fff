"""Who is asked next. Each queue may be told of a placement, after which those who share fairly rank anew."""

import heapq
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from carrel.scheduling.snapshot import GroupView, Order, ShareView, Slots, Waiting

_NOTHING = ShareView()


class Queue(Protocol):
    """Iterating gives everybody once. placed: the one given last has got a place."""

    def __iter__(self) -> Iterator[Waiting]: ...

    def placed(self, waiting: Waiting) -> None: ...


def queue(group: GroupView, waiting: Iterable[Waiting], capacity: Slots, now: datetime) -> Queue:
    """The queue of a group: by priority, the highest first, then as the group has it.

    capacity: of all its nodes together, what shares are parts of.
    """
    if group.order in (Order.FIFO, Order.LIFO):
        return _Line(group, waiting, now)
    return _Fair(group, waiting, capacity)


class _Line:
    """First come, first served; or the other way round, but for those who have waited past the group's patience."""

    def __init__(self, group: GroupView, waiting: Iterable[Waiting], now: datetime) -> None:
        def key(one: Waiting) -> tuple[int, bool, float, str]:
            at = one.since.timestamp()
            first = group.order is Order.FIFO or now - one.since > group.patience
            return -one.priority, not first, at if first else -at, one.id

        self._line = sorted(waiting, key=key)

    def __iter__(self) -> Iterator[Waiting]:
        return iter(self._line)

    def placed(self, waiting: Waiting) -> None:
        """Nothing depends on it."""


def _arrival(one: Waiting) -> tuple[float, str]:
    return one.since.timestamp(), one.id


@dataclass
class _Claimant:
    """A domain, project or owner: what they have, and who waits under them.

    heap: (share, arrival of who is next, name) of children with somebody waiting. line: only of an owner.
    """

    share: ShareView
    used: dict[str, float]
    children: dict[str, "_Claimant"] = field(default_factory=dict)
    heap: list[tuple[float, tuple[float, str], str]] = field(default_factory=list)
    line: deque[Waiting] = field(default_factory=deque)

    def first(self) -> tuple[float, str]:
        return _arrival(self.line[0]) if self.line else self.heap[0][1]

    def level(self, capacity: Slots) -> float:
        """Their dominant share of the group, by their weight."""
        shares = (amount / capacity[slot] for slot, amount in self.used.items() if capacity.get(slot))
        return max(shares, default=0.0) / self.share.weight


class _Fair:
    """Whoever has the smallest share goes next.

    DRF: among owners, by the dominant share of what they hold (Ghodsi et al., NSDI 2011). Fair share: among domains,
    in one among projects, in one among owners, by what they hold and have held (as Slurm's Fair Tree descends).
    """

    def __init__(self, group: GroupView, waiting: Iterable[Waiting], capacity: Slots) -> None:
        self._group = group
        self._capacity = capacity
        self._bands: defaultdict[int, list[Waiting]] = defaultdict(list)
        self._claimants: dict[tuple[str, ...], _Claimant] = {}
        self._descent: list[tuple[_Claimant, str]] = []
        for one in sorted(waiting, key=_arrival):
            self._bands[one.priority].append(one)

    def __iter__(self) -> Iterator[Waiting]:
        for priority in sorted(self._bands, reverse=True):
            root = self._tree(self._bands[priority])
            while root.heap:
                yield self._next(root)
                self._rank_again()

    def placed(self, waiting: Waiting) -> None:
        for parent, name in self._descent:
            used = parent.children[name].used
            for slot, amount in waiting.slots.items():
                used[slot] = used.get(slot, 0.0) + amount * waiting.count

    def _tree(self, waiting: Iterable[Waiting]) -> _Claimant:
        root = _Claimant(_NOTHING, {})
        for one in waiting:
            here = root
            for path in self._paths(one):
                child = here.children.get(path[-1])
                if child is None:
                    child = here.children[path[-1]] = self._fresh(path)
                here = child
            here.line.append(one)
        self._heapify(root)
        return root

    def _paths(self, one: Waiting) -> tuple[tuple[str, ...], ...]:
        if self._group.order is Order.DRF:
            return (one.path[2:],)
        return one.path[:1], one.path[:2], one.path

    def _fresh(self, path: tuple[str, ...]) -> _Claimant:
        """Of this band; what they have is the same object in every band."""
        known = self._claimants.get(path)
        if known is None:
            share = self._group.shares.get(path, _NOTHING)
            known = self._claimants[path] = _Claimant(share, _sum(share.held, share.past))
        return _Claimant(known.share, known.used)

    def _heapify(self, claimant: _Claimant) -> None:
        for name, child in claimant.children.items():
            self._heapify(child)
            claimant.heap.append((child.level(self._capacity), child.first(), name))
        heapq.heapify(claimant.heap)

    def _next(self, root: _Claimant) -> Waiting:
        self._descent = []
        here = root
        while here.heap:
            name = here.heap[0][2]
            self._descent.append((here, name))
            here = here.children[name]
        return here.line.popleft()

    def _rank_again(self) -> None:
        """Those on the way to the one just given; each is still the first of its heap."""
        for parent, name in reversed(self._descent):
            child = parent.children[name]
            if child.line or child.heap:
                entry = (child.level(self._capacity), child.first(), name)
                heapq.heapreplace(parent.heap, entry)
            else:
                heapq.heappop(parent.heap)


def _sum(left: Mapping[str, float], right: Mapping[str, float]) -> dict[str, float]:
    return {slot: left.get(slot, 0.0) + right.get(slot, 0.0) for slot in left.keys() | right.keys()}
