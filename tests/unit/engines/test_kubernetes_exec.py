"""Processes in pods, against a small API server."""

import asyncio
import re
import socket
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import unquote_plus

import aiohttp.client_ws
import pytest
from aiohttp import web
from people import stops_growing
from tiny_api_server import TinyApiServer, exits, machine, run_here, running, status

from carrel.engines.kubernetes import KubernetesEngine, kubernetes_api, process_scripts
from carrel.engines.port import EngineUnavailable, TerminalSize

_PIECE = bytes(1 << 16)


@pytest.fixture
async def server() -> AsyncIterator[TinyApiServer]:
    async with TinyApiServer() as server:
        server.objects["api/v1/nodes/a"] = machine()
        server.objects["api/v1/namespaces/carrel/pods/carrel-lab-abc"] = running("abc")
        yield server


@pytest.fixture
async def engine(server: TinyApiServer) -> AsyncIterator[KubernetesEngine]:
    engine = KubernetesEngine(server.access(), "lab")
    yield engine
    await engine.close()


def kept(server: TinyApiServer) -> list[str]:
    """Files with variables that commands have left."""
    marks = set(re.findall(r"carrel-(\w+)", unquote_plus("".join(server.seen))))
    return [mark for mark in marks if Path(f"/dev/shm/.carrel-{mark}").exists()]


async def test_a_reader_may_pause_for_as_long_as_it_likes(
    server: TinyApiServer, engine: KubernetesEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    # aiohttp gives a peer up whose pong it has not read in time: at once here.
    monkeypatch.setattr(aiohttp.client_ws, "calculate_timeout_when", lambda now, *rest: now + 0.01)
    sent = []

    async def pour(request: web.Request, socket: web.WebSocketResponse) -> None:
        for _ in range(1000):
            await socket.send_bytes(b"\x01" + _PIECE)
            sent.append(1)
        await exits(socket, 3)

    server.on_exec = pour
    async with engine.exec("abc", ("cat",), env={}, terminal=None) as process:
        await stops_growing(lambda: len(sent))
        assert len(sent) < 1000
        output = [len(content) async for _, content in process.output()]
        assert sum(output) == 1000 * len(_PIECE)
        assert await process.exit_code() == 3


async def test_a_connection_that_carries_nothing_is_in_use(
    server: TinyApiServer, engine: KubernetesEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kubernetes_api, "PING_S", 0.01)

    async def wait_for_ping(request: web.Request, socket: web.WebSocketResponse) -> None:
        socket._autoping = False
        while (await socket.receive()).type is not web.WSMsgType.PING:
            pass
        await exits(socket, 4)

    server.on_exec = wait_for_ping
    async with asyncio.timeout(30), engine.exec("abc", ("true",), env={}, terminal=None) as process:
        assert [content async for content in process.output()] == []
        assert await process.exit_code() == 4


async def test_the_kernel_notices_that_the_server_is_gone(engine: KubernetesEngine) -> None:
    async with engine.exec("abc", ("true",), env={}, terminal=None) as process:
        connection = process._socket.get_extra_info("socket")  # type: ignore[attr-defined]
        assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 30


async def test_a_process_whose_connection_breaks_is_hung_up(
    server: TinyApiServer, engine: KubernetesEngine
) -> None:
    async def breaks(request: web.Request, socket: web.WebSocketResponse) -> None:
        server.on_exec = hung_up
        assert request.transport is not None
        request.transport.abort()

    async def hung_up(request: web.Request, socket: web.WebSocketResponse) -> None:
        await exits(socket)

    server.on_exec = breaks
    async with engine.exec("abc", ("cat",), env={}, terminal=None) as process:
        assert [piece async for piece in process.output()] == []
        assert await process.exit_code() == 137
    first, second = (unquote_plus(one) for one in server.seen if "/exec" in one)
    assert "kill -HUP" in second
    mark = re.search(r"CARREL_PROCESS=\w+", first)
    assert mark
    assert mark[0] in second


@pytest.mark.parametrize("terminal", [None, TerminalSize()])
async def test_variables_reach_a_command_and_no_address(
    server: TinyApiServer, engine: KubernetesEngine, terminal: TerminalSize | None
) -> None:
    server.on_exec = run_here
    env = {"SECRET": "a'b \"$HOME\n\tc\\ {é}", "LONG": "x" * 20_000, "carrel": "", "folder": "mine"}
    script = 'printf "<%s>" "$SECRET" "$LONG" "$folder" "$1"; env | grep -c ^carrel_; read line; echo "$line"'
    async with engine.exec("abc", ("sh", "-c", script, "sh", "w $x"), env=env, terminal=terminal) as process:
        await process.write(b"input\n")
        output = b"".join([piece async for _, piece in process.output()])
    assert output.decode() == f"<{env['SECRET']}><{env['LONG']}><mine><w $x>0\ninput\n"
    addresses = unquote_plus("\n".join(server.seen))
    assert not [value for value in env.values() if value and value in addresses]
    assert not kept(server)


async def test_a_command_does_not_run_without_its_variables(
    server: TinyApiServer, engine: KubernetesEngine
) -> None:
    server.on_exec = run_here
    words = process_scripts.reading(("echo", "ran"), "mark")
    done = subprocess.run(words, input=b"export A=1\n", capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (1, b"")


async def test_variables_of_a_terminal_that_does_not_open_are_deleted(
    server: TinyApiServer, engine: KubernetesEngine
) -> None:
    server.on_exec = run_here
    server.refuse = lambda request: status(503) if "tty=true" in request.path_qs else None
    with pytest.raises(EngineUnavailable):
        async with engine.exec("abc", ("sh",), env={"SECRET": "s"}, terminal=TerminalSize()):
            pass
    assert len([one for one in server.seen if "/exec" in one]) == 3
    assert not kept(server)
