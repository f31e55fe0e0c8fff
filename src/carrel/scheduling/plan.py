"""The plan: who starts where, and why each of the others waits.

In each resource group, in the order of its queue, whoever fits gets a place. Who does not fit lets later ones pass,
but only while they have waited less than the group's patience: then what they lack is kept for them (the guard), so
that a large session is never starved by a stream of small ones. That is

- of those nodes that have to free the least before it fits, what it needs of them. What is missing there only
  shrinks. A session that no open node could hold even when empty keeps nothing.
- of every ceiling that it counts against, what it needs of it. A session that is larger than a ceiling keeps nothing.

One session of each group keeps nodes, and one of each ceiling a slot of it; when it has started it is the next's
turn. While a ceiling is in its way a session keeps no nodes: they would stand idle.
"""

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from carrel.core.ids import GroupId, SessionId
from carrel.scheduling import devices, order, reasons
from carrel.scheduling.candidates import RemainingCandidates
from carrel.scheduling.ceilings import Ceilings
from carrel.scheduling.order import GroupQueue
from carrel.scheduling.placement import Room
from carrel.scheduling.reasons import Blocked
from carrel.scheduling.requirements import DistinctRequirements, SessionRequirements
from carrel.scheduling.snapshot import (
    Cause,
    ContainerPlacement,
    PendingSession,
    Placement,
    Plan,
    QueueOrder,
    Refusal,
    Snapshot,
)


def plan(snapshot: Snapshot) -> Plan:
    """Who starts now and where, and why each of the others waits, each group's in the order of its queue.

    Twice, with the first plan applied: places nobody and refuses the same for the same reasons.
    """
    return Planning(snapshot).run()


