"""A session's log over HTTP, before, while and after it runs."""

import asyncio
from pathlib import Path

import pytest
from access_kit import World, world
from local_engine import LocalEngine
from session_kit import main_of

from carrel.core.clock import SystemClock
from carrel.core.ids import SessionId
from carrel.engines.fake import FakeEngine
from carrel.engines.port import ContainerSpec
from carrel.sessions import containers
from carrel.sessions import service as sessions
from carrel.sessions.containers import ContainerChange
from carrel.tables.session_states import ContainerState, SessionState

__all__ = ["world"]


@pytest.fixture
async def logged(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """With the fake engine's own logs, which can be followed."""
    monkeypatch.setattr(LocalEngine, "logs", FakeEngine.logs)
    return world


async def say(world: World, session: SessionId, text: bytes) -> None:
    container = world.engine.world.containers[main_of(session)]
    container.output.append(text)
    container.changed.fire()


async def end(world: World, session: SessionId, kept: bytes) -> None:
    """What the reaper does: keep the log, remove the container, end the session."""
    now = SystemClock().now()
    await world.terminate(session)
    async with world.database.transaction() as tx:
        await sessions.keep_log(tx, main_of(session), kept)
    await world.engine.remove(main_of(session), grace_s=0)
    async with world.database.transaction() as tx:
        await sessions.remove_container(tx, session, main_of(session), cause="removed", now=now)


async def test_log_is_live_then_kept(logged: World) -> None:
    session = await logged.session()
    await say(logged, session, b"one\ntwo\nthree\n")
    async with logged.http() as http:
        path = f"/api/v1/sessions/{session}/logs"
        for query, expected in (("", "one\ntwo\nthree\n"), ("?tail=2", "two\nthree\n"), ("?tail=0", "")):
            async with http.get(path + query) as answer:
                assert await answer.text() == expected
        assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
        await end(logged, session, b"one\ntwo\nthree\nlast\n")
        async with http.get(path + "?tail=1&download=true") as answer:
            assert await answer.text() == "last\n"
        assert answer.headers["Content-Disposition"] == f'attachment; filename="desk-{session}.log"'


async def test_following_ends_with_the_session_and_repeats_nothing(logged: World) -> None:
    session = await logged.session()
    await say(logged, session, b"one\n")
    async with logged.http() as http, http.get(f"/api/v1/sessions/{session}/logs?follow=true") as answer:
        assert await answer.content.readline() == b"one\n"
        await say(logged, session, b"two\n")
        assert await answer.content.readline() == b"two\n"
        await end(logged, session, b"one\ntwo\n")
        assert await asyncio.wait_for(answer.content.read(), 10) == b""


async def test_following_before_the_start_waits_for_it(logged: World) -> None:
    session = await logged.session(state=SessionState.PREPARING)
    async with logged.http() as http:
        async with http.get(f"/api/v1/sessions/{session}/logs") as answer:
            assert await answer.text() == ""
        async with http.get(f"/api/v1/sessions/{session}/logs?follow=true") as answer:
            await logged.engine.ensure(
                ContainerSpec(main_of(session), "tiny", {"cpu": 1, "mem": 1}), lambda _: None
            )
            await say(logged, session, b"hello\n")
            async with logged.database.transaction() as tx:
                await containers.change(
                    tx,
                    session,
                    [ContainerChange(main_of(session), address="127.0.0.1")],
                    ContainerState.RUNNING,
                    states=[SessionState.PREPARING],
                    cause="started",
                    now=SystemClock().now(),
                )
            assert await asyncio.wait_for(answer.content.readline(), 10) == b"hello\n"


async def test_engine_that_is_away_is_a_problem_and_not_an_empty_log(logged: World) -> None:
    session = await logged.session()
    logged.engine.world.go_away()
    async with logged.http() as http, http.get(f"/api/v1/sessions/{session}/logs") as answer:
        assert (answer.status, (await answer.json())["code"]) == (503, "engine.unavailable")


async def test_log_of_somebody_else_is_not_there(logged: World, tmp_path: Path) -> None:
    session = await logged.session()
    async with (
        logged.http(logged.people.stranger) as http,
        http.get(f"/api/v1/sessions/{session}/logs") as answer,
    ):
        assert answer.status == 404
