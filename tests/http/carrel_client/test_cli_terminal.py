"""The command in a terminal, against the real application."""

import base64
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from access_kit import World, world
from command_line import CommandLine, Line, Screen, as_keypair

from carrel.core.ids import SessionId

__all__ = ["world"]


@pytest.fixture
async def line(world: World) -> AsyncIterator[Line]:
    """A network line to the server that can be cut."""
    line = Line(int(world.url.rpartition(":")[2]))
    await line.connect()
    yield line
    await line.cut()


@pytest.fixture
async def session(world: World) -> SessionId:
    """A running session called train-3."""
    return await world.session(name="train-3")


@pytest.fixture
async def user(world: World, line: Line, session: SessionId, tmp_path: Path) -> CommandLine:
    """The owner of that session, behind that line."""
    token = world.authorization()["Authorization"].removeprefix("Basic ")
    access_key, _, secret_key = base64.b64decode(token).decode().partition(":")
    return as_keypair(f"http://127.0.0.1:{line.port}", (access_key, secret_key), tmp_path)


async def _prompted(screen: Screen) -> None:
    """Wait until the shell answers; what its prompt looks like is its own business."""
    await screen.press(b"echo pro''mpt\r")
    await screen.until(b"prompt\r\n")


async def test_a_terminal_is_raw_follows_the_window_and_ends_with_the_shell(user: CommandLine) -> None:
    async with user.in_terminal("session", "terminal", "train-3", cols=100, rows=30) as screen:
        await _prompted(screen)
        assert screen.raw
        await screen.press(b"stty size\r")
        await screen.until(b"30 100")
        screen.resize(132, 43)
        # The shell hears of its size apart from what is typed.
        await screen.press(b'until [ "$(stty size)" = "43 132" ]; do sleep .05; done; echo re""sized\r')
        await screen.until(b"resized")
        await screen.press(b"exit 5\r")
        assert await screen.ended() == 5
        assert not screen.raw


async def test_a_terminal_comes_back_after_the_line_was_cut(user: CommandLine, line: Line) -> None:
    async with user.in_terminal("session", "terminal", "train-3") as screen:
        await _prompted(screen)
        await screen.press(b"echo be''fore\r")
        await screen.until(b"before\r\n")
        await line.cut()
        await screen.until(b"connection lost")
        await line.connect()
        await screen.until(b"connected again")
        await screen.press(b"echo af''ter\r")
        await screen.until(b"after\r\n")
        assert b"before" not in screen.shown
        await screen.press(b"exit\r")
        assert await screen.ended() == 0


async def test_a_person_can_leave_a_lost_terminal(user: CommandLine, line: Line) -> None:
    async with user.in_terminal("session", "terminal", "train-3") as screen:
        await _prompted(screen)
        await line.cut()
        await screen.until(b"connection lost")
        await screen.press(b"\x03")
        assert await screen.ended() == 0
        assert not screen.raw


async def test_a_terminal_that_was_left_can_be_found_again(user: CommandLine) -> None:
    async with user.in_terminal("session", "terminal", "train-3") as screen:
        await _prompted(screen)
        await screen.press(b"echo fi''rst\r")
        await screen.until(b"first\r\n")
        await screen.press(b"\r~.")
        await screen.until(b"--attach ")
        assert await screen.ended() == 0
        terminal = screen.shown.split()[0].decode()
    async with user.in_terminal("session", "terminal", "train-3", "--attach", terminal) as screen:
        await screen.until(b"first")
        await screen.press(b"exit 3\r")
        assert await screen.ended() == 3


async def test_a_terminal_says_when_its_session_has_ended(
    user: CommandLine, world: World, session: SessionId
) -> None:
    async with user.in_terminal("session", "terminal", "train-3") as screen:
        await _prompted(screen)
        await world.terminate(session)
        await screen.until(b"(session.not_running)")
        assert await screen.ended() == 1
        assert not screen.raw


async def test_a_megabyte_can_be_pasted(user: CommandLine) -> None:
    async with user.in_terminal("session", "exec", "-it", "train-3", "--", "cat") as screen:
        for _ in range(16):
            await screen.press(b"x" * 65535 + b"\r")
        await screen.press(b"the end\r")
        await screen.until(b"the end")
        await screen.press(b"\x04")
        assert await screen.ended() == 0
