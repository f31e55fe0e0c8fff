"""Which accelerators a container gets: best fit, and nothing broken without need."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from carrel.core.slots import WHOLE
from carrel.scheduling.devices import Unit, available, capacity, choose, copies, families, units
from carrel.scheduling.snapshot import DeviceSnapshot, NodeSnapshot, nearness

CUDA = {"cuda.device": WHOLE, "cuda.shares": 1}

used = st.sampled_from([0, 0, 200, 500, 700, 1000])
cards = st.lists(st.tuples(used, st.integers(0, 1)), max_size=4).map(lambda present: devices(*present))
kinds = st.sampled_from(["cuda.device", "cuda.shares"])
amounts = st.sampled_from([1, 2, 3, 250, 300, 500, 1000, 1300, 1500, 2000, 2600])


def devices(*present: tuple[int, int]) -> tuple[DeviceSnapshot, ...]:
    return tuple(
        DeviceSnapshot(f"gpu{n}", "cuda", used, near, CUDA) for n, (used, near) in enumerate(present)
    )


def after(present, taken):
    return tuple(replace(one, used=one.used + (taken or {}).get(one.id, 0)) for one in present)


def test_slots_are_of_the_family_whose_devices_serve_them():
    units = (DeviceSnapshot("unit0", "mig", slots={"cuda.mig-1g.18gb": WHOLE}), *devices((0, 0)))
    assert families(units) == {"cuda.mig-1g.18gb": "mig", "cuda.device": "cuda", "cuda.shares": "cuda"}


def test_nodes_may_serve_different_slots_of_a_family():
    """A machine that offers shares, and a cluster that does not."""
    whole_only = DeviceSnapshot("nvidia.com/gpu/0", "cuda", slots={"cuda.device": WHOLE})
    nodes = [
        NodeSnapshot("a", "a", {}, devices=devices((0, 0))),
        NodeSnapshot("b", "b", {}, devices=(whole_only,)),
    ]
    expected = {"cuda.device": Unit("cuda", WHOLE), "cuda.shares": Unit("cuda", 1)}
    assert units(nodes) == units(reversed(nodes)) == expected


def test_units_are_taken_whole_whatever_they_are_called():
    units = tuple(DeviceSnapshot(f"unit{n}", "mig", slots={"cuda.mig-1g.18gb": WHOLE}) for n in range(2))
    assert (capacity(units, "cuda.mig-1g.18gb"), available(units, "cuda.mig-1g.18gb")) == (2, 2)
    assert choose((*devices((0, 0)), *units), "cuda.mig-1g.18gb", 1) == {"unit0": WHOLE}
    assert copies(units, "cuda.mig-1g.18gb", 1, 5) == 2
    assert choose(units, "cuda.device", 1) is None


def test_a_part_goes_where_the_least_is_left_over():
    assert choose(devices((0, 0), (500, 0), (700, 1)), "cuda.shares", 300) == {"gpu2": 300}
    assert choose(devices((0, 0), (500, 0), (700, 1)), "cuda.shares", 400) == {"gpu1": 400}


def test_a_part_breaks_a_set_that_is_broken_already():
    assert choose(devices((0, 0), (0, 0), (0, 1), (1000, 1)), "cuda.shares", 300) == {"gpu2": 300}


def test_whole_devices_come_from_the_smallest_set_that_has_enough():
    present = devices((0, 0), (0, 0), (0, 0), (0, 1), (0, 1))
    assert choose(present, "cuda.device", 2) == {"gpu3": 1000, "gpu4": 1000}
    assert choose(present, "cuda.device", 3) == {"gpu0": 1000, "gpu1": 1000, "gpu2": 1000}
    assert len(choose(present, "cuda.device", 4) or {}) == 4


def test_other_families_are_left_alone():
    present = (DeviceSnapshot("a", "rocm", slots={"rocm.device": WHOLE}), *devices((0, 0)))
    assert choose(present, "cuda.device", 1) == {"gpu0": 1000}
    assert choose(present, "cuda.device", 2) is None
    assert (capacity(present, "cuda.shares"), capacity(present, "rocm.device")) == (1000, 1)


@given(cards, kinds, amounts)
def test_what_is_available_can_be_had_and_nothing_beyond(present, slot, amount):
    taken = choose(present, slot, amount)
    assert (taken is not None) == (amount <= available(present, slot))
    if taken is not None:
        assert sum(taken.values()) == (amount * WHOLE if slot == "cuda.device" else amount)
        assert sum(part % WHOLE > 0 for part in taken.values()) <= 1
        assert all(one.used <= WHOLE for one in after(present, taken))


@given(cards, kinds, amounts)
def test_no_fewer_sets_would_do_for_whole_devices(present, slot, amount):
    taken = choose(present, "cuda.device", min(amount, 4))
    if taken:
        near = {one.id: one.set for one in present}
        free = [one.id for one in present if not one.used]
        fewest = min(len({near[id] for id in ids}) for ids in combinations(free, min(amount, 4)))
        assert len({near[id] for id in taken}) == fewest


@given(cards, kinds, amounts, st.integers(0, 4))
def test_copies_are_as_many_as_can_be_taken_one_after_the_other(present, slot, amount, most):
    count = 0
    left = present
    while count < most and (taken := choose(left, slot, amount)) is not None:
        left = after(left, taken)
        count += 1
    assert copies(present, slot, amount, most) == count


def test_so_many_parts_go_on_devices_as_leave_none_over_full():
    # One on the first, three on each of the others.
    cards = devices((500, 0), (0, 0), (0, 0))
    assert [copies(cards, "cuda.shares", 300, most) for most in (6, 9)] == [6, 7]


# Devices of a node as sysfs tells of them: clique, switch and NUMA node; "" and None: none.
places = st.lists(
    st.tuples(
        st.booleans(),
        st.sampled_from(["", "", "nvlink0", "nvlink1"]),
        st.sampled_from(["", "switch0", "switch1", "switch2"]),
        st.sampled_from([None, 0, 1]),
    ),
    max_size=8,
)


def placed(of: Sequence[tuple[bool, str, str, int | None]]) -> list[DeviceSnapshot]:
    """A set of each clique in each NUMA node, as drivers make them."""
    sets = list(dict.fromkeys((clique, numa) for _, clique, _, numa in of))
    return [
        DeviceSnapshot(
            f"gpu{n}",
            "cuda",
            WHOLE * busy,
            slots=CUDA,
            near=nearness(sets.index((clique, numa)), clique, switch, numa),
        )
        for n, (busy, clique, switch, numa) in enumerate(of)
    ]


def node_of_eight() -> list[DeviceSnapshot]:
    """Pairs on four switches, two switches on each NUMA node, and NVLink between all."""
    return placed([(False, "nvlink", f"switch{n // 2}", n // 4) for n in range(8)])


def test_whole_devices_are_of_one_switch_before_one_numa_node() -> None:
    eight = node_of_eight()
    busy = [replace(one, used=WHOLE * (one.id in {"gpu0", "gpu2"})) for one in eight]
    assert choose(busy, "cuda.device", 2) == {"gpu4": WHOLE, "gpu5": WHOLE}
    assert choose(busy, "cuda.device", 1) == {"gpu1": WHOLE}
    assert choose(busy, "cuda.device", 4) == {f"gpu{n}": WHOLE for n in (4, 5, 6, 7)}
    # A whole switch of the other NUMA node is nearer to each other than any two of it.
    assert choose(busy, "cuda.device", 5) == {f"gpu{n}": WHOLE for n in (1, 4, 5, 6, 7)}


def test_a_clique_comes_before_a_switch() -> None:
    bridged = placed([(False, clique, switch, 0) for clique, switch in zip("abab", "0011", strict=True)])
    assert choose(bridged, "cuda.device", 2) == {"gpu0": WHOLE, "gpu2": WHOLE}
    assert choose(bridged, "cuda.device", 4) == {f"gpu{n}": WHOLE for n in range(4)}


def test_a_switch_comes_before_a_numa_node_without_a_clique() -> None:
    switched = placed([(False, "", switch, 0) for switch in "0110"])
    assert choose(switched, "cuda.device", 2) == {"gpu0": WHOLE, "gpu3": WHOLE}


def test_devices_without_switches_and_cliques_are_taken_one_by_one() -> None:
    plain = placed([(False, "", "", numa) for numa in (0, 0, 0, 1)])
    assert [choose(plain, "cuda.device", count) for count in (1, 2, 4)] == [
        {"gpu3": WHOLE},
        {"gpu0": WHOLE, "gpu1": WHOLE},
        {f"gpu{n}": WHOLE for n in range(4)},
    ]


@given(places, st.integers(1, 8))
def test_whole_devices_are_as_near_as_any_choice(
    of: list[tuple[bool, str, str, int | None]], count: int
) -> None:
    present = placed(of)
    free = [one for one in present if not one.used]
    chosen = choose(present, "cuda.device", count)
    assert (chosen is None) == (len(free) < count)
    if chosen is None:
        return
    assert len(chosen) == count
    assert set(chosen) <= {one.id for one in free}
    assert choose(present[::-1], "cuda.device", count) == chosen

    def distance(devices: Iterable[DeviceSnapshot]) -> int:
        keys = zip(*(one.near for one in devices), strict=True)
        return next(
            (n for n, at in enumerate(keys) if len({*at}) == 1 and at[0] is not None), len(free[0].near)
        )

    if count > 1:
        best = min(map(distance, combinations(free, count)))
        assert distance(one for one in free if one.id in chosen) == best
