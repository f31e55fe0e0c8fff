"""When somebody who waits will start, as far as time limits tell."""

import heapq
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count

from carrel.core.ids import SessionId
from carrel.scheduling.cluster import Cluster, started
from carrel.scheduling.plan import Planning
from carrel.scheduling.snapshot import Running, Snapshot, Waiting

_Ends = list[tuple[datetime, int, Running | Waiting]]

MOST_EVENTS = 500
MOST_WORK = 20_000
"""Who has not started after so many instants at which somebody ends is not waited for any longer; nor when so many
nodes and sessions were looked at: about half a second."""


def ahead(snapshot: Snapshot, session: SessionId, horizon: timedelta) -> datetime | None:
    """When the session starts, if nobody else comes and whoever has a time limit uses all of it.

    The plan is made anew at each instant at which somebody ends, among those who run and those who start meanwhile,
    or is no longer passed over.
    None: no end that is known lets it start within the horizon. snapshot: with `running`.
    """
    cluster = Cluster(snapshot)
    waiting = {one.id: one for one in snapshot.waiting}
    numbers = count()
    # Whoever is past their limit ends any moment.
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
            if isinstance(ended, Running):
                cluster.give_back(ended)
            else:
                waiting[ended.id] = replace(ended, aside="")
    return None


def _ended(now: datetime, ends: _Ends) -> Iterator[Running | Waiting]:
    """Everybody whose time is up."""
    while ends and ends[0][0] <= now:
        yield heapq.heappop(ends)[2]
