"""Replays: nobody is lost, nothing is held beyond what there is, and the figures are those of the textbook."""

import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.core.errors import Invalid
from carrel.core.ids import DEFAULT_GROUP, GroupId, NodeId, SessionId
from carrel.core.slots import WHOLE
from carrel.scheduling.devices import units
from carrel.scheduling.plan import Planning
from carrel.scheduling.snapshot import (
    SESSIONS,
    ClusterMode,
    DeviceSnapshot,
    GroupSnapshot,
    NodeSnapshot,
    QueueOrder,
    Strategy,
)
from carrel.scheduling.usage_decay import moved_on
from carrel.simulator.fairness import jain
from carrel.simulator.installation import ANYBODY, SimulatedInstallation
from carrel.simulator.picture import picture
from carrel.simulator.report import measured, report
from carrel.simulator.simulate import Fate, Replay, Stay, simulate
from carrel.simulator.traces import TraceEntry

CUDA = {"cuda.device": WHOLE, "cuda.shares": 1}

START = datetime(2026, 1, 1, tzinfo=UTC)
OTHER = GroupId("other")
PATHS = [("d1", "p1", "ann"), ("d1", "p2", "bob"), ("d2", "p3", "eve")]


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)


def arrival(name: str, at: float, runs: float, cpu: int = 1, **more: object) -> TraceEntry:
    return TraceEntry(SessionId(name), START + seconds(at), seconds(runs), {"cpu": cpu}, **more)  # type: ignore[arg-type]


def machine(*cpus: int, **group: object) -> SimulatedInstallation:
    nodes = tuple(NodeSnapshot(NodeId(f"n{i}"), f"n{i}", {"cpu": cpu}) for i, cpu in enumerate(cpus))
    return SimulatedInstallation(nodes, (GroupSnapshot(DEFAULT_GROUP, **group),))  # type: ignore[arg-type]


def waits(replay: Replay) -> list[float]:
    return [stay.waited.total_seconds() for stay in replay.stays]


@st.composite
def installations(draw: st.DrawFn) -> SimulatedInstallation:
    devices = tuple(DeviceSnapshot(f"gpu{i}", "cuda", slots=CUDA) for i in range(2))
    accelerated = {"cpu": 4, "cuda.device": 2, "cuda.shares": 2 * WHOLE}
    nodes = (
        NodeSnapshot(NodeId("n0"), "n0", {"cpu": draw(st.integers(2, 6))}),
        NodeSnapshot(NodeId("n1"), "n1", accelerated, devices=devices),
        NodeSnapshot(NodeId("n2"), "n2", {"cpu": 9}, closed=draw(st.sampled_from(["", "cordoned"]))),
    )
    group = GroupSnapshot(
        DEFAULT_GROUP,
        order=draw(st.sampled_from(QueueOrder)),
        strategy=draw(st.sampled_from(Strategy)),
        patience=seconds(draw(st.sampled_from([0, 30, 1000]))),
        half_life=seconds(60),
    )
    ceilings = draw(
        st.dictionaries(
            st.sampled_from([("user", "ann"), ("project", "p2"), ("domain", "d1"), ("user", ANYBODY)]),
            st.sampled_from([{"cpu": 3}, {SESSIONS: 1}, {"cuda.shares": 500, "cpu": 6}]),
        )
    )
    pending = draw(st.sampled_from([{}, {DEFAULT_GROUP: seconds(50)}]))
    groups: tuple[GroupSnapshot, ...] = (group,)
    if draw(st.booleans()):
        nodes = (*nodes, NodeSnapshot(NodeId("n3"), "n3", {"cpu": 4}, group=OTHER))
        groups = (group, replace(group, id=OTHER, name=OTHER))
    return SimulatedInstallation(nodes, groups, ceilings=ceilings, pending=pending)


@st.composite
def traces(draw: st.DrawFn) -> list[TraceEntry]:
    slots = st.sampled_from(
        [{"cpu": 1}, {"cpu": 3}, {"cpu": 5}, {"cpu": 1, "cuda.device": 1}, {"cpu": 1, "cuda.shares": 400}]
    )
    return [
        TraceEntry(
            SessionId(f"s{number}"),
            START + seconds(draw(st.integers(0, 60))),
            seconds(draw(st.integers(0, 90))),
            draw(slots),
            draw(st.sampled_from(PATHS)),
            priority=draw(st.sampled_from([10, 50])),
            count=draw(st.sampled_from([1, 1, 2])),
            mode=draw(st.sampled_from(ClusterMode)),
            limit=draw(st.sampled_from([None, seconds(20)])),
            alternatives=draw(st.sampled_from([(), (), (OTHER,)])),
        )
        for number in range(draw(st.integers(1, 14)))
    ]


