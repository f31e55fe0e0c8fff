"""The processes of an installation: `python -m carrel.server.role api|gateway`.

"api" serves the page and the API and runs the controllers; "gateway" proxies the traffic of apps in a separate process,
so that bulk transfers never slow down the API.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import os
import signal
from asyncio import Protocol
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog
import uvloop

from carrel.core.errors import Unavailable
from carrel.db.database import Database
from carrel.http.guard import ConnectionLimit, RequestLimits
from carrel.http.tls import Tls, over
from carrel.server import build, log_config, prctl
from carrel.server.kernel_limits import raise_open_files
from carrel.server.settings import Settings

if TYPE_CHECKING:
    # Only for the API; the gateway does not need it.
    import uvicorn
    from starlette.types import ASGIApp

    from carrel.nodes.engines.connections import Make
    from carrel.server.starting import Starting

log = structlog.get_logger()
_GATEWAY_NICENESS = 5
_RETRY_S = 0.2
_LOADED = (
    "carrel.server.starting",
    "carrel.apps.keepalive",
    "carrel.http.sendfile",
    "uvicorn.lifespan.off",
    "carrel.server.compose",
    "carrel.server.engines",
    "carrel.engines.docker",
    "carrel.accelerators.fake",
    "carrel.accelerators.nvidia",
    "carrel.accelerators.amd",
    "carrel.accelerators.gaudi",
    "carrel.accelerators.furiosa",
    "carrel.accelerators.rebellions",
    "carrel.accelerators.tenstorrent",
    "carrel.accelerators.graphcore",
    "carrel.accelerators.groq",
    "carrel.accelerators.hyperaccel",
    "carrel.accelerators.sambanova",
    "carrel.accelerators.pci",
    "carrel.accelerators.infiniband",
    "carrel.gateway.serve",
    "encodings.idna",
)
_KEEP_ALIVE_S = 75
"""Longer than proxies keep idle connections, so that they never use a connection that is being closed."""


Ready = Callable[[], None]
"""Called once the process serves: the supervisor then restarts it immediately if it dies."""


async def api(settings: Settings, roles: frozenset[str], ready: Ready) -> None:
    """Run the page, the API and the controllers (by role) until a signal. Raises: Invalid.

    Listens before the database responds, and answers 503 until then.
    """
    if "api" not in roles:
        await _until_first(_until_signal(), _work(settings, roles, None, ready))
        return
    import uvicorn

    from carrel.server.starting import Starting

    app = Starting()
    server = uvicorn.Server(listening(app, settings))
    await _until_first(server.serve(), _work(settings, roles, app, ready))


async def _work(settings: Settings, roles: frozenset[str], app: Starting | None, ready: Ready) -> None:
    """Run everything behind the port once the database responds, until cancelled."""
    # Importing takes seconds on slow machines; requests are answered meanwhile.
    await asyncio.to_thread(importlib.import_module, "carrel.server.compose")
    _collect_garbage()
    database = Database(settings.database_url, data_dir=settings.data_dir)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(database.close)
        if app is None and settings.metrics_port:
            await stack.enter_async_context(_metrics(settings, database))
        while True:
            try:
                async with _composed(settings, roles, database) as composed:
                    if app is not None and composed is not None:
                        app.start(composed)
                    ready()
                    await asyncio.Event().wait()
            except Unavailable as error:
                log.warning("server.waits_for_database", error=error.message)
                await asyncio.sleep(_RETRY_S)


@asynccontextmanager
async def _composed(
    settings: Settings, roles: frozenset[str], database: Database
) -> AsyncIterator[ASGIApp | None]:
    """Run the controllers and the API (by role); yields the API's application. Raises: Unavailable."""
    from carrel.nodes.engines.connections import Engines
    from carrel.server import compose, engines

    async with AsyncExitStack() as stack:
        await engines.ensure_local(settings, database)
        connector = await engines.connector(settings, database)
        connected = Engines(database, connector)
        stack.push_async_callback(connected.close)
        if "controllers" in roles:
            await stack.enter_async_context(compose.controllers(settings, database, connected))
        app = (
            await stack.enter_async_context(compose.api(settings, database, connected))
            if "api" in roles
            else None
        )
        yield app


async def _until_first(serving: Coroutine[Any, Any, None], work: Coroutine[Any, Any, None]) -> None:
    """Run both until the first completes or the second fails; then cancel the other."""
    tasks = [asyncio.create_task(serving), asyncio.create_task(work)]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    for task in tasks:
        if not task.cancelled():
            task.result()


