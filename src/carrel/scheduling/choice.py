"""Which of the nodes with room, for each strategy, without looking at all of them where there are thousands.

Nodes are compared by the part of them that is free: of the slot that is scarcest there, or slot by slot where the
group says which come first. Those with accelerators that nobody asked for come last, but for round robin, which
compares nothing.

- "dispersed": one heap for all who ask for the same kinds of slots, the freest node first. While places are only
  taken a node only becomes worse, so an entry that is out of date is put back where it belongs now.
- "concentrated": a heap like it of the nodes with room for the least that any of them wants, the fullest first. A node
  without leaves it for good; those that changed since the heap was last used are entered anew. A shape that is asked
  for often has a heap of its own, without the nodes that have room for others only.
- "round_robin": the next in line, looked for in ever longer stretches.
"""

import heapq
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from carrel.scheduling.devices import family_of
from carrel.scheduling.shape import Shape
from carrel.scheduling.snapshot import GroupView, Strategy
from carrel.scheduling.stock import Stock, Wanted

_TRIES = 32
"""So many of the freest nodes may lack room before all nodes are looked at."""
_TRIES_FULL = 4
"""The same of the fullest, which lack room more often."""
_OFTEN = 1 / 32
"""A shape asked for so often for each node is worth a heap of its own."""
_STRETCH = 64
"""Round robin looks at so many nodes at first."""

Key = tuple[float, ...]
Indexes = NDArray[np.intp]


@dataclass(eq=False)
class Asked:
    """A shape, and what is known of it.

    by: the slots that nodes are compared by. kind: those alike compare nodes alike. times: how often it is asked for.
    full: no node has room. misfits: how many other shapes were known to have none when it was compared with them.
    """

    shape: Shape
    by: tuple[str, ...]
    admits: NDArray[np.bool_]
    spare: "Spare"
    times: int = 0
    full: bool = False
    misfits: int = 0

    def __post_init__(self) -> None:
        shape = self.shape
        slots = tuple(slot for slot, _ in shape.slots)
        self.kind = (slots, shape.node, shape.avoid, shape.architecture)


@dataclass(frozen=True)
class Spare:
    """How many families of accelerators of each node somebody has no use for."""

    of: list[float]
    column: NDArray[np.float64]


class Choice(Protocol):
    """expect: it will be asked for. best: the node for it; None when none has room. order: some nodes, the best first.
    took: a node was taken. begin: something was given back.
    """

    def expect(self, asked: Asked) -> None: ...

    def best(self, asked: Asked) -> int | None: ...

    def order(self, asked: Asked, nodes: Indexes) -> Indexes: ...

    def took(self, index: int) -> None: ...

    def begin(self) -> None: ...


def with_room(stock: Stock, among: NDArray[np.bool_], wanted: Wanted) -> Indexes:
    """All nodes among these that have so much free."""
    for slot, amount in wanted:
        among = among & (stock.column(slot) >= amount)
    return np.flatnonzero(among)


def families_of(shape: Shape) -> frozenset[str]:
    """The accelerators that it has use for."""
    return frozenset(family for slot, _ in shape.slots if (family := family_of(slot)))


def choice_of(group: GroupView, stock: Stock) -> "Choice":
    """As the group has it."""
    match group.strategy:
        case Strategy.ROUND_ROBIN:
            return RoundRobin(group, stock)
        case Strategy.CONCENTRATED:
            return Concentrated(group, stock)
        case Strategy.DISPERSED:
            return Dispersed(group, stock)


class RoundRobin:
    """after: where to go on."""

    def __init__(self, group: GroupView, stock: Stock) -> None:
        self._stock = stock
        self._after = next((i for i, node in enumerate(stock.nodes) if node.name > group.after), 0)

    def expect(self, asked: Asked) -> None:
        """Nothing is prepared."""

    def best(self, asked: Asked) -> int | None:
        found = self._between(asked, self._after, len(self._stock.nodes))
        return self._between(asked, 0, self._after) if found is None else found

    def order(self, asked: Asked, nodes: Indexes) -> Indexes:
        return np.concatenate((nodes[nodes >= self._after], nodes[nodes < self._after]))

    def took(self, index: int) -> None:
        self._after = (index + 1) % len(self._stock.nodes)

    def begin(self) -> None:
        """It looks at what is free each time."""

    def _between(self, asked: Asked, start: int, end: int) -> int | None:
        stretch = _STRETCH
        while start < end:
            here = slice(start, min(start + stretch, end))
            fits = asked.admits[here]
            for slot, amount in asked.shape.slots:
                fits = fits & (self._stock.column(slot)[here] >= amount)
            first = int(fits.argmax())
            if fits[first]:
                return start + first
            start, stretch = here.stop, stretch * 2
        return None


@dataclass
class _Heap:
    """least: nodes without that are not in it. seen: how much had changed when it was last brought up to date."""

    entries: list[tuple[Key, int]]
    least: Wanted
    seen: int


