"""Every kind of accelerator does what the port says, that of another distribution too; the suite finds who does not."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import acme_distribution
import pytest
from simulated_accelerators import driver, tree

from carrel import plugins
from carrel.accelerators.amd import Amd
from carrel.accelerators.conformance import AcceleratorConformance, Make
from carrel.accelerators.driver import Vendor
from carrel.accelerators.fake import FakeAccelerators
from carrel.accelerators.furiosa import Furiosa, FuriosaSettings
from carrel.accelerators.gaudi import Gaudi
from carrel.accelerators.graphcore import Graphcore
from carrel.accelerators.groq import Groq
from carrel.accelerators.hyperaccel import HyperAccel
from carrel.accelerators.nvidia import Nvidia
from carrel.accelerators.pci import SAPEON, ConfiguredCards
from carrel.accelerators.port import Accelerators, Attachment, Device, DeviceNode, whole_and_shares
from carrel.accelerators.rebellions import Rebellions
from carrel.accelerators.sambanova import SambaNova
from carrel.accelerators.tenstorrent import Tenstorrent
from carrel.core.slots import SlotKind, SlotType
from carrel.plugins import Port


class TestFakeAccelerators(AcceleratorConformance):
    @pytest.fixture
    def make(self) -> Make:
        return lambda: FakeAccelerators(3, units=2)


@pytest.mark.parametrize(
    ("vendor", "description"),
    [
        (Nvidia, "h100x8"),
        (Nvidia, "h100x2,h100-migx1,l40sx2"),
        (Amd, "mi300xx8"),
        (Amd, "mi250xx4,mi300xx2"),
        (Gaudi, "gaudi3x8"),
        (Gaudi, "gaudi2x2,gaudi3x2"),
        (Furiosa, "warboyx2,rngdx4"),
        (
            lambda: Furiosa(FuriosaSettings(rngd_partition="dual", warboy_partition="single")),
            "warboyx2,rngdx2",
        ),
        (Rebellions, "atomx2,atom-plusx3,rebelx2"),
        (Rebellions, "atom-maxx8"),
        (Tenstorrent, "n150x2,n300x4"),
        (Graphcore, "c600x8"),
        (Groq, "groqcardx8"),
        (HyperAccel, "u55c-lpux4"),
        (SambaNova, "sn30x8"),
        (SambaNova, "sn40lx16"),
        (lambda: ConfiguredCards({"sapeon": SAPEON}), "x220x2,x330x2"),
    ],
)
class TestDrivers(AcceleratorConformance):
    @pytest.fixture
    def make(self, tmp_path: Path, vendor: Callable[[], Vendor], description: str) -> Make:
        return lambda: driver(vendor(), tree(tmp_path, description))


class TestAcceleratorsOfAnotherDistribution(AcceleratorConformance):
    @pytest.fixture
    def make(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
        acme_distribution.write(tmp_path / "site", "acme", Port.ACCELERATOR, npu="NPU")
        monkeypatch.syspath_prepend(tmp_path / "site")
        plugins.find.cache_clear()
        yield lambda: plugins.find(Port.ACCELERATOR, "npu").made(count=3)
        sys.modules.pop("acme", None)
        plugins.find.cache_clear()


class Sound:
    """What the wrong ones below go wrong from."""

    ids: Sequence[str] = ("a", "b")

    def discover(self) -> Sequence[Device]:
        return [Device(one, "npu") for one in self.ids]

    def kinds(self) -> Sequence[SlotKind]:
        return whole_and_shares("npu")

    def attach(self, held: Mapping[str, int]) -> Attachment:
        return Attachment(nodes=tuple(DeviceNode(f"/dev/{one}") for one in self.ids if one in held))


class TestSound(AcceleratorConformance):
    @pytest.fixture
    def make(self) -> Make:
        return Sound


class SameIds(Sound):
    ids = ("a", "a")


class FreshIds(Sound):
    def discover(self) -> Sequence[Device]:
        return [Device(f"{one}-{id(self)}", "npu") for one in self.ids]


class OtherFamily(Sound):
    def kinds(self) -> Sequence[SlotKind]:
        return whole_and_shares("gpu")


class TooMany(Sound):
    def kinds(self) -> Sequence[SlotKind]:
        return [SlotKind("npu.device", "npu", SlotType.COUNT, allowed=(4, 8))]


class OddShares(Sound):
    def kinds(self) -> Sequence[SlotKind]:
        return [SlotKind("npu.shares", "npu", SlotType.SHARES, quantum=300)]


class Lonely(Sound):
    ids = ("a",)


class Always(Sound):
    def attach(self, held: Mapping[str, int]) -> Attachment:
        return Attachment(env={"NPU": ",".join(sorted(held))})


class Everything(Sound):
    def attach(self, held: Mapping[str, int]) -> Attachment:
        held = held.keys() & set(self.ids) and dict.fromkeys(self.ids, 1)
        return super().attach(held or {})


class Greedy(Sound):
    """Whoever has both gets the third too."""

    ids = ("a", "b", "c")

    def attach(self, held: Mapping[str, int]) -> Attachment:
        return super().attach({**held, "c": 1} if {"a", "b"} <= held.keys() else held)


class Relative(Sound):
    def attach(self, held: Mapping[str, int]) -> Attachment:
        return Attachment(nodes=tuple(DeviceNode(one) for one in self.ids if one in held))


class Spending(Sound):
    def attach(self, held: Mapping[str, int]) -> Attachment:
        attachment = super().attach(held)
        held.clear()  # type: ignore[attr-defined]
        return attachment


@pytest.mark.parametrize(
    ("wrong", "test"),
    [
        (SameIds, "test_devices_have_ids_of_their_own"),
        (FreshIds, "test_what_is_discovered_stays_the_same"),
        (OtherFamily, "test_each_device_can_be_asked_for"),
        (TooMany, "test_an_allowed_amount_can_be_had"),
        (OddShares, "test_shares_add_up_to_a_whole_device"),
        (Lonely, "test_devices_have_ids_of_their_own"),
        (Always, "test_who_holds_nothing_gets_nothing"),
        (Always, "test_devices_of_others_are_passed_over"),
        (Everything, "test_no_container_gets_what_another_holds"),
        (Greedy, "test_no_container_gets_what_another_holds"),
        (Relative, "test_whatever_is_held_has_a_sound_attachment"),
        (Spending, "test_it_stays_the_same_and_changes_nothing"),
    ],
)
def test_what_is_wrong_is_found(wrong: type[Accelerators], test: str) -> None:
    with pytest.raises(AssertionError):
        getattr(AcceleratorConformance(), test)(wrong)
