"""The real application on a loopback port, over a real PostgreSQL and the fake engine, and people who call it."""

import asyncio
import json
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import httpx2
import uvicorn
from fastapi import FastAPI
from people import PASSWORD, People, eventually
from session_kit import request
from starlette.datastructures import State

from carrel.core.clock import SystemClock
from carrel.core.ids import LOCAL_ENGINE
from carrel.db.database import Database
from carrel.db.encryption import SecretBox
from carrel.engines.context import EngineContext
from carrel.engines.fake import FakeEngine
from carrel.engines.port import Engine
from carrel.folders.hosts import service as storage_hosts
from carrel.http.sendfile import ZeroCopyProtocol
from carrel.http.services import install
from carrel.nodes.engines.connections import Connector, Engines
from carrel.permissions.decide import Actor
from carrel.server import compose
from carrel.server.services import ApiServices
from carrel.server.settings import Settings
from carrel.signin.keypairs import service as keypairs

API = "/api/v1"
_new_application = compose.application
_spare: list[FastAPI] = []
"""Applications of installations that have ended: what a framework makes of routes when they are first asked for is the
same for the next one, and takes longer than most tests.
"""


def _application() -> FastAPI:
    if not _spare:
        return _new_application()
    app = _spare.pop()
    app.state = State()
    return app


compose.application = _application


@cache
def document() -> dict[str, Any]:
    """The OpenAPI document as it is committed. To make it takes as long as hundreds of requests.

    `test_the_document_is_served_as_it_is_committed` compares it with the application's.
    """
    return json.loads((Path(__file__).parents[1] / "openapi.json").read_text())  # type: ignore[no-any-return]


# Everything here is plain HTTP; a context of its own for each client would read all authorities again.
_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


@dataclass
class Caller:
    """One person's HTTP client. Paths are below /api/v1."""

    name: str
    actor: Actor | None
    http: httpx2.AsyncClient

    async def get(self, path: str, **options) -> httpx2.Response:  # type: ignore[no-untyped-def]
        return await self.http.get(API + path, **options)

    async def post(self, path: str, json: object = None, **options) -> httpx2.Response:  # type: ignore[no-untyped-def]
        return await self.http.post(API + path, json=json, **options)

    async def patch(self, path: str, json: object = None, **options) -> httpx2.Response:  # type: ignore[no-untyped-def]
        return await self.http.patch(API + path, json=json, **options)

    async def delete(self, path: str, **options) -> httpx2.Response:  # type: ignore[no-untyped-def]
        return await self.http.delete(API + path, **options)

    async def ask(self, method: str, path: str, **options) -> httpx2.Response:  # type: ignore[no-untyped-def]
        return await self.http.request(method, API + path, **options)

    async def start(self, **fields: object) -> dict:  # type: ignore[type-arg]
        """A session as the API shows it right after it was asked for."""
        answer = await self.try_start(**fields)
        assert answer.status_code == 201, answer.text
        return answer.json()  # type: ignore[no-any-return]

    async def try_start(self, *, key: str | None = None, **fields: object) -> httpx2.Response:
        """The answer to a request for a small session. key: its idempotency key."""
        headers = {"Idempotency-Key": key} if key else {}
        return await self.post("/sessions", request(**fields), headers=headers)


