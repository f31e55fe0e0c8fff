"""/sessions/{ref}/apps."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Body, Path, Query, Request
from sqlalchemy import exists
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.apps import app_states, layer_apps, opening, ports, session_apps
from carrel.apps import service as apps
from carrel.apps.app_templates import TCP, AppTemplate
from carrel.apps.denials import not_running, of_engine
from carrel.apps.opening import AppServer, AppsSettings
from carrel.apps.schemas import (
    AppCreate,
    AppList,
    AppLog,
    AppLogParameters,
    AppStartRequest,
    AppToken,
    AppView,
    OpenedApp,
)
from carrel.apps.services import AccessServices
from carrel.apps.session_apps import AppOfSession, AppSource
from carrel.core.errors import Conflict
from carrel.engines.port import EngineError
from carrel.http.auth import CurrentActor, names
from carrel.http.services import ServicesOf
from carrel.nodes.engines import app_layers
from carrel.permissions.decide import Actor
from carrel.sessions import containers
from carrel.sessions import service as sessions
from carrel.tables.apps import AppPort
from carrel.tables.groups import ResourceGroup
from carrel.tables.session_states import LIFECYCLE, SessionState
from carrel.tables.sessions import Container, Session

router = APIRouter(tags=["access"])
Ref = Annotated[str, Path(max_length=64, description="An id, a unique prefix of it, or a name.")]
AppName = Annotated[str, Path(max_length=64)]
Start = Annotated[AppStartRequest | None, Body()]
_LIVES = exists().where(Session.id == AppPort.session_id, Session.state.not_in(LIFECYCLE.final))


def _place(session: Session, main: Container, settings: AppsSettings) -> AppServer:
    """Raises: Conflict when the session does not run."""
    if session.state != SessionState.RUNNING:
        raise not_running(session)
    secret = apps.app_secret(settings.key(), session.id)
    start = main.launched_at.isoformat() if main.launched_at else "-"
    return AppServer(main.id, main.address, secret, start)


@router.get(
    "/sessions/{ref}/apps",
    operation_id="apps.list",
    summary="List apps of a session",
    openapi_extra=names("app.read"),
)
async def list_apps(services: ServicesOf[AccessServices], actor: CurrentActor, ref: Ref) -> AppList:
    """The apps of a session with their states: those of its image, those that were started or opened in it, and those
    of the catalogue.
    """
    async with services.database.transaction() as tx:
        session = await sessions.find(tx, actor, ref, "app.read")
        main = await containers.named(tx, session, None)
        known = await session_apps.of_session(tx, session)
        why = "" if layer_apps.has_layer(session.apps) else await app_layers.missing(tx, main.node_id)
    return AppList(items=await _views(services, session, main, known), layer_missing=why)


async def _views(
    services: AccessServices, session: Session, main: Container, known: Mapping[str, AppOfSession]
) -> list[AppView]:
    if session.state != SessionState.RUNNING:
        return [app_states.view(app, app_states.STOPPED) for app in known.values()]
    place = _place(session, main, services.settings)
    states = await services.app_states.of(place, list(known.values()), services.clock.now())
    return [app_states.view(app, states[name]) for name, app in known.items()]


@router.post(
    "/sessions/{ref}/apps",
    operation_id="apps.create",
    summary="Add an app or open a port",
    openapi_extra=names("app.open"),
    status_code=201,
)
async def create(
    services: ServicesOf[AccessServices], actor: CurrentActor, ref: Ref, body: AppCreate
) -> AppView:
    """Add a further app of a kind that the session has, with options and a port of its own; or declare a port on which
    a program of the session listens. It is not started yet.
    """
    async with services.database.transaction() as tx:
        session = await sessions.find(tx, actor, ref, "app.open")
        main = await containers.named(tx, session, None)
        _place(session, main, services.settings)
        now = services.clock.now()
        if body.port is not None:
            name = body.name or f"port-{body.port}"
            template = AppTemplate(
                name, body.title or name, body.protocol, body.port, path=body.path, icon="globe"
            )
            added = await session_apps.open_port(tx, session, template, now)
        else:
            kind = body.template or ""
            added = await session_apps.add(tx, session, kind, body.name, body.options, now)
        details = {"app": added.name, "port": added.template.port, "by": "create"}
        sessions.note(tx, actor, "app.open", session, details=details)
        await sessions.apps_changed(tx, session)
    [view] = await _views(services, session, main, {added.name: added})
    return view


@router.delete(
    "/sessions/{ref}/apps/{app}",
    operation_id="apps.remove",
    summary="Remove an app or close a port",
    openapi_extra=names("app.open"),
    status_code=204,
)
async def remove(services: ServicesOf[AccessServices], actor: CurrentActor, ref: Ref, app: AppName) -> None:
    """Stop an app and forget it with its options; or close a port. Whoever has it open is disconnected."""
    session, main, known = await _known(services, actor, ref, app)
    if not known.stored:
        raise Conflict(
            "app.not_removable",
            f"{known.template.title} is not an app that was added to this session.",
            hint="Stop it instead.",
        )
    if known.template.command:
        await services.app_starter.stop(_place(session, main, services.settings), known.template)
    async with services.database.transaction() as tx:
        await session_apps.remove(tx, session.id, app)
        sessions.note(tx, actor, "app.open", session, details={"app": app, "by": "remove"})
        await sessions.apps_changed(tx, session)


@router.post(
    "/sessions/{ref}/apps/{app}/start",
    operation_id="apps.start",
    summary="Start an app",
    openapi_extra=names("app.open"),
)
async def start(
    services: ServicesOf[AccessServices],
    actor: CurrentActor,
    ref: Ref,
    app: AppName,
    body: Start = None,
) -> AppView:
    """Start an app and wait until it responds. It fails with the end of the app's log."""
    opened_at = services.clock.now()
    session, main, started = await _started(services, actor, ref, app, body)
    async with services.database.transaction() as tx:
        now = services.clock.now()
        await apps.record_start(tx, session.id, app, opened_at=opened_at, ready_at=now)
        sessions.note(tx, actor, "app.open", session, details={"app": app, "by": "start"})
    [view] = await _views(services, session, main, {app: started})
    return view


