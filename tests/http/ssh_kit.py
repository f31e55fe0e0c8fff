"""An SSH port over an engine with real processes, and OpenSSH's own programs as its clients."""

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from access_kit import World, world
from installation import only

from carrel.apps.container_engines import ContainerEngines
from carrel.core.clock import SystemClock
from carrel.db.encryption import SecretBox
from carrel.db.listener import Listener
from carrel.gateway.ssh_access import SshAccess
from carrel.gateway.ssh_listener import SshListener, SshServer
from carrel.http.guard import ConnectionLimit
from carrel.permissions.decide import Actor
from carrel.signin.keypairs import ssh_identity, ssh_keys
from carrel.usage.idle.activity import Activity

BOUND_S = 120.0


@dataclass
class Ran:
    code: int
    out: bytes
    err: str


@dataclass
class SshPort:
    """A port that is open. folder: of keys and files of its clients."""

    port: int
    world: World
    folder: Path
    server: SshServer
    access: SshAccess

    def key(self, name: str) -> Path:
        """A new pair; the path of its private key."""
        path = self.folder / name
        make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(path)]
        subprocess.run(make, check=True, capture_output=True)
        return path

    async def register(self, key: Path, actor: Actor | None = None) -> str:
        """Add the key to those of the user; its id."""
        async with self.world.database.transaction() as tx:
            made = await ssh_keys.add(
                tx,
                SystemClock(),
                actor or self.world.people.user,
                name=key.name,
                public_key=key.with_suffix(".pub").read_text(),
            )
            return made.key.id

    def options(self, key: Path, *more: str) -> list[str]:
        """Options of all programs; the host key must be the installation's."""
        known = self.folder / "known_hosts"
        line = ssh_identity.public_line(ssh_identity.host_key(SecretBox(self.world.settings.key())))
        known.write_text(f"carrel {line}\n")
        settings = {
            "HostKeyAlias": "carrel",
            "UserKnownHostsFile": str(known),
            "StrictHostKeyChecking": "yes",
            "IdentitiesOnly": "yes",
            "BatchMode": "yes",
            "LogLevel": "ERROR",
            "Port": str(self.port),
        }
        chosen = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
        return ["-F", "none", "-i", str(key), *more, *chosen]

    async def ssh(
        self, key: Path, user: str, *command: str, options: tuple[str, ...] = (), given: bytes = b""
    ) -> Ran:
        return await run(["ssh", *self.options(key, *options), f"{user}@127.0.0.1", *command], given=given)


async def run(words: list[str], *, given: bytes = b"", env: dict[str, str] | None = None) -> Ran:
    """Run a program to its end."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *words, stdin=pipe, stdout=pipe, stderr=pipe, env={**os.environ, **(env or {})}
    )
    try:
        out, err = await asyncio.wait_for(process.communicate(given), BOUND_S)
    except BaseException:
        process.kill()
        raise
    assert process.returncode is not None
    return Ran(process.returncode, out, err.decode(errors="replace"))


@asynccontextmanager
async def ssh_port_of(
    world: World, folder: Path, *, port_forwarding: bool = True, agent_forwarding: bool = True
) -> AsyncIterator[SshPort]:
    listener = Listener(world.database.url)
    clock = SystemClock()
    access = SshAccess(world.database, clock, listener)
    engines = ContainerEngines(world.database, only(world.database, world.engine))
    server = SshServer(
        access,
        Activity(world.database, clock),
        SecretBox(world.settings.key()),
        engines.of,
        port_forwarding=port_forwarding,
        agent_forwarding=agent_forwarding,
    )
    port = SshListener(server, ConnectionLimit(50))
    tasks = [asyncio.create_task(work) for work in (listener.run(), access.watch())]
    try:
        number = port.start("127.0.0.1", 0)
        assert number
        await listener.connected.wait()
        yield SshPort(number, world, folder, server, access)
    finally:
        await port.close()
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


@pytest.fixture
async def ssh_port(world: World, tmp_path: Path) -> AsyncIterator[SshPort]:
    folder = tmp_path / "ssh"
    folder.mkdir()
    async with ssh_port_of(world, folder) as port:
        yield port


__all__ = ["BOUND_S", "Ran", "SshPort", "run", "ssh_port", "ssh_port_of", "world"]
