"""Ranking of the nodes that have room, one class for each strategy, without looking at thousands of nodes each time.

Nodes are compared by their free fraction: that of the scarcest slot, or slot by slot where the group sets a slot
priority. Nodes with accelerators that were not requested come last; of nodes that are equal in all that, those that
have the image come first. Round robin compares nothing.

- "dispersed": one heap for all requests of the same slots, the node with the most free capacity first. A node's rank
  only falls while capacity is only taken, so an outdated entry is put back at its new place.
- "concentrated": one `CapacityIndex` for all requests of the same slots, the fullest node first. Nodes that changed
  since the index was last used are moved first.
- "round_robin": the next node in order, searched in ever longer stretches.
"""

import heapq
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from carrel.scheduling.capacity_index import CapacityIndex, Key
from carrel.scheduling.free_capacity import FreeCapacity, SlotAmountPairs
from carrel.scheduling.requirements import ContainerRequirements
from carrel.scheduling.snapshot import GroupSnapshot, Strategy

_TRIES = 32
"""This many of the freest nodes may lack room before all nodes are checked."""
_STRETCH = 64
"""Initial search length of round robin."""

Indexes = NDArray[np.intp]


@dataclass(eq=False, slots=True)
class RequirementsClass:
    """What all containers share that request the same slots of the same nodes: nodes rank alike for them.

    by: the slots that nodes are compared by. admits: the nodes that are allowed. too_much: amounts, of any slots, for
    which none of those nodes has room. pulls: None if all nodes are alike in that.
    """

    by: tuple[str, ...]
    admits: NDArray[np.bool_]
    spare: "UnusedAccelerators"
    too_much: list[SlotAmountPairs]
    pulls: "PullsNeeded | None" = None


@dataclass(eq=False, slots=True)
class RequirementsState:
    """What a container needs, and what is known of that during a plan.

    expected: another lookup will follow. full: no node has room. compared: how many entries of `too_much` it was
    compared with.
    """

    container: ContainerRequirements
    kind: RequirementsClass
    expected: bool = False
    full: bool = False
    compared: int = 0


@dataclass(frozen=True)
class UnusedAccelerators:
    """For each node, how many of its accelerator families were not requested. least: the smallest of these numbers."""

    of: list[float]
    column: NDArray[np.float64]
    least: float


@dataclass(frozen=True)
class PullsNeeded:
    """For each node, 1 if it would have to pull the image, otherwise 0."""

    of: list[float]
    column: NDArray[np.float64]


class Ranking(Protocol):
    """best: the best node with room, or None. order: given nodes, the best first. took: capacity of a node was taken.
    begin: capacity was given back.
    """

    def best(self, requirements: RequirementsState) -> int | None: ...

    def order(self, requirements: RequirementsState, nodes: Indexes) -> Indexes: ...

    def took(self, index: int) -> None: ...

    def begin(self) -> None: ...


def with_room(capacity: FreeCapacity, among: NDArray[np.bool_], amounts: SlotAmountPairs) -> Indexes:
    """The nodes among these with the requested amounts free."""
    for slot, amount in amounts:
        among = among & (capacity.column(slot) >= amount)
    return np.flatnonzero(among)


def ranking_of(group: GroupSnapshot, capacity: FreeCapacity) -> Ranking:
    """The ranking for the group's strategy."""
    match group.strategy:
        case Strategy.ROUND_ROBIN:
            return RoundRobin(group, capacity)
        case Strategy.CONCENTRATED:
            return Concentrated(group, capacity)
        case Strategy.DISPERSED:
            return Dispersed(group, capacity)


class RoundRobin:
    """after: the name to continue after."""

    def __init__(self, group: GroupSnapshot, capacity: FreeCapacity) -> None:
        self._capacity = capacity
        self._after = next((i for i, node in enumerate(capacity.nodes) if node.name > group.after), 0)

    def best(self, requirements: RequirementsState) -> int | None:
        index = self._between(requirements, self._after, len(self._capacity.nodes))
        return self._between(requirements, 0, self._after) if index is None else index

    def order(self, requirements: RequirementsState, nodes: Indexes) -> Indexes:
        return np.concatenate((nodes[nodes >= self._after], nodes[nodes < self._after]))

    def took(self, index: int) -> None:
        self._after = (index + 1) % len(self._capacity.nodes)

    def begin(self) -> None:
        """No-op: it checks free capacity on each call."""

    def _between(self, requirements: RequirementsState, start: int, end: int) -> int | None:
        stretch = _STRETCH
        while start < end:
            here = slice(start, min(start + stretch, end))
            fits = requirements.kind.admits[here]
            for slot, amount in requirements.container.slots:
                fits = fits & (self._capacity.column(slot)[here] >= amount)
            first = int(fits.argmax())
            if fits[first]:
                return start + first
            start, stretch = here.stop, stretch * 2
        return None


