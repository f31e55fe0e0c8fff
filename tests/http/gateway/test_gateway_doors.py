"""Who passes the gateway: tickets, cookies, origins, and sessions that come and go."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from aiohttp import web
from gateway_kit import PUBLIC_URL, Answer, Gate, gate, gate_at_work, with_keypair
from people import People, eventually
from session_kit import main_of

from carrel.apps import service as apps
from carrel.core.clock import SystemClock
from carrel.core.ids import SessionId
from carrel.db.database import Database
from carrel.gateway import authorization
from carrel.sessions import containers

__all__ = ["gate"]


async def hello(request: web.Request) -> web.Response:
    return web.Response(text=f"hello from {request.path_qs}")


async def test_ticket_becomes_a_cookie_once(gate: Gate) -> None:
    session = await gate.session(await gate.app(hello))
    ticket = await gate.ticket(session)
    path = f"/lab/tree?a=1&carrel_ticket={ticket}&b=%2F"
    first = await gate.get(session, path)
    assert first.status == 302
    assert first.headers["Location"] == f"http://{gate.host(session)}/lab/tree?a=1&b=%2F"
    assert first.headers["Referrer-Policy"] == "no-referrer"
    cookie, *attributes = first.headers["Set-Cookie"].split("; ")
    assert cookie.startswith(f"carrel_app_web-{session}=")
    assert set(attributes) == {"HttpOnly", "Max-Age=43200", "Path=/", "SameSite=Lax"}, "and no Domain"
    opened = await gate.get(session, "/lab/tree?a=1&b=%2F", cookie=cookie)
    assert (opened.status, opened.body) == (200, b"hello from /lab/tree?a=1&b=%2F")

    again = await gate.get(session, path)
    assert again.status == 401
    assert "Set-Cookie" not in again.headers
    # The same browser that reloads the old link is let in by its cookie.
    reloaded = await gate.get(session, path, cookie=cookie)
    assert (reloaded.status, reloaded.headers["Location"]) == (302, first.headers["Location"])
    assert "Set-Cookie" not in reloaded.headers


async def test_redirect_after_a_ticket_stays_on_the_same_host(gate: Gate) -> None:
    session = await gate.session(await gate.app(hello))
    answer = await gate.get(session, f"//evil.example/?carrel_ticket={await gate.ticket(session)}")
    assert answer.headers["Location"] == f"http://{gate.host(session)}//evil.example/"


async def test_cookie_is_secure_behind_https(database: Database, people: People) -> None:
    async with gate_at_work(database, people, "https://apps.example.org") as gate:
        session = await gate.session(await gate.app(hello))
        host = f"web-{session}.apps.example.org"
        path = f"/?carrel_ticket={await gate.ticket(session)}"
        answer = await gate.get(session, path, headers={"Host": host})
        assert "Secure" in answer.headers["Set-Cookie"].split("; ")
        assert answer.headers["Location"] == f"https://{host}/"


def refused(answer: Answer, status: int, code: str) -> None:
    assert (answer.status, answer.headers["X-Carrel-Error"]) == (status, code)
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert answer.headers["Cache-Control"] == "no-store"
    assert f'href="{PUBLIC_URL}/sessions"'.encode() in answer.body


async def test_nobody_passes_without_a_grant_for_this_very_app(gate: Gate) -> None:
    port = await gate.app(hello)
    session, other = await gate.session(port), await gate.session(port)
    cookie = await gate.cookie(other)
    assert (await gate.get(other, cookie=cookie)).status == 200
    refused(await gate.get(session), 401, "gateway.no_grant")
    refused(await gate.get(session, cookie=f"carrel_app_web-{session}=x"), 401, "gateway.no_grant")
    for name in (f"carrel_app_web-{session}", f"carrel_app_web-{other}"):
        foreign = f"{name}={cookie.split('=', 1)[1]}"
        refused(await gate.get(session, cookie=foreign), 401, "gateway.no_grant")
    refused(await gate.get(session, f"/?carrel_ticket={await gate.ticket(other)}"), 401, "gateway.no_grant")
    refused(await gate.get(session, "/?carrel_ticket=x"), 401, "gateway.no_grant")
    for host in (
        f"other-{other}.localhost",
        f"web-{other}.example.org",
        "localhost",
        "127.0.0.1",
        "web-.localhost",
    ):
        answer = await gate.get(other, cookie=cookie, headers={"Host": host})
        assert answer.status in (401, 404), host


async def test_cookie_planted_by_a_sibling_does_not_lock_one_out(gate: Gate) -> None:
    session = await gate.session(await gate.app(hello))
    mine = await gate.cookie(session)
    for planted in (1, 5, 40):
        hiding = [f"carrel_app_web-{session}=planted{planted}-{number}" for number in range(planted)]
        for cookies in ([*hiding, "x=1", mine], [mine, *hiding]):
            assert (await gate.get(session, cookie="; ".join(cookies))).status == 200


async def test_expired_grant_is_worth_nothing(gate: Gate) -> None:
    session = await gate.session(await gate.app(hello))
    before = SystemClock().now() - apps.GRANT_LIFETIME - timedelta(seconds=1)
    actor = await with_keypair(gate.database, gate.people.user)
    async with gate.database.transaction() as tx:
        old = await apps.issue_ticket(tx, actor, session=session, app="web", now=before)
    async with gate.database.transaction() as tx:
        grant = await apps.redeem(tx, ticket=old.token, session=session, app="web", now=before)
    assert grant
    refused(
        await gate.get(session, cookie=f"carrel_app_web-{session}={grant.token}"), 401, "gateway.no_grant"
    )


async def test_session_that_ends_closes_its_door_at_once(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authorization, "REMEMBERED_S", 3600.0)
    session = await gate.session(await gate.app(hello))
    cookie = await gate.cookie(session)
    assert (await gate.get(session, cookie=cookie)).status == 200
    await gate.terminate(session)

    async def closed() -> bool:
        return (await gate.get(session, cookie=cookie)).status == 404

    await eventually(closed)
    refused(await gate.get(session, cookie=cookie), 404, "gateway.ended")


async def test_container_that_moved_is_found_again(gate: Gate) -> None:
    session = await gate.session(await gate.app(hello), address="127.0.0.2")
    cookie = await gate.cookie(session)
    refused(await gate.get(session, cookie=cookie), 502, "gateway.not_answering")
    async with gate.database.transaction() as tx:
        await containers.relocate(tx, {main_of(session): "127.0.0.1"})
    assert (await gate.get(session, cookie=cookie)).status == 200


async def test_session_that_starts_again_is_waited_for(gate: Gate) -> None:
    session = await gate.session(await gate.app(hello), state="STARTING", address=None)
    answer = await gate.get(session, cookie=await gate.cookie(session))
    refused(answer, 503, "gateway.not_running")
    assert answer.headers["Retry-After"] == "2"


OWN = "own"


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("POST", {"Origin": OWN}, 200),
        ("POST", {}, 200),
        ("POST", {"Sec-Fetch-Site": "same-origin"}, 200),
        ("POST", {"Origin": "http://evil.example"}, 403),
        ("POST", {"Origin": "null"}, 403),
        ("POST", {"Origin": "https://web-x.localhost"}, 403),
        ("POST", {"Sec-Fetch-Site": "cross-site"}, 403),
        ("POST", {"Sec-Fetch-Site": "same-site"}, 403),
        ("DELETE", {"Origin": "http://evil.example"}, 403),
        ("GET", {"Origin": "http://evil.example"}, 200),
        ("GET", {"Sec-Fetch-Site": "cross-site"}, 200),
    ],
)
async def test_other_sites_cannot_act(gate: Gate, method: str, headers: dict[str, str], status: int) -> None:
    session = await gate.session(await gate.app(hello))
    own = {name: f"http://{gate.host(session)}" if value is OWN else value for name, value in headers.items()}
    answer = await gate.get(session, cookie=await gate.cookie(session), method=method, headers=own)
    assert answer.status == status


@pytest.mark.parametrize(
    ("origin", "status"), [(OWN, 101), (None, 101), ("http://evil.example", 403), ("http://localhost:1", 403)]
)
async def test_other_sites_cannot_open_websockets(gate: Gate, origin: str | None, status: int) -> None:
    async def accept(request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        return socket

    session = await gate.session(await gate.app(accept))
    headers: dict[str, Any] = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    if origin:
        headers["Origin"] = f"http://{gate.host(session)}" if origin is OWN else origin
    answer = await gate.get(session, cookie=await gate.cookie(session), headers=headers)
    assert answer.status == status


async def test_odd_requests_are_turned_away(gate: Gate) -> None:
    session = await gate.session(await gate.app(hello))
    cookie = await gate.cookie(session)
    host = gate.host(session)
    opens = f"Host: {host}\r\nCookie: {cookie}\r\n"
    for request in (
        f"GET http://{host}/ HTTP/1.1\r\n{opens}\r\n",
        f"CONNECT {host} HTTP/1.1\r\n{opens}\r\n",
        f"TRACE / HTTP/1.1\r\n{opens}\r\n",
        f"GET / HTTP/1.1\r\n{opens}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    ):
        reader, _ = await gate.speak(request.encode())
        line = await asyncio.wait_for(reader.readline(), 10)
        assert line.split()[1] == b"400", (request, line)


async def test_own_paths_never_reach_the_app(gate: Gate) -> None:
    session = await gate.session(port := await gate.app(hello))
    cookie = await gate.cookie(session)
    health = await gate.get(SessionId("any"), "/.carrel/health", headers={"Host": "anything"})
    assert (health.status, health.body) == (200, b'{"status": "ok"}')
    assert (await gate.get(session, "/.carrel/else", cookie=cookie)).status == 404
    allowed = await gate.get(session, "/.carrel/auth", cookie=cookie)
    assert (allowed.status, allowed.headers["X-Carrel-Upstream"]) == (204, f"127.0.0.1:{port}")
    assert (await gate.get(session, "/.carrel/auth")).status == 401
    forged = {"X-Forwarded-Method": "POST", "Origin": "http://evil.example"}
    assert (await gate.get(session, "/.carrel/auth", cookie=cookie, headers=forged)).status == 403
