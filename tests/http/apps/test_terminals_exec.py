"""Commands over a WebSocket: both streams, end of input, exit codes, and refusals."""

import asyncio
import json
from typing import Any

import pytest
from access_kit import World, world
from people import eventually
from websockets.exceptions import ConnectionClosed

__all__ = ["world"]


async def run(
    world: World, session: str, start: dict[str, Any], *inputs: bytes | str
) -> tuple[bytes, bytes, int | None, ConnectionClosed]:
    """What came on stdout and stderr, the exit code, and how it closed."""
    streams = {1: b"", 2: b""}
    code = None
    async with world.connect(f"{session}/exec") as socket:
        await socket.send(json.dumps(start))

        async def feed() -> None:
            for piece in inputs:
                await socket.send(piece)

        feeding = asyncio.create_task(feed())
        try:
            while True:
                message = await asyncio.wait_for(socket.recv(), 20)
                if isinstance(message, bytes):
                    streams[message[0]] += message[1:]
                else:
                    code = json.loads(message)["code"]
        except ConnectionClosed as closed:
            feeding.cancel()
            return streams[1], streams[2], code, closed


EOF = '{"type":"eof"}'


async def test_streams_stay_apart_and_the_exit_code_arrives(world: World) -> None:
    session = await world.session()
    command = {"command": ["sh", "-c", "echo out; echo $WORD >&2; exit 3"], "env": {"WORD": "err"}}
    out, err, code, closed = await run(world, session, command)
    assert (out, err, code) == (b"out\n", b"err\n", 3)
    assert closed.rcvd is not None
    assert closed.rcvd.code == 1000


async def test_input_ends_when_the_client_says_so(world: World) -> None:
    session = await world.session()
    out, _, code, _ = await run(world, session, {"command": ["sort"]}, b"b\n", b"a\n", EOF)
    assert (out, code) == (b"a\nb\n", 0)


async def test_ten_megabytes_both_ways_at_once(world: World) -> None:
    session = await world.session()
    pieces = [bytes([number]) * 65536 for number in range(160)]
    out, _, code, _ = await run(world, session, {"command": ["cat"]}, *pieces, EOF)
    assert code == 0
    assert out == b"".join(pieces)


async def test_command_that_is_not_there_ends_with_127(world: World) -> None:
    session = await world.session()
    _, _, code, _ = await run(world, session, {"command": ["sh", "-c", "no-such-word"]})
    assert code == 127


async def test_terminal_on_request_has_the_size_asked_for(world: World) -> None:
    session = await world.session()
    out, _, code, _ = await run(
        world, session, {"command": ["stty", "size"], "tty": True, "cols": 33, "rows": 11}
    )
    assert (out, code) == (b"11 33\r\n", 0)


@pytest.mark.parametrize(
    "start",
    [
        {"command": []},
        {"command": "ls"},
        {"command": ["ls"], "env": {"1BAD": "x"}},
        {"command": ["ls"], "cols": 0},
        {"command": ["ls"], "surprise": 1},
    ],
)
async def test_request_that_makes_no_sense_says_so(world: World, start: dict[str, Any]) -> None:
    session = await world.session()
    *_, code, closed = await run(world, session, start)
    assert code is None
    assert closed.rcvd is not None
    assert closed.rcvd.code == 4422
    assert json.loads(closed.rcvd.reason)["code"] == "invalid.command"


async def test_client_that_leaves_ends_the_input_of_its_command(world: World) -> None:
    session = await world.session()
    mark = world.engine.home / "ended"
    async with world.connect(f"{session}/exec") as socket:
        await socket.send(json.dumps({"command": ["sh", "-c", f"trap '' HUP; cat; touch {mark}"]}))
        await socket.send(b"hello")
        assert await socket.recv() == b"\x01hello"
    await eventually(mark.exists)
