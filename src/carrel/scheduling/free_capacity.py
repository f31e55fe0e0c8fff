"""The free capacity of a group's nodes while a plan is made. Capacity is only taken; a trial puts back what it took.

Part of a node's free capacity may be reserved for one session. Other sessions then get what exceeds the reservation of
each reserved slot, and none of the accelerators of a reserved family.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from carrel.scheduling import devices
from carrel.scheduling.snapshot import ContainerPlacement, DeviceSnapshot, NodeSnapshot, Slots

SlotAmountPairs = Sequence[tuple[str, int]]
"""Slots and amounts of a `ContainerRequirements`."""
NodeState = tuple[dict[str, int], tuple[DeviceSnapshot, ...]]


class FreeCapacity:
    """free: of each node, what sessions without a reservation may take. changed: indexes of nodes, in order of change.
    kept: reservations, by index of the node and slot. families: of each node, the slots of its accelerators, and the
    family of each.
    """

    def __init__(self, nodes: Sequence[NodeSnapshot]) -> None:
        self.nodes = nodes
        self.families = [devices.families(node.devices) if node.devices else {} for node in nodes]
        self.changed: list[int] = []
        self._devices = [node.devices for node in nodes]
        self._left = [self._at_first(index) for index in range(len(nodes))]
        self.free = list(self._left)
        self.kept: dict[int, Slots] = {}
        self._columns: dict[str, NDArray[np.int64]] = {}
        self._capacities: dict[str, NDArray[np.int64]] = {}
        self._largest: dict[str, int] = {}

    def take(self, index: int, slots: Iterable[tuple[str, int]]) -> ContainerPlacement:
        """Take one container's slots, after `holds` or `copies` found room. slots: sorted."""
        left = self._left[index]
        chosen: dict[str, Mapping[str, int]] = {}
        for slot, amount in slots:
            if amount and slot in self.families[index]:
                chosen[slot] = self._take_devices(index, slot, amount)
            elif amount:
                left[slot] -= amount
        self._note(index)
        return ContainerPlacement(self.nodes[index].id, chosen)

    def state(self, index: int) -> NodeState:
        """What is free on a node, for `restore`."""
        return dict(self._left[index]), self._devices[index]

    def restore(self, index: int, state: NodeState) -> None:
        """Put back what was taken since."""
        left, self._devices[index] = state
        # In place: without a reservation, `free` has the same object.
        self._left[index].clear()
        self._left[index].update(left)
        self._note(index)

    def keep(self, index: int, slots: Slots) -> None:
        """Reserve this much of the node."""
        self.kept[index] = slots
        self._note(index)

    def keep_nothing(self) -> None:
        """Release the reservation."""
        kept, self.kept = self.kept, {}
        for index in kept:
            self._note(index)

    def holds(self, index: int, amounts: SlotAmountPairs) -> bool:
        """True if the node has room for one container."""
        free = self.free[index]
        return all(free.get(slot, 0) >= amount for slot, amount in amounts)

    def copies(self, index: int, amounts: SlotAmountPairs, most: int, *, kept_too: bool = False) -> int:
        """How many such containers fit on the node, up to `most`. kept_too: including reserved capacity."""
        free = (self._left if kept_too else self.free)[index]
        for slot, amount in amounts:
            most = min(most, free.get(slot, 0) and self._times(index, slot, amount, free[slot], most))
        return most

    def copies_when_empty(self, index: int, amounts: SlotAmountPairs, most: int) -> int:
        """How many would fit on the empty node."""
        node = self.nodes[index]
        for slot, amount in amounts:
            capacity = node.capacity.get(slot, 0)
            most = min(most, capacity // amount)
            if most and slot in self.families[index]:
                fresh = [replace(device, used=0) for device in node.devices]
                most = min(most, devices.copies(fresh, slot, amount, most))
        return most

    def column(self, slot: str) -> NDArray[np.int64]:
        """Free amount of a slot by node."""
        column = self._columns.get(slot)
        if column is None:
            column = np.fromiter((free.get(slot, 0) for free in self.free), np.int64, len(self.nodes))
            self._columns[slot] = column
        return column

    def with_kept(self, slot: str) -> NDArray[np.int64]:
        """Free amount of a slot by node, including reserved capacity."""
        column = self.column(slot)
        if self.kept:
            column = column.copy()
            for index in self.kept:
                column[index] = self._left[index].get(slot, 0)
        return column

    def parts(self, slot: str) -> NDArray[np.float64]:
        """Free fraction of a slot by node."""
        parts: NDArray[np.float64] = self.column(slot) / np.maximum(self.capacities(slot), 1)
        return parts

    def capacities(self, slot: str) -> NDArray[np.int64]:
        """Capacity of a slot by node."""
        column = self._capacities.get(slot)
        if column is None:
            column = np.fromiter(
                (node.capacity.get(slot, 0) for node in self.nodes), np.int64, len(self.nodes)
            )
            self._capacities[slot] = column
        return column

    def largest(self, slot: str) -> int:
        """The largest capacity of a slot on any node; 1 if there is none."""
        largest = self._largest.get(slot)
        if largest is None:
            largest = self._largest[slot] = max(int(self.capacities(slot).max(initial=0)), 1)
        return largest

    def missing(self, amounts: SlotAmountPairs, times: int) -> NDArray[np.float64]:
        """How much must be released on each node before the request fits: the fraction of its capacity, summed over
        slots.
        """
        total = np.zeros(len(self.nodes))
        for slot, amount in amounts:
            short = np.maximum(amount * times - self.column(slot), 0)
            total += short / np.maximum(self.capacities(slot), 1)
        return total

    def _at_first(self, index: int) -> dict[str, int]:
        node = self.nodes[index]
        return {
            slot: self._of_devices(index, slot)
            if slot in self.families[index]
            else max(capacity - node.used.get(slot, 0), 0)
            for slot, capacity in node.capacity.items()
        }

    def _of_devices(self, index: int, slot: str) -> int:
        """The most that one container could get, given that some devices may be reserved."""
        mine = self._devices[index]
        unit = devices.unit(mine, slot)
        under = self.nodes[index].capacity.get(slot, 0) - -(-devices.used(mine, slot) // unit)
        return max(min(devices.available(mine, slot), under), 0)

    def _times(self, index: int, slot: str, amount: int, free: int, most: int) -> int:
        if slot not in self.families[index]:
            return free // amount
        mine = self._devices[index]
        unit = devices.unit(mine, slot)
        under = self.nodes[index].capacity[slot] * unit - devices.used(mine, slot)
        return min(devices.copies(mine, slot, amount, most), under // (amount * unit))

    def _take_devices(self, index: int, slot: str, amount: int) -> Mapping[str, int]:
        taken = devices.choose(self._devices[index], slot, amount)
        assert taken is not None, "asked for after looking"
        self._devices[index] = tuple(
            replace(device, used=device.used + taken[device.id]) if device.id in taken else device
            for device in self._devices[index]
        )
        left, families = self._left[index], self.families[index]
        for other in left:
            if families.get(other) == families[slot]:
                left[other] = self._of_devices(index, other)
        return taken

    def _note(self, index: int) -> None:
        self.free[index] = free = self._beyond(index) if index in self.kept else self._left[index]
        for slot, column in self._columns.items():
            column[index] = free.get(slot, 0)
        self.changed.append(index)

    def _beyond(self, index: int) -> dict[str, int]:
        kept = self.kept[index]
        families = self.families[index]
        closed = {families[slot] for slot in kept if slot in families}
        return {
            slot: 0 if families.get(slot) in closed else max(left - kept.get(slot, 0), 0)
            for slot, left in self._left[index].items()
        }
