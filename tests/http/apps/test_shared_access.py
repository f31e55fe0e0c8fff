"""What somebody opened by a share ends with the share: app connections, terminals, commands and log streams."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import aiohttp
import pytest
from access_kit import World, world
from aiohttp import web
from databases import sql
from gateway_kit import Gate, gate_at_work
from people import eventually
from session_kit import main_of
from websockets.exceptions import ConnectionClosed

from carrel.apps import access_watch
from carrel.core.ids import SessionId
from carrel.gateway import authorization

__all__ = ["world"]

End = Callable[[World, SessionId], Awaitable[None]]
TOKEN = "t" * 43


@pytest.fixture
async def gate(world: World, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Gate]:
    monkeypatch.setattr(authorization, "REMEMBERED_S", 3600.0)
    async with gate_at_work(world.database, world.people, "http://localhost:1") as gate:
        yield gate


async def share(world: World, session: SessionId, *, level: str = "use", **terms: object) -> dict[str, Any]:
    terms = terms or {"user": "stranger@example.org"}
    body = {"level": level, **terms}
    async with world.http() as owner, owner.post(f"/api/v1/sessions/{session}/shares", json=body) as answer:
        assert answer.status == 201, await answer.text()
        return await answer.json()  # type: ignore[no-any-return]


async def revoked(world: World, session: SessionId) -> None:
    path = f"/api/v1/sessions/{session}/shares/stranger@example.org"
    async with world.http() as owner, owner.delete(path) as answer:
        assert answer.status == 204, await answer.text()


async def lowered(world: World, session: SessionId) -> None:
    await share(world, session, level="look")


async def expired(world: World, _: SessionId) -> None:
    await sql(world.database, "UPDATE session_shares SET expires_at = now()")


ENDS = pytest.mark.parametrize("end", [revoked, lowered, expired])


async def app(request: web.Request) -> web.StreamResponse:
    """A page, or a WebSocket that stays."""
    if request.path == "/":
        return web.Response(text="hello")
    line = web.WebSocketResponse()
    await line.prepare(request)
    async for _ in line:
        pass
    return line


async def cookie_of(world: World, gate: Gate, session: SessionId, *, by_owner: bool = False) -> str:
    actor = None if by_owner else world.people.stranger
    async with (
        world.http(actor) as client,
        client.post(f"/api/v1/sessions/{session}/apps/web/open") as answer,
    ):
        body = await answer.json()
        assert answer.status == 200, body
    swapped = await gate.get(session, f"/?{body['url'].partition('/?')[2]}")
    return str(swapped.headers["Set-Cookie"].split(";")[0])


@ENDS
async def test_open_app_connections_are_closed_at_once_and_the_owners_stay(
    world: World, gate: Gate, end: End, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Revocation must not depend on the periodic check.
    monkeypatch.setattr(authorization, "RECHECK_S", 0.1 if end is expired else 3600.0)
    session = await gate.session(await gate.app(app))
    await share(world, session)
    theirs, own = await cookie_of(world, gate, session), await cookie_of(world, gate, session, by_owner=True)
    origin = f"http://{gate.host(session)}"
    async with gate.client(session, theirs) as guest, gate.client(session, own) as owner:
        line = await guest.ws_connect("/ws", origin=origin)
        owners_line = await owner.ws_connect("/ws", origin=origin)
        assert (await gate.get(session, cookie=theirs)).status == 200
        await end(world, session)
        assert (await line.receive(30)).type in (aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.CLOSE)
        assert (await gate.get(session, cookie=theirs)).status == 401
        assert (await gate.get(session, cookie=own)).status == 200
        assert not owners_line.closed


async def test_an_unused_ticket_ends_with_the_share(world: World, gate: Gate) -> None:
    session = await gate.session(await gate.app(app))
    await share(world, session)
    path = f"/api/v1/sessions/{session}/apps/web/open"
    async with world.http(world.people.stranger) as client, client.post(path) as answer:
        query = (await answer.json())["url"].partition("/?")[2]
    await revoked(world, session)
    assert (await gate.get(session, f"/?{query}")).status == 401


def why(closed: ConnectionClosed) -> tuple[int, str]:
    assert closed.rcvd
    return closed.rcvd.code, json.loads(closed.rcvd.reason)["code"]


async def closing(socket: Any) -> tuple[int, str]:
    """Code and reason with which the server closes the socket."""
    try:
        while True:
            await asyncio.wait_for(socket.recv(), 30)
    except ConnectionClosed as closed:
        return why(closed)


async def receive_until(socket: Any, expected: bytes) -> None:
    output = b""
    while expected not in output:
        message = await asyncio.wait_for(socket.recv(), 30)
        output += message if isinstance(message, bytes) else message.encode()


@ENDS
async def test_terminals_are_closed_and_their_shells_hung_up(
    world: World, end: End, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_watch, "RECHECK_S", 0.1 if end is expired else 3600.0)
    session = await world.session()
    await share(world, session)
    guest = world.people.stranger
    async with (
        world.connect(f"{session}/terminal", actor=guest) as theirs,
        world.connect(f"{session}/terminal") as own,
    ):
        await receive_until(own, b"ready")
        await theirs.send(b"echo re''ady; trap 'touch hung-up' HUP; while :; do sleep 0.1; done\n")
        await receive_until(theirs, b"ready\r\n")
        await end(world, session)
        assert await closing(theirs) == (4403, "share.revoked")
        await own.send(b"echo sti''ll\n")
        await receive_until(own, b"still\r\n")
    await eventually(lambda: (world.engine.home / "hung-up").exists())
    assert {user for _, user in world.terminals.users} == {world.people.user.user_id}
    async with world.connect(f"{session}/terminal", actor=guest) as refused:
        assert (await closing(refused))[0] == (4403 if end is lowered else 4404)


async def test_a_terminal_that_nobody_watches_is_hung_up_too(world: World) -> None:
    session = await world.session()
    await share(world, session)
    async with world.connect(f"{session}/terminal", actor=world.people.stranger) as theirs:
        await receive_until(theirs, b"ready")
    assert world.terminals.users == {(main_of(session), world.people.stranger.user_id)}
    await revoked(world, session)
    await eventually(lambda: not world.terminals.users)


@ENDS
async def test_commands_are_ended(world: World, end: End, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access_watch, "RECHECK_S", 0.1 if end is expired else 3600.0)
    session = await world.session()
    await share(world, session)
    start = json.dumps({"command": ["sh", "-c", "echo ready; exec cat"]})
    async with (
        world.connect(f"{session}/exec", actor=world.people.stranger) as theirs,
        world.connect(f"{session}/exec") as own,
    ):
        for socket in (theirs, own):
            await socket.send(start)
            await receive_until(socket, b"ready")
        await end(world, session)
        assert await closing(theirs) == (4403, "share.revoked")
        await own.send(b"still\n")
        await receive_until(own, b"still")


@pytest.mark.parametrize(("end", "ends"), [(revoked, True), (expired, True), (lowered, False)])
async def test_log_streams_end_with_the_right_to_look(
    world: World, end: End, ends: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_watch, "RECHECK_S", 0.1 if end is expired else 3600.0)
    session = await world.session()
    await share(world, session)
    path = f"/api/v1/sessions/{session}/logs?follow=true"
    async with (
        world.http(world.people.stranger) as guest,
        world.http() as owner,
        guest.get(path) as theirs,
        owner.get(path) as own,
    ):
        assert (theirs.status, own.status) == (200, 200)
        readings = [asyncio.create_task(answer.content.read()) for answer in (theirs, own)]
        async with world.connect(f"{session}/terminal", actor=world.people.stranger) as terminal:
            await receive_until(terminal, b"ready")
            await end(world, session)
            # The same check ends both.
            await closing(terminal)
        if ends:
            await asyncio.wait_for(readings[0], 30)
        else:
            assert (await guest.get(path.replace("follow", "timestamps"))).status == 200
        assert [reading.done() for reading in readings] == [ends, False]
        for reading in readings:
            reading.cancel()


async def test_looking_opens_neither_terminals_nor_commands(world: World) -> None:
    session = await world.session()
    await share(world, session, level="look")
    for path in ("terminal", "exec"):
        async with world.connect(f"{session}/{path}", actor=world.people.stranger) as socket:
            assert await closing(socket) == (4403, "policy.forbidden")
        async with world.connect(f"{session}/{path}", actor=world.people.colleague) as socket:
            assert await closing(socket) == (4404, "session.not_found")


async def test_leaving_the_project_ends_what_its_share_opened(
    world: World, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authorization, "RECHECK_S", 0.1)
    session = await gate.session(await gate.app(app))
    grant = "INSERT INTO memberships (project_id, user_id, admin) SELECT id, :user, false FROM projects"
    await sql(world.database, f"{grant} WHERE name = 'other'", user=world.people.user.user_id)
    await share(world, session, project="other")
    cookie = await cookie_of(world, gate, session)
    async with gate.client(session, cookie) as guest:
        line = await guest.ws_connect("/ws", origin=f"http://{gate.host(session)}")
        leave = "DELETE FROM memberships WHERE user_id = :user"
        await sql(world.database, leave, user=world.people.stranger.user_id)
        assert (await line.receive(30)).type in (aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.CLOSE)
