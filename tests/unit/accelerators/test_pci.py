"""Cards by configuration: which device file is whose, and what containers get."""

from pathlib import Path

import pytest
from simulated_accelerators import driver, tree

from carrel.accelerators.driver import Card
from carrel.accelerators.hardware import Machine
from carrel.accelerators.pci import PLUGIN, SAPEON, ConfiguredCards
from carrel.accelerators.port import Attachment, Device, DeviceNode, Limit, MachinePath
from carrel.core.errors import Invalid


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tree(tmp_path, "x330x3")


def test_cards_of_the_built_in_profile_are_found_by_their_vendor(root: Path):
    states = driver(ConfiguredCards({"sapeon": SAPEON}), root).states()
    assert [(one.device.id, one.device.family, one.device.numa, one.problem) for one in states] == [
        ("0000:18:00.0", "sapeon", 0, ""),
        ("0000:19:00.0", "sapeon", 0, ""),
        ("0000:1a:00.0", "sapeon", 1, ""),
    ]


def test_device_files_belong_to_cards_in_the_order_of_addresses(root: Path):
    (root / "dev/sapeon1").rename(root / "dev/sapeon10")
    (root / "dev/sapeon_control").write_text("")
    cards = driver(ConfiguredCards({"sapeon": SAPEON}), root)
    assert cards.attach({"0000:19:00.0": 1000}).paths == (MachinePath(f"{root}/dev/sapeon2", "/dev/sapeon2"),)
    assert cards.attach({"0000:1a:00.0": 1000}).paths == (
        MachinePath(f"{root}/dev/sapeon10", "/dev/sapeon10"),
    )


def test_device_files_belong_to_the_cards_that_sysfs_names(root: Path):
    (root / "sys/class/sapeon").mkdir(parents=True)
    for number, address in enumerate(("0000:1a:00.0", "0000:18:00.0", "0000:19:00.0")):
        (root / f"sys/class/sapeon/sapeon{number}").mkdir()
        (root / f"sys/class/sapeon/sapeon{number}/device").symlink_to(f"../../../bus/pci/devices/{address}")
    cards = driver(ConfiguredCards({"sapeon": SAPEON}), root)
    assert cards.attach({"0000:1a:00.0": 1000}).paths == (MachinePath(f"{root}/dev/sapeon0", "/dev/sapeon0"),)


def test_without_a_file_for_each_card_none_is_offered(root: Path):
    (root / "dev/sapeon1").unlink()
    states = driver(ConfiguredCards({"sapeon": SAPEON}), root).states()
    problem = "2 device files match /dev/sapeon{index}, and 3 cards are on the PCI bus."
    assert {(state.healthy, state.problem) for state in states} == {(False, problem)}


@pytest.mark.parametrize("nodes", [["/dev/rdu"], ["/dev/a{foo}"], ["/dev/a{index}{index}"]])
def test_a_profile_whose_files_are_those_of_no_single_card_is_refused(nodes: list[str]):
    with pytest.raises(Invalid):
        PLUGIN.checked({"profiles": {"acme": {"vendor": "1d0f", "nodes": nodes}}})


PROFILE = {
    "title": "ACME NPU",
    "vendor": "1D0F",
    "devices": ["7164"],
    "nodes": ["/dev/acme{index}", "/dev/acme-{address}"],
    "shared_nodes": ["/dev/acme_control"],
    "paths": ["/opt/acme"],
    "variable": "ACME_VISIBLE_DEVICES",
    "variable_lists": "index",
    "amounts": [1, 2, 4],
    "mem_bytes": 1 << 34,
    "capabilities": ["SYS_NICE"],
    "unlimited_memlock": True,
}


def test_a_new_card_needs_no_code():
    settings = PLUGIN.checked({"profiles": {"acme": PROFILE}})
    vendor = ConfiguredCards(settings.profiles)
    [kind] = vendor.kinds([])
    assert (kind.name, kind.allowed, kind.title) == ("acme.device", (1, 2, 4), "ACME NPU")
    cards = [
        Card(Device(f"0000:0{number}:00.0", "acme"), str(number), nodes=(f"/dev/acme{number}",), groups=(7,))
        for number in (1, 3)
    ]
    assert vendor.attach(cards, Machine()) == Attachment(
        env={"ACME_VISIBLE_DEVICES": "1,3"},
        nodes=(DeviceNode("/dev/acme_control"), DeviceNode("/dev/acme1"), DeviceNode("/dev/acme3")),
        paths=(MachinePath("/opt/acme", "/opt/acme"),),
        groups=(7,),
        capabilities=("SYS_NICE",),
        limits=(Limit("memlock", -1, -1),),
    )


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("vendor", "everything"),
        ("nodes", []),
        ("nodes", ["/etc/passwd"]),
        ("nodes", ["/dev/../etc/passwd"]),
        ("shared_nodes", ["/dev/*"]),
        ("capabilities", ["CAP_SYS_ADMIN"]),
        ("variable", "acme devices"),
        ("privileged", True),
    ],
)
def test_what_cannot_be_a_profile_is_refused(setting: str, value: object):
    with pytest.raises(Invalid, match=setting):
        PLUGIN.checked({"profiles": {"acme": {**PROFILE, setting: value}}})
