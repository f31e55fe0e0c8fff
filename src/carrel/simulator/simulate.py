"""Replay of a trace in virtual time, with the same planner that places real sessions.

Time advances from one event to the next: a session arrives, ends, or reaches the pending limit of its group. All events
of one instant are applied before one plan is made; the reason for waiting is computed only when a session leaves.
"""

import heapq
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import count

from carrel.core.errors import Invalid
from carrel.core.ids import SessionId
from carrel.scheduling import devices
from carrel.scheduling.cluster import Cluster, started
from carrel.scheduling.plan import Planning, plan
from carrel.scheduling.requirements import DistinctRequirements
from carrel.scheduling.snapshot import (
    ContainerPlacement,
    GroupChoice,
    PendingSession,
    Placement,
    QueueOrder,
    RunningSession,
)
from carrel.simulator.installation import SimulatedInstallation
from carrel.simulator.traces import TraceEntry

Watch = Callable[[int, int], None]
"""Progress callback: finished sessions, total sessions."""


class Fate(StrEnum):
    """Outcome of a session."""

    RAN = "ran"
    GAVE_UP = "gave_up"
    NEVER_STARTED = "never_started"


@dataclass(frozen=True, slots=True)
class Stay:
    """A session in the replay. until: when it ended or gave up; if it never started, the end of the replay.

    parts: its placements. reason: why it waited, if it never started or gave up.
    """

    arrival: TraceEntry
    fate: Fate
    until: datetime
    started: datetime | None = None
    parts: tuple[ContainerPlacement, ...] = ()
    reason: str = ""

    @property
    def waited(self) -> timedelta:
        """Time from arrival until start or departure."""
        return (self.started or self.until) - self.arrival.at


@dataclass(frozen=True)
class Replay:
    """stays: in order of arrival."""

    installation: SimulatedInstallation
    stays: tuple[Stay, ...]
    plans: int


def simulate(
    arrivals: Iterable[TraceEntry], installation: SimulatedInstallation, *, watch: Watch | None = None
) -> Replay:
    """Replay these sessions. Deterministic: same trace and installation, same replay.

    Raises: Invalid for times outside the calendar.
    """
    in_order = sorted(arrivals, key=lambda one: one.at)
    try:
        return _Replaying(in_order, installation, watch or (lambda done, of: None)).run()
    except OverflowError:
        raise Invalid("trace.unreadable", "The replay goes past the year 9999.", field="trace") from None