@router.post(
    "/sessions/{ref}/apps/{app}/stop",
    operation_id="apps.stop",
    summary="Stop an app",
    openapi_extra=names("app.open"),
)
async def stop(services: ServicesOf[AccessServices], actor: CurrentActor, ref: Ref, app: AppName) -> AppView:
    """End an app's processes, by force after five seconds. It starts again when it is opened."""
    session, main, known = await _known(services, actor, ref, app)
    if not known.template.command:
        raise Conflict(
            "app.no_command",
            f"{known.template.title} was not started by Carrel.",
            hint="End its program in a terminal of the session.",
        )
    await services.app_starter.stop(_place(session, main, services.settings), known.template)
    async with services.database.transaction() as tx:
        sessions.note(tx, actor, "app.open", session, details={"app": app, "by": "stop"})
        await sessions.apps_changed(tx, session)
    [view] = await _views(services, session, main, {app: known})
    return view


@router.get(
    "/sessions/{ref}/apps/{app}/logs",
    operation_id="apps.logs",
    summary="Read the log of an app",
    openapi_extra=names("app.read"),
)
async def logs(
    services: ServicesOf[AccessServices],
    actor: CurrentActor,
    ref: Ref,
    app: AppName,
    query: Annotated[AppLogParameters, Query()],
) -> AppLog:
    """What the app has printed since its last start; empty if it was not started by Carrel. It ends with the
    container.
    """
    session, main, known = await _known(services, actor, ref, app, "app.read")
    place = _place(session, main, services.settings)
    try:
        content = await services.app_processes.log(place.container, known.name, lines=query.tail)
    except EngineError as error:
        raise of_engine(error) from error
    return AppLog(text=content.decode(errors="replace"))


