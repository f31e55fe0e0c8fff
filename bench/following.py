"""Event stream as read by a page: when each session reached a state, by this process's clock."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import orjson

from bench.control_plane import ControlPlane
from bench.load import request


class Follower:
    """Times (of time.perf_counter) at which events arrived."""

    def __init__(self) -> None:
        self._states: dict[tuple[str, str], float] = {}
        self._objects: dict[str, float] = {}
        self._news = asyncio.Condition()

    async def reached(self, object_id: str, state: str) -> float:
        """object_id: of a session, or a version of an environment."""
        async with self._news:
            await self._news.wait_for(lambda: (object_id, state) in self._states)
        return self._states[object_id, state]

    async def saw(self, object_id: str) -> float:
        async with self._news:
            await self._news.wait_for(lambda: object_id in self._objects)
        return self._objects[object_id]

    async def read(self, reader: asyncio.StreamReader) -> None:
        while line := await reader.readline():
            if not line.startswith(b"data: "):
                continue
            now = time.perf_counter()
            event = orjson.loads(line[6:])
            if "object" not in event:
                continue
            self._objects.setdefault(event["object"]["id"], now)
            if state := event["data"].get("state"):
                self._states.setdefault((event["object"]["id"], state), now)
            if version := event["data"].get("version"):
                self._states.setdefault((version["id"], version["state"]), now)
            async with self._news:
                self._news.notify_all()


@asynccontextmanager
async def following(own: ControlPlane) -> AsyncIterator[Follower]:
    """Follow events from now on."""
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(own.url).port, limit=1 << 20)
    writer.write(request(own.url + "/api/v1/events?follow=true", Authorization=own.basic))
    await reader.readuntil(b"event: hello")
    follower = Follower()
    task = asyncio.create_task(follower.read(reader))
    try:
        yield follower
    finally:
        task.cancel()
        writer.close()
