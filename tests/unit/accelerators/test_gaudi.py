"""Intel Gaudi cards: what is discovered from files and hl-smi, right or broken, and what containers get."""

from pathlib import Path

import pytest
from simulated_accelerators import driver, tree

from carrel.accelerators.gaudi import Gaudi
from carrel.accelerators.hardware import Machine
from carrel.accelerators.port import UNKNOWN, Attachment, Device, DeviceMetrics, DeviceState, MachinePath
from carrel.core.device_blocks import Block

QUERY = "tools/hl-smi/q"
ID = "01P0-HL325L-SIM-"
MIB = 1 << 20


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tree(tmp_path, "gaudi3x8")


def test_a_card_is_what_the_tool_and_the_kernel_say(root: Path):
    first = driver(Gaudi(), root).states()[0]
    assert first.device.id.startswith(ID)
    assert first == DeviceState(
        Device(
            first.device.id,
            "gaudi3",
            "HL-325L",
            set=0,
            pci="0000:18:00.0",
            numa=0,
            mem_bytes=131072 * MIB,
            blocks=tuple(Block(f"{size}-0", size, whole=True) for size in (2, 4, 8)),
        ),
        metrics=DeviceMetrics(0.0, 672 * MIB, 131072 * MIB, 35.0, 226.0, 0),
    )


def test_sets_are_pairs_of_modules_and_amounts_are_valid_sets(root: Path):
    gaudi = driver(Gaudi(), root)
    assert [device.set for device in gaudi.discover()] == [0, 0, 1, 1, 2, 2, 3, 3]
    kind = next(one for one in gaudi.kinds() if one.family == "gaudi3")
    assert [amount for amount in range(1, 9) if kind.allows(amount)] == [1, 2, 4, 8]
    assert kind.nearest(3) == (2, 4)


def test_a_container_gets_the_files_and_modules_of_its_cards(root: Path):
    gaudi = driver(Gaudi(), root)
    third, fourth = (device.id for device in gaudi.discover()[2:4])
    files = [f"accel/{name}{index}" for index in (2, 3) for name in ("accel", "accel_controlD")]
    files[2:2], files[5:] = ["infiniband/uverbs2"], ["infiniband/uverbs3"]
    assert gaudi.attach({fourth: 1000, third: 1000}) == Attachment(
        env={
            "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
            "HABANA_VISIBLE_MODULES": "3,2",
        },
        paths=tuple(MachinePath(f"{root}/dev/{name}", f"/dev/{name}") for name in files),
    )


def test_blocks_are_pairs_and_quads_of_modules_also_while_the_tool_fails(root: Path):
    for bus in range(0x18, 0x20):
        (root / f"sys/bus/pci/devices/0000:{bus:02x}:00.0/module_id").unlink(missing_ok=True)
    gaudi = driver(Gaudi(), root)
    blocks = [[one.name for one in state.device.blocks] for state in gaudi.states()]
    assert blocks == [[f"2-{module // 2}", f"4-{module // 4}", "8-0"] for module in range(8)]
    (root / f"{QUERY}.hangs").touch()
    assert [[one.name for one in state.device.blocks] for state in gaudi.states()] == blocks


def test_a_card_whose_module_is_unknown_has_no_blocks(root: Path):
    for bus in range(0x18, 0x20):
        (root / f"sys/bus/pci/devices/0000:{bus:02x}:00.0/module_id").unlink(missing_ok=True)
    (root / QUERY).write_text("")
    assert {state.device.blocks for state in driver(Gaudi(), root).states()} == {()}


def test_cards_are_resources_in_kubernetes(root: Path):
    gaudi = Gaudi()
    assert gaudi.attach(gaudi.read(Machine(root, simulated=True)), Machine()).resources == {
        "habana.ai/gaudi": 8
    }


@pytest.mark.parametrize("text", ["", "\n,\n", "Failed to initialize HLML\n", "\xff\x00" * 500, "a,b,c"])
def test_cards_that_the_tool_does_not_list_are_not_offered(root: Path, text: str):
    (root / QUERY).write_text(text)
    states = driver(Gaudi(), root).states()
    assert {(state.device.id, state.healthy, state.problem) for state in states} == {
        (f"0000:{bus:02x}:00.0", False, "hl-smi does not list it.") for bus in range(0x18, 0x20)
    }


def test_a_card_has_one_id_once_the_tool_answers(root: Path):
    recorded = (root / QUERY).read_text()
    (root / QUERY).write_text("")
    gaudi = driver(Gaudi(), root)
    assert gaudi.states()[0].device.id == "0000:18:00.0"
    (root / QUERY).write_text(recorded)
    assert [state.device.id.startswith(ID) for state in gaudi.states()] == [True] * 8
    (root / f"{QUERY}.hangs").touch()
    assert [state.device.id.startswith(ID) for state in gaudi.states()] == [True] * 8
    assert gaudi.states()[0].metrics == UNKNOWN


@pytest.mark.parametrize("status", ["needs reset", "In reset", "disabled"])
def test_a_card_that_needs_a_reset_is_not_offered(root: Path, status: str):
    (root / "sys/bus/pci/devices/0000:18:00.0/status").write_text(status)
    state = driver(Gaudi(), root).states()[0]
    assert (state.healthy, state.problem) == (False, f"Its state is: {status.lower()}.")


def test_a_card_without_its_device_file_is_not_offered(root: Path):
    (root / "dev/accel/accel0").unlink()
    state = driver(Gaudi(), root).states()[0]
    assert (state.healthy, state.problem) == (False, "Its device file /dev/accel/accel0 is missing.")


def test_what_is_not_available_is_not_zero(root: Path):
    (root / QUERY).write_text("0000:18:00.0, N/A, HL-325L, N/A, N/A, [N/A], N/A, -, , N/A\n")
    state = driver(Gaudi(), root).states()[0]
    assert (state.metrics, state.device.id, state.healthy) == (UNKNOWN, "0000:18:00.0", True)
