"""Which of the nodes with room, for each strategy, without looking at all of them where there are thousands.

Nodes are compared by the part of them that is free: of the slot that is scarcest there, or slot by slot where the
group says which come first. Those with accelerators that nobody asked for come last, but for round robin, which
compares nothing.

- "dispersed": one heap for all who ask for the same kinds of slots, the freest node first. While places are only
  taken a node only becomes worse, so an entry that is out of date is put back where it belongs now.
- "concentrated": all who ask for the same kinds of slots have the nodes on shelves, the fullest first (`shelves`).
  Nodes that changed since the shelves were last used are moved first.
- "round_robin": the next in line, looked for in ever longer stretches.
"""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from carrel.scheduling.devices import family_of
from carrel.scheduling.shape import Shape
from carrel.scheduling.shelves import Key, Shelves
from carrel.scheduling.snapshot import GroupView, Strategy
from carrel.scheduling.stock import Stock, Wanted

_TRIES = 32
"""So many of the freest nodes may lack room before all nodes are looked at."""
_STRETCH = 64
"""Round robin looks at so many nodes at first."""

Indexes = NDArray[np.intp]


@dataclass(eq=False, slots=True)
class Kind:
    """What shapes share that need the same slots of the same nodes: for them nodes compare alike.

    by: the slots that nodes are compared by. too_much: amounts for which none of the nodes that they may go to has
    room, of other slots too.
    """

    by: tuple[str, ...]
    admits: NDArray[np.bool_]
    spare: "Spare"
    too_much: list[Wanted]


@dataclass(eq=False, slots=True)
class Asked:
    """A shape, and what is known of it.

    expected: it was said that it will be asked for. full: no node has room. misfits: how much of what is too much it
    was compared with.
    """

    shape: Shape
    kind: Kind
    expected: bool = False
    full: bool = False
    misfits: int = 0


@dataclass(frozen=True)
class Spare:
    """How many families of accelerators of each node somebody has no use for. least: on any of them."""

    of: list[float]
    column: NDArray[np.float64]
    least: float


class Choice(Protocol):
    """best: the node for it; None when none has room. order: some nodes, the best first. took: a node was taken.
    begin: something was given back.
    """

    def best(self, asked: Asked) -> int | None: ...

    def order(self, asked: Asked, nodes: Indexes) -> Indexes: ...

    def took(self, index: int) -> None: ...

    def begin(self) -> None: ...


def with_room(stock: Stock, among: NDArray[np.bool_], wanted: Wanted) -> Indexes:
    """All nodes among these that have so much free."""
    for slot, amount in wanted:
        among = among & (stock.column(slot) >= amount)
    return np.flatnonzero(among)


def families_of(slots: Iterable[str]) -> frozenset[str]:
    """The accelerators that who asks for these has use for."""
    return frozenset(family for slot in slots if (family := family_of(slot)))


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
            fits = asked.kind.admits[here]
            for slot, amount in asked.shape.slots:
                fits = fits & (self._stock.column(slot)[here] >= amount)
            first = int(fits.argmax())
            if fits[first]:
                return start + first
            start, stretch = here.stop, stretch * 2
        return None


class _Compared:
    """What the strategies share that compare nodes. The best has the smallest key."""

    _sign: float

    def __init__(self, group: GroupView, stock: Stock) -> None:
        self._stock = stock
        self._prior = group.slot_priority

    def order(self, asked: Asked, nodes: Indexes) -> Indexes:
        """Of equals, the first by name."""
        # The last key is the first that counts.
        best_first: Indexes = np.lexsort((nodes, *reversed(self._keys(asked, nodes))))
        return nodes[best_first]

    def took(self, index: int) -> None:
        """It is among those that changed."""

    def look_up(self, asked: Asked) -> int | None:
        """The best of all nodes."""
        nodes = with_room(self._stock, asked.kind.admits, asked.shape.slots)
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
        left = [self._stock.parts(slot)[nodes] for slot in asked.kind.by]
        if not self._prior and left:
            left = [np.minimum.reduce(left)]
        return [asked.kind.spare.column[nodes], *(self._sign * one for one in left)]

    def _all(self, asked: Asked, nodes: Indexes) -> list[Key]:
        """As `_key` has it for each of them."""
        columns = [key.tolist() for key in self._keys(asked, nodes)]
        return list(zip(*columns, nodes.tolist(), strict=True))

    def _key(self, asked: Asked, index: int) -> Key:
        """As `_keys` has it for one, and its index."""
        free, capacity = self._stock.free[index], self._stock.nodes[index].capacity
        left = [free.get(slot, 0) / (capacity.get(slot) or 1) for slot in asked.kind.by]
        if not self._prior and left:
            return (asked.kind.spare.of[index], self._sign * min(left), index)
        return (asked.kind.spare.of[index], *(self._sign * one for one in left), index)


class Dispersed(_Compared):
    _sign = -1.0

    def __init__(self, group: GroupView, stock: Stock) -> None:
        super().__init__(group, stock)
        self._heaps: dict[Kind, list[Key]] = {}

    def best(self, asked: Asked) -> int | None:
        """The freest."""
        heap = self._heap(asked)
        aside: list[Key] = []
        found: int | None = None
        while heap and len(aside) < _TRIES:
            index = heap[0][-1]
            now = self._key(asked, index)
            if now != heap[0]:
                heapq.heapreplace(heap, now)
            elif not self._stock.holds(index, asked.shape.slots):
                aside.append(heapq.heappop(heap))
            else:
                found = index
                break
        for key in aside:
            heapq.heappush(heap, key)
        return self.look_up(asked) if found is None else found

    def begin(self) -> None:
        """A node may have become better."""
        self._heaps.clear()

    def _heap(self, asked: Asked) -> list[Key]:
        heap = self._heaps.get(asked.kind)
        if heap is None:
            heap = self._heaps[asked.kind] = self._all(asked, np.flatnonzero(asked.kind.admits))
            heapq.heapify(heap)
        return heap


class Concentrated(_Compared):
    _sign = 1.0

    def __init__(self, group: GroupView, stock: Stock) -> None:
        super().__init__(group, stock)
        self._shelves: dict[Kind, Shelves] = {}

    def best(self, asked: Asked) -> int | None:
        """The fullest that still has room."""
        if not asked.expected:
            # One question is not worth putting all nodes in order.
            return self.look_up(asked)
        slots = asked.shape.slots
        return self._up_to_date(asked).find(slots, (asked.kind.spare.least, self._least(slots)))

    def begin(self) -> None:
        """Those that have more free now are among those that changed."""

    def _least(self, slots: Wanted) -> float:
        """A node with room has this part of the largest node free, or more."""
        if self._prior:
            first = self._prior[0]
            return dict(slots).get(first, 0) / self._stock.largest(first)
        return min([amount / self._stock.largest(slot) for slot, amount in slots], default=0.0)

    def _up_to_date(self, asked: Asked) -> Shelves:
        changed = self._stock.changed
        shelves = self._shelves.get(asked.kind)
        if shelves is None or len(changed) - shelves.seen > len(self._stock.nodes):
            keys = self._all(asked, self.order(asked, np.flatnonzero(asked.kind.admits)))
            slots = [slot for slot, _ in asked.shape.slots]
            shelves = self._shelves[asked.kind] = Shelves(self._stock, slots, keys)
        elif shelves.seen < len(changed):
            for index in set(changed[shelves.seen :]):
                if index in shelves:
                    shelves.move(index, self._key(asked, index))
            shelves.seen = len(changed)
        return shelves
