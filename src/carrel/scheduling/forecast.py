"""Forecast when waiting sessions start, from the time limits of the sessions that run and of those before it."""

import heapq
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import count

from carrel.core.ids import SessionId
from carrel.scheduling.array_limits import ArrayLimit, set_aside
from carrel.scheduling.awaiting import Awaiting
from carrel.scheduling.cluster import Cluster, started
from carrel.scheduling.plan import Planning
from carrel.scheduling.snapshot import PendingSession, RunningSession, Snapshot

_Ends = list[tuple[datetime, int, RunningSession | PendingSession]]

MOST_EVENTS = 500
MOST_WORK = 20_000
"""Limits of a forecast: how many instants it looks at, and how many nodes and sessions in all (about half a second)."""


@dataclass(frozen=True)
class Forecast:
    """starts: of the sessions that known ends let start within the horizon. complete: false if others may start within
    it, too, because the limits of work were reached.
    """

    starts: Mapping[SessionId, datetime]
    complete: bool


def forecast(
    snapshot: Snapshot, sessions: Collection[SessionId], horizon: timedelta, *, work: int | None = None
) -> Forecast:
    """When these sessions start if no other session is created and each one runs until its time limit, and if those
    that they are to start after end as they need.

    Makes a new plan at each instant at which a session ends (one that runs now, or starts meanwhile) or at which a
    session is considered again, until all of these have started. snapshot: must have `running`. work: the limit
    instead of MOST_WORK.
    """
    if not sessions:
        return Forecast({}, complete=True)
    starts: dict[SessionId, datetime] = {}
    cluster, awaiting = Cluster(snapshot), Awaiting(snapshot)
    waiting = {one.id: one for one in snapshot.waiting}
    placed = Counter(one.array for one in snapshot.running)
    numbers = count()
    # A session past its time limit ends any moment.
    ends: _Ends = [(max(one.ends, snapshot.now), next(numbers), one) for one in snapshot.running if one.ends]
    ends += [(one.not_before, next(numbers), one) for one in snapshot.waiting if one.aside and one.not_before]
    heapq.heapify(ends)
    _free(waiting, awaiting.free(), snapshot.now)
    size = len(waiting) + len(snapshot.nodes)
    # For one session, a few instants are looked at however long the queue is.
    most = max(MOST_WORK, 4 * size) if work is None else work
    for _ in range(min(MOST_EVENTS, most // size)):
        for place in Planning(cluster.snapshot(_in_turn(waiting.values(), placed))).decide():
            if place.session in sessions:
                starts[place.session] = cluster.now
            one = started(waiting.pop(place.session), place, cluster.now)
            cluster.take(one)
            placed[one.array] += 1
            if one.ends:
                heapq.heappush(ends, (one.ends, next(numbers), one))
        if len(starts) == len(sessions) or not ends or ends[0][0] - snapshot.now > horizon:
            return Forecast(starts, complete=True)
        cluster.now = ends[0][0]
        for ended in _ended(cluster.now, ends):
            if isinstance(ended, RunningSession):
                cluster.give_back(ended)
                placed[ended.array] -= 1
                _free(waiting, awaiting.end(ended), cluster.now)
            else:
                later = waiting[ended.id]
                waiting[ended.id] = replace(later, not_before=None, aside=later.aside if later.after else "")
    return Forecast(starts, complete=False)


def _ended(now: datetime, ends: _Ends) -> Iterator[RunningSession | PendingSession]:
    """Remove and give the entries that are due."""
    while ends and ends[0][0] <= now:
        yield heapq.heappop(ends)[2]


def _free(waiting: dict[SessionId, PendingSession], sessions: Iterable[SessionId], now: datetime) -> None:
    """All that these sessions wait for have ended."""
    for session in sessions:
        one = waiting[session]
        later = one.not_before and one.not_before > now
        waiting[session] = replace(
            one, after=frozenset(), since=max(one.since, now), aside=one.aside if later else ""
        )


def _in_turn(
    waiting: Collection[PendingSession], placed: Counter[SessionId | None]
) -> Collection[PendingSession]:
    """Set aside those of each array that it does not allow to run now, given how many are placed."""
    limits = {
        one.array: ArrayLimit(one.array_most, placed[one.array])
        for one in waiting
        if one.array and one.array_most is not None
    }
    if not limits:
        return waiting
    return set_aside(
        [replace(one, aside="", in_array_queue=False) if one.in_array_queue else one for one in waiting],
        limits,
    )
