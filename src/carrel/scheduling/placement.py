"""Where a container goes: the nodes of one group while a plan is made.

Nodes are compared by the part of them that is free: of the slot that is scarcest there, or slot by slot where the
group says which come first. Those with accelerators that nobody asked for come last. To find the best one among
thousands without looking at all of them:

- "dispersed": one heap for all who ask for the same kinds of slots, the freest node first. While places are only
  taken a node only becomes worse, so an entry that is out of date is put back where it belongs now.
- "concentrated": what is asked of a node is a `Shape`, and a heap for each shape holds the nodes with room for it,
  the fullest first. A node without room leaves it for good; those that changed since the shape was last asked for
  are entered anew. Few shapes stand behind many requests (presets do that); a rare one is looked up once over all
  nodes, with NumPy.

A shape that no node can take stays so, and is not looked up again.
"""

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from carrel.core.ids import NodeId, SessionId
from carrel.scheduling import devices, reasons
from carrel.scheduling.reasons import Blocked, NodeCause
from carrel.scheduling.snapshot import (
    ClusterMode,
    DeviceView,
    GroupView,
    NodeView,
    Part,
    Slots,
    Strategy,
    Waiting,
)

_RARE = 8
"""A shape asked for less often than this has no heap of its own."""
_TRIES = 32
"""So many of the freest nodes may lack room before all nodes are looked at."""

Key = tuple[float, ...]


@dataclass(frozen=True)
class Shape:
    """What a container needs of a node. Two that are equal are answered alike."""

    slots: tuple[tuple[str, int], ...]
    node: NodeId | None = None
    avoid: frozenset[NodeId] = frozenset()
    architecture: str = ""


def shape_of(one: Waiting, *, whole: bool = False) -> Shape:
    """Of one of its containers; whole: of all of them together."""
    times = one.count if whole else 1
    slots = tuple(sorted((slot, amount * times) for slot, amount in one.slots.items() if amount))
    return Shape(slots, one.node, one.avoid, one.architecture)


_Kind = tuple[Shape, int, ClusterMode]


@dataclass
class _Asked:
    """What is known of a shape. full: no node can take it any more, unless places have been given back since.

    by: the slots that nodes are compared by. heap: its own, or that of all who compare alike.
    """

    wanted: dict[str, int]
    by: tuple[str, ...]
    admits: NDArray[np.bool_]
    spare: "_Spare"
    heap: "_Heap"
    asked: int = 0
    full: bool = False


@dataclass(frozen=True)
class _Spare:
    """How many families of accelerators of each node somebody has no use for."""

    of: list[float]
    column: NDArray[np.float64]


@dataclass
class _Heap:
    """entries: None before the first use. seen, undone: how much had happened when it was last brought up to date."""

    entries: list[tuple[Key, int]] | None = None
    seen: int = 0
    undone: int = 0


@dataclass
class _Undo:
    index: int
    free: dict[str, int]
    devices: tuple[DeviceView, ...]