@router.post(
    "/sessions/{ref}/apps/{app}/open",
    operation_id="apps.open",
    summary="Open an app in a browser",
    openapi_extra=names("app.open"),
)
async def open_app(
    request: Request,
    services: ServicesOf[AccessServices],
    actor: CurrentActor,
    ref: Ref,
    app: AppName,
    body: Start = None,
) -> OpenedApp:
    """A link that opens the app once, within 30 seconds. Starts the app if necessary."""
    opened_at = services.clock.now()
    session, _, started = await _started(services, actor, ref, app, body)
    if started.template.protocol == TCP:
        raise Conflict(
            "app.not_http",
            f"{started.template.title} cannot be opened in a browser: its protocol is tcp.",
            hint="Forward its port to your machine.",
        )
    async with services.database.transaction() as tx:
        now = services.clock.now()
        await apps.record_start(tx, session.id, app, opened_at=opened_at, ready_at=now)
        sessions.note(tx, actor, "app.open", session, details={"app": app})
        ticket = await apps.issue_ticket(tx, actor, session=session.id, app=app, now=now)
        origin = await _url(request, services, tx, session, app, now)
    return OpenedApp(
        url=opening.with_ticket(origin, started.template.path, ticket.token), expires_at=ticket.expires_at
    )


@router.post(
    "/sessions/{ref}/apps/{app}/token",
    operation_id="apps.token",
    summary="Create an app token for a program",
    openapi_extra=names("app.open"),
)
async def create_token(
    request: Request, services: ServicesOf[AccessServices], actor: CurrentActor, ref: Ref, app: AppName
) -> AppToken:
    """A token with which a program uses this app for 12 hours, HTTP and WebSockets. Starts the app if necessary."""
    opened_at = services.clock.now()
    session, _, _ = await _started(services, actor, ref, app, None)
    async with services.database.transaction() as tx:
        now = services.clock.now()
        await apps.record_start(tx, session.id, app, opened_at=opened_at, ready_at=now)
        sessions.note(tx, actor, "app.open", session, details={"app": app, "by": "token"})
        issued = await apps.issue_token(tx, actor, session=session.id, app=app, now=now)
        url = await _url(request, services, tx, session, app, now)
    return AppToken(url=url, token=issued.token, expires_at=issued.expires_at)


async def _known(
    services: AccessServices, actor: Actor, ref: str, app: str, action: str = "app.open"
) -> tuple[Session, Container, AppOfSession]:
    """Raises: NotFound, Forbidden; Conflict when the session does not run."""
    async with services.database.transaction() as tx:
        session = await sessions.find(tx, actor, ref, action)
        main = await containers.named(tx, session, None)
        _place(session, main, services.settings)
        return session, main, session_apps.named(await session_apps.of_session(tx, session), app)


async def _started(
    services: AccessServices, actor: Actor, ref: str, app: str, body: AppStartRequest | None
) -> tuple[Session, Container, AppOfSession]:
    """The session, after its app responds."""
    session, main, known = await _known(services, actor, ref, app)
    place = _place(session, main, services.settings)
    options = known.options if body is None or body.options is None else body.options
    # The port of a template is not yet that of an app of this session.
    is_new = known.source is AppSource.CATALOGUE and not known.stored
    if not is_new and await services.app_starter.responds(place, known.template):
        if options != known.options:
            raise Conflict(
                "app.running",
                f"{known.template.title} already runs with other options.",
                hint="Stop it first, or start another one.",
                field="options",
            )
        return session, main, known
    async with services.database.transaction() as tx:
        if known.source is not AppSource.PORT and (is_new or known.stored or options):
            known = await session_apps.keep(tx, session, known, options, services.clock.now())
        await sessions.apps_changed(tx, session)
    try:
        await services.app_starter.ensure(place, known.template, options)
    finally:
        async with services.database.transaction() as tx:
            await sessions.apps_changed(tx, session)
    return session, main, known


async def _url(
    request: Request, services: AccessServices, tx: AsyncSession, session: Session, app: str, now: datetime
) -> str:
    """The app's origin for this client: its host name or its port."""
    settings = services.settings
    group = await tx.get_one(ResourceGroup, session.group_id)
    if group.app_address:
        return opening.app_url(group.app_address, session.id, app)
    if page := opening.page_without_names(settings, str(request.url)):
        port = await ports.give(
            tx, settings.effective_app_ports, session=session.id, app=app, lives=_LIVES, now=now
        )
        return opening.port_url(page, port)
    return opening.app_url(settings.effective_apps_url, session.id, app)
