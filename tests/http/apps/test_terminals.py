"""Terminals over a real server, real shells and real network breaks."""

import os
import re

import pytest
from access_kit import World, world
from people import PASSWORD, eventually, stops_growing
from session_kit import main_of
from terminal_kit import Client, refusal, terminal
from websockets.asyncio.client import connect

from carrel.apps import terminals
from carrel.apps.buffer import OutputBuffer
from carrel.core.ids import SessionId
from carrel.tables.tenancy import User

__all__ = ["world"]


async def left_alone(world: World, session: SessionId, command: str) -> tuple[Client, OutputBuffer]:
    """A client that was cut off once its shell had this command, and what is kept of the shell's output."""
    async with terminal(world, session) as client:
        # One line: what it prints shows that the shell has all of it.
        await client.type(f"stty -echo; echo go''; {command}\n")
        await client.until(b"go\r\n")
        client.socket.transport.abort()
    left = world.terminals.find(client.terminal, main_of(session), world.people.user.user_id)
    assert left
    return client, left.buffer


async def test_shell_runs_with_its_size_and_its_exit_code_arrives(world: World) -> None:
    session = await world.session()
    async with terminal(world, session, "?cols=91&rows=17") as client:
        assert client.messages[-1]["offset"] == 0
        await client.type("stty size; echo $TERM $LANG\n")
        await client.until(b"17 91\r\nxterm-256color C.UTF-8")
        await client.socket.send('{"type":"resize","cols":100,"rows":40}')
        await client.type("stty size\n")
        await client.until(b"40 100")
        await client.type("exit 7\n")
        closed = await client.end()
    assert client.messages[-1] == {"type": "exit", "code": 7}
    assert closed.rcvd is not None
    assert closed.rcvd.code == 1000
    assert not re.match(rb"^\d+\r\n", client.output), "the shell's process id is nobody's business"


@pytest.mark.parametrize(
    ("liked", "gets"), [("dash", b"I am dash"), ("no-such-shell", b"I am bash"), (None, b"I am bash")]
)
async def test_shell_is_the_one_that_its_owner_likes_where_there_is_such(
    world: World, liked: str | None, gets: bytes
) -> None:
    async with world.database.transaction() as tx:
        (await tx.get_one(User, world.people.user.user_id)).preferences = {"shell": liked}
    session = await world.session()
    async with terminal(world, session) as client:
        await client.type("echo I am $(cat /proc/$$/comm)$CARREL_SHELL.\n")
        await client.until(gets + b".\r\n")


async def test_eager_typing_does_not_get_before_the_shells_first_words(world: World) -> None:
    session = await world.session()
    for _ in range(5):
        async with world.connect(f"{session}/terminal") as socket:
            client = Client(socket)
            await client.type("echo pid=$$.\n")
            while not (match := re.search(rb"pid=(\d+)\.", client.output)):
                await client.step()
        [terminal] = [t for t in running_terminals(world) if t.pid == int(match[1])]
        assert b"\n%d\r\n" % terminal.pid not in b"\n" + client.output


def running_terminals(world: World) -> list[terminals.Terminal]:
    return list(world.terminals._terminals.values())


async def test_broken_connection_goes_on_where_it_stopped(world: World) -> None:
    session = await world.session()
    async with terminal(world, session) as client:
        await client.type("stty -echo; PS1=; echo read''y\n")
        await client.until(b"ready\r\n")
        await client.type("while read word; do seq 1 2000; echo end-$word; done\n")
        await client.type("one\n")
        await client.until(b"end-one\r\n")
        client.socket.transport.abort()
    # Written while nobody watches: by another process, so that the shell itself need not be asked.
    seen = client.output
    same = f"?terminal={client.terminal}"
    async with terminal(world, session, f"{same}&offset={len(seen)}") as again:
        assert again.messages == [{"type": "ready", "terminal": client.terminal, "offset": len(seen)}]
        await again.type("two\n")
        await again.until(b"end-two\r\n")
        middle = len(seen) + 1000
        again.socket.transport.abort()
    async with terminal(world, session, f"{same}&offset={middle}") as third:
        assert third.messages[-1]["offset"] == middle
        await third.until(b"end-two\r\n")
    assert third.output == (seen + again.output)[middle:]


