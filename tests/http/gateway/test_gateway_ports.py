"""Apps on ports of their own, for people who come by a bare address: whose they are, and what stays apart.

The browser here has a real cookie jar, which like all of them knows hosts and no ports.
"""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urlsplit

import aiohttp
import pytest
from access_kit import PASSWORD, World, world
from aiohttp import web
from databases import sql
from gateway_kit import PUBLIC_URL, Gate, gate_at_work
from people import eventually
from ports import free_port
from session_kit import force_state
from sqlalchemy import text

from carrel.core.ids import SessionId
from carrel.permissions.decide import Actor
from carrel.tables.session_states import SessionState

__all__ = ["world"]

ADDRESS = "192.168.1.5"
COUNT = 3


@pytest.fixture
async def gate(world: World) -> AsyncIterator[Gate]:
    """A gateway with some ports beside an API that gives them out."""
    first = free_port(COUNT)
    ports = range(first, first + COUNT)
    world.settings.app_ports = f"{ports[0]}-{ports[-1]}"
    async with gate_at_work(world.database, world.people, "http://localhost:1", ports) as gate:
        yield gate


async def cookies(request: web.Request) -> web.Response:
    """Sets one, and says which it got."""
    response = web.Response(text=request.headers.get("Cookie", ""))
    response.headers["Set-Cookie"] = f"id={request.query_string or 'none'}; Path=/"
    response.headers["Clear-Site-Data"] = '"*"'
    return response


async def open_app(
    world: World, session: SessionId, *, host: str = ADDRESS, actor: Actor | None = None
) -> str:
    async with world.http(actor) as http:
        path = f"/api/v1/sessions/{session}/apps/web/open"
        async with http.post(path, headers={"Host": f"{host}:8700"}) as answer:
            body = await answer.json()
            assert answer.status == 200, body
            return str(body["url"])


def port_of(url: str) -> int:
    port = urlsplit(url).port
    assert port is not None
    return port


def path_of(url: str) -> str:
    return f"/?{urlsplit(url).query}"


@asynccontextmanager
async def browser() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as client:
        yield client


async def enter(client: aiohttp.ClientSession, url: str) -> str:
    """Follow a link from `open_app` on loopback; the origin that it leads to."""
    origin = f"http://127.0.0.1:{port_of(url)}"
    async with client.get(origin + path_of(url)) as answer:
        assert (answer.status, str(answer.url)) == (200, f"{origin}/")
    return origin


async def text_at(client: aiohttp.ClientSession, url: str) -> tuple[int, str]:
    async with client.get(url) as answer:
        return answer.status, await answer.text()


async def test_app_opened_from_an_address_is_at_a_port_that_it_keeps(world: World, gate: Gate) -> None:
    port = await gate.app(cookies)
    one, two = await gate.session(port), await gate.session(port)
    url = await open_app(world, one)
    parts = urlsplit(url)
    assert (parts.scheme, parts.hostname, parts.path) == ("http", ADDRESS, "/")
    assert list(parse_qs(parts.query)) == ["carrel_ticket"]
    assert port_of(await open_app(world, one)) == port_of(url)
    assert port_of(await open_app(world, two)) != port_of(url)
    async with browser() as client:
        origin = await enter(client, url)
        assert (await text_at(client, f"{origin}/x"))[0] == 200
        # Neither is the ticket good twice, nor is a grant good for the neighbour.
        async with browser() as other:
            assert (await text_at(other, f"http://127.0.0.1:{port_of(url)}{path_of(url)}"))[0] == 401
        neighbour = f"http://127.0.0.1:{port_of(await open_app(world, two))}/"
        assert (await text_at(client, neighbour))[0] == 401


async def test_whoever_comes_as_localhost_gets_a_name(world: World, gate: Gate) -> None:
    session = await gate.session(await gate.app(cookies))
    for host in ("localhost", "127.0.0.1", "[::1]"):
        url = await open_app(world, session, host=host)
        assert urlsplit(url).netloc == f"web-{session}.localhost:8701", host
    assert (await gate.get(session, path_of(url))).status == 302


async def test_public_address_decides_where_there_is_one(world: World, gate: Gate) -> None:
    world.settings.public_url = "https://box.example.org/carrel"
    session = await gate.session(await gate.app(cookies))
    parts = urlsplit(await open_app(world, session, host="localhost"))
    assert (parts.scheme, parts.hostname) == ("https", "box.example.org")


async def test_app_gets_no_cookie_but_its_own(world: World, gate: Gate) -> None:
    app = await gate.app(cookies)
    one, two = await gate.session(app), await gate.session(app)
    async with browser() as client:
        login = {"email": world.people.user.email, "password": PASSWORD}
        async with client.post(f"{world.url}/api/v1/auth/login", json=login) as answer:
            assert answer.status == 200
        first = await enter(client, await open_app(world, one))
        second = await enter(client, await open_app(world, two))
        jar = {cookie.key: cookie for cookie in client.cookie_jar}
        assert len(jar) == 5, "the page's, two grants, and one of each app"
        assert "carrel_session" in jar
        assert all(cookie["httponly"] for cookie in jar.values()), "no script reads another app's"
        await text_at(client, f"{first}/?one")
        await text_at(client, f"{second}/?two")
        assert await text_at(client, f"{first}/?one") == (200, "id=one")
        assert await text_at(client, f"{second}/?two") == (200, "id=two")
        async with client.get(first, headers={"Cookie": "script=1; carrel_session=x"}) as answer:
            assert "script" not in await answer.text()
            assert "Clear-Site-Data" not in answer.headers, "it would clear the page's cookies too"
        # The control plane takes none of it for a sign-in of its own, and still knows the real one.
        async with client.get(f"{world.url}/api/v1/auth/me") as answer:
            assert answer.status == 200


