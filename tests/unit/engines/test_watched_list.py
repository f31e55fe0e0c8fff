"""A list that a watch keeps current, against a scripted API server."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from aiohttp import web
from people import eventually

from carrel.engines.kubernetes.cluster_access import ClusterAccess
from carrel.engines.kubernetes.kubernetes_api import KubernetesApi
from carrel.engines.kubernetes.watched_list import WatchedList


def item(name: str, version: int, text: str = "", uid: str = "") -> Any:
    metadata = {"name": name, "namespace": "n", "uid": uid or f"{name}-1", "resourceVersion": str(version)}
    return {"metadata": metadata, "text": text}


class Server:
    """Serves one list, and events that a test sends."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.lists = 0
        self.before_list_ends: Callable[[], None] = lambda: None
        self._events: asyncio.Queue[Any] = asyncio.Queue()

    def send(self, kind: str, changed: Any) -> None:
        self._events.put_nowait({"type": kind, "object": changed})

    def hang_up(self) -> None:
        self._events.put_nowait(None)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        if "watch" not in request.query:
            self.lists += 1
            metadata = {"resourceVersion": "10"}
            listed = web.json_response({"metadata": metadata, "items": self.items})
            self.before_list_ends()
            return listed
        response = web.StreamResponse()
        await response.prepare(request)
        while (event := await self._events.get()) is not None:
            await response.write(json.dumps(event).encode() + b"\n")
        assert request.transport
        request.transport.abort()
        return response


@pytest.fixture
async def server() -> Server:
    return Server()


Changes = list[tuple[str | None, str | None]]


@pytest.fixture
async def watched(server: Server) -> AsyncIterator[Callable[[Changes], WatchedList[str]]]:
    app = web.Application()
    app.router.add_get("/things", server.serve)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    api = KubernetesApi(ClusterAccess(url=f"http://{host}:{port}"))
    yield lambda changes: WatchedList(
        api, "things", {}, lambda one: str(one["text"]), lambda before, now: changes.append((before, now))
    )
    await api.close()
    await runner.cleanup()


Make = Callable[[Changes], WatchedList[str]]


async def running(one: WatchedList[str]) -> "asyncio.Task[None]":
    task = asyncio.create_task(one.run())
    await eventually(lambda: one.is_watched)
    return task


async def test_it_is_read_without_requests_while_it_is_watched(server: Server, watched: Make) -> None:
    server.items = [item("a", 1, "first")]
    one = watched([])
    assert list(await one.read()) == ["first"]
    assert list(await one.read()) == ["first"]
    assert server.lists == 2
    task = await running(one)
    for _ in range(10):
        assert list(await one.read()) == ["first"]
    assert server.lists == 3
    task.cancel()


async def test_it_follows_changes_and_reports_them(server: Server, watched: Make) -> None:
    server.items = [item("a", 1, "first")]
    changes: Changes = []
    one = watched(changes)
    task = await running(one)
    server.send("ADDED", item("b", 11, "second"))
    server.send("MODIFIED", item("a", 12, "third"))
    server.send("BOOKMARK", item("", 13))
    server.send("DELETED", item("b", 14, "second"))
    await eventually(lambda: len(changes) == 3)
    assert changes == [(None, "second"), ("first", "third"), ("second", None)]
    assert list(await one.read()) == ["third"]
    assert one.get("n/a") == "third"
    task.cancel()


async def test_it_is_listed_again_once_the_watch_has_ended(server: Server, watched: Make) -> None:
    one = watched([])
    task = await running(one)
    server.hang_up()
    await asyncio.wait({task}, timeout=30)
    assert task.exception()
    server.items = [item("a", 1, "first")]
    assert list(await one.read()) == ["first"]


async def test_own_changes_are_current_before_the_watch_brings_them(server: Server, watched: Make) -> None:
    server.items = [item("a", 1, "first")]
    one = watched([])
    task = await running(one)
    one.put(item("a", 12, "started"))
    one.put(item("b", 13, "created"))
    assert sorted(await one.read()) == ["created", "started"]
    # What the watch brings late is older.
    server.send("MODIFIED", item("a", 11, "starting"))
    server.send("ADDED", item("c", 14, "other"))
    await eventually(lambda: one.get("n/c") == "other")
    assert one.get("n/a") == "started"
    task.cancel()


async def test_what_was_deleted_does_not_come_back(server: Server, watched: Make) -> None:
    server.items = [item("a", 1, "first"), item("b", 2, "second")]
    one = watched([])
    task = await running(one)
    # We have deleted it, and the watch still brings a former state of it.
    one.drop(item("a", 1))
    server.send("MODIFIED", item("a", 11, "ending"))
    server.send("DELETED", item("b", 12))
    await eventually(lambda: one.get("n/b") is None)
    assert list(await one.read()) == []
    # We have read it before others deleted it.
    one.put(item("b", 11, "late"))
    assert list(await one.read()) == []
    # Another with its name.
    one.put(item("a", 13, "again", uid="a-2"))
    server.send("DELETED", item("a", 12))
    server.send("ADDED", item("c", 14, "other"))
    await eventually(lambda: one.get("n/c") == "other")
    assert one.get("n/a") == "again"
    task.cancel()


async def test_what_changes_while_the_list_is_made_is_in_it(server: Server, watched: Make) -> None:
    def change() -> None:
        things.put(item("b", 11, "made"))
        things.drop(server.items[0])

    things = watched([])
    things.put(item("c", 9, "before it is watched"))
    server.items = [item("a", 5, "old")]
    server.before_list_ends = change
    task = await running(things)
    assert list(things.watched) == ["made"]
    server.send("DELETED", item("a", 12, uid="a-1"))
    task.cancel()
