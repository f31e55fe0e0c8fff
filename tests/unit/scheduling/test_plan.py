"""What every plan keeps, whatever the snapshot."""

import re
from collections import Counter
from dataclasses import replace
from datetime import timedelta

import plan_draws as draws
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from plan_kit import NOW, node_with, pending
from plan_model import applied, emptied, fits, limited, preferred

from carrel.core.ids import GroupId, NodeId, SessionId
from carrel.scheduling import capacity_index, ranking
from carrel.scheduling.placement import Room
from carrel.scheduling.plan import Planning, plan
from carrel.scheduling.requirements import DistinctRequirements
from carrel.scheduling.snapshot import (
    DEFAULT_GROUP,
    Cause,
    GroupSnapshot,
    Plan,
    QueueOrder,
    ScopeSnapshot,
    Snapshot,
    Strategy,
)

NEVER = timedelta(days=1)


@given(draws.snapshots())
def test_nothing_is_filled_over_what_it_may_hold_and_clusters_start_whole_or_not_at_all(snapshot):
    # The model checks each placement as it is made.
    applied(snapshot, plan(snapshot))


@given(draws.snapshots())
def test_everybody_is_placed_or_refused_once(snapshot):
    decided = plan(snapshot)
    placed = [placement.session for placement in decided.placements]
    refused = [refusal.session for refusal in decided.refusals]
    assert sorted(placed + refused) == sorted(one.id for one in snapshot.waiting)
    group_of = {one.id: one.group for one in snapshot.waiting}
    for group in set(group_of.values()):
        positions = [one.position for one in decided.refusals if group_of[one.session] == group]
        assert positions == list(range(1, len(positions) + 1))


@given(draws.snapshots(), st.randoms())
def test_the_same_snapshot_gives_the_same_plan_in_whatever_order_it_comes(snapshot, random):
    def mixed(things):
        return tuple(random.sample(things, len(things)))

    def turned(one):
        return replace(one, slots=dict(mixed(list(one.slots.items()))))

    same = replace(
        snapshot,
        nodes=mixed(snapshot.nodes),
        waiting=mixed([turned(one) for one in snapshot.waiting]),
        groups=mixed(snapshot.groups),
        scopes=dict(mixed(list(snapshot.scopes.items()))),
    )
    assert plan(same) == plan(snapshot)


@given(draws.snapshots(), st.randoms())
def test_among_equals_it_does_not_matter_who_is_who(snapshot, random):
    twins = [replace(one, id=SessionId(f"{one.id}-{n}")) for one in snapshot.waiting for n in range(2)]
    names = random.sample([f"t{number}" for number in range(len(twins))], len(twins))
    kind_of = {}
    outcomes = []
    for ids in (sorted(names), names):
        line = tuple(replace(one, id=SessionId(id)) for one, id in zip(twins, ids, strict=True))
        kind_of = {one.id: twin.id.rpartition("-")[0] for one, twin in zip(line, twins, strict=True)}
        placed = plan(replace(snapshot, waiting=_apart(line))).placements
        outcomes.append(Counter(kind_of[placement.session] for placement in placed))
    assert outcomes[0] == outcomes[1]


