"""What is asked of nodes, so that those who ask for the same are answered alike."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from carrel.core.ids import GroupId, NodeId, SessionId
from carrel.scheduling.ceilings import asked
from carrel.scheduling.devices import family_of
from carrel.scheduling.snapshot import WHOLE, ClusterMode, Waiting


@dataclass(frozen=True, slots=True)
class Shape:
    """What a container needs of a node. slots: what a node has to have free of each, sorted.

    A family of accelerators of which both whole devices and shares are asked for: shares are those of both.
    """

    slots: tuple[tuple[str, int], ...]
    node: NodeId | None = None
    avoid: frozenset[NodeId] = frozenset()
    architecture: str = ""


def shape_of(one: Waiting, *, times: int = 1) -> Shape:
    """Of one of its containers; times: of so many together on one node."""
    slots = {slot: amount * times for slot, amount in one.slots.items() if amount}
    for slot in slots:
        family = family_of(slot)
        if family and slot == f"{family}.shares":
            slots[slot] += slots.get(f"{family}.device", 0) * WHOLE
    return Shape(tuple(sorted(slots.items())), one.node, one.avoid, one.architecture)


@dataclass(eq=False, slots=True)
class Request:
    """What one or many sessions of a group ask for. slots: of a container, sorted. demand: of all of them, for scopes.

    together: more than one, on one node. whole: of those, where room for the sum is room for each; 600 and 600 shares
    do not fit into 1200 of two devices. elsewhere: the same without nodes to avoid, when there are any.
    """

    group: GroupId
    slots: tuple[tuple[str, int], ...]
    shape: Shape
    count: int
    together: bool
    whole: Shape | None
    demand: Mapping[str, int]
    elsewhere: "Request | None" = None

    @property
    def anywhere(self) -> "Request":
        """The same without nodes to avoid."""
        return self.elsewhere or self


_Key = tuple[object, ...]


class Requests:
    """The different ones among many sessions."""

    def __init__(self) -> None:
        self._known: dict[_Key, Request] = {}
        self._met: dict[SessionId, tuple[Waiting, Request]] = {}

    def of(self, one: Waiting) -> Request:
        """The request of a session; those who ask for the same share it."""
        met = self._met.get(one.id)
        if met is not None and met[0] is one:
            return met[1]
        key = (
            tuple(one.slots.items()),
            one.group,
            one.count,
            one.mode,
            one.node,
            one.avoid,
            one.architecture,
        )
        request = self._known.get(key)
        if request is None:
            request = self._known[key] = _request(one)
        self._met[one.id] = one, request
        return request


def _request(one: Waiting) -> Request:
    together = one.count > 1 and one.mode is ClusterMode.SINGLE_NODE
    shape = shape_of(one)
    parted = any(
        family_of(slot) and slot.endswith(".shares") and amount % WHOLE for slot, amount in shape.slots
    )
    whole = None if parted or not together else shape_of(one, times=one.count)
    slots = tuple(sorted((slot, amount) for slot, amount in one.slots.items() if amount))
    elsewhere = _request(replace(one, avoid=frozenset())) if one.avoid else None
    return Request(one.group, slots, shape, one.count, together, whole, asked(one), elsewhere)
