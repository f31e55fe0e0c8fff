"""When somebody will start: what is foretold is what happens when time goes on."""

from dataclasses import replace
from datetime import datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st
from plan_kit import CUDA, NOW, node_with, pending, running_on

from carrel.core.ids import DEFAULT_GROUP, SessionId
from carrel.scheduling.forecast import forecast_start
from carrel.scheduling.plan import plan
from carrel.scheduling.snapshot import (
    SESSIONS,
    ContainerPlacement,
    DeviceSnapshot,
    GroupSnapshot,
    PendingSession,
    QueueOrder,
    RunningSession,
    ScopeSnapshot,
    ShareSnapshot,
    Snapshot,
)

DAY = timedelta(days=1)
FIFO = GroupSnapshot(DEFAULT_GROUP)
LIMIT = 6


def minutes(count: float) -> timedelta:
    return timedelta(minutes=count)


def holder(
    name: str, cpu: int, *, ends: float | None = None, node: str = "n0", who: str = ""
) -> RunningSession:
    return running_on(
        node,
        name,
        {"cpu": cpu},
        scopes=(who,) if who else (),
        path=("d", "p", who),
        ends=None if ends is None else NOW + minutes(ends),
    )


def asker(
    name: str, cpu: int, *, lasts: float | None = None, waited: float = 1, who: str = ""
) -> PendingSession:
    return pending(
        name,
        {"cpu": cpu},
        NOW - minutes(waited),
        scopes=(who,) if who else (),
        path=("d", "p", who),
        lasts=None if lasts is None else minutes(lasts),
    )


def world(
    running: list[RunningSession],
    waiting: list[PendingSession],
    *,
    nodes: int = 1,
    cpu: int = 4,
    group: GroupSnapshot = FIFO,
    limited: bool = False,
) -> Snapshot:
    """limited: everybody named may hold at most LIMIT cpu and two sessions."""
    machines = [
        node_with(
            f"n{i}",
            {"cpu": cpu},
            {"cpu": sum(one.slots["cpu"] for one in running if one.parts[0].node == f"n{i}")},
        )
        for i in range(nodes)
    ]
    scopes = {}
    for key in sorted({scope for one in waiting for scope in one.scopes}) if limited else ():
        mine = [one for one in running if key in one.scopes]
        used = {"cpu": sum(one.slots["cpu"] for one in mine), SESSIONS: len(mine)}
        scopes[key] = ScopeSnapshot(key, {"cpu": LIMIT, SESSIONS: 2}, used)
    if not limited:
        waiting = [replace(one, scopes=()) for one in waiting]
    held = {
        (who,): ShareSnapshot({"cpu": sum(one.slots["cpu"] for one in running if one.path[2] == who)})
        for who in {one.path[2] for one in running}
    }
    group = replace(group, shares=held)
    return Snapshot(tuple(machines), tuple(waiting), NOW, (group,), scopes, tuple(running))


def test_who_fits_starts_now():
    assert forecast_start(world([], [asker("a", 4)]), SessionId("a"), DAY) == NOW


def test_who_needs_the_node_starts_when_the_last_of_it_ends():
    snapshot = world([holder("x", 2, ends=10), holder("y", 2, ends=25)], [asker("a", 4)])
    assert forecast_start(snapshot, SessionId("a"), DAY) == NOW + minutes(25)


def test_who_comes_first_is_counted_with_all_of_its_time():
    snapshot = world([holder("x", 4, ends=10)], [asker("a", 4, lasts=30, waited=3), asker("b", 4)])
    assert forecast_start(snapshot, SessionId("b"), DAY) == NOW + minutes(40)


def test_nobody_knows_when_what_is_in_the_way_has_no_end():
    snapshot = world([holder("x", 2, ends=10), holder("y", 2)], [asker("a", 4)])
    assert forecast_start(snapshot, SessionId("a"), DAY) is None


def test_nobody_knows_when_who_comes_first_has_no_end():
    snapshot = world([holder("x", 4, ends=10)], [asker("a", 4, waited=3), asker("b", 4)])
    assert forecast_start(snapshot, SessionId("b"), DAY) is None


def test_what_is_beyond_the_horizon_is_not_told():
    snapshot = world([holder("x", 4, ends=90)], [asker("a", 4)])
    assert forecast_start(snapshot, SessionId("a"), minutes(89)) is None
    assert forecast_start(snapshot, SessionId("a"), minutes(90)) == NOW + minutes(90)


