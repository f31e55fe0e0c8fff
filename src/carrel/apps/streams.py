"""WebSocket routes: terminals and commands. docs/reference/terminal-protocol.md describes their messages."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated

import structlog
from fastapi import APIRouter, Query, WebSocket
from sqlalchemy import select
from starlette.websockets import WebSocketDisconnect

from carrel.apps import sockets
from carrel.apps.denials import not_running, of_engine, stopped_running
from carrel.apps.schemas import MAX_COLUMNS
from carrel.apps.services import AccessServices
from carrel.apps.session_changes import SessionChanges
from carrel.apps.terminals import Terminals
from carrel.core.errors import CarrelError, Unavailable
from carrel.core.ids import ContainerId
from carrel.db.database import Database
from carrel.engines.port import EngineError, TerminalSize
from carrel.http.auth import current_actor
from carrel.http.services import services_of
from carrel.permissions.decide import Actor
from carrel.sessions import containers
from carrel.sessions import service as sessions
from carrel.tables.session_states import SessionState
from carrel.tables.sessions import Container, Session
from carrel.tables.tenancy import User

log = structlog.get_logger()
_ContainerName = Annotated[str | None, Query(max_length=64)]
router = APIRouter()
_DATABASE_PAUSE_S = 1.0


@asynccontextmanager
async def terminals_watched(services: AccessServices) -> AsyncIterator[None]:
    """Close terminals when their sessions end, and all when the block ends. Shells outlive it."""
    terminals = services.terminals
    watching = asyncio.create_task(_end_terminals(services.database, services.session_changes, terminals))
    try:
        yield
    finally:
        watching.cancel()
        await asyncio.wait([watching])
        await terminals.close()


async def _end_terminals(database: Database, changes: SessionChanges, terminals: Terminals) -> None:
    """Close terminals in sessions that left RUNNING, until cancelled."""
    while True:
        change = changes.next
        if held := terminals.containers:
            try:
                for container in held - await _running(database, held):
                    terminals.stop_running(container, stopped_running())
            except Unavailable:
                log.warning("terminals.database_unavailable")
                await asyncio.sleep(_DATABASE_PAUSE_S)
                continue
        await change.wait()


async def _running(database: Database, containers: set[ContainerId]) -> set[ContainerId]:
    async with database.transaction() as tx:
        rows = await tx.execute(
            select(Container.id)
            .join(Session, Session.id == Container.session_id)
            .where(Container.id.in_(containers), Session.state == SessionState.RUNNING)
        )
        return set(rows.scalars())


@router.websocket("/sessions/{ref}/terminal")
async def terminal(
    socket: WebSocket,
    ref: str,
    cols: Annotated[int, Query(ge=1, le=MAX_COLUMNS)] = 80,
    rows: Annotated[int, Query(ge=1, le=MAX_COLUMNS)] = 24,
    terminal: Annotated[str | None, Query(max_length=20)] = None,
    offset: Annotated[int | None, Query(ge=0, lt=2**62)] = None,
    container: _ContainerName = None,
) -> None:
    """A shell in the session. terminal, offset: reattach to an existing one, from that byte of its output."""

    async def serve(session: Session, inside: ContainerId, actor: Actor) -> None:
        services = services_of(socket, AccessServices)
        terminals = services.terminals
        size = TerminalSize(cols, rows)
        entry = terminals.find(terminal, inside, actor.user_id) if terminal else None
        if entry:
            await entry.stream.resize(size)
        else:
            if terminal:
                await sockets.say(socket, type="gone")
            async with services.database.transaction() as tx:
                liked = (await tx.get_one(User, actor.user_id)).preferences.get("shell") or ""
            entry = await terminals.open(inside, actor.user_id, size, shell=liked)
            await _note(socket, actor, session, {"terminal": entry.id})
        position = offset if entry.id == terminal else 0
        await sockets.show_terminal(
            socket, terminals, entry, _recorder_of(socket, session), position=position
        )

    await _entering(socket, ref, container, serve)


@router.websocket("/sessions/{ref}/exec")
async def exec_command(socket: WebSocket, ref: str, container: _ContainerName = None) -> None:
    """A command in the session with stdin, stdout, stderr and exit code."""

    async def serve(session: Session, inside: ContainerId, actor: Actor) -> None:
        start = await sockets.receive_command(socket)
        await _note(socket, actor, session, {"command": start.command[0]})
        size = TerminalSize(start.cols, start.rows) if start.tty else None
        engine = await services_of(socket, AccessServices).container_engines.of(inside)
        async with engine.exec(inside, start.command, env=start.env, terminal=size) as stream:
            await sockets.carry_command(socket, stream, _recorder_of(socket, session))

    await _entering(socket, ref, container, serve)


async def _entering(
    socket: WebSocket,
    ref: str,
    container: str | None,
    serve: Callable[[Session, ContainerId, Actor], Awaitable[None]],
) -> None:
    """Authorize access to a container of a running session; close the socket with the reason otherwise."""
    # Accept first, because browsers do not expose the reason of a refused handshake.
    await socket.accept()
    services = services_of(socket, AccessServices)
    try:
        actor = await current_actor(socket)
        async with services.database.transaction() as tx:
            session = await sessions.find(tx, actor, ref, "session.exec")
            inside = (await containers.named(tx, session, container)).id
        if session.state != SessionState.RUNNING:
            raise not_running(session)
        await serve(session, inside, actor)
    except CarrelError as error:
        if actor := socket.scope["state"].get("actor"):
            await services.refusals.note(actor, "session.exec", ref, error)
        await sockets.refuse(socket, error)
    except EngineError as error:
        await sockets.refuse(socket, of_engine(error))
    except WebSocketDisconnect:
        pass


def _recorder_of(socket: WebSocket, session: Session) -> Callable[[], None]:
    """A callback to report activity, already called once."""
    record_activity = services_of(socket, AccessServices).activity.recorder_of(session.id)
    record_activity()
    return record_activity


async def _note(socket: WebSocket, actor: Actor, session: Session, details: dict[str, object]) -> None:
    async with services_of(socket, AccessServices).database.transaction() as tx:
        sessions.note(tx, actor, "session.exec", session, details=details)
