"""What every plan keeps for sessions that accept several groups, whatever the snapshot."""

from dataclasses import replace
from datetime import timedelta

import plan_draws as draws
from hypothesis import given
from hypothesis import strategies as st
from plan_kit import NOW, node_with, pending, running_on
from plan_model import applied, fits, limited

from carrel.core.ids import GroupId, NodeId
from carrel.scheduling.forecast import forecast
from carrel.scheduling.plan import Planning, plan
from carrel.scheduling.snapshot import Cause, GroupChoice, GroupSnapshot, QueueOrder, ScopeSnapshot, Snapshot

A, B, NONE = GroupId("a"), GroupId("b"), GroupId("none")
ORDERS = [(), (), (A, B), (B, A), (A, B), (B, A), (NONE, B), (B, NONE, A)]
NEVER = timedelta(days=1)


@st.composite
def snapshots(draw, **limits):
    """As `draws.snapshots`; many of the sessions accept several groups, and some may not start in all of them."""
    snapshot = draw(draws.snapshots(**limits))
    return replace(snapshot, waiting=tuple(draw(_choosing(one)) for one in snapshot.waiting))


@st.composite
def _choosing(draw, one):
    choices = tuple(
        GroupChoice(group, draw(draws.mostly("", "not allowed"))) for group in draw(st.sampled_from(ORDERS))
    )
    return replace(one, group=choices[0].group, choices=choices) if choices else one


@given(snapshots())
def test_sessions_are_placed_once_and_within_all_limits(snapshot):
    # The model checks each placement as it is made, and that the session was still pending.
    decided = plan(snapshot)
    applied(snapshot, decided)
    group_of = {node.id: node.group for node in snapshot.nodes}
    for placement in decided.placements:
        assert {group_of[part.node] for part in placement.parts} == {placement.group}


@given(snapshots())
def test_a_session_is_placed_or_refused_in_each_of_its_groups(snapshot):
    decided = plan(snapshot)
    placed = {placement.session for placement in decided.placements}
    refused = [(one.session, one.group) for one in decided.refusals]
    left = [(one.id, group) for one in snapshot.waiting if one.id not in placed for group in one.groups]
    assert sorted(refused) == sorted(left)
    for group in (A, B, NONE):
        positions = [one.position for one in decided.refusals if one.group == group]
        assert positions == list(range(1, len(positions) + 1))


@given(snapshots())
def test_a_second_pass_changes_nothing(snapshot):
    first = plan(snapshot)
    second = plan(applied(snapshot, first))
    assert second.placements == ()
    assert second.refusals == first.refusals


@given(snapshots())
def test_who_starts_is_the_same_without_asking_those_who_cannot(snapshot):
    assert tuple(Planning(snapshot).decide()) == plan(snapshot).placements


@given(snapshots(), st.randoms())
def test_the_order_of_the_snapshot_does_not_matter(snapshot, random):
    mixed = replace(snapshot, waiting=tuple(random.sample(snapshot.waiting, len(snapshot.waiting))))
    assert plan(mixed) == plan(snapshot)


@given(snapshots(patience=NEVER, plain=True))
def test_no_session_starts_in_another_group_while_the_preferred_one_can_take_it(snapshot):
    decided = plan(snapshot)
    after = applied(snapshot, decided)
    of = {one.id: one for one in snapshot.waiting}
    for placement in decided.placements:
        one = of[placement.session]
        for group in one.groups[: one.groups.index(placement.group)]:
            # Capacity is only taken during a plan: what fits afterwards fitted when it was its turn.
            there = one.in_group(group)
            assert there.aside or group == NONE or not fits(after, there)


@given(snapshots())
def test_each_refusal_is_right_for_its_group(snapshot):
    decided = plan(snapshot)
    after = applied(snapshot, decided)
    of = {one.id: one for one in snapshot.waiting}
    for refusal in decided.refusals:
        one = of[refusal.session].in_group(refusal.group)
        match refusal.cause:
            case Cause.NOT_YET:
                assert refusal.reason == one.aside != ""
            case Cause.GROUP:
                assert refusal.group == NONE
            case Cause.LIMIT:
                assert limited(after, one)
            case Cause.NODES:
                assert not limited(after, one)
                assert not fits(after, one)
            case Cause.HELD_BACK:
                assert not limited(after, one)
                assert fits(after, one)


@given(snapshots())
def test_alone_it_starts_in_the_first_group_that_can_take_it(snapshot):
    for one in snapshot.waiting:
        alone = replace(snapshot, waiting=(one,))
        each = [plan(replace(alone, waiting=(other,))).placements for other in _of_one_group(one)]
        placed = plan(alone).placements
        avoided = one.avoid and len(one.groups) > 1
        if avoided:
            assert bool(placed) == any(each)
        else:
            assert placed == next((placements for placements in each if placements), ())


