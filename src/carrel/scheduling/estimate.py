"""Estimate whether a session would start if it were requested now, behind all that wait. Uses a finished plan."""

from collections.abc import Mapping
from dataclasses import dataclass

from carrel.scheduling import devices
from carrel.scheduling.ceilings import requested_amounts, total_slots
from carrel.scheduling.placement import Room
from carrel.scheduling.plan import Planning
from carrel.scheduling.reasons import Blocked, more_than_ever, no_level, too_large
from carrel.scheduling.snapshot import CONTAINERS, SESSIONS, PendingSession


@dataclass(frozen=True, slots=True)
class StartEstimate:
    """starts: it would start now. never: it could not start even on an empty cluster. reason: "" when it starts."""

    starts: bool
    never: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Headroom:
    """Of one slot. now: the most that a session could start with. most: on an empty cluster. by: what limits that."""

    now: int
    most: int
    by: str


def estimate_start(planning: Planning, one: PendingSession) -> StartEstimate:
    """planning: after `run`, without that session."""
    if planning.would_start(one):
        return StartEstimate(starts=True, never=False, reason="")
    blocked = planning.blocked(one)
    room = planning.rooms.get(one.group)
    if room is None:
        return StartEstimate(starts=False, never=False, reason=blocked.sentence)
    never = _never(planning, one, room, blocked)
    return StartEstimate(starts=False, never=bool(never), reason=never or blocked.sentence)


def _never(planning: Planning, one: PendingSession, room: Room, blocked: Blocked) -> str:
    """Why it could not start on an empty cluster with every node open; "" when it could."""
    for limit in planning.ceilings.limits(one.scopes, requested_amounts(one)):
        if limit.never:
            alone = limit.slot == CONTAINERS
            return blocked.sentence if alone else more_than_ever(limit.label, limit.slot, limit.ceiling)
    nodes, request = room.nodes, planning.requirements(one)
    if request.within and request.within not in room.group.topology:
        return no_level(request.within).sentence
    for slots in [total_slots(one)] if request.together else one.sizes:
        offers = [
            node.capacity if request.together else devices.largest(node.capacity, node.devices)
            for node in nodes
            if one.runs_on(node, slots)
        ]
        if not any(all(offer.get(slot, 0) >= amount for slot, amount in slots.items()) for offer in offers):
            # A group that has no node yet may get one.
            if not offers:
                return blocked.sentence if nodes else ""
            return too_large(slots, offers, elastic=any(node.elastic for node in nodes))[1]
    return ""


def headroom(planning: Planning, one: PendingSession) -> Mapping[str, Headroom]:
    """For each slot of its group's nodes, independent of the other requested slots."""
    room = planning.rooms[one.group]
    scopes = [planning.snapshot.scopes[scope] for scope in one.scopes]
    full = any(
        SESSIONS in scope.ceiling and scope.ceiling[SESSIONS] <= scope.used.get(SESSIONS, 0)
        for scope in scopes
    )
    amounts: dict[str, Headroom] = {}
    largest = [devices.largest(node.capacity, node.devices) for node in room.nodes]
    for slot in sorted({slot for node in room.nodes for slot in node.capacity}):
        open_nodes = zip(room.nodes, room.free, strict=True)
        free = max((left.get(slot, 0) for node, left in open_nodes if not node.closed), default=0)
        under = planning.ceilings.left(one.scopes, slot)
        most, by = max((each.get(slot, 0) for each in largest), default=0), "the largest node"
        for scope in scopes:
            if scope.ceiling.get(slot, most) < most:
                most, by = scope.ceiling[slot], scope.label
        amounts[slot] = Headroom(0 if full else free if under is None else min(free, under), most, by)
    return amounts
