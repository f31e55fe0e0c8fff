"""What each process of an installation runs: `python -m carrel.server.processes api|gateway`.

"api" serves the page and the API and runs the controllers; "gateway" carries the traffic of apps, apart, so
that bulk transfers never slow the API down.
"""

import asyncio
import ctypes
import os
import signal
import sys
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import structlog
import uvicorn
import uvloop

from carrel.db.database import Database
from carrel.server import logs
from carrel.server.settings import Settings

if TYPE_CHECKING:
    from fastapi import FastAPI

log = structlog.get_logger()
_PR_SET_PDEATHSIG = 1
_GATEWAY_NICENESS = 5


async def api(settings: Settings, roles: frozenset[str]) -> None:
    """The page, the API and the controllers (by role), until a signal."""
    from carrel.accelerators.fake import FakeAccelerators
    from carrel.engines.docker import DockerEngine
    from carrel.server import compose

    database = Database(settings.database_url, data_dir=settings.data_dir)
    fakes = [FakeAccelerators(settings.fake_accelerators)] if settings.fake_accelerators else []
    async with AsyncExitStack() as stack:
        stack.push_async_callback(database.close)
        engine = DockerEngine(settings.engine_url, await _label(settings, database), accelerators=fakes)
        stack.push_async_callback(engine.close)
        if "controllers" in roles:
            await stack.enter_async_context(compose.controllers(settings, database, engine))
        if "api" not in roles:
            await _until_signal()
            return
        app = await stack.enter_async_context(compose.api(settings, database, engine))
        await uvicorn.Server(listening(app, settings)).serve()


async def _label(settings: Settings, database: Database) -> str:
    """Of all containers of the installation. Its own, so that two on one engine leave each other's alone."""
    from carrel.site import service as site

    async with database.transaction() as tx:
        return settings.installation or await site.label(tx)


def listening(app: "FastAPI", settings: Settings) -> uvicorn.Config:
    """How the page and the API are served. Raises: Invalid."""
    from carrel.access.keepalive import PatientProtocol
    from carrel.http.sendfile import ZeroCopyProtocol

    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="off",
        timeout_graceful_shutdown=2,
        http=ZeroCopyProtocol,
        ws=PatientProtocol,
        ws_max_size=4 << 20,
        ws_per_message_deflate=False,
        # Said outright: else uvicorn would trust this machine, on which strangers may have sessions.
        forwarded_allow_ips=settings.effective_trusted_proxies,
    )


async def gateway(settings: Settings) -> None:
    """The apps' gateway, until a signal."""
    from carrel.gateway.serve import serve
    from carrel.gateway.settings import GatewaySettings

    await serve(
        GatewaySettings(
            host=settings.host,
            port=settings.effective_gateway_port,
            apps_url=settings.effective_apps_url,
            public_url=settings.effective_public_url,
            key=settings.key(),
            app_ports=settings.effective_app_ports,
        ),
        settings.database_url,
    )


async def _until_signal() -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await stop.wait()


def die_with_parent(parent: int) -> None:
    """Have the kernel end this process when the supervisor is gone, even if that was killed."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        sys.exit(0)


def main(arguments: list[str]) -> None:
    """arguments: the role, then the supervisor's pid when there is one."""
    if len(arguments) > 1:
        die_with_parent(int(arguments[1]))
    settings = Settings()
    role = arguments[0]
    logs.set_up(settings.data_dir / "logs" / f"{role.split(',')[0]}.log" if len(arguments) > 1 else None)
    if role == "gateway":
        # On a machine that is short of cores, bulk transfers give way to the API.
        os.nice(_GATEWAY_NICENESS)
        uvloop.run(gateway(settings))
    else:
        uvloop.run(api(settings, frozenset(role.split(","))))


if __name__ == "__main__":
    main(sys.argv[1:])
