"""The plan: which sessions start where, and why the others stay pending.

In each resource group sessions are placed in queue order. A session that does not fit lets later ones pass
(backfill), but only until it has waited for the group's patience. Then the scheduler reserves what it lacks (the
guard), so that a stream of small sessions cannot starve a large one. It reserves

- capacity on the nodes that must free the least before it fits. The missing part only shrinks. A session too large
for empty open nodes reserves nothing.
- its demand in every ceiling that it counts against. A session larger than a ceiling reserves nothing.

At most one session per group has a node reservation, and one per ceiling and slot; after it has started, the next one
gets its turn. A session blocked by a ceiling reserves no nodes, because they would stand idle.

A session that accepts several groups is in the queue of each, and starts in the first of them that can take it, in the
order of its preference. It has at most one reservation, in the first group that can have one.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

from carrel.core.ids import GroupId, SessionId
from carrel.scheduling import devices, order, reasons
from carrel.scheduling.candidates import RemainingCandidates
from carrel.scheduling.ceilings import Ceilings
from carrel.scheduling.order import GroupQueue
from carrel.scheduling.placement import Room
from carrel.scheduling.reasons import Blocked
from carrel.scheduling.requirements import DistinctRequirements, SessionRequirements, unevenly_held
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
from carrel.scheduling.turns import in_turn


def plan(snapshot: Snapshot) -> Plan:
    """Placements, and refusals with reasons in queue order of each group.

    Twice, with the first plan applied: no placements and the same refusals.
    """
    return Planning(snapshot).run()


class Planning:
    """A plan in progress; afterwards the remaining capacity, for queries."""

    def __init__(self, snapshot: Snapshot, requests: DistinctRequirements | None = None) -> None:
        """requests: cached requirements from an earlier plan."""
        self.snapshot = snapshot
        self.ceilings = Ceilings(snapshot.scopes)
        by_group = defaultdict(list)
        for node in snapshot.nodes:
            by_group[node.group].append(node)
        self.rooms = {group.id: Room(group, by_group[group.id]) for group in snapshot.groups}
        self._requests = requests or DistinctRequirements(
            devices.units(snapshot.nodes), snapshot.groups, unevenly_held(snapshot.nodes)
        )
        self._choices: dict[SessionId, Sequence[PendingSession]] = {}
        """A session that accepts several groups as it is in the queue of each."""
        self._keeping: set[SessionId] = set()

    def run(self) -> Plan:
        """Call once, and not after `decide`."""
        # 1. place sessions
        placements, lines = self._decided(hasty=False)
        # 2. explain the others, after all placements
        refusals = [
            Refusal(one.id, blocked.sentence, position, blocked.cause, one.behind, group)
            for group in sorted(lines, key=self._name)
            for position, one in _positions(lines[group])
            for blocked in (self.blocked(one),)
        ]
        return Plan(tuple(placements), tuple(refusals))

    def decide(self) -> Sequence[Placement]:
        """Placements only, as in `run`, without explaining the others."""
        return self._decided(hasty=True)[0]

    def _decided(self, *, hasty: bool) -> tuple[list[Placement], dict[GroupId, list[PendingSession]]]:
        """Placements and the remaining sessions, in queue order unless in haste."""
        # 1. build the queues
        lines: defaultdict[GroupId, list[PendingSession]] = defaultdict(list)
        queued = [one for waits in self.snapshot.waiting for one in self.in_queues(waits)]
        for one in queued:
            lines[one.group].append(one)
        for request in dict.fromkeys(map(self._requests.of, queued)):
            if request.group in self.rooms:
                self.rooms[request.group].expect(request)
        queues = {
            group: order.queue(room.group, room.capacity(), self.snapshot.now)
            for group, room in self.rooms.items()
            if group in lines
        }
        # 2. try sessions until none starts
        placements: list[Placement] = []
        again = True
        while again:
            before = len(placements)
            self._keep_nothing()
            lines |= self._round(queues, lines, placements, hasty=hasty)
            again = len(placements) > before and self._may_change(lines)
        return placements, lines

    def in_queues(self, one: PendingSession) -> Sequence[PendingSession]:
        """A pending session as it is in the queue of each group that it accepts, the preferred first. A group in which
        it has failed to start on all nodes comes last.
        """
        if not one.choices:
            return (one,)
        if one.id not in self._choices:
            order = sorted(one.choices, key=lambda choice: self._is_avoided(choice.group, one))
            self._choices[one.id] = [
                replace(one.in_group(choice.group), choices=tuple(order)) for choice in order
            ]
        return self._choices[one.id]

    def requirements(self, one: PendingSession) -> SessionRequirements:
        """What it needs in its group."""
        return self._requests.of(one)

    def _is_avoided(self, group: GroupId, one: PendingSession) -> bool:
        nodes = self.rooms[group].nodes if group in self.rooms and one.avoid else ()
        return bool(nodes) and all(node.closed or node.id in one.avoid for node in nodes)

    def blocked(self, one: PendingSession) -> Blocked:
        """Why it did not, or would not, start in its group."""
        room = self.rooms.get(one.group)
        if room is None:
            return Blocked(Cause.GROUP, "Its resource group is not active.")
        if one.aside:
            return Blocked(Cause.NOT_YET, one.aside)
        request = self._requests.of(one)
        if limits := self.ceilings.limits(one.scopes, request.demand):
            return reasons.by_limits(limits)
        kept = self.ceilings.kept_from(one.id, one.scopes, request.demand)
        if kept and room.fits(request.anywhere):
            scope, slot = kept
            return reasons.held_back(f"the {slot} that {self.snapshot.scopes[scope].label} may still use")
        return room.blocked(request)

    def blockers(self, one: PendingSession) -> Sequence[Blocked]:
        """As `blocked`, followed by what would block it next: nodes behind a ceiling."""
        first, request = self.blocked(one), self._requests.of(one)
        if first.cause is not Cause.LIMIT or self.rooms[one.group].fits(request.anywhere):
            return (first,)
        return first, self.rooms[one.group].blocked(request)

    def would_start(self, one: PendingSession) -> bool:
        """As if it were requested now."""
        request = self._requests.of(one)
        return self._may(one, request) and self.rooms[one.group].fits(request.anywhere)

    def starts(self, one: PendingSession) -> tuple[ContainerPlacement, ...] | None:
        """Place it if it may start now, otherwise None."""
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
        """Try every session once, or in haste until none can start; returns those that do not start, in order."""
        tried: dict[GroupId, list[PendingSession]] = {group: [] for group in lines}
        remaining = self._remaining_candidates(lines) if hasty else None
        first = len(placements)
        placed: set[SessionId] = set()
        early: list[PendingSession] = []

        def attempt(one: PendingSession) -> None:
            if one.id not in placed and (parts := self._try(one, queues[one.group])):
                placed.add(one.id)
                placements.append(Placement(one.id, parts, one.group))

        if remaining is None or remaining:
            for one in in_turn({group: queue.line(lines[group]) for group, queue in queues.items()}):
                tried[one.group].append(one)
                if one.choices and one.id not in placed and self._starts_in_preferred(one):
                    early.append(one)
                else:
                    before = len(placements), len(self._keeping)
                    attempt(one)
                    if remaining is not None and not one.aside:
                        took = before != (len(placements), len(self._keeping))
                        remaining.tried(one, self._requests.of(one), took=took)
                if remaining is not None and not remaining:
                    break
            for one in early:
                attempt(one)
        for group in lines.keys() - queues.keys():
            tried[group] = sorted(lines[group], key=lambda one: (-one.priority, one.since, one.id))
        left = lines if hasty else tried
        if len(placements) == first:
            return dict(left)
        return {group: [one for one in line if one.id not in placed] for group, line in left.items()}

    def _starts_in_preferred(self, one: PendingSession) -> bool:
        """True if it may still start in a group that it prefers: its turn there comes later."""
        return any(map(self.would_start, takewhile(lambda other: other is not one, self.in_queues(one))))

    def _try(self, one: PendingSession, queue: GroupQueue) -> tuple[ContainerPlacement, ...] | None:
        """Its placements, or None; a session past the patience gets a reservation then."""
        if one.aside:
            return None
        parts = self.starts(one)
        if parts is not None:
            queue.placed(one)
        else:
            room = self.rooms[one.group]
            if self.snapshot.now - one.since > room.group.patience and self._keep_for(room, one):
                queue.guarded(one)
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
        if one.id in self._keeping:
            return False
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
            self._keeping.add(one.id)
            self.ceilings.keep(one.id, one.scopes, request.demand)
        return nodes

    def _keep_nothing(self) -> None:
        self._keeping.clear()
        self.ceilings.keep_nothing()
        for room in self.rooms.values():
            room.keep_nothing()

    def _may_change(self, lines: Mapping[GroupId, list[PendingSession]]) -> bool:
        """Trying again may give another result: the ranking changed or a reservation was made."""
        waits = [room for group, room in self.rooms.items() if lines.get(group)]
        return any(
            room.keeps or self.ceilings.keeping or room.group.order in (QueueOrder.DRF, QueueOrder.FAIR_SHARE)
            for room in waits
        )


def _positions(line: Iterable[PendingSession]) -> Iterator[tuple[int, PendingSession]]:
    position = 1
    for one in line:
        yield position, one
        position += 1 + one.behind
