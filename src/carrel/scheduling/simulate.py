"""A trace replayed in virtual time, by the same plan that places real sessions.

Time goes from one event to the next: somebody comes, ends, or has waited as long as the group lets them. All that
happens at one instant happens, and then one plan is made.
"""

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import count

from carrel.core.ids import SessionId
from carrel.scheduling.cluster import Cluster, started
from carrel.scheduling.installation import Installation
from carrel.scheduling.plan import plan
from carrel.scheduling.snapshot import Part, Placement, Running, Waiting
from carrel.scheduling.traces import Arrival

Watch = Callable[[int, int], None]
"""Told now and then how many of how many have come to their end."""


class Fate(StrEnum):
    """What became of a session."""

    RAN = "ran"
    GAVE_UP = "gave_up"
    NEVER_STARTED = "never_started"


@dataclass(frozen=True, slots=True)
class Stay:
    """A session in the replay. until: when it ended, or gave up; of who never started, when the replay ended.

    parts: where it ran. reason: why it waited, when it never started or gave up.
    """

    arrival: Arrival
    fate: Fate
    until: datetime
    started: datetime | None = None
    parts: tuple[Part, ...] = ()
    reason: str = ""

    @property
    def waited(self) -> timedelta:
        """From its arrival until it started, or left."""
        return (self.started or self.until) - self.arrival.at


@dataclass(frozen=True)
class Replay:
    """stays: in order of arrival."""

    installation: Installation
    stays: tuple[Stay, ...]
    plans: int


def simulate(
    arrivals: Iterable[Arrival], installation: Installation, *, watch: Watch | None = None
) -> Replay:
    """What would have become of these sessions. Same trace and installation, same replay."""
    return _Replaying(
        sorted(arrivals, key=lambda one: one.at), installation, watch or (lambda done, of: None)
    ).run()


class _Replaying:
    def __init__(self, arrivals: list[Arrival], installation: Installation, watch: Watch) -> None:
        self._installation = installation
        self._watch = watch
        self._arrivals = {one.id: one for one in arrivals}
        self._coming = list(reversed(arrivals))
        self._waiting: dict[SessionId, Waiting] = {}
        self._ends: list[tuple[datetime, int, Running]] = []
        self._leaves: list[tuple[datetime, int, SessionId]] = []
        self._numbers = count()
        self._stays: dict[SessionId, Stay] = {}
        self._reasons: dict[SessionId, str] = {}
        self._plans = 0
        first = arrivals[0].at if arrivals else datetime.min
        self._cluster = Cluster(installation.start((one.path for one in arrivals), first))

    def run(self) -> Replay:
        while (now := self._next()) is not None:
            self._cluster.now = now
            # 1. who ends makes room, who comes asks for it, who has waited too long does not any more
            self._end(now)
            self._come(now)
            self._leave(now)
            # 2. one plan for all of it
            if self._waiting:
                self._place(now)
            self._watch(len(self._stays), len(self._arrivals))
        for one in self._waiting:
            self._left(one, Fate.NEVER_STARTED)
        return Replay(self._installation, tuple(self._stays[one] for one in self._arrivals), self._plans)

    def _next(self) -> datetime | None:
        while self._leaves and self._leaves[0][2] not in self._waiting:
            heapq.heappop(self._leaves)
        times = [heap[0][0] for heap in (self._ends, self._leaves) if heap]
        times += [self._coming[-1].at] if self._coming else []
        return min(times, default=None)

    def _end(self, now: datetime) -> None:
        while self._ends and self._ends[0][0] <= now:
            self._cluster.give_back(heapq.heappop(self._ends)[2])

    def _come(self, now: datetime) -> None:
        while self._coming and self._coming[-1].at <= now:
            one = self._coming.pop()
            self._waiting[one.id] = Waiting(
                id=one.id, slots=one.slots, since=one.at, group=one.group, path=one.path,
                scopes=self._installation.scopes(one.path), priority=one.priority, count=one.count, mode=one.mode,
                lasts=one.limit,
            )  # fmt: skip
            if (patience := self._installation.pending.get(one.group)) is not None:
                heapq.heappush(self._leaves, (one.at + patience, next(self._numbers), one.id))

    def _leave(self, now: datetime) -> None:
        while self._leaves and self._leaves[0][0] <= now:
            one = heapq.heappop(self._leaves)[2]
            if one in self._waiting:
                self._left(one, Fate.GAVE_UP)
                del self._waiting[one]

    def _left(self, one: SessionId, fate: Fate) -> None:
        self._stays[one] = Stay(
            self._arrivals[one], fate, self._cluster.now, reason=self._reasons.get(one, "")
        )

    def _place(self, now: datetime) -> None:
        decided = plan(self._cluster.snapshot(self._waiting.values()))
        self._plans += 1
        for place in decided.placements:
            self._start(place, now)
        self._reasons = {refusal.session: refusal.reason for refusal in decided.refusals}

    def _start(self, place: Placement, now: datetime) -> None:
        one = self._arrivals[place.session]
        runs = one.runs if one.limit is None else min(one.runs, one.limit)
        running = replace(started(self._waiting.pop(one.id), place, now), ends=now + runs)
        self._cluster.take(running)
        heapq.heappush(self._ends, (now + runs, next(self._numbers), running))
        self._stays[one.id] = Stay(one, Fate.RAN, now + runs, now, place.parts)
