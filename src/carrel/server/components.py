"""The state of the installation's components, for people."""

import asyncio
from dataclasses import dataclass

import aiohttp

from carrel import version
from carrel.core.errors import Unavailable
from carrel.core.ids import LOCAL_ENGINE
from carrel.db.database import Database
from carrel.db.embedded import Embedded
from carrel.engines.port import EngineError
from carrel.nodes.engines.connections import Engines
from carrel.server import disk
from carrel.server.settings import Settings

_TIMEOUT_S = 3.0


@dataclass(frozen=True)
class InstallationPart:
    """state: "ok", "down", or "low" (a disk that is nearly full). detail: empty if ok, except for a disk."""

    name: str
    state: str
    version: str
    detail: str
    address: str


async def look(settings: Settings, database: Database, engines: Engines) -> list[InstallationPart]:
    """The current state of each component, with a timeout of three seconds each."""
    answers = await asyncio.gather(
        _database(settings, database), _local_engine(settings, engines), _gateway(settings)
    )
    return [*answers, _disk(settings)]


def _disk(settings: Settings) -> InstallationPart:
    free = disk.look(settings.data_dir)
    return InstallationPart("disk", free.state, "", free.text, "")


async def _database(settings: Settings, database: Database) -> InstallationPart:
    embedded = settings.database_url == Embedded(settings.data_dir / "postgres").url
    address = "embedded" if embedded else "your own"
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            return InstallationPart("database", "ok", f"PostgreSQL {await database.ping()}", "", address)
    except (Unavailable, TimeoutError) as error:
        return InstallationPart("database", "down", "", str(error) or "no answer", address)


async def _local_engine(settings: Settings, engines: Engines) -> InstallationPart:
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            engine = await engines.of(LOCAL_ENGINE)
            nodes = await engine.nodes()
            return InstallationPart("engine", "ok", nodes[0].engine if nodes else "", "", settings.engine_url)
    except (EngineError, Unavailable, TimeoutError) as error:
        return InstallationPart("engine", "down", "", str(error) or "no answer", settings.engine_url)


async def _gateway(settings: Settings) -> InstallationPart:
    address = f"{settings.scheme}://{settings.host}:{settings.effective_gateway_port}"
    own = "127.0.0.1" if settings.host in ("0.0.0.0", "::") else settings.host
    url = f"{settings.scheme}://{own}:{settings.effective_gateway_port}/.carrel/health"
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=_TIMEOUT_S)) as client,
            client.get(url, ssl=False) as answer,  # the server is known
        ):
            state = "ok" if answer.status == 200 else "down"
            return InstallationPart("gateway", state, version.full(), "", address)
    except (aiohttp.ClientError, TimeoutError) as error:
        return InstallationPart("gateway", "down", "", str(error) or "no answer", address)
