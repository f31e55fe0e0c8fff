"""The command against the real application."""

import asyncio
import json
import os
import signal
import socket
from pathlib import Path

import pytest
from command_line import CommandLine, command_line
from installation import Api
from people import PASSWORD, eventually

_SMALL = ("--cpu", "0.1", "--mem", "64m", "--image", "debian:12")


@pytest.fixture
async def user(living: Api, tmp_path: Path) -> CommandLine:
    """The command line of an ordinary user."""
    return await command_line(living, "user", tmp_path)


async def _running(user: CommandLine, name: str = "train-3") -> str:
    return (
        await user.ok("session", "create", *_SMALL, "--name", name, "--env", "A=b c", "--wait", "-q")
    ).strip()


async def test_a_session_is_started_found_used_and_ended(user: CommandLine) -> None:
    started = await user.run("session", "create", *_SMALL, "--name", "train-3", "--wait", "-o", "json")
    assert started.code == 0, started.stderr
    session = json.loads(started.stdout)
    assert (session["name"], session["state"]) == ("train-3", "RUNNING")
    for ref in (session["id"], session["id"][:6], "train-3"):
        assert (await user.as_json("session", "show", ref))["id"] == session["id"]
    assert session["id"] in await user.ok("session", "ls")
    assert "now train-4" in await user.ok("session", "rename", "train-3", "train-4")
    assert "RUNNING" in await user.ok("session", "history", "train-4")
    assert "train-4 is kept" in await user.ok("session", "keep", "train-4")
    assert "policy.forbidden" in (await user.run("session", "keep", "train-4", "--always")).stderr
    await user.ok("session", "usage", "train-4")
    await user.ok("session", "logs", "train-4")
    await user.ok("app", "ls", "train-4")
    await user.ok("resources")
    await user.ok("image", "ls")
    assert "user@example.org" in await user.ok("whoami")
    assert "is TERMINATED" in await user.ok("session", "rm", "--yes", "train-4", "--wait")
    assert await user.ok("session", "ls", "-q") == ""
    assert await user.ok("session", "ls", "-q", "--ended") == session["id"] + "\n"
    assert "TERMINATED" in await user.ok("events")


async def test_a_command_has_its_own_streams_environment_and_exit_code(user: CommandLine) -> None:
    await _running(user)
    script = "echo $A $B; echo wrong >&2; exit 7"
    done = await user.run("session", "exec", "train-3", "--env", "B=d", "--", "sh", "-c", script)
    assert (done.code, done.stdout, done.stderr) == (7, b"b c d\n", "wrong\n")


async def test_a_command_that_is_not_there_is_a_sentence_on_stderr_and_127(user: CommandLine) -> None:
    await _running(user)
    done = await user.run("session", "exec", "train-3", "--", "nosuchcmd", "-x")
    assert (done.code, done.stdout) == (127, b"")
    assert done.stderr == "There is no command nosuchcmd in this session.\n"
    assert (await user.run("session", "exec", "train-3", "--", "/etc/passwd")).code == 126


async def test_ten_megabytes_go_through_a_command_and_back(user: CommandLine) -> None:
    await _running(user)
    content = os.urandom(1 << 20) * 10
    done = await user.run("session", "exec", "-i", "train-3", "--", "cat", stdin=content)
    assert done.code == 0, done.stderr
    assert done.stdout == content


@pytest.mark.parametrize("option", [[], ["-i"]])
async def test_a_command_without_input_sees_the_end_of_it(option: list[str], user: CommandLine) -> None:
    await _running(user)
    process = await user.start("session", "exec", *option, "train-3", "--", "cat")
    assert await asyncio.wait_for(process.wait(), 20) == 0


async def test_standard_input_is_left_alone_without_an_option_for_it(user: CommandLine) -> None:
    await _running(user)
    read, write = os.pipe()
    os.write(write, b"for the loop\n")
    os.close(write)
    process = await user.start("session", "exec", "train-3", "--", "cat", stdin=read)
    stdout, _ = await asyncio.wait_for(process.communicate(), 20)
    assert (process.returncode, stdout) == (0, b"")
    assert os.read(read, 100) == b"for the loop\n"
    os.close(read)


async def test_a_terminal_for_a_command_needs_one_here(user: CommandLine) -> None:
    await _running(user)
    done = await user.run("session", "exec", "-it", "train-3", "--", "cat")
    assert (done.code, "client.no_terminal" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("session show nosuch", 4, "(session.not_found)"),
        ("session exec nosuch -- true", 4, "(session.not_found)"),
        ("session create --mem 900p --image debian:12", 1, "(session.too_large)"),
        ("session create --name x --image debian:12", 1, "(invalid.request)"),
        ("app open train-3 nosuch", 4, "(app.not_found)"),
    ],
)
async def test_a_no_of_the_server_is_an_exit_code_and_a_sentence(
    words: str, code: int, message: str, user: CommandLine
) -> None:
    await _running(user)
    done = await user.run(*words.split())
    assert (done.code, done.stdout) == (code, b"")
    assert done.stderr.startswith("error: ")
    assert message in done.stderr


async def test_entering_what_is_not_there_says_what_looking_at_it_says(user: CommandLine) -> None:
    shown = await user.run("session", "show", "nosuch")
    assert "hint: " in shown.stderr
    assert (await user.run("session", "exec", "nosuch", "--", "true")).stderr == shown.stderr


