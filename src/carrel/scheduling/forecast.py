"""Forecast when a waiting session starts, from the time limits of the sessions that run."""

import heapq
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count

from carrel.core.ids import SessionId
from carrel.scheduling.cluster import Cluster, started
from carrel.scheduling.plan import Planning
from carrel.scheduling.snapshot import PendingSession, RunningSession, Snapshot

_Ends = list[tuple[datetime, int, RunningSession | PendingSession]]

MOST_EVENTS = 500
MOST_WORK = 20_000
"""Limits of a forecast: how many instants it looks at, and how many nodes and sessions in all (about half a second)."""


def forecast_start(snapshot: Snapshot, session: SessionId, horizon: timedelta) -> datetime | None:
    """When the session starts if no other session is created and each one runs until its time limit.

    Makes a new plan at each instant at which a session ends (one that runs now, or starts meanwhile) or at which a
    session is considered again. None: no known end lets the session start within the horizon.
    snapshot: must have `running`.
    """
    cluster = Cluster(snapshot)
    waiting = {one.id: one for one in snapshot.waiting}
    numbers = count()
    # A session past its time limit ends any moment.
    ends: _Ends = [(max(one.ends, snapshot.now), next(numbers), one) for one in snapshot.running if one.ends]
    ends += [(one.not_before, next(numbers), one) for one in snapshot.waiting if one.aside and one.not_before]
    heapq.heapify(ends)
    for _ in range(max(min(MOST_EVENTS, MOST_WORK // (len(waiting) + len(snapshot.nodes))), 4)):
        for place in Planning(cluster.snapshot(waiting.values())).decide():
            if place.session == session:
                return cluster.now
            one = started(waiting.pop(place.session), place, cluster.now)
            cluster.take(one)
            if one.ends:
                heapq.heappush(ends, (one.ends, next(numbers), one))
        if not ends or ends[0][0] - snapshot.now > horizon:
            return None
        cluster.now = ends[0][0]
        for ended in _ended(cluster.now, ends):
            if isinstance(ended, RunningSession):
                cluster.give_back(ended)
            else:
                waiting[ended.id] = replace(ended, aside="")
    return None


def _ended(now: datetime, ends: _Ends) -> Iterator[RunningSession | PendingSession]:
    """Remove and give the entries that are due."""
    while ends and ends[0][0] <= now:
        yield heapq.heappop(ends)[2]
