"""Metrics and probes of processes without the API."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web
from prometheus_client import REGISTRY, disable_created_metrics
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from carrel.audit.refusals import Refusals
from carrel.core.clock import Clock
from carrel.core.errors import Unavailable
from carrel.db.database import Database
from carrel.db.encryption import SecretBox
from carrel.permissions.decide import widest
from carrel.signin.logins.authenticator import Authenticator

ACTION = "metrics.read"
# The creation time of each series would double their number.
disable_created_metrics()  # type: ignore[no-untyped-call]
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


class Scrape:
    """Serves metrics to authorized clients, as the API does: by keypair or personal token."""

    def __init__(self, database: Database, clock: Clock, key: bytes) -> None:
        self._database = database
        self._refusals = Refusals(database)
        self._authenticator = Authenticator(database, clock, self._refusals, SecretBox(key))

    def forget(self) -> None:
        """Clear the credential cache."""
        self._authenticator.forget()

    async def run(self) -> None:
        """Record refusals in the audit trail, until cancelled."""
        await self._refusals.run()

    async def ready(self) -> web.Response:
        """200 if the database responds, otherwise 503."""
        try:
            await self._database.ping()
        except Unavailable as error:
            return _refusal(503, error.message)
        return alive()

    async def answer(self, request: web.BaseRequest) -> web.Response:
        """200, 401, 403, or 503 if the database is unavailable for authentication."""
        authorization = request.headers.get("Authorization", "")
        try:
            identity = (
                await self._authenticator.by_header(authorization, request.remote or "")
                if authorization
                else None
            )
        except Unavailable as error:
            return _refusal(503, error.message)
        if identity is None:
            return _refusal(401, "A personal token or keypair is needed.", **{"WWW-Authenticate": "Bearer"})
        if not widest(identity.actor, ACTION):
            return _refusal(403, f"This needs the right {ACTION}.")
        headers = {**_HEADERS, "Content-Type": CONTENT_TYPE_LATEST}
        return web.Response(body=generate_latest(REGISTRY), headers=headers)


@asynccontextmanager
async def serving(scrape: Scrape, host: str, port: int) -> AsyncIterator[int]:
    """Serve GET /metrics, /healthz and /readyz until the block ends; yields the port that it listens on."""

    async def handle(request: web.BaseRequest) -> web.Response:
        match request.path:
            case "/metrics" if request.method == "GET":
                return await scrape.answer(request)
            case "/healthz":
                return alive()
            case "/readyz":
                return await scrape.ready()
        return _refusal(404, "There are only GET /metrics, /healthz and /readyz.")

    runner = web.ServerRunner(web.Server(handle, access_log=None))
    await runner.setup()
    noting = asyncio.create_task(scrape.run())
    try:
        await web.TCPSite(runner, host, port).start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()
        noting.cancel()
        await asyncio.wait([noting])


def alive() -> web.Response:
    """The answer to a probe of a process that works."""
    return web.json_response({"status": "ok"}, headers={"Cache-Control": "no-store"})


def _refusal(status: int, text: str, **headers: str) -> web.Response:
    return web.Response(status=status, text=f"{text}\n", headers={**_HEADERS, **headers})
