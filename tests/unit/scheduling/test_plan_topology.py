"""Cluster sessions in groups whose nodes have a topology."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plan_draws import GROUPS, snapshots
from plan_kit import NOW
from plan_model import applied, most_on

from carrel.core.ids import DEFAULT_GROUP, GroupId, NodeId, SessionId
from carrel.scheduling.changes import Kind, changes
from carrel.scheduling.cluster_placement import Members
from carrel.scheduling.estimate import estimate_start
from carrel.scheduling.plan import Planning, plan
from carrel.scheduling.snapshot import (
    Cause,
    ClusterMode,
    GroupChoice,
    GroupSnapshot,
    NodeSnapshot,
    PendingSession,
    Snapshot,
    Strategy,
)

SPREAD, NEAR = ClusterMode.MULTI_NODE, ClusterMode.NARROWEST
TOPOLOGY = ("rack", "zone")
GROUP = GroupSnapshot(DEFAULT_GROUP, topology=TOPOLOGY)


def nodes(*free: int, racks: str, zones: str = "") -> tuple[NodeSnapshot, ...]:
    """Nodes of 8 CPU with this much free; a rack or zone of "-" is none."""
    return tuple(
        NodeSnapshot(
            NodeId(f"n{at}"),
            f"node{at}",
            {"cpu": 8},
            {"cpu": 8 - cpu},
            domains=tuple(value.replace("-", "") for value in (rack, zone)),
        )
        for at, (cpu, rack, zone) in enumerate(zip(free, racks, zones or "z" * len(free), strict=True))
    )


def cluster(*cpus: int, mode: ClusterMode = NEAR, name: str = "c", **more: object) -> PendingSession:
    sizes = tuple({"cpu": cpu} for cpu in cpus)
    mixed = sizes if len({*cpus}) > 1 else ()
    return PendingSession(SessionId(name), sizes[0], NOW, count=len(cpus), mode=mode, mixed=mixed, **more)  # type: ignore[arg-type]


def snapshot(machines: tuple[NodeSnapshot, ...], *waiting: PendingSession, **more: object) -> Snapshot:
    return Snapshot(machines, waiting, NOW, (replace(GROUP, **more),))  # type: ignore[arg-type]


def placed(given: Snapshot) -> list[str]:
    (placement,) = plan(given).placements
    return [part.node for part in placement.parts]


@pytest.mark.parametrize("strategy", Strategy)
def test_together_is_on_one_node_where_it_fits(strategy: Strategy) -> None:
    machines = nodes(2, 5, 2, 2, racks="aabb")
    assert placed(snapshot(machines, cluster(2, 2), strategy=strategy)) == ["n1", "n1"]
    assert placed(snapshot(machines, cluster(3, 2), strategy=strategy)) == ["n1", "n1"]


@pytest.mark.parametrize("strategy", Strategy)
@pytest.mark.parametrize("sizes", [(3, 3), (3, 2)])
def test_together_is_in_the_narrowest_domain_that_holds_all(
    strategy: Strategy, sizes: tuple[int, ...]
) -> None:
    in_rack = nodes(4, 1, 4, 1, 4, 4, racks="aabbcc", zones="111122")
    assert {*placed(snapshot(in_rack, cluster(*sizes), strategy=strategy))} == {"n4", "n5"}
    in_zone = nodes(4, 1, 1, 1, 4, 1, 4, 1, racks="aabbccdd", zones="11112222")
    assert {*placed(snapshot(in_zone, cluster(*sizes), strategy=strategy))} == {"n4", "n6"}
    anywhere = nodes(4, 1, 4, 1, racks="aabb", zones="1122")
    assert {*placed(snapshot(anywhere, cluster(*sizes), strategy=strategy))} == {"n0", "n2"}


def test_of_several_domains_the_one_with_the_least_to_spare_is_taken() -> None:
    assert {*placed(snapshot(nodes(4, 8, 4, 4, racks="aabb"), cluster(4, 4, 1)))} == {"n0", "n1"}
    assert {*placed(snapshot(nodes(7, 7, 7, 4, racks="aabb"), cluster(4, 4)))} == {"n2", "n3"}


def test_together_shares_domains_and_nodes_as_much_as_it_can() -> None:
    machines = nodes(4, 4, 2, 2, 2, 2, racks="aabbcc")
    assert Counter(placed(snapshot(machines, cluster(2, 2, 2, 2, 2)))) == Counter(n0=2, n1=2, n2=1)


def test_a_required_domain_is_waited_for() -> None:
    machines = nodes(4, 1, 4, 1, racks="aabb")
    assert {*placed(snapshot(machines, cluster(4, 4)))} == {"n0", "n2"}
    decided = plan(snapshot(machines, cluster(4, 4, within="rack")))
    assert [one.reason for one in decided.refusals] == [
        "4 nodes: has capacity for some containers, but not for all within one rack."
    ]
    assert {*placed(snapshot(machines, cluster(4, 4, within="zone")))} == {"n0", "n2"}


def test_racks_of_the_same_name_in_two_zones_are_two() -> None:
    machines = nodes(4, 4, racks="aa", zones="12")
    assert not plan(snapshot(machines, cluster(4, 4, within="rack"))).placements


def test_a_narrower_domain_outside_of_all_required_ones_is_not_taken() -> None:
    machines = nodes(8, 8, 4, 4, racks="aabb", zones="--zz")
    assert {*placed(snapshot(machines, cluster(4, 4, within="zone")))} == {"n2", "n3"}
    assert not plan(snapshot(machines[:2], cluster(8, 8, within="zone"))).placements


def test_nodes_without_the_label_of_a_required_domain_are_a_reason() -> None:
    machines = nodes(4, 4, 4, racks="a--")
    assert {*placed(snapshot(machines, cluster(4, 4)))} == {"n0", "n1"}
    (refusal,) = plan(snapshot(machines, cluster(4, 4, within="rack"))).refusals
    assert refusal.reason == (
        "1 node: has capacity for some containers, but not for all within one rack; 2 nodes: has no label rack."
    )
    assert not plan(snapshot(nodes(4, 8, racks="a-"), cluster(4, 4, within="rack"))).placements


@pytest.mark.parametrize("mode", [SPREAD, NEAR])
def test_a_label_that_the_group_no_longer_has_is_a_reason(mode: ClusterMode) -> None:
    one = cluster(1, 1, mode=mode, within="leaf")
    (refusal,) = plan(snapshot(nodes(4, racks="a"), one)).refusals
    assert refusal.reason == "Its resource group has no topology label leaf."
    assert refusal.cause is Cause.GROUP
    assert plan(snapshot(nodes(4, racks="a"), one, topology=())).refusals == (refusal,)


@pytest.mark.parametrize("strategy", Strategy)
def test_spread_goes_over_different_domains_first_then_over_nodes(strategy: Strategy) -> None:
    machines = nodes(8, 8, 8, 8, 8, 8, racks="aabbcc", zones="111122")
    used = placed(snapshot(machines, cluster(1, 1, 1, 1, mode=SPREAD), strategy=strategy))
    zones = Counter("1" if node in {"n0", "n1", "n2", "n3"} else "2" for node in used)
    assert (zones, len({*used})) == ({"1": 2, "2": 2}, 4)
    assert len({*used} & {"n0", "n1"}) == len({*used} & {"n2", "n3"}) == 1


def test_spread_within_a_domain_is_over_its_nodes() -> None:
    machines = nodes(8, 1, 4, 4, racks="aabb")
    assert {*placed(snapshot(machines, cluster(2, 2, mode=SPREAD, within="rack")))} == {"n2", "n3"}
    full = nodes(8, 0, 1, 4, racks="aabb")
    assert placed(snapshot(full, cluster(2, 2, 2, mode=SPREAD, within="rack"))) == ["n0"] * 3


def test_capacity_is_reserved_in_the_domain_that_has_to_free_the_least() -> None:
    waits = cluster(8, 8, name="old", within="rack")
    old = replace(waits, since=NOW - GROUP.patience * 2)
    small = tuple(cluster(1, name=f"small{n}") for n in range(3))
    decided = plan(snapshot(nodes(2, 2, 8, 7, racks="aabb"), old, *small))
    assert {part.node for one in decided.placements for part in one.parts} == {"n0", "n1"}


@pytest.mark.parametrize("within", ["rack", "zone", ""])
def test_what_fits_no_domain_of_empty_nodes_is_known(within: str) -> None:
    machines = nodes(0, 0, 0, 0, racks="aabb", zones="1122")
    room = Planning(snapshot(machines)).rooms[DEFAULT_GROUP]
    request = Planning(snapshot(machines))._requests.of(cluster(8, 8, 8, within=within))
    assert room.could_hold(request) is (within == "")


def test_domains_whose_nodes_have_no_room_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    attempts = counted(monkeypatch, "_attempt")
    machines = nodes(3, 3, 3, 3, 4, 3, racks="aabbcc")
    assert {*placed(snapshot(machines, cluster(2, 2, 2, within="rack")))} == {"n4", "n5"}
    assert len(attempts) == 1
    attempts.clear()
    assert not plan(snapshot(machines, cluster(2, 2, 2, 2, within="rack"))).placements
    assert not attempts


def test_sessions_that_take_nothing_do_not_have_the_others_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trials = counted(monkeypatch, "fits")
    # The next in line may never start; that the last may is known from one trial.
    line = [cluster(9, 9, name=f"a{n:02}", priority=90) for n in range(20)]
    given = snapshot(nodes(8, 8, racks="ab"), *line, cluster(4, 4, name="last"))
    assert [one.session for one in Planning(given).decide()] == ["last"]
    assert len(trials) < 5


def counted(monkeypatch: pytest.MonkeyPatch, method: str) -> list[str]:
    """Grows with each call of this method."""
    calls: list[str] = []
    original = getattr(Members, method)

    def call(members: Members, *args: object, **more: object) -> object:
        calls.append(method)
        return original(members, *args, **more)

    monkeypatch.setattr(Members, method, call)
    return calls


@st.composite
def topologies(draw: st.DrawFn) -> Snapshot:
    """One cluster session whose containers are alike, in groups with a topology."""
    given = draw(snapshots(plain=True))
    machines = tuple(
        replace(
            node,
            network=draw(st.sampled_from("aab")),
            domains=(draw(st.sampled_from(["r1", "r2", ""])), draw(st.sampled_from(["z1", "z1", "z2", ""]))),
        )
        for node in given.nodes
    )
    one = replace(
        given.waiting[0],
        group=draw(st.sampled_from(GROUPS)),
        count=draw(st.integers(2, 4)),
        mode=draw(st.sampled_from([SPREAD, NEAR])),
        within=draw(st.sampled_from(["", "", "rack", "zone"])),
        scopes=(),
    )
    groups = tuple(replace(group, topology=TOPOLOGY) for group in given.groups)
    return replace(given, nodes=machines, waiting=(one,), groups=groups)


def levels(node: NodeSnapshot) -> list[tuple[str, ...] | None]:
    """The domain of the node at each level, from itself to its network; None: it is in none."""
    rack, zone = node.domains
    return [
        (node.id,),
        (node.network, rack, zone) if rack else None,
        (node.network, zone) if zone else None,
        (node.network,),
    ]


def capacity(given: Snapshot, one: PendingSession, level: int) -> Mapping[tuple[str, ...], int]:
    """How many of its containers each domain has room for, of nodes where it may be."""
    required = {"": 3, "rack": 1, "zone": 2}[one.within]
    counted: Counter[tuple[str, ...]] = Counter()
    for node in given.nodes:
        domain = levels(node)[level]
        if domain and levels(node)[required]:
            counted[domain] += most_on(node, one, one.count)
    return counted


@given(topologies())
def test_it_is_placed_in_the_narrowest_domain_or_as_required_or_waits_where_none_has_room(
    given: Snapshot,
) -> None:
    (one,) = given.waiting
    widest = {"": 3, "rack": 1, "zone": 2}[one.within]
    possible = [
        level
        for level in (range(widest + 1) if one.mode is NEAR else [widest])
        if max(capacity(given, one, level).values(), default=0) >= one.count
    ]
    decided = plan(given)
    assert bool(decided.placements) is bool(possible)
    applied(given, decided)
    for placement in decided.placements:
        used = [node for node in given.nodes if node.id in {part.node for part in placement.parts}]
        assert len({levels(node)[possible[0]] for node in used}) == 1
        assert levels(used[0])[possible[0]] is not None


@given(topologies())
def test_spread_puts_two_more_in_a_domain_than_in_another_only_where_that_has_no_room(
    given: Snapshot,
) -> None:
    (one,) = given.waiting
    given = replace(given, waiting=(replace(one, mode=SPREAD, within=""),))
    for placement in plan(given).placements:
        where = Counter(part.node for part in placement.parts)
        network = next(node.network for node in given.nodes if node.id in where)
        room: Counter[str] = Counter()
        used: Counter[str] = Counter()
        for node in given.nodes:
            if node.network == network:
                room[node.domains[1]] += most_on(node, one, one.count)
                used[node.domains[1]] += where[node.id]
        assert used.total() == one.count
        for domain, count in room.items():
            if max(used.values()) >= used[domain] + 2:
                assert count == used[domain]


@given(topologies(), st.randoms(use_true_random=False))
def test_the_order_of_nodes_does_not_matter(given: Snapshot, random: object) -> None:
    shuffled = list(given.nodes)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert plan(replace(given, nodes=tuple(shuffled))) == plan(given)


OF_GROUPS = {(): None, ("x/rack",): "x/rack", ("rack", "x/rack"): "rack", ("x/rack", "y/rack"): None}
"""Topologies, with the level that each means by "rack"."""


@given(topologies(), st.permutations(GROUPS), st.tuples(*[st.sampled_from([*OF_GROUPS])] * len(GROUPS)))
def test_each_group_that_it_accepts_applies_its_own_topology(
    given: Snapshot, accepted: list[GroupId], labels: tuple[tuple[str, ...], ...]
) -> None:
    groups = tuple(replace(one, topology=levels) for one, levels in zip(given.groups, labels, strict=True))
    levels_of = {group.id: group.topology for group in groups}
    machines = tuple(
        replace(node, domains=node.domains[: len(levels_of.get(node.group, ()))]) for node in given.nodes
    )
    within = "rack" if given.waiting[0].within else ""
    one = replace(
        given.waiting[0], within=within, group=accepted[0], choices=tuple(map(GroupChoice, accepted))
    )
    given = replace(given, nodes=machines, groups=groups, waiting=(one,))
    possible = []
    for group in accepted:
        level = OF_GROUPS[levels_of[group]] if within else ""
        flat = one.mode is NEAR and not within and not levels_of[group]
        there = replace(one, group=group, choices=(), mode=ClusterMode.SINGLE_NODE if flat else one.mode)
        if level is not None:
            possible += plan(replace(given, waiting=(replace(there, within=level),))).placements[:1]
    decided = plan(given)
    assert list(decided.placements) == possible[:1]
    applied(given, decided)
    planning = Planning(replace(given, waiting=()))
    for refusal in decided.refusals:
        if within and OF_GROUPS[levels_of[refusal.group]] is None:
            assert refusal.reason == "Its resource group has no topology label rack."
            assert estimate_start(planning, one.in_group(refusal.group)).never


def test_another_group_is_offered_if_it_would_start_there_with_the_topology_of_that_group() -> None:
    other = GroupId("other")
    full = nodes(0, racks="a")
    free = tuple(replace(node, id=NodeId(f"o{node.id}"), group=other) for node in nodes(4, 4, racks="aa"))
    for here, there in ((TOPOLOGY, ()), ((), TOPOLOGY)):
        groups = (replace(GROUP, topology=here), GroupSnapshot(other, "other", topology=there))
        machines = tuple(
            replace(node, domains=node.domains if topology else ())
            for some, topology in ((full, here), (free, there))
            for node in some
        )
        given = Snapshot(machines, (cluster(4, 4),), NOW, groups)
        offered = [change.kind for change in changes(given, given.waiting[0], groups=[other])]
        assert offered == ([Kind.GROUP] if there else [])


def test_levels_are_from_narrow_to_wide() -> None:
    (node,) = nodes(1, racks="a", zones="1")
    assert all(len(narrow or ()) > len(wide or ()) for narrow, wide in pairwise(levels(node)[1:]))