@dataclass
class Api:
    """A running installation. `as_` gives a person's client, made once."""

    url: str
    app: FastAPI
    database: Database
    engine: FakeEngine
    people: People
    _stack: AsyncExitStack
    _callers: dict[str, Caller] = field(default_factory=dict)

    @property
    def services(self) -> ApiServices:
        return self.app.state.services  # type: ignore[no-any-return]

    def replace_services(self, **changes: object) -> None:
        """What the routes of this installation work with from now on."""
        install(self.app, replace(self.services, **changes))  # type: ignore[arg-type]

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1])

    async def as_(self, name: str) -> Caller:
        """ "anonymous", or a person of `People`, by a keypair of theirs."""
        if name not in self._callers:
            actor = None if name == "anonymous" else getattr(self.people, name)
            auth = await self.keypair(actor) if actor else None
            self._callers[name] = Caller(name, actor, await self.client(auth=auth))
        return self._callers[name]

    async def keypair(self, actor: Actor) -> tuple[str, str]:
        async with self.database.transaction() as tx:
            made = await keypairs.create(tx, SystemClock(), actor)
        return made.access_key, made.secret_key

    async def client(self, **options) -> httpx2.AsyncClient:  # type: ignore[no-untyped-def]
        client = httpx2.AsyncClient(base_url=self.url, timeout=60, verify=_NO_TLS, **options)
        return await self._stack.enter_async_context(client)

    async def browser(self, name: str) -> Caller:
        """A person's browser, signed in: cookie and CSRF token on every request."""
        client = await self.client(headers={"Sec-Fetch-Mode": "cors"})
        answer = await client.post(
            f"{API}/auth/login", json={"email": f"{name}@example.org", "password": PASSWORD}
        )
        assert answer.status_code == 200, answer.text
        client.headers["X-Carrel-CSRF"] = answer.json()["csrf_token"]
        return Caller(name, getattr(self.people, name, None), client)

    async def until(self, caller: Caller, session: str, state: str) -> dict:  # type: ignore[type-arg]
        """The session once it is in that state."""

        async def reached() -> dict | None:  # type: ignore[type-arg]
            shown = (await caller.get(f"/sessions/{session}")).json()
            return shown if shown["state"] == state else None

        return await eventually(reached)  # type: ignore[no-any-return]


async def serving_on(
    server: uvicorn.Server, sockets: list[socket.socket] | None = None
) -> "asyncio.Task[None]":
    """The server's task, once it listens. Fails when it ends before, or takes too long."""
    task = asyncio.create_task(server.serve(sockets=sockets))

    async def listens() -> bool:
        assert not task.done(), f"the server ended before it listened: {task}"
        return server.started

    await eventually(listens, every_s=0.005)
    return task


@asynccontextmanager
async def serving(app: FastAPI, http: type[ZeroCopyProtocol] = ZeroCopyProtocol) -> AsyncIterator[str]:
    """The application behind uvicorn on a free loopback port; gives its URL."""
    # Of a socket of which asyncio does not know that it is TCP, answers wait 40 ms for an acknowledgement.
    with socket.socket(proto=socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        config = uvicorn.Config(
            app, log_config=None, lifespan="off", access_log=False, server_header=False, http=http
        )
        server = uvicorn.Server(config)
        task = await serving_on(server, [listening])
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = server.force_exit = True
        await task


def only(database: Database, engine: Engine, settings: Settings | None = None) -> Engines:
    """An installation's engines, of which the local one is this. settings: for those that are added."""
    others = Connector(SecretBox(settings.key()), EngineContext("test")) if settings else None
    return Engines(database, lambda row: others(row) if others and row.id != LOCAL_ENGINE else engine)


@asynccontextmanager
async def installation(
    database: Database, people: People, data_dir: Path, *, controllers: bool, engine: FakeEngine | None = None
) -> AsyncIterator[Api]:
    """A whole installation in this process. engine: a new fake one when left out."""
    engine = engine or FakeEngine()
    engine.world.local_images.add("debian:12")
    async with running_installation(database, people, data_dir, engine, controllers=controllers) as api:
        yield api


@asynccontextmanager
async def running_installation(
    database: Database, people: People, data_dir: Path, engine: FakeEngine, *, controllers: bool
) -> AsyncIterator[Api]:
    """The same on an engine of the caller."""
    settings = Settings(data_dir=data_dir, database_url=database.url, gateway_port=1)
    await storage_hosts.ensure_local(database, data_dir)
    engines = only(database, engine, settings)
    async with AsyncExitStack() as stack:
        if controllers:
            await stack.enter_async_context(compose.controllers(settings, database, engines))
        app = await stack.enter_async_context(compose.api(settings, database, engines))
        url = await stack.enter_async_context(serving(app))
        yield Api(url, app, database, engine, people, stack)
    _spare.append(app)
