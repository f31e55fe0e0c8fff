"""The composition root: the only place that wires packages, engines, database and HTTP together."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from fastapi import FastAPI, Response

import carrel
from carrel.accounts.domains import routes as domains
from carrel.accounts.dotfiles import routes as dotfiles
from carrel.accounts.projects import routes as projects
from carrel.accounts.users import routes as users
from carrel.accounts.views import routes as views
from carrel.apps import catalogue_routes, log_routes, port_routes, streams
from carrel.apps import routes as access
from carrel.apps.access_watch import AccessWatch
from carrel.apps.app_processes import AppProcesses
from carrel.apps.app_states import AppStates
from carrel.apps.container_engines import ContainerEngines
from carrel.apps.network_checks import routes as network_routes
from carrel.apps.opening import AppStarter
from carrel.apps.session_changes import SessionChanges
from carrel.apps.start_leases import StartLeases
from carrel.apps.terminal_locations import TerminalLocations
from carrel.apps.terminal_relay import TerminalRelay
from carrel.apps.terminals import Terminals
from carrel.audit import routes as audit
from carrel.audit.middleware import NoteRefusals
from carrel.audit.refusals import Refusals
from carrel.builds import git_fetch
from carrel.builds import routes as builds
from carrel.controllers import loop, runtime
from carrel.core.clock import Clock, SystemClock
from carrel.db.database import Database
from carrel.db.encryption import SecretBox
from carrel.db.leader import Leader
from carrel.db.listener import Listener
from carrel.environments import routes as environments
from carrel.environments.pushes import routes as pushes
from carrel.events import routes as events
from carrel.events.service import EventStream
from carrel.folders import routes as vfolders
from carrel.folders import share_routes as shares
from carrel.folders.files import interrupted
from carrel.folders.files import routes as files
from carrel.folders.files import transfer_routes as transfers
from carrel.folders.files import upload_routes as uploads
from carrel.folders.files.arriving import Arrivals
from carrel.folders.files.change_events import FileChanges
from carrel.folders.files.notes import FileNotes
from carrel.folders.files.transfers import TransferLimits
from carrel.folders.hosts import routes as storage_hosts
from carrel.folders.hosts.storages import Storages
from carrel.folders.webdav import mount as webdav
from carrel.gateway.ssh_access import SshAccess
from carrel.gateway.ssh_listener import SshServer
from carrel.http import problems
from carrel.http.auth import names
from carrel.http.compressed import Compressed
from carrel.http.fast_path import FastPath, FastRoute
from carrel.http.metrics import Measured
from carrel.http.rate_limits import RateLimits
from carrel.http.services import install
from carrel.http.shell import Shell
from carrel.image_scans import rescan_routes as rescans
from carrel.image_scans import routes as image_scans
from carrel.images import routes as images
from carrel.images.image_updates import routes as image_updates
from carrel.images.node_images import routes as node_images
from carrel.images.registries import routes as registries
from carrel.imports import routes as imports
from carrel.limits import routes as limits
from carrel.nodes import capacity_routes as nodes
from carrel.nodes import device_routes as devices
from carrel.nodes import routes as machines
from carrel.nodes.accelerator_checks import routes as accelerator_checks
from carrel.nodes.engines import routes as engine_routes
from carrel.nodes.engines.connections import Engines
from carrel.nodes.groups import routes as groups
from carrel.nodes.presets import routes as presets
from carrel.notifications import routes as notifications
from carrel.queue import fragmentation_routes as fragmentation
from carrel.queue import ledger_routes as ledger
from carrel.queue import routes as scheduler
from carrel.queue import trace_export_routes as trace_export
from carrel.queue.queue import Plans
from carrel.server import api_document, build, greeting, metrics, page, ssh_routes
from carrel.server import routes as server
from carrel.server.bootstrap.layer_recipe import AppLayerRecipe
from carrel.server.build_rules import build_rules
from carrel.server.maintenance import routes as maintenance
from carrel.server.services import ApiServices
from carrel.server.settings import Settings
from carrel.sessions import definition_routes as definitions
from carrel.sessions import routes as sessions
from carrel.sessions import save_routes as saving
from carrel.sessions.logs.store import DIRECTORY as SESSION_LOGS
from carrel.sessions.logs.store import LogStore
from carrel.sessions.schedules import routes as schedules
from carrel.sessions.shares import routes as session_shares
from carrel.sessions.templates import routes as templates
from carrel.signin.keypairs import routes as keypairs
from carrel.signin.logins import authenticator
from carrel.signin.logins import factor_routes as factors
from carrel.signin.logins import login_routes as browsers
from carrel.signin.logins import routes as logins
from carrel.signin.logins.authenticator import Authenticator
from carrel.signin.providers import routes as providers
from carrel.signin.providers import sign_on_routes as sign_on
from carrel.signin.providers.adapters import Adapters
from carrel.signin.providers.sign_on import Directories, SignOnServices
from carrel.site import routes as site
from carrel.site.mailer import Mailer
from carrel.slot_kinds import routes as slot_kinds
from carrel.tables.engines import TOPIC as ENGINES_CHANGED
from carrel.usage import routes as usage
from carrel.usage.idle import routes as idle
from carrel.usage.idle.activity import Activity
from carrel.usage.service import UsageStream
from carrel.usage.statistics import routes as statistics

# Searched in this order: most requested first.
_ROUTERS = (
    transfers.router,
    uploads.router,
    sessions.router,
    scheduler.router,
    trace_export.router,
    logins.router,
    factors.router,
    browsers.router,
    greeting.router,
    site.router,
    keypairs.router,
    dotfiles.router,
    views.router,
    users.router,
    projects.router,
    domains.router,
    limits.router,
    ledger.router,
    providers.router,
    sign_on.router,
    server.router,
    maintenance.router,
    metrics.router,
    images.router,
    image_scans.router,
    rescans.router,
    registries.router,
    node_images.router,
    image_updates.router,
    imports.router,
    nodes.router,
    slot_kinds.router,
    groups.router,
    machines.router,
    devices.router,
    accelerator_checks.router,
    fragmentation.router,
    presets.router,
    usage.router,
    statistics.router,
    idle.router,
    definitions.router,
    schedules.router,
    session_shares.router,
    templates.router,
    environments.router,
    builds.router,
    pushes.router,
    saving.router,
    vfolders.router,
    shares.router,
    files.router,
    storage_hosts.router,
    engine_routes.router,
    events.router,
    notifications.router,
    audit.router,
    access.router,
    log_routes.router,
    network_routes.router,
    catalogue_routes.router,
    streams.router,
    port_routes.router,
    ssh_routes.router,
)


def application() -> FastAPI:
    """The HTTP application with all routes but no services; sufficient to write openapi.json."""
    app = FastAPI(
        title="Carrel",
        version=carrel.__version__,
        description=api_document.DESCRIPTION,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
        responses=problems.RESPONSES,
    )
    problems.install(app)
    for router in _ROUTERS:
        app.include_router(router, prefix="/api/v1")
    api_document.install(app, [route for router in _ROUTERS for route in router.routes])
    app.mount(webdav.MOUNT, webdav.LazyWebDav())
    # The default path of scrapers.
    app.add_api_route(
        "/metrics",
        metrics.show,
        include_in_schema=False,
        openapi_extra=names("metrics.read"),
        response_class=Response,
    )
    page.install(app)
    app.add_middleware(NoteRefusals)
    fast_routes = [route for router in _ROUTERS for route in router.routes if isinstance(route, FastRoute)]
    app.add_middleware(FastPath, framework=app, prefix="/api/v1", routes=fast_routes)
    app.add_middleware(Compressed)
    app.add_middleware(Shell)
    app.add_middleware(Measured)
    return app


@asynccontextmanager
async def api(
    settings: Settings, database: Database, engines: Engines, *, clock: Clock | None = None
) -> AsyncIterator[FastAPI]:
    """Serve requests until the block ends. Owns neither database nor engines."""
    build.publish()
    app = application()
    listener = Listener(database.url)
    services = _services(settings, database, engines, listener, clock or SystemClock())
    install(app, services)
    listener.subscribe(ENGINES_CHANGED, engines.forget)
    listener.subscribe(authenticator.TOPIC, services.authenticator.forget)
    await services.events.start()
    await asyncio.to_thread(git_fetch.remove_leftovers)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(services.terminals.close)
        stack.push_async_callback(services.mailer.close)
        stack.callback(services.providers.close)
        stack.callback(services.storages.close)
        for work in (
            listener.run(),
            services.events.run(),
            services.limits.run(),
            services.refusals.run(),
            services.file_changes.run(),
            services.activity.run(),
            services.access_watch.run(),
            services.ssh_access.watch(),
            services.terminals.run(),
            UsageStream(database, listener, services.events).run(),
        ):
            stack.push_async_callback(_stop, asyncio.create_task(work))
        await listener.connected.wait()
        # Recover operations that a killed API left unfinished; the controllers may run elsewhere and check rarely.
        looking = loop.beside(
            "write down interrupted changes",
            partial(interrupted.write_down_all, database.transaction, services.storages, services.clock),
        )
        stack.push_async_callback(_stop, asyncio.create_task(looking))
        yield app


def _services(
    settings: Settings, database: Database, engines: Engines, listener: Listener, clock: Clock
) -> ApiServices:
    seal, refusals = SecretBox(settings.key()), Refusals(database)
    adapters = Adapters(seal)
    container_engines = ContainerEngines(database, engines)
    processes = AppProcesses(container_engines)
    locations = TerminalLocations(database, clock, settings.effective_internal_url)
    terminals, changes = Terminals(container_engines, locations), SessionChanges(listener)
    activity, ssh_access = Activity(database, clock), SshAccess(database, clock, listener)
    sign_on_services = SignOnServices(database, clock, seal, adapters, settings.effective_public_url)
    return ApiServices(
        settings=settings,
        database=database,
        clock=clock,
        seal=seal,
        limits=RateLimits(database),
        authenticator=Authenticator(database, clock, refusals, seal),
        refusals=refusals,
        mailer=Mailer(database, seal, clock),
        providers=adapters,
        micromamba=settings.build_micromamba,
        fetches=TransferLimits(most_per_person=2, most=8),
        elsewhere=Directories(sign_on_services),
        events=EventStream(database, listener),
        plans=Plans(database, clock),
        storages=Storages(database, seal=seal),
        file_changes=FileChanges(database, clock),
        file_notes=FileNotes(database),
        arrivals=Arrivals(database, listener),
        downloads=TransferLimits(),
        uploads=TransferLimits(),
        engines=engines,
        container_engines=container_engines,
        activity=activity,
        terminals=terminals,
        terminal_relay=TerminalRelay(seal, clock, settings.tls_cert),
        app_processes=processes,
        app_starter=AppStarter(container_engines, processes, StartLeases(database, clock), clock),
        app_states=AppStates(container_engines, processes),
        session_changes=changes,
        access_watch=AccessWatch(database, changes, terminals),
        ssh_access=ssh_access,
        ssh=SshServer(
            ssh_access,
            activity,
            seal,
            container_engines.of,
            port_forwarding=settings.ssh_port_forwarding,
            agent_forwarding=settings.ssh_agent_forwarding,
        ),
        logs=LogStore(settings.data_dir / SESSION_LOGS),
    )


@asynccontextmanager
async def controllers(
    settings: Settings, database: Database, engines: Engines, *, clock: Clock | None = None
) -> AsyncIterator[None]:
    """Run the controllers while this process is the leader, until the block ends."""
    listener = Listener(database.url)
    listener.subscribe(ENGINES_CHANGED, engines.forget)
    seal = SecretBox(settings.key())
    storages = Storages(database, seal=seal)
    logs = LogStore(settings.data_dir / SESSION_LOGS)

    def make(leader: Leader) -> "list[loop.Controller]":
        tools = loop.Tools(
            database,
            engines,
            clock or SystemClock(),
            leader,
            seal,
            storages,
            logs,
            public_url=settings.effective_public_url,
            app_layer=AppLayerRecipe() if settings.app_layer else None,
            key=settings.key(),
            scanner=settings.scanner(),
            builds=build_rules(settings),
        )
        return list(runtime.controllers(tools))

    async with AsyncExitStack() as stack:
        stack.callback(storages.close)
        stack.push_async_callback(_stop, asyncio.create_task(listener.run()))
        leading = asyncio.create_task(loop.lead_forever(database.url, listener, engines, make))
        stack.push_async_callback(_stop, leading)
        yield


async def _stop(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.wait([task])
