"""How to reach sessions by SSH, and SSH over a WebSocket where its port cannot be reached."""

import asyncio
import socket as sockets_of_system
from urllib.parse import urlsplit

from fastapi import APIRouter, Request, WebSocket
from pydantic import BaseModel

from carrel.apps import sockets
from carrel.apps.streams import ContainerName, entering
from carrel.core.ids import ContainerId
from carrel.gateway.ssh_access import SshProof
from carrel.http.auth import CurrentActor, names
from carrel.http.services import ServicesOf, services_of
from carrel.permissions.decide import Actor
from carrel.server.services import ApiServices
from carrel.signin.keypairs import ssh_certificates, ssh_identity
from carrel.tables.sessions import Session

router = APIRouter()
_PIECE_BYTES = 256 << 10


class SshView(BaseModel):
    """port: null where SSH has no port of its own; it then works over a WebSocket, by `carrel ssh`.

    host_key, authority: public keys, of the host and of the authority that signs certificates.
    """

    host: str
    port: int | None
    host_key: str
    fingerprint: str
    authority: str
    port_forwarding: bool


@router.get(
    "/ssh",
    operation_id="ssh.show",
    summary="Show how to connect by SSH",
    openapi_extra=names("ssh_key.read"),
    tags=["ssh-keys"],
)
async def show_ssh(request: Request, services: ServicesOf[ApiServices], actor: CurrentActor) -> SshView:
    """The address and the keys of SSH. The user name is a session's name or id."""
    settings = services.settings
    port = settings.effective_ssh_port
    host, _, other = settings.ssh_address.partition(":")
    if port and other.isdigit():
        port = int(other)
    key = ssh_identity.public_line(ssh_identity.host_key(services.seal))
    return SshView(
        host=host or urlsplit(settings.public_url or str(request.url)).hostname or "",
        port=port,
        host_key=key,
        fingerprint=ssh_identity.fingerprint(key),
        authority=ssh_identity.public_line(ssh_identity.authority(services.seal)),
        port_forwarding=settings.ssh_port_forwarding,
    )


@router.websocket("/sessions/{ref}/ssh")
async def relay_ssh(socket: WebSocket, ref: str, container: ContainerName = None) -> None:
    """SSH to the session for the user of this request, in binary messages."""

    async def serve(session: Session, inside: ContainerId, actor: Actor) -> None:
        services = services_of(socket, ApiServices)
        async with services.database.transaction() as tx:
            credential = await ssh_certificates.credential_of(tx, actor)
        proof = SshProof(actor.user_id, credential=credential, entrance=f"{session.id}+{inside}")
        ours, theirs = sockets_of_system.socketpair()
        for end in (ours, theirs):
            end.setblocking(False)
        reader, writer = await asyncio.open_connection(sock=ours, limit=_PIECE_BYTES)
        serving = asyncio.create_task(services.ssh.serve(theirs, actor.address, proof))
        try:
            await sockets.first_of(_to_client(socket, reader), _from_client(socket, writer))
            await sockets.close(socket, 1000)
        finally:
            writer.close()
            serving.cancel()
            await asyncio.wait([serving])

    await entering(socket, ref, container, serve)


async def _to_client(socket: WebSocket, reader: asyncio.StreamReader) -> None:
    while piece := await reader.read(_PIECE_BYTES):
        await socket.send_bytes(piece)


async def _from_client(socket: WebSocket, writer: asyncio.StreamWriter) -> None:
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        if content := message.get("bytes"):
            writer.write(content)
            await writer.drain()
