"""The plan: which sessions start where, and why the others stay pending.

In each resource group sessions are placed in queue order. A session that does not fit lets later ones pass
(backfill), but only until it has waited for the group's patience. Then the scheduler reserves what it lacks (the
guard), so that a stream of small sessions cannot starve a large one. It reserves

- capacity on the nodes that must free the least before it fits. The missing part only shrinks. A session too large
for empty open nodes reserves nothing.
- its demand in every ceiling that it counts against. A session larger than a ceiling reserves nothing.

At most one session per group has a node reservation, and one per ceiling and slot; after it has started, the next one
gets its turn. A session blocked by a ceiling reserves no nodes, because they would stand idle.
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
        self._requests = requests or DistinctRequirements(devices.units(snapshot.nodes))

    def run(self) -> Plan:
        """Call once, and not after `decide`."""
        # 1. place sessions
        placements, lines = self._decided(hasty=False)
        # 2. explain the others, after all placements
        refusals = [
            Refusal(one.id, blocked.sentence, position, blocked.cause, one.behind)
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
        # 2. try sessions until none starts
        placements: list[Placement] = []
        again = True
        while again:
            before = len(placements)
            self._keep_nothing()
            lines |= self._round(queues, lines, placements, hasty=hasty)
            again = len(placements) > before and self._may_change(lines)
        return placements, lines

    def blocked(self, one: PendingSession) -> Blocked:
        """Why it did not, or would not, start."""
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
        refused: dict[GroupId, list[PendingSession]] = {group: [] for group in lines}
        remaining = self._remaining_candidates(lines) if hasty else None
        placed: set[SessionId] = set()
        if remaining is None or remaining:
            for one in _in_turn({group: queue.line(lines[group]) for group, queue in queues.items()}):
                if parts := self._try(one, queues[one.group], remaining):
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

    def _try(
        self, one: PendingSession, queue: GroupQueue, remaining: RemainingCandidates | None
    ) -> tuple[ContainerPlacement, ...] | None:
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
        if remaining is not None:
            remaining.tried(one, self._requests.of(one))
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


def _in_turn(lines: Mapping[GroupId, Iterator[PendingSession]]) -> Iterator[PendingSession]:
    """The longest-waiting head of all group queues, because groups share ceilings."""
    if len(lines) == 1:
        yield from next(iter(lines.values()))
        return
    heads = [(-one.priority, one.since, one.id, one) for line in lines.values() for one in _next(line)]
    heapq.heapify(heads)
    while heads:
        one = heads[0][3]
        yield one
        # Only now, because the next head of its group may depend on this result.
        for after in _next(lines[one.group]):
            heapq.heapreplace(heads, (-after.priority, after.since, after.id, after))
            break
        else:
            heapq.heappop(heads)


def _next(line: Iterator[PendingSession]) -> Iterable[PendingSession]:
    one = next(line, None)
    return () if one is None else (one,)
