"""The gateway's metrics: who may read them, and what they count."""

import asyncio

import aiohttp
import pytest
from aiohttp import web
from gateway_kit import KEY, Gate, gate
from metrics_kit import Scraped, parsed
from people import eventually

from carrel.core.clock import SystemClock
from carrel.gateway.scrape import Scrape, serving
from carrel.permissions.decide import Actor
from carrel.signin.keypairs import tokens

__all__ = ["gate"]

REQUESTS = "carrel_gateway_requests_total"
BYTES = "carrel_gateway_bytes_total"
ERRORS = "carrel_gateway_upstream_errors_total"


async def token_of(gate: Gate, actor: Actor, *scopes: str) -> str:
    async with gate.database.transaction() as tx:
        made = await tokens.create(tx, SystemClock(), actor, name="prometheus", scopes=scopes, lifetime=None)
    return made.secret


async def fetch(gate: Gate, token: str) -> tuple[int, str]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        aiohttp.ClientSession() as client,
        client.get(f"http://127.0.0.1:{gate.port}/.carrel/metrics", headers=headers) as answer,
    ):
        return answer.status, await answer.text()


@pytest.fixture
async def scrape(gate: Gate):  # type: ignore[no-untyped-def]
    token = await token_of(gate, gate.people.superadmin, "metrics.read")

    async def scrape() -> Scraped:
        status, text = await fetch(gate, token)
        assert status == 200, text
        return parsed(text)

    return scrape


async def test_only_who_may_read_metrics_gets_them(gate: Gate):
    assert (await fetch(gate, ""))[0] == 401
    assert (await fetch(gate, "carrel_nothing"))[0] == 401
    assert (await fetch(gate, await token_of(gate, gate.people.superadmin, "session.read")))[0] == 403
    assert (await fetch(gate, await token_of(gate, gate.people.user, "metrics.read")))[0] == 403
    assert (await fetch(gate, await token_of(gate, gate.people.superadmin, "metrics.read")))[0] == 200


async def test_requests_bytes_and_denials_are_counted(gate: Gate, scrape):  # type: ignore[no-untyped-def]
    async def handle(request: web.Request) -> web.Response:
        await request.read()
        return web.Response(status=404, body=b"x" * (5 << 20))

    session = await gate.session(await gate.app(handle))
    cookie = await gate.cookie(session)
    before = await scrape()
    answer = await gate.get(session, "/", cookie=cookie)
    assert (answer.status, len(answer.body)) == (404, 5 << 20)
    assert (await gate.get(session, "/", cookie=cookie, method="POST", data=b"y" * 100_000)).status == 404
    assert (await gate.get(session, "/")).status == 401
    after = await scrape()

    def added(name: str, **labels: str) -> float:
        return after.value(name, **labels) - before.value(name, **labels)

    assert added(REQUESTS, responder="app", status="4xx") == 2
    # The denial; the first scrape was counted after it had been made.
    assert added(REQUESTS, responder="gateway", status="4xx") == 1
    assert added(REQUESTS, responder="gateway", status="2xx") == 1
    assert added("carrel_gateway_denials_total", code="gateway.no_grant") == 1
    assert added("carrel_gateway_response_duration_seconds_count") == 2
    assert 0 < added(BYTES, direction="to_client") - (10 << 20) < 10_000
    assert 0 < added(BYTES, direction="to_app") - 100_000 < 10_000
    assert after.value("carrel_gateway_connections_open", side="client") >= 1


async def test_apps_that_fail_are_counted_by_what_they_did(gate: Gate, scrape):  # type: ignore[no-untyped-def]
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")

    async def babble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"what?\r\n\r\n")
        await reader.read()

    async def stop_short(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
        await writer.drain()

    before = await scrape()
    for app in (hang_up, babble, stop_short):
        session = await gate.session(await gate.raw_app(app))
        try:
            await gate.get(session, cookie=await gate.cookie(session))
        except aiohttp.ClientPayloadError:
            assert app is stop_short
    session = await gate.session(1)
    await gate.get(session, cookie=await gate.cookie(session))
    after = await scrape()
    for cause in ("closed", "malformed", "interrupted", "unreachable"):
        assert after.value(ERRORS, cause=cause) - before.value(ERRORS, cause=cause) == 1, cause


async def test_websockets_are_open_until_they_close(gate: Gate, scrape):  # type: ignore[no-untyped-def]
    async def echo(request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        async for message in socket:
            await socket.send_bytes(message.data)
        return socket

    session = await gate.session(await gate.app(echo))
    before = await scrape()
    async with (
        gate.client(session, await gate.cookie(session)) as client,
        client.ws_connect("/", headers={"Host": gate.host(session)}) as socket,
    ):
        await socket.send_bytes(b"z" * 50_000)
        await socket.receive_bytes()
        during = await scrape()
        assert during.value("carrel_gateway_websockets_open") == 1
        labels = {"responder": "app", "status": "1xx"}
        assert during.value(REQUESTS, **labels) - before.value(REQUESTS, **labels) == 1
        for direction in ("to_app", "to_client"):
            passed = during.value(BYTES, direction=direction) - before.value(BYTES, direction=direction)
            assert 50_000 < passed < 60_000, direction

    async def closed() -> bool:
        metrics = await scrape()
        return (
            metrics.value("carrel_gateway_websockets_open") == 0
            and metrics.value("carrel_gateway_connections_open", side="app") == 0
        )

    await eventually(closed)


async def test_a_client_that_leaves_early_is_counted(gate: Gate, scrape):  # type: ignore[no-untyped-def]
    received = asyncio.Event()

    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        received.set()
        await reader.read()

    session = await gate.session(await gate.raw_app(wait))
    cookie = await gate.cookie(session)
    labels = {"responder": "gateway", "status": "client_left"}
    before = await scrape()
    _, writer = await gate.speak(
        f"GET / HTTP/1.1\r\nHost: {gate.host(session)}\r\nCookie: {cookie}\r\n\r\n".encode()
    )
    await received.wait()
    writer.close()

    async def counted() -> bool:
        return (await scrape()).value(REQUESTS, **labels) - before.value(REQUESTS, **labels) == 1

    await eventually(counted)


async def test_a_process_without_other_routes_serves_metrics_on_a_port_of_their_own(gate: Gate):
    token = await token_of(gate, gate.people.superadmin, "metrics.read")
    async with (
        serving(Scrape(gate.database, SystemClock(), KEY), "127.0.0.1", 0) as port,
        aiohttp.ClientSession(f"http://127.0.0.1:{port}") as client,
    ):
        async with client.get("/metrics") as answer:
            assert answer.status == 401
        async with client.get("/other") as answer:
            assert answer.status == 404
        async with client.get("/metrics", headers={"Authorization": f"Bearer {token}"}) as answer:
            assert parsed(await answer.text()).value("process_resident_memory_bytes") > 0
