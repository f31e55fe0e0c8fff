"""Two Docker daemons of the test's own as two engines: one is killed, and the other's sessions know nothing of it."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, cast

import pytest
from installation import API, Api, Caller, running_installation
from own_dockerd import OwnDockerd
from people import People, eventually
from tiny_image import ensure_tiny_image
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosedError

from carrel.core.ids import new_id
from carrel.db.database import Database
from carrel.engines.docker import DockerEngine
from carrel.engines.fake import FakeEngine


class Two:
    """An installation with the engines `local` and `second`, whose nodes have one name: that of this machine."""

    def __init__(self, api: Api, admin: Caller, daemon: OwnDockerd, image: str) -> None:
        self.api = api
        self.admin = admin
        self.second = daemon
        self._image = image

    async def engine_is(self, name: str, state: str) -> None:
        async def reached() -> bool:
            return bool((await self.admin.get(f"/engines/{name}")).json()["state"] == state)

        assert await eventually(reached, within_s=60)

    async def session_on(self, engine: str) -> str:
        [node] = [
            one for one in (await self.admin.get("/nodes")).json()["items"] if one["engine"]["name"] == engine
        ]
        body = {
            "image": self._image,
            "slots": {"cpu": 100, "mem": 64 << 20},
            "node": f"{node['name']}@{engine}",
        }
        answer = await self.admin.post("/sessions", body)
        assert answer.status_code == 201, answer.text
        await self.api.until(self.admin, answer.json()["id"], "RUNNING")
        return str(answer.json()["id"])

    async def state_of(self, session: str) -> str:
        return str((await self.admin.get(f"/sessions/{session}")).json()["state"])

    async def has_a_terminal(self, session: str) -> bool:
        assert self.admin.actor
        pair = await self.api.keypair(self.admin.actor)
        basic = base64.b64encode(":".join(pair).encode()).decode()
        url = f"ws://127.0.0.1:{self.api.port}{API}/sessions/{session}/terminal"
        async with connect(
            url, additional_headers={"Authorization": f"Basic {basic}"}, proxy=None
        ) as terminal:
            try:
                return bool(json.loads(await terminal.recv())["type"] == "ready")
            except ConnectionClosedError:  # it is being started again
                return False


@pytest.fixture
async def two(database: Database, people: People, tmp_path: Path) -> AsyncIterator[Two]:
    async with AsyncExitStack() as stack:
        first, second = (stack.enter_context(OwnDockerd()) for _ in range(2))
        image = await ensure_tiny_image(url=first.url)
        await ensure_tiny_image(url=second.url)
        engine: Any = DockerEngine(first.url, f"two-{new_id()}")
        stack.push_async_callback(engine.close)
        running = running_installation(database, people, tmp_path, cast(FakeEngine, engine), controllers=True)
        api = await stack.enter_async_context(running)
        admin = await api.as_("superadmin")
        added = {"name": "second", "kind": "docker", "settings": {"url": second.url}}
        answer = await admin.post("/engines", added)
        assert answer.status_code == 201, answer.text
        place = Two(api, admin, second, image)
        for name in ("local", "second"):
            await place.engine_is(name, "READY")
        yield place


async def test_a_killed_engine_is_no_concern_of_the_other_and_comes_back_with_its_sessions(two: Two):
    here, there = await two.session_on("local"), await two.session_on("second")
    assert await two.has_a_terminal(here)
    assert await two.has_a_terminal(there)
    # 1. one of them dies
    await asyncio.to_thread(two.second.kill)
    await two.engine_is("second", "DOWN")
    following = await two.session_on("local")
    assert await two.has_a_terminal(following)
    await two.admin.delete(f"/sessions/{here}")
    await two.api.until(two.admin, here, "TERMINATED")
    assert await two.state_of(there) == "RUNNING"
    assert (await two.admin.get("/engines/local")).json()["state"] == "READY"
    # 2. it comes back
    await asyncio.to_thread(two.second.start)
    await two.engine_is("second", "READY")

    async def usable() -> bool:
        return await two.state_of(there) == "RUNNING" and await two.has_a_terminal(there)

    assert await eventually(usable, within_s=60)
