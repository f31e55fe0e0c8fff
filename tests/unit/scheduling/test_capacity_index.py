"""The index finds the same node as a look at each node, whichever nodes moved in between."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.core.ids import NodeId
from carrel.scheduling import capacity_index
from carrel.scheduling.capacity_index import CapacityIndex
from carrel.scheduling.free_capacity import FreeCapacity
from carrel.scheduling.snapshot import NodeSnapshot, Slots

FULL = {"cpu": 9, "mem": 9}
amounts = st.integers(0, 9)


@dataclass
class ExpectedOrder:
    """Nodes by free capacity, the least first: as the index has them, and as they are."""

    capacity: FreeCapacity

    def key(self, index: int) -> tuple[float, int]:
        return min(self.capacity.free[index].values()) / 9, index

    def first(self, request: list[tuple[str, int]], among: range) -> int | None:
        fitting = [i for i in among if all(self.capacity.free[i].get(slot, 0) >= n for slot, n in request)]
        return min(fitting, key=self.key, default=None)


class Looked(list[Slots]):
    """What is free node by node. indexes: which of them were looked at."""

    def __init__(self, free: list[Slots]) -> None:
        super().__init__(free)
        self.indexes: list[int] = []

    def __getitem__(self, index):
        self.indexes.append(index)
        return super().__getitem__(index)


@given(
    st.lists(st.tuples(amounts, amounts), max_size=30),
    st.lists(st.tuples(st.integers(0, 29), amounts, amounts, amounts, amounts), max_size=60),
    st.sampled_from([1, 2, 3]),
)
def test_the_first_with_room_is_found_whatever_changed(used, steps, size):
    nodes = [
        NodeSnapshot(NodeId(f"n{i:02}"), f"n{i:02}", FULL, {"cpu": c, "mem": m})
        for i, (c, m) in enumerate(used)
    ]
    expected = ExpectedOrder(capacity := FreeCapacity(nodes))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(capacity_index, "SIZE", size)
        by_capacity = CapacityIndex(capacity, FULL, sorted(map(expected.key, range(len(nodes)))))
        for index, cpu, mem, asked_cpu, asked_mem in steps:
            if index < len(nodes):
                # More or less than before: what is kept of it is given back, and something else is kept.
                capacity.keep_nothing()
                capacity.keep(index, {"cpu": cpu, "mem": mem})
                for changed in set(capacity.changed[by_capacity.seen :]):
                    by_capacity.move(changed, expected.key(changed))
                by_capacity.seen = len(capacity.changed)
            request = [("cpu", asked_cpu), ("mem", asked_mem)]
            least = min(asked_cpu, asked_mem) / 9
            assert by_capacity.find(request, (least,)) == expected.first(request, range(len(nodes)))


def test_who_cannot_have_room_is_not_looked_at():
    """Of a thousand nodes one has room: only the first bucket and its own are searched."""
    nodes = [NodeSnapshot(NodeId(f"n{i}"), f"n{i}", FULL, {"cpu": 9 * (i != 700)}) for i in range(1000)]
    capacity = FreeCapacity(nodes)
    index = CapacityIndex(capacity, FULL, [(0.0, i) for i in range(1000)])
    capacity.free = looked = Looked(capacity.free)
    assert index.find([("cpu", 1), ("mem", 1)], ()) == 700
    assert len(looked.indexes) <= 2 * capacity_index.SIZE


def test_who_is_fuller_than_anybody_with_room_is_not_looked_at():
    """On one shelf, of which the last has room."""
    most = capacity_index.SIZE
    nodes = [NodeSnapshot(NodeId(f"n{i}"), f"n{i}", {"cpu": most}, {"cpu": most - i}) for i in range(most)]
    capacity = FreeCapacity(nodes)
    index = CapacityIndex(capacity, ["cpu"], [(i / most, i) for i in range(most)])
    capacity.free = looked = Looked(capacity.free)
    assert index.find([("cpu", most - 1)], ((most - 1) / most,)) == most - 1
    assert looked.indexes == [most - 1]