def test_who_is_past_the_limit_ends_any_moment():
    snapshot = world([holder("x", 4, ends=-5)], [asker("a", 4)])
    assert forecast_start(snapshot, SessionId("a"), DAY) == NOW


def test_a_ceiling_opens_when_one_of_its_own_ends():
    running = [holder("x", 4, ends=20, who="ann"), holder("y", 1, ends=5, node="n1", who="bob")]
    snapshot = world(running, [asker("a", 3, who="ann")], nodes=3, limited=True)
    assert forecast_start(snapshot, SessionId("a"), DAY) == NOW + minutes(20)


def test_who_pauses_starts_when_the_pause_ends():
    one = replace(asker("s", 4), aside="It failed to start.", not_before=NOW + minutes(2))
    assert forecast_start(world([], [one]), SessionId("s"), DAY) == NOW + minutes(2)
    assert forecast_start(world([holder("a", 1, ends=5)], [one]), SessionId("s"), DAY) == NOW + minutes(5)


def test_who_comes_after_somebody_who_pauses_takes_what_is_free_meanwhile():
    pausing = replace(asker("s", 4), aside="It failed to start.", not_before=NOW + minutes(2))
    later = asker("t", 4, lasts=10, waited=0.5)
    assert forecast_start(world([], [pausing, later]), SessionId("s"), DAY) == NOW + minutes(10)


def test_nobody_knows_when_storage_will_be_back():
    one = replace(asker("s", 4), aside="It waits for the storage host nas, which does not respond.")
    assert forecast_start(world([], [one]), SessionId("s"), DAY) is None


def test_a_device_is_given_back_whole():
    device = DeviceSnapshot("gpu0", "cuda", used=1000, slots=CUDA)
    node = node_with("n0", {"cuda.device": 1, "cuda.shares": 1000}, {"cuda.device": 1}, devices=(device,))
    held = RunningSession(
        SessionId("x"),
        {"cuda.device": 1},
        (ContainerPlacement(node.id, {"cuda.device": {"gpu0": 1000}}),),
        ends=NOW + minutes(7),
    )
    request = pending("a", {"cuda.shares": 500})
    snapshot = Snapshot((node,), (request,), NOW, running=(held,))
    assert forecast_start(snapshot, request.id, DAY) == NOW + minutes(7)


@st.composite
def worlds(draw: st.DrawFn) -> Snapshot:
    running = []
    for node in range(2):
        for number, cpu in enumerate(draw(st.lists(st.integers(1, 2), max_size=2))):
            ends = draw(st.none() | st.integers(1, 9))
            running.append(holder(f"r{node}{number}", cpu, ends=ends, node=f"n{node}", who=draw(people)))
    waiting = [
        asker(
            f"w{i}",
            draw(st.integers(1, 4)),
            lasts=draw(st.none() | st.integers(1, 9)),
            waited=i,
            who=draw(people),
        )
        for i in range(draw(st.integers(1, 6)))
    ]
    group = GroupSnapshot(
        DEFAULT_GROUP, order=draw(st.sampled_from([QueueOrder.FIFO, QueueOrder.LIFO, QueueOrder.DRF]))
    )
    return world(running, waiting, nodes=2, group=group, limited=draw(st.booleans()))


people = st.sampled_from(["ann", "bob"])


def really(snapshot: Snapshot) -> dict[str, datetime]:
    """When each starts, minute by minute: every snapshot is counted anew from who runs."""
    running, waiting, starts = list(snapshot.running), list(snapshot.waiting), {}
    limited = bool(snapshot.scopes)
    for minute in range(200):
        now = NOW + minutes(minute)
        running = [one for one in running if one.ends is None or one.ends > now]
        again = replace(world(running, waiting, nodes=2, group=snapshot.groups[0], limited=limited), now=now)
        for place in plan(again).placements:
            one = next(one for one in waiting if one.id == place.session)
            waiting.remove(one)
            starts[one.id] = now
            ends = now + one.lasts if one.lasts else None
            running.append(RunningSession(one.id, one.slots, place.parts, one.scopes, one.path, ends=ends))
    return starts


@settings(deadline=None)
@given(worlds())
def test_what_is_foretold_is_what_happens(snapshot):
    starts = really(snapshot)
    for one in snapshot.waiting:
        assert forecast_start(snapshot, one.id, DAY) == starts.get(one.id), one.id
