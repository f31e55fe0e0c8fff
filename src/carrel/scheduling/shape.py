"""What is asked of nodes, so that those who ask for the same are answered alike."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from carrel.core.ids import GroupId, NodeId, SessionId
from carrel.scheduling.ceilings import asked
from carrel.scheduling.devices import family_of
from carrel.scheduling.snapshot import WHOLE, ClusterMode, Waiting

Amounts = tuple[tuple[str, int], ...]
"""Of slots."""


class Shape(NamedTuple):
    """What a container needs of a node. slots: what a node has to have free of each, sorted.

    A family of accelerators of which both whole devices and shares are asked for: shares are those of both.
    """

    slots: Amounts
    node: NodeId | None = None
    avoid: frozenset[NodeId] = frozenset()
    architecture: str = ""


@dataclass(eq=False, slots=True)
class Request:
    """What one or many sessions of a group ask for. slots: of a container, sorted. demand: of all of them, for scopes.

    together: more than one, on one node. whole: of those, where room for the sum is room for each; 600 and 600 shares
    do not fit into 1200 of two devices. elsewhere: the same without nodes to avoid, when there are any.
    """

    group: GroupId
    slots: Amounts
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


class Requests:
    """The different ones among many sessions."""

    def __init__(self) -> None:
        # By what else is asked, then by slots.
        self._known: defaultdict[tuple[object, ...], dict[Amounts, Request]] = defaultdict(dict)
        # Who was met, and what they ask for: not in pairs, which would be one more object of each session.
        self._met: dict[SessionId, Waiting] = {}
        self._of: dict[SessionId, Request] = {}

    def of(self, one: Waiting) -> Request:
        """The request of a session; those who ask for the same share it."""
        if self._met.get(one.id) is one:
            return self._of[one.id]
        slots = tuple(one.slots.items())
        known = self._known[one.group, one.count, one.mode, one.node, one.avoid, one.architecture]
        request = known.get(slots)
        if request is None:
            request = known[slots] = _request(one, slots)
        self._met[one.id], self._of[one.id] = one, request
        return request


def _request(one: Waiting, asks: Amounts) -> Request:
    together = one.count > 1 and one.mode is ClusterMode.SINGLE_NODE
    slots = tuple(sorted([pair for pair in asks if pair[1]]))
    shape = Shape(_needed(slots), one.node, one.avoid, one.architecture)
    whole = _whole(shape, one.count) if together else None
    elsewhere = _request(replace(one, avoid=frozenset()), asks) if one.avoid else None
    return Request(one.group, slots, shape, one.count, together, whole, asked(one), elsewhere)


def _needed(slots: Amounts) -> Amounts:
    """Of a node: see `Shape`."""
    amounts = dict(slots)
    if not any(map(family_of, amounts)):
        return slots
    for slot in amounts:
        family = family_of(slot)
        if family and slot == f"{family}.shares":
            amounts[slot] += amounts.get(f"{family}.device", 0) * WHOLE
    return tuple(amounts.items())


def _whole(shape: Shape, count: int) -> Shape | None:
    """So many of them as one; None where room for the sum need not be room for each."""
    if any(family_of(slot) and slot.endswith(".shares") and amount % WHOLE for slot, amount in shape.slots):
        return None
    return shape._replace(slots=tuple((slot, amount * count) for slot, amount in shape.slots))