@settings(deadline=None, max_examples=60)
@given(traces(), installations())
def test_everybody_has_one_fate_and_the_same_replay_comes_out_twice(arrivals, installation):
    replay = simulate(arrivals, installation)
    assert sorted(stay.arrival.id for stay in replay.stays) == sorted(one.id for one in arrivals)
    for stay in replay.stays:
        runs = min(stay.arrival.runs, stay.arrival.limit or stay.arrival.runs)
        if stay.fate is Fate.RAN:
            assert stay.started
            assert stay.started >= stay.arrival.at
            assert stay.until - stay.started == runs
            assert len(stay.parts) == stay.arrival.count
        else:
            assert not stay.parts
            assert stay.reason
        if stay.fate is Fate.GAVE_UP:
            assert stay.waited == installation.pending[DEFAULT_GROUP]
    assert simulate(arrivals, installation) == replay
    otherwise = simulate(list(reversed(arrivals)), installation)
    assert {stay.arrival.id: stay for stay in otherwise.stays} == {
        stay.arrival.id: stay for stay in replay.stays
    }


@settings(deadline=None, max_examples=60)
@given(traces(), installations())
def test_what_is_left_out_of_a_replay_changes_nothing(arrivals, installation):
    """Everybody is asked at each instant: the same replay, and the same reasons."""
    replay = simulate(arrivals, installation)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Planning, "decide", lambda planning: planning.run().placements)
        patch.setattr("carrel.simulator.simulate._Replaying._blocked_as_before", lambda *_: False)
        assert simulate(arrivals, installation) == replay


def test_a_session_starts_in_another_group_that_it_accepts_when_that_is_sooner():
    one = machine(1)
    both = replace(
        one,
        nodes=(*one.nodes, NodeSnapshot(NodeId("spare"), "spare", {"cpu": 1}, group=OTHER)),
        groups=(*one.groups, GroupSnapshot(OTHER, "other")),
    )
    line = [arrival(f"s{n}", 0, 60, alternatives=(OTHER,) if n else ()) for n in range(3)]
    replay = simulate(line, both)
    assert waits(replay) == [0, 0, 60]
    assert [stay.parts[0].node for stay in replay.stays] == ["n0", "spare", "n0"]


def test_who_comes_to_a_blocked_queue_is_not_planned_for(monkeypatch):
    decided = []
    decide = Planning.decide
    monkeypatch.setattr(Planning, "decide", lambda planning: decided.append(1) or decide(planning))
    line = [arrival("first", 0, 50, 2), *(arrival(f"s{n}", n, 1, 2) for n in range(1, 20))]
    line.append(arrival("small", 30, 1))
    replay = simulate(line, machine(2))
    # The first, each end, and no arrival while the node is full.
    assert (len(decided), replay.plans) == (1 + 20, 1 + 19 + 1 + 20)
    assert waits(replay)[:3] == [0, 49, 49]


@settings(deadline=None, max_examples=60)
@given(traces(), installations())
def test_at_no_instant_is_more_held_than_nodes_devices_and_ceilings_have(arrivals, installation):
    replay = simulate(arrivals, installation)
    ran = [stay for stay in replay.stays if stay.fate is Fate.RAN]
    closed = {node.id for node in installation.nodes if node.closed}
    assert not closed & {part.node for stay in ran for part in stay.parts}
    for now in sorted({stay.started for stay in ran if stay.started}):
        holding = [stay for stay in ran if stay.started and stay.started <= now < stay.until]
        _nothing_is_overfull(holding, installation)


