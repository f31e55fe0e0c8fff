"""What every plan keeps, whatever the snapshot."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.core.ids import NodeId, SessionId
from carrel.core.units import add
from carrel.scheduling.plan import HELD_BACK, PATIENCE, plan
from carrel.scheduling.snapshot import NodeView, Plan, Snapshot, Waiting

NOW = datetime(2026, 1, 1, tzinfo=UTC)

amounts = st.integers(0, 8)
slots = st.fixed_dictionaries({"cpu": amounts, "mem": amounts}, optional={"cuda.device": st.integers(0, 2)})


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    nodes = []
    for number in range(draw(st.integers(0, 4))):
        capacity = draw(slots)
        used = {slot: draw(st.integers(0, amount)) for slot, amount in capacity.items()}
        nodes.append(
            NodeView(
                NodeId(f"n{number}"), f"node{number}", draw(st.booleans()) or number == 0, capacity, used
            )
        )
    ages = sorted(draw(st.lists(st.integers(0, 600), max_size=8)), reverse=True)
    waiting = [
        Waiting(SessionId(f"s{number}"), draw(slots), NOW - timedelta(seconds=age))
        for number, age in enumerate(ages)
    ]
    return Snapshot(tuple(nodes), tuple(waiting), NOW)


def fits(node: NodeView, wanted: Waiting, *, empty: bool = False) -> bool:
    used = {} if empty else node.used
    return node.ready and all(
        amount <= node.capacity.get(slot, 0) - used.get(slot, 0) for slot, amount in wanted.slots.items()
    )


def applied(snapshot: Snapshot, decided: Plan) -> Snapshot:
    """The snapshot that the next pass would load."""
    wanted = {waiting.id: waiting for waiting in snapshot.waiting}
    nodes = {node.id: node for node in snapshot.nodes}
    for placement in decided.placements:
        node = nodes[placement.node]
        nodes[node.id] = replace(node, used=add(node.used, wanted[placement.session].slots))
    placed = {placement.session for placement in decided.placements}
    waiting = tuple(one for one in snapshot.waiting if one.id not in placed)
    return replace(snapshot, nodes=tuple(nodes.values()), waiting=waiting)


@given(snapshots())
def test_no_node_is_filled_over_its_capacity_or_while_it_is_not_ready(snapshot):
    decided = plan(snapshot)
    ready = {node.id for node in snapshot.nodes if node.ready}
    assert {placement.node for placement in decided.placements} <= ready
    for node in applied(snapshot, decided).nodes:
        assert all(used <= node.capacity.get(slot, 0) for slot, used in node.used.items() if used)


@given(snapshots())
def test_everybody_is_placed_or_refused_once_in_order_of_arrival(snapshot):
    decided = plan(snapshot)
    placed = [placement.session for placement in decided.placements]
    refused = [refusal.session for refusal in decided.refusals]
    arrival = [waiting.id for waiting in snapshot.waiting]
    assert sorted(placed + refused) == sorted(arrival)
    assert placed == [one for one in arrival if one in placed]
    assert refused == [one for one in arrival if one in refused]
    assert [refusal.position for refusal in decided.refusals] == list(range(1, len(refused) + 1))


@given(snapshots(), st.randoms())
def test_the_same_snapshot_gives_the_same_plan_in_whatever_order_nodes_come(snapshot, random):
    nodes = list(snapshot.nodes)
    random.shuffle(nodes)
    assert plan(replace(snapshot, nodes=tuple(nodes))) == plan(snapshot)


@given(snapshots())
def test_a_second_pass_changes_nothing(snapshot):
    first = plan(snapshot)
    second = plan(applied(snapshot, first))
    assert second.placements == ()
    assert second.refusals == first.refusals


@given(snapshots())
def test_who_is_refused_for_want_of_room_fits_on_no_node(snapshot):
    decided = plan(snapshot)
    after = applied(snapshot, decided)
    wanted = {waiting.id: waiting for waiting in snapshot.waiting}
    for refusal in decided.refusals:
        if refusal.reason != HELD_BACK:
            assert not any(fits(node, wanted[refusal.session]) for node in after.nodes)


@given(snapshots())
def test_a_reason_accounts_for_every_node(snapshot):
    for refusal in plan(snapshot).refusals:
        if refusal.reason == HELD_BACK:
            continue
        if not snapshot.nodes:
            assert refusal.reason == "No node has joined yet."
            continue
        counts = {
            cause: int(count)
            for count, cause in re.findall(r"(\d+) nodes?: ([^;]+?)(?:;|\.$)", refusal.reason)
        }
        assert sum(counts.values()) == len(snapshot.nodes), refusal.reason
        assert counts.get("not ready", 0) == sum(not node.ready for node in snapshot.nodes)


@given(snapshots())
def test_nobody_overtakes_one_who_has_waited_long_and_can_be_served(snapshot):
    decided = plan(snapshot)
    placed = {placement.session for placement in decided.placements}
    guarded = False
    for waiting in snapshot.waiting:
        if guarded:
            assert waiting.id not in placed
        elif waiting.id not in placed and NOW - waiting.since > PATIENCE:
            guarded = any(fits(node, waiting, empty=True) for node in snapshot.nodes)


@given(snapshots())
def test_only_one_who_can_be_served_holds_others_back(snapshot):
    decided = plan(snapshot)
    wanted = {waiting.id: waiting for waiting in snapshot.waiting}
    for index, refusal in enumerate(decided.refusals):
        if refusal.reason == HELD_BACK:
            earlier = [wanted[one.session] for one in decided.refusals[:index]]
            assert any(
                NOW - one.since > PATIENCE and any(fits(node, one, empty=True) for node in snapshot.nodes)
                for one in earlier
            )


@given(snapshots(), slots)
def test_another_node_never_makes_the_next_in_line_wait(snapshot, capacity):
    """True of the first in line only: with several waiting, any greedy order can be upset by more room."""
    first = [waiting.id for waiting in snapshot.waiting[:1]]
    if [placement.session for placement in plan(snapshot).placements[:1]] != first:
        return
    more = replace(snapshot, nodes=(*snapshot.nodes, NodeView(NodeId("new"), "another", True, capacity, {})))
    assert first == [placement.session for placement in plan(more).placements[:1]]


@given(st.integers(1, 8), st.integers(1, 8))
@settings(max_examples=30)
def test_a_long_wait_ends_when_what_runs_before_it_ends(large, small):
    """A stream of small sessions cannot starve a large one: once it has waited long, the node drains for it."""
    node = NodeView(NodeId("n"), "node", True, {"cpu": 8}, {"cpu": 8})
    head = Waiting(SessionId("head"), {"cpu": large}, NOW - PATIENCE - timedelta(seconds=1))
    for free in range(9):
        later = tuple(Waiting(SessionId(f"s{n}"), {"cpu": small}, NOW) for n in range(3))
        decided = plan(Snapshot((replace(node, used={"cpu": 8 - free}),), (head, *later), NOW))
        placed = [placement.session for placement in decided.placements]
        assert ("head" in placed) == (free >= large)
        assert not placed or placed[0] == "head"
