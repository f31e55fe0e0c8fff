"""Two gateways behind a load balancer without affinity."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import aiohttp
import pytest
from aiohttp import web
from copies_kit import Copies
from gateway_kit import Gate, gate_at_work
from people import eventually
from round_robin import round_robin

from carrel.gateway import authorization


async def app(request: web.Request) -> web.StreamResponse:
    """A page, or a WebSocket that stays."""
    if request.path == "/":
        return web.Response(text="hello")
    line = web.WebSocketResponse()
    await line.prepare(request)
    async for message in line:
        await line.send_str(message.data)
    return line


@pytest.fixture
async def gates(copies: Copies, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Gate, Gate, Gate]]:
    """Both, and their load balancer. What they remember lapses only when they are told."""
    monkeypatch.setattr(authorization, "REMEMBERED_S", 3600.0)
    monkeypatch.setattr(authorization, "RECHECK_S", 3600.0)
    world = copies.balanced
    async with AsyncExitStack() as stack:
        made = [
            await stack.enter_async_context(gate_at_work(world.database, world.people, "http://localhost:1"))
            for _ in range(2)
        ]
        port = await stack.enter_async_context(round_robin(*(gate.port for gate in made)))
        yield made[0], made[1], Gate(port, world.database, world.people, stack)


async def test_a_ticket_is_good_once_and_its_cookie_at_both(
    copies: Copies, gates: tuple[Gate, Gate, Gate]
) -> None:
    _, _, balanced = gates
    session = await balanced.session(await balanced.app(app))
    ticket = await balanced.ticket(session)
    swapped = [await balanced.get(session, f"/?carrel_ticket={ticket}") for _ in range(2)]
    assert [one.status for one in swapped] == [302, 401]
    cookie = str(swapped[0].headers["Set-Cookie"].split(";")[0])
    assert [(await balanced.get(session, cookie=cookie)).body for _ in range(4)] == [b"hello"] * 4


async def test_a_session_that_ends_is_closed_at_both(copies: Copies, gates: tuple[Gate, Gate, Gate]) -> None:
    here, there, balanced = gates
    session = await balanced.session(await balanced.app(app))
    cookie = await balanced.cookie(session)
    assert {(await balanced.get(session, cookie=cookie)).status for _ in range(2)} == {200}
    await balanced.terminate(session)

    async def closed() -> bool:
        return {(await gate.get(session, cookie=cookie)).status for gate in (here, there)} == {404}

    await eventually(closed)


async def test_a_revoked_share_closes_connections_of_both(
    copies: Copies, gates: tuple[Gate, Gate, Gate]
) -> None:
    here, there, balanced = gates
    session = await balanced.session(await balanced.app(app))
    path = f"/api/v1/sessions/{session}"
    world = copies.balanced
    async with world.http() as owner, world.http(world.people.stranger) as guest:
        body = {"level": "use", "user": "stranger@example.org"}
        assert (await owner.post(f"{path}/shares", json=body)).status == 201
        async with guest.post(f"{path}/apps/web/open") as answer:
            query = (await answer.json())["url"].partition("/?")[2]
        swapped = await balanced.get(session, f"/?{query}")
        cookie = str(swapped.headers["Set-Cookie"].split(";")[0])
        async with here.client(session, cookie) as one, there.client(session, cookie) as other:
            lines = [
                await client.ws_connect("/ws", origin=f"http://{gate.host(session)}")
                for client, gate in ((one, here), (other, there))
            ]
            assert (await owner.delete(f"{path}/shares/stranger@example.org")).status == 204
            for line in lines:
                ended = await line.receive(30)
                assert ended.type in (aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.CLOSE)
