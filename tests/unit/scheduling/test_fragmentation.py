"""How broken up devices are, and that the moves which would free some are possible, and few."""

from collections import Counter
from itertools import product

from hypothesis import given
from hypothesis import strategies as st
from plan_kit import CUDA

from carrel.core.ids import NodeId, SessionId
from carrel.core.slots import WHOLE
from carrel.scheduling.fragmentation import Fragmentation, fragmentation
from carrel.scheduling.snapshot import ContainerPlacement, DeviceSnapshot, NodeSnapshot, RunningSession

ROOM = {"cpu": 100}
Held = list[list[list[int]]]
"""For each node, each device, the parts of it that sessions hold."""


def cluster(held: Held, *, cpu: int = 100, **more: object) -> tuple[list[NodeSnapshot], list[RunningSession]]:
    """Nodes with these devices. Each session has 1 CPU and is named by its node, device and number."""
    nodes, running = [], []
    for n, on_node in enumerate(held):
        name = NodeId(f"n{n}")
        for d, parts in enumerate(on_node):
            for p, amount in enumerate(parts):
                placed = ContainerPlacement(name, {"cuda.shares": {f"d{d}": amount}})
                slots = {"cpu": 1, "cuda.shares": amount}
                running.append(RunningSession(SessionId(f"{n}/{d}/{p}"), slots, (placed,)))
        devices = tuple(
            DeviceSnapshot(f"d{d}", "cuda", sum(parts), slots=CUDA) for d, parts in enumerate(on_node)
        )
        used = {"cpu": sum(map(len, on_node))}
        nodes.append(NodeSnapshot(name, name, {"cpu": cpu}, used, devices=devices, **more))  # type: ignore[arg-type]
    return nodes, running


def report(held: Held, *, smallest: int = 100, **more: object) -> Fragmentation:
    (one,) = fragmentation(*cluster(held, **more), {"cuda": smallest})  # type: ignore[arg-type]
    return one


def freed(one: Fragmentation) -> list[tuple[str, list[tuple[str, str]]]]:
    return [
        ("/".join(step.device), [(move.session, "/".join(move.to)) for move in step.moves])
        for step in one.freed
    ]


def test_devices_are_counted_and_what_is_left_below_the_smallest_share_is_stranded():
    one = report([[[], [500], [950], [600, 400]], [[WHOLE]]])
    assert (one.devices, one.free, one.broken, one.full, one.stranded) == (5, 1, 2, 2, 50)


def test_the_device_with_the_fewest_sessions_is_freed_first():
    assert freed(report([[[200, 200], [300], [400]]])) == [
        ("n0/d1", [("0/1/0", "n0/d0")]),
    ]


def test_sessions_stay_where_no_node_has_room_for_them():
    assert freed(report([[[600]], [[300]]], cpu=1)) == []
    assert freed(report([[[600]], [[300]]], cpu=2)) == [("n1/d0", [("1/0/0", "n0/d0")])]


def test_sessions_with_whole_devices_or_several_containers_stay():
    nodes, running = cluster([[[500]], [[500]]])
    two = ContainerPlacement(NodeId("n0"), {"cuda.shares": {"d0": 500}})
    other = ContainerPlacement(NodeId("n1"), {"cuda.shares": {"d0": 500}})
    cluster_session = RunningSession(SessionId("c"), {"cpu": 1, "cuda.shares": 500}, (two, other))
    (one,) = fragmentation(nodes, [cluster_session], {"cuda": 100})
    assert one.freed == ()
    assert len(fragmentation(nodes, running, {"cuda": 100})[0].freed) == 1


def test_closed_nodes_do_not_count():
    assert fragmentation(*cluster([[[500]]], closed="cordoned"), {"cuda": 100}) == ()


amounts = st.integers(1, 9).map(lambda tenth: tenth * 100)


@st.composite
def devices(draw: st.DrawFn) -> list[int]:
    parts: list[int] = []
    for amount in draw(st.lists(amounts, max_size=3)):
        if sum(parts) + amount <= WHOLE:
            parts.append(amount)
    return parts


clusters = st.lists(st.lists(devices(), min_size=1, max_size=3), min_size=1, max_size=3)


@given(clusters, st.integers(3, 12))
def test_moves_are_possible_and_each_step_frees_one_device_more(held, cpu):
    nodes, running = cluster(held, cpu=cpu)
    (one,) = fragmentation(nodes, running, {"cuda": 100})
    assert one.free + one.broken + one.full == one.devices
    used = Counter({(node.id, device.id): device.used for node in nodes for device in node.devices})
    cpus = Counter({node.id: node.used["cpu"] for node in nodes})
    moved: set[str] = set()
    free = one.free
    for step in one.freed:
        for move in step.moves:
            assert move.session not in moved
            moved.add(move.session)
            assert used[move.to] > 0
            used[step.device] -= move.amount
            used[move.to] += move.amount
            cpus[step.device[0]] -= 1
            cpus[move.to[0]] += 1
        free += 1
        assert sum(amount == 0 for amount in used.values()) == free
        assert max(used.values()) <= WHOLE
        assert all(cpus[node.id] <= max(cpu, node.used["cpu"]) for node in nodes)


@given(clusters)
def test_no_device_could_be_freed_with_fewer_sessions(held):
    """Up to two sessions; best fit may miss how more of them fit together."""
    one = report(held)
    there = {(n, d): parts for n, on_node in enumerate(held) for d, parts in enumerate(on_node) if parts}
    sizes = {place: len(parts) for place, parts in there.items() if _fit_elsewhere(place, there)}
    least = min(sizes.values(), default=0)
    if 0 < least <= 2:
        assert len(one.freed[0].moves) == least
    if not sizes:
        assert one.freed == ()


def _fit_elsewhere(place: tuple[int, int], there: dict[tuple[int, int], list[int]]) -> bool:
    """By trying everything."""
    others = [other for other in there if other != place]
    for targets in product(others, repeat=len(there[place])):
        after = Counter({other: sum(there[other]) for other in others})
        after.update(_sums(zip(targets, there[place], strict=True)))
        if all(amount <= WHOLE for amount in after.values()):
            return True
    return False


def _sums(pairs):
    sums: Counter = Counter()
    for target, amount in pairs:
        sums[target] += amount
    return sums
