"""SSH through the gateway compared with an sshd in the same container: a large file by sftp, and a command."""

import asyncio
import contextlib
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from ssh_over import ssh_over
from tiny_image import docker_url

from bench.load import median
from bench.table import Line
from carrel.core.ids import ContainerId, new_id
from carrel.engines.docker import DockerEngine
from carrel.engines.port import ContainerSpec, Engine

_IMAGE = "localhost/carrel/starter:latest"
_BYTES = 1 << 30
_TRANSFERS = 3
_COMMANDS = 15
_PORT = 2222
_SSHD = (
    "mkdir -p .ssh /tmp/run && chmod 700 .ssh && cp key.pub .ssh/authorized_keys && chmod 600 .ssh/authorized_keys && "
    "rm -f /tmp/run/host && ssh-keygen -q -t ed25519 -N '' -f /tmp/run/host && truncate -s %d big && "
    "exec /usr/sbin/sshd -D -f /dev/null -p %d -o HostKey=/tmp/run/host -o PidFile=none -o StrictModes=no "
    "-o UsePAM=no -o 'Subsystem=sftp /usr/lib/openssh/sftp-server'"
)


async def measure() -> list[Line]:
    with tempfile.TemporaryDirectory() as folder:
        key = Path(folder) / "key"
        await _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key))
        async with (
            _container(key) as (engine, container, address),
            ssh_over(engine, container, address) as port,
        ):
            own, bare = _words(key, "127.0.0.1", port), _words(key, address, _PORT)
            times = {(kind, side): [] for kind in ("get", "put", "true") for side in ("own", "bare")}  # type: dict[tuple[str, str], list[float]]
            big = Path(folder) / "big"
            with big.open("wb") as file:
                file.truncate(_BYTES)
            for words in (own, bare):
                await _run("ssh", *words, "true")
            for turn in range(_COMMANDS):
                for side, words in (("own", own), ("bare", bare)):
                    times["true", side].append(await _run("ssh", *words, "true"))
                    if turn < _TRANSFERS:
                        for kind, line in (("get", "get big /dev/null"), ("put", f"put {big} /dev/null")):
                            took = await _run("sftp", "-q", "-b", "-", *words, given=line.encode())
                            times[kind, side].append(took)
    figures = {at: median(each) for at, each in times.items()}
    mib = _BYTES / (1 << 20)
    lines = [
        Line(
            f"ssh: 1 GiB by sftp, {kind}",
            f"{mib / figures[kind, 'own']:.0f} MiB/s",
            f"{_TRANSFERS} by turns",
            ratio=figures[kind, "bare"] / figures[kind, "own"],
            floor=f"{mib / figures[kind, 'bare']:.0f} MiB/s by sshd inside",
            goal=0.5,
            best="high",
        )
        for kind in ("get", "put")
    ]
    own_s, bare_s = figures["true", "own"], figures["true", "bare"]
    connect = Line(
        "ssh: connect and run true",
        f"{own_s * 1000:.0f} ms",
        f"{_COMMANDS} by turns",
        ratio=own_s / bare_s,
        floor=f"{bare_s * 1000:.0f} ms by sshd inside",
    )
    return [*lines, connect]


@asynccontextmanager
async def _container(key: Path) -> AsyncIterator[tuple[Engine, ContainerId, str]]:
    """A container with an sshd that the key opens, and a large file."""
    engine = DockerEngine(docker_url(), f"bench-{new_id()}")
    container = ContainerId(new_id())
    try:
        spec = ContainerSpec(container, _IMAGE, {"cpu": 2000, "mem": 1 << 30})
        observed = await engine.ensure(spec, lambda _: None)
        assert observed.address
        write = ("sh", "-c", "cat >key.pub")
        async with engine.exec(container, write, env={}, terminal=None) as stream:
            await stream.write(key.with_suffix(".pub").read_bytes())
            await stream.close_stdin()
            assert await stream.exit_code() == 0
        async with engine.exec(container, ("sh", "-c", _SSHD % (_BYTES, _PORT)), env={}, terminal=None):
            await _listening(observed.address)
            yield engine, container, observed.address
    finally:
        await engine.purge()
        await engine.close()


async def _listening(address: str) -> None:
    async with asyncio.timeout(60):
        while True:
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection(address, _PORT)
                writer.close()
                return
            await asyncio.sleep(0.1)


def _words(key: Path, host: str, port: int) -> list[str]:
    options = {
        "StrictHostKeyChecking": "no",
        "UserKnownHostsFile": "/dev/null",
        "IdentitiesOnly": "yes",
        "BatchMode": "yes",
        "LogLevel": "ERROR",
        "Port": str(port),
    }
    chosen = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
    return ["-F", "none", "-i", str(key), *chosen, f"work@{host}"]


async def _run(*words: str, given: bytes = b"") -> float:
    """Run a program; how long it took, in seconds."""
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        *words, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL
    )
    await process.communicate(given)
    if process.returncode:
        raise ChildProcessError(f"{words[0]} ended with {process.returncode}.")
    return time.perf_counter() - began