class Room:
    """The nodes of a group, by name, and what each has free."""

    def __init__(self, group: GroupView, nodes: Iterable[NodeView]) -> None:
        self.group = group
        self.nodes: Sequence[NodeView] = sorted(nodes, key=lambda node: node.name)
        self.devices = [node.devices for node in self.nodes]
        self.free = [self._free_of(index) for index in range(len(self.nodes))]
        self.claimed: frozenset[int] = frozenset()
        self._families = [{device.family for device in node.devices} for node in self.nodes]
        self._open = np.array([not node.closed for node in self.nodes], dtype=bool)
        self._columns: dict[str, NDArray[np.int64]] = {}
        self._capacities: dict[str, NDArray[np.int64]] = {}
        self._asked: dict[Shape, _Asked] = {}
        self._heaps: dict[object, _Heap] = {}
        self._spare: dict[frozenset[str | None], _Spare] = {}
        self._shapes: dict[SessionId, Shape] = {}
        self._misfits: set[_Kind] = set()
        self._blocked: dict[_Kind, Blocked] = {}
        self._changed: list[int] = []
        self._undone = 0
        self._sign = 1.0 if group.strategy is Strategy.CONCENTRATED else -1.0
        self._after = next((i for i, node in enumerate(self.nodes) if node.name > group.after), 0)

    def capacity(self) -> dict[str, int]:
        """Of the open nodes together."""
        total: dict[str, int] = {}
        for node in self.nodes:
            if not node.closed:
                for slot, amount in node.capacity.items():
                    total[slot] = total.get(slot, 0) + amount
        return total

    def expect(self, waiting: Iterable[Waiting]) -> None:
        """Say who will be asked for, so that each shape is looked up in the cheaper way."""
        for one in waiting:
            shape = self._shapes[one.id] = shape_of(one)
            self._known(shape).asked += 1

    def place(self, one: Waiting) -> tuple[Part, ...] | None:
        """Take places for all its containers, or for none."""
        places = self._place(one)
        if places is None and one.avoid:
            places = self._place(replace(one, avoid=frozenset()))
        return places

    def _place(self, one: Waiting) -> tuple[Part, ...] | None:
        if one.count == 1:
            index = self.best(self._shape(one))
            return None if index is None else (self._take(index, one.slots),)
        kind = (self._shape(one), one.count, one.mode)
        if kind in self._misfits:
            return None
        parts = self._on_one(one) if one.mode is ClusterMode.SINGLE_NODE else self._on_many(one)
        if parts is None:
            self._misfits.add(kind)
        return parts

    def _on_many(self, one: Waiting) -> tuple[Part, ...] | None:
        shape = shape_of(one)
        parts: list[Part] = []
        undo: list[_Undo] = []
        for _ in range(one.count):
            index = self.best(shape)
            if index is None:
                self._restore(undo)
                return None
            undo.append(_Undo(index, dict(self.free[index]), self.devices[index]))
            parts.append(self._take(index, one.slots))
        return tuple(parts)

    def _on_one(self, one: Waiting) -> tuple[Part, ...] | None:
        # With devices, room for the sum is not room for each: 600 and 600 do not go on 1200 of two.
        asked = self._known(shape_of(one, whole=True))
        for index in self._in_order(asked, self._fitting(asked, sums=True)):
            before = _Undo(index, dict(self.free[index]), self.devices[index])
            parts: list[Part] = []
            while len(parts) < one.count and self._holds(index, one.slots):
                parts.append(self._take(index, one.slots))
            if len(parts) == one.count:
                return tuple(parts)
            if parts:
                self._restore([before])
        return None

    def _shape(self, one: Waiting) -> Shape:
        known = self._shapes.get(one.id)
        return known if known and known.avoid == one.avoid else shape_of(one)

    def best(self, shape: Shape) -> int | None:
        """The node for it, by index; None when none has room that is not claimed."""
        asked = self._known(shape)
        if asked.full:
            return None
        strategy = self.group.strategy
        if strategy is Strategy.DISPERSED:
            return self._freest(asked)
        if strategy is Strategy.CONCENTRATED and asked.asked >= _RARE:
            return self._fullest(asked)
        return self._look_up(asked)

    def nearest(self, one: Waiting) -> list[int]:
        """The open nodes that have to free the least before it fits; none when it would not fit on empty ones."""
        whole = one.mode is ClusterMode.SINGLE_NODE
        shape = replace(shape_of(one, whole=whole), avoid=frozenset())
        could = [
            int(i)
            for i in np.flatnonzero(self._known(shape).admits)
            if self._empty_holds(int(i), shape.slots)
        ]
        could.sort(key=lambda index: (self._missing(index, shape.slots), index))
        chosen: list[int] = []
        held = 0
        for index in could:
            if held >= (1 if whole else one.count):
                break
            chosen.append(index)
            held += (
                min(self.nodes[index].capacity[slot] // amount for slot, amount in shape.slots)
                if shape.slots
                else one.count
            )
        return chosen if held >= (1 if whole else one.count) else []

    def blocked(self, one: Waiting) -> Blocked:
        """Why none of its nodes, or not enough of them, can take it."""
        kind = (self._shape(one), one.count, one.mode)
        if kind not in self._blocked:
            self._blocked[kind] = self._why(one)
        return self._blocked[kind]

    def _why(self, one: Waiting) -> Blocked:
        together = one.count > 1
        whole = one.mode is ClusterMode.SINGLE_NODE
        asked = self._known(replace(shape_of(one, whole=whole), avoid=frozenset()))
        fits = self._fitting(asked, sums=together and whole)
        if self.claimed and self._would_fit_on_claimed(one):
            names = [self.nodes[index].name for index in sorted(self.claimed)]
            return reasons.held_back(", ".join(names[:3]) + (" and others" if len(names) > 3 else ""))
        causes = []
        if together and fits.any():
            text = (
                "has room for one, not for all of it"
                if whole
                else f"has room, but not for all {one.count} containers"
            )
            causes.append(NodeCause(int(fits.sum()), text))
        return reasons.by_nodes([*causes, *self._causes(one, asked, ~fits)])

    def _would_fit_on_claimed(self, one: Waiting) -> bool:
        claimed, self.claimed = self.claimed, frozenset()
        misfits, self._misfits = self._misfits, set()
        before = [
            _Undo(index, dict(self.free[index]), self.devices[index]) for index in range(len(self.nodes))
        ]
        after = self._after
        fits = self._place(replace(one, avoid=frozenset())) is not None
        if fits:
            self._restore(before)
        self.claimed, self._misfits, self._after = claimed, misfits, after
        return fits

    def _causes(self, one: Waiting, asked: _Asked, left: NDArray[np.bool_]) -> list[NodeCause]:
        """These nodes by what keeps each from taking it."""
        counted: Counter[str] = Counter()
        for index in np.flatnonzero(left & ~asked.admits):
            node = self.nodes[index]
            if one.node is not None and node.id != one.node:
                counted["is not the one that was asked for"] += 1
            else:
                counted[node.closed or f"is {node.architecture}, needs {one.architecture}"] += 1
        causes = [NodeCause(count, text) for text, count in counted.items()]
        left = left & asked.admits
        for slot, amount in asked.wanted.items():
            short = left & (self._column(slot) < amount)
            if short.any():
                most = int(self._column(slot)[short].max())
                causes.append(reasons.short_of(int(short.sum()), slot, amount, most))
            left = left & ~short
        return sorted(causes, key=lambda cause: (-cause.count, cause.text))

    def _empty_holds(self, index: int, slots: Iterable[tuple[str, int]]) -> bool:
        return all(self.nodes[index].capacity.get(slot, 0) >= amount for slot, amount in slots)

    def _missing(self, index: int, slots: Iterable[tuple[str, int]]) -> float:
        """How much has to end there before there is room: the part of its capacity, slot by slot, summed."""
        free, capacity = self.free[index], self.nodes[index].capacity
        return sum(max(amount - free.get(slot, 0), 0) / capacity[slot] for slot, amount in slots)

    # What a node has.

    def _free_of(self, index: int) -> dict[str, int]:
        node, mine = self.nodes[index], self.devices[index]
        families = {device.family for device in mine}
        free: dict[str, int] = {}
        for slot, capacity in node.capacity.items():
            if devices.family_of(slot) in families:
                free[slot] = devices.available(mine, slot)
            else:
                free[slot] = max(capacity - node.used.get(slot, 0), 0)
        return free

    def _holds(self, index: int, slots: Slots) -> bool:
        free = self.free[index]
        return all(free.get(slot, 0) >= amount for slot, amount in slots.items() if amount)

    def _take(self, index: int, slots: Slots) -> Part:
        free = self.free[index]
        chosen: dict[str, Mapping[str, int]] = {}
        for slot, amount in slots.items():
            taken = self._take_devices(index, slot, amount) if amount and devices.family_of(slot) else None
            if taken is not None:
                chosen[slot] = taken
            elif amount:
                free[slot] -= amount
        self._note(index, free)
        if self.group.strategy is Strategy.ROUND_ROBIN:
            self._after = (index + 1) % len(self.nodes)
        return Part(self.nodes[index].id, chosen)

    def _take_devices(self, index: int, slot: str, amount: int) -> Mapping[str, int] | None:
        mine = self.devices[index]
        if not any(device.family == devices.family_of(slot) for device in mine):
            return None
        taken = devices.choose(mine, slot, amount)
        assert taken is not None, "asked for after looking"
        self.devices[index] = tuple(
            replace(device, used=device.used + taken[device.id]) if device.id in taken else device
            for device in mine
        )
        for other in self.free[index]:
            if devices.family_of(other) == devices.family_of(slot):
                self.free[index][other] = devices.available(self.devices[index], other)
        return taken

    def _note(self, index: int, free: Slots) -> None:
        for slot, column in self._columns.items():
            column[index] = free.get(slot, 0)
        self._changed.append(index)

    def _restore(self, undo: list[_Undo]) -> None:
        for before in reversed(undo):
            self.free[before.index] = before.free
            self.devices[before.index] = before.devices
            self._note(before.index, before.free)
        if undo:
            self._undone += 1
            for asked in self._asked.values():
                asked.full = False

    # Which node is best.

    def _known(self, shape: Shape) -> _Asked:
        asked = self._asked.get(shape)
        if asked is None:
            wanted = dict(shape.slots)
            by = self.group.slot_priority or tuple(wanted)
            spare = self._spare_for(frozenset(devices.family_of(slot) for slot in wanted))
            alike = (by, replace(shape, slots=())) if self.group.strategy is Strategy.DISPERSED else shape
            heap = self._heaps.setdefault(alike, _Heap())
            asked = self._asked[shape] = _Asked(wanted, by, self._admitting(shape), spare, heap)
        return asked

    def _admitting(self, shape: Shape) -> NDArray[np.bool_]:
        if not (shape.node or shape.avoid or shape.architecture):
            return self._open
        admitted: NDArray[np.bool_] = self._open & np.array(
            [
                (shape.node is None or node.id == shape.node)
                and node.id not in shape.avoid
                and (
                    not shape.architecture or not node.architecture or node.architecture == shape.architecture
                )
                for node in self.nodes
            ],
            dtype=bool,
        )
        return admitted

    def _spare_for(self, wanted: frozenset[str | None]) -> _Spare:
        spare = self._spare.get(wanted)
        if spare is None:
            counts = [float(len(families - wanted)) for families in self._families]
            spare = self._spare[wanted] = _Spare(counts, np.array(counts))
        return spare

    def _column(self, slot: str) -> NDArray[np.int64]:
        column = self._columns.get(slot)
        if column is None:
            column = np.fromiter((free.get(slot, 0) for free in self.free), np.int64, len(self.nodes))
            self._columns[slot] = column
        return column

    def _capacity_column(self, slot: str) -> NDArray[np.int64]:
        column = self._capacities.get(slot)
        if column is None:
            column = np.fromiter(
                (max(n.capacity.get(slot, 0), 1) for n in self.nodes), np.int64, len(self.nodes)
            )
            self._capacities[slot] = column
        return column

    def _fitting(self, asked: _Asked, *, sums: bool = False) -> NDArray[np.bool_]:
        """sums: of slots that are counted by device, only that there are as many in all."""
        fits = asked.admits.copy()
        for slot, amount in asked.wanted.items():
            if sums and devices.family_of(slot):
                fits &= self._capacity_column(slot) >= amount
            else:
                fits &= self._column(slot) >= amount
        return fits

    def _keys(self, asked: _Asked) -> list[NDArray[np.float64]]:
        """By what nodes are compared, the smallest first; as `_key` has it for one."""
        left = [self._column(slot) / self._capacity_column(slot) for slot in asked.by]
        if not self.group.slot_priority:
            left = [np.minimum.reduce(left)] if left else []
        return [asked.spare.column, *(self._sign * one for one in left)]

    def _key(self, asked: _Asked, index: int) -> Key:
        free, capacity = self.free[index], self.nodes[index].capacity
        left = [free.get(slot, 0) / (capacity.get(slot) or 1) for slot in asked.by]
        if self.group.slot_priority:
            return (asked.spare.of[index], *(self._sign * one for one in left))
        return (asked.spare.of[index], self._sign * min(left)) if left else (asked.spare.of[index],)

    def _in_order(self, asked: _Asked, fits: NDArray[np.bool_]) -> list[int]:
        """Those that fit and are not claimed, best first."""
        indexes = [int(index) for index in np.flatnonzero(fits) if int(index) not in self.claimed]
        if self.group.strategy is Strategy.ROUND_ROBIN:
            return sorted(indexes, key=lambda index: (index < self._after, index))
        return sorted(indexes, key=lambda index: (self._key(asked, index), index))

    def _look_up(self, asked: _Asked) -> int | None:
        fits = self._fitting(asked)
        if not fits.any():
            asked.full = True
            return None
        if self.claimed:
            fits[list(self.claimed)] = False
        candidates = np.flatnonzero(fits)
        if not len(candidates):
            return None
        if self.group.strategy is Strategy.ROUND_ROBIN:
            later = candidates[candidates >= self._after]
            return int(later[0] if len(later) else candidates[0])
        for key in self._keys(asked):
            values = key[candidates]
            candidates = candidates[values == values.min()]
        return int(candidates[0])

    def _freest(self, asked: _Asked) -> int | None:
        heap = self._entries(asked, asked.admits)
        aside: list[tuple[Key, int]] = []
        found = None
        while heap and len(aside) < _TRIES:
            key, index = heap[0]
            now = self._key(asked, index)
            if now != key:
                heapq.heapreplace(heap, (now, index))
            elif index in self.claimed or not self._holds(index, asked.wanted):
                aside.append(heapq.heappop(heap))
            else:
                found = index
                break
        for entry in aside:
            heapq.heappush(heap, entry)
        return self._look_up(asked) if found is None else found

    def _fullest(self, asked: _Asked) -> int | None:
        heap = self._entries(asked, None)
        for index in dict.fromkeys(self._changed[asked.heap.seen :]):
            if asked.admits[index] and self._holds(index, asked.wanted):
                heapq.heappush(heap, (self._key(asked, index), index))
        asked.heap.seen = len(self._changed)
        aside: list[tuple[Key, int]] = []
        found = None
        while heap:
            key, index = heap[0]
            # Out of date: it was entered anew.
            if not self._holds(index, asked.wanted) or self._key(asked, index) != key:
                heapq.heappop(heap)
            elif index in self.claimed:
                aside.append(heapq.heappop(heap))
            else:
                found = index
                break
        for entry in aside:
            heapq.heappush(heap, entry)
        asked.full = not heap
        return found

    def _entries(self, asked: _Asked, which: NDArray[np.bool_] | None) -> list[tuple[Key, int]]:
        """The heap, made when there is none or places were given back. which: the nodes in it; those with room."""
        heap = asked.heap
        if heap.entries is None or heap.undone != self._undone:
            nodes = np.flatnonzero(self._fitting(asked) if which is None else which)
            columns = [key[nodes].tolist() for key in self._keys(asked)]
            heap.entries = list(zip(zip(*columns, strict=True), nodes.tolist(), strict=True))
            heapq.heapify(heap.entries)
            heap.undone = self._undone
            heap.seen = len(self._changed)
        return heap.entries
