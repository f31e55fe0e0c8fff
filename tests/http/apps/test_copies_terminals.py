"""Terminals whose clients come back through another copy of the API than the one that has them."""

import asyncio
import socket

import pytest
from access_kit import World
from aiohttp import web
from copies_kit import Copies
from databases import sql
from people import eventually
from session_kit import main_of
from terminal_kit import Client, refusal, terminal
from websockets.asyncio.client import connect

from carrel.apps import access_watch, terminals
from carrel.apps.terminal_relay import PATH, RelayTicket, seal
from carrel.core.clock import SystemClock
from carrel.core.ids import SessionId


async def left_at(world: World, session: SessionId) -> Client:
    """A client of a shell that said "ready", whose connection broke."""
    async with terminal(world, session) as client:
        await client.type("stty -echo; PS1=; echo read''y\n")
        await client.until(b"ready\r\n")
        client.socket.transport.abort()
    return client


def place(client: Client) -> str:
    return f"?terminal={client.terminal}&offset={len(client.output)}"


async def test_every_reconnect_goes_to_the_other_copy_and_on_where_it_stopped(copies: Copies) -> None:
    session = await copies.balanced.session()
    client = await left_at(copies.balanced, session)
    owners = [world for world in copies.copies if world.terminals.users]
    assert len(owners) == 1
    for turn in range(4):
        async with terminal(copies.balanced, session, place(client)) as again:
            assert again.messages == [
                {"type": "ready", "terminal": client.terminal, "offset": len(client.output)}
            ]
            await again.type(f"seq 1 3000; echo turn-{turn}\n")
            await again.until(b"turn-%d\r\n" % turn)
            again.socket.transport.abort()
        client.output += again.output
    expected = b"".join(b"%d\r\n" % number for number in range(1, 3001))
    assert client.output.count(expected) == 4
    async with terminal(copies.balanced, session, place(client)) as last:
        await last.socket.send('{"type":"resize","cols":101,"rows":41}')
        await last.type("stty size; exit 7\n")
        closed = await last.end()
    assert b"41 101\r\n" in last.output
    assert last.messages[-1] == {"type": "exit", "code": 7}
    assert closed.rcvd
    assert closed.rcvd.code == 1000
    assert [world for world in copies.copies if world.terminals.users] == []


async def test_the_newest_client_wins_through_whichever_copy(copies: Copies) -> None:
    here, there = copies.copies
    session = await here.session()
    async with terminal(here, session) as first, terminal(there, session, place(first)) as second:
        assert refusal(await first.end()) == (4409, "terminal.taken")
        async with terminal(here, session, place(first)):
            assert refusal(await second.end()) == (4409, "terminal.taken")


async def test_a_large_output_passes_with_back_pressure(copies: Copies) -> None:
    here, there = copies.copies
    session = await here.session()
    client = await left_at(here, session)
    async with terminal(there, session, place(client)) as again:
        await again.type("head -c 2000000 /dev/zero | tr '\\0' x; echo don''e\n")
        [entry] = here.terminals._terminals.values()
        # Nobody reads here: the shell waits once the buffers between are full.
        await eventually(lambda: entry.attached and entry.buffer.end - entry.attached.position > 0)
        await again.until(b"done\r\n")
    assert again.output.count(b"x") == 2_000_000


async def test_a_revoked_share_closes_what_the_other_copy_has(
    copies: Copies, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_watch, "RECHECK_S", 3600.0)
    here, there = copies.copies
    session = await here.session()
    shares = f"/api/v1/sessions/{session}/shares"
    async with here.http() as owner:
        body = {"level": "use", "user": "stranger@example.org"}
        assert (await owner.post(shares, json=body)).status == 201
        guest = here.people.stranger
        async with terminal(here, session, actor=guest) as theirs:
            theirs.socket.transport.abort()
        async with (
            terminal(there, session, place(theirs), actor=guest) as relayed,
            terminal(there, session, actor=guest) as direct,
        ):
            assert (await owner.delete(f"{shares}/stranger@example.org")).status == 204
            assert refusal(await relayed.end()) == (4403, "share.revoked")
            assert refusal(await direct.end()) == (4403, "share.revoked")
    await eventually(lambda: not here.terminals.users | there.terminals.users)


async def test_a_terminal_is_its_users_alone_in_every_copy(copies: Copies) -> None:
    here, there = copies.copies
    session = await here.session()
    client = await left_at(here, session)
    body = {"level": "use", "user": "stranger@example.org"}
    async with here.http() as owner, owner.post(f"/api/v1/sessions/{session}/shares", json=body) as answer:
        assert answer.status == 201
    async with terminal(there, session, place(client), actor=here.people.stranger) as other:
        assert [message["type"] for message in other.messages] == ["gone", "ready"]


