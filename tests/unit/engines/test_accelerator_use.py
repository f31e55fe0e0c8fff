"""What containers use of their accelerators: means over what they hold alone, and never a fake zero."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from accelerator_kit import ScriptedDevices

from carrel.accelerators.port import Device, DeviceMetrics
from carrel.engines.accelerator_use import AcceleratorUse, Held, HeldDevice, of_label, to_label
from carrel.engines.port import ContainerUsage

GIB = 1 << 30
IDLE = DeviceMetrics(0, GIB // 2, 100 * GIB)
USAGE = ContainerUsage("one", 0, 0)


def used(use: AcceleratorUse, held: Held) -> tuple[int | None, int | None]:
    [usage] = use.measured([USAGE], {"one": held})
    return usage.accelerator_percent, usage.accelerator_mem_percent


@pytest.mark.parametrize(
    ("metrics", "held", "expected"),
    [
        ([DeviceMetrics(80, 41 * GIB, 100 * GIB)], {"npu0": 1000}, (80, 40)),
        ([DeviceMetrics(80, 41 * GIB, 100 * GIB), IDLE], {"npu0": 1000, "npu1": 1000}, (40, 20)),
        ([DeviceMetrics(80, 41 * GIB, 100 * GIB), IDLE], {"npu0": 500, "npu1": 1000}, (0, 0)),
        ([DeviceMetrics(80, 41 * GIB, 100 * GIB)], {"npu0": 500}, (None, None)),
        (
            [DeviceMetrics(80, 41 * GIB, 100 * GIB), DeviceMetrics()],
            {"npu0": 1000, "npu1": 1000},
            (None, None),
        ),
        ([DeviceMetrics(None, 41 * GIB, 100 * GIB)], {"npu0": 1000}, (None, 40)),
        ([DeviceMetrics(None, 41 * GIB, None)], {"npu0": 1000}, (None, None)),
        (
            [DeviceMetrics(1, 2 * GIB, 100 * GIB), IDLE, IDLE],
            dict.fromkeys(("npu0", "npu1", "npu2"), 1000),
            (1, 1),
        ),
        ([DeviceMetrics(0, GIB + GIB // 8, 100 * GIB)], {"npu0": 1000}, (0, 0)),
        ([DeviceMetrics(0, GIB // 4, 100 * GIB)], {"npu0": 1000}, (0, 0)),
        ([IDLE], {"lost": 1000}, (None, None)),
        ([IDLE], {}, (None, None)),
    ],
    ids=[
        "one device",
        "the mean of two",
        "a share is not measured, the device beside it is",
        "a share alone",
        "one of two is unknown",
        "only memory is known",
        "the size of the memory is not known",
        "little use of one of three is not none",
        "memory near the baseline",
        "memory below the baseline",
        "a device that is gone",
        "no devices",
    ],
)
def test_use_is_the_mean_of_the_devices_that_a_container_holds_alone(
    metrics: Sequence[DeviceMetrics], held: Mapping[str, int], expected: tuple[int | None, int | None]
) -> None:
    use = AcceleratorUse([ScriptedDevices(*metrics)])
    labels = {device: HeldDevice(share, GIB) for device, share in held.items()}
    assert used(use, labels) == expected


def test_memory_counts_beyond_what_was_in_use_before_the_container_had_the_device() -> None:
    devices = ScriptedDevices(IDLE)
    use = AcceleratorUse([devices])
    # Nothing was seen of it while nobody held it.
    assert use.held({"npu0": 1000}) == {"npu0": HeldDevice(1000, None)}
    assert used(use, use.held({"npu0": 1000})) == (0, None)
    # The least of the latest readings: a process before it was still ending in one of them.
    for mem in (90 * GIB, 2 * GIB, 3 * GIB):
        devices.measure("npu0", replace(IDLE, mem_used_bytes=mem))
        use.measured([], {})
    held = use.held({"npu0": 1000})
    devices.measure("npu0", replace(IDLE, mem_used_bytes=52 * GIB))
    assert used(use, held) == (0, 50)
    # What a container uses is no baseline; its label has that after a restart.
    assert use.held({"npu0": 1000}) == held
    assert used(AcceleratorUse([devices]), of_label(to_label(held))) == (0, 50)


def test_containers_without_a_label_hold_nothing() -> None:
    assert of_label(None) == of_label("") == {}
    assert Device("npu0", "npu") == ScriptedDevices(IDLE).discover()[0]