async def test_unknown_terminal_is_gone_and_a_fresh_one_starts(world: World) -> None:
    session = await world.session()
    async with terminal(world, session, "?terminal=abcdefghijkl&offset=5") as client:
        pass
    assert [message["type"] for message in client.messages] == ["gone", "ready"]
    assert client.messages[-1]["offset"] == 0


async def test_terminal_of_one_session_cannot_be_joined_through_another(world: World) -> None:
    first, second = await world.session(name="first"), await world.session(name="second")
    async with (
        terminal(world, first) as client,
        terminal(world, second, f"?terminal={client.terminal}") as other,
    ):
        assert other.terminal != client.terminal
        assert other.messages[0]["type"] == "gone"


async def test_paste_of_a_megabyte_arrives_complete_and_in_order(world: World) -> None:
    session = await world.session()
    lines = b"".join(b"%07d %b\n" % (number, b"x" * 90) for number in range(11_000))
    async with terminal(world, session) as client:
        await client.type(f"stty -echo; echo go''; head -c {len(lines)} > pasted; echo do''ne\n")
        await client.until(b"go\r\n")
        await client.socket.send(lines)
        await client.until(b"done\r\n")
    assert (world.engine.home / "pasted").read_bytes() == lines


async def test_client_that_does_not_read_holds_the_shell_back(world: World) -> None:
    session = await world.session()
    count = world.engine.home / "count"
    async with terminal(world, session, max_queue=1) as client:
        # Its own count of what it could write so far; each line is 1 KiB.
        await client.type(
            'awk \'BEGIN{l=sprintf("%1023s",""); for(i=0;i<40960;i++){print l; fflush(); '
            f'if(i%64==0){{print i >"{count}"; fflush("{count}")}}}}}}\'\n'
        )
        await client.until(b" " * 1000)

        def written() -> int:
            lines = count.read_text().split() if count.exists() else []
            return int(lines[-1]) if lines else 0

        assert await stops_growing(written) < 20_000, (
            "somebody buffers more than a window and the kernel's buffers"
        )
        client.socket.transport.abort()


async def test_watcherless_shell_runs_on_and_the_oldest_output_goes(world: World) -> None:
    session = await world.session()
    client, kept = await left_alone(world, session, "sleep 0.3; seq 1 400000; touch finished")

    async def ran_on() -> bool:
        return (world.engine.home / "finished").exists() and b"\r\n400000\r\n" in kept.read(
            kept.end - 1000, 1000
        )

    await eventually(ran_on)
    back = f"?terminal={client.terminal}&offset={len(client.output)}"
    async with terminal(world, session, back) as late:
        await late.until(b"\r\n400000\r\n")
    assert int(str(late.messages[-1]["offset"])) > 1_000_000
    assert terminals.BUFFER_BYTES - 5000 < len(late.output) <= terminals.BUFFER_BYTES + 100
    first, second, *_ = late.output.split(b"\r\n")
    assert int(first) + 1 == int(second), "begins at the start of a line"


async def test_client_that_comes_back_to_a_shell_that_writes_on_gets_each_byte_once(world: World) -> None:
    session = await world.session()
    client, kept = await left_alone(world, session, "seq 1 1000000000")

    async def has_forgotten() -> bool:
        return kept.start > 0

    for _ in range(5):
        await eventually(has_forgotten)
        async with terminal(world, session, f"?terminal={client.terminal}&offset=0") as back:
            while len(back.output) < 2 * terminals.BUFFER_BYTES:
                await back.step()
            back.socket.transport.abort()
        numbers = [int(line) for line in back.output.split(b"\r\n")[:-1]]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


async def test_client_that_takes_nothing_for_long_counts_as_gone(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminals, "STALL_S", 0.3)
    session = await world.session()
    async with terminal(world, session, max_queue=1) as client:
        await client.type("stty -echo; seq 1 3000000; touch finished\n")
        finished = world.engine.home / "finished"

        async def ran_on() -> bool:
            return finished.exists()

        await eventually(ran_on)
        client.socket.transport.abort()
    async with terminal(world, session, f"?terminal={client.terminal}&offset=0") as again:
        assert again.terminal == client.terminal


