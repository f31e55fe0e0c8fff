"""When somebody will start: what is foretold is what happens when time goes on."""

from dataclasses import replace
from datetime import datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st
from plan_kit import CUDA, NOW, node_with, pending, running_on

from carrel.core.ids import DEFAULT_GROUP, SessionId
from carrel.scheduling.array_limits import ArrayLimit, set_aside
from carrel.scheduling.awaiting import without_limit
from carrel.scheduling.forecast import Forecast, forecast
from carrel.scheduling.plan import plan
from carrel.scheduling.snapshot import (
    SESSIONS,
    Awaited,
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


def forecast_start(snapshot: Snapshot, session: SessionId, horizon: timedelta) -> datetime | None:
    return forecast(snapshot, {session}, horizon).starts.get(session)


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


def after(one: PendingSession, *others: str, array: bool = False) -> PendingSession:
    """It waits for these others, or these arrays."""
    keys = frozenset(Awaited(SessionId(other), array) for other in others)
    return replace(one, aside="It waits for others.", after=one.after | keys)


def test_who_comes_after_others_starts_when_the_last_of_them_ends():
    running = [holder("x", 1, ends=10), holder("y", 1, ends=25)]
    snapshot = world(running, [after(asker("a", 1), "x", "y")])
    assert forecast_start(snapshot, SessionId("a"), DAY) == NOW + minutes(25)
    # Afterwards it needs room like any other.
    full = world([*running, holder("z", 2, ends=40)], [after(asker("a", 3), "x", "y")])
    assert forecast_start(full, SessionId("a"), DAY) == NOW + minutes(40)


def test_a_chain_adds_up_the_time_limits():
    chain = [
        asker("a", 1, lasts=10),
        after(asker("b", 1, lasts=20), "a"),
        after(asker("c", 1, lasts=5), "b"),
    ]
    assert forecast_start(world([], chain), SessionId("c"), DAY) == NOW + minutes(30)


def test_who_comes_after_one_that_has_ended_and_may_start_later_waits_for_that_only():
    one = replace(after(asker("a", 1), "gone"), not_before=NOW + minutes(3))
    assert forecast_start(world([], [one]), SessionId("a"), DAY) == NOW + minutes(3)
    both = replace(after(asker("a", 1), "x"), not_before=NOW + minutes(3))
    assert forecast_start(world([holder("x", 1, ends=9)], [both]), SessionId("a"), DAY) == NOW + minutes(9)
    late = replace(after(asker("a", 1), "x"), not_before=NOW + minutes(30))
    assert forecast_start(world([holder("x", 1, ends=9)], [late]), SessionId("a"), DAY) == NOW + minutes(30)


def test_who_waited_for_others_does_not_overtake_those_that_could_start_meanwhile():
    waiting = [after(asker("a", 4, lasts=5, waited=9), "x"), asker("b", 4, lasts=5, waited=1)]
    snapshot = world([holder("x", 4, ends=10)], waiting)
    assert forecast_start(snapshot, SessionId("b"), DAY) == NOW + minutes(10)
    assert forecast_start(snapshot, SessionId("a"), DAY) == NOW + minutes(15)


def members(name: str, count: int, *, most: int | None, lasts: float | None = 10) -> list[PendingSession]:
    """Pending sessions of an array."""
    return [
        replace(asker(f"{name}-{n}", 1, lasts=lasts), array=SessionId(name), array_most=most)
        for n in range(count)
    ]


def in_turn(waiting: list[PendingSession], running: int = 0) -> list[PendingSession]:
    limits = {
        one.array: ArrayLimit(one.array_most, running) for one in waiting if one.array and one.array_most
    }
    return set_aside(waiting, limits)


def test_who_comes_after_an_array_starts_when_all_of_it_have_ended_within_its_limit():
    waiting = in_turn([*members("s", 5, most=2), after(asker("a", 1), "s", array=True)])
    assert forecast_start(world([], waiting), SessionId("a"), DAY) == NOW + minutes(30)
    unlimited = [*members("s", 5, most=None), after(asker("a", 1), "s", array=True)]
    assert forecast_start(world([], unlimited, nodes=2), SessionId("a"), DAY) == NOW + minutes(10)
    # One that runs counts, and has its own end.
    running = [replace(holder("r", 1, ends=35), array=SessionId("s"))]
    waiting = in_turn([*members("s", 2, most=2), after(asker("a", 1), "s", array=True)], running=1)
    assert forecast_start(world(running, waiting), SessionId("a"), DAY) == NOW + minutes(35)


def test_an_array_that_waits_itself_keeps_its_limit_afterwards():
    waiting = [after(one, "x") for one in members("s", 3, most=1)]
    snapshot = world([holder("x", 1, ends=7)], [*waiting, after(asker("a", 1), "s", array=True)])
    assert forecast_start(snapshot, SessionId("s-2"), DAY) == NOW + minutes(27)
    assert forecast_start(snapshot, SessionId("a"), DAY) == NOW + minutes(37)


def test_what_has_no_time_limit_is_named():
    x, s = Awaited(SessionId("x")), Awaited(SessionId("s"), array=True)
    one = after(asker("a", 1), "x")
    for snapshot, expected in (
        (world([holder("x", 1)], [one]), (x, True)),
        (world([holder("x", 1, ends=5)], [one]), None),
        (world([], [asker("x", 1), one]), (x, True)),
        (world([holder("y", 1)], [after(asker("x", 1, lasts=5), "y"), one]), (x, False)),
        (world([holder("y", 1, ends=3)], [after(asker("x", 1, lasts=5), "y"), one]), None),
        # Who is in nobody's way does not matter.
        (world([holder("x", 1, ends=5), holder("z", 1)], [one]), None),
    ):
        assert without_limit(snapshot, one) == expected
        unknown = forecast_start(snapshot, one.id, DAY) is None
        assert unknown == (expected is not None)
    one = after(asker("a", 1), "s", array=True)
    assert without_limit(world([], [*members("s", 3, most=None, lasts=None), one]), one) == (s, True)
    assert without_limit(world([], [*members("s", 3, most=None), one]), one) is None


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
    if draw(st.booleans()):
        most = draw(st.none() | st.integers(1, 2))
        waiting += members("s", draw(st.integers(1, 3)), most=most, lasts=draw(st.integers(1, 9)))
    known = [*(one.id for one in running), "gone"]
    for number, one in enumerate(waiting):
        if draw(st.integers(0, 2)) == 0:
            before = [*known, *(other.id for other in waiting[:number] if other.array != one.array)]
            waiting[number] = after(one, *draw(st.lists(st.sampled_from(before), min_size=1, max_size=2)))
    if waiting[-1].array and draw(st.booleans()):
        waiting.append(after(asker("last", 1, waited=0), "s", array=True))
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
        live = {
            *(Awaited(one.id) for one in (*running, *waiting)),
            *(Awaited(one.array, array=True) for one in (*running, *waiting) if one.array),
        }
        waiting = [
            replace(one, after=frozenset(), aside="", since=max(one.since, now))
            if one.after and not one.after & live
            else one
            for one in waiting
        ]
        placed = sum(one.array is not None for one in running)
        again = replace(
            world(running, in_turn(waiting, placed), nodes=2, group=snapshot.groups[0], limited=limited),
            now=now,
        )
        for place in plan(again).placements:
            one = next(one for one in waiting if one.id == place.session)
            waiting.remove(one)
            starts[one.id] = now
            ends = now + one.lasts if one.lasts else None
            running.append(
                RunningSession(
                    one.id, one.slots, place.parts, one.scopes, one.path, ends=ends, array=one.array
                )
            )
    return starts


@settings(deadline=None)
@given(worlds())
def test_what_is_foretold_is_what_happens(snapshot):
    starts = really(snapshot)
    for one in snapshot.waiting:
        assert forecast_start(snapshot, one.id, DAY) == starts.get(one.id), one.id
    assert forecast(snapshot, {one.id for one in snapshot.waiting}, DAY) == Forecast(starts, complete=True)


def test_a_forecast_that_reaches_the_limit_of_work_says_so():
    snapshot = world([], [asker(f"w{i}", 4, lasts=10, waited=10 - i) for i in range(7)])
    all_of_them = {one.id for one in snapshot.waiting}
    assert len(forecast(snapshot, all_of_them, DAY).starts) == 7
    cut = forecast(snapshot, all_of_them, DAY, work=4 * 8)
    assert cut == Forecast({f"w{i}": NOW + minutes(10 * i) for i in range(4)}, complete=False)
    assert forecast(snapshot, {SessionId("w3")}, DAY, work=4 * 8).complete
    assert forecast(snapshot, all_of_them, DAY, work=7) == Forecast({}, complete=False)