async def test_the_limit_counts_the_terminals_of_all_copies(
    copies: Copies, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminals, "MAX_PER_CONTAINER", 2)
    here, there = copies.copies
    session = await here.session()
    async with terminal(here, session) as first, terminal(there, session):
        for world in copies.copies:
            async with world.connect(f"{session}/terminal") as refused:
                assert refusal(await Client(refused).end()) == (4409, "terminal.too_many")
        await first.socket.send('{"type":"hangup"}')
        await eventually(lambda: not here.terminals.users)

        async def forgotten() -> bool:
            return len(await sql(here.database, "SELECT id FROM terminals")) == 1

        await eventually(forgotten)
        async with terminal(there, session):
            pass


async def test_copies_at_the_same_address_do_not_take_each_other_for_themselves(copies: Copies) -> None:
    here, there = copies.copies
    session = await here.session()
    client = await left_at(here, session)
    # As on machines whose name has a loopback address.
    address = there.settings.effective_internal_url
    await sql(here.database, "UPDATE terminals SET address = :address", address=address)
    async with terminal(there, session, place(client)) as again:
        # It asks there, and that one has another id than the copy that has the terminal.
        assert [message["type"] for message in again.messages] == ["gone", "ready"]
        rows = await sql(here.database, "SELECT id, copy_id, address FROM terminals")
        assert rows == [(again.terminal, there.terminals.locations.copy_id, address)]


async def test_nothing_is_typed_into_a_server_that_does_not_prove_to_be_the_copy(copies: Copies) -> None:
    here, there = copies.copies
    session = await here.session()
    client = await left_at(here, session)
    received: list[object] = []

    async def pretend(request: web.Request) -> web.WebSocketResponse:
        received.append(request.headers["Authorization"])
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_str('{"type":"ready","terminal":"x","offset":0}')
        received.extend([message.data async for message in socket])
        return socket

    app = web.Application()
    app.router.add_get(PATH, pretend)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    address = f"http://127.0.0.1:{runner.addresses[0][1]}"
    await sql(here.database, "UPDATE terminals SET address = :address", address=address)
    async with terminal(there, session, place(client)) as again:
        assert [message["type"] for message in again.messages] == ["gone", "ready"]
    await runner.cleanup()
    # Its ticket opens the terminal of no other copy.
    (ticket,) = received
    assert isinstance(ticket, str)
    url = there.url.replace("http", "ws", 1) + PATH
    async with connect(url, additional_headers={"Authorization": ticket}, proxy=None) as socket:
        assert refusal(await Client(socket).end()) == (4404, "terminal.gone")


async def test_a_terminal_of_a_lost_copy_is_gone(copies: Copies) -> None:
    here, there = copies.copies
    session = await here.session()
    client = await left_at(here, session)
    with socket.socket() as nobody:  # does not listen: a process that was killed
        nobody.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        await sql(here.database, "UPDATE terminals SET address = :address", address=address)
        async with terminal(there, session, place(client)) as again:
            assert [message["type"] for message in again.messages] == ["gone", "ready"]
            # It no longer counts against the limit.
            assert await sql(here.database, "SELECT id FROM terminals") == [(again.terminal,)]
    await sql(here.database, "UPDATE terminals SET seen_at = now() - interval '1 hour'")
    await there.terminals.locations.confirm()
    rows = await sql(here.database, "SELECT address FROM terminals")
    assert rows == [(there.settings.effective_internal_url,)]


async def test_a_copy_that_ends_has_no_terminals(copies: Copies) -> None:
    here, there = copies.copies
    session = await here.session()
    for world in copies.copies:
        async with terminal(world, session):
            pass
    await here.terminals.locations.forget_own()
    assert await sql(here.database, "SELECT address FROM terminals") == [
        (there.settings.effective_internal_url,)
    ]


async def test_only_copies_with_the_key_are_let_in(copies: Copies) -> None:
    here, _ = copies.copies
    session = await here.session()
    client = await left_at(here, session)
    services, now = copies.services[0], SystemClock().now()
    copy_id = here.terminals.locations.copy_id
    ticket = RelayTicket(client.terminal, main_of(session), here.people.user.user_id, session, copy_id)
    url = here.url.replace("http", "ws", 1) + PATH
    valid = seal(services.seal, ticket, now)
    refused = [
        "",
        here.keys[here.people.user.user_id],
        valid[:-8] + "AAAAAAA=",
        seal(services.seal, ticket, now.replace(year=now.year - 1)),
    ]
    for authorization in refused:
        headers = {"Authorization": authorization}
        async with connect(url, additional_headers=headers, proxy=None) as socket:
            assert refusal(await Client(socket).end()) == (4401, "auth.required")
    async with connect(url, additional_headers={"Authorization": valid}, proxy=None) as socket:
        assert await socket.recv() not in (b"", valid)  # the proof
        assert (await asyncio.wait_for(Client(socket).ready(), 30))["terminal"] == client.terminal
