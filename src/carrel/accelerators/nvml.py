"""What is set on NVIDIA GPUs for their shares: memory limits of cgroups, and compute modes; by NVIDIA's library.

Sources: NVIDIA, "NVML API Reference Guide": nvmlDeviceSetMemoryLimits_v1, nvmlDeviceGetMemoryLimits_v1,
nvmlDeviceSetComputeMode; layouts and codes as in the module pynvml of nvidia-ml-py 13.615.
"""

import ctypes
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple, Protocol

LIBRARY = "libnvidia-ml.so.1"
UNLIMITED = 2**64 - 1


class NvmlError(Exception):
    """The library is missing, or refused; the message is a sentence."""


class ComputeMode(IntEnum):
    """EXCLUSIVE_PROCESS: only one process, such as the server of MPS, has a context on the GPU."""

    DEFAULT = 0
    PROHIBITED = 2
    EXCLUSIVE_PROCESS = 3


class MemoryLimit(NamedTuple):
    """Bytes that processes of a cgroup may allocate on a GPU. soft: what is guaranteed to them."""

    soft: int
    hard: int


class GpuControl(Protocol):
    """gpu: the UUID. cgroup: the path of its directory. Methods raise NvmlError."""

    def opened(self) -> AbstractContextManager[None]:
        """For several calls, which take less time until it is left."""
        ...

    def memory_limit(self, gpu: str, cgroup: str) -> MemoryLimit:
        """What is set for the cgroup."""
        ...

    def set_memory_limit(self, gpu: str, cgroup: str, limit: MemoryLimit) -> None:
        """Twice: no-op. It is gone with the cgroup."""
        ...

    def compute_mode(self, gpu: str) -> ComputeMode:
        """The present one."""
        ...

    def set_compute_mode(self, gpu: str, mode: ComputeMode) -> None:
        """For processes that open the GPU from now on. Twice: no-op."""
        ...


class _MemoryLimits(ctypes.Structure):
    """nvmlSetMemoryLimits_v1_t; with `used`, nvmlGetMemoryLimits_v1_t."""

    _fields_ = [
        ("cgroup", ctypes.c_char_p),
        ("soft", ctypes.c_ulonglong),
        ("hard", ctypes.c_ulonglong),
        ("used", ctypes.c_ulonglong),
    ]


class Nvml:
    """The library of the driver; loaded for each use, since the driver may be replaced while Carrel runs."""

    def __init__(self, library: str = LIBRARY) -> None:
        self._library = library

    def memory_limit(self, gpu: str, cgroup: str) -> MemoryLimit:
        limits = _MemoryLimits(cgroup.encode())
        with self._device(gpu) as (library, device):
            _call(library, "nvmlDeviceGetMemoryLimits_v1", device, ctypes.byref(limits))
        return MemoryLimit(limits.soft, limits.hard)

    def set_memory_limit(self, gpu: str, cgroup: str, limit: MemoryLimit) -> None:
        limits = _MemoryLimits(cgroup.encode(), limit.soft, limit.hard)
        with self._device(gpu) as (library, device):
            _call(library, "nvmlDeviceSetMemoryLimits_v1", device, ctypes.byref(limits))

    def compute_mode(self, gpu: str) -> ComputeMode:
        mode = ctypes.c_int()
        with self._device(gpu) as (library, device):
            _call(library, "nvmlDeviceGetComputeMode", device, ctypes.byref(mode))
        return ComputeMode(mode.value)

    def set_compute_mode(self, gpu: str, mode: ComputeMode) -> None:
        with self._device(gpu) as (library, device):
            _call(library, "nvmlDeviceSetComputeMode", device, ctypes.c_int(mode))

    @contextmanager
    def opened(self) -> Iterator[None]:
        # The library counts: only the first initialization opens the driver, and the last shutdown closes it.
        with self._initialized():
            yield

    @contextmanager
    def _initialized(self) -> Iterator[ctypes.CDLL]:
        try:
            library = ctypes.CDLL(self._library)
        except OSError:
            raise NvmlError(f"{self._library} cannot be loaded.") from None
        _call(library, "nvmlInit_v2")
        try:
            yield library
        finally:
            library.nvmlShutdown()

    @contextmanager
    def _device(self, gpu: str) -> Iterator[tuple[ctypes.CDLL, ctypes.c_void_p]]:
        with self._initialized() as library:
            device = ctypes.c_void_p()
            _call(library, "nvmlDeviceGetHandleByUUID", ctypes.c_char_p(gpu.encode()), ctypes.byref(device))
            yield library, device


def _call(library: ctypes.CDLL, name: str, *arguments: object) -> None:
    try:
        code = getattr(library, name)(*arguments)
    except AttributeError:
        raise NvmlError(f"The driver's library has no {name}.") from None
    if code:
        library.nvmlErrorString.restype = ctypes.c_char_p
        text = (library.nvmlErrorString(code) or b"").decode(errors="replace")
        raise NvmlError(f"{name} failed with {code}: {text or 'unknown error'}.")


class SimulatedGpuControl:
    """Of a simulated machine: what is set is kept in files below its root, and nothing enforces it."""

    def __init__(self, root: Path) -> None:
        self._place = root / "gpu-control"

    def opened(self) -> AbstractContextManager[None]:
        return nullcontext()

    def memory_limit(self, gpu: str, cgroup: str) -> MemoryLimit:
        try:
            soft, hard = self._limit(gpu, cgroup).read_text().split()
        except OSError:
            return MemoryLimit(0, UNLIMITED)
        return MemoryLimit(int(soft), int(hard))

    def set_memory_limit(self, gpu: str, cgroup: str, limit: MemoryLimit) -> None:
        file = self._limit(gpu, cgroup)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{limit.soft} {limit.hard}\n")

    def compute_mode(self, gpu: str) -> ComputeMode:
        try:
            return ComputeMode[(self._place / gpu / "compute-mode").read_text().strip()]
        except OSError:
            return ComputeMode.DEFAULT

    def set_compute_mode(self, gpu: str, mode: ComputeMode) -> None:
        file = self._place / gpu / "compute-mode"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{mode.name}\n")

    def _limit(self, gpu: str, cgroup: str) -> Path:
        return self._place / gpu / "memory-limits" / cgroup.strip("/").replace("/", ":")
