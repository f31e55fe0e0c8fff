"""Simulated NVIDIA GPUs whose containers also have a Python and a driver library that a test compiles.

There is no GPU: the library stands for a driver that refuses memory beyond the share, or does not.
"""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from simulated_accelerators import driver, tree

from carrel.accelerators.nvidia import Nvidia
from carrel.accelerators.port import NOTHING, Attachment, Device, DeviceState, MachinePath
from carrel.core.slots import WHOLE, SlotKind

_SOURCE = Path(__file__).with_name("fake_libcuda.c")
_PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"
_AT = "/opt/fake-cuda"


class FakeGpus:
    """The GPUs of a simulated machine. enforced: the driver refuses memory beyond a container's share. count: GPUs that
    it counts in each container.
    """

    def __init__(self, directory: Path, description: str, *, enforced: bool = True) -> None:
        self.enforced, self.count = enforced, 1
        self._gpus = driver(Nvidia(shares=True), tree(directory / "machine", description))
        self._library = directory / "cuda"
        self._library.mkdir()
        (self._library / "lock").touch()
        target = self._library / "libcuda.so.1"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", target, _SOURCE], check=True)

    def discover(self) -> Sequence[Device]:
        return self._gpus.discover()

    def states(self) -> Sequence[DeviceState]:
        return self._gpus.states()

    def kinds(self) -> Sequence[SlotKind]:
        return self._gpus.kinds()

    def attach(self, held: Mapping[str, int]) -> Attachment:
        attachment = self._gpus.attach(held)
        if attachment == NOTHING:
            return attachment
        [amount] = held.values()
        total = 80 << 30
        variables = {
            "LD_LIBRARY_PATH": _AT,
            "FAKE_CUDA_COUNT": str(self.count),
            "FAKE_CUDA_TOTAL": str(total),
            "FAKE_CUDA_LIMIT": str(total * amount // WHOLE if self.enforced else total),
            "FAKE_CUDA_LOCK": f"{_AT}/lock",
        }
        paths = (MachinePath(str(self._library), _AT), *_python())
        return replace(attachment, env={**attachment.env, **variables}, paths=(*attachment.paths, *paths))


def _python() -> Sequence[MachinePath]:
    """The machine's own Python, where its loader looks for it."""
    loader = next(Path("/lib64").glob("ld-linux-*")) if Path("/lib64").exists() else None
    libraries = next(Path("/usr/lib").glob("*-linux-gnu"))
    devices = [
        MachinePath(str(libraries), f"/lib/{libraries.name}"),
        MachinePath(f"/usr/lib/{_PYTHON}", f"/usr/lib/{_PYTHON}"),
        MachinePath(f"/usr/bin/{_PYTHON}", "/usr/bin/python3"),
    ]
    return [*devices, MachinePath(str(loader.resolve()), str(loader))] if loader else devices
