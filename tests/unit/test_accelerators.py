"""Accelerators that are not there: what they offer, and what a container gets with them."""

from carrel.accelerators.fake import FakeAccelerators
from carrel.accelerators.port import slots_of


def test_devices_make_slots_of_whole_ones_and_of_thousandths():
    assert slots_of(FakeAccelerators(3).discover()) == {"fake.device": 3, "fake.shares": 3000}
    assert slots_of([]) == {}


def test_half_of_the_devices_are_near_each_other():
    assert [(device.id, device.set) for device in FakeAccelerators(5).discover()] == [
        ("fake0", 0), ("fake1", 0), ("fake2", 0), ("fake3", 1), ("fake4", 1),
    ]  # fmt: skip
    assert not FakeAccelerators(0).discover()


def test_a_container_is_told_which_devices_are_its_own():
    accelerators = FakeAccelerators(2)
    assert accelerators.attach({"fake1": 1000, "fake0": 500}).env == {
        "CARREL_DEVICES": "fake0:500,fake1:1000"
    }
    assert accelerators.attach({"cuda0": 1000}).env == {}
    assert accelerators.attach({}).env == {}
