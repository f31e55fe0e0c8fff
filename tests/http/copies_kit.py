"""Two copies of the API on one database, one engine and one disk, behind a load balancer without affinity."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx2
from access_kit import World, bound, keys_of, listening, local_engine
from fastapi import FastAPI
from installation import Api, only
from people import People
from round_robin import round_robin

from carrel.db.database import Database
from carrel.engines.port import Engine
from carrel.folders.hosts import service as storage_hosts
from carrel.server import compose
from carrel.server.services import ApiServices
from carrel.server.settings import Settings

PUBLIC_URL = "http://localhost:8700"


class BalancedApi(Api):
    """Each request of each client goes to the next copy."""

    async def client(self, **options: Any) -> httpx2.AsyncClient:
        return await super().client(limits=httpx2.Limits(max_keepalive_connections=0), **options)


@dataclass
class Copies:
    """balanced: through the load balancer, as are `api` and its clients. copies: each one directly."""

    api: BalancedApi
    balanced: World
    copies: tuple[World, World]
    apps: tuple[FastAPI, FastAPI]

    @property
    def services(self) -> tuple[ApiServices, ApiServices]:
        first, second = self.apps
        return first.state.services, second.state.services


@asynccontextmanager
async def two_copies(database: Database, people: People, folder: Path) -> AsyncIterator[Copies]:
    await storage_hosts.ensure_local(database, folder)
    async with AsyncExitStack() as stack:
        engine = await stack.enter_async_context(local_engine(folder))
        keys = await keys_of(database, people)
        apps, worlds = [], []
        for _ in range(2):
            own = Database(database.url)
            stack.push_async_callback(own.close)
            app, url, settings = await stack.enter_async_context(_copy(own, engine, folder))
            apps.append(app)
            terminals = app.state.services.terminals
            worlds.append(World(url, engine, database, people, settings, keys, terminals))
        port = await stack.enter_async_context(round_robin(*(world.settings.port for world in worlds)))
        url = f"http://127.0.0.1:{port}"
        api = BalancedApi(url, apps[0], database, engine, people, stack)
        yield Copies(api, replace(worlds[0], url=url), (worlds[0], worlds[1]), (apps[0], apps[1]))


@asynccontextmanager
async def _copy(
    database: Database, engine: Engine, folder: Path
) -> AsyncIterator[tuple[FastAPI, str, Settings]]:
    listener = bound()
    settings = Settings(
        data_dir=folder,
        database_url=database.url,
        port=listener.getsockname()[1],
        gateway_port=1,
        public_url=PUBLIC_URL,
    )
    engines = only(database, engine, settings)
    async with compose.api(settings, database, engines) as app, listening(app, listener) as url:
        yield app, url, settings
