"""Devices below the same PCI switch."""

from hypothesis import given
from hypothesis import strategies as st

from carrel.accelerators.pci_switches import switches

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
