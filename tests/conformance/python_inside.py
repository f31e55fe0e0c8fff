"""Sessions in which the machine's own Python runs: the tiny image has nothing that makes any system call it likes."""

import platform
from collections.abc import Awaitable, Callable

import pytest
from tiny_image import ensure_tiny_image

from carrel.core.ids import new_id
from carrel.engines.conformance_kit import ProgressLog, run
from carrel.engines.docker import DockerEngine
from carrel.engines.port import ContainerSpec, ExecStream, Mount

_HERE = "/home/work/machine"
_LOADER = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}[platform.machine()]
_LIBRARIES = f"{_HERE}/lib/{platform.machine()}-linux-gnu"
PYTHON = (
    "env",
    f"PYTHONHOME={_HERE}",
    f"{_LIBRARIES}/{_LOADER}",
    "--library-path",
    _LIBRARIES,
    f"{_HERE}/bin/python3",
    "-S",
    "-u",
)

_CALLS = """
import ctypes, errno, os, resource, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    "0 or more: what it gave; else the name of the error."
    gave = libc.syscall(number, *arguments)
    return gave if gave >= 0 else errno.errorcode[ctypes.get_errno()]
"""


class Insider:
    """A session's container with a Python in it."""

    def __init__(self, engine: DockerEngine, container: str) -> None:
        self.engine = engine
        self.id = container

    async def python(self, script: str) -> str:
        """What the script prints, errors included."""
        ran = await run(self.engine, self.id, *PYTHON, "-c", _CALLS + script)
        return (ran.stdout + ran.stderr).decode().strip()

    def begun(self, script: str):  # type: ignore[no-untyped-def]
        """The script as a process that goes on, as `Engine.exec` gives it."""
        return self.engine.exec(self.id, (*PYTHON, "-c", _CALLS + script), env={}, terminal=None)


async def first_line(process: ExecStream) -> str:
    """What it prints first."""
    line = b""
    async for _, piece in process.output():
        line += piece
        if b"\n" in line:
            break
    return line.decode().strip()


@pytest.fixture
async def insider(docker_engine: DockerEngine) -> Callable[..., Awaitable[Insider]]:
    """Makes such sessions."""
    image = await ensure_tiny_image()

    async def make(mem_bytes: int = 256 << 20) -> Insider:
        spec = ContainerSpec(
            new_id(), image, {"cpu": 1000, "mem": mem_bytes}, mounts=(Mount("/usr", _HERE, read_only=True),)
        )
        await docker_engine.ensure(spec, ProgressLog())
        return Insider(docker_engine, spec.id)

    return make
