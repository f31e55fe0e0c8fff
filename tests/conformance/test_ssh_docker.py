"""SSH to a real container whose image has only busybox, with OpenSSH's own client."""

import asyncio
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from people import eventually
from ssh_over import ssh_over
from tiny_image import ensure_tiny_image

from carrel.core.ids import ContainerId, new_id
from carrel.engines.conformance_kit import ProgressLog, run
from carrel.engines.docker import DockerEngine
from carrel.engines.port import ContainerSpec

BOUND_S = 120.0
Start = Callable[..., Awaitable[asyncio.subprocess.Process]]


@pytest.fixture
async def container(docker_engine: DockerEngine) -> ContainerId:
    made = ContainerId(new_id())
    await docker_engine.ensure(ContainerSpec(made, await ensure_tiny_image(), {}), ProgressLog())
    return made


@pytest.fixture
async def start(docker_engine: DockerEngine, container: ContainerId, tmp_path: Path) -> AsyncIterator[Start]:
    """Starts a program of OpenSSH that connects to the container."""
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    # Without its address, so that ports are reached from inside.
    async with ssh_over(docker_engine, container, None) as port:
        options = (
            "StrictHostKeyChecking=no",
            "UserKnownHostsFile=/dev/null",
            "BatchMode=yes",
            f"Port={port}",
        )
        words = ["-F", "none", "-i", str(key), *(word for one in options for word in ("-o", one))]

        async def started(program: str, *more: str) -> asyncio.subprocess.Process:
            pipe = asyncio.subprocess.PIPE
            return await asyncio.create_subprocess_exec(
                program, *words, *more, stdin=pipe, stdout=pipe, stderr=pipe
            )

        yield started


async def ended(process: asyncio.subprocess.Process, given: bytes = b"") -> tuple[int | None, bytes, bytes]:
    out, err = await asyncio.wait_for(process.communicate(given), BOUND_S)
    return process.returncode, out, err


async def test_commands_terminals_and_ports_work_and_sftp_says_what_is_missing(
    docker_engine: DockerEngine, container: ContainerId, start: Start
) -> None:
    # 1. a command
    code, out, err = await ended(await start("ssh", "any@127.0.0.1", "cat; echo err >&2; exit 3"), b"in\0")
    assert (code, out) == (3, b"in\0")
    assert err.endswith(b"err\n")
    # 2. a shell with a terminal
    code, out, _ = await ended(await start("ssh", "-tt", "any@127.0.0.1"), b"id -u; exit 5\n")
    assert (code, b"1000" in out) == (5, True)
    # 3. a file transfer, for which the image has no program
    code, _, err = await ended(await start("sftp", "-b", "-", "any@127.0.0.1"), b"ls\n")
    assert code
    assert b"The image of this session has no sftp-server" in err
    # 4. a port, by a relay inside
    serve = ("sh", "-c", "while true; do echo hello | nc -l -p 7000; done")
    async with docker_engine.exec(container, serve, env={}, terminal=None):

        async def answers() -> bool:
            client = await start("ssh", "-W", "localhost:7000", "any@127.0.0.1")
            return (await ended(client))[1] == b"hello\n"

        await eventually(answers)


async def test_a_shell_ends_with_its_client(
    docker_engine: DockerEngine, container: ContainerId, start: Start
) -> None:
    client = await start("ssh", "-tt", "any@127.0.0.1", "echo begun; exec sleep 4321")
    assert client.stdout
    await asyncio.wait_for(client.stdout.readuntil(b"begun"), BOUND_S)
    client.kill()
    await client.communicate()

    async def is_gone() -> bool:
        ran = await run(docker_engine, container, "sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '")
        return b"sleep 4321" not in ran.stdout

    await eventually(is_gone)
