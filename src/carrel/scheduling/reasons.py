"""Why a session is pending, as data and as one sentence."""

from collections.abc import Sequence
from dataclasses import dataclass

from carrel.core.units import Slots, format_slot
from carrel.scheduling.ceilings import ScopeLimit
from carrel.scheduling.snapshot import CONTAINERS, SESSIONS, Cause


@dataclass(frozen=True, slots=True)
class NodeCause:
    """A number of nodes rejected for one cause. slot: the missing slot; "" for other causes. elastic: not a node,
    but the limit of an elastic group.
    """

    count: int
    text: str
    slot: str = ""
    asked: int = 0
    most_free: int = 0
    elastic: bool = False


@dataclass(frozen=True, slots=True)
class Blocked:
    """limits: for Cause.LIMIT, all blocking limits. nodes: for Cause.NODES, all nodes by cause."""

    cause: Cause
    sentence: str
    limits: Sequence[ScopeLimit] = ()
    nodes: Sequence[NodeCause] = ()


def by_limits(limits: Sequence[ScopeLimit]) -> Blocked:
    """The sentence names the first limit; the data has all."""
    return Blocked(Cause.LIMIT, _limit_sentence(limits[0]), limits=tuple(limits))


def no_level(name: str) -> Blocked:
    """The topology of the group does not have the required level."""
    return Blocked(Cause.GROUP, f"Its resource group has no topology label {name}.")


def by_nodes(causes: Sequence[NodeCause]) -> Blocked:
    """All nodes, counted by cause."""
    if not causes:
        return Blocked(Cause.NODES, "No node has joined its resource group yet.")
    if any(one.elastic for one in causes):
        return Blocked(Cause.NODES, f"{_elastic_sentence(causes)}.", nodes=tuple(causes))
    parts = (f"{one.count} node{'s' * (one.count > 1)}: {one.text}" for one in causes)
    return Blocked(Cause.NODES, "; ".join(parts) + ".", nodes=tuple(causes))


def _elastic_sentence(causes: Sequence[NodeCause]) -> str:
    if any(one.slot for one in causes):
        return "The limit of its elastic group is reached: it " + "; ".join(one.text for one in causes)
    return "Its elastic group takes no sessions now: " + "; ".join(one.text for one in causes)


def more_than_ever(label: str, slot: str, ceiling: int) -> str:
    """The request exceeds the ceiling of the named scope."""
    if slot == CONTAINERS:
        return f"{_named(label)} may have {_counted(ceiling, 'container')} in a session at most."
    return f"{_named(label)} may use {format_slot(slot, ceiling)} at most."


def too_large(slots: Slots, offers: Sequence[Slots], *, elastic: bool) -> tuple[str, str]:
    """The request fits on no empty node: the first slot that no node has enough of, or "", with a sentence.

    offers: at least one. elastic: of the limit of an elastic group.
    """
    for slot, amount in slots.items():
        largest = max(offer.get(slot, 0) for offer in offers)
        if amount > largest:
            needed, most = format_slot(slot, amount), format_slot(slot, largest)
            if elastic:
                return slot, f"The limit of its elastic group is {most}; this needs {needed}."
            return slot, f"No node has {needed}; the largest has {most}."
    return "", "No single node has all of these resources."


def held_back(what: str) -> Blocked:
    """what: the reserved resource, such as "node-3" or "the cpu that project vision may still use"."""
    return Blocked(
        Cause.HELD_BACK,
        f"There is free capacity, but {what} is reserved for an earlier session that has waited too long.",
    )


def short_of(count: int, slot: str, requested: int, most_free: int) -> NodeCause:
    """Nodes with too little of a slot free."""
    free = f"{'at most ' * (count > 1)}{format_slot(slot, most_free)} free"
    return NodeCause(count, f"needs {format_slot(slot, requested)}, {free}", slot, requested, most_free)


def _named(label: str) -> str:
    """A label at the beginning of a sentence; an e-mail stays as it is."""
    return label if "@" in label.partition(" ")[0] else label[:1].upper() + label[1:]


def _limit_sentence(limit: ScopeLimit) -> str:
    holder = _named(limit.label)
    if limit.slot == SESSIONS:
        return f"{holder} may have {_counted(limit.ceiling, 'session')} at once, and has {limit.used}."
    if limit.slot == CONTAINERS:
        return f"{holder} may have {_counted(limit.ceiling, 'container')} in a session; this needs {limit.asked}."
    most, used = format_slot(limit.slot, limit.ceiling), format_slot(limit.slot, limit.used)
    return (
        f"{holder} may use {most} at once and uses {used}; this needs {format_slot(limit.slot, limit.asked)}."
    )


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"
