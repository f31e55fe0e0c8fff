"""Accelerators that are not there: what they offer, and what a container gets with them."""

import pytest

from carrel.accelerators.fake import FakeAccelerators
from carrel.accelerators.make import make
from carrel.accelerators.port import Attachment, Device, Limit, attach, slots_of, whole_and_shares
from carrel.core.errors import Invalid, Unavailable
from carrel.core.slots import SlotKind, SlotType


def test_devices_make_slots_of_whole_ones_and_of_thousandths():
    fakes = FakeAccelerators(3, units=2)
    assert slots_of(fakes.discover(), fakes.kinds()) == {
        "fake.device": 3,
        "fake.shares": 3000,
        "fake.unit-1g": 2,
    }
    assert slots_of([], fakes.kinds()) == {}


def test_half_of_the_devices_are_near_each_other():
    assert [(device.id, device.set) for device in FakeAccelerators(5).discover()] == [
        ("fake0", 0),
        ("fake1", 0),
        ("fake2", 0),
        ("fake3", 1),
        ("fake4", 1),
    ]
    assert not FakeAccelerators(0).discover()


def test_a_container_is_told_which_devices_are_its_own():
    accelerators = FakeAccelerators(2)
    assert accelerators.attach({"fake1": 1000, "fake0": 500}).env == {
        "CARREL_DEVICES": "fake0:500,fake1:1000"
    }
    assert accelerators.attach({"cuda0": 1000}).env == {}
    assert accelerators.attach({}).env == {}


UNIT = SlotKind("cuda.mig-1g.18gb", "cuda.mig-1g.18gb", SlotType.UNIQUE)
PARTS = SlotKind("cuda.shares", "cuda", SlotType.SHARES, quantum=50)
SETS = SlotKind("gaudi3.device", "gaudi3", SlotType.COUNT, allowed=(1, 2, 4, 8))


@pytest.mark.parametrize(
    ("kind", "amount", "nearest"),
    [
        (UNIT, 2, (1,)),
        (PARTS, 325, (300, 350)),
        (PARTS, 20, (50,)),
        (SETS, 3, (2, 4)),
        (SETS, 9, (8,)),
    ],
)
def test_an_amount_that_a_kind_does_not_allow_has_allowed_ones_next_to_it(kind, amount, nearest):
    assert not kind.allows(amount)
    assert kind.nearest(amount) == nearest
    assert all(map(kind.allows, nearest))


@pytest.mark.parametrize(
    ("name", "type"),
    [
        ("cuda.device", SlotType.SHARES),
        ("cuda.shares", SlotType.COUNT),
        ("cuda", SlotType.COUNT),
        ("gpu.shares", SlotType.SHARES),
        ("cuda.mig.shares", SlotType.SHARES),
    ],
)
def test_the_name_of_a_kind_says_whether_it_is_shares(name, type):
    with pytest.raises(ValueError, match="cuda"):
        SlotKind(name, "cuda", type)


class Some:
    """Accelerators of a vendor that needs all there is."""

    def __init__(self, runtime: str) -> None:
        self._runtime = runtime

    def discover(self) -> list[Device]:
        return [Device("one", "some")]

    def kinds(self) -> tuple[SlotKind, ...]:
        return whole_and_shares("some")

    def attach(self, held):
        return Attachment(
            {self._runtime: "1"}, runtime=self._runtime, groups=(44,), limits=(Limit("memlock", -1, -1),)
        )


def test_the_attachments_of_several_kinds_are_joined():
    joined = attach([Some("vendor"), Some(""), FakeAccelerators(1)], {"one": 1000, "fake0": 500})
    assert joined == Attachment(
        {"vendor": "1", "": "1", "CARREL_DEVICES": "fake0:500"},
        runtime="vendor",
        groups=(44,),
        limits=(Limit("memlock", -1, -1),),
    )


def test_two_kinds_that_need_different_runtimes_cannot_be_in_one_container():
    with pytest.raises(ValueError, match="habana and nvidia"):
        attach([Some("nvidia"), Some("habana")], {"one": 1000})


DRIVERS = (
    *("nvidia", "amd", "gaudi", "pci"),
    *("furiosa", "rebellions", "tenstorrent"),
    *("graphcore", "groq", "hyperaccel", "sambanova"),
)
NOWHERE = {"root": "/nowhere"}


def test_accelerators_come_by_entry_points_with_their_settings():
    made = make({"fake": {"count": 1, "units": 1}, **dict.fromkeys(DRIVERS, NOWHERE)})
    assert [device.id for one in made for device in one.discover()] == ["fake0", "unit0"]
    with pytest.raises(Invalid, match="rngd_partition"):
        make({"furiosa": {"rngd_partition": "half"}})
    with pytest.raises(Invalid, match="count"):
        make({"fake": {"count": -1}})
    with pytest.raises(Unavailable, match="nothing installed brings it"):
        make({"none": {}})
