"""What would become of a request that is only asked about, behind all who wait. Asked of a plan that was made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from carrel.scheduling.ceilings import asked
from carrel.scheduling.plan import Planning
from carrel.scheduling.reasons import Blocked, more_than_ever, too_large
from carrel.scheduling.snapshot import CONTAINERS, SESSIONS, NodeView, Waiting


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
    never = _never(planning, one, room.nodes, blocked)
    return Outcome(starts=False, never=bool(never), reason=never or blocked.sentence)


def _never(planning: Planning, one: Waiting, nodes: Sequence[NodeView], blocked: Blocked) -> str:
    """Why it could not start if nothing else ran and every node were open; "" when it could."""
    for limit in planning.ceilings.limits(one.scopes, asked(one)):
        if limit.never:
            alone = limit.slot == CONTAINERS
            return blocked.sentence if alone else more_than_ever(limit.label, limit.slot, limit.ceiling)
    offers = [node.capacity for node in nodes if node.runs(one.architecture)]
    if any(all(offer.get(slot, 0) >= amount for slot, amount in one.slots.items()) for offer in offers):
        return ""
    # A group that has no node yet may get one.
    return too_large(one.slots, offers)[1] if offers else blocked.sentence if nodes else ""


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
