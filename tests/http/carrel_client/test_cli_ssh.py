"""`carrel ssh` and its kin, with OpenSSH's own programs, against the real application."""

import asyncio
import base64
import json
import os
import re
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from access_kit import World, world
from command_line import CommandLine, as_keypair
from ssh_kit import SshPort, run, ssh_port

__all__ = ["ssh_port", "world"]


@pytest.fixture
async def user(world: World, tmp_path: Path) -> CommandLine:
    """The owner of a session train-3."""
    await world.session(name="train-3")
    token = world.authorization()["Authorization"].removeprefix("Basic ")
    access_key, _, secret_key = base64.b64decode(token).decode().partition(":")
    return as_keypair(world.url, (access_key, secret_key), tmp_path)


@pytest.fixture
async def upper(user: CommandLine) -> AsyncIterator[int]:
    """A server on loopback that answers a line in capitals; its port."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            writer.write(line.upper())
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, limit=1 << 22)
    yield server.sockets[0].getsockname()[1]
    server.close()


async def test_ssh_and_sftp_need_no_key(user: CommandLine, world: World, tmp_path: Path) -> None:
    done = await user.run("ssh", "train-3", "--", "cat; echo err >&2; exit 4", stdin=b"through")
    assert (done.code, done.stdout, done.stderr) == (4, b"through", "err\n")
    (world.engine.home / "result").write_text("42")
    back = tmp_path / "back"
    done = await user.run("sftp", "train-3", "-b", "-", stdin=f"get result {back}\n".encode())
    assert (done.code, back.read_text()) == (0, "42"), done.stderr


async def test_ports_and_the_agent_of_the_client_are_forwarded(user: CommandLine, upper: int) -> None:
    async with await asyncio.start_server(lambda *_: None, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
    script = (
        f"until exec 3<>/dev/tcp/127.0.0.1/{port}; do :; done 2>/dev/null; echo hello >&3; head -n 1 <&3; "
        "test -S $SSH_AUTH_SOCK && echo agent"
    )
    started = await run(["ssh-agent", "-s"])
    variables = dict(re.findall(r"(SSH_\w+)=([^;]+);", started.out.decode()))
    user.environment["SSH_AUTH_SOCK"] = variables["SSH_AUTH_SOCK"]
    try:
        options = ("-R", f"{port}:127.0.0.1:{upper}", "-A")
        done = await user.run("ssh", "train-3", *options, "--", f"bash -c '{script}'")
    finally:
        os.kill(int(variables["SSH_AGENT_PID"]), signal.SIGTERM)
    assert (done.code, done.stdout) == (0, b"HELLO\nagent\n"), done.stderr


async def test_somebody_elses_session_is_not_found(user: CommandLine, world: World) -> None:
    await world.session(name="secret", owner=world.people.stranger)
    done = await user.run("ssh", "secret", "--", "true")
    assert done.code == 255
    assert "There is no session secret" in done.stderr


async def test_the_configuration_makes_plain_ssh_and_rsync_work(
    user: CommandLine, world: World, tmp_path: Path
) -> None:
    home = tmp_path / "person"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "config").write_text("Host other\n  Port 2222\n")
    user.environment["HOME"] = str(home)
    for _ in range(2):  # twice includes it once
        await user.ok("ssh-config")
    config = (home / ".ssh" / "config").read_text()
    assert config == "Include carrel.config\n\nHost other\n  Port 2222\n"
    plain = ["-F", str(home / ".ssh" / "carrel.config")]
    assert (home / ".ssh" / "carrel.config").stat().st_mode & 0o777 == 0o600, (
        "ssh refuses what others may write"
    )
    resolved = await run(["ssh", *plain, "-G", "carrel.x'y"], env=user.environment)
    assert b"proxycommand" not in resolved.out, "a name that would end the quotes"
    done = await run(["ssh", *plain, "carrel.train-3", "echo plain"], env=user.environment)
    assert (done.code, done.out) == (0, b"plain\n"), done.err
    source = tmp_path / "data"
    source.write_bytes(bytes(range(256)) * 4096)
    done = await run(
        ["rsync", "-e", " ".join(["ssh", *plain]), str(source), "carrel.train-3:data"], env=user.environment
    )
    assert (done.code, (world.engine.home / "data").read_bytes()) == (0, source.read_bytes()), done.err


async def test_hosts_of_the_ssh_port_name_their_sessions_by_id(user: CommandLine, world: World) -> None:
    session = await world.session(name="by-id")
    printed = await user.as_json("ssh-config", "--direct", "--print", "by-id")
    assert f"Host carrel.by-id\n  User {session}\n" in printed["config"]


async def test_a_certificate_opens_the_ssh_port(user: CommandLine, ssh_port: SshPort) -> None:
    key = ssh_port.key("work")
    assert (await ssh_port.ssh(key, "train-3", "true")).code == 255
    beside = key.with_name(f"{key.name}-cert.pub")
    beside.write_text("ssh-ed25519-cert-v01@openssh.com AAAA of another authority\n")
    refused = await user.run("ssh-cert", "--key", str(key))
    assert (refused.code != 0, "another authority" in refused.stderr) == (True, True), refused
    beside.unlink()
    made = json.loads(await user.ok("ssh-cert", "--key", str(key), "--lifetime", "5m", "-o", "json"))
    assert made["file"] == f"{key}-cert.pub"
    assert (await ssh_port.ssh(key, "train-3", "echo in")).out == b"in\n"


async def test_a_local_port_leads_to_a_port_of_the_session(user: CommandLine, upper: int) -> None:
    process = await user.start("port-forward", "train-3", f"0:{upper}", "-o", "json")
    try:
        assert process.stdout
        opened = json.loads(await asyncio.wait_for(process.stdout.readline(), 60))
        for word in (b"one\n", b"x" * (1 << 20) + b"\n"):
            reader, writer = await asyncio.open_connection("127.0.0.1", opened["port"], limit=1 << 22)
            writer.write(word)
            assert await asyncio.wait_for(reader.readline(), 60) == word.upper()
            writer.write_eof()
            assert await asyncio.wait_for(reader.read(), 60) == b""
            writer.close()
    finally:
        process.kill()
        await process.wait()