class _Compared:
    """Base of strategies that compare nodes. The best node has the smallest key."""

    _sign: float

    def __init__(self, group: GroupSnapshot, capacity: FreeCapacity) -> None:
        self._capacity = capacity
        self._prior = group.slot_priority

    def order(self, requirements: RequirementsState, nodes: Indexes) -> Indexes:
        """Ties are broken by name."""
        # lexsort: the last key is the primary one.
        best_first: Indexes = np.lexsort((nodes, *reversed(self._keys(requirements, nodes))))
        return nodes[best_first]

    def took(self, index: int) -> None:
        """No-op: it reads `changed`."""

    def look_up(self, requirements: RequirementsState) -> int | None:
        """The best node by a full scan."""
        nodes = with_room(self._capacity, requirements.kind.admits, requirements.container.slots)
        if not len(nodes):
            return None
        keys = self._keys(requirements, nodes)
        chosen = np.flatnonzero(keys[0] == keys[0].min())
        for key in keys[1:]:
            mine = key[chosen]
            chosen = chosen[mine == mine.min()]
        return int(nodes[chosen[0]])

    def _keys(self, requirements: RequirementsState, nodes: Indexes) -> list[NDArray[np.float64]]:
        """The comparison keys of nodes, most significant first."""
        left = [self._capacity.parts(slot)[nodes] for slot in requirements.kind.by]
        if not self._prior and left:
            left = [np.minimum.reduce(left)]
        keys = [requirements.kind.spare.column[nodes], *(self._sign * one for one in left)]
        return keys if requirements.kind.pulls is None else [*keys, requirements.kind.pulls.column[nodes]]

    def _all(self, requirements: RequirementsState, nodes: Indexes) -> list[Key]:
        """`_key` of each of them, vectorised."""
        columns = [key.tolist() for key in self._keys(requirements, nodes)]
        return list(zip(*columns, nodes.tolist(), strict=True))

    def _key(self, requirements: RequirementsState, index: int) -> Key:
        """The key of one node, with its index."""
        free, capacity = self._capacity.free[index], self._capacity.nodes[index].capacity
        left = [free.get(slot, 0) / (capacity.get(slot) or 1) for slot in requirements.kind.by]
        if not self._prior and left:
            left = [min(left)]
        pulls = requirements.kind.pulls
        tie = (index,) if pulls is None else (pulls.of[index], index)
        return (requirements.kind.spare.of[index], *(self._sign * one for one in left), *tie)


class Dispersed(_Compared):
    _sign = -1.0

    def __init__(self, group: GroupSnapshot, capacity: FreeCapacity) -> None:
        super().__init__(group, capacity)
        self._heaps: dict[RequirementsClass, list[Key]] = {}

    def best(self, requirements: RequirementsState) -> int | None:
        """The freest."""
        heap = self._heap(requirements)
        aside: list[Key] = []
        choice: int | None = None
        while heap and len(aside) < _TRIES:
            index = heap[0][-1]
            now = self._key(requirements, index)
            if now != heap[0]:
                heapq.heapreplace(heap, now)
            elif not self._capacity.holds(index, requirements.container.slots):
                aside.append(heapq.heappop(heap))
            else:
                choice = index
                break
        for key in aside:
            heapq.heappush(heap, key)
        return self.look_up(requirements) if choice is None else choice

    def begin(self) -> None:
        """A node may have improved."""
        self._heaps.clear()

    def _heap(self, requirements: RequirementsState) -> list[Key]:
        heap = self._heaps.get(requirements.kind)
        if heap is None:
            heap = self._heaps[requirements.kind] = self._all(
                requirements, np.flatnonzero(requirements.kind.admits)
            )
            heapq.heapify(heap)
        return heap


class Concentrated(_Compared):
    _sign = 1.0

    def __init__(self, group: GroupSnapshot, capacity: FreeCapacity) -> None:
        super().__init__(group, capacity)
        self._indexes: dict[RequirementsClass, CapacityIndex] = {}

    def best(self, requirements: RequirementsState) -> int | None:
        """The fullest node with room."""
        if not requirements.expected:
            # A single lookup does not justify sorting all nodes.
            return self.look_up(requirements)
        slots = requirements.container.slots
        return self._up_to_date(requirements).find(slots, (requirements.kind.spare.least, self._least(slots)))

    def begin(self) -> None:
        """No-op: nodes with released capacity are in `changed`."""

    def _least(self, slots: SlotAmountPairs) -> float:
        """Lower bound on the free fraction of a node with room."""
        if self._prior:
            first = self._prior[0]
            return dict(slots).get(first, 0) / self._capacity.largest(first)
        return min([amount / self._capacity.largest(slot) for slot, amount in slots], default=0.0)

    def _up_to_date(self, requirements: RequirementsState) -> CapacityIndex:
        changed = self._capacity.changed
        ordered = self._indexes.get(requirements.kind)
        if ordered is None or len(changed) - ordered.seen > len(self._capacity.nodes):
            keys = self._all(requirements, self.order(requirements, np.flatnonzero(requirements.kind.admits)))
            slots = [slot for slot, _ in requirements.container.slots]
            ordered = self._indexes[requirements.kind] = CapacityIndex(self._capacity, slots, keys)
        elif ordered.seen < len(changed):
            for index in set(changed[ordered.seen :]):
                if index in ordered:
                    ordered.move(index, self._key(requirements, index))
            ordered.seen = len(changed)
        return ordered
