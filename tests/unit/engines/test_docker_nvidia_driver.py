"""The version of the NVIDIA driver, as the kernel of a machine has it."""

import pytest

from carrel.core.cuda import DRIVER_LABEL, driver_of
from carrel.engines.docker.nvidia_driver import labels

PROPRIETARY = (
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.82.01  Wed Oct 27 21:21:55 UTC 2021\n"
    "GCC version:  gcc version 9.3.0 (Ubuntu 9.3.0-17ubuntu1~20.04)\n"
)
OPEN = (
    "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.95.05  Release Build  (dvs-builder@U22-I3)\n"
    "GCC version:  gcc version 12.3.0 (Ubuntu 12.3.0-1ubuntu1~22.04)\n"
)


def written(root, name, text):
    path = root / name
    path.parent.mkdir(parents=True)
    path.write_text(text)


@pytest.mark.parametrize(("text", "version"), [(PROPRIETARY, "470.82.01"), (OPEN, "580.95.05")])
def test_it_is_read_from_proc(tmp_path, text, version):
    written(tmp_path, "proc/driver/nvidia/version", text)
    assert labels(tmp_path) == {DRIVER_LABEL: version}


def test_it_is_read_from_the_module_if_proc_does_not_say_it(tmp_path):
    written(tmp_path, "proc/driver/nvidia/version", "NVRM version: unknown\n")
    written(tmp_path, "sys/module/nvidia/version", "550.54\n")
    assert labels(tmp_path) == {DRIVER_LABEL: "550.54"}
    assert str(driver_of(labels(tmp_path))) == "driver 550.54 supports CUDA 12.3"


def test_a_machine_without_the_driver_has_no_label(tmp_path):
    assert labels(tmp_path) == {}
    written(tmp_path, "proc/driver/nvidia/version", "")
    assert labels(tmp_path) == {}
