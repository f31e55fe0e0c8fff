"""Placement of the containers of one session one by one: where they differ, where not all nodes are connected, or where
the group has a topology.

The largest goes first, each to the best node that has room, on nodes of one network; what a failed attempt took is put
back. That finds no placement where only another order of the containers would fit: then the session waits.

With a topology, each goes to the best of the nodes that are the nearest to the others or the farthest from them. A
session that is placed together tries single nodes first, then the domains of each level, the narrowest level first;
among those of a level, the one that has the least room to spare, which leaves whole domains to larger sessions.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from carrel.core.slots import WHOLE
from carrel.scheduling import devices
from carrel.scheduling.free_capacity import FreeCapacity, NodeState
from carrel.scheduling.node_domains import Topology
from carrel.scheduling.ranking import Ranking, RequirementsState, with_room
from carrel.scheduling.requirements import Amounts, ContainerRequirements, SessionRequirements
from carrel.scheduling.snapshot import ContainerPlacement, NodeSnapshot, Slots

_Member = tuple[ContainerRequirements, Amounts]
_Mask = NDArray[np.bool_]


class Members:
    """For the nodes of one room. known: the state of what a container needs."""

    def __init__(
        self,
        capacity: FreeCapacity,
        topology: Topology,
        ranking: Ranking,
        known: Callable[[ContainerRequirements], RequirementsState],
    ) -> None:
        self._capacity = capacity
        self._topology = topology
        self._ranking = ranking
        self._known = known
        self._units = devices.units(capacity.nodes)
        names = [node.network for node in capacity.nodes]
        self._networks: list[_Mask] = [
            np.array([name == one for name in names], dtype=bool) for one in sorted(set(names))
        ]

    def place(self, request: SessionRequirements) -> tuple[ContainerPlacement, ...] | None:
        """Place all, or none."""
        for mask in self._masks(request):
            placed = self._attempt(request, mask)
            if placed is not None:
                for index, _ in placed:
                    self._ranking.took(index)
                return tuple(part for _, part in placed)
        return None

    def fits(self, request: SessionRequirements, *, kept_too: bool = False) -> bool:
        """True if `place` would succeed. kept_too: including reserved capacity."""
        capacity = self._capacity
        kept = dict(capacity.kept) if kept_too else {}
        if kept:
            capacity.keep_nothing()
        fits = any(self._attempt(request, mask, undo=True) is not None for mask in self._masks(request))
        for index, slots in kept.items():
            capacity.keep(index, slots)
        return fits

    def nearest(self, request: SessionRequirements) -> list[tuple[int, Slots]]:
        """The nodes that must free the least before all fit, with what the session takes of each; empty if it would
        not fit on empty nodes.
        """
        order = _largest_first(members_of(request), self._capacity)
        first = members_of(request)[order[0]][0]
        could = self._known(first).kind.admits
        masks = [could] if request.together else [mask & could for mask in self._widest(request)]
        missing = self._capacity.missing(_sum_of(request) if request.together else first.slots, 1)
        best: list[tuple[int, Slots]] = []
        least = np.inf
        for mask in masks:
            nodes = np.flatnonzero(mask)
            chosen: list[tuple[int, Slots]] = []
            left = [members_of(request)[number] for number in order]
            for index in nodes[np.lexsort((nodes, missing[nodes]))].tolist():
                rest, taken = _filled(self._capacity.nodes[index], left)
                if taken and not (request.together and rest):
                    chosen.append((index, taken))
                    left = rest
                if not left:
                    break
            released = missing[[index for index, _ in chosen]].sum()
            if not left and released < least:
                best, least = chosen, released
        return best

    def _masks(self, request: SessionRequirements) -> Iterator[_Mask]:
        """The sets of nodes that may take all of them, the preferred one first."""
        topology = self._topology
        if request.within and request.within not in topology.levels:
            return
        if request.together or request.narrowest:
            yield from self._single(request)
        narrower = (
            topology.levels[: topology.levels.index(request.within)] if request.within else topology.levels
        )
        for level in narrower if request.narrowest else ():
            yield from self._with_capacity(request, self._domains(request, level))
        if request.within:
            yield from self._with_capacity(request, topology.domains(request.within))
        elif not request.together:
            yield from self._networks

    def _widest(self, request: SessionRequirements) -> list[_Mask]:
        """Each network, or each domain that all of them have to be within."""
        if not request.within:
            return self._networks
        if request.within not in self._topology.levels:
            return []
        domains = self._topology.domains(request.within)
        return [domains == number for number in range(domains.max(initial=-1) + 1)]

    def _domains(self, request: SessionRequirements, level: str) -> NDArray[np.intp]:
        """As of the topology; of nodes that are in no domain of the required level, below 0."""
        domains = self._topology.domains(level)
        if not request.within:
            return domains
        return np.where(self._topology.domains(request.within) < 0, -1, domains)

    def _with_capacity(self, request: SessionRequirements, domains: NDArray[np.intp]) -> Iterator[_Mask]:
        """The domains that have as much free as all of them need, the one with the least to spare first. If they are
        alike, the nodes of a domain have room for that many.
        """
        among = np.flatnonzero(self._known(request.container).kind.admits & (domains >= 0))
        if not len(among):
            return
        mine = domains[among]
        spare = np.full(int(mine.max()) + 1, np.inf)
        enough = np.ones(len(spare), dtype=bool)
        for slot, amount in _sum_of(request):
            free, most = (
                np.bincount(mine, weights=column[among])
                for column in (self._capacity.column(slot), self._at_most(slot))
            )
            spare = np.minimum(spare, free / amount)
            enough &= most >= amount
        if not request.mixed:
            copies = np.full(len(among), request.count)
            for slot, amount in request.container.slots:
                copies = np.minimum(copies, self._at_most(slot)[among] // amount)
            enough &= np.bincount(mine, weights=copies) >= request.count
        for number in np.argsort(spare, kind="stable").tolist():
            if enough[number]:
                yield domains == number

    def _single(self, request: SessionRequirements) -> Iterator[_Mask]:
        largest = members_of(request)[_largest_first(members_of(request), self._capacity)[0]][0]
        state = self._known(largest)
        among = state.kind.admits
        if request.within:
            among = among & (self._topology.domains(request.within) >= 0)
        for slot, amount in _sum_of(request):
            among = among & (self._at_most(slot) >= amount)
        for index in self._ranking.order(state, np.flatnonzero(among)).tolist():
            mask: _Mask = np.zeros(len(self._capacity.nodes), dtype=bool)
            mask[index] = True
            yield mask

    def _at_most(self, slot: str) -> NDArray[np.int64]:
        """By node, no less than what several containers can get together."""
        # Of fractions of devices, and of devices in blocks, a column has what one container can get.
        unit = self._units.get(slot, devices.NO_DEVICE)
        if unit.in_blocks or unit.thousandths < WHOLE:
            return self._capacity.capacities(slot)
        return self._capacity.column(slot)

    def _attempt(
        self, request: SessionRequirements, mask: _Mask, *, undo: bool = False
    ) -> list[tuple[int, ContainerPlacement]] | None:
        """The node and placement of each in order, or None if one does not fit, with nothing taken."""
        members = members_of(request)
        before: dict[int, NodeState] = {}
        placed: dict[int, tuple[int, ContainerPlacement]] = {}
        for number in _largest_first(members, self._capacity):
            container, slots = members[number]
            state = self._known(container)
            nodes = with_room(self._capacity, state.kind.admits & mask, container.slots)
            if not len(nodes):
                break
            if self._topology.levels:
                used = [index for index, _ in placed.values()]
                choose = self._topology.nearest if request.narrowest else self._topology.farthest
                nodes = choose(nodes, used)
            index = int(self._ranking.order(state, nodes)[0])
            before.setdefault(index, self._capacity.state(index))
            placed[number] = (index, self._capacity.take(index, slots))
        complete = len(placed) == len(members)
        if undo or not complete:
            for index, state_of_node in before.items():
                self._capacity.restore(index, state_of_node)
        return [placed[number] for number in range(len(members))] if complete else None


def members_of(request: SessionRequirements) -> Sequence[_Member]:
    """What each container needs, with its slots."""
    return request.mixed or ((request.container, request.slots),) * request.count


def _sum_of(request: SessionRequirements) -> Amounts:
    total: dict[str, int] = {}
    for container, _ in members_of(request):
        for slot, amount in container.slots:
            total[slot] = total.get(slot, 0) + amount
    return tuple(sorted(total.items()))


def _largest_first(members: Sequence[_Member], capacity: FreeCapacity) -> list[int]:
    """By the largest part of a node that each takes; equals in order."""
    size = [
        max((amount / capacity.largest(slot) for slot, amount in container.slots), default=0.0)
        for container, _ in members
    ]
    return sorted(range(len(members)), key=lambda number: (-size[number], number))


def _filled(node: NodeSnapshot, members: Iterable[_Member]) -> tuple[list[_Member], dict[str, int]]:
    """Those that do not fit on the empty node, and what the others take of it."""
    empty = replace(node, used={}, devices=tuple(replace(device, used=0) for device in node.devices))
    capacity = FreeCapacity([empty])
    rest: list[_Member] = []
    taken: dict[str, int] = {}
    for container, slots in members:
        if capacity.holds(0, container.slots):
            capacity.take(0, slots)
            for slot, amount in container.slots:
                taken[slot] = taken.get(slot, 0) + amount
        else:
            rest.append((container, slots))
    return rest, taken
