"""Opening apps: started once, waited for, and reached by a ticket that works once."""

import asyncio
import os
import signal
import sys
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from access_kit import World, world
from databases import sql
from gateway_kit import with_keypair
from ports import free_port

from carrel.apps import opening
from carrel.apps import service as apps
from carrel.core.clock import SystemClock
from carrel.core.ids import SessionId

__all__ = ["world"]

# An app that says when it starts, opens its port late, and answers only to its secret.
APP = """
import http.server, os, sys, time
print("started", flush=True)
open("app.pid", "w").write(str(os.getpid()))
time.sleep(0.2)
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        known = self.headers.get("Authorization") == "token " + os.environ["CARREL_APP_SECRET"]
        self.send_response(200 if known else 503); self.end_headers()
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def notebook(port: int, **changed: Any) -> dict[str, Any]:
    return {
        "name": "notebook",
        "title": "Notebook",
        "protocol": "http",
        "port": port,
        "command": [sys.executable, "-c", APP, str(port)],
        "ready": "/ready",
        "auth_header": "Authorization: token {secret}",
        **changed,
    }


def stop_app(world: World) -> None:
    """End the app, which outlives the exec that started it."""
    os.kill(int((world.engine.home / "app.pid").read_text()), signal.SIGTERM)


async def test_app_is_started_once_and_has_a_log_of_its_own(world: World) -> None:
    port = free_port()
    session = await world.session(apps=[notebook(port)])
    try:
        async with world.http() as http:
            async with http.get(f"/api/v1/sessions/{session}/apps") as answer:
                listed = (await answer.json())["items"][0]
            assert (listed["name"], listed["port"], listed["state"]) == ("notebook", port, "stopped")
            urls = await asyncio.gather(*(opened(http, session) for _ in range(3)))
            async with http.get(f"/api/v1/sessions/{session}/apps") as answer:
                listed = (await answer.json())["items"][0]
            assert (listed["running"], listed["state"]) == (True, "ready")
            async with http.get(f"/api/v1/sessions/{session}/apps/notebook/logs") as answer:
                log = (await answer.json())["text"]
    finally:
        stop_app(world)
    assert log.count("started") == 1
    assert "started" not in world.engine.log.read_text()
    assert len(set(urls)) == 3, "each opening has a ticket of its own"
    parts = urlsplit(urls[0])
    assert (parts.scheme, parts.netloc, parts.path) == ("http", f"notebook-{session}.localhost:8701", "/")
    assert list(parse_qs(parts.query)) == ["carrel_ticket"]


async def test_the_first_opening_is_in_the_timeline_until_the_session_starts_again(world: World) -> None:
    session = await world.session(apps=[notebook(free_port())])
    began = (
        "INSERT INTO session_history (session_id, from_state, to_state, cause) VALUES ('{}', '{}', '{}', 'x')"
    )
    await sql(world.database, began.format(session, "STARTING", "PENDING"))
    await sql(world.database, began.format(session, "STARTING", "RUNNING"))

    async def app_steps(http: Any) -> list[dict[str, Any]]:
        async with http.get(f"/api/v1/sessions/{session}/timeline") as answer:
            return [one for one in (await answer.json())["steps"] if one["step"] == "app"]

    try:
        async with world.http() as http:
            assert await app_steps(http) == []
            await opened(http, session)
            [first] = await app_steps(http)
            assert (first["app"], first["begins_at"] < first["ends_at"]) == ("notebook", True)
            await opened(http, session)
            assert await app_steps(http) == [first]
            await sql(
                world.database, f"UPDATE containers SET launched_at = now() WHERE session_id = '{session}'"
            )
            await opened(http, session)
            [again] = await app_steps(http)
            assert again["begins_at"] > first["ends_at"]
    finally:
        stop_app(world)


async def test_app_is_reached_where_its_resource_group_says(world: World) -> None:
    port = free_port()
    session = await world.session(apps=[notebook(port)])
    await sql(world.database, "UPDATE resource_groups SET app_address = 'https://apps.far.example.org:8443'")
    try:
        async with world.http() as http:
            parts = urlsplit(await opened(http, session))
    finally:
        stop_app(world)
    assert (parts.scheme, parts.netloc) == ("https", f"notebook-{session}.apps.far.example.org:8443")


async def opened(http: Any, session: str) -> str:
    async with http.post(f"/api/v1/sessions/{session}/apps/notebook/open") as answer:
        body = await answer.json()
        assert answer.status == 200, body
        return str(body["url"])


async def test_app_that_does_not_come_up_shows_the_end_of_its_log(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It need not wait for the whole time in which an app may come up: the process has ended.
    monkeypatch.setattr(opening, "_AFTERLIFE_S", 0.2)
    monkeypatch.setattr(opening, "START_TIMEOUT_S", 600.0)
    broken = notebook(free_port(), command=["sh", "-c", "echo no module named lab >&2; exit 1"])
    session = await world.session(apps=[broken])
    async with world.http() as http, http.post(f"/api/v1/sessions/{session}/apps/notebook/open") as answer:
        problem = await answer.json()
    assert (answer.status, problem["code"]) == (503, "app.not_ready")
    assert "no module named lab" in problem["hint"]


async def test_opening_is_refused_for_what_is_not_there_or_not_yours(world: World) -> None:
    session = await world.session(apps=[notebook(free_port())])
    waiting = await world.session(name="waiting", state="PENDING", apps=[notebook(free_port())])
    cases = [
        (world.people.user, f"{session}/apps/nothing/open", 404, "app.not_found"),
        (world.people.user, f"{waiting}/apps/notebook/open", 409, "session.not_running"),
        (world.people.stranger, f"{session}/apps/notebook/open", 404, "session.not_found"),
    ]
    for actor, path, status, code in cases:
        async with world.http(actor) as http, http.post(f"/api/v1/sessions/{path}") as answer:
            assert (answer.status, (await answer.json())["code"]) == (status, code)


async def test_ticket_is_redeemed_once_even_when_two_come_at_once(world: World) -> None:
    session, now = await world.session(), SystemClock().now()
    actor = await with_keypair(world.database, world.people.user)
    async with world.database.transaction() as tx:
        ticket = await apps.issue_ticket(tx, actor, session=session, app="notebook", now=now)

    async def redeem() -> apps.Issued | None:
        async with world.database.transaction() as tx:
            return await apps.redeem(tx, ticket=ticket.token, session=session, app="notebook", now=now)

    grants = [grant for grant in await asyncio.gather(*(redeem() for _ in range(8))) if grant]
    assert len(grants) == 1
    async with world.database.transaction() as tx:
        grant = await apps.grant_of(tx, token=grants[0].token, now=now)
        late = await apps.grant_of(tx, token=grants[0].token, now=now + apps.GRANT_LIFETIME)
    assert grant is not None
    assert (grant.session_id, grant.app, grant.user_id) == (session, "notebook", actor.user_id)
    assert late is None


@pytest.mark.parametrize(
    ("session", "app", "later"),
    [("zzzzzzzzzzzz", "notebook", 0), (None, "other", 0), (None, "notebook", 30)],
)
async def test_ticket_for_something_else_or_too_old_is_worth_nothing(
    world: World, session: str | None, app: str, later: int
) -> None:
    opened, now = await world.session(), SystemClock().now()
    actor = await with_keypair(world.database, world.people.user)
    async with world.database.transaction() as tx:
        ticket = await apps.issue_ticket(tx, actor, session=opened, app="notebook", now=now)
    async with world.database.transaction() as tx:
        at = now + timedelta(seconds=later)
        tried = SessionId(session) if session else opened
        assert await apps.redeem(tx, ticket=ticket.token, session=tried, app=app, now=at) is None


async def test_pruning_takes_what_has_expired_and_nothing_else(world: World) -> None:
    session, now = await world.session(), SystemClock().now()
    actor = await with_keypair(world.database, world.people.user)
    async with world.database.transaction() as tx:
        old = await apps.issue_ticket(tx, actor, session=session, app="a", now=now - timedelta(minutes=1))
        good = await apps.issue_ticket(tx, actor, session=session, app="a", now=now)
    async with world.database.transaction() as tx:
        await apps.prune(tx, now)
    async with world.database.transaction() as tx:
        before = old.expires_at - timedelta(seconds=1)
        assert await apps.redeem(tx, ticket=old.token, session=session, app="a", now=before) is None
        assert await apps.redeem(tx, ticket=good.token, session=session, app="a", now=now)


def test_secret_differs_by_session_and_key() -> None:
    one = apps.app_secret(b"k" * 32, SessionId("abcdefghijkl"))
    assert one == apps.app_secret(b"k" * 32, SessionId("abcdefghijkl"))
    assert (
        len(
            {
                one,
                apps.app_secret(b"x" * 32, SessionId("abcdefghijkl")),
                apps.app_secret(b"k" * 32, SessionId("m")),
            }
        )
        == 3
    )
