"""The environment variables by which vendors' runtimes and libraries choose devices.

Carrel sets them; users and images do not. A container runtime that reads NVIDIA_VISIBLE_DEVICES=all from an image would
give it every GPU of the machine.
"""

from collections.abc import Mapping

NONE: Mapping[str, str] = {
    "NVIDIA_VISIBLE_DEVICES": "void",
    "AMD_VISIBLE_DEVICES": "none",
    "HABANA_VISIBLE_DEVICES": "void",
}
"""Those that container runtimes read, with the value for no device.

Source: NVIDIA Container Toolkit, "Environment variables (OCI spec)"; ROCm/container-toolkit, AMD_VISIBLE_DEVICES;
HabanaAI/gaudi-container-runtime, a derivative of NVIDIA's.
"""

NAMES = frozenset(NONE) | {
    # Read by libraries inside the container: they choose among what it has.
    "CUDA_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "GPU_DEVICE_ORDINAL",
    "HABANA_VISIBLE_MODULES",
    "HL_VISIBLE_DEVICES",
    "HL_VISIBLE_DEVICES_UUID",
    # Read by NVIDIA's runtime: devices and capabilities besides those of NVIDIA_VISIBLE_DEVICES.
    "NVIDIA_MIG_CONFIG_DEVICES",
    "NVIDIA_MIG_MONITOR_DEVICES",
    "NVIDIA_IMEX_CHANNELS",
    "NVIDIA_NVSWITCH",
    "NVIDIA_GDS",
    "NVIDIA_MOFED",
    "NVIDIA_GDRCOPY",
}
"""All that users cannot set."""


def environment(attached: Mapping[str, str], requested: Mapping[str, str]) -> dict[str, str]:
    """The environment of a container with these variables of its accelerators and of its session."""
    allowed = {name: value for name, value in requested.items() if name not in NAMES}
    chosen = {name: value for name, value in attached.items() if name in NAMES}
    return {**NONE, **attached, **allowed, **chosen}
