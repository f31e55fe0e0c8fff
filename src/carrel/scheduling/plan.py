"""The plan: who starts where, and why each of the others waits.

In each resource group, in the order of its queue, whoever fits gets a place. Who does not fit lets later ones pass,
but only while they have waited less than the group's patience: then what they lack is kept for them (the guard), so
that a large session is never starved by a stream of small ones. That is

- nodes: those that have to free the least before it fits. Nothing new is placed on them, so what is missing there
  only shrinks. A session that no open node could hold even when empty keeps nothing.
- a ceiling, when one is in the way: nobody who counts against it takes more of the slot. A session that is larger
  than the ceiling keeps nothing.

One session of each group keeps nodes, and one for each ceiling that ceiling; when it has started it is the next's
turn.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from carrel.core.ids import GroupId, SessionId
from carrel.scheduling import order, reasons
from carrel.scheduling.ceilings import Ceilings, demand
from carrel.scheduling.placement import Room
from carrel.scheduling.reasons import Blocked
from carrel.scheduling.snapshot import (
    Cause,
    Part,
    Placement,
    Plan,
    Refusal,
    Snapshot,
    Waiting,
)


def plan(snapshot: Snapshot) -> Plan:
    """Who starts now and where, and why each of the others waits, each group's in the order of its queue.

    Twice, with the first plan applied: places nobody and refuses the same for the same reasons.
    """
    return Planning(snapshot).run()


@dataclass
class _Kept:
    """What is kept for those who have waited long. scopes: (scope, slot) -> for whom. nodes: group -> for whom."""

    scopes: dict[tuple[str, str], SessionId] = field(default_factory=dict)
    nodes: dict[GroupId, SessionId] = field(default_factory=dict)


class Planning:
    """A plan being made; afterwards what is left, for questions about it."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.ceilings = Ceilings(snapshot.scopes)
        by_group = defaultdict(list)
        for node in snapshot.nodes:
            by_group[node.group].append(node)
        self.rooms = {group.id: Room(group, by_group[group.id]) for group in snapshot.groups}
        self._kept = _Kept()

    def run(self) -> Plan:
        """Once."""
        waiting = defaultdict(list)
        for one in self.snapshot.waiting:
            waiting[one.group].append(one)
        # 1. place whom we can, group by group
        placements: list[Placement] = []
        refused: list[Sequence[Waiting]] = []
        for group in sorted(waiting, key=self._name):
            room = self.rooms.get(group)
            refused.append(self._fill(room, waiting[group], placements) if room else waiting[group])
        # 2. say why the others wait, with all placements made: a reason is read after them
        refusals = [
            Refusal(one.id, blocked.sentence, position, blocked.cause)
            for line in refused
            for position, one in enumerate(line, start=1)
            for blocked in (self.blocked(one),)
        ]
        return Plan(tuple(placements), tuple(refusals))

    def blocked(self, one: Waiting) -> Blocked:
        """Why it did not start, or would not if it were asked for now."""
        room = self.rooms.get(one.group)
        if room is None:
            return Blocked(Cause.GROUP, "Its resource group is not active.")
        wanted = demand(one)
        if limits := self.ceilings.limits(one.scopes, wanted):
            return reasons.by_limits(limits)
        if kept := self._kept_from(one, wanted):
            scope, slot = kept
            return reasons.held_back(f"the {slot} that {self.snapshot.scopes[scope].label} may still use")
        return room.blocked(one)

    def starts(self, one: Waiting) -> tuple[Part, ...] | None:
        """Take places for it if it may start now; None when it may not."""
        room = self.rooms.get(one.group)
        wanted = demand(one)
        if room is None or not self.ceilings.allow(one.scopes, wanted) or self._kept_from(one, wanted):
            return None
        parts = room.place(one)
        if parts is not None:
            self.ceilings.take(one.scopes, wanted)
        return parts

    def _name(self, group: GroupId) -> tuple[str, str]:
        room = self.rooms.get(group)
        return (room.group.name if room else "", group)

    def _fill(self, room: Room, waiting: Sequence[Waiting], placements: list[Placement]) -> list[Waiting]:
        """Place whom we can of one group; those whom we cannot, in order."""
        room.expect(waiting)
        refused: list[Waiting] = []
        line = order.queue(room.group, waiting, room.capacity(), self.snapshot.now)
        for one in line:
            parts = self.starts(one)
            if parts is not None:
                line.placed(one)
                placements.append(Placement(one.id, parts))
                continue
            refused.append(one)
            if self.snapshot.now - one.since > room.group.patience:
                self._keep_for(room, one)
        return refused

    def _keep_for(self, room: Room, one: Waiting) -> None:
        wanted = demand(one)
        limits = self.ceilings.limits(one.scopes, wanted)
        if any(limit.never for limit in limits):
            return
        for limit in limits:
            self._kept.scopes.setdefault((limit.scope, limit.slot), one.id)
        if limits or self._kept_from(one, wanted) or room.group.id in self._kept.nodes:
            return
        if nodes := room.nearest(one):
            self._kept.nodes[room.group.id] = one.id
            room.claimed = frozenset(nodes)

    def _kept_from(self, one: Waiting, wanted: dict[str, int]) -> tuple[str, str] | None:
        """A ceiling that is kept for somebody else, if it would take from one."""
        if not self._kept.scopes:
            return None
        for scope in one.scopes:
            for slot, amount in wanted.items():
                if amount and self._kept.scopes.get((scope, slot), one.id) != one.id:
                    return scope, slot
        return None
