"""What would become of a request that is only asked about, behind all who wait. Asked of a plan that was made."""

from collections.abc import Mapping
from dataclasses import dataclass

from carrel.scheduling.ceilings import asked
from carrel.scheduling.plan import Planning
from carrel.scheduling.snapshot import SESSIONS, Waiting


@dataclass(frozen=True, slots=True)
class Outcome:
    """starts: now. never: as things are set up. reason: why not; "" when it starts."""

    starts: bool
    never: bool
    reason: str


@dataclass(frozen=True, slots=True)
class SlotRoom:
    """now: the most of a slot that one session could start with. most: ever. by: what sets the latter."""

    now: int
    most: int
    by: str


def outcome(planning: Planning, one: Waiting) -> Outcome:
    """Of a session with one container. planning: run, without it."""
    if planning.would_start(one):
        return Outcome(starts=True, never=False, reason="")
    blocked = planning.blocked(one)
    room = planning.rooms.get(one.group)
    if room is None:
        return Outcome(starts=False, never=False, reason=blocked.sentence)
    wanted = asked(one)
    too_small = not any(
        node.runs(one.architecture)
        and all(node.capacity.get(slot, 0) >= amount for slot, amount in one.slots.items())
        for node in room.nodes
    )
    never = too_small or any(limit.never for limit in planning.ceilings.limits(one.scopes, wanted))
    return Outcome(starts=False, never=never, reason=blocked.sentence)


def rooms(planning: Planning, one: Waiting) -> Mapping[str, SlotRoom]:
    """Of each slot that the nodes of its group have, whatever it asks for of the others."""
    room = planning.rooms[one.group]
    scopes = [planning.snapshot.scopes[scope] for scope in one.scopes]
    full = any(
        SESSIONS in scope.ceiling and scope.ceiling[SESSIONS] <= scope.used.get(SESSIONS, 0)
        for scope in scopes
    )
    found: dict[str, SlotRoom] = {}
    for slot in sorted({slot for node in room.nodes for slot in node.capacity}):
        open_nodes = zip(room.nodes, room.free, strict=True)
        free = max((left.get(slot, 0) for node, left in open_nodes if not node.closed), default=0)
        under = planning.ceilings.left(one.scopes, slot)
        most, by = max((node.capacity.get(slot, 0) for node in room.nodes), default=0), "the largest node"
        for scope in scopes:
            if scope.ceiling.get(slot, most) < most:
                most, by = scope.ceiling[slot], scope.label
        found[slot] = SlotRoom(0 if full else free if under is None else min(free, under), most, by)
    return found
