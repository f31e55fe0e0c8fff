"""A session's log over HTTP, before, while and after it runs."""

import asyncio
import gzip
import zlib
from pathlib import Path

import orjson
import pytest
from access_kit import World, world
from local_engine import LocalEngine
from session_kit import main_of

from carrel.core.clock import SystemClock
from carrel.core.ids import SessionId
from carrel.engines.fake import FakeEngine
from carrel.engines.port import ContainerSpec, LogRecord
from carrel.sessions import containers, removal
from carrel.sessions.containers import ContainerChange
from carrel.sessions.logs.store import DIRECTORY, LogStore
from carrel.tables.session_states import ContainerState, SessionState
from carrel.tables.sessions import KeptLog

__all__ = ["world"]


@pytest.fixture
async def logged(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """With the fake engine's own logs, which can be followed."""
    monkeypatch.setattr(LocalEngine, "logs", FakeEngine.logs)
    return world


async def say(world: World, session: SessionId, text: bytes) -> None:
    container = world.engine.world.containers[main_of(session)]
    world.engine.world.write(container, text)


def store(world: World, session: SessionId) -> None:
    """Store what the container has printed so far, as the controllers do."""
    writer = LogStore(world.settings.data_dir / DIRECTORY).writer(main_of(session), None)
    if new := writer.trail.resume().new(world.engine.world.containers[main_of(session)].output):
        writer.append(new)


async def end(world: World, session: SessionId) -> None:
    """What the reaper does: store the log, remove the container, end the session."""
    now = SystemClock().now()
    await world.terminate(session)
    store(world, session)
    await world.engine.remove(main_of(session), grace_s=0)
    async with world.database.transaction() as tx:
        await removal.remove_container(tx, session, main_of(session), cause="removed", now=now)


async def test_log_is_live_then_kept(logged: World) -> None:
    session = await logged.session()
    await say(logged, session, b"one\ntwo\nthree\n")
    async with logged.http() as http:
        path = f"/api/v1/sessions/{session}/logs"
        for query, expected in (("", "one\ntwo\nthree\n"), ("?tail=2", "two\nthree\n"), ("?tail=0", "")):
            async with http.get(path + query) as answer:
                assert await answer.text() == expected
        assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
        await say(logged, session, b"last\n")
        await end(logged, session)
        async with http.get(path + "?tail=1&download=true") as answer:
            assert await answer.text() == "last\n"
        assert answer.headers["Content-Disposition"] == f'attachment; filename="desk-{session}.log"'


async def test_log_of_a_session_that_prints_nothing_is_empty(logged: World) -> None:
    session = await logged.session()
    async with logged.http() as http, http.get(f"/api/v1/sessions/{session}/logs") as answer:
        assert (answer.status, await answer.text()) == (200, "")


async def test_following_ends_with_the_session_and_repeats_nothing(logged: World) -> None:
    session = await logged.session()
    await say(logged, session, b"one\n")
    async with logged.http() as http, http.get(f"/api/v1/sessions/{session}/logs?follow=true") as answer:
        assert await answer.content.readline() == b"one\n"
        await say(logged, session, b"two\n")
        assert await answer.content.readline() == b"two\n"
        await say(logged, session, b"last words\n")
        await end(logged, session)
        assert await answer.content.readline() == b"last words\n"
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


async def say_apart(world: World, session: SessionId, *lines: bytes) -> None:
    """Lines of standard error begin with an exclamation mark. One a second, from 2026-01-01."""
    container = world.engine.world.containers[main_of(session)]
    begin = len(container.output)
    container.output += [
        LogRecord(
            b"2026-01-01T00:%02d:%02d.000000000Z" % divmod(begin + number, 60),
            2 if line.startswith(b"!") else 1,
            line + b"\n",
        )
        for number, line in enumerate(lines)
    ]
    container.changed.fire()


async def read(world: World, session: SessionId, **query: str) -> str:
    async with (
        world.http() as http,
        http.get(f"/api/v1/sessions/{session}/logs", params=query) as answer,
    ):
        assert answer.status == 200, await answer.text()
        return await answer.text()


@pytest.fixture(params=["nothing stored", "half stored", "all stored", "ended"])
async def five(request: pytest.FixtureRequest, logged: World) -> tuple[World, SessionId]:
    """A session with five lines, wherever they are."""
    session = await logged.session()
    await say_apart(logged, session, b"one", b"!Two", b"three")
    if request.param != "nothing stored":
        store(logged, session)
    await say_apart(logged, session, b"!four", b"five")
    if request.param == "all stored":
        store(logged, session)
    if request.param == "ended":
        await end(logged, session)
    return logged, session


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, "one\n!Two\nthree\n!four\nfive\n"),
        ({"tail": "3"}, "three\n!four\nfive\n"),
        ({"tail": "0"}, ""),
        ({"tail": "99"}, "one\n!Two\nthree\n!four\nfive\n"),
        ({"stream": "stderr"}, "!Two\n!four\n"),
        ({"stream": "stdout", "tail": "2"}, "three\nfive\n"),
        ({"search": "T"}, "!Two\nthree\n"),
        ({"search": "T", "tail": "1"}, "three\n"),
        ({"search": "nothing"}, ""),
        ({"since": "2026-01-01T00:00:03Z"}, "!four\nfive\n"),
        ({"since": "2026-01-01T01:00:01+01:00", "until": "2026-01-01T00:00:03Z"}, "!Two\nthree\n"),
        ({"until": "2025-01-01"}, ""),
        ({"timestamps": "true", "tail": "1"}, "2026-01-01T00:00:04.000000000Z five\n"),
        ({"attempt": "1", "tail": "1"}, "five\n"),
        ({"attempt": "2"}, ""),
    ],
)
async def test_log_is_searched_wherever_it_is(
    five: tuple[World, SessionId], query: dict[str, str], expected: str
) -> None:
    assert await read(*five, **query) == expected