async def test_a_session_of_somebody_else_is_not_found(
    living: Api, user: CommandLine, tmp_path: Path
) -> None:
    session = await _running(user)
    stranger = await command_line(living, "stranger", tmp_path)
    for words in (
        ("show", session),
        ("exec", session, "--", "true"),
        ("rm", "--yes", session),
        ("logs", session),
    ):
        assert (await stranger.run("session", *words)).code == 4


async def test_an_image_that_does_not_exist_ends_the_wait_with_its_reason(
    living: Api, user: CommandLine
) -> None:
    living.engine.world.unknown_images.add("nosuch:1")
    done = await user.run(
        "session", "create", "--cpu", "0.1", "--mem", "64m", "--image", "nosuch:1", "--wait"
    )
    assert done.code == 1
    assert "did not start" in done.stderr
    assert "nosuch:1" in done.stderr


async def test_a_keypair_that_nobody_knows_is_not_signed_in(user: CommandLine) -> None:
    user.environment["CARREL_SECRET_KEY"] = "wrong"
    done = await user.run("session", "ls")
    assert done.code == 3
    assert "(auth.bad_keypair)" in done.stderr


async def test_signing_in_by_password_works_until_signing_out(living: Api, tmp_path: Path) -> None:
    guest = CommandLine({"PATH": os.environ["PATH"], "HOME": str(tmp_path)})
    login = ("login", living.url, "--email", "user@example.org", "--password-stdin")
    wrong = await guest.run(*login, stdin=b"wrong\n")
    assert wrong.code == 3
    await guest.ok(*login, stdin=PASSWORD.encode())
    assert (tmp_path / ".config/carrel/profiles/default.json").stat().st_mode & 0o777 == 0o600
    assert "user@example.org" in await guest.ok("whoami")
    assert len((await guest.as_json("keypair", "ls"))["items"]) == 1
    made = await guest.as_json("keypair", "create")
    await guest.ok("keypair", "rm", "--yes", made["access_key"])
    await guest.ok("logout")
    assert (await guest.run("whoami")).code == 3


async def test_followed_events_are_one_object_for_each_line(user: CommandLine) -> None:
    follower = await user.start("events", "--follow", "-o", "json")
    assert follower.stdout
    process = await user.start("session", "create", *_SMALL, "--name", "watched", "--wait")
    try:
        states: list[str] = []
        while "RUNNING" not in states:
            line = await asyncio.wait_for(follower.stdout.readline(), 20)
            event = json.loads(line)
            if event["data"].get("name") == "watched":
                states.append(event["data"]["state"])
    finally:
        follower.terminate()
        await follower.wait()
        await process.wait()


async def test_following_a_log_ends_with_the_session(user: CommandLine) -> None:
    session = await _running(user)
    follower = await user.start("session", "logs", session, "--follow")
    await user.ok("session", "rm", "--yes", session, "--force")
    assert await asyncio.wait_for(follower.wait(), 20) == 0


async def _fill(user: CommandLine) -> tuple[str, ...]:
    """The words that ask for all there is, after a first session took it."""

    async def capacity() -> int:
        """The node counts once it is READY."""
        return (await user.as_json("resources"))["capacity"]["cpu"]  # type: ignore[no-any-return]

    cpu = await eventually(capacity)
    everything = ("session", "create", *_SMALL, "--cpu", f"{cpu}m", "--wait", "--name")
    await user.ok(*everything, "first")
    return everything


async def test_an_interrupted_wait_leaves_the_session_and_says_so(user: CommandLine) -> None:
    waiter = await user.start(*await _fill(user), "second")
    assert waiter.stderr
    assert b"PENDING" in await asyncio.wait_for(waiter.stderr.readline(), 20)
    waiter.send_signal(signal.SIGINT)
    assert await asyncio.wait_for(waiter.wait(), 20) == 130
    assert b"keeps running" in await waiter.stderr.read()
    assert "PENDING" in await user.ok("session", "show", "second")


async def test_a_wait_ends_with_its_timeout(user: CommandLine) -> None:
    done = await user.run(*await _fill(user), "second", "--timeout", "1s")
    assert done.code == 5
    assert "(client.wait_timeout)" in done.stderr


async def test_a_server_that_takes_its_time_is_waited_for_visibly(user: CommandLine) -> None:
    """A listener that accepts and says nothing, as one does that is overloaded."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        user.environment["CARREL_URL"] = url
        async with user.in_terminal("session", "ls") as screen:
            await screen.until(f"Waiting for {url}".encode())


async def test_asking_before_ending_takes_no_for_an_answer(user: CommandLine) -> None:
    await _running(user)
    for answer, expected in ((b"\r", b"[y/N]"), (b"y\r", b"is TERMINATING")):
        async with user.in_terminal("session", "rm", "train-3") as screen:
            await screen.until(b"End train-3")
            await screen.press(answer)
            assert await screen.ended() == (1 if answer == b"\r" else 0)
            await screen.until(expected)
        assert ("TERMINAT" in await user.ok("session", "show", "train-3")) is (expected == b"is TERMINATING")


async def test_waiting_in_a_terminal_moves_one_line_and_ends_with_the_session(user: CommandLine) -> None:
    words = ("session", "create", *_SMALL, "--name", "train-4", "--wait")
    async with user.in_terminal(*words, cols=40) as screen:
        assert await screen.ended() == 0
        await screen.until(b"\x1b[K")
        await screen.until(b"RUNNING")
