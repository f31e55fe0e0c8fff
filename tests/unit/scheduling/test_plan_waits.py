"""What plans keep over time, driven in virtual time: nobody waits for ever, and shares come out as they should."""

import heapq
from dataclasses import replace
from datetime import datetime, timedelta
from fractions import Fraction
from itertools import count
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from plan_kit import CUDA, NOW, node_with, pending

from carrel.core.ids import GroupId, NodeId, SessionId
from carrel.scheduling.cluster import Cluster, started
from carrel.scheduling.plan import plan
from carrel.scheduling.snapshot import (
    SESSIONS,
    ClusterMode,
    DeviceSnapshot,
    GroupSnapshot,
    NodeSnapshot,
    PendingSession,
    QueueOrder,
    ScopeSnapshot,
    ShareSnapshot,
    Snapshot,
    Strategy,
)

PATIENCE = timedelta(minutes=5)
LONGEST = timedelta(minutes=10)
GROUP, OTHER = GroupId("a"), GroupId("b")
OWNERS = [("d1", "p1", "u1"), ("d1", "p1", "u2"), ("d1", "p2", "u3"), ("d2", "p3", "u4"), ("d2", "p3", "u5")]
GENEROUS = ScopeSnapshot("anybody", {"cpu": 10**6, SESSIONS: 10**6})


class Days:
    """A cluster on which there is always more to do than it can: whenever few wait, more small sessions arrive."""

    def __init__(
        self, snapshot: Snapshot, random: Random, small: list[PendingSession], *, backlog: int = 8
    ) -> None:
        self.cluster = Cluster(snapshot)
        self.waiting: dict[SessionId, PendingSession] = {}
        self._random = random
        self._small = small
        self._backlog = backlog
        self._numbers = count()
        self._ends: list[tuple[datetime, int, object]] = []

    @property
    def now(self) -> datetime:
        return self.cluster.now

    def arrive(self, one: PendingSession) -> SessionId:
        one = replace(one, id=SessionId(f"s{next(self._numbers):05}"), since=self.now)
        self.waiting[one.id] = one
        return one.id

    def step(self) -> set[SessionId]:
        """To the next end; who has started there."""
        self._arrivals()
        placed = plan(self.cluster.snapshot(self.waiting.values())).placements
        for placement in placed:
            one = started(self.waiting.pop(placement.session), placement, self.now)
            self.cluster.take(one)
            assert one.ends
            heapq.heappush(self._ends, (one.ends, next(self._numbers), one))
        if not placed:
            # Ends that coincide are one event; nothing else happens in between.
            self.cluster.now = self._ends[0][0]
            while self._ends and self._ends[0][0] == self.now:
                self.cluster.give_back(heapq.heappop(self._ends)[2])
        return {placement.session for placement in placed}

    def _arrivals(self) -> None:
        for kind in self._small:
            while (
                sum(one.path == kind.path and one.group == kind.group for one in self.waiting.values())
                < self._backlog
            ):
                lasts = timedelta(seconds=self._random.randint(60, int(LONGEST.total_seconds())))
                self.arrive(replace(kind, lasts=lasts))


def session(slots, path, *, group=GROUP, scopes=(), **more) -> PendingSession:
    return pending("", slots, group=group, path=path, scopes=scopes, lasts=LONGEST, **more)


def longest_wait(days: Days, large: list[PendingSession], bound: timedelta) -> timedelta:
    """Of those who are large and arrive when all is in full swing."""
    for _ in range(60):
        days.step()
    came = days.now
    missing = {days.arrive(one) for one in large}
    while missing and days.now - came <= bound:
        missing -= days.step()
    assert not missing, f"still waiting after {days.now - came}"
    return days.now - came


LARGE = {
    "a node": (session({"cpu": 8}, OWNERS[0]),),
    "most of a node": (session({"cpu": 5}, OWNERS[0]),),
    "a node of many": (session({"cpu": 4}, OWNERS[0], count=2),),
    "two nodes": (session({"cpu": 8}, OWNERS[0], count=2, mode=ClusterMode.MULTI_NODE),),
    "two devices": (session({"cpu": 1, "cuda.device": 2}, OWNERS[0]),),
    "several large": tuple(session({"cpu": 8}, owner) for owner in (OWNERS[0], OWNERS[2], OWNERS[3])),
}


def cluster(order: QueueOrder, strategy: Strategy, **more) -> Snapshot:
    nodes = tuple(
        NodeSnapshot(
            NodeId(f"n{number}"),
            f"n{number}",
            {"cpu": 8, "cuda.device": 2, "cuda.shares": 2000},
            {},
            GROUP,
            devices=(DeviceSnapshot("x", "cuda", slots=CUDA), DeviceSnapshot("y", "cuda", slots=CUDA)),
        )
        for number in range(3)
    )
    groups = (GroupSnapshot(GROUP, "a", order, strategy, patience=PATIENCE, half_life=timedelta(hours=2)),)
    return Snapshot(nodes, (), NOW, groups, **more)


@pytest.mark.parametrize("order", QueueOrder)
@pytest.mark.parametrize("large", LARGE)
@given(st.randoms(use_true_random=False), st.sampled_from(Strategy), st.integers(1, len(OWNERS)))
@settings(max_examples=3)
def test_an_endless_stream_of_small_sessions_does_not_starve_a_large_one(
    order, large, random, strategy, owners
):
    """Those who came before it, its patience, and then all that runs has to end, or more than once where several
    large ones take turns, or where it is first others' fair turn.
    """
    small = [session({"cpu": 1, "cuda.shares": 300}, owner) for owner in OWNERS[:owners]]
    days = Days(cluster(order, strategy), random, small)
    longest_wait(days, list(LARGE[large]), BOUND[order] + LONGEST * (len(LARGE[large]) - 1))


