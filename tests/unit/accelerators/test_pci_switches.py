"""Devices below the same PCI switch."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from carrel.accelerators.driver import AcceleratorDriver, Card
from carrel.accelerators.hardware import Machine
from carrel.accelerators.pci_switches import switches
from carrel.accelerators.port import NOTHING, Attachment, Device
from carrel.core.slots import SlotKind

HOST = ("sys", "devices", "pci0000:15")


def path(*below: str) -> tuple[str, ...]:
    return (*HOST, *below)


def test_devices_below_the_ports_of_a_switch_share_it() -> None:
    paths = {
        "a": path("root0", "up0", "down0", "a"),
        "b": path("root0", "up0", "down1", "b"),
        "c": path("root1", "up1", "down0", "c"),
        "d": path("root1", "up1", "down1", "d"),
    }
    assert switches(paths) == {"a": "up0", "b": "up0", "c": "up1", "d": "up1"}


def test_of_nested_switches_the_innermost_counts() -> None:
    paths = {
        "a": path("root0", "up0", "down0", "up1", "down0", "a"),
        "b": path("root0", "up0", "down0", "up1", "down1", "b"),
        "c": path("root0", "up0", "down1", "c"),
    }
    assert switches(paths) == {"a": "up1", "b": "up1", "c": "up0"}


def test_the_switch_of_a_card_alone_and_a_root_port_are_none() -> None:
    paths = {
        "a": path("root0", "own0", "down", "a"),
        "b": path("root1", "own1", "down", "b"),
        "c": path("root2", "c"),
        "d": path("root2", "d"),
        "e": ("not", "resolved"),
    }
    assert switches(paths) == {}
    assert switches({}) == switches({"a": paths["a"]}) == {}


names = st.sampled_from(["x", "y", "z"])


@given(st.dictionaries(st.sampled_from("abcdef"), st.lists(names, max_size=5)))
def test_every_switch_has_several_devices_and_is_above_them(below: dict[str, list[str]]) -> None:
    paths = {
        device: path("root", *(f"{name}{depth}" for depth, name in enumerate(middle)), device)
        for device, middle in below.items()
    }
    shared = switches(paths)
    for device, switch in shared.items():
        assert switch in paths[device][4:-1]
        depth = len(paths[device]) - 1 - paths[device][::-1].index(switch)
        assert any(
            other[: depth + 1] == paths[device][: depth + 1] for one, other in paths.items() if one != device
        )


def test_a_driver_says_which_devices_share_a_switch(tmp_path: Path) -> None:
    for number, place in enumerate(("root0/up0/down0", "root0/up0/down1", "root1/up1/down0")):
        address = f"0000:{number + 1:02}:00.0"
        function = tmp_path / "sys/devices/pci0000:00" / place / address
        function.mkdir(parents=True)
        link = tmp_path / "sys/bus/pci/devices" / address
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(function)
    machine = Machine(tmp_path, simulated=True)
    devices = AcceleratorDriver(Cards(), machine).discover()
    assert [device.switch for device in devices] == ["up0", "up0", ""]


class Cards:
    """Every PCI function is a device."""

    def read(self, machine: Machine) -> list[Card]:
        return [Card(Device(one, "test", pci=one)) for one in machine.names("sys/bus/pci/devices")]

    def kinds(self, devices: object) -> list[SlotKind]:
        return []

    def attach(self, cards: object, machine: Machine) -> Attachment:
        return NOTHING