def _nothing_is_overfull(holding: Iterable[Stay], installation: SimulatedInstallation) -> None:
    nodes: defaultdict[tuple[str, str], int] = defaultdict(int)
    scopes: defaultdict[tuple[str, str, str], int] = defaultdict(int)
    for stay in holding:
        for part in stay.parts:
            for slot, amount in stay.arrival.slots.items():
                nodes[part.node, slot] += amount
            for taken in part.devices.values():
                for device, amount in taken.items():
                    nodes[part.node, device] += amount
        for kind, name in zip(("domain", "project", "user"), stay.arrival.path, strict=True):
            scopes[kind, name, SESSIONS] += 1
            for slot, amount in stay.arrival.slots.items():
                scopes[kind, name, slot] += amount * stay.arrival.count
    for node in installation.nodes:
        for device in node.devices:
            assert nodes[node.id, device.id] <= WHOLE
        for slot, most in node.capacity.items():
            assert nodes[node.id, slot] <= most
    for (kind, name, slot), held in scopes.items():
        ceiling = installation.ceilings.get((kind, name), installation.ceilings.get((kind, ANYBODY), {}))
        assert held <= ceiling.get(slot, held)


def test_first_come_first_served_on_one_node_gives_the_waits_of_the_textbook():
    # Lindley: who comes waits for what the one before had to wait and run, less the time in between.
    came = [(0, 10), (2, 5), (4, 20), (40, 3), (41, 1), (41.5, 4)]
    expected = [0.0]
    for (at, runs), (following, _) in pairwise(came):
        expected.append(max(expected[-1] + runs - (following - at), 0.0))
    assert expected == [0, 8, 11, 0, 2, 2.5]
    replay = simulate([arrival(f"s{n}", at, runs) for n, (at, runs) in enumerate(came)], machine(1))
    assert waits(replay) == expected


def test_last_come_first_served_turns_the_line_round():
    line = [arrival("first", 0, 10), *(arrival(f"s{n}", n, 10) for n in (1, 2, 3))]
    assert waits(simulate(line, machine(1, order=QueueOrder.LIFO))) == [0, 29, 18, 7]


def test_who_has_had_less_goes_first_until_the_past_is_forgotten():
    ann, bob = PATHS[0], PATHS[1]
    first = [arrival("a1", 0, 100, path=ann), arrival("b0", 100, 10, path=bob)]
    # Both ask while bob's short one runs: ann has had ten times as much.
    both = [arrival("a2", 101, 10, path=ann), arrival("b2", 102, 10, path=bob)]
    assert waits(simulate([*first, *both], machine(1, order=QueueOrder.FAIR_SHARE)))[2:] == [19, 8]
    # With a half-life of a second only what was just now counts.
    forgetful = machine(1, order=QueueOrder.FAIR_SHARE, half_life=seconds(1))
    assert waits(simulate([*first, *both], forgetful))[2:] == [9, 18]
    # Who is entitled to much more has had less of it.
    weighed = replace(
        machine(1, order=QueueOrder.FAIR_SHARE), weights={DEFAULT_GROUP: {("project", "p1"): 20.0}}
    )
    assert waits(simulate([*first, *both], weighed))[2:] == [9, 18]


def test_who_waits_too_long_leaves_and_who_never_fits_is_told_so():
    installation = replace(machine(2), pending={DEFAULT_GROUP: seconds(5)})
    replay = simulate([arrival("a", 0, 30, 2), arrival("b", 1, 1, 2)], installation)
    assert [(stay.fate, stay.waited) for stay in replay.stays][1] == (Fate.GAVE_UP, seconds(5))
    replay = simulate(
        [arrival("huge", 0, 1, 3), arrival("b", 1, 1), arrival("c", 1, 1, group=GroupId("other"))], machine(2)
    )
    assert [stay.fate for stay in replay.stays] == [Fate.NEVER_STARTED, Fate.RAN, Fate.NEVER_STARTED]
    assert report(replay).reasons == {
        "1 node: needs 0.003 CPU, 0.002 CPU free.": 1,
        "Its resource group is not active.": 1,
    }


def test_the_past_moves_on_by_steps_as_at_once_and_as_the_ledger_sums_it():
    half_life, held = seconds(100), {"cpu": 8.0}
    at_once = moved_on({"cpu": 3.0}, held, seconds(90), half_life)
    by_steps: dict[str, float] = {"cpu": 3.0}
    for _ in range(9):
        by_steps = moved_on(by_steps, held, seconds(10), half_life)
    assert by_steps == pytest.approx(at_once)
    # Held for 50 seconds, and let go 30 seconds ago: the sum of the weights of those moments.
    past = moved_on(moved_on({}, held, seconds(50), half_life), {}, seconds(30), half_life)
    assert past == {"cpu": pytest.approx(8 * (0.5 ** (30 / 100) - 0.5 ** (80 / 100)))}