BOUND = {
    QueueOrder.FIFO: PATIENCE + LONGEST * 3,
    QueueOrder.LIFO: PATIENCE + LONGEST * 3,
    QueueOrder.DRF: PATIENCE + LONGEST * 4,
    QueueOrder.FAIR_SHARE: PATIENCE + LONGEST * 12,
}


@pytest.mark.parametrize("order", QueueOrder)
@pytest.mark.parametrize("elsewhere", [False, True], ids=["in its group", "in another group"])
@given(st.randoms(use_true_random=False))
@settings(max_examples=4)
def test_nor_does_it_take_its_ceiling_away(order, elsewhere, random):
    limit = {"d1": ScopeSnapshot("domain d1", {"cpu": 8})}
    start = cluster(order, Strategy.DISPERSED, scopes=limit)
    more = node_with("n9", {"cpu": 8}, group=OTHER)
    start = replace(
        start,
        nodes=(*start.nodes, more),
        groups=(*start.groups, GroupSnapshot(OTHER, "b", order, patience=PATIENCE)),
    )
    small = [session({"cpu": 1}, owner, scopes=("d1",)) for owner in OWNERS[:3]]
    days = Days(start, random, small)
    large = session({"cpu": 8}, OWNERS[1], group=OTHER if elsewhere else GROUP, scopes=("d1",))
    longest_wait(days, [large], BOUND[order])


def test_without_patience_for_it_a_large_session_would_starve():
    """What the other tests would look like if nothing were kept."""
    start = cluster(QueueOrder.FIFO, Strategy.DISPERSED)
    start = replace(start, groups=tuple(replace(group, patience=timedelta(days=9)) for group in start.groups))
    days = Days(start, Random(1), [session({"cpu": 1}, owner) for owner in OWNERS])
    with pytest.raises(AssertionError, match="still waiting"):
        longest_wait(days, list(LARGE["a node"]), LONGEST * 12)


@given(
    st.lists(
        st.fixed_dictionaries({"cpu": st.integers(1, 9), "mem": st.integers(1, 9)}), min_size=2, max_size=5
    ),
    st.booleans(),
)
@example([{"cpu": 1, "mem": 6}, {"cpu": 1, "mem": 8}, {"cpu": 1, "mem": 1}, {"cpu": 1, "mem": 1}], True)
@settings(max_examples=30)
def test_drf_gives_everybody_the_ideal_share_within_one_request(requests, waited):
    """Everybody wants more than there is, on one node, so that requests are small parts of it."""
    capacity = {"cpu": 400, "mem": 300}
    # Exact: equal shares must compare equal.
    parts = [max(Fraction(slots[slot], capacity[slot]) for slot in capacity) for slots in requests]
    # All dominant shares grow alike until one slot is used up.
    rate = max(
        sum(w[slot] / part for w, part in zip(requests, parts, strict=True)) / capacity[slot]
        for slot in capacity
    )
    since = NOW - PATIENCE * 2 if waited else NOW
    line = tuple(
        PendingSession(SessionId(f"{owner}-{n:03}"), slots, since, GROUP, ("d", "p", f"u{owner}"))
        for owner, slots in enumerate(requests)
        for n in range(400 // min(slots.values()))
    )
    node = node_with("n", capacity, group=GROUP)
    groups = (GroupSnapshot(GROUP, order=QueueOrder.DRF, patience=PATIENCE),)
    left, levels = dict(capacity), [Fraction(0)] * len(requests)
    for placement in plan(Snapshot((node,), line, NOW, groups)).placements:
        lowest = [wants for wants, level in zip(requests, levels, strict=True) if level == min(levels)]
        if any(wants[slot] > left[slot] for wants in lowest for slot in capacity):
            # From here on others fill what is left over.
            break
        owner = int(placement.session.partition("-")[0])
        levels[owner] += parts[owner]
        left = {slot: left[slot] - requests[owner][slot] for slot in capacity}
    assert all(abs(level - 1 / rate) <= max(parts) for level in levels)


@pytest.mark.parametrize("weights", [(1.0, 1.0), (1.0, 3.0), (2.0, 1.0)])
def test_fair_share_comes_to_the_weights_however_long_everybody_has_waited(weights):
    shares = {(f"d{n}",): ShareSnapshot(weight=weight) for n, weight in enumerate(weights, start=1)}
    start = cluster(QueueOrder.FAIR_SHARE, Strategy.DISPERSED)
    start = replace(start, groups=tuple(replace(group, shares=shares) for group in start.groups))
    small = [session({"cpu": 1}, owner) for owner in (OWNERS[0], OWNERS[1], OWNERS[3])]
    days = Days(start, Random(3), small, backlog=15)
    used = {"d1": 0.0, "d2": 0.0}
    before = days.now
    while days.now - NOW < timedelta(hours=5):
        paths = {one.id: (one.path, one.lasts) for one in days.waiting.values()}
        for one in days.step():
            path, lasts = paths.get(one, (None, None))
            if path and before - NOW > timedelta(hours=2):
                used[path[0]] += lasts.total_seconds()
        before = days.now
    # Within one request, of the 24 for which there is room.
    assert used["d2"] / sum(used.values()) == pytest.approx(weights[1] / sum(weights), abs=1 / 24)
