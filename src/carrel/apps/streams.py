"""WebSocket routes: terminals and commands. docs/reference/terminal-protocol.md describes their messages."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Query, WebSocket
from starlette.websockets import WebSocketDisconnect

from carrel.apps import sockets, terminal_relay
from carrel.apps.denials import not_running, of_engine
from carrel.apps.schemas import MAX_COLUMNS
from carrel.apps.services import AccessServices
from carrel.apps.terminal_relay import RelayTicket
from carrel.core.errors import CarrelError, Unauthorized
from carrel.core.ids import ContainerId
from carrel.engines.port import EngineError, TerminalSize
from carrel.http.auth import current_actor
from carrel.http.services import services_of
from carrel.permissions.decide import Actor
from carrel.sessions import containers
from carrel.sessions import service as sessions
from carrel.tables.session_states import SessionState
from carrel.tables.sessions import Session
from carrel.tables.tenancy import User

ContainerName = Annotated[str | None, Query(max_length=64)]
router = APIRouter()


@router.websocket("/sessions/{ref}/terminal")
async def terminal(
    socket: WebSocket,
    ref: str,
    cols: Annotated[int, Query(ge=1, le=MAX_COLUMNS)] = 80,
    rows: Annotated[int, Query(ge=1, le=MAX_COLUMNS)] = 24,
    terminal: Annotated[str | None, Query(max_length=20)] = None,
    offset: Annotated[int | None, Query(ge=0, lt=2**62)] = None,
    container: ContainerName = None,
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
                place = terminal, inside, actor.user_id
                if (copy := await terminals.locations.elsewhere(*place)) is not None:
                    ticket = RelayTicket(*place, session.id, copy.id)
                    if await services.terminal_relay.carry(socket, copy.address, ticket, size, offset):
                        return
                    await terminals.locations.forget(terminal)
                await sockets.say(socket, type="gone")
            async with services.database.transaction() as tx:
                liked = (await tx.get_one(User, actor.user_id)).preferences.get("shell") or ""
            entry = await terminals.open(inside, actor.user_id, size, shell=liked)
            await note(socket, actor, session, {"terminal": entry.id})
        position = offset if entry.id == terminal else 0
        await sockets.show_terminal(socket, terminals, entry, recorder_of(socket, session), position=position)

    await entering(socket, ref, container, serve)


@router.websocket("/terminals/relayed")
async def relayed_terminal(
    socket: WebSocket,
    cols: Annotated[int, Query(ge=1, le=MAX_COLUMNS)] = 80,
    rows: Annotated[int, Query(ge=1, le=MAX_COLUMNS)] = 24,
    offset: Annotated[int | None, Query(ge=0, lt=2**62)] = None,
) -> None:
    """A terminal of this copy of the API, for another copy that has authorized its client."""
    await socket.accept()
    services = services_of(socket, AccessServices)
    authorization = socket.headers.get("authorization", "")
    ticket = terminal_relay.unseal(services.seal, authorization, services.clock.now())
    if ticket is None:
        await sockets.refuse(socket, Unauthorized("auth.required", "Only other copies may use this."))
        return
    entry = services.terminals.find(ticket.terminal, ticket.container, ticket.user)
    if entry is None or ticket.copy_id != services.terminals.locations.copy_id:
        await sockets.refuse(socket, terminal_relay.gone())
        return
    await socket.send_bytes(terminal_relay.proof(services.seal, ticket))
    record_activity = services.activity.recorder_of(ticket.session)
    try:
        await entry.stream.resize(TerminalSize(cols, rows))
        await sockets.show_terminal(socket, services.terminals, entry, record_activity, position=offset)
    except CarrelError as error:
        await sockets.refuse(socket, error)
    except EngineError as error:
        await sockets.refuse(socket, of_engine(error))
    except WebSocketDisconnect:
        pass


@router.websocket("/sessions/{ref}/exec")
async def exec_command(socket: WebSocket, ref: str, container: ContainerName = None) -> None:
    """A command in the session with stdin, stdout, stderr and exit code."""

    async def serve(session: Session, inside: ContainerId, actor: Actor) -> None:
        start = await sockets.receive_command(socket)
        await note(socket, actor, session, {"command": start.command[0]})
        size = TerminalSize(start.cols, start.rows) if start.tty else None
        services = services_of(socket, AccessServices)
        engine = await services.container_engines.of(inside)
        with services.access_watch.watching(actor, session, "session.exec") as lost:
            async with engine.exec(inside, start.command, env=start.env, terminal=size) as stream:
                await sockets.carry_command(socket, stream, recorder_of(socket, session), lost)

    await entering(socket, ref, container, serve)


async def entering(
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


def recorder_of(socket: WebSocket, session: Session) -> Callable[[], None]:
    """A callback to report activity, already called once."""
    record_activity = services_of(socket, AccessServices).activity.recorder_of(session.id)
    record_activity()
    return record_activity


async def note(socket: WebSocket, actor: Actor, session: Session, details: dict[str, object]) -> None:
    async with services_of(socket, AccessServices).database.transaction() as tx:
        sessions.note(tx, actor, "session.exec", session, details=details)