class _Compared:
    """What the strategies share that compare nodes. The best has the smallest key."""

    _sign: float

    def __init__(self, group: GroupView, stock: Stock) -> None:
        self._stock = stock
        self._prior = group.slot_priority
        self._heaps: dict[object, _Heap] = {}

    def order(self, asked: Asked, nodes: Indexes) -> Indexes:
        """Of equals, the first by name."""
        # The last key is the first that counts.
        best_first: Indexes = np.lexsort((nodes, *reversed(self._keys(asked, nodes))))
        return nodes[best_first]

    def expect(self, asked: Asked) -> None:
        """Nothing is prepared."""

    def took(self, index: int) -> None:
        """It is among those that changed."""

    def begin(self) -> None:
        """An entry may have become better, and a node that left may have room."""
        self._heaps.clear()

    def look_up(self, asked: Asked) -> int | None:
        """The best of all nodes."""
        nodes = with_room(self._stock, asked.admits, asked.shape.slots)
        if not len(nodes):
            return None
        keys = self._keys(asked, nodes)
        chosen = np.flatnonzero(keys[0] == keys[0].min())
        for key in keys[1:]:
            mine = key[chosen]
            chosen = chosen[mine == mine.min()]
        return int(nodes[chosen[0]])

    def _keys(self, asked: Asked, nodes: Indexes) -> list[NDArray[np.float64]]:
        """By what nodes are compared, what counts most first."""
        left = [self._stock.parts(slot)[nodes] for slot in asked.by]
        if not self._prior and left:
            left = [np.minimum.reduce(left)]
        return [asked.spare.column[nodes], *(self._sign * one for one in left)]

    def _key(self, asked: Asked, index: int) -> Key:
        """As `_keys` has it for one."""
        free, capacity = self._stock.free[index], self._stock.nodes[index].capacity
        left = [free.get(slot, 0) / (capacity.get(slot) or 1) for slot in asked.by]
        if not self._prior and left:
            left = [min(left)]
        return (asked.spare.of[index], *(self._sign * one for one in left))

    def _heap(self, alike: object, asked: Asked, nodes: Indexes, least: Wanted = ()) -> _Heap:
        columns = [key.tolist() for key in self._keys(asked, nodes)]
        entries = list(zip(zip(*columns, strict=True), nodes.tolist(), strict=True))
        heapq.heapify(entries)
        heap = self._heaps[alike] = _Heap(entries, least, len(self._stock.changed))
        return heap


class Dispersed(_Compared):
    _sign = -1.0

    def best(self, asked: Asked) -> int | None:
        """The freest."""
        heap = self._heaps.get(asked.kind) or self._heap(asked.kind, asked, np.flatnonzero(asked.admits))
        entries = heap.entries
        aside: list[tuple[Key, int]] = []
        found = None
        while entries and len(aside) < _TRIES:
            key, index = entries[0]
            now = self._key(asked, index)
            if now != key:
                heapq.heapreplace(entries, (now, index))
            elif not self._stock.holds(index, asked.shape.slots):
                aside.append(heapq.heappop(entries))
            else:
                found = index
                break
        for entry in aside:
            heapq.heappush(entries, entry)
        return self.look_up(asked) if found is None else found


class Concentrated(_Compared):
    _sign = 1.0

    def __init__(self, group: GroupView, stock: Stock) -> None:
        super().__init__(group, stock)
        self._least: dict[object, Wanted] = {}

    def expect(self, asked: Asked) -> None:
        """Together with all of its kind."""
        known = self._least.get(asked.kind, asked.shape.slots)
        self._least[asked.kind] = [
            (slot, min(amount, least))
            for (slot, amount), (_, least) in zip(asked.shape.slots, known, strict=True)
        ]

    def best(self, asked: Asked) -> int | None:
        """The fullest that still has room."""
        if not asked.times:
            # It may want less than anybody whom the heap is for.
            return self.look_up(asked)
        heap = self._up_to_date(asked)
        entries = heap.entries
        aside: list[tuple[Key, int]] = []
        found = None
        while entries and len(aside) < _TRIES_FULL:
            key, index = entries[0]
            # Out of date: it was entered anew.
            if self._key(asked, index) != key or not self._stock.holds(index, heap.least):
                heapq.heappop(entries)
            elif not self._stock.holds(index, asked.shape.slots):
                aside.append(heapq.heappop(entries))
            else:
                found = index
                break
        looked_at_all = not entries
        for entry in aside:
            heapq.heappush(entries, entry)
        return self.look_up(asked) if found is None and not looked_at_all else found

    def _up_to_date(self, asked: Asked) -> _Heap:
        own = asked.times >= _OFTEN * len(self._stock.nodes)
        alike: object = asked.shape if own else asked.kind
        heap = self._heaps.get(alike)
        if heap is None:
            least = asked.shape.slots if own else self._least[asked.kind]
            return self._heap(alike, asked, with_room(self._stock, asked.admits, least), least)
        changed = self._stock.changed
        for index in set(changed[heap.seen :]):
            if asked.admits[index] and self._stock.holds(index, heap.least):
                heapq.heappush(heap.entries, (self._key(asked, index), index))
        heap.seen = len(changed)
        return heap