def _of_one_group(one):
    return [replace(one.in_group(group), choices=()) for group in one.groups]


def accepting(name, *groups, cpu=1, **more):
    return pending(name, {"cpu": cpu}, group=groups[0], choices=tuple(map(GroupChoice, groups)), **more)


def of_two_groups(*waiting, a=None, b=None, patience=NEVER, scopes=None):
    nodes = tuple(
        node_with(f"{group}1", {"cpu": 2}, {"cpu": 2 - free}, group=group)
        for group, free in ((A, a), (B, b))
        if free is not None
    )
    groups = tuple(GroupSnapshot(group, group, patience=patience) for group in (A, B))
    return Snapshot(nodes, waiting, NOW, groups, scopes or {})


def placed(snapshot):
    return {one.session: one.group for one in plan(snapshot).placements}


def test_the_preferred_group_is_taken_when_both_are_free():
    assert placed(of_two_groups(accepting("x", A, B), a=2, b=2)) == {"x": A}
    assert placed(of_two_groups(accepting("x", B, A), a=2, b=2)) == {"x": B}
    assert placed(of_two_groups(accepting("x", A, B), a=0, b=2)) == {"x": B}


def test_it_keeps_its_turn_in_the_queue_of_each_group():
    later = pending("later", {"cpu": 2}, group=B)
    earlier = accepting("earlier", A, B, cpu=2, since=NOW - timedelta(seconds=9))
    assert placed(of_two_groups(later, earlier, a=0, b=2)) == {"earlier": B}
    before = pending("before", {"cpu": 2}, NOW - timedelta(seconds=99), group=B)
    assert placed(of_two_groups(before, earlier, a=0, b=2)) == {"before": B}


def first_and_last_first(*waiting):
    """Both groups are free. The newest is next in b; in a, the oldest."""
    snapshot = of_two_groups(*waiting, a=2, b=2)
    first, last = snapshot.groups
    return replace(snapshot, groups=(first, replace(last, order=QueueOrder.LIFO)))


def test_its_queue_waits_for_its_turn_in_the_preferred_one():
    x = accepting("x", B, A, cpu=2, since=NOW - timedelta(seconds=60))
    newer = pending("newer", {"cpu": 2}, NOW - timedelta(seconds=10), group=B)
    behind = pending("behind", {"cpu": 2}, NOW - timedelta(seconds=5), group=A)
    assert placed(first_and_last_first(x, newer, behind)) == {"newer": B, "x": A}


def test_two_that_are_next_where_the_other_one_prefers_to_be_both_get_what_they_prefer():
    x = accepting("x", A, B, cpu=2, since=NOW - timedelta(seconds=5))
    y = accepting("y", B, A, cpu=2, since=NOW - timedelta(seconds=60))
    assert placed(first_and_last_first(x, y)) == {"x": A, "y": B}


def test_it_has_a_reservation_in_one_group_only():
    long = NOW - timedelta(hours=1)
    x = accepting("x", A, B, cpu=2, since=long)
    small = [pending(f"small-{group}", {"cpu": 1}, group=group) for group in (A, B)]
    # The group that it prefers keeps its node free for it; the other does not.
    crowded = of_two_groups(x, *small, a=1, b=1, patience=timedelta(minutes=5))
    assert placed(crowded) == {"small-b": B}
    # Where the preferred one could never hold it, the other keeps its node.
    alone = of_two_groups(x, *small, b=1, patience=timedelta(minutes=5))
    assert placed(alone) == {}


def test_a_limit_of_its_project_counts_once():
    scopes = {"p": ScopeSnapshot("project p", {"cpu": 2})}
    line = [accepting(name, A, B, cpu=2, scopes=("p",)) for name in ("x", "y")]
    assert placed(of_two_groups(*line, a=2, b=2, scopes=scopes)) == {"x": A}


def test_a_group_in_which_it_failed_on_every_node_comes_last():
    one = accepting("x", A, B, avoid=frozenset({NodeId("a1")}))
    assert placed(of_two_groups(one, a=2, b=2)) == {"x": B}
    assert placed(of_two_groups(one, a=2, b=0)) == {"x": A}


def test_a_forecast_is_that_of_the_earliest_group():
    running = [
        running_on("a1", "long", {"cpu": 2}, group=A, ends=NOW + timedelta(hours=9)),
        running_on("b1", "short", {"cpu": 2}, group=B, ends=NOW + timedelta(hours=2)),
    ]
    snapshot = replace(of_two_groups(accepting("x", A, B, cpu=2), a=0, b=0), running=tuple(running))
    assert forecast(snapshot, {"x"}, timedelta(days=1)).starts == {"x": NOW + timedelta(hours=2)}
