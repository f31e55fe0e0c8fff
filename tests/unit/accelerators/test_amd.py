"""AMD GPUs: what is discovered from files of the kernel, and what containers get."""

import os
import shutil
from pathlib import Path

import pytest
from simulated_accelerators import driver, tree

from carrel.accelerators.amd import Amd
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
)

FIRST = "sys/bus/pci/devices/0000:18:00.0"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tree(tmp_path, "mi300xx4")


def test_a_gpu_is_what_the_kernel_says(root: Path):
    first = driver(Amd(), root).states()[0]
    assert first == DeviceState(
        Device(
            (root / FIRST / "unique_id").read_text().strip(),
            "rocm",
            "AMD Instinct MI300X",
            set=0,
            pci="0000:18:00.0",
            numa=0,
            clique="2",
            mem_bytes=192 << 30,
        ),
        metrics=DeviceMetrics(0, 298 << 20, 192 << 30, 38.0, 139.0, 0),
    )


def test_a_container_of_a_simulated_machine_gets_the_files(root: Path):
    amd = driver(Amd(), root)
    second, third = (device.id for device in amd.discover()[1:3])
    assert amd.attach({third: 1000, second: 1000}) == Attachment(
        env={"AMD_VISIBLE_DEVICES": "none", "ROCR_VISIBLE_DEVICES": "0,1", "HIP_VISIBLE_DEVICES": "0,1"},
        paths=tuple(
            MachinePath(f"{root}/dev/{name}", f"/dev/{name}")
            for name in ("kfd", "dri/renderD130", "dri/renderD131")
        ),
    )


def test_a_container_gets_render_nodes_with_their_groups():
    cards = [
        Card(Device(f"{number}", "rocm"), nodes=(f"/dev/dri/renderD{number}",), groups=(44, 105))
        for number in (128, 130)
    ]
    assert Amd().attach(cards, Machine()) == Attachment(
        env={"AMD_VISIBLE_DEVICES": "none", "ROCR_VISIBLE_DEVICES": "0,1", "HIP_VISIBLE_DEVICES": "0,1"},
        nodes=(DeviceNode("/dev/kfd"), DeviceNode("/dev/dri/renderD128"), DeviceNode("/dev/dri/renderD130")),
        groups=(44, 105),
        limits=(Limit("memlock", -1, -1),),
        resources={"amd.com/gpu": 2},
    )


def test_the_graphics_of_a_processor_is_not_offered(root: Path):
    (root / FIRST / "device").write_text("0x164e\n")
    assert len(driver(Amd(), root).states()) == 3


def test_what_cannot_be_read_is_not_zero(root: Path):
    for name in ("mem_info_vram_total", "mem_info_vram_used", "gpu_busy_percent"):
        (root / FIRST / name).write_text("")
    (root / FIRST / "ras/umc_err_count").write_text("query failed")
    shutil.rmtree(root / FIRST / "hwmon")
    state = driver(Amd(), root).states()[0]
    assert (state.metrics, state.healthy, state.device.mem_bytes) == (UNKNOWN, True, None)


def test_a_gpu_with_errors_is_not_offered(root: Path):
    (root / FIRST / "ras/umc_err_count").write_text("ue: 2\nce: 9\n")
    state = driver(Amd(), root).states()[0]
    assert (state.healthy, state.metrics.uncorrected_errors) == (False, 2)
    assert state.problem == "Its memory has had 2 uncorrected errors since the driver was loaded."


def test_a_gpu_that_is_not_for_computing_is_not_offered(root: Path):
    shutil.rmtree(root / "sys/class/kfd/kfd/topology/nodes/1")
    state = driver(Amd(), root).states()[0]
    assert (state.healthy, state.problem) == (False, "The kernel driver does not offer it for computing.")


def test_the_render_node_is_read_and_not_guessed(root: Path):
    os.rename(root / FIRST / "drm/renderD129", root / FIRST / "drm/renderD140")
    assert driver(Amd(), root).states()[0].healthy is False


@pytest.mark.parametrize(
    "text", ["simd_count\n", "\x00", "drm_render_minor x\nsimd_count 8", "a b\n" * 10_000]
)
def test_any_text_of_the_kernel_can_be_read(root: Path, text: str):
    (root / "sys/class/kfd/kfd/topology/nodes/1/properties").write_text(text)
    assert [state.healthy for state in driver(Amd(), root).states()] == [False, True, True, True]