def test_figures_are_counted_right():
    line = [
        arrival("a", 0, 10, 2, path=PATHS[0]),
        arrival("b", 0, 10, 1, path=PATHS[1]),
        arrival("c", 2, 5, 2, path=PATHS[1]),
    ]
    figures = report(simulate(line, machine(2)))
    # a runs alone until 10; then b, and c when b has made room at 20.
    assert figures.makespan_s == 25
    assert figures.sessions == {"all": 3, "ran": 3, "gave_up": 0, "never_started": 0}
    assert figures.waits
    assert (figures.waits.mean_s, figures.waits.median_s, figures.waits.p95_s, figures.waits.max_s) == (
        28 / 3,
        10,
        18,
        18,
    )
    assert figures.utilisation["cpu"].mean == pytest.approx((10 * 2 + 10 * 1 + 5 * 2) / (25 * 2))
    assert sum(figures.utilisation["cpu"].series) / len(figures.utilisation["cpu"].series) == pytest.approx(
        0.8
    )
    assert figures.utilisation["cpu"].series[0] == 1
    assert (figures.queue.max, figures.queue.mean) == (2, pytest.approx(28 / 25))
    first, second = figures.projects
    assert (first.project, first.slot_seconds, first.share) == ("p1", {"cpu": 20}, None)
    # p2 held nothing from 0 to 10, and half of the node from 10 to 20, while c waited.
    assert (second.project, second.slot_seconds, second.share) == ("p2", {"cpu": 20}, pytest.approx(0.25))
    assert (figures.fairness.use, figures.fairness.shares) == (1, 1)
    assert figures.fairness.waits == pytest.approx(jain([0, 14]))


def test_devices_and_shares_of_a_family_are_measured_together():
    device = DeviceSnapshot("gpu0", "cuda", slots=CUDA)
    node = NodeSnapshot(NodeId("n"), "n", {"cuda.device": 1, "cuda.shares": WHOLE}, devices=(device,))
    slots = {"cpu": 1, "cuda.device": 2, "cuda.shares": 500}
    assert measured(slots, units([node])) == {"cpu": 1, "cuda": 2500}
    halves = [replace(arrival(name, 0, 10), slots={"cuda.shares": 500}) for name in ("a", "b", "c")]
    figures = report(simulate(halves, SimulatedInstallation((node,), (GroupSnapshot(DEFAULT_GROUP),))))
    assert figures.utilisation["cuda"].capacity == WHOLE
    assert figures.utilisation["cuda"].mean == pytest.approx(0.75)


def test_jains_index_is_one_for_equals_and_one_in_n_for_a_monopoly():
    assert jain([3, 3, 3]) == 1
    assert jain([5, 0, 0, 0]) == 0.25
    assert jain([1, 2]) == pytest.approx(0.9)
    assert jain([]) == jain([0, 0]) == 1


def test_the_picture_is_whole_and_says_what_it_shows():
    line = [arrival("a", 0, 100, path=("d", "<p>", "u")), arrival("b", 1, 9, 9, path=("d", "none", "u"))]
    drawn = ET.fromstring(picture(report(simulate(line, machine(1))), "March & April"))
    texts = [element.text for element in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {"March & April", "<p>", "none", "none started", "In use", "Waiting"} <= set(texts)
    assert len(list(drawn.iter("{http://www.w3.org/2000/svg}polyline"))) == 2


def test_a_replay_past_the_end_of_time_is_refused_in_words():
    far = replace(arrival("a", 0, 2e9), at=datetime(9990, 1, 1, tzinfo=UTC))
    with pytest.raises(Invalid, match="past the year 9999"):
        simulate([far], machine(1))


def test_an_installation_without_an_open_node_has_figures_too():
    for none in (machine(), replace(machine(1), nodes=(replace(machine(1).nodes[0], closed="cordoned"),))):
        figures = report(simulate([arrival("a", 0, 5), arrival("b", 3, 5)], none))
        assert figures.sessions["never_started"] == 2
        assert (figures.utilisation, [one.share for one in figures.projects]) == ({}, [0])
        assert picture(figures, "nothing")


def test_a_trace_of_one_instant_has_figures_too():
    figures = report(simulate([arrival("a", 0, 0)], machine(1)))
    assert (figures.makespan_s, figures.utilisation["cpu"].mean, figures.queue.max) == (0, 0, 0)
    assert picture(figures, "short")
