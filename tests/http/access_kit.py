"""Fixtures for the ways into a session: a server on a real port, over an engine with real processes."""

import base64
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import uvicorn
from installation import only, serving_on
from local_engine import LocalEngine
from people import PASSWORD, People
from session_kit import rows
from sqlalchemy.ext.asyncio import AsyncSession
from websockets.asyncio.client import ClientConnection, connect

from carrel.apps.keepalive import PatientProtocol
from carrel.apps.terminals import Terminals
from carrel.core.clock import SystemClock
from carrel.core.ids import LOCAL_ENGINE, NodeId, SessionId
from carrel.db.database import Database
from carrel.engines.port import ContainerSpec
from carrel.http.sendfile import ZeroCopyProtocol
from carrel.nodes import service as nodes
from carrel.permissions.decide import Actor
from carrel.server import compose
from carrel.server.settings import Settings
from carrel.sessions import transitions
from carrel.signin.keypairs import service as keypairs
from carrel.tables.session_states import ContainerState, SessionState


@dataclass
class World:
    """A server at `url`, its engine and its database, and who is who."""

    url: str
    engine: LocalEngine
    database: Database
    people: People
    settings: Settings
    keys: dict[str, str]
    terminals: Terminals

    async def session(
        self, *, owner: Actor | None = None, apps: list[dict[str, Any]] | None = None, **values: Any
    ) -> SessionId:
        """A running session with its container, or one in another state without."""
        owner = owner or self.people.user
        session, main = rows(
            self.people, **{"name": "desk", "owner_id": owner.user_id, "apps": apps or [], **values}
        )
        if session.state == SessionState.RUNNING:
            await self.engine.ensure(ContainerSpec(main.id, main.image, main.slots), lambda _: None)
        async with self.database.transaction() as tx:
            tx.add(session)
            await tx.flush()
            if main.state != ContainerState.PENDING:
                main.node_id = await self._node(tx)
            tx.add(main)
        return session.id

    async def _node(self, tx: AsyncSession) -> NodeId:
        """The engine's one node."""
        await nodes.record(tx, await self.engine.nodes(), SystemClock().now())
        return next(iter(await nodes.of_engine(tx, LOCAL_ENGINE)))

    async def terminate(self, session: SessionId) -> None:
        async with self.database.transaction() as tx:
            await transitions.terminate(tx, [session], cause="user", reason=None, now=SystemClock().now())

    def authorization(self, actor: Actor | None = None) -> dict[str, str]:
        return {"Authorization": self.keys[(actor or self.people.user).user_id]}

    def connect(self, path: str, *, actor: Actor | None = None, **options: Any) -> connect:
        """A WebSocket to the server, signed in by keypair."""
        headers = options.pop("additional_headers", self.authorization(actor))
        return connect(
            self.url.replace("http", "ws", 1) + f"/api/v1/sessions/{path}",
            additional_headers=headers,
            open_timeout=60,
            max_size=None,
            compression=None,
            proxy=None,
            **options,
        )

    @asynccontextmanager
    async def http(self, actor: Actor | None = None, **options: Any) -> AsyncIterator[aiohttp.ClientSession]:
        headers = self.authorization(actor)
        async with aiohttp.ClientSession(self.url, headers=headers, **options) as client:
            yield client


def bound() -> socket.socket:
    """A socket on a free port of loopback."""
    listener = socket.socket(proto=socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    return listener


@asynccontextmanager
async def listening(app: Any, listener: socket.socket | None = None) -> AsyncIterator[str]:
    """The application on a free port of loopback, as the real server runs it."""
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            log_config=None,
            lifespan="off",
            http=ZeroCopyProtocol,
            ws=PatientProtocol,
            timeout_graceful_shutdown=1,
        )
    )
    with listener or bound() as listener:
        serving = await serving_on(server, [listener])
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        await serving


@asynccontextmanager
async def local_engine(folder: Path) -> AsyncIterator[LocalEngine]:
    """An engine whose processes run below the folder, and end with the block."""
    home = folder / "home"
    home.mkdir()
    engine = LocalEngine(home)
    yield engine
    for process in engine.processes:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def keys_of(database: Database, people: People) -> dict[str, str]:
    """An Authorization header for each user of these tests."""
    keys = {}
    async with database.transaction() as tx:
        for actor in (people.user, people.colleague, people.stranger, people.superadmin):
            pair = await keypairs.create(tx, SystemClock(), actor)
            text = f"{pair.access_key}:{pair.secret_key}".encode()
            keys[actor.user_id] = "Basic " + base64.b64encode(text).decode()
    return keys


@pytest.fixture
async def world(database: Database, people: People, tmp_path: Path) -> AsyncIterator[World]:
    settings = Settings(data_dir=tmp_path, port=8700, apps_domain="localhost")
    keys = await keys_of(database, people)
    async with (
        local_engine(tmp_path) as engine,
        compose.api(settings, database, only(database, engine)) as app,
        listening(app) as url,
    ):
        yield World(url, engine, database, people, settings, keys, app.state.services.terminals)


__all__ = [
    "PASSWORD",
    "ClientConnection",
    "World",
    "bound",
    "keys_of",
    "listening",
    "local_engine",
    "world",
]
