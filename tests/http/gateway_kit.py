"""Fixtures for the gateway: one at work on a free port, and apps on loopback behind it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from people import People
from session_kit import rows
from yarl import URL

import carrel.tables.nodes  # noqa: F401 - sessions refer to it
from carrel.apps import service as apps
from carrel.core.clock import SystemClock
from carrel.core.ids import SessionId
from carrel.db.database import Database
from carrel.engines.port import Engine
from carrel.gateway.serve import gateway
from carrel.gateway.settings import GatewaySettings
from carrel.http.guard import RequestLimits
from carrel.http.tls import Tls
from carrel.nodes.engines.connections import Make
from carrel.permissions.decide import Actor
from carrel.sessions import transitions
from carrel.signin.keypairs import service as keypairs

KEY = b"k" * 32
PUBLIC_URL = "http://carrel.example:8700"


@dataclass
class Answer:
    status: int
    headers: Any
    body: bytes


@dataclass
class Gate:
    """A gateway that listens on `port`, and what is behind it."""

    port: int
    database: Database
    people: People
    stack: AsyncExitStack

    async def app(self, handle: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> int:
        """An app of aiohttp that answers everything; its port."""
        made = web.Application(client_max_size=1 << 40)
        made.router.add_route("*", "/{tail:.*}", handle)
        runner = web.AppRunner(made, access_log=None, shutdown_timeout=0.1, auto_decompress=False)
        await runner.setup()
        self.stack.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return int(runner.addresses[0][1])

    async def raw_app(
        self, handle: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
    ) -> int:
        """An app that does with each connection what it likes; its port."""

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                await handle(reader, writer)
            except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                pass
            finally:
                writer.close()

        server = await asyncio.start_server(connected, "127.0.0.1", 0, limit=1 << 20)
        self.stack.callback(server.close)
        return int(server.sockets[0].getsockname()[1])

    async def session(
        self,
        port: int,
        *,
        auth_header: str = "",
        name: str = "web",
        address: str | None = None,
        **values: Any,
    ) -> SessionId:
        """A running session with an app at that port of loopback."""
        app = {"name": name, "title": name, "protocol": "http", "port": port, "auth_header": auth_header}
        session, main = rows(self.people, apps=[app], **values)
        main.address = address or main.address
        async with self.database.transaction() as tx:
            tx.add(session)
            await tx.flush()
            tx.add(main)
        return session.id

    async def ticket(self, session: SessionId, app: str = "web", *, actor: Actor | None = None) -> str:
        """actor: who opens it, as they signed in; else the user with a keypair of theirs."""
        actor = actor or await with_keypair(self.database, self.people.user)
        async with self.database.transaction() as tx:
            now = SystemClock().now()
            return (await apps.issue_ticket(tx, actor, session=session, app=app, now=now)).token

    async def cookie(self, session: SessionId, app: str = "web", *, actor: Actor | None = None) -> str:
        """A Cookie header that opens the app."""
        ticket = await self.ticket(session, app, actor=actor)
        async with self.database.transaction() as tx:
            now = SystemClock().now()
            issued = await apps.redeem(tx, ticket=ticket, session=session, app=app, now=now)
        assert issued
        return f"carrel_app_{app}-{session}={issued.token}"

    async def terminate(self, session: SessionId) -> None:
        async with self.database.transaction() as tx:
            await transitions.terminate(tx, [session], cause="user", reason=None, now=SystemClock().now())

    def host(self, session: SessionId, app: str = "web") -> str:
        return f"{app}-{session}.localhost:{self.port}"

    def client(self, session: SessionId, cookie: str | None = None, **options: Any) -> aiohttp.ClientSession:
        """A browser's stand-in, without a mind of its own about cookies."""
        headers = {"Host": self.host(session), **({"Cookie": cookie} if cookie else {})}
        return aiohttp.ClientSession(
            f"http://127.0.0.1:{self.port}",
            headers=headers,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            timeout=aiohttp.ClientTimeout(total=30),
            **options,
        )

    async def get(
        self,
        session: SessionId,
        path: str = "/",
        *,
        cookie: str | None = None,
        method: str = "GET",
        headers: dict[str, str] | None = None,
        data: Any = None,
    ) -> Answer:
        # As it stands, since browsers do not tidy paths up either.
        url = URL(f"http://127.0.0.1:{self.port}{path}", encoded=True)
        async with (
            self.client(session, cookie) as client,
            client.request(
                method,
                url,
                headers=headers,
                data=data,
                allow_redirects=False,
            ) as answer,
        ):
            return Answer(answer.status, answer.headers, await answer.read())

    async def speak(self, text: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection on which that has been said, to the byte."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 20)
        self.stack.callback(writer.close)
        writer.write(text)
        return reader, writer


async def with_keypair(database: Database, actor: Actor) -> Actor:
    """The same person, having proved it with a new keypair."""
    async with database.transaction() as tx:
        pair = await keypairs.create(tx, SystemClock(), actor)
    return replace(actor, credential=f"keypair:{pair.access_key}")


@asynccontextmanager
async def gate_at_work(
    database: Database,
    people: People,
    apps_url: str,
    app_ports: range = range(0),
    *,
    limits: RequestLimits | None = None,
    connections_per_address: int = 0,
    tls: Tls | None = None,
    engine: Engine | None = None,
) -> AsyncIterator[Gate]:
    """engine: for containers without an address."""

    async def connector(_: Database) -> Make:
        assert engine is not None
        return lambda row: engine

    settings = GatewaySettings(
        "127.0.0.1", 0, apps_url, PUBLIC_URL, KEY, app_ports, connections_per_address, tls=tls
    )
    async with (
        AsyncExitStack() as stack,
        gateway(settings, database.url, connector=connector, limits=limits) as port,
    ):
        yield Gate(port, database, people, stack)
        await stack.aclose()


@pytest.fixture
async def gate(database: Database, people: People) -> AsyncIterator[Gate]:
    async with gate_at_work(database, people, "http://localhost:1") as gate:
        yield gate


async def head_of(reader: asyncio.StreamReader) -> bytes:
    """A response's or a request's head."""
    return await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)


__all__ = ["KEY", "PUBLIC_URL", "Answer", "Gate", "gate", "gate_at_work", "head_of", "with_keypair"]
