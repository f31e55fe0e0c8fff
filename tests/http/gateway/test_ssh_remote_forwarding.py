"""What sessions reach of SSH clients: their ports and their agent, with OpenSSH's own programs."""

import asyncio
import contextlib
import os
import re
import signal
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import asyncssh
import pytest
from people import eventually
from ports import free_port
from sqlalchemy import text
from ssh_kit import BOUND_S, SshPort, run, ssh_port, ssh_port_of, world

from carrel.gateway import ssh_connections

__all__ = ["ssh_port", "world"]
_NO_CLIENT = ("-o", "ExitOnForwardFailure=yes", "-o", "LogLevel=INFO")


@pytest.fixture
async def key(ssh_port: SshPort) -> Path:
    """Of the user, who has a session train-3."""
    await ssh_port.world.session(name="train-3")
    made = ssh_port.key("laptop")
    await ssh_port.register(made)
    return made


@pytest.fixture
async def upper() -> AsyncIterator[int]:
    """A port of the client that answers each line in capitals."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            writer.write(line.upper())
            await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


@pytest.fixture
async def agent(ssh_port: SshPort, key: Path) -> AsyncIterator[dict[str, str]]:
    """The client's variables, with an agent that has the key."""
    started = await run(["ssh-agent", "-s"])
    printed = dict(re.findall(rb"(SSH_\w+)=([^;]+);", started.out))
    variables = {name.decode(): value.decode() for name, value in printed.items()}
    try:
        assert (await run(["ssh-add", "-q", str(key)], env=variables)).code == 0
        yield variables
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(variables["SSH_AGENT_PID"]), signal.SIGTERM)


async def noted(port: SshPort) -> list[dict[str, object]]:
    """In the audit trail."""
    async with port.world.database.transaction() as tx:
        rows = await tx.execute(text("SELECT details FROM audit WHERE action = 'session.exec'"))
        return list(rows.scalars())


def client(port: int, size: int = 1) -> str:
    """A command in the session: sends "hello" `size` times, and prints how often it comes back."""
    script = (
        "import socket, sys, threading\n"
        "while True:\n"
        "  try: end = socket.create_connection(('127.0.0.1', int(sys.argv[1]))); break\n"
        "  except OSError: threading.Event().wait(0.1)\n"
        f"threading.Thread(target=end.sendall, args=(b'hello\\n' * {size},)).start(); "
        f"print(sum(line == b'HELLO\\n' for _, line in zip(range({size}), end.makefile('rb'))))"
    )
    return f'python3 -c "{script}" {port}'


def forwarded(port: int, to: int) -> tuple[str, ...]:
    return ("-R", f"{port}:127.0.0.1:{to}", *_NO_CLIENT)


async def test_a_session_reaches_a_port_of_the_client(ssh_port: SshPort, key: Path, upper: int) -> None:
    port = free_port()
    command = f"{client(port, 100_000)}; {client(port)}"
    ran = await ssh_port.ssh(key, "train-3", command, options=forwarded(port, upper))
    assert (ran.code, ran.out) == (0, b"100000\n1\n"), ran.err
    assert {"ssh": "remote_port", "port": port} in await noted(ssh_port)
    # It ends with its connection.
    await eventually(lambda: closed(port))


async def closed(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except ConnectionRefusedError:
        return True
    writer.close()
    return False


async def test_a_free_port_is_chosen_and_named(ssh_port: SshPort, key: Path, upper: int) -> None:
    words = ["ssh", *ssh_port.options(key, "-N", *forwarded(0, upper)), "train-3@127.0.0.1"]
    waiting = await asyncio.create_subprocess_exec(*words, stderr=asyncio.subprocess.PIPE)
    assert waiting.stderr
    line = await asyncio.wait_for(waiting.stderr.readline(), BOUND_S)
    assert re.match(rb"Allocated port [1-9]\d* for remote forward", line), line
    waiting.kill()
    await waiting.communicate()


async def test_a_port_that_is_in_use_is_refused(ssh_port: SshPort, key: Path, upper: int) -> None:
    ran = await ssh_port.ssh(key, "train-3", options=("-N", *forwarded(upper, upper)))
    assert (ran.code, "remote port forwarding failed" in ran.err) == (255, True)


async def test_a_port_of_the_client_that_does_not_answer_ends_the_connection(
    ssh_port: SshPort, key: Path
) -> None:
    # Much is sent that nobody reads.
    with socket.socket() as bound:  # and not listening, so that nobody else gets the port
        bound.bind(("127.0.0.1", 0))
        port, nobody = free_port(), bound.getsockname()[1]
        ran = await ssh_port.ssh(
            key, "train-3", f"{client(port, 100_000)}; echo over", options=forwarded(port, nobody)
        )
    assert b"over" in ran.out


async def test_listeners_count_as_channels(
    ssh_port: SshPort, key: Path, upper: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ssh_connections, "MAX_CHANNELS", 1)
    options = asyncssh.SSHClientConnectionOptions(
        username="train-3", client_keys=[str(key)], known_hosts=None, config=None
    )
    async with asyncssh.connect("127.0.0.1", ssh_port.port, options=options) as client:
        listener = await client.forward_remote_port("", 0, "127.0.0.1", upper)
        with pytest.raises(asyncssh.ChannelListenError):
            await client.forward_remote_port("", 0, "127.0.0.1", upper)
        # One that has closed does not count.
        listener.close()

        async def another() -> bool:
            with contextlib.suppress(asyncssh.ChannelListenError):
                await client.forward_remote_port("", 0, "127.0.0.1", upper)
                return True
            return False

        await eventually(another)


async def test_a_session_uses_the_agent_of_the_client(
    ssh_port: SshPort, key: Path, agent: dict[str, str]
) -> None:
    words = ["ssh", *ssh_port.options(key, "-A"), "train-3@127.0.0.1"]
    command = "ssh-add -l && dirname $SSH_AUTH_SOCK && stat -c %a $(dirname $SSH_AUTH_SOCK)"
    ran = await run([*words, command], env=agent)
    listed, folder, mode = ran.out.decode().splitlines()
    assert "laptop" in listed
    assert mode == "700"
    assert {"ssh": "agent"} in await noted(ssh_port)
    await eventually(lambda: not Path(folder).exists() or None)
    # Unless the client offers it.
    without = ["ssh", *ssh_port.options(key, "-a"), "train-3@127.0.0.1", "echo [$SSH_AUTH_SOCK]"]
    assert (await run(without, env=agent)).out == b"[]\n"


async def test_both_can_be_disabled(ssh_port: SshPort, key: Path, agent: dict[str, str], upper: int) -> None:
    folder = ssh_port.folder
    async with ssh_port_of(ssh_port.world, folder, port_forwarding=False, agent_forwarding=False) as strict:
        ran = await strict.ssh(key, "train-3", options=("-N", *forwarded(0, upper)))
        assert (ran.code, "remote port forwarding failed" in ran.err) == (255, True)
        words = ["ssh", *strict.options(key, "-A"), "train-3@127.0.0.1", "echo [$SSH_AUTH_SOCK]"]
        assert (await run(words, env=agent)).out == b"[]\n"