def _metrics(settings: Settings, database: Database) -> AbstractAsyncContextManager[int]:
    from carrel.core.clock import SystemClock
    from carrel.gateway import scrape

    collector = scrape.Scrape(database, SystemClock(), settings.key())
    return scrape.serving(collector, settings.host, settings.metrics_port)


def listening(app: ASGIApp, settings: Settings) -> uvicorn.Config:
    """The server configuration of page and API. Raises: Invalid."""
    import uvicorn

    from carrel.apps.keepalive import PatientProtocol
    from carrel.http.sendfile import ZeroCopyProtocol

    limited = partial(ConnectionLimit, settings.connections_per_address, exempt=settings.unlimited_networks)
    http: Any = ZeroCopyProtocol.limited(RequestLimits(), limited())
    if encryption := _tls(settings):
        http = _encrypted(encryption, limited(), http)
    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="off",
        timeout_graceful_shutdown=2,
        timeout_keep_alive=_KEEP_ALIVE_S,
        http=http,
        ws=PatientProtocol,
        ws_max_size=4 << 20,
        ws_per_message_deflate=False,
        # Set explicitly: otherwise uvicorn trusts this machine, where other users may have sessions.
        forwarded_allow_ips=settings.effective_trusted_proxies,
    )


def _encrypted(encryption: Tls, handshakes: ConnectionLimit, http: type[Protocol]) -> Callable[..., Protocol]:
    """A protocol factory for uvicorn, called with keywords."""
    return lambda **options: over(encryption, handshakes, partial(http, **options))


def _tls(settings: Settings) -> Tls | None:
    """TLS configuration of the ports; None: plain HTTP. Raises: OSError."""
    return Tls(settings.tls_cert, settings.tls_key) if settings.tls_cert else None


async def gateway(settings: Settings, ready: Ready) -> None:
    """Run the gateway of the apps until a signal."""
    from carrel.gateway.serve import serve
    from carrel.gateway.settings import GatewaySettings

    async def connector(database: Database) -> Make:
        # Only where apps have no address.
        from carrel.server import engines

        return await engines.connector(settings, database)

    _collect_garbage()
    await serve(
        GatewaySettings(
            host=settings.host,
            port=settings.effective_gateway_port,
            apps_url=settings.effective_apps_url,
            public_url=settings.effective_public_url,
            key=settings.key(),
            app_ports=settings.effective_app_ports,
            connections_per_address=settings.connections_per_address,
            unlimited_networks=settings.unlimited_networks,
            tls=_tls(settings),
            ssh_port=settings.effective_ssh_port,
            ssh_port_forwarding=settings.ssh_port_forwarding,
            ssh_agent_forwarding=settings.ssh_agent_forwarding,
        ),
        settings.database_url,
        connector,
        ready,
    )


def _collect_garbage() -> None:
    """Collect garbage from now on, without objects of loaded modules."""
    gc.freeze()
    gc.enable()


async def _until_signal() -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await stop.wait()


def load() -> None:
    """Import everything that roles need, in the fork server. Starts no thread and opens nothing."""
    # NumPy's linear algebra would start one thread per core.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for module in _LOADED:
        importlib.import_module(module)
    # A role that starts after an upgrade must run the code of this process, not the code on disk.
    build.publish()


def forked(role: str, ready: Ready) -> None:
    """Main function of a forked process."""
    settings = Settings()
    log_config.set_up(_log(settings, role))
    _run(settings, role, ready)


def main(arguments: list[str]) -> None:
    """Run a role. arguments: the role, then optionally the pid of the parent to end with."""
    role, *parent = arguments
    if parent:
        prctl.die_with_parent(int(parent[0]))
    settings = Settings()
    build.publish()
    log_config.set_up(_log(settings, role) if parent else None)
    _run(settings, role, lambda: None)


def _log(settings: Settings, role: str) -> Path:
    return settings.data_dir / "logs" / f"{role.split(',')[0]}.log"


def _run(settings: Settings, role: str, ready: Ready) -> None:
    raise_open_files()
    if role == "gateway":
        # Under CPU contention, bulk transfers yield to the API.
        os.nice(_GATEWAY_NICENESS)
        uvloop.run(gateway(settings, ready))
    else:
        uvloop.run(api(settings, frozenset(role.split(",")), ready))
