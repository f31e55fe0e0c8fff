"""/sessions/{ref}/apps and /sessions/{ref}/logs."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import StreamingResponse
from sqlalchemy import exists
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.apps import app_templates, opening, ports
from carrel.apps import service as apps
from carrel.apps.denials import not_running
from carrel.apps.logs import LogReader, prompt, zipped
from carrel.apps.opening import AppServer, AppsSettings
from carrel.apps.schemas import AppList, AppToken, AppView, LogParameters, OpenedApp
from carrel.apps.services import AccessServices
from carrel.http.auth import CurrentActor, names
from carrel.http.compressed import may_be_guessed, takes
from carrel.http.services import ServicesOf
from carrel.permissions.decide import Actor
from carrel.sessions import containers
from carrel.sessions import service as sessions
from carrel.tables.apps import AppPort
from carrel.tables.groups import ResourceGroup
from carrel.tables.session_states import LIFECYCLE, ContainerRole, SessionState
from carrel.tables.sessions import Container, Session

router = APIRouter(tags=["access"])
Ref = Annotated[str, Path(max_length=64, description="An id, a unique prefix of it, or a name.")]
AppName = Annotated[str, Path(max_length=64)]
_LIVES = exists().where(Session.id == AppPort.session_id, Session.state.not_in(LIFECYCLE.final))


def _place(session: Session, main: Container, settings: AppsSettings) -> AppServer:
    """Raises: Conflict when the session does not run."""
    if session.state != SessionState.RUNNING:
        raise not_running(session)
    return AppServer(main.id, main.address, apps.app_secret(settings.key(), session.id))


@router.get(
    "/sessions/{ref}/apps",
    operation_id="apps.list",
    summary="List apps of a session",
    openapi_extra=names("app.read"),
)
async def list_apps(services: ServicesOf[AccessServices], actor: CurrentActor, ref: Ref) -> AppList:
    """The apps of a session, and whether each one responds."""
    async with services.database.transaction() as tx:
        session = await sessions.find(tx, actor, ref, "app.read")
        main = await containers.named(tx, session, None)
    known = list(app_templates.templates(session.apps).values())
    running: Mapping[str, bool] = {}
    if session.state == SessionState.RUNNING and known:
        place = _place(session, main, services.settings)
        running = await opening.running_apps(services.container_engines, place, known)
    return AppList(
        items=[
            AppView(
                name=app.name,
                title=app.title,
                protocol=app.protocol,
                port=app.port,
                running=running.get(app.name, False),
            )
            for app in known
        ]
    )


@router.post(
    "/sessions/{ref}/apps/{app}/open",
    operation_id="apps.open",
    summary="Open an app in a browser",
    openapi_extra=names("app.open"),
)
async def open_app(
    request: Request, services: ServicesOf[AccessServices], actor: CurrentActor, ref: Ref, app: AppName
) -> OpenedApp:
    """A link that opens the app once, within 30 seconds. Starts the app if necessary."""
    opened_at = services.clock.now()
    session = await _started(services, actor, ref, app)
    async with services.database.transaction() as tx:
        now = services.clock.now()
        await apps.record_start(tx, session.id, app, opened_at=opened_at, ready_at=now)
        sessions.note(tx, actor, "app.open", session, details={"app": app})
        ticket = await apps.issue_ticket(tx, actor, session=session.id, app=app, now=now)
        url = opening.with_ticket(await _url(request, services, tx, session, app, now), ticket.token)
    return OpenedApp(url=url, expires_at=ticket.expires_at)


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
    session = await _started(services, actor, ref, app)
    async with services.database.transaction() as tx:
        now = services.clock.now()
        await apps.record_start(tx, session.id, app, opened_at=opened_at, ready_at=now)
        sessions.note(tx, actor, "app.open", session, details={"app": app, "by": "token"})
        issued = await apps.issue_token(tx, actor, session=session.id, app=app, now=now)
        url = await _url(request, services, tx, session, app, now)
    return AppToken(url=url, token=issued.token, expires_at=issued.expires_at)


async def _started(services: AccessServices, actor: Actor, ref: str, app: str) -> Session:
    """The session, after its app responds."""
    async with services.database.transaction() as tx:
        session = await sessions.find(tx, actor, ref, "app.open")
        main = await containers.named(tx, session, None)
    await services.app_starter.ensure(
        _place(session, main, services.settings), app_templates.template(session.apps, app)
    )
    return session


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


@router.get(
    "/sessions/{ref}/logs",
    operation_id="sessions.logs",
    summary="Read the log of a session",
    openapi_extra=names("session.read"),
    response_class=StreamingResponse,
    responses={
        200: {
            "content": {
                "text/plain": {"schema": {"type": "string"}},
                "application/x-ndjson": {"schema": {"type": "string"}},
            },
            "description": "The log",
        }
    },
)
async def logs(
    request: Request,
    services: ServicesOf[AccessServices],
    actor: CurrentActor,
    ref: Ref,
    query: Annotated[LogParameters, Query()],
) -> StreamingResponse:
    """The output of the session's main process and apps; kept after the end, compressed, up to the size in the policy:
    the beginning and the end.
    """
    async with services.database.transaction() as tx:
        session = await sessions.find(tx, actor, ref)
        inside = await containers.named(tx, session, query.container)
        # Reading one's own log is not audited: the page does it all the time.
        if query.download or session.owner_id != actor.user_id:
            details = {"read": "log", "download": query.download}
            sessions.note(tx, actor, "session.read", session, details=details)
    reader = LogReader(services.database, services.container_engines, services.session_changes, services.logs)
    sent_as = query.sent_as()
    content = await prompt(reader.read(inside.id, query.of_log(), sent_as, follow=query.follow))
    if query.follow and sessions.is_by_share(actor, session, "session.read"):
        content = services.access_watch.while_permitted(actor, session, "session.read", content)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    if query.download:
        part = "" if inside.role == ContainerRole.MAIN else f"-{inside.name}"
        headers["Content-Disposition"] = f'attachment; filename="{session.name}-{session.id}{part}.log"'
        headers["Vary"] = "Accept-Encoding"
        accepted = request.headers.get("accept-encoding", "")
        if not query.follow and takes(accepted, "gzip") and not may_be_guessed(request.scope):
            headers["Content-Encoding"] = "gzip"
            content = zipped(content)
    return StreamingResponse(content, media_type=sent_as.media_type, headers=headers)
