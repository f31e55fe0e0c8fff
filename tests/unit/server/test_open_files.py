"""The limit of open files of a started installation's roles."""

import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from people import eventually
from ports import free_port

from carrel.server.settings import Settings
from carrel.server.supervise import ROLES

SHELL = 512
"""What the supervisor starts with, below the hard limit."""


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[psutil.Process]:
    """Runs the roles with a low limit. There is no database: the roles wait for it."""
    settings = Settings(
        data_dir=tmp_path,
        database_url="postgresql://nobody@127.0.0.1:9/none",
        port=free_port(),
        gateway_port=free_port(),
    )
    settings.key()
    environment = {f"CARREL_{name.upper()}": str(value) for name, value in settings.model_dump().items()}
    (tmp_path / "run.json").write_text(json.dumps({"embedded": False, "environment": environment}))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    process = subprocess.Popen(
        [sys.executable, "-m", "carrel.server.supervise", str(tmp_path)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (SHELL, hard)),
    )
    yield psutil.Process(process.pid)
    process.terminate()
    process.wait(60)


async def test_every_role_may_open_more_files_than_its_supervisor(supervisor: psutil.Process) -> None:
    async def raised() -> bool:
        return all(_limits(supervisor).get(role, SHELL) > SHELL for role in ROLES)

    await eventually(raised, every_s=0.1)
    assert supervisor.rlimit(psutil.RLIMIT_NOFILE)[0] == SHELL


def _limits(supervisor: psutil.Process) -> dict[str, int]:
    """Soft limits of the supervisor's children, by role; without those that have just ended."""
    limits = {}
    for child in supervisor.children():
        with suppress(psutil.NoSuchProcess):
            # One that ends has no command line any more.
            if words := " ".join(child.cmdline()).split():
                limits[words[-1]] = child.rlimit(psutil.RLIMIT_NOFILE)[0]
    return limits
