"""With MPS a container has a share of one device: nodes that enforce shares so take none with more than that."""

from dataclasses import replace

import pytest
from plan_kit import NOW, node_with, pending

from carrel.core.slots import DeviceShares, shares_in
from carrel.scheduling.plan import plan
from carrel.scheduling.snapshot import DeviceSnapshot, Snapshot


def gpu_node(name):
    slots = {"cuda.device": 1000, "cuda.shares": 1}
    devices = tuple(DeviceSnapshot(f"{name}-{n}", "cuda", slots=slots) for n in range(2))
    return node_with(name, {"cpu": 8, "cuda.device": 2, "cuda.shares": 2000}, devices=devices)


IN_TURNS = gpu_node("a")
BY_MPS = replace(gpu_node("b"), share_of_one=True)


@pytest.mark.parametrize(
    ("slots", "shares"),
    [
        ({"cuda.device": 2}, DeviceShares.NONE),
        ({"cuda.shares": 0, "cuda.device": 1}, DeviceShares.NONE),
        ({"cuda.shares": 500}, DeviceShares.OF_ONE),
        ({"cuda.shares": 2000}, DeviceShares.OF_ONE),
        ({"cuda.shares": 500, "rngd.device": 1}, DeviceShares.OF_ONE),
        ({"cuda.shares": 1500}, DeviceShares.OF_SEVERAL),
        ({"cuda.shares": 500, "cuda.device": 1}, DeviceShares.OF_SEVERAL),
    ],
)
def test_what_containers_have_of_devices(slots, shares):
    assert shares_in(slots) is shares


@pytest.mark.parametrize("slots", [{"cuda.shares": 1500}, {"cuda.shares": 500, "cuda.device": 1}])
def test_a_share_beside_a_whole_device_is_not_placed_where_mps_enforces_it(slots):
    one = pending("s", {"cpu": 1, **slots})
    [refusal] = plan(Snapshot((BY_MPS,), (one,), NOW)).refusals
    assert refusal.reason == "1 node: gives whole GPUs, or a share of one."
    [placement] = plan(Snapshot((BY_MPS, IN_TURNS), (one,), NOW)).placements
    assert placement.node == IN_TURNS.id


@pytest.mark.parametrize("slots", [{"cuda.shares": 500}, {"cuda.shares": 2000}, {"cuda.device": 2}])
def test_shares_of_one_device_and_whole_ones_are_placed_there(slots):
    [placement] = plan(Snapshot((BY_MPS,), (pending("s", {"cpu": 1, **slots}),), NOW)).placements
    assert placement.node == BY_MPS.id
