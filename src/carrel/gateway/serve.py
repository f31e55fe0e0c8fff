"""The gateway's server: wiring, start and stop."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

import structlog
from aiohttp import web

from carrel.apps import ports
from carrel.core.clock import Clock, SystemClock
from carrel.core.errors import Unavailable
from carrel.db.database import Database
from carrel.db.encryption import SecretBox
from carrel.db.listener import Listener
from carrel.gateway import metrics
from carrel.gateway.app_routes import AppOrigins
from carrel.gateway.authorization import Authorization
from carrel.gateway.forwarding import Connector, Forwarding
from carrel.gateway.proxy import Proxy
from carrel.gateway.request_handler import Admit, GuardedServer
from carrel.gateway.scrape import Scrape
from carrel.gateway.settings import GatewaySettings
from carrel.gateway.ssh_access import SshAccess
from carrel.gateway.ssh_listener import SshListener, SshServer
from carrel.gateway.upstream import ConnectionPool
from carrel.http import tls
from carrel.http.guard import ConnectionLimit, RequestLimits
from carrel.signin.logins import authenticator
from carrel.tables.engines import TOPIC as ENGINES_CHANGED
from carrel.usage.idle.activity import Activity

log = structlog.get_logger()

_POOL_SIZE = 5
_SWEEP_S = 15.0
_RETRY_S = 1.0
_SHUTDOWN_S = 2.0
_KEEP_ALIVE_S = 75.0
_LINGER_S = 5.0
_MOST_LINE_BYTES = 64 << 10
_READ_BYTES = 256 << 10


class _Server(GuardedServer):
    """Counts open connections."""

    def connection_made(self, handler: web.RequestHandler, transport: asyncio.Transport) -> None:
        super().connection_made(handler, transport)
        metrics.CLIENT_CONNECTIONS.inc()

    def connection_lost(self, handler: web.RequestHandler, exc: BaseException | None = None) -> None:
        super().connection_lost(handler, exc)
        metrics.CLIENT_CONNECTIONS.dec()


def build(
    proxy: Proxy, limits: RequestLimits, connections: ConnectionLimit, admit: Admit | None = None
) -> web.Server:
    """The server, not listening yet. Call inside the event loop."""
    return _Server(
        proxy.handle,
        limits,
        connections,
        admit,
        access_log=None,
        # Cancel the request to the app when the client disconnects.
        handler_cancellation=True,
        auto_decompress=False,
        keepalive_timeout=_KEEP_ALIVE_S,
        lingering_time=_LINGER_S,
        max_line_size=_MOST_LINE_BYTES,
        max_field_size=_MOST_LINE_BYTES,
        max_headers=limits.head_lines,
        read_bufsize=_READ_BYTES,
    )


@asynccontextmanager
async def gateway(
    settings: GatewaySettings,
    database_url: str,
    *,
    connector: Connector,
    clock: Clock | None = None,
    limits: RequestLimits | None = None,
) -> AsyncIterator[int]:
    """Run the gateway until the block ends; yields the port that it listens on.

    connector: what creates engines, for containers without an address.
    """
    database = Database(database_url, pool_size=_POOL_SIZE)
    listener = Listener(database_url)
    forwarding = Forwarding(database, connector)
    listener.subscribe(ENGINES_CHANGED, forwarding.forget)
    pool = ConnectionPool(forwarding.connect)
    clock = clock or SystemClock()
    admission = Authorization(database, listener, settings, clock)
    activity = Activity(database, clock)
    scrape = Scrape(database, clock, settings.key)
    listener.subscribe(authenticator.TOPIC, scrape.forget)
    origins = AppOrigins(database, listener, settings)
    proxy = Proxy(origins, admission, settings, pool, activity, scrape)
    limited = partial(ConnectionLimit, settings.connections_per_address, exempt=settings.unlimited_networks)
    admit = partial(tls.over, settings.tls, limited()) if settings.tls else None
    server = build(proxy, limits or RequestLimits(), limited(), admit)
    runner = web.ServerRunner(server, shutdown_timeout=_SHUTDOWN_S)
    await runner.setup()
    access = SshAccess(database, clock, listener)
    ssh = SshListener(
        SshServer(
            access,
            activity,
            SecretBox(settings.key),
            forwarding.engine_of,
            port_forwarding=settings.ssh_port_forwarding,
            agent_forwarding=settings.ssh_agent_forwarding,
        ),
        limited(),
    )
    works = (listener.run(), admission.watch(), access.watch(), activity.run(), scrape.run(), _sweep(pool))
    tasks = [asyncio.create_task(work) for work in works]
    try:
        await _listen(runner, settings.host, settings.port)
        port = runner.addresses[0][1]
        if settings.app_ports:
            # Listen on all ports now, and look up the app per request, so that no notification is needed.
            closed = {
                number for number in settings.app_ports if not await _can_listen(runner, settings, number)
            }
            tasks.append(asyncio.create_task(_report(database, settings.app_ports, closed)))
        ssh_port = None if settings.ssh_port is None else ssh.start(settings.host, settings.ssh_port)
        log.info("gateway.listening", host=settings.host, port=port, ssh_port=ssh_port)
        yield port
    finally:
        await ssh.close()
        await runner.cleanup()
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        pool.close()
        await forwarding.close()
        await database.close()


async def serve(
    settings: GatewaySettings, database_url: str, connector: Connector, ready: Callable[[], None]
) -> None:
    """Run until SIGTERM or SIGINT. ready: called once it listens."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with gateway(settings, database_url, connector=connector):
        ready()
        await stop.wait()


async def _listen(runner: web.ServerRunner, host: str, port: int) -> None:
    await web.TCPSite(runner, host, port, backlog=1024).start()


async def _can_listen(runner: web.ServerRunner, settings: GatewaySettings, port: int) -> bool:
    """Listen on the port; False if another program does."""
    try:
        await _listen(runner, settings.host, port)
    except OSError as error:
        log.warning("gateway.app_port_closed", port=port, error=os.strerror(error.errno or 0))
        return False
    return True


async def _report(database: Database, app_ports: range, closed: set[int]) -> None:
    """Register the usable app ports, as soon as the database is available."""
    while True:
        try:
            async with database.transaction() as tx:
                await ports.report(tx, open=set(app_ports) - closed, closed=closed, now=SystemClock().now())
            return
        except Unavailable:
            await asyncio.sleep(_RETRY_S)


async def _sweep(pool: ConnectionPool) -> None:
    while True:
        await asyncio.sleep(_SWEEP_S)
        pool.sweep()
