"""Placement on the nodes of one group during a plan: all containers of a session or none, and the reasons why not.

Requirements that no node can meet stay unmet during a plan, and so do larger ones; they are not looked up again.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from carrel.core.ids import NodeId
from carrel.core.slots import DeviceShares
from carrel.scheduling import ranking, reasons
from carrel.scheduling.cluster_placement import Members, members_of
from carrel.scheduling.free_capacity import FreeCapacity, SlotAmountPairs
from carrel.scheduling.node_domains import Topology
from carrel.scheduling.ranking import (
    Indexes,
    PullsNeeded,
    RequirementsClass,
    RequirementsState,
    UnusedAccelerators,
    with_room,
)
from carrel.scheduling.reasons import Blocked, NodeCause
from carrel.scheduling.requirements import ContainerRequirements, SessionRequirements
from carrel.scheduling.snapshot import (
    ContainerPlacement,
    GroupSnapshot,
    NodeSnapshot,
    Slots,
    Without,
)

_About = tuple[NodeId | None, frozenset[NodeId], str, bool, Without, str, DeviceShares]


class Room:
    """The nodes of a group, by name, with free capacity. keeps: some of it is reserved."""

    def __init__(self, group: GroupSnapshot, nodes: Iterable[NodeSnapshot]) -> None:
        self.group = group
        self.nodes: Sequence[NodeSnapshot] = sorted(nodes, key=lambda node: (node.name, node.id))
        self.keeps = False
        self._capacity = FreeCapacity(self.nodes)
        self._ranking = ranking.ranking_of(group, self._capacity)
        self._topology = Topology(group.topology, self.nodes)
        self._members = Members(self._capacity, self._topology, self._ranking, self._known)
        self._is_connected = len({node.network for node in self.nodes}) < 2
        self._open = np.array([not node.closed for node in self.nodes], dtype=bool)
        elastic = np.array([node.elastic for node in self.nodes], dtype=bool)
        self._explained: NDArray[np.bool_] = elastic if elastic.any() else ~elastic
        """Nodes that matter in reasons: in an elastic group its limit, and not the machines that sessions are on."""
        self._requirements: dict[ContainerRequirements, RequirementsState] = {}
        self._kinds: dict[tuple[_About, tuple[str, ...], str], RequirementsClass] = {}
        self._spare: dict[frozenset[str], UnusedAccelerators] = {}
        self._admitted: dict[_About, NDArray[np.bool_]] = {}
        self._too_much: dict[_About, list[SlotAmountPairs]] = {}
        self._unplaceable: set[SessionRequirements] = set()
        self._could: dict[SessionRequirements, bool] = {}
        self._blocked: dict[SessionRequirements, Blocked] = {}

    @property
    def free(self) -> Sequence[Slots]:
        """Unreserved free capacity by node."""
        return self._capacity.free

    def capacity(self) -> dict[str, int]:
        """Total capacity of the open nodes."""
        total: Counter[str] = Counter()
        for node in self.nodes:
            if not node.closed:
                total.update(node.capacity)
        return dict(total)

    def expect(self, request: SessionRequirements) -> None:
        """Announce the sessions of the plan, so that shared requirements are looked up once."""
        self._known(request.total or request.container).expected = True

    def place(self, request: SessionRequirements) -> tuple[ContainerPlacement, ...] | None:
        """Place all its containers, or none."""
        parts = self._place(request)
        if parts is None and request.container.avoid:
            parts = self._place(request.anywhere)
        if parts is not None:
            self._blocked.clear()
        return parts

    def best(self, container: ContainerRequirements) -> int | None:
        """The best node, by index; None if none has enough unreserved capacity."""
        requirements = self._known(container)
        if requirements.full or self._is_too_much(requirements):
            return None
        index = self._ranking.best(requirements)
        if index is None:
            requirements.full = True
            requirements.kind.too_much.append(container.slots)
        return index

    def fits(self, request: SessionRequirements) -> bool:
        """True if it could be placed now."""
        if self._one_by_one(request):
            return request not in self._unplaceable and self._members.fits(request)
        container = request.total or request.container
        if request.count == 1 or request.total:
            return self.best(container) is not None
        nodes = with_room(self._capacity, self._known(container).kind.admits, container.slots)
        return self._fit_together(request, nodes)

    def could_hold(self, request: SessionRequirements) -> bool:
        """True if it would fit on empty open nodes."""
        if request not in self._could:
            self._could[request] = bool(self._nearest(request.anywhere))
        return self._could[request]

    def keep(self, request: SessionRequirements) -> bool:
        """Reserve what it needs on the open nodes that must free the least. False: it would not fit even on empty
        nodes, or there is a reservation already.
        """
        request = request.anywhere
        chosen = [] if self.keeps else self._nearest(request)
        for index, slots in chosen:
            self._capacity.keep(index, slots)
        self.keeps = self.keeps or bool(chosen)
        return bool(chosen)

    def keep_nothing(self) -> None:
        """Release the reservation."""
        if self.keeps:
            self.keeps = False
            self._capacity.keep_nothing()
            self._forget()

    def blocked(self, request: SessionRequirements) -> Blocked:
        """Why none, or not enough, of its nodes can take it."""
        if request not in self._blocked:
            self._blocked[request] = self._why(request.anywhere)
        return self._blocked[request]

    # Places.

    def _place(self, request: SessionRequirements) -> tuple[ContainerPlacement, ...] | None:
        if request.count == 1:
            index = self.best(request.container)
            return None if index is None else (self._take(index, request),)
        if request in self._unplaceable:
            return None
        if self._one_by_one(request):
            parts = self._members.place(request)
        else:
            parts = self._on_one(request) if request.together else self._on_many(request)
        if parts is None:
            self._unplaceable.add(request)
        return parts

    def _one_by_one(self, request: SessionRequirements) -> bool:
        """True if its containers differ, or it matters which nodes are connected or near each other."""
        differ = self._topology.levels or request.within or not self._is_connected
        return bool(request.mixed or (request.count > 1 and not request.together and differ))

    def _on_one(self, request: SessionRequirements) -> tuple[ContainerPlacement, ...] | None:
        index: int | None
        if request.total:
            index = self.best(request.total)
        else:
            requirements = self._known(request.container)
            nodes = self._ranking.order(
                requirements,
                with_room(self._capacity, requirements.kind.admits, requirements.container.slots),
            )
            index = next((int(one) for one in nodes if self._copies(one, request) == request.count), None)
        return None if index is None else tuple(self._take(index, request) for _ in range(request.count))

    def _on_many(self, request: SessionRequirements) -> tuple[ContainerPlacement, ...] | None:
        requirements = self._known(request.container)
        if not self._fit_together(
            request, with_room(self._capacity, requirements.kind.admits, requirements.container.slots)
        ):
            return None
        parts = []
        for _ in range(request.count):
            index = self.best(request.container)
            assert index is not None, "counted before"
            parts.append(self._take(index, request))
        return tuple(parts)

    def _take(self, index: int, request: SessionRequirements) -> ContainerPlacement:
        self._ranking.took(index)
        return self._capacity.take(index, request.slots)

    def _copies(self, index: int, request: SessionRequirements, *, kept_too: bool = False) -> int:
        return self._capacity.copies(int(index), request.container.slots, request.count, kept_too=kept_too)

    def _fit_together(self, request: SessionRequirements, nodes: Indexes, *, kept_too: bool = False) -> bool:
        """True if all its containers fit on these nodes, or on one of them if they must share it."""
        missing = request.count
        for index in nodes:
            count = self._copies(index, request, kept_too=kept_too)
            missing = request.count - count if request.together else missing - count
            if missing <= 0:
                return True
        return False

    def _nearest(self, request: SessionRequirements) -> list[tuple[int, Slots]]:
        """Nodes with what it takes of each; empty if it would not fit on empty nodes."""
        if self._one_by_one(request):
            return self._members.nearest(request)
        slots = request.container.slots
        could = self._known(request.container).kind.admits
        for slot, amount in slots:
            could = could & (self._capacity.capacities(slot) >= amount)
        nodes = np.flatnonzero(could)
        missing = self._capacity.missing(slots, request.count if request.together else 1)[nodes]
        chosen: list[tuple[int, Slots]] = []
        left = request.count
        for index in nodes[np.lexsort((nodes, missing))].tolist():
            times = self._capacity.copies_when_empty(index, slots, left)
            if times and (times == left or not request.together):
                chosen.append((index, {slot: amount * times for slot, amount in slots}))
                left -= times
            if not left:
                return chosen
        return []

    # Reasons.

    def _why(self, request: SessionRequirements) -> Blocked:
        if self._one_by_one(request):
            return self._why_one_by_one(request)
        requirements = self._known(request.total or request.container)
        fits = requirements.kind.admits
        for slot, amount in requirements.container.slots:
            fits = fits & (self._capacity.with_kept(slot) >= amount)
        one = request.count == 1 or request.total is not None
        if (
            self.keeps
            and not self.fits(request)
            and (fits.any() if one else self._fit_together(request, np.flatnonzero(fits), kept_too=True))
        ):
            return self._held_back(fits)
        causes = []
        if fits.any() and not one:
            text = (
                "has capacity for one container, not for all"
                if request.together
                else f"has capacity, but not for all {request.count} containers"
            )
            causes.append(NodeCause(int(fits.sum()), text))
        return reasons.by_nodes([*causes, *self._causes(requirements, ~fits)])

    def _why_one_by_one(self, request: SessionRequirements) -> Blocked:
        if request.within and request.within not in self._topology.levels:
            return reasons.no_level(request.within)
        if self.keeps and self._members.fits(request, kept_too=True):
            return self._held_back(self._open)
        # The first container that no node has room for explains it best.
        for container, _ in members_of(request):
            requirements = self._known(container)
            fits = requirements.kind.admits
            for slot, amount in container.slots:
                fits = fits & (self._capacity.with_kept(slot) >= amount)
            if not fits.any():
                return reasons.by_nodes(self._causes(requirements, ~fits))
        admitted = requirements.kind.admits
        text = "has capacity for some containers, but not for all"
        causes = []
        if request.within:
            text += f" within one {request.within}"
            unlabelled = admitted & (self._topology.domains(request.within) < 0)
            admitted = admitted & ~unlabelled
            causes = [NodeCause(int(unlabelled.sum()), f"has no label {request.within}")]
        elif not self._is_connected and not request.together:
            text += " on nodes that reach each other"
        causes = [one for one in (NodeCause(int(admitted.sum()), text), *causes) if one.count]
        return reasons.by_nodes([*causes, *self._causes(requirements, ~requirements.kind.admits)])

    def _held_back(self, fits: NDArray[np.bool_]) -> Blocked:
        names = [self.nodes[index].name for index in sorted(self._capacity.kept) if fits[index]]
        return reasons.held_back(", ".join(names[:3]) + (" and others" if len(names) > 3 else ""))

    def _causes(self, requirements: RequirementsState, left: NDArray[np.bool_]) -> list[NodeCause]:
        """These nodes counted by rejection cause."""
        left = left & self._explained
        counted = Counter(
            self._closed(requirements.container, int(i))
            for i in np.flatnonzero(left & ~requirements.kind.admits)
        )
        causes = [NodeCause(count, text) for text, count in counted.items()]
        left = left & requirements.kind.admits
        for slot, amount in requirements.container.slots:
            column = self._capacity.with_kept(slot)
            short = left & (column < amount)
            if short.any():
                causes.append(reasons.short_of(int(short.sum()), slot, amount, int(column[short].max())))
            left = left & ~short
        if any(self.nodes[index].elastic for index in np.flatnonzero(self._explained)):
            causes = [replace(cause, elastic=True) for cause in causes]
        return sorted(causes, key=lambda cause: (-cause.count, cause.text))

    def _closed(self, container: ContainerRequirements, index: int) -> str:
        node = self.nodes[index]
        if container.node is not None and node.id != container.node:
            return "is not the requested node"
        if clause := node.closed or node.lacks(container.without) or node.driver_mismatch(container.cuda):
            return clause
        if clause := node.refuses_shares(container.shares):
            return clause
        if node.runs(container.architecture, root=False):
            return "cannot give root in a session"
        return f"is {node.architecture}, the image needs {container.architecture}"

    # Shapes.

    def _known(self, container: ContainerRequirements) -> RequirementsState:
        requirements = self._requirements.get(container)
        if requirements is None:
            requirements = self._requirements[container] = RequirementsState(container, self._kind(container))
        return requirements

    def _kind(self, container: ContainerRequirements) -> RequirementsClass:
        about, slots = _about(container), tuple([slot for slot, _ in container.slots])
        kind = self._kinds.get((about, slots, container.image))
        if kind is None:
            kind = self._kinds[about, slots, container.image] = RequirementsClass(
                self.group.slot_priority or slots,
                self._admitting(container),
                self._spare_for(frozenset(slots)),
                self._too_much.setdefault(about, []),
                self._pulls_for(container.image) if container.image else None,
            )
        return kind

    def _admitting(self, container: ContainerRequirements) -> NDArray[np.bool_]:
        about = _about(container)
        if not any(about):
            return self._open
        if about not in self._admitted:
            admits = [
                (container.node is None or node.id == container.node)
                and node.id not in container.avoid
                and container.runs_on(node)
                for node in self.nodes
            ]
            self._admitted[about] = self._open & np.array(admits, dtype=bool)
        return self._admitted[about]

    def _spare_for(self, kinds: frozenset[str]) -> UnusedAccelerators:
        spare = self._spare.get(kinds)
        if spare is None:
            counts = [float(_unused(families, kinds)) for families in self._capacity.families]
            spare = self._spare[kinds] = UnusedAccelerators(
                counts, np.array(counts), min(counts, default=0.0)
            )
        return spare

    def _pulls_for(self, image: str) -> PullsNeeded:
        missing = [float(image not in node.images) for node in self.nodes]
        return PullsNeeded(missing, np.array(missing))

    def _is_too_much(self, requirements: RequirementsState) -> bool:
        """True if it needs at least as much as a requirement known not to fit."""
        known = requirements.kind.too_much
        if requirements.compared == len(known):
            return False
        requirements.compared = len(known)
        requirements.full = any(_covers(requirements.container.slots, less) for less in known)
        return requirements.full

    def _forget(self) -> None:
        """Forget requirements known not to fit, after capacity was released."""
        self._ranking.begin()
        for known in self._too_much.values():
            known.clear()
        self._unplaceable.clear()
        self._blocked.clear()
        for requirements in self._requirements.values():
            requirements.full, requirements.compared = False, 0


def _unused(families: Mapping[str, str], kinds: frozenset[str]) -> int:
    """Number of accelerator families without a requested slot. families: slot -> family."""
    return (
        len(set(families.values()) - {families[slot] for slot in kinds if slot in families})
        if families
        else 0
    )


def _about(container: ContainerRequirements) -> _About:
    """The nodes that it may use."""
    one = container
    return one.node, one.avoid, one.architecture, one.root, one.without, one.cuda, one.shares


def _covers(more: SlotAmountPairs, less: SlotAmountPairs) -> bool:
    """True if it needs at least as much of every slot."""
    larger = dict(more)
    return all(larger.get(slot, 0) >= amount for slot, amount in less)
