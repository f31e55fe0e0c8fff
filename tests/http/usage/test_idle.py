"""Saying that a session is in use, over HTTP; and what the API and the gateway see by themselves."""

import asyncio
import json
from datetime import datetime, timedelta

import pytest
from access_kit import World, world
from aiohttp import web
from gateway_kit import Gate, gate
from people import eventually
from session_kit import overwrite
from sqlalchemy import text
from websockets.asyncio.client import connect

from carrel.core.clock import SystemClock
from carrel.core.ids import SessionId
from carrel.db.database import Database
from carrel.permissions.decide import Actor
from carrel.usage.idle import activity

__all__ = ["gate", "world"]

LIMITS = {
    "idle_timeout_s": 3600,
    "idle_use": {"window_s": 600, "grace_s": 0, "below": {"cpu": 5, "accelerator": 5}},
}


@pytest.fixture
def written_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is seen is written down in a moment; before anything begins that writes."""
    monkeypatch.setattr(activity, "EVERY_S", 0.05)


async def active_at(database: Database, session: SessionId, *, after: datetime | None = None) -> datetime:
    """When it was used last, once that is known, or once it is later than before."""

    async def used() -> datetime | None:
        async with database.transaction() as tx:
            statement = text("SELECT active_at FROM session_activity WHERE session_id = :id")
            seen: datetime | None = (await tx.execute(statement, {"id": session})).scalar()
        return seen if seen and (after is None or seen > after) else None

    at = await eventually(used, within_s=60)
    assert at
    return at


async def warn(world: World, session: SessionId) -> None:
    await overwrite(world.database, session, idle_ends_at=SystemClock().now() + timedelta(minutes=5))


async def ask(world: World, who: Actor, method: str, path: str, **body: object) -> tuple[int, dict]:  # type: ignore[type-arg]
    async with world.http(who) as client:
        answer = await client.request(method, f"/api/v1/{path}", json=body or None)
        return answer.status, await answer.json()


async def test_who_may_keeps_a_session(world: World):
    users, admins = world.people.user, world.people.superadmin
    now = SystemClock().now()
    session = await world.session(started_at=now - timedelta(minutes=58), time_limit_s=7200)
    place = f"sessions/{session}"
    assert (await ask(world, users, "GET", f"{place}/idle"))[1]["rules"][0]["rule"] == "lifetime"
    # 1. Each rule of the policy says what is left.
    assert (await ask(world, admins, "PATCH", "policies/default-keypair", limits=LIMITS))[0] == 200
    _, idle = await ask(world, users, "GET", f"{place}/idle")
    assert [(one["rule"], one["limit_s"], one["since"] is None) for one in idle["rules"]] == [
        ("traffic", 3600, False),
        ("use", 600, True),
        ("lifetime", 7200, False),
    ]
    # 2. Keeping sets the clocks back and takes the warning away.
    await warn(world, session)
    assert (await ask(world, users, "GET", place))[1]["idle_ends_at"] is not None
    status, idle = await ask(world, users, "POST", f"{place}/keep")
    assert (status, idle["idle_ends_at"]) == (200, None)
    assert datetime.fromisoformat(idle["rules"][0]["ends_at"]) > now + timedelta(minutes=59)
    assert datetime.fromisoformat(idle["rules"][2]["ends_at"]) < now + timedelta(minutes=63)
    assert (await ask(world, users, "GET", f"{place}/history"))[1]["items"][-1]["cause"] == "kept"
    assert (await ask(world, world.people.stranger, "POST", f"{place}/keep"))[0] == 404
    # 3. What has ended cannot be kept.
    await world.terminate(session)
    assert (await ask(world, users, "POST", f"{place}/keep"))[1]["code"] == "session.not_running"


async def test_only_who_administers_a_session_lets_it_never_end(world: World):
    users, admins = world.people.user, world.people.superadmin
    session = await world.session(started_at=SystemClock().now() - timedelta(minutes=58), time_limit_s=7200)
    place = f"sessions/{session}"
    assert (await ask(world, admins, "PATCH", "policies/default-keypair", limits=LIMITS))[0] == 200
    assert (await ask(world, users, "POST", f"{place}/keep"))[0] == 200
    assert (await ask(world, users, "PUT", f"{place}/exemption", exempt=True))[0] == 403
    status, idle = await ask(world, admins, "PUT", f"{place}/exemption", exempt=True)
    assert (status, idle["exempt"], idle["rules"][0]["since"]) == (200, True, None)
    await ask(world, admins, "PUT", f"{place}/exemption", exempt=True)
    async with world.database.transaction() as tx:
        rows = await tx.execute(
            text("SELECT action FROM audit WHERE object_id = :id AND outcome = 'done' ORDER BY id"),
            {"id": session},
        )
        assert [row.action for row in rows] == ["session.keep", "session.exempt"]


async def test_a_command_counts_as_use(written_at_once: None, world: World):
    session = await world.session()
    async with world.connect(f"{session}/exec") as socket:
        await socket.send(json.dumps({"command": ["true"]}))
        assert json.loads(await asyncio.wait_for(socket.recv(), 20))["type"] == "exit"
    await active_at(world.database, session)


async def test_requests_and_every_message_through_the_gateway_count_as_use(written_at_once: None, gate: Gate):
    async def echo(request: web.Request) -> web.StreamResponse:
        if request.path != "/socket":
            return web.Response(text="hello")
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        async for message in socket:
            if message.data != "say nothing":
                await socket.send_str(message.data)
        return socket

    port = await gate.app(echo)
    session, other = await gate.session(port), await gate.session(port)
    cookie, others_cookie = await gate.cookie(session), await gate.cookie(other)
    written: datetime | None = None

    async def settled() -> datetime:
        """When it was used last, once all that was seen until now is written down."""
        nonlocal written
        assert (await gate.get(other, cookie=others_cookie)).status == 200
        written = await active_at(gate.database, other, after=written)
        return await active_at(gate.database, session)

    assert (await gate.get(session, cookie=cookie)).status == 200
    seen = await settled()
    # Somebody without a grant is no traffic of the session.
    assert (await gate.get(session)).status != 200
    assert await settled() == seen
    url = f"ws://{gate.host(session)}/socket"
    async with connect(
        url,
        host="127.0.0.1",
        port=gate.port,
        proxy=None,
        additional_headers={"Cookie": cookie},
        ping_interval=None,
    ) as socket:
        for message in ("still here", "say nothing", "still here"):
            seen = await settled()
            await socket.send(message)
            if message != "say nothing":
                await socket.recv()
            async with asyncio.timeout(20):
                while await settled() == seen:
                    pass
