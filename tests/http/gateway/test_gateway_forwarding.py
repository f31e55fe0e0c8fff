"""Containers without an address: the gateway connects to their apps through their engine."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import WSMsgType, web
from databases import scalar, sql
from gateway_kit import Gate, gate_at_work
from node_kit import join, machine
from people import People

from carrel.core.ids import SessionId
from carrel.db.database import Database
from carrel.engines.conformance_kit import ProgressLog
from carrel.engines.fake import FakeEngine
from carrel.engines.port import ContainerSpec


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
async def gate(database: Database, people: People, engine: FakeEngine) -> AsyncIterator[Gate]:
    await join(database, machine())
    async with gate_at_work(database, people, "http://localhost:1", engine=engine) as gate:
        yield gate


async def session_on(gate: Gate, engine: FakeEngine, port: int) -> SessionId:
    """A session with an app at the port, whose container runs and has no address."""
    session = await gate.session(port)
    node = await scalar(gate.database, "SELECT id FROM nodes")
    await sql(
        gate.database,
        "UPDATE containers SET address = NULL, node_id = :n WHERE session_id = :s",
        n=node,
        s=session,
    )
    main = await scalar(gate.database, "SELECT id FROM containers WHERE session_id = :s", s=session)
    await engine.ensure(ContainerSpec(main, "debian:12", {}), ProgressLog())
    return session


async def test_requests_bodies_and_websockets_pass_through_the_engine(gate: Gate, engine: FakeEngine):
    large = bytes(range(256)) * 16384

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/socket":
            socket = web.WebSocketResponse()
            await socket.prepare(request)
            async for message in socket:
                await socket.send_bytes(message.data)
            return socket
        return web.Response(body=await request.read() or large)

    session = await session_on(gate, engine, await gate.app(answer))
    cookie = await gate.cookie(session)
    assert (await gate.get(session, cookie=cookie)).body == large
    assert (await gate.get(session, cookie=cookie)).status == 200, "by a connection of the pool"
    assert (await gate.get(session, cookie=cookie, method="POST", data=large)).body == large
    assert (await gate.get(session)).status == 401
    async with gate.client(session, cookie) as client, client.ws_connect("/socket") as socket:
        await socket.send_bytes(large[: 1 << 20])
        received = await socket.receive(timeout=60)
        assert (received.type, received.data) == (WSMsgType.BINARY, large[: 1 << 20])


async def test_an_app_that_cannot_be_reached_is_said_so(gate: Gate, engine: FakeEngine):
    async def closes(reader: object, writer: object) -> None:
        pass

    session = await session_on(gate, engine, await gate.raw_app(closes))
    cookie = await gate.cookie(session)
    assert (await gate.get(session, cookie=cookie)).status == 502
    engine.world.go_away()
    assert (await gate.get(session, cookie=cookie)).status == 502
    decided = await gate.get(session, "/.carrel/auth", cookie=cookie)
    assert decided.status == 502, "another proxy cannot connect to it"
