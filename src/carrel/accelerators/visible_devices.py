"""The environment variables by which vendors' runtimes and libraries choose devices.

Carrel sets them; users and images do not. A container runtime that reads NVIDIA_VISIBLE_DEVICES=all from an image would
give it every GPU of the machine.
"""

import re
from collections.abc import Mapping

NONE: Mapping[str, str] = {
    "NVIDIA_VISIBLE_DEVICES": "void",
    "AMD_VISIBLE_DEVICES": "none",
    "XILINX_VISIBLE_DEVICES": "",
    "XILINX_VISIBLE_CARDS": "",
}
"""Those that container runtimes read, with the value for no device.

Source: NVIDIA Container Toolkit, "Environment variables (OCI spec)"; ROCm/container-toolkit, AMD_VISIBLE_DEVICES;
Xilinx/Xilinx_Container_Runtime, which fails for a word other than `all`. That of Habana takes every value of its
variable but numbers for all devices.
"""

_PATTERN = re.compile(
    r"[A-Z0-9_]+_VISIBLE_(DEVICES|MODULES|CARDS|PCI_BUS_IDS)(_UUID)?|DOCKER_RESOURCE_[A-Z0-9_]+"
    r"|CUDA_MPS_[A-Z0-9_]+|NVIDIA_GPU_MEMORY_[A-Z0-9_]+"
)
"""CUDA_, ROCR_, HIP_ and more: of runtimes, and of libraries that choose among what a container has, or its share."""
_OTHERS = frozenset(
    {
        "GPU_DEVICE_ORDINAL",
        # Read by NVIDIA's runtime: devices and capabilities besides those of NVIDIA_VISIBLE_DEVICES.
        "NVIDIA_MIG_CONFIG_DEVICES",
        "NVIDIA_MIG_MONITOR_DEVICES",
        "NVIDIA_IMEX_CHANNELS",
        "NVIDIA_NVSWITCH",
        "NVIDIA_GDS",
        "NVIDIA_MOFED",
        "NVIDIA_GDRCOPY",
        # Read by libraries of FuriosaAI and Rebellions.
        "FURIOSA_DEVICES",
        "NPU_DEVNAME",
        "RBLN_DEVICES",
        # IPUs on a network, which Poplar uses instead of the card that a container has.
        "IPUOF_CONFIG_PATH",
        "IPUOF_VIPU_API_HOST",
        "IPUOF_VIPU_API_PORT",
        "IPUOF_VIPU_API_PARTITION_ID",
    }
)


OF_SHARES = (
    "CUDA_MPS_PIPE_DIRECTORY",
    "CUDA_MPS_LOG_DIRECTORY",
    "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
    "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT",
    "CUDA_MPS_ENABLE_PER_CTX_DEVICE_MULTIPROCESSOR_PARTITIONING",
    "CUDA_MPS_CLIENT_PRIORITY",
    "CUDA_MPS_SM_PARTITION",
    "NVIDIA_GPU_MEMORY_LIMIT",
    "NVIDIA_GPU_MEMORY_REQUEST",
)
"""Of NVIDIA's MPS, and of the hook of its container toolkit that limits memory: those of images are removed."""


def _is_ours(name: str) -> bool:
    return name in _OTHERS or _PATTERN.fullmatch(name) is not None


def environment(attached: Mapping[str, str], requested: Mapping[str, str]) -> dict[str, str]:
    """The environment of a container with these variables of its accelerators and of its session."""
    allowed = {name: value for name, value in requested.items() if not _is_ours(name)}
    chosen = {name: value for name, value in attached.items() if _is_ours(name)}
    return {**NONE, **attached, **allowed, **chosen}