def _apart(line):
    """Nobody but equals arrived at the same instant."""
    return tuple(replace(one, since=one.since + timedelta(milliseconds=n // 2)) for n, one in enumerate(line))


@given(draws.snapshots())
def test_a_second_pass_changes_nothing(snapshot):
    first = plan(snapshot)
    second = plan(applied(snapshot, first))
    assert second.placements == ()
    assert second.refusals == first.refusals


def _kept_and_given_back():
    """A node becomes freer between two rounds: it is kept in the first, and the small ones go elsewhere."""
    nodes = [
        node_with(f"n{n}", {"cpu": 16, "mem": 16}, {"cpu": cpu, "mem": mem})
        for n, (cpu, mem) in enumerate([(2, 2), (2, 1), (10, 1), (5, 1)])
    ]
    line = [
        ({"cpu": 2}, 9, "p0", "u2", ("k",), 50),
        ({"cpu": 16, "mem": 4}, 14, "p1", "u2", ("k",), 50),
        ({"cpu": 8}, 13, "p1", "u0", (), 50),
        ({"cpu": 8}, 2, "p1", "u2", ("k",), 60),
        ({"cpu": 1, "mem": 1}, 2, "p1", "u0", (), 50),
        ({"cpu": 16, "mem": 4}, 10, "p1", "u1", (), 50),
    ]
    return Snapshot(
        tuple(nodes),
        tuple(
            pending(
                f"s{n}",
                {"mem": 0, **slots},
                NOW - timedelta(minutes=minutes),
                path=("d", project, user),
                scopes=scopes,
                priority=priority,
            )
            for n, (slots, minutes, project, user, scopes, priority) in enumerate(line)
        ),
        NOW,
        (
            GroupSnapshot(
                DEFAULT_GROUP,
                order=QueueOrder.FAIR_SHARE,
                strategy=Strategy.DISPERSED,
                patience=timedelta(minutes=5),
            ),
        ),
        {"k": ScopeSnapshot("k", {"cpu": 23})},
    )


@given(draws.snapshots(), st.integers(1, 3))
@example(_kept_and_given_back(), 1)
def test_who_starts_is_the_same_without_asking_those_who_cannot(snapshot, times):
    line = [replace(one, id=SessionId(f"{one.id}-{n}")) for one in snapshot.waiting for n in range(times)]
    snapshot = replace(snapshot, waiting=tuple(line))
    assert tuple(Planning(snapshot).decide()) == plan(snapshot).placements


def test_nobody_is_asked_when_nobody_can_start(monkeypatch):
    tried = []
    starts = Planning.starts
    monkeypatch.setattr(Planning, "starts", lambda self, one: tried.append(one.id) or starts(self, one))
    node = node_with("n", {"cpu": 4}, {"cpu": 2})
    large = [pending(f"large{n}", {"cpu": 3}, scopes=("p",)) for n in range(50)]
    small = [pending(f"small{n}", {"cpu": 1}, scopes=("p",)) for n in range(50)]
    scopes = {"p": ScopeSnapshot("project p", {"sessions": 9})}
    full = Snapshot((node,), tuple(large), NOW, scopes=scopes)
    assert not Planning(full).decide()
    assert not tried
    # Those behind the last who starts are not asked; those before are.
    some = replace(full, waiting=(*large[:2], *small, *large[2:]))
    started = [one.session for one in Planning(some).decide()]
    assert started == ["small0", "small1"]
    assert len(tried) == 52


@given(draws.snapshots())
def test_every_refusal_is_right(snapshot):
    decided = plan(snapshot)
    after = applied(snapshot, decided)
    waiting = {one.id: one for one in snapshot.waiting}
    patience = {group.id: group.patience for group in snapshot.groups}
    long = {one.id for one in after.waiting if snapshot.now - one.since > patience.get(one.group, NEVER)}
    for refusal in decided.refusals:
        one = waiting[refusal.session]
        match refusal.cause:
            case Cause.GROUP:
                assert one.group not in patience
            case Cause.LIMIT:
                assert limited(after, one)
            case Cause.NODES:
                assert not limited(after, one)
                assert not fits(after, one)
            case Cause.HELD_BACK:
                assert not limited(after, one)
                assert fits(after, one)
                # Nodes are kept for who would fit on them when they are empty, a ceiling for who is under it.
                assert any(
                    fits(emptied(snapshot), waiting[other])
                    and waiting[other].group in (one.group, *_shared(one))
                    for other in long - {one.id}
                ), refusal


def _shared(one):
    return draws.GROUPS if one.scopes else ()


def test_reserved_ceiling_is_no_reason_in_a_group_without_nodes():
    patience = timedelta(minutes=5)
    limit = {"p": ScopeSnapshot("project p", {"cpu": 1000}, {"cpu": 300})}
    first = pending("first", {"cpu": 1000}, NOW - 2 * patience, scopes=("p",))
    second = pending("second", {"cpu": 500}, scopes=("p",), group=GroupId("empty"))
    groups = (
        GroupSnapshot(DEFAULT_GROUP, patience=patience),
        GroupSnapshot(GroupId("empty"), "empty", patience=patience),
    )
    snapshot = Snapshot((node_with("n", {"cpu": 4000}),), (first, second), NOW, groups, limit)
    causes = {one.session: (one.cause, one.reason) for one in plan(snapshot).refusals}
    assert causes["first"][0] is Cause.LIMIT
    assert causes["second"] == (Cause.NODES, "No node has joined its resource group yet.")
    # With a node, the reservation is the only reason.
    more = replace(snapshot, nodes=(*snapshot.nodes, node_with("m", {"cpu": 4000}, group=GroupId("empty"))))
    causes = {one.session: one.cause for one in plan(more).refusals}
    assert causes["second"] is Cause.HELD_BACK


def test_blockers_are_the_ceiling_and_the_nodes_behind_it():
    limit = {"p": ScopeSnapshot("project p", {"cpu": 1000}, {"cpu": 300})}
    one = pending("one", {"cpu": 1000}, scopes=("p",))
    full = Snapshot((node_with("n", {"cpu": 4000}, {"cpu": 3500}),), (one,), NOW, scopes=limit)
    causes = [(blocked.cause, bool(blocked.limits), bool(blocked.nodes)) for blocked in _blockers(full, one)]
    assert causes == [(Cause.LIMIT, True, False), (Cause.NODES, False, True)]
    unused = replace(full, nodes=(node_with("n", {"cpu": 4000}),))
    assert [blocked.cause for blocked in _blockers(unused, one)] == [Cause.LIMIT]
    unlimited = replace(full, scopes={"p": ScopeSnapshot("project p", {})})
    assert [blocked.cause for blocked in _blockers(unlimited, one)] == [Cause.NODES]


def _blockers(snapshot, one):
    planning = Planning(snapshot)
    planning.run()
    return planning.blockers(one)


@given(draws.snapshots(patience=NEVER))
def test_nothing_is_kept_from_anybody_while_nobody_has_waited_long(snapshot):
    decided = plan(snapshot)
    assert all(refusal.cause is not Cause.HELD_BACK for refusal in decided.refusals)


@given(draws.snapshots())
def test_a_reason_accounts_for_every_node(snapshot):
    group_of = {one.id: one.group for one in snapshot.waiting}
    for refusal in plan(snapshot).refusals:
        if refusal.cause is not Cause.NODES:
            continue
        mine = [node for node in snapshot.nodes if node.group == group_of[refusal.session]]
        if not mine:
            assert refusal.reason == "No node has joined its resource group yet."
            continue
        counts = [int(count) for count in re.findall(r"(?:^|; )(\d+) nodes?: ", refusal.reason)]
        assert sum(counts) == len(mine), refusal.reason


@given(draws.snapshots(patience=NEVER), draws.nodes(9))
def test_another_node_never_makes_the_next_in_line_wait(snapshot, node):
    """True of the first: with several, more room may change who goes where, and any greedy order can be upset."""
    for one in snapshot.waiting:
        alone = replace(snapshot, waiting=(one,))
        if plan(alone).placements:
            assert plan(replace(alone, nodes=(*snapshot.nodes, node))).placements


@given(draws.snapshots(patience=NEVER, plain=True), draws.nodes(9), st.integers(1, 12))
def test_another_node_never_makes_fewer_of_the_same_start(snapshot, node, number):
    assume(snapshot.waiting)
    same = tuple(replace(snapshot.waiting[0], id=SessionId(f"s{n}")) for n in range(number))
    before = replace(snapshot, waiting=same)
    after = replace(before, nodes=(*snapshot.nodes, node))
    assert len(plan(after).placements) >= len(plan(before).placements)


@given(draws.snapshots(), st.integers(1, 3))
def test_the_best_node_is_the_same_however_it_is_found(snapshot, times):
    line = tuple(
        replace(one, id=SessionId(f"{one.id}-{n}")) for one in snapshot.waiting for n in range(times)
    )
    snapshot = replace(snapshot, waiting=line)
    plans = []
    for tries, stretch, size, indexed in ((10**6, 1, 1, True), (0, 10**6, 24, True), (1, 2, 2, False)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ranking, "_TRIES", tries)
            patch.setattr(ranking, "_STRETCH", stretch)
            patch.setattr(capacity_index, "SIZE", size)
            if not indexed:
                # Nobody was announced: all nodes are looked at each time.
                patch.setattr(Room, "expect", lambda room, request: None)
            plans.append(plan(snapshot))
    assert all(one == plans[0] for one in plans)


@pytest.mark.parametrize(("strategy", "best"), [(Strategy.DISPERSED, 0), (Strategy.CONCENTRATED, 1)])
def test_a_node_of_which_part_was_kept_is_compared_by_all_that_it_has_free_again(strategy, best):
    nodes = [node_with(f"n{used}", {"cpu": 16}, {"cpu": used}) for used in (4, 8)]
    room = Room(GroupSnapshot(DEFAULT_GROUP, strategy=strategy), nodes)
    large, small = (DistinctRequirements({}).of(pending(f"wants {cpu}", {"cpu": cpu})) for cpu in (16, 1))
    room.expect(small)
    assert room.keep(large)
    assert room.best(small.container) == 1
    room.keep_nothing()
    assert room.best(small.container) == best


@given(draws.snapshots(patience=NEVER, plain=True))
def test_each_goes_to_the_node_that_the_strategy_prefers(snapshot):
    now = snapshot
    for placement in plan(snapshot).placements:
        one = next(other for other in now.waiting if other.id == placement.session)
        # What is free of devices, and which of them, is another's to say.
        if not any("." in slot for slot, amount in one.slots.items() if amount):
            assert placement.node == preferred(now, one), one
        now = applied(now, Plan((placement,), ()))


@given(
    draws.snapshots() | draws.snapshots(patience=NEVER), st.sampled_from([QueueOrder.FIFO, QueueOrder.LIFO])
)
def test_a_session_passes_only_sessions_that_cannot_start(snapshot, order):
    """A session that waits ahead of one that started did not fit when that one started, or was held back."""
    snapshot = replace(snapshot, groups=tuple(replace(group, order=order) for group in snapshot.groups))
    decided = plan(snapshot)
    now: Snapshot = snapshot
    started = set()
    for placement in decided.placements:
        one = next(other for other in now.waiting if other.id == placement.session)
        for other in now.waiting:
            same = other.group == one.group and other.priority == one.priority
            if order is QueueOrder.FIFO and same and (other.since, other.id) < (one.since, one.id):
                assert other.id not in started
                assert (
                    not fits(now, other) or limited(now, other) or _may_be_held_back(decided, snapshot, other)
                )
        started.add(one.id)
        now = applied(now, replace(decided, placements=(placement,)))


def _may_be_held_back(decided, snapshot, one):
    """Another session has waited past the patience, so that capacity was reserved for it when this one was tried."""
    patience = {group.id: group.patience for group in snapshot.groups}
    refused = {refusal.session for refusal in decided.refusals} - {one.id}
    return any(
        snapshot.now - other.since > patience.get(other.group, NEVER)
        for other in snapshot.waiting
        if other.id in refused
    )


@given(draws.snapshots(plain=True), st.integers(0, 4))
def test_a_node_to_avoid_is_taken_only_when_no_other_will_do(snapshot, number):
    for one in snapshot.waiting:
        avoided = NodeId(f"n{number}")
        alone = replace(snapshot, waiting=(replace(one, avoid=frozenset({avoided})),))
        placed = plan(alone).placements
        if placed and placed[0].node == avoided:
            others = tuple(node for node in snapshot.nodes if node.id != avoided)
            assert not plan(replace(alone, nodes=others)).placements
        assert bool(placed) == bool(plan(replace(snapshot, waiting=(one,))).placements)


@given(draws.snapshots(), draws.waiting(99))
def test_what_is_said_of_one_who_only_asks_comes_true(snapshot, one):
    """Somebody who comes last, and has not waited, starts in the next plan if and only if it was said so."""
    one = replace(one, since=snapshot.now, priority=0)
    planning = Planning(snapshot)
    decided = planning.run()
    would = planning.would_start(one)
    after = applied(snapshot, decided)
    placed = plan(replace(after, waiting=(*after.waiting, one))).placements
    assert would == (one.id in [placement.session for placement in placed])
