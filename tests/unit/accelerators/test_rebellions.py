"""Rebellions NPUs: what is discovered from files and rbln-smi, right or broken, and what containers get."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from simulated_accelerators import driver, tree

from carrel.accelerators.hardware import Machine
from carrel.accelerators.port import (
    UNKNOWN,
    Attachment,
    Device,
    DeviceMetrics,
    DeviceNode,
    DeviceState,
    Limit,
    MachinePath,
)
from carrel.accelerators.rebellions import Rebellions
from carrel.core.device_blocks import Block

ANSWER = "tools/rbln-smi/g"
TOTAL = 16877879296
FIRST = "sys/bus/pci/devices/0000:18:00.0"
BLOCKS = (Block("set-0", 2), Block("machine", 4))
LIMITS = (Limit("memlock", -1, -1),)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tree(tmp_path, "atom-plusx4")


def states(root: Path) -> list[DeviceState]:
    return list(driver(Rebellions(), root).states())


def change(root: Path, each: Callable[[dict[str, Any]], object]) -> None:
    answer = json.loads((root / ANSWER).read_text())
    for row in answer["devices"]:
        each(row)
    (root / ANSWER).write_text(json.dumps(answer))


def attached(root: Path, *numbers: int) -> Attachment:
    rebellions = Rebellions()
    cards = rebellions.read(Machine(root, simulated=True))
    return rebellions.attach([cards[number] for number in numbers], Machine())


def nodes(**sources: str) -> tuple[DeviceNode, ...]:
    return tuple(DeviceNode(f"/dev/{name}", source=f"/dev/{source}") for name, source in sources.items())


def test_an_npu_is_what_the_tool_and_the_kernel_say(root: Path):
    first = states(root)[0]
    assert first == DeviceState(
        Device(
            first.device.id, "atom-plus", "RBLN-CA22", 0, "0000:18:00.0", 0, mem_bytes=TOTAL, blocks=BLOCKS
        ),
        metrics=DeviceMetrics(0.0, 0, TOTAL, 29.0, 18.11),
    )
    assert len(first.device.id) == 36


@pytest.mark.parametrize("model", ["atom", "atom-plus", "atom-max", "rebel"])
def test_each_model_has_a_slot(tmp_path: Path, model: str):
    rebellions = driver(Rebellions(), tree(tmp_path, f"{model}x4"))
    assert {device.family for device in rebellions.discover()} == {model}
    assert f"{model}.device" in {kind.name for kind in rebellions.kinds()}


def test_near_each_other_are_npus_behind_a_switch_and_those_of_a_card(tmp_path: Path, root: Path):
    assert [one.device.set for one in states(root)] == [0, 0, 1, 1]
    cards = tree(tmp_path, "atom-maxx8")
    assert [one.device.set for one in states(cards)] == [0, 0, 0, 0, 1, 1, 1, 1]
    change(cards, lambda row: row.update(group_id=str(row["location"] % 2)))
    assert [one.device.set for one in states(cards)] == [1, 0, 1, 0, 1, 0, 1, 0]
    change(cards, lambda row: row.pop("group_id"))
    assert [one.device.set for one in states(cards)] == [0, 0, 0, 0, 1, 1, 1, 1]


def test_the_power_of_a_card_is_counted_once(tmp_path: Path):
    powers = [one.metrics.power_w for one in states(tree(tmp_path, "atom-maxx8"))]
    assert powers == [41.2, None, None, None] * 2


def test_npus_and_groups_are_numbered_from_zero_in_a_container(root: Path):
    assert attached(root, 1, 3) == Attachment(
        nodes=nodes(rbln0="rbln1", rbln1="rbln3", rsd0="rsd1", rsd1="rsd3"),
        limits=LIMITS,
        resources={"rebellions.ai/npu": 2},
    )


def test_the_file_of_a_group_is_for_who_has_all_of_its_npus(tmp_path: Path):
    root = tree(tmp_path, "atom-maxx8")
    assert attached(root, 4, 5, 6).nodes == nodes(rbln0="rbln4", rbln1="rbln5", rbln2="rbln6")
    assert attached(root, 4, 5, 6, 7).nodes[-2:] == nodes(rbln3="rbln7", rsd0="rsd1")
    assert attached(root, 3, 4, 5, 6, 7).nodes[-1:] == nodes(rsd0="rsd1")


def test_npus_come_by_cdi_unless_it_would_give_npus_of_others(tmp_path: Path):
    root = tree(tmp_path, "atom-maxx8")
    specification = root / "var/run/cdi/rbln.yaml"
    specification.parent.mkdir(parents=True)
    names = "".join(f'- name: "{number}"\n' for number in range(8))
    specification.write_text(f"kind: rebellions.ai/npu\ndevices:\n{names}- name: rsd0\n- name: runtime\n")
    complete = attached(root, 4, 5, 6, 7)
    assert (complete.cdi, complete.nodes, complete.resources) == (
        tuple(f"rebellions.ai/npu={number}" for number in (4, 5, 6, 7)),
        (),
        {"rebellions.ai/npu": 4},
    )
    assert complete.without_cdi is not None
    assert len(complete.without_cdi.nodes) == 5
    part = attached(root, 4, 5)
    assert (part.cdi, len(part.nodes)) == ((), 2)


def test_a_container_gets_the_libraries_and_the_tool_of_the_driver(root: Path):
    for file in ("usr/bin/rbln-smi", "usr/lib/librbln-ccl.so.3", "usr/lib/libother.so"):
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).touch()
    files = ("/usr/bin/rbln-smi", "/usr/lib/librbln-ccl.so.3")
    assert attached(root, 0).paths == tuple(MachinePath(file, file) for file in files)


def test_groups_may_be_listed_with_their_npus_below_them(root: Path):
    answer = json.loads((root / ANSWER).read_text())
    groups = [{"group_id": row.pop("group_id"), "npus": [row]} for row in answer["devices"]]
    (root / ANSWER).write_text(json.dumps({"groups": groups}))
    assert attached(root, 2).nodes == nodes(rbln0="rbln2", rsd0="rsd2")


def test_older_drivers_have_another_tool_that_knows_no_groups(root: Path):
    os.rename(root / "tools/rbln-smi", root / "tools/rbln-stat")
    change_root = root / "tools/rbln-stat"
    os.rename(change_root / "g", change_root / "j")
    (change_root / "g").write_text("unrecognized option\n")
    (change_root / "g.code").write_text("2")
    assert [one.problem for one in states(root)] == [""] * 4


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "rbln-smi did not print JSON."),
        ("{}", "rbln-smi does not list it."),
        ("[]", "rbln-smi does not list it."),
        ('{"devices": []}', "rbln-smi does not list it."),
        ('{"devices": [{"pci": {"bus_id": " "}}, null, 1, [[]]]}', "rbln-smi does not list it."),
    ],
)
def test_npus_that_the_tool_does_not_list_are_not_offered(root: Path, text: str, problem: str):
    (root / ANSWER).write_text(text)
    assert {(one.device.id, one.healthy, one.problem) for one in states(root)} == {
        (f"0000:{bus:02x}:00.0", False, problem) for bus in range(0x18, 0x1C)
    }


def test_npus_without_the_tool_are_not_offered(root: Path):
    shutil.rmtree(root / "tools")
    assert {one.problem for one in states(root)} == {"rbln-smi is not installed."}


def test_test_cards_with_zeros_are_known_by_their_address(root: Path):
    change(root, lambda row: row.update(uuid="00000000-0000-0000-0000-000000000000", sid="0" * 16))
    assert [(one.device.id, one.device.set) for one in states(root)] == [
        (f"0000:{bus}:00.0", number) for bus, number in (("18", 0), ("19", 0), ("1a", 1), ("1b", 1))
    ]


def test_numbers_are_numbers_or_texts_with_units(root: Path):
    change(
        root,
        lambda row: row.update(
            npu="0",
            temperature=" 41C ",
            card_power="43.9W",
            util=" 98.7",
            memory={"used": "2.5GiB", "total": TOTAL},
        ),
    )
    assert states(root)[0].metrics == DeviceMetrics(98.7, 5 << 29, TOTAL, 41.0, 43.9)


def test_what_is_not_available_is_not_zero(root: Path):
    change(
        root,
        lambda row: row.update(
            temperature="N/A", card_power="[N/A]", util="-", memory={"used": "", "total": None}
        ),
    )
    state = states(root)[0]
    assert (state.metrics, state.healthy, state.device.mem_bytes) == (UNKNOWN, True, None)


@pytest.mark.parametrize("status", ["FAULT", "init", "Probing"])
def test_an_npu_that_is_not_ready_is_not_offered(root: Path, status: str):
    change(root, lambda row: row.update(status=status))
    assert states(root)[0].problem == f"Its state is: {status.lower()}."


@pytest.mark.parametrize(
    ("status", "healthy"), [("0", True), ("1", True), ("2", False), ("3", False), ("4", False)]
)
def test_an_npu_that_is_not_ready_for_the_kernel_is_not_offered(root: Path, status: str, healthy: bool):
    (root / "sys/class/rebellions/rbln0/status").write_text(status)
    assert [one.healthy for one in states(root)] == [healthy, True, True, True]


def test_an_npu_with_virtual_functions_is_not_offered_nor_are_they(root: Path):
    (root / FIRST / "sriov_numvfs").write_text("4")
    (root / "sys/bus/pci/devices/0000:19:00.0/device").write_text("0x1221")
    assert [one.problem for one in states(root)] == [
        "It has virtual functions, which virtual machines use.",
        "",
        "",
    ]


def test_an_npu_that_falls_off_keeps_its_id_and_is_out_of_order(root: Path):
    rebellions = driver(Rebellions(), root)
    before = [device.id for device in rebellions.discover()]
    (root / FIRST).unlink()
    assert [len(rebellions.discover()) for _ in range(3)] == [4, 4, 3]
    first = rebellions.states()[0]
    assert (first.device.id, first.problem) == (before[0], "The device is missing.")
