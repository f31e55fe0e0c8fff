"""Sessions whose containers differ, and nodes that are not all connected."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plan_draws import slot_requests, snapshots
from plan_kit import NOW
from plan_model import applied, limited

from carrel.core.ids import DEFAULT_GROUP, NodeId, SessionId
from carrel.scheduling.plan import Planning, plan
from carrel.scheduling.snapshot import (
    ClusterMode,
    GroupSnapshot,
    NodeSnapshot,
    PendingSession,
    ScopeSnapshot,
    Snapshot,
    Strategy,
)

SPREAD, TOGETHER = ClusterMode.MULTI_NODE, ClusterMode.SINGLE_NODE


def nodes(*cpus: int, networks: str = "") -> tuple[NodeSnapshot, ...]:
    return tuple(
        NodeSnapshot(NodeId(f"n{at}"), f"node{at}", {"cpu": cpu}, network=networks[at : at + 1])
        for at, cpu in enumerate(cpus)
    )


def cluster(*cpus: int, mode: ClusterMode = SPREAD, name: str = "c", **more: object) -> PendingSession:
    sizes = tuple({"cpu": cpu} for cpu in cpus)
    mixed = sizes if len({*cpus}) > 1 else ()
    return PendingSession(SessionId(name), sizes[0], NOW, count=len(cpus), mode=mode, mixed=mixed, **more)  # type: ignore[arg-type]


def snapshot(machines: tuple[NodeSnapshot, ...], *waiting: PendingSession, **more: object) -> Snapshot:
    return Snapshot(machines, waiting, NOW, **more)  # type: ignore[arg-type]


def placed(given: Snapshot) -> list[str]:
    (placement,) = plan(given).placements
    return [part.node for part in placement.parts]


def refused(given: Snapshot) -> str:
    decided = plan(given)
    assert not decided.placements
    return decided.refusals[0].reason


def test_containers_of_different_sizes_are_placed_in_their_order() -> None:
    assert placed(snapshot(nodes(2, 8), cluster(2, 8))) == ["n0", "n1"]
    assert placed(snapshot(nodes(2, 8), cluster(8, 2))) == ["n1", "n0"]


def test_the_largest_goes_first_so_that_the_small_ones_do_not_take_its_place() -> None:
    assert placed(snapshot(nodes(4, 2), cluster(1, 1, 4))) == ["n1", "n1", "n0"]


@pytest.mark.parametrize("strategy", Strategy)
def test_together_means_one_node(strategy: Strategy) -> None:
    group = (GroupSnapshot(DEFAULT_GROUP, strategy=strategy),)
    assert placed(snapshot(nodes(5, 6, 5), cluster(4, 2, mode=TOGETHER), groups=group)) == ["n1", "n1"]
    reason = refused(snapshot(nodes(5, 5), cluster(4, 2, mode=TOGETHER), groups=group))
    assert reason == "2 nodes: has capacity for some containers, but not for all."


def test_none_is_placed_where_one_finds_no_room() -> None:
    decided = plan(snapshot(nodes(4, 4), cluster(4, 3, 3), *(cluster(4, name=f"later{n}") for n in (1, 2))))
    assert [one.session for one in decided.placements] == ["later1", "later2"]
    assert [one.session for one in decided.refusals] == ["c"]


def test_a_container_that_no_node_has_room_for_is_the_reason() -> None:
    reason = refused(snapshot(nodes(4000, 4000), cluster(1000, 5000)))
    assert reason == "2 nodes: needs 5 CPU, at most 4 CPU free."


def test_containers_of_one_session_are_on_connected_nodes() -> None:
    machines = nodes(4, 4, 4, 4, networks="aabb")
    used = tuple(replace(node, used={"cpu": 4 if node.id == "n0" else 0}) for node in machines)
    assert set(placed(snapshot(used, cluster(4, 4)))) == {"n2", "n3"}
    assert set(placed(snapshot(used, cluster(4, 3)))) == {"n2", "n3"}
    reason = refused(snapshot(nodes(4, 4, networks="ab"), cluster(4, 4)))
    assert (
        reason == "2 nodes: has capacity for some containers, but not for all on nodes that reach each other."
    )


def test_ceilings_count_every_container() -> None:
    scopes = {"u": ScopeSnapshot("user u", {"cpu": 6000})}
    assert placed(snapshot(nodes(9000), cluster(2000, 4000, scopes=("u",)), scopes=scopes)) == ["n0", "n0"]
    assert refused(snapshot(nodes(9000), cluster(2000, 4001, scopes=("u",)), scopes=scopes)) == (
        "User u may use 6 CPU at once and uses 0 CPU; this needs 6.001 CPU."
    )


def test_capacity_is_reserved_for_a_cluster_that_has_waited_too_long() -> None:
    busy = tuple(replace(node, used={"cpu": 2}) for node in nodes(4, 4, 4))
    waits = cluster(4, 3, name="old")
    old = replace(waits, since=NOW - GroupSnapshot(DEFAULT_GROUP).patience * 2)
    decided = plan(snapshot(busy, old, cluster(2, name="small"), cluster(2, name="small2")))
    (small,) = decided.placements
    assert small.session == "small"
    (held,) = [one for one in decided.refusals if one.session == "small2"]
    assert "reserved for an earlier session" in held.reason


@st.composite
def mixed_snapshots(draw: st.DrawFn) -> Snapshot:
    given = draw(snapshots())
    waiting = tuple(
        replace(one, slots=sizes[0], mixed=tuple(sizes), count=len(sizes))
        for one in given.waiting
        for sizes in [draw(st.lists(slot_requests, min_size=2, max_size=4))]
    )
    machines = tuple(replace(node, network=draw(st.sampled_from("aab"))) for node in given.nodes)
    return replace(given, nodes=machines, waiting=waiting)


@given(mixed_snapshots())
def test_every_placement_is_complete_possible_and_within_the_ceilings(given: Snapshot) -> None:
    decided = plan(given)
    assert {one.session for one in (*decided.placements, *decided.refusals)} == {
        one.id for one in given.waiting
    }
    after = applied(given, decided)
    again = plan(after)
    assert not again.placements
    assert [(one.session, one.reason) for one in again.refusals] == [
        (one.session, one.reason) for one in decided.refusals
    ]


@given(mixed_snapshots())
def test_a_session_placed_alone_would_have_started(given: Snapshot) -> None:
    for one in given.waiting:
        alone = replace(given, waiting=(one,))
        starts = Planning(replace(given, waiting=())).would_start(one)
        assert bool(plan(alone).placements) == starts
        assert not (starts and limited(given, one))


@given(snapshots())
def test_equal_containers_start_whether_or_not_they_are_listed_one_by_one(given: Snapshot) -> None:
    for one in given.waiting:
        alone = replace(given, waiting=(one,))
        listed = replace(given, waiting=(replace(one, mixed=one.sizes),))
        assert bool(plan(alone).placements) == bool(plan(listed).placements)