async def test_log_as_json_tells_time_and_stream(five: tuple[World, SessionId]) -> None:
    lines = (await read(*five, format="json", tail="2")).splitlines()
    assert [orjson.loads(line) for line in lines] == [
        {"at": "2026-01-01T00:00:03.000000000Z", "stream": "stderr", "text": "!four"},
        {"at": "2026-01-01T00:00:04.000000000Z", "stream": "stdout", "text": "five"},
    ]


async def test_following_goes_on_after_the_last_lines_and_filters(logged: World) -> None:
    session = await logged.session()
    await say_apart(logged, session, b"one", b"!two")
    store(logged, session)
    await say_apart(logged, session, b"!three")
    path = f"/api/v1/sessions/{session}/logs?follow=true&stream=stderr&tail=1"
    async with logged.http() as http, http.get(path) as answer:
        assert await answer.content.readline() == b"!three\n"
        await say_apart(logged, session, b"four", b"!five")
        assert await answer.content.readline() == b"!five\n"
        logged.engine.world.go_away()
        logged.engine.world.come_back()
        await say_apart(logged, session, b"!six")
        assert await asyncio.wait_for(answer.content.readline(), 10) == b"!six\n"


async def test_download_is_compressed_where_the_client_takes_it(logged: World) -> None:
    session = await logged.session()
    await say_apart(logged, session, *[b"the same line again"] * 1000)
    path = f"/api/v1/sessions/{session}/logs?download=true"
    async with logged.http(auto_decompress=False) as http:
        async with http.get(path, headers={"Accept-Encoding": "gzip"}) as answer:
            assert answer.headers["Content-Encoding"] == "gzip"
            body = await answer.read()
        assert gzip.decompress(body) == b"the same line again\n" * 1000
        assert len(body) < 500
        async with http.get(path, headers={"Accept-Encoding": "identity"}) as answer:
            assert await answer.read() == b"the same line again\n" * 1000


async def test_lines_that_are_not_kept_are_counted(logged: World) -> None:
    session = await logged.session()
    writer = LogStore(logged.settings.data_dir / DIRECTORY).writer(main_of(session), None)
    lines = [LogRecord(b"2026-01-01T00:00:%02d.000000000Z" % at, 1, b"%d\n" % at) for at in range(9)]
    writer.append(lines[:2])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LogStore, "has_space", lambda self: False)
        with pytest.raises(OSError, match="full"):
            writer.append(lines[2:7])
    writer.append(lines[7:])
    await end(logged, session)
    assert await read(logged, session) == "0\n1\n--- 5 lines are not kept ---\n7\n8\n"
    assert await read(logged, session, search="line") == ""
    notice = orjson.loads((await read(logged, session, format="json")).splitlines()[2])
    assert (notice["stream"], notice["text"]) == ("carrel", "--- 5 lines are not kept ---")


async def test_log_that_an_earlier_version_kept_is_still_there(logged: World) -> None:
    session = await logged.session()
    await end(logged, session)
    async with logged.database.transaction() as tx:
        tx.add(KeptLog(container_id=main_of(session), content=zlib.compress(b"old\nlast\n")))
    assert await read(logged, session) == "old\nlast\n"
    assert await read(logged, session, tail="1") == "last\n"
    assert orjson.loads((await read(logged, session, format="json")).splitlines()[0])["at"] is None


@pytest.mark.parametrize(
    "query", ["stream=both", "attempt=0", "tail=-1", "since=soon", "format=xml", "search=" + "x" * 201]
)
async def test_parameter_that_means_nothing_is_refused(logged: World, query: str) -> None:
    session = await logged.session()
    async with logged.http() as http, http.get(f"/api/v1/sessions/{session}/logs?{query}") as answer:
        assert answer.status == 422
