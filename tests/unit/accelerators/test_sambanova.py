"""SambaNova machines as one device: what snfadm and sntilestat say, right or broken, and what containers get."""

import shutil
from pathlib import Path

import pytest
from simulated_accelerators import driver, tree

from carrel.accelerators.driver import Card
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
    slots_of,
)
from carrel.accelerators.sambanova import SambaNova

INVENTORY = "tools/snfadm/l"
TILES = "tools/sntilestat/all"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tree(tmp_path, "sn30x8")


def only(root: Path) -> DeviceState:
    [state] = driver(SambaNova(), root).states()
    return state


def replace_in(root: Path, file: str, old: str, new: str) -> None:
    text = (root / file).read_text()
    assert old in text
    (root / file).write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("description", "model"), [("sn30x8", "DataScale SN30-8"), ("sn40lx16", "DataScale SN40L-16")]
)
def test_a_machine_is_one_device(tmp_path: Path, description: str, model: str):
    machine = driver(SambaNova(), tree(tmp_path, description))
    assert list(machine.states()) == [
        DeviceState(
            Device("rdu-machine", "rdu", f"SambaNova {model}"), metrics=DeviceMetrics(utilization_percent=0.0)
        )
    ]
    assert slots_of(machine.discover(), machine.kinds()) == {"rdu.machine": 1}
    [kind] = machine.kinds()
    assert [amount for amount in range(1, 9) if kind.allows(amount)] == [1]


def test_a_container_of_a_simulated_machine_gets_the_files(root: Path):
    assert driver(SambaNova(), root).attach({"rdu-machine": 1000}) == Attachment(
        paths=tuple(MachinePath(f"{root}/dev/{name}", f"/dev/{name}") for name in ("rdu", "rdu_mem_map"))
    )


def test_what_docker_and_kubernetes_are_told(root: Path):
    vendor = SambaNova()
    vendor.read(Machine(root, simulated=True))
    cards = [Card(Device("rdu-machine", "rdu"), nodes=("/dev/rdu", "/dev/rdu_mem_map"), groups=(7,))]
    expected = Attachment(
        nodes=(DeviceNode("/dev/rdu"), DeviceNode("/dev/rdu_mem_map")),
        groups=(7,),
        limits=(Limit("memlock", -1, -1),),
        resources={"sambanova.ai/rdu-tile": 64},
    )
    assert vendor.attach(cards, Machine()) == expected
    (root / f"{INVENTORY}.hangs").touch()
    vendor.read(Machine(root, simulated=True))
    assert vendor.attach(cards, Machine()) == expected


def test_utilization_is_the_share_of_time_in_which_tiles_are_not_idle(root: Path):
    lines = [
        f"/XRDU_0/RDU_0/TILE_{tile}   8.0  91.6    0.3    0.1    0.0      0.0 27 ana x" for tile in range(4)
    ]
    lines += [f"/XRDU_0/RDU_1/TILE_{tile} 100.0   0.0    0.0    0.0    0.0      0.0" for tile in range(4)]
    (root / TILES).write_text("\n".join(["TILE   %idle %exec", *lines]))
    assert only(root).metrics.utilization_percent == 46.0


@pytest.mark.parametrize(
    "text", ["", "No tiles\n", "/XRDU_0/RDU_0/TILE_0 N/A", "/XRDU_0/RDU_0/TILE_0 900.0\n"]
)
def test_utilization_that_is_not_available_is_not_zero(root: Path, text: str):
    (root / TILES).write_text(text)
    assert (only(root).metrics, only(root).healthy) == (UNKNOWN, True)
    (root / f"{TILES}.hangs").touch()
    assert (only(root).metrics, only(root).healthy) == (UNKNOWN, True)


@pytest.mark.parametrize(
    "text", ["", "\n|||\n", "Platform:\n", "Error: cannot connect to snd\n", "\xff\x00" * 500]
)
def test_without_an_inventory_the_machine_is_not_offered(root: Path, text: str):
    (root / INVENTORY).write_text(text)
    state = only(root)
    assert (state.healthy, state.problem, state.device.model) == (
        False,
        "snfadm lists no RDU.",
        "SambaNova machine",
    )


def test_a_machine_with_parts_that_are_not_online_is_not_offered(root: Path):
    name = "/NODE/XRDU_1/RDU_0/TILE_3             | N/A                 | "
    replace_in(root, INVENTORY, f"{name}Present         | Online", f"{name}Present         | Offline")
    assert only(root).problem == "1 of its RDUs and tiles are not online: XRDU_1/RDU_0/TILE_3."
    replace_in(root, INVENTORY, "| Online", "| Faulted")
    assert only(root).problem == (
        "72 of its RDUs and tiles are not online: XRDU_0/RDU_0, XRDU_0/RDU_0/TILE_0, XRDU_0/RDU_0/TILE_1."
    )


def test_other_parts_may_be_offline(root: Path):
    with (root / INVENTORY).open("a") as inventory:
        inventory.write("/NODE/XRDU_0/SW_0/PORT_8 | N/A | Present | Offline\n")
    assert only(root).healthy


@pytest.mark.parametrize(
    ("file", "problem"),
    [
        ("tools/snfadm/l", "snfadm is not installed."),
        ("dev/rdu", "Its device file /dev/rdu is missing."),
        ("dev/rdu_mem_map", "Its device file /dev/rdu_mem_map is missing."),
    ],
)
def test_a_missing_file_is_a_problem(root: Path, file: str, problem: str):
    (root / file).unlink()
    assert (only(root).healthy, only(root).problem) == (False, problem)


def test_it_stays_the_same_device_while_its_tool_hangs(root: Path):
    machine = driver(SambaNova(), root)
    before = list(machine.discover())
    (root / f"{INVENTORY}.hangs").touch()
    assert list(machine.discover()) == before
    assert machine.states()[0].problem == "snfadm did not end within 5 s."


def test_a_machine_whose_rdus_fall_off_is_not_offered_any_more(root: Path):
    machine = driver(SambaNova(), root)
    assert len(machine.discover()) == 1
    shutil.rmtree(root / "sys/bus/pci/devices")
    assert [len(machine.discover()) for _ in range(3)] == [1, 1, 0]
    assert machine.states()[0].problem == "The device is missing."
