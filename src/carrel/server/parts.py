"""The state of the installation's parts, for people."""

import asyncio
from dataclasses import dataclass
from urllib.parse import quote

import aiohttp

import carrel
from carrel.core.errors import Unavailable
from carrel.db.database import Database
from carrel.engines.port import Engine, EngineError
from carrel.server.settings import Settings

_TIMEOUT_S = 3.0


@dataclass(frozen=True)
class Part:
    """state: "ok" or "down". detail: empty when all is well."""

    name: str
    state: str
    version: str
    detail: str
    address: str


async def look(settings: Settings, database: Database, engine: Engine) -> list[Part]:
    """Each part's state, asked now, at most three seconds each."""
    return list(
        await asyncio.gather(_database(settings, database), _engine(settings, engine), _gateway(settings))
    )


async def _database(settings: Settings, database: Database) -> Part:
    # Its socket lies under the data directory, which is part of the URL.
    own = quote(str(settings.data_dir / "postgres"), safe="") not in settings.database_url
    address = "your own" if own else "embedded"
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            return Part("database", "ok", f"PostgreSQL {await database.ping()}", "", address)
    except (Unavailable, TimeoutError) as error:
        return Part("database", "down", "", str(error) or "no answer", address)


async def _engine(settings: Settings, engine: Engine) -> Part:
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            nodes = await engine.nodes()
            return Part("engine", "ok", nodes[0].engine if nodes else "", "", settings.engine_url)
    except (EngineError, TimeoutError) as error:
        return Part("engine", "down", "", str(error) or "no answer", settings.engine_url)


async def _gateway(settings: Settings) -> Part:
    address = f"http://{settings.host}:{settings.effective_gateway_port}"
    own = "127.0.0.1" if settings.host in ("0.0.0.0", "::") else settings.host
    url = f"http://{own}:{settings.effective_gateway_port}/.carrel/health"
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=_TIMEOUT_S)) as client,
            client.get(url) as answer,
        ):
            state = "ok" if answer.status == 200 else "down"
            return Part("gateway", state, carrel.__version__, "", address)
    except (aiohttp.ClientError, TimeoutError) as error:
        return Part("gateway", "down", "", str(error) or "no answer", address)