class _Replaying:
    def __init__(self, arrivals: list[TraceEntry], installation: SimulatedInstallation, watch: Watch) -> None:
        self._installation = installation
        self._watch = watch
        self._arrivals = {one.id: one for one in arrivals}
        self._coming = list(reversed(arrivals))
        self._waiting: dict[SessionId, PendingSession] = {}
        self._ends: list[tuple[datetime, int, RunningSession]] = []
        self._leaves: list[tuple[datetime, int, SessionId]] = []
        self._numbers = count()
        self._requests = DistinctRequirements(devices.units(installation.nodes), installation.groups)
        self._stays: dict[SessionId, Stay] = {}
        self._plans = 0
        first = arrivals[0].at if arrivals else datetime.min
        self._cluster = Cluster(installation.start((one.path for one in arrivals), first))

    def run(self) -> Replay:
        while (now := self._next()) is not None:
            before = self._cluster.now
            leaves = bool(self._leaves) and self._leaves[0][0] == now
            reasons = self._reasons() if leaves else {}
            self._cluster.now = now
            # 1. ends free capacity, arrivals join the queue, sessions past the pending limit leave
            ended = self._end(now)
            came = self._come(now)
            self._leave(now, reasons)
            # 2. one plan for all of it
            if self._waiting:
                self._plans += 1
                if ended or leaves or not self._blocked_as_before(before, came):
                    self._place(now)
            self._watch(len(self._stays), len(self._arrivals))
        reasons = self._reasons()
        for one in self._waiting:
            self._left(one, Fate.NEVER_STARTED, reasons)
        return Replay(self._installation, tuple(self._stays[one] for one in self._arrivals), self._plans)

    def _next(self) -> datetime | None:
        while self._leaves and self._leaves[0][2] not in self._waiting:
            heapq.heappop(self._leaves)
        times = [heap[0][0] for heap in (self._ends, self._leaves) if heap]
        times += [self._coming[-1].at] if self._coming else []
        return min(times, default=None)

    def _end(self, now: datetime) -> bool:
        """True if a session ended."""
        ended = False
        while self._ends and self._ends[0][0] <= now:
            self._cluster.give_back(heapq.heappop(self._ends)[2])
            ended = True
        return ended

    def _come(self, now: datetime) -> list[PendingSession]:
        came = []
        while self._coming and self._coming[-1].at <= now:
            one = self._coming.pop()
            waits = self._waiting[one.id] = PendingSession(
                id=one.id,
                slots=one.slots,
                since=one.at,
                group=one.group,
                path=one.path,
                scopes=self._installation.scopes(one.path),
                priority=one.priority,
                count=one.count,
                mode=one.mode,
                lasts=one.limit,
                choices=tuple(map(GroupChoice, (one.group, *one.alternatives))) if one.alternatives else (),
            )
            came.append(waits)
            if (patience := self._installation.pending.get(one.group)) is not None:
                heapq.heappush(self._leaves, (one.at + patience, next(self._numbers), one.id))
        return came

    def _blocked_as_before(self, before: datetime, came: list[PendingSession]) -> bool:
        """True if a plan would place nothing, because only arrivals happened since the previous plan.

        None of them could start even on its own. Reservations are kept for the same sessions, the order of the others
        is unchanged, and none has exceeded the patience of its group since. (Past usage decays with time; the order
        over several groups may change, unless it is by arrival.)
        """
        orders = {group.order for group in self._installation.groups}
        if orders != {QueueOrder.FIFO} and (
            len(self._installation.groups) > 1 or QueueOrder.FAIR_SHARE in orders
        ):
            return False
        patience = {group.id: group.patience for group in self._installation.groups}
        now = self._cluster.now
        for one in self._waiting.values():
            limits = [patience[group] for group in one.groups if group in patience]
            if any(before - one.since <= most < now - one.since for most in limits):
                return False
        planning = Planning(self._cluster.snapshot(came), self._requests)
        return not any(planning.would_start(each) for one in came for each in planning.in_queues(one))

    def _leave(self, now: datetime, reasons: Mapping[SessionId, str]) -> None:
        while self._leaves and self._leaves[0][0] <= now:
            one = heapq.heappop(self._leaves)[2]
            if one in self._waiting:
                self._left(one, Fate.GAVE_UP, reasons)
                del self._waiting[one]

    def _left(self, one: SessionId, fate: Fate, reasons: Mapping[SessionId, str]) -> None:
        self._stays[one] = Stay(self._arrivals[one], fate, self._cluster.now, reason=reasons.get(one, ""))

    def _place(self, now: datetime) -> None:
        decided = Planning(self._cluster.snapshot(self._waiting.values()), self._requests).decide()
        for place in decided:
            self._start(place, now)

    def _reasons(self) -> dict[SessionId, str]:
        """Why each session is pending since the last instant: repeating a plan gives the same reasons."""
        if not self._waiting:
            return {}
        refusals = plan(self._cluster.snapshot(self._waiting.values())).refusals
        return {one.session: one.reason for one in refusals if one.group == self._waiting[one.session].group}

    def _start(self, place: Placement, now: datetime) -> None:
        one = self._arrivals[place.session]
        runs = one.runs if one.limit is None else min(one.runs, one.limit)
        running = replace(started(self._waiting.pop(one.id), place, now), ends=now + runs)
        self._cluster.take(running)
        heapq.heappush(self._ends, (now + runs, next(self._numbers), running))
        self._stays[one.id] = Stay(one, Fate.RAN, now + runs, now, place.parts)
