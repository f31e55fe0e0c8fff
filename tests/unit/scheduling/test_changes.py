"""Each change that is offered to who waits starts them, and what is said of a request is what happens to it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from hypothesis import assume, given
from hypothesis import strategies as st
from plan_kit import CUDA, NOW, node_with, pending, running_on

from carrel.core.ids import GroupId, NodeId, SessionId
from carrel.scheduling.ceilings import Ceilings
from carrel.scheduling.changes import Kind, changes
from carrel.scheduling.cluster import Cluster
from carrel.scheduling.estimate import Headroom, estimate_start, headroom
from carrel.scheduling.plan import Planning, plan
from carrel.scheduling.snapshot import (
    SESSIONS,
    Cause,
    ClusterMode,
    DeviceSnapshot,
    GroupSnapshot,
    NodeSnapshot,
    PendingSession,
    QueueOrder,
    RunningSession,
    ScopeSnapshot,
    Snapshot,
)

GROUPS = (GroupId("default"), GroupId("other"))
OWNERS = ("ada", "bob")


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    """Two groups, two owners with ceilings, some that run and some that wait."""
    capacity = {"cpu": draw(st.integers(1, 8)) * 1000, "mem": draw(st.integers(1, 8)) << 30}
    nodes = tuple(
        NodeSnapshot(
            NodeId(f"n{number}"),
            f"node{number}",
            capacity,
            group=draw(st.sampled_from(GROUPS)),
            closed=draw(st.sampled_from(["", "", "", "cordoned"])),
        )
        for number in range(draw(st.integers(1, 4)))
    )
    scopes = {
        f"user:{owner}": ScopeSnapshot(
            owner, {"cpu": draw(st.integers(1, 16)) * 1000, SESSIONS: draw(st.integers(1, 5))}
        )
        for owner in OWNERS
    }
    groups = tuple(
        GroupSnapshot(group, group, draw(st.sampled_from([QueueOrder.FIFO, QueueOrder.LIFO])))
        for group in GROUPS
    )
    empty = Snapshot(nodes, (), NOW, groups, scopes)
    cluster = Cluster(empty)
    running: list[RunningSession] = []
    for number in range(draw(st.integers(0, 5))):
        one = _pending(draw, f"r{number}")
        for place in plan(cluster.snapshot([one])).placements:
            ends = NOW + timedelta(hours=draw(st.integers(1, 9))) if draw(st.booleans()) else None
            running.append(
                RunningSession(one.id, one.slots, place.parts, one.scopes, one.path, one.group, ends)
            )
            cluster.take(running[-1])
    waiting = [_pending(draw, f"w{number}") for number in range(draw(st.integers(1, 4)))]
    return replace(cluster.snapshot(waiting), running=tuple(running))


def _pending(draw: st.DrawFn, name: str) -> PendingSession:
    owner = draw(st.sampled_from(OWNERS))
    return PendingSession(
        SessionId(name),
        {"cpu": draw(st.integers(1, 8)) * 1000, "mem": draw(st.integers(1, 8)) << 30},
        NOW - timedelta(seconds=draw(st.integers(0, 900))),
        draw(st.sampled_from(GROUPS)),
        ("d", "p", owner),
        (f"user:{owner}",),
        priority=draw(st.sampled_from([50, 50, 60])),
    )


def started(snapshot: Snapshot) -> set[SessionId]:
    return {placement.session for placement in plan(snapshot).placements}


def without(snapshot: Snapshot, ended: Sequence[RunningSession]) -> Snapshot:
    cluster = Cluster(snapshot)
    for other in ended:
        cluster.give_back(other)
    return cluster.snapshot(snapshot.waiting)


def asked_anew(snapshot: Snapshot, one: PendingSession, **fields: object) -> Snapshot:
    """It is given up and asked for otherwise, as people do: nothing changes what a session that waits asks for."""
    others = tuple(other for other in snapshot.waiting if other.id != one.id)
    return replace(snapshot, waiting=(*others, replace(one, since=NOW, **fields)))  # type: ignore[arg-type]


@given(snapshots())
def test_each_change_starts_who_waits_when_it_is_made(snapshot: Snapshot) -> None:
    now = started(snapshot)
    for one in snapshot.waiting:
        if one.id in now:
            continue
        offered = changes(snapshot, one, groups=GROUPS)
        assert [change.cost for change in offered] == sorted(change.cost for change in offered)
        own = [other for other in snapshot.running if other.path == one.path]
        if one.id in started(without(snapshot, own)):
            assert Kind.END_OWN in {change.kind for change in offered}
        for change in offered:
            match change.kind:
                case Kind.GROUP:
                    after = asked_anew(snapshot, one, group=change.group)
                case Kind.SMALLER:
                    assert all(change.slots[slot] <= amount for slot, amount in one.slots.items())
                    after = asked_anew(snapshot, one, slots=change.slots)
                case Kind.END_OWN:
                    ended = [other for other in snapshot.running if other.id in change.sessions]
                    assert {other.path for other in ended} == {one.path}
                    assert change.cost == len(ended)
                    after = without(snapshot, ended)
                    assert not any(
                        one.id
                        in started(without(snapshot, [other for other in ended if other is not spared]))
                        for spared in ended
                    )
                case Kind.ANY_NODE:
                    raise AssertionError("nobody asked for a node")
            assert one.id in started(after), change


@given(snapshots())
def test_another_group_is_offered_whenever_it_would_do(snapshot: Snapshot) -> None:
    now = started(snapshot)
    for one in snapshot.waiting:
        if one.id in now:
            continue
        [other] = [group for group in GROUPS if group != one.group]
        would = one.id in started(asked_anew(snapshot, one, group=other))
        offered = {
            change.group for change in changes(snapshot, one, groups=GROUPS) if change.kind is Kind.GROUP
        }
        assert offered == ({other} if would else set())


def test_a_session_may_have_no_more_containers_than_its_scopes_allow() -> None:
    node = node_with("n", {"cpu": 8000})
    scopes = {"k": ScopeSnapshot("keypair k", {SESSIONS: 2}, containers=3)}
    three, four = (
        pending(f"s{n}", {"cpu": 1000}, scopes=("k",), count=n, mode=mode)
        for n, mode in ((3, ClusterMode.SINGLE_NODE), (4, ClusterMode.MULTI_NODE))
    )
    decided = plan(Snapshot((node,), (three, four), NOW, scopes=scopes))
    assert [placement.session for placement in decided.placements] == ["s3"]
    [refusal] = decided.refusals
    assert (refusal.session, refusal.cause) == ("s4", Cause.LIMIT)
    assert refusal.reason == "Keypair k may have 3 containers in a session; this needs 4."
    # Each session by itself: what others have does not count, and time does not help.
    assert (
        len(
            plan(Snapshot((node,), (three, replace(three, id=SessionId("t"))), NOW, scopes=scopes)).placements
        )
        == 2
    )
    planning = Planning(Snapshot((node,), (), NOW, scopes=scopes))
    planning.run()
    assert (estimate_start(planning, three).starts, estimate_start(planning, four).never) == (True, True)


def test_what_is_built_for_another_architecture_never_starts() -> None:
    node = node_with("n", {"cpu": 8000}, architecture="x86_64")
    one = pending("s", {"cpu": 1000}, architecture="aarch64")
    planning = Planning(Snapshot((node,), (one,), NOW))
    [refusal] = planning.run().refusals
    assert refusal.reason == "1 node: is x86_64, the image needs aarch64."
    assert estimate_start(planning, one).never
    assert not estimate_start(planning, replace(one, architecture="x86_64")).never
    # A smaller one is not offered there.
    assert changes(planning.snapshot, replace(one, slots={"cpu": 9000})) == []


def test_a_session_with_root_is_placed_only_where_it_can_have_it() -> None:
    plain, able = node_with("a", {"cpu": 8000}), node_with("b", {"cpu": 1000}, root=True)
    one = pending("s", {"cpu": 1000}, root=True)
    planning = Planning(Snapshot((plain, able), (one,), NOW))
    [placement] = planning.run().placements
    assert [part.node for part in placement.parts] == [able.id]
    alone = Planning(Snapshot((plain,), (one,), NOW))
    [refusal] = alone.run().refusals
    assert refusal.reason == "1 node: cannot give root in a session."
    assert estimate_start(alone, one).never
    assert not estimate_start(alone, replace(one, root=False)).never
    # A smaller one is not offered where it cannot have root.
    assert changes(Snapshot((plain,), (one,), NOW), replace(one, slots={"cpu": 9000})) == []


def test_a_session_is_placed_only_where_its_storage_is() -> None:
    far, near = (node_with(name, {"cpu": 8000}, network=name) for name in ("far", "near"))
    one = pending("s", {"cpu": 1000}, without=(("far", "cannot reach the storage host nas"),))
    [placement] = Planning(Snapshot((far, near), (one,), NOW)).run().placements
    assert [part.node for part in placement.parts] == [near.id]
    alone = Planning(Snapshot((far,), (one,), NOW))
    [refusal] = alone.run().refusals
    assert refusal.reason == "1 node: cannot reach the storage host nas."
    assert estimate_start(alone, one).never
    assert not estimate_start(alone, replace(one, without=())).never
    # A smaller one is not offered where its storage is not.
    assert changes(Snapshot((far,), (one,), NOW), replace(one, slots={"cpu": 9000})) == []


def test_the_designated_node_is_given_up_when_another_has_room() -> None:
    nodes = tuple(node_with(f"n{n}", {"cpu": 1000}, {"cpu": 1000 * (n == 0)}) for n in range(2))
    one = pending("s", {"cpu": 1000}, node=NodeId("n0"))
    [change] = changes(Snapshot(nodes, (one,), NOW), one)
    assert (change.kind, change.cost) == (Kind.ANY_NODE, 0.0)


def test_whole_devices_are_counted_as_devices() -> None:
    cards = (DeviceSnapshot("a", "cuda", 500, slots=CUDA), DeviceSnapshot("b", "cuda", slots=CUDA))
    node = node_with("n", {"cuda.device": 2, "cuda.shares": 2000}, devices=cards)
    requests = [
        {"cuda.device": 1},
        {"cuda.device": 1, "cuda.shares": 500},
        {"cuda.device": 1, "cuda.shares": 501},
    ]
    lines = [(pending("s", slots),) for slots in requests]
    assert [len(plan(Snapshot((node,), line, NOW)).placements) for line in lines] == [1, 1, 0]


def test_what_is_offered_is_a_round_amount_and_all_of_what_is_not_short() -> None:
    node = node_with("n", {"cpu": 4000, "mem": 1 << 30}, {"cpu": 2750})
    one = pending("s", {"cpu": 2000, "mem": 1000})
    [change] = changes(Snapshot((node,), (one,), NOW), one)
    assert change.slots == {"cpu": 1200, "mem": 1000}


def test_nobody_says_never_of_a_group_that_is_not_active() -> None:
    planning = Planning(Snapshot((), (), NOW))
    planning.run()
    estimate = estimate_start(planning, pending("s", {"cpu": 1}, group=GroupId("closed")))
    assert (estimate.starts, estimate.never, estimate.reason) == (
        False,
        False,
        "Its resource group is not active.",
    )


def test_of_a_ceiling_others_get_what_is_beyond_what_is_kept() -> None:
    ceilings = Ceilings({"p": ScopeSnapshot("project p", {"cpu": 5})})
    first, other = SessionId("first"), SessionId("other")
    ceilings.keep(first, ["p"], {"cpu": 3})
    assert ceilings.kept_from(other, ["p"], {"cpu": 2}) is None
    assert ceilings.kept_from(other, ["p"], {"cpu": 3}) == ("p", "cpu")
    assert ceilings.kept_from(first, ["p"], {"cpu": 5}) is None


def test_less_is_offered_to_who_has_waited_past_the_patience_too() -> None:
    node = node_with("n", {"cpu": 2000}, {"cpu": 1000})
    for ago in (timedelta(seconds=1), timedelta(days=1)):
        one = pending("s", {"cpu": 2000}, NOW - ago)
        [change] = changes(Snapshot((node,), (one,), NOW), one)
        assert (change.kind, change.slots) == (Kind.SMALLER, {"cpu": 1000})


def test_another_group_is_not_offered_where_somebody_waits_for_what_is_left() -> None:
    here, there = GROUPS
    nodes = (
        node_with("n0", {"cpu": 1000}, {"cpu": 1000}, group=here),
        node_with("n1", {"cpu": 2000}, {"cpu": 1000}, group=there),
    )
    groups = tuple(GroupSnapshot(group, group) for group in GROUPS)
    long_ago = pending("s", {"cpu": 1000}, NOW - timedelta(days=2), group=here)
    patient = pending("t", {"cpu": 2000}, NOW - timedelta(days=1), group=there)
    snapshot = Snapshot(nodes, (long_ago, patient), NOW, groups)
    assert changes(snapshot, long_ago, groups=GROUPS) == []
    fresh = replace(snapshot, waiting=(long_ago, replace(patient, since=NOW)))
    assert [change.group for change in changes(fresh, long_ago, groups=GROUPS)] == [there]


def test_no_less_is_offered_than_it_can_do_with() -> None:
    node = node_with("n", {"cpu": 4000}, {"cpu": 3000})
    one = pending("s", {"cpu": 2000})
    snapshot = Snapshot((node,), (one,), NOW)
    assert [change.slots for change in changes(snapshot, one)] == [{"cpu": 1000}]
    assert changes(snapshot, one, least={"cpu": 1100}) == []


@given(snapshots())
def test_what_is_said_of_a_request_behind_all_others_is_what_happens(snapshot: Snapshot) -> None:
    *others, one = snapshot.waiting
    planning = Planning(replace(snapshot, waiting=tuple(others)))
    planning.run()
    estimate = estimate_start(planning, one)
    # Last in line: behind all by priority, and by age in either order.
    last = replace(one, priority=0)
    happens = last.id in started(replace(snapshot, waiting=(*others, last)))
    assert estimate.starts == happens
    if estimate.never:
        assert last.id not in started(_emptied(snapshot, last))
    if not estimate.starts:
        assert estimate.reason


def _emptied(snapshot: Snapshot, one: PendingSession) -> Snapshot:
    """Nothing runs, nothing else waits, every node is open."""
    nodes = tuple(replace(node, used={}, closed="") for node in snapshot.nodes)
    scopes = {key: replace(scope, used={}) for key, scope in snapshot.scopes.items()}
    return replace(snapshot, nodes=nodes, scopes=scopes, waiting=(one,), running=())


@given(snapshots())
def test_never_is_said_of_those_who_could_not_start_even_alone(snapshot: Snapshot) -> None:
    one = snapshot.waiting[-1]
    # A group that has no node yet may get one.
    assume(any(node.group == one.group for node in snapshot.nodes))
    planning = Planning(replace(snapshot, waiting=()))
    planning.run()
    estimate = estimate_start(planning, one)
    alone = one.id in started(_emptied(snapshot, one))
    assert estimate.never == (not alone and not estimate.starts)


def test_room_is_what_is_left_under_the_ceilings() -> None:
    node = node_with("n", {"cpu": 4000, "mem": 8000}, {"cpu": 1000, "mem": 1000})
    one = pending("s", {"cpu": 1}, scopes=("p",))

    def room(ceiling: dict[str, int]) -> dict[str, Headroom]:
        scope = ScopeSnapshot("project p", ceiling, {"cpu": 1000, "mem": 1000, SESSIONS: 1})
        planning = Planning(Snapshot((node,), (), NOW, scopes={"p": scope}))
        planning.run()
        return dict(headroom(planning, one))

    assert room({"cpu": 1500}) == {
        "cpu": Headroom(500, 1500, "project p"),
        "mem": Headroom(7000, 8000, "the largest node"),
    }
    # With as many sessions as there may be, nothing is left of anything.
    assert {one.now for one in room({SESSIONS: 1}).values()} == {0}
    assert room({SESSIONS: 2})["cpu"].now == 3000


def test_parts_are_where_they_were() -> None:
    """A running session is given back on its own node alone."""
    nodes = tuple(node_with(f"n{n}", {"cpu": 1000}, {"cpu": 1000}) for n in range(2))
    running = tuple(running_on(f"n{n}", f"r{n}", {"cpu": 1000}, path=("d", "p", "ada")) for n in range(2))
    one = pending("s", {"cpu": 1000}, path=("d", "p", "ada"))
    [change] = changes(Snapshot(nodes, (one,), NOW, running=running), one)
    assert (change.kind, change.sessions) == (Kind.END_OWN, ("r0",))


def test_several_are_to_be_ended_where_one_would_not_do() -> None:
    """And none that could be spared."""
    held = {"r0": 1000, "r1": 2000, "r2": 3000, "bobs": 1000}
    node = node_with("n", {"cpu": 8000}, {"cpu": sum(held.values())})
    running = tuple(
        running_on("n", name, {"cpu": cpu}, path=("d", "p", "bob" if name == "bobs" else "ada"))
        for name, cpu in held.items()
    )
    one = pending("s", {"cpu": 5500}, path=("d", "p", "ada"))
    [smaller, change] = changes(Snapshot((node,), (one,), NOW, running=running), one)
    assert smaller.kind is Kind.SMALLER
    assert (change.kind, change.sessions, change.cost) == (Kind.END_OWN, ("r1", "r2"), 2)
    impossible = replace(one, slots={"cpu": 7500})
    assert [
        one.kind for one in changes(Snapshot((node,), (impossible,), NOW, running=running), impossible)
    ] == [Kind.SMALLER]
