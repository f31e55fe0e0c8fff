"""Graphcore C600 cards: what is discovered from files and gc-inventory, right or broken, and what containers get."""

import json
import shutil
from pathlib import Path

import pytest
from simulated_accelerators import driver, tree

from carrel.accelerators.driver import Card
from carrel.accelerators.graphcore import Graphcore
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

INVENTORY = "tools/gc-inventory/all"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tree(tmp_path, "c600x4")


def change(root: Path, **values: object) -> None:
    """Set attributes of the first card; an underscore stands for a space."""
    answer = json.loads((root / INVENTORY).read_text())
    answer["devices"][0].update({name.replace("_", " "): value for name, value in values.items()})
    (root / INVENTORY).write_text(json.dumps(answer))


def first(root: Path) -> DeviceState:
    return driver(Graphcore(), root).states()[0]


def test_a_card_is_what_the_tool_says(root: Path):
    state = first(root)
    assert state.device.id.startswith("0063.0063.")
    assert state == DeviceState(
        Device(
            state.device.id,
            "c600",
            "Graphcore C600",
            pci="0000:18:00.0",
            numa=0,
            mem_bytes=1472 * 624 * 1024,
        ),
        metrics=DeviceMetrics(utilization_percent=0.0, temperature_c=20.0, power_w=12.6),
    )


def test_amounts_are_powers_of_two(root: Path):
    [kind] = driver(Graphcore(), root).kinds()
    assert [amount for amount in range(1, 17) if kind.allows(amount)] == [1, 2, 4, 8]
    assert kind.nearest(3) == (2, 4)


def test_a_container_gets_the_files_that_the_tool_says_are_its_own(root: Path):
    cards = driver(Graphcore(), root)
    second = cards.discover()[1].id
    files = [f"ipu2{part}" for part in ("", "_ex", "_mailbox", "_mem")]
    expected = Attachment(paths=tuple(MachinePath(f"{root}/dev/{name}", f"/dev/{name}") for name in files))
    assert cards.attach({second: 1000}) == expected
    (root / f"{INVENTORY}.hangs").touch()
    assert [state.healthy for state in cards.states()] == [True] * 4
    assert cards.attach({second: 1000}) == expected, "the files are known while the tool does not answer"


def test_what_sysfs_says_of_a_file_counts_more(root: Path):
    (root / "sys/class/ipu/ipu0").mkdir(parents=True)
    (root / "sys/class/ipu/ipu0/device").symlink_to("../../../bus/pci/devices/0000:18:00.0")
    cards = driver(Graphcore(), root)
    assert cards.attach({cards.discover()[0].id: 1000}).paths[0].target == "/dev/ipu0"


def test_a_driver_without_all_parts_of_a_card_will_do(root: Path):
    (root / "dev/ipu3_mailbox").unlink()
    cards = driver(Graphcore(), root)
    files = [path.target for path in cards.attach({cards.discover()[0].id: 1000}).paths]
    assert files == ["/dev/ipu3", "/dev/ipu3_ex", "/dev/ipu3_mem"]


def test_what_docker_and_kubernetes_are_told():
    cards = [
        Card(Device(f"{number}", "c600"), nodes=(f"/dev/ipu{number}", f"/dev/ipu{number}_ex"), groups=(7,))
        for number in (1, 3)
    ]
    assert Graphcore().attach(cards, Machine()) == Attachment(
        nodes=tuple(DeviceNode(f"/dev/{name}") for name in ("ipu1", "ipu1_ex", "ipu3", "ipu3_ex")),
        groups=(7,),
        limits=(Limit("memlock", -1, -1),),
        resources={"c600.graphcore.ai/ipu": 2},
    )


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "null",
        '{"devices": []}',
        '{"devices": [1, null, {"pci id": 7}]}',
    ],
)
def test_cards_that_the_tool_does_not_list_are_not_offered(root: Path, text: str):
    (root / INVENTORY).write_text(text)
    states = driver(Graphcore(), root).states()
    assert {(state.device.id, state.healthy, state.problem, state.metrics) for state in states} == {
        (f"0000:{bus:02x}:00.0", False, "gc-inventory does not list it.", UNKNOWN)
        for bus in range(0x18, 0x1C)
    }


@pytest.mark.parametrize(
    ("file", "text", "problem"),
    [
        (INVENTORY, "", "gc-inventory did not print JSON."),
        (INVENTORY, '{"devices": [{"pci id"', "gc-inventory did not print JSON."),
        (INVENTORY, "no devices found\n", "gc-inventory did not print JSON."),
        (INVENTORY, "\xff\x00" * 500, "gc-inventory did not print JSON."),
        (f"{INVENTORY}.hangs", "", "gc-inventory did not end within 5 s."),
        (f"{INVENTORY}.code", "139", "gc-inventory failed with status 139"),
    ],
)
def test_a_tool_that_hangs_or_fails_is_a_problem(root: Path, file: str, text: str, problem: str):
    (root / file).write_text(text)
    assert first(root).problem.startswith(problem)


def test_a_missing_tool_is_a_problem(root: Path):
    shutil.rmtree(root / "tools")
    assert first(root).problem == "gc-inventory is not installed."


def test_padded_text_and_numbers_are_read(root: Path):
    change(
        root, pci_id=" 00000000:18:00.0 ", sysfs_file_id=3, average_die_temp=41.5, ipu_utilisation=" 99.96% "
    )
    state = first(root)
    assert (state.healthy, state.metrics.temperature_c, state.metrics.utilization_percent) == (
        True,
        41.5,
        99.96,
    )


def test_what_is_not_available_is_not_zero(root: Path):
    change(
        root,
        ipu_utilisation="N/A",
        average_die_temp="N/A",
        average_board_temp="[N/A]",
        ipu_power="N/A",
        total_board_power=None,
        board_serial_number="N/A",
        ipu_error_state="N/A",
    )
    state = first(root)
    assert (state.metrics, state.device.id, state.healthy) == (UNKNOWN, "0000:18:00.0", True)


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"ipu error state": "parity error"}, "Its error state is: parity error."),
        ({"board type": "C2"}, "It is a board of type C2; only C600 is supported."),
        ({"sysfs file id": ""}, "It has no device file."),
        ({"sysfs file id": "../../etc"}, "It has no device file."),
        ({"sysfs file id": "9"}, "Its device file /dev/ipu9 is missing."),
    ],
)
def test_a_card_with_a_problem_is_not_offered(root: Path, values: dict[str, str], problem: str):
    change(root, **values)
    assert [(state.healthy, state.problem) for state in driver(Graphcore(), root).states()] == [
        (False, problem),
        *[(True, "")] * 3,
    ]


def test_a_card_that_falls_off_is_not_offered_any_more(root: Path):
    cards = driver(Graphcore(), root)
    assert len(cards.discover()) == 4
    shutil.rmtree(root / "sys/bus/pci/devices/0000:19:00.0")
    assert [len(cards.discover()) for _ in range(3)] == [4, 4, 3]
    assert cards.states()[1].problem == "The device is missing."
