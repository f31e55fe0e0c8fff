"""Grants end with what opened the app, and take along who is passing."""

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import pytest
from access_kit import PASSWORD, World, world
from aiohttp import web
from databases import sql
from gateway_kit import Gate, gate_at_work
from people import eventually

from carrel.core.ids import SessionId
from carrel.gateway import authorization

__all__ = ["world"]


@pytest.fixture
async def gate(world: World, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Gate]:
    monkeypatch.setattr(authorization, "RECHECK_S", 0.1)
    monkeypatch.setattr(authorization, "REMEMBERED_S", 3600.0)
    async with gate_at_work(world.database, world.people, "http://localhost:1") as gate:
        yield gate


async def app(request: web.Request) -> web.StreamResponse:
    """A page, a download without end, or a WebSocket that stays."""
    if request.path == "/":
        return web.Response(text="hello")
    if request.path == "/endless":
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(bytes(1 << 18))
    line = web.WebSocketResponse()
    await line.prepare(request)
    async for _ in line:
        pass
    return line


class Visit:
    """Somebody who has opened the app, and does all that one can do with it at once."""

    def __init__(self, gate: Gate, session: SessionId, url: str) -> None:
        self._gate, self._session, self._query = gate, session, url.partition("/?")[2]

    async def __aenter__(self) -> "Visit":
        swapped = await self._gate.get(self._session, f"/?{self._query}")
        self._cookie = swapped.headers["Set-Cookie"].split(";")[0]
        assert await self.status() == 200
        self._client = self._gate.client(self._session, self._cookie)
        self._line = await self._client.ws_connect("/ws", origin=f"http://{self._gate.host(self._session)}")
        self._comes = asyncio.Event()
        self._download = asyncio.create_task(self._read())
        # A download that has not begun would be refused, not cut.
        await asyncio.wait_for(self._comes.wait(), 30)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._download.cancel()
        await asyncio.wait([self._download])
        await self._client.close()

    async def _read(self) -> None:
        async with self._client.get("/endless", timeout=aiohttp.ClientTimeout(total=None)) as answer:
            async for _ in answer.content.iter_any():
                self._comes.set()

    async def status(self) -> int:
        return (await self._gate.get(self._session, cookie=self._cookie)).status

    async def cut(self) -> None:
        """Return when nothing is left; fails when anything stays."""

        async def refused() -> bool:
            return await self.status() == 401

        await eventually(refused)
        assert (await self._line.receive(30)).type in (aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.CLOSE)
        await asyncio.wait([self._download], timeout=30)
        assert self._download.done()
        assert isinstance(self._download.exception(), aiohttp.ClientPayloadError)


async def opened(client: aiohttp.ClientSession, session: SessionId, **headers: str) -> str:
    async with client.post(f"/api/v1/sessions/{session}/apps/web/open", headers=headers) as answer:
        body = await answer.json()
        assert answer.status == 200, body
        return str(body["url"])


async def test_signing_out_ends_what_it_opened_and_nothing_else(world: World, gate: Gate) -> None:
    session = await gate.session(await gate.app(app))
    login = {"email": world.people.user.email, "password": PASSWORD}
    async with (
        aiohttp.ClientSession(world.url, cookie_jar=aiohttp.CookieJar(unsafe=True)) as page,
        world.http() as script,
    ):
        async with page.post("/api/v1/auth/login", json=login) as answer:
            csrf = {"X-Carrel-CSRF": (await answer.json())["csrf_token"]}
        unused = await opened(page, session, **csrf)
        by_script = Visit(gate, session, await opened(script, session))
        async with Visit(gate, session, await opened(page, session, **csrf)) as visit, by_script:
            async with page.post("/api/v1/auth/logout", headers=csrf) as answer:
                assert answer.status == 204
            await visit.cut()
            ticket = unused.partition("/?")[2]
            assert (await gate.get(session, f"/?{ticket}")).status == 401, "a ticket not yet used"
            assert await by_script.status() == 200
            assert not by_script._download.done()
            assert not by_script._line.closed


@pytest.mark.parametrize(
    "ending",
    [
        "UPDATE logins SET expires_at = now()",
        "DELETE FROM logins",
        "UPDATE users SET state = 'inactive' WHERE email = 'user@example.org'",
    ],
)
async def test_grant_lapses_with_the_sign_in(world: World, gate: Gate, ending: str) -> None:
    session = await gate.session(await gate.app(app))
    login = {"email": world.people.user.email, "password": PASSWORD}
    async with aiohttp.ClientSession(world.url, cookie_jar=aiohttp.CookieJar(unsafe=True)) as page:
        async with page.post("/api/v1/auth/login", json=login) as answer:
            csrf = {"X-Carrel-CSRF": (await answer.json())["csrf_token"]}
        async with Visit(gate, session, await opened(page, session, **csrf)) as visit:
            await lapse(world, ending)
            await visit.cut()


@pytest.mark.parametrize("ending", ["UPDATE keypairs SET active = false", "DELETE FROM keypairs"])
async def test_grant_lapses_with_the_keypair(world: World, gate: Gate, ending: str) -> None:
    session = await gate.session(await gate.app(app))
    async with world.http() as script, Visit(gate, session, await opened(script, session)) as visit:
        await lapse(world, ending)
        await visit.cut()


async def lapse(world: World, ending: str) -> None:
    await sql(world.database, ending)