async def test_second_client_takes_the_terminal_over(world: World) -> None:
    session = await world.session()
    async with (
        terminal(world, session) as first,
        terminal(world, session, f"?terminal={first.terminal}") as second,
    ):
        assert second.terminal == first.terminal
        assert refusal(await first.end()) == (4409, "terminal.taken")
        await second.type("echo still''here\n")
        await second.until(b"stillhere")


async def pid_of(client: Client) -> int:
    await client.type("echo pid=$$.\n")
    await client.until(b"pid=")
    while not (match := re.search(rb"pid=(\d+)\.", client.output)):
        await client.step()
    return int(match[1])


async def expect_hung_up(world: World, session: SessionId, pid: int, name: str) -> None:
    async def ended() -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        return False

    await eventually(ended)
    async with terminal(world, session, f"?terminal={name}&offset=0") as again:
        pass
    assert again.messages[0]["type"] == "gone"


async def test_left_terminal_is_hung_up_in_the_end(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    session = await world.session()
    async with terminal(world, session) as client:
        monkeypatch.setattr(terminals, "KEPT_S", 0.2)
        pid = await pid_of(client)
    await expect_hung_up(world, session, pid, client.terminal)


async def test_closed_terminal_is_hung_up_at_once_and_no_other(world: World) -> None:
    session = await world.session()
    async with terminal(world, session) as other:
        async with terminal(world, session) as client:
            pid = await pid_of(client)
            await client.socket.send('{"type": "hangup"}')
        await expect_hung_up(world, session, pid, client.terminal)
        await other.type("echo still''here\n")
        await other.until(b"stillhere")


async def test_terminals_close_when_the_session_stops_running(world: World) -> None:
    session, other = await world.session(), await world.session(name="other")
    async with terminal(world, session) as client, terminal(world, other) as bystander:
        await world.terminate(session)
        assert refusal(await client.end()) == (4409, "session.not_running")
        await bystander.type("echo un''touched\n")
        await bystander.until(b"untouched")


async def test_a_session_has_a_limited_number_of_terminals(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminals, "MAX_PER_CONTAINER", 2)
    session = await world.session()
    async with (
        terminal(world, session),
        terminal(world, session),
        world.connect(f"{session}/terminal") as third,
    ):
        assert refusal(await Client(third).end()) == (4409, "terminal.too_many")


@pytest.mark.parametrize("way", ["terminal", "exec"])
async def test_only_the_owner_of_a_running_session_gets_in(world: World, way: str) -> None:
    session = await world.session()
    ended = await world.session(name="old", state="PENDING")
    cases = [
        (world.connect(f"{session}/{way}", additional_headers={}), (4401, "auth.required")),
        (world.connect(f"{session}/{way}", actor=world.people.stranger), (4404, "session.not_found")),
        (world.connect(f"{ended}/{way}"), (4409, "session.not_running")),
        (world.connect(f"nothing-like-it/{way}"), (4404, "session.not_found")),
    ]
    for connecting, expected in cases:
        async with connecting as socket:
            assert refusal(await Client(socket).end()) == expected


async def test_page_of_another_site_cannot_use_the_cookie(world: World) -> None:
    session = await world.session()
    async with world.http() as http:
        login = {"email": "user@example.org", "password": PASSWORD}
        async with http.post("/api/v1/auth/login", json=login, headers={"Authorization": ""}) as answer:
            cookie = answer.cookies["carrel_session"].value
    url = world.url.replace("http", "ws", 1) + f"/api/v1/sessions/{session}/terminal"
    for origin, expected in (("http://evil.example", (4403, "auth.origin")), (world.url, None)):
        headers = {"Cookie": f"carrel_session={cookie}", "Origin": origin}
        async with connect(url, additional_headers=headers, proxy=None) as socket:
            client = Client(socket)
            if expected:
                assert refusal(await client.end()) == expected
            else:
                assert (await client.ready())["offset"] == 0
