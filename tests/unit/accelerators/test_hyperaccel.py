"""HyperAccel LPUs: which Alveo boards are some, what is discovered from files of XRT, and what containers get."""

import shutil
from pathlib import Path

import pytest
from simulated_accelerators import driver, tree

from carrel.accelerators.driver import Card
from carrel.accelerators.hardware import Machine
from carrel.accelerators.hyperaccel import PLUGIN, HyperAccel
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
from carrel.core.errors import Invalid

BOARD = "sys/bus/pci/devices/0000:18:00.0"
USER = "sys/bus/pci/devices/0000:18:00.1"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tree(tmp_path, "u55c-lpux3")


def first(root: Path) -> DeviceState:
    return driver(HyperAccel(), root).states()[0]


def test_a_board_is_what_the_kernel_says(root: Path):
    serial = (root / BOARD / "xmc.m.0/serial_num").read_text().strip()
    assert first(root) == DeviceState(
        Device(serial, "lpu", "HyperAccel LPU (Alveo U55C)", pci="0000:18:00.0", numa=0, mem_bytes=16 << 30),
        metrics=DeviceMetrics(temperature_c=38, power_w=24.51),
    )


def test_a_u55c_without_hyperdex_is_only_an_lpu_if_the_administrator_says_so(root: Path):
    shutil.rmtree(root / "opt/hyperdex")
    assert driver(HyperAccel(), root).states() == []
    [state] = driver(HyperAccel(["0000:19:00.0"]), root).states()
    assert (state.device.pci, state.healthy) == ("0000:19:00.0", True)


def test_the_administrator_can_say_which_boards_are_lpus(root: Path):
    assert [state.device.pci for state in driver(HyperAccel(["0000:1a:00.0"]), root).states()] == [
        "0000:1a:00.0"
    ]
    made = PLUGIN.made(root=str(root), simulated=True, boards=["0000:19:00.0", "0000:1a:00.0"])
    assert [device.pci for device in made.discover()] == ["0000:19:00.0", "0000:1a:00.0"]
    with pytest.raises(Invalid, match="boards"):
        PLUGIN.checked({"boards": ["all"]})


def test_a_container_of_a_simulated_machine_gets_the_files(root: Path):
    lpus = driver(HyperAccel(), root)
    files = ("xfpga/xvc_pri.m6400.0", "dri/renderD201")
    assert lpus.attach({lpus.discover()[1].id: 1000}) == Attachment(
        paths=tuple(MachinePath(f"{root}/dev/{name}", f"/dev/{name}") for name in files)
    )


def test_what_docker_is_told(root: Path):
    vendor = HyperAccel()
    vendor.read(Machine(root, simulated=True))
    cards = [Card(Device("X", "lpu"), nodes=("/dev/dri/renderD128",), groups=(105,))]
    assert vendor.attach(cards, Machine()) == Attachment(
        nodes=(DeviceNode("/dev/dri/renderD128"),),
        paths=(MachinePath("/opt/hyperdex", "/opt/hyperdex"),),
        groups=(105,),
        limits=(Limit("memlock", -1, -1),),
    )


def test_a_shell_without_the_debug_port_will_do(root: Path):
    (root / "dev/xfpga/xvc_pri.m6144.0").unlink()
    lpus = driver(HyperAccel(), root)
    assert [path.target for path in lpus.attach({lpus.discover()[0].id: 1000}).paths] == [
        "/dev/dri/renderD200"
    ]


@pytest.mark.parametrize(
    ("file", "text", "problem"),
    [
        (f"{USER}/dev_offline", "1", "The driver says that it is offline."),
        (f"{USER}/ready", "0x0", "The driver says that it is not ready."),
        ("dev/dri/renderD200", None, "Its device file /dev/dri/renderD200 is missing."),
        (f"{USER}/drm", None, "The driver xocl does not offer it to programs."),
        (USER, None, "The driver xocl does not offer it to programs."),
    ],
)
def test_a_board_with_a_problem_is_not_offered(root: Path, file: str, text: str | None, problem: str):
    if text is not None:
        (root / file).write_text(text)
    elif (root / file).is_dir():
        shutil.rmtree(root / file)
    else:
        (root / file).unlink()
    assert [(state.healthy, state.problem) for state in driver(HyperAccel(), root).states()] == [
        (False, problem),
        (True, ""),
        (True, ""),
    ]


@pytest.mark.parametrize("text", ["", "0", "N/A", "\xff"])
def test_what_the_microcontroller_does_not_say_is_not_zero(root: Path, text: str):
    for name in ("xmc.u.0/xmc_fpga_temp", "xmc.u.0/xmc_power", "ready", "dev_offline"):
        if text != "0" or name.startswith("xmc"):
            (root / USER / name).write_text(text)
    (root / BOARD / "xmc.m.0/serial_num").write_text(text)
    state = first(root)
    assert (state.metrics, state.device.id, state.healthy) == (UNKNOWN, "0000:18:00.0", True)


def test_a_board_that_falls_off_is_not_offered_any_more(root: Path):
    lpus = driver(HyperAccel(), root)
    assert len(lpus.discover()) == 3
    shutil.rmtree(root / BOARD)
    assert [len(lpus.discover()) for _ in range(3)] == [3, 3, 2]
