"""Requirements on nodes, shared by sessions with equal requests."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from carrel.core.ids import GroupId, NodeId, SessionId
from carrel.core.slots import WHOLE, DeviceShares, shares_in
from carrel.scheduling.ceilings import requested_amounts
from carrel.scheduling.devices import NO_DEVICE, Unit
from carrel.scheduling.snapshot import (
    ClusterMode,
    GroupSnapshot,
    NodeSnapshot,
    PendingSession,
    Slots,
    Without,
)

Amounts = tuple[tuple[str, int], ...]
"""Of slots."""
Units = Mapping[str, Unit]
"""Accelerator slots; see `devices.units`."""


class ContainerRequirements(NamedTuple):
    """What a container needs of a node. slots: the required free amounts, sorted.

    image: of equal nodes, those that have it come first; "" if that makes no difference.
    cuda, shares: as of `NodeSnapshot.runs`.
    If both whole devices and shares of a family are requested, parts is the sum in thousandths.
    """

    slots: Amounts
    node: NodeId | None = None
    avoid: frozenset[NodeId] = frozenset()
    architecture: str = ""
    root: bool = False
    without: Without = ()
    image: str = ""
    cuda: str = ""
    shares: DeviceShares = DeviceShares.NONE

    def runs_on(self, node: NodeSnapshot) -> bool:
        """True if the node can run it, whatever is free there."""
        return node.runs(
            self.architecture,
            root=self.root,
            without=self.without,
            needs_cuda=self.cuda,
            shares=self.shares,
        )


@dataclass(eq=False, slots=True)
class SessionRequirements:
    """The request of one or more sessions of a group. slots: per container, sorted. demand: of all containers, for
    scopes. together: several containers on one node. total: their sum, if room for the sum means room for each; 600
    and 600 shares need not fit into 1200 free on two devices. mixed: what each container needs, with its slots, if
    they differ; slots and container are then those of the first. elsewhere: the same without nodes to avoid, if there
    are any. narrowest: as of the mode. within: the label of the level that the session requires, or as the session
    names it if its group has none of that name.
    """

    group: GroupId
    slots: Amounts
    container: ContainerRequirements
    count: int
    together: bool
    total: ContainerRequirements | None
    demand: Mapping[str, int]
    mixed: tuple[tuple[ContainerRequirements, Amounts], ...] = ()
    elsewhere: "SessionRequirements | None" = None
    narrowest: bool = False
    within: str = ""

    @property
    def anywhere(self) -> "SessionRequirements":
        """The same without nodes to avoid."""
        return self.elsewhere or self


class DistinctRequirements:
    """Deduplicated requirements of many sessions. units: of all slots of the nodes. groups: those with a topology.
    images: those that some nodes have and others do not.
    """

    def __init__(
        self,
        units: Units,
        groups: Iterable[GroupSnapshot] = (),
        images: frozenset[str] = frozenset(),
    ) -> None:
        self._units = units
        self._images = images
        self._levels = {group.id: group.topology for group in groups}
        # By the other fields, then by slots.
        self._known: defaultdict[tuple[object, ...], dict[Amounts, SessionRequirements]] = defaultdict(dict)
        # Sessions and their requirements in two lists, since pairs would be one more object per session.
        self._met: dict[SessionId, PendingSession] = {}
        self._of: dict[SessionId, SessionRequirements] = {}

    def of(self, one: PendingSession) -> SessionRequirements:
        """The requirements of a session; equal requests share one object."""
        if self._met.get(one.id) is one:
            return self._of[one.id]
        slots = tuple(one.slots.items())
        image = one.image if one.image in self._images else ""
        known = self._known[
            one.group,
            tuple([tuple(sizes.items()) for sizes in one.mixed]) or one.count,
            one.mode,
            one.node,
            one.avoid,
            one.architecture,
            one.root,
            one.without,
            one.within,
            image,
            one.cuda,
        ]
        request = known.get(slots)
        if request is None:
            request = known[slots] = _request(one, image, slots, self._units, self._levels.get(one.group, ()))
        self._met[one.id], self._of[one.id] = one, request
        return request


def level_of(name: str, levels: Sequence[str]) -> str | None:
    """The level of that name: in full, or the part of its label behind the `/` if only one has it."""
    short = [level for level in levels if level.rpartition("/")[2] == name]
    return name if name in levels else short[0] if len(short) == 1 else None


def unevenly_held(nodes: Collection[NodeSnapshot]) -> frozenset[str]:
    """The images that some of the nodes have and others do not."""
    held = Counter(image for node in nodes for image in node.images)
    return frozenset(image for image, count in held.items() if count < len(nodes))


def _request(
    one: PendingSession, image: str, amounts: Amounts, units: Units, levels: Sequence[str]
) -> SessionRequirements:
    narrowest = one.mode is ClusterMode.NARROWEST and bool(levels or one.within)
    together = one.count > 1 and not narrowest and one.mode is not ClusterMode.MULTI_NODE
    slots = tuple(sorted([pair for pair in amounts if pair[1]]))
    container = ContainerRequirements(
        _needed(slots, units),
        one.node,
        one.avoid,
        one.architecture,
        one.root,
        one.without,
        image,
        one.needs_cuda(dict(slots)),
        shares_in(dict(slots)),
    )
    total = _total(container, one.count, units) if together and not one.mixed else None
    mixed = tuple([_member(one, container, sizes, units) for sizes in one.mixed])
    elsewhere = (
        _request(replace(one, avoid=frozenset()), image, amounts, units, levels) if one.avoid else None
    )
    return SessionRequirements(
        one.group,
        slots,
        container,
        one.count,
        together,
        total,
        requested_amounts(one),
        mixed,
        elsewhere,
        narrowest,
        level_of(one.within, levels) or one.within,
    )


def _member(
    one: PendingSession, first: ContainerRequirements, sizes: Slots, units: Units
) -> tuple[ContainerRequirements, Amounts]:
    slots = tuple(sorted([pair for pair in sizes.items() if pair[1]]))
    needed = first._replace(slots=_needed(slots, units), cuda=one.needs_cuda(sizes), shares=shares_in(sizes))
    return needed, slots


def _needed(slots: Amounts, units: Units) -> Amounts:
    """Of a node: see `ContainerRequirements`."""
    amounts = dict(slots)
    for slot, _ in slots:
        mine = units.get(slot, NO_DEVICE)
        if mine.thousandths < WHOLE:
            others = [
                (units[other].thousandths, amount)
                for other, amount in slots
                if other != slot and other in units and units[other].family == mine.family
            ]
            amounts[slot] += sum(other * amount for other, amount in others) // mine.thousandths
    return tuple(amounts.items())


def _total(container: ContainerRequirements, count: int, units: Units) -> ContainerRequirements | None:
    """That many containers as one; None if room for the sum does not imply room for each."""
    for slot, amount in container.slots:
        if slot in units and (units[slot].in_blocks or amount * units[slot].thousandths % WHOLE):
            return None
    return container._replace(slots=tuple((slot, amount * count) for slot, amount in container.slots))
