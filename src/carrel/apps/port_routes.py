"""The WebSocket of one TCP connection to a port of a session, for local ports of clients."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Path, WebSocket

from carrel.apps import container_ports, sockets
from carrel.apps.container_ports import PortConnection
from carrel.apps.services import AccessServices
from carrel.apps.streams import ContainerName, entering, note, recorder_of
from carrel.core.errors import CarrelError, Unavailable
from carrel.core.ids import ContainerId
from carrel.http.services import services_of
from carrel.permissions.decide import Actor
from carrel.sessions import containers
from carrel.tables.sessions import Session

router = APIRouter()
_END = "eof"


@router.websocket("/sessions/{ref}/ports/{port}")
async def port_stream(
    socket: WebSocket, ref: str, port: Annotated[int, Path(ge=1, lt=1 << 16)], container: ContainerName = None
) -> None:
    """A TCP connection to the port, also if only the session itself reaches it."""

    async def serve(session: Session, inside: ContainerId, actor: Actor) -> None:
        services = services_of(socket, AccessServices)
        async with services.database.transaction() as tx:
            address = (await containers.named(tx, session, inside)).address
        engine = await services.container_engines.of(inside)
        try:
            async with container_ports.connect(engine, inside, address, "localhost", port) as connection:
                await note(socket, actor, session, {"port": port})
                with services.access_watch.watching(actor, session, "session.exec") as lost:
                    await _carry(socket, connection, recorder_of(socket, session), lost)
        except ConnectionError as error:
            raise Unavailable("port.not_answering", str(error), hint="Start a server there first.") from None

    await entering(socket, ref, container, serve)


async def _carry(
    socket: WebSocket,
    connection: PortConnection,
    record_activity: Callable[[], None],
    lost: Awaitable[CarrelError],
) -> None:
    """Pass bytes on until the port's end closes, the client leaves, or access is lost."""

    async def receive() -> None:
        while piece := await connection.read():
            record_activity()
            await socket.send_bytes(piece)
        await sockets.close(socket, 1000)

    async def send() -> None:
        while True:
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            record_activity()
            if content := message.get("bytes"):
                await connection.write(content)
            elif message.get("text") == _END:
                await connection.write_end()

    async def refuse_once_lost() -> None:
        await sockets.refuse(socket, await lost)

    await sockets.say(socket, type="ready")
    await sockets.first_of(receive(), send(), refuse_once_lost())