async def test_page_on_another_port_cannot_act(world: World, gate: Gate) -> None:
    async def accept(request: web.Request) -> web.StreamResponse:
        if request.headers.get("Upgrade") != "websocket":
            return web.Response(text="ok")
        line = web.WebSocketResponse()
        await line.prepare(request)
        async for message in line:
            await line.send_str(message.data)
        return line

    app = await gate.app(accept)
    one, two = await gate.session(app), await gate.session(app)
    async with browser() as client:
        login = {"email": world.people.user.email, "password": PASSWORD}
        async with client.post(f"{world.url}/api/v1/auth/login", json=login) as answer:
            csrf = (await answer.json())["csrf_token"]
        first = await enter(client, await open_app(world, one))
        second = await enter(client, await open_app(world, two))
        # An app's own page, then a sibling's, at the app.
        async with client.ws_connect(f"{first}/ws", headers={"Origin": first}) as line:
            await line.send_str("hello")
            assert (await line.receive(10)).data == "hello"
        with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
            await client.ws_connect(f"{first}/ws", headers={"Origin": second})
        async with client.post(first, headers={"Origin": second}) as answer:
            assert answer.status == 403
        # An app's page at the control plane, with the browser's cookie.
        shell = f"{world.url}/api/v1/sessions/{one}/terminal"
        async with client.ws_connect(shell, headers={"Origin": first}) as line:
            assert (await line.receive(10)).data == 4403
        pairs = f"{world.url}/api/v1/keypairs"
        # Not even with the page's own token.
        async with client.post(pairs, headers={"Origin": first, "X-Carrel-CSRF": csrf}) as answer:
            assert (answer.status, (await answer.json())["code"]) == (403, "auth.origin")
        async with client.post(pairs, headers={"X-Carrel-CSRF": csrf}) as answer:
            assert answer.status == 201


async def test_ports_outlive_the_gateway(world: World) -> None:
    first = free_port(COUNT)
    ports = range(first, first + COUNT)
    world.settings.app_ports = f"{ports[0]}-{ports[-1]}"
    async with browser() as client:
        async with gate_at_work(world.database, world.people, "http://localhost:1", ports) as gate:
            session = await gate.session(await gate.app(cookies))
            origin = await enter(client, await open_app(world, session))
        async with gate_at_work(world.database, world.people, "http://localhost:1", ports) as gate:
            # The app went with the first gateway's stack; the way to it is still known.
            status, page = await text_at(client, origin)
            assert (status, "The app does not respond" in page) == (502, True)
            assert PUBLIC_URL in page


async def test_port_is_taken_over_only_when_nobody_needs_it(world: World, gate: Gate) -> None:
    app = await gate.app(cookies)
    sessions = [await gate.session(app) for _ in range(COUNT + 1)]
    *opened, late = sessions
    urls = await asyncio.gather(*(open_app(world, session) for session in opened))
    assert {port_of(url) for url in urls} == set(world.settings.effective_app_ports), "one each"
    async with browser() as client:
        for url in urls:
            await enter(client, url)

    async with world.http() as http:
        path = f"/api/v1/sessions/{late}/apps/web/open"
        async with http.post(path, headers={"Host": ADDRESS}) as answer:
            problem = await answer.json()
        assert (answer.status, problem["code"]) == (409, "app.no_port")
        assert "CARREL_APP_PORTS" in problem["hint"]

    await force_state(world.database, opened[1], SessionState.TERMINATED)
    async with browser() as client:
        url = await open_app(world, late)
        assert port_of(url) == port_of(urls[1])
        # The gateway has just been at this port for another app.
        origin = await enter(client, url)
        assert (await text_at(client, origin))[0] == 200
    # Nobody is left who could use the others when the one who opened them has no keypair any more.
    await sql(world.database, "DELETE FROM keypairs WHERE user_id = :id", id=world.people.user.user_id)
    again = await gate.session(app, owner_id=world.people.superadmin.user_id)
    url = await open_app(world, again, actor=world.people.superadmin)
    assert port_of(url) in {port_of(urls[0]), port_of(urls[2])}


async def test_port_that_nobody_was_given_leads_nowhere(gate: Gate, world: World) -> None:
    async with browser() as client:
        for port in world.settings.effective_app_ports:
            assert (await text_at(client, f"http://127.0.0.1:{port}/"))[0] == 404


async def test_port_of_another_program_is_left_out(world: World) -> None:
    first = free_port(COUNT)
    ports = range(first, first + COUNT)
    world.settings.app_ports = f"{ports[0]}-{ports[-1]}"

    async def closed() -> list[int]:
        async with world.database.transaction() as tx:
            rows = await tx.execute(text("SELECT port FROM app_ports WHERE session_id = ''"))
            return list(rows.scalars())

    async def none_closed() -> bool:
        return not await closed()

    with socket.create_server(("127.0.0.1", ports[0])):
        async with gate_at_work(world.database, world.people, "http://localhost:1", ports) as gate:
            assert await eventually(closed) == [ports[0]]
            app = await gate.app(cookies)
            given = [port_of(await open_app(world, await gate.session(app))) for _ in range(COUNT - 1)]
            assert set(given) == {ports[1], ports[2]}
    async with gate_at_work(world.database, world.people, "http://localhost:1", ports) as gate:
        await eventually(none_closed)
        session = await gate.session(await gate.app(cookies))
        assert port_of(await open_app(world, session)) == ports[0]