class Planning:
    """A plan being made; afterwards what is left, for questions about it."""

    def __init__(self, snapshot: Snapshot, requests: DistinctRequirements | None = None) -> None:
        """requests: what is known already of those who wait, from an earlier plan."""
        self.snapshot = snapshot
        self.ceilings = Ceilings(snapshot.scopes)
        by_group = defaultdict(list)
        for node in snapshot.nodes:
            by_group[node.group].append(node)
        self.rooms = {group.id: Room(group, by_group[group.id]) for group in snapshot.groups}
        self._requests = requests or DistinctRequirements(devices.units(snapshot.nodes))

    def run(self) -> Plan:
        """Once, and not after `decide`."""
        # 1. place whom we can
        placements, lines = self._decided(hasty=False)
        # 2. say why the others wait, with all placements made: a reason is read after them
        refusals = [
            Refusal(one.id, blocked.sentence, position, blocked.cause)
            for group in sorted(lines, key=self._name)
            for position, one in enumerate(lines[group], start=1)
            for blocked in (self.blocked(one),)
        ]
        return Plan(tuple(placements), tuple(refusals))

    def decide(self) -> Sequence[Placement]:
        """Only who starts, and where: as `run` says, without asking those who cannot."""
        return self._decided(hasty=True)[0]

    def _decided(self, *, hasty: bool) -> tuple[list[Placement], dict[GroupId, list[PendingSession]]]:
        """And who waits, in the order of each queue unless it was done in haste."""
        # 1. learn who is there
        lines: defaultdict[GroupId, list[PendingSession]] = defaultdict(list)
        for one in self.snapshot.waiting:
            lines[one.group].append(one)
        for request in dict.fromkeys(map(self._requests.of, self.snapshot.waiting)):
            if request.group in self.rooms:
                self.rooms[request.group].expect(request)
        queues = {
            group: order.queue(room.group, room.capacity(), self.snapshot.now)
            for group, room in self.rooms.items()
            if group in lines
        }
        # 2. ask them, until nobody starts any more
        placements: list[Placement] = []
        again = True
        while again:
            before = len(placements)
            self._keep_nothing()
            lines |= self._round(queues, lines, placements, hasty=hasty)
            again = len(placements) > before and self._may_change(lines)
        return placements, lines

    def blocked(self, one: PendingSession) -> Blocked:
        """Why it did not start, or would not if it were asked for now."""
        room = self.rooms.get(one.group)
        if room is None:
            return Blocked(Cause.GROUP, "Its resource group is not active.")
        if one.aside:
            return Blocked(Cause.NOT_YET, one.aside)
        request = self._requests.of(one)
        if limits := self.ceilings.limits(one.scopes, request.demand):
            return reasons.by_limits(limits)
        if kept := self.ceilings.kept_from(one.id, one.scopes, request.demand):
            scope, slot = kept
            return reasons.held_back(f"the {slot} that {self.snapshot.scopes[scope].label} may still use")
        return room.blocked(request)

    def would_start(self, one: PendingSession) -> bool:
        """If it were asked for now."""
        request = self._requests.of(one)
        return self._may(one, request) and self.rooms[one.group].fits(request.anywhere)

    def starts(self, one: PendingSession) -> tuple[ContainerPlacement, ...] | None:
        """Take places for it if it may start now; None when it may not."""
        request = self._requests.of(one)
        parts = self.rooms[one.group].place(request) if self._may(one, request) else None
        if parts is not None:
            self.ceilings.take(one.scopes, request.demand)
        return parts

    def _may(self, one: PendingSession, request: SessionRequirements) -> bool:
        return (
            not one.aside
            and one.group in self.rooms
            and self.ceilings.allow(one.scopes, request.demand)
            and not self.ceilings.kept_from(one.id, one.scopes, request.demand)
        )

    def _name(self, group: GroupId) -> tuple[str, str]:
        room = self.rooms.get(group)
        return (room.group.name if room else "", group)

    def _round(
        self,
        queues: Mapping[GroupId, GroupQueue],
        lines: Mapping[GroupId, list[PendingSession]],
        placements: list[Placement],
        *,
        hasty: bool,
    ) -> dict[GroupId, list[PendingSession]]:
        """Ask everybody once, or until nobody can start when in haste; those who do not start, in order."""
        refused: dict[GroupId, list[PendingSession]] = {group: [] for group in lines}
        remaining = self._remaining_candidates(lines) if hasty else None
        placed: set[SessionId] = set()
        if remaining is None or remaining:
            for one in _in_turn({group: queue.line(lines[group]) for group, queue in queues.items()}):
                if parts := self._asked(one, queues[one.group], remaining):
                    placed.add(one.id)
                    placements.append(Placement(one.id, parts))
                else:
                    refused[one.group].append(one)
                if remaining is not None and not remaining:
                    break
        if hasty:
            return {group: [one for one in line if one.id not in placed] for group, line in lines.items()}
        for group in lines.keys() - queues.keys():
            refused[group] = sorted(lines[group], key=lambda one: (-one.priority, one.since, one.id))
        return refused

    def _asked(
        self, one: PendingSession, queue: GroupQueue, remaining: RemainingCandidates | None
    ) -> tuple[ContainerPlacement, ...] | None:
        """Its places, or None after what it lacks was kept for it, when it has waited long."""
        if one.aside:
            return None
        parts = self.starts(one)
        if parts is not None:
            queue.placed(one)
        else:
            room = self.rooms[one.group]
            if self.snapshot.now - one.since > room.group.patience and self._keep_for(room, one):
                queue.guarded(one)
        if remaining is not None:
            remaining.asked(one, self._requests.of(one))
        return parts

    def _remaining_candidates(self, lines: Mapping[GroupId, Iterable[PendingSession]]) -> RemainingCandidates:
        def has_room(one: PendingSession) -> bool:
            room = self.rooms.get(one.group)
            return room is not None and room.fits(self._requests.of(one).anywhere)

        return RemainingCandidates(
            ((one, self._requests.of(one)) for line in lines.values() for one in line if not one.aside),
            has_room,
            self.would_start,
        )

    def _keep_for(self, room: Room, one: PendingSession) -> bool:
        """True: nodes."""
        request = self._requests.of(one)
        limits = self.ceilings.limits(one.scopes, request.demand)
        if (
            (room.keeps and not limits)
            or any(limit.never for limit in limits)
            or not room.could_hold(request)
        ):
            return False
        if self.ceilings.kept_from(one.id, one.scopes, request.demand):
            return False
        nodes = not limits and room.keep(request)
        if limits or nodes:
            self.ceilings.keep(one.id, one.scopes, request.demand)
        return nodes

    def _keep_nothing(self) -> None:
        self.ceilings.keep_nothing()
        for room in self.rooms.values():
            room.keep_nothing()

    def _may_change(self, lines: Mapping[GroupId, list[PendingSession]]) -> bool:
        """Asking again may give another answer: others rank first now, or something is kept for others."""
        waits = [room for group, room in self.rooms.items() if lines.get(group)]
        return any(
            room.keeps or self.ceilings.keeping or room.group.order in (QueueOrder.DRF, QueueOrder.FAIR_SHARE)
            for room in waits
        )


def _in_turn(lines: Mapping[GroupId, Iterator[PendingSession]]) -> Iterator[PendingSession]:
    """Of the groups' next in line the one who has waited longest: ceilings are common to them."""
    if len(lines) == 1:
        yield from next(iter(lines.values()))
        return
    heads = [(-one.priority, one.since, one.id, one) for line in lines.values() for one in _next(line)]
    heapq.heapify(heads)
    while heads:
        one = heads[0][3]
        yield one
        # Only now: who is next in its group may depend on what became of it.
        for after in _next(lines[one.group]):
            heapq.heapreplace(heads, (-after.priority, after.since, after.id, after))
            break
        else:
            heapq.heappop(heads)


def _next(line: Iterator[PendingSession]) -> Iterable[PendingSession]:
    one = next(line, None)
    return () if one is None else (one,)
