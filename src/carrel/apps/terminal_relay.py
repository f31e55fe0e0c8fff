"""Clients of terminals that another copy of the API has: this copy passes the messages on.

The first copy authenticates and authorizes the client; the other one accepts a ticket sealed with the installation's
key, and proves that it could open it before anything is passed on: somebody else may have the address of a copy that is
gone. See docs/decisions/0024-a-terminal-stays-in-its-copy.md.
"""

import asyncio
import base64
import hashlib
import secrets
import ssl
from dataclasses import astuple, dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import aiohttp
import orjson
import structlog
from starlette.websockets import WebSocket

from carrel.apps import sockets
from carrel.apps.denials import close_code
from carrel.core.clock import Clock
from carrel.core.errors import NotFound, Unavailable
from carrel.core.ids import ContainerId, SessionId, UserId
from carrel.db.encryption import SecretBox
from carrel.engines.port import TerminalSize
from carrel.engines.tcp_probes import probing

log = structlog.get_logger()

PATH = "/api/v1/terminals/relayed"
_PURPOSE, _PROOF = "terminal relay", "terminal relay proof"
_SCHEME = "Carrel-Relay "
_LASTS = timedelta(minutes=1)
"""Also the tolerated difference between the clocks of two machines."""
_CONNECT_S = 2.0
_PROBING = probing(after_s=10, every_s=5, unanswered_s=60)


@dataclass(frozen=True)
class RelayTicket:
    """A terminal, the user who may attach to it, and the copy that has it. nonce: which that copy proves to know."""

    terminal: str
    container: ContainerId
    user: UserId
    session: SessionId
    copy_id: str
    nonce: str = field(default_factory=lambda: secrets.token_hex(16))


def gone() -> NotFound:
    """The error of the copy that no longer has the terminal."""
    return NotFound("terminal.gone", "This terminal has ended.")


def seal(box: SecretBox, ticket: RelayTicket, now: datetime) -> str:
    """An Authorization header for the copy that has the terminal."""
    content = orjson.dumps([*astuple(ticket), (now + _LASTS).isoformat()])
    return _SCHEME + base64.b64encode(box.close(content, _PURPOSE)).decode()


def unseal(box: SecretBox, authorization: str, now: datetime) -> RelayTicket | None:
    """The ticket of the header; None if it is not valid."""
    scheme, _, sealed = authorization.partition(" ")
    try:
        content = box.open(base64.b64decode(sealed, validate=True), _PURPOSE)
        terminal, container, user, session, copy_id, nonce, until = orjson.loads(content)
    except (ValueError, Unavailable):
        return None
    if f"{scheme} " != _SCHEME or datetime.fromisoformat(until) <= now:
        return None
    return RelayTicket(terminal, ContainerId(container), UserId(user), SessionId(session), copy_id, nonce)


def proof(box: SecretBox, ticket: RelayTicket) -> bytes:
    """The first message of the copy that has the terminal."""
    return box.close(ticket.nonce.encode(), _PROOF)


def _is_proof(box: SecretBox, ticket: RelayTicket, message: aiohttp.WSMessage) -> bool:
    try:
        return message.type is aiohttp.WSMsgType.BINARY and (
            box.open(message.data, _PROOF) == ticket.nonce.encode()
        )
    except (ValueError, Unavailable):
        return False


class TerminalRelay:
    """Connects clients with terminals of other copies. certificate: path of the one that all copies use, if any."""

    def __init__(self, box: SecretBox, clock: Clock, certificate: str) -> None:
        self._box = box
        self._clock = clock
        self._certificate = certificate

    async def carry(
        self, socket: WebSocket, address: str, ticket: RelayTicket, size: TerminalSize, offset: int | None
    ) -> bool:
        """Relay until one side ends. False: the copy is gone, or has no such terminal any more.

        Raises: WebSocketDisconnect.
        """
        query = {"cols": size.cols, "rows": size.rows, **({} if offset is None else {"offset": offset})}
        connector = aiohttp.TCPConnector(socket_factory=_PROBING)
        async with aiohttp.ClientSession(connector=connector, trust_env=False) as client:
            try:
                async with asyncio.timeout(_CONNECT_S):
                    upstream = await client.ws_connect(
                        f"{address}{PATH}",
                        params=query,
                        headers={"Authorization": seal(self._box, ticket, self._clock.now())},
                        max_msg_size=0,
                        ssl=self._pinned(),
                    )
                    first = await upstream.receive()
            except (aiohttp.ClientError, OSError, TimeoutError) as error:
                log.warning("terminals.copy_unreachable", address=address, error=str(error))
                return False
            async with upstream:
                if not _is_proof(self._box, ticket, first):
                    if first.type is not aiohttp.WSMsgType.CLOSE or first.data != close_code(gone()):
                        log.warning("terminals.not_the_copy", address=address)
                    return False
                await sockets.first_of(_to_client(socket, upstream), _to_copy(socket, upstream))
        return True

    def _pinned(self) -> bool | aiohttp.Fingerprint:
        """Accept exactly the own certificate: it is for the public name, not for internal addresses."""
        if not self._certificate:
            return True
        pem = Path(self._certificate).read_text()
        end = "-----END CERTIFICATE-----"
        leaf = pem[pem.index("-----BEGIN CERTIFICATE-----") : pem.index(end) + len(end)]
        return aiohttp.Fingerprint(hashlib.sha256(ssl.PEM_cert_to_DER_cert(leaf)).digest())


async def _to_client(socket: WebSocket, upstream: aiohttp.ClientWebSocketResponse) -> None:
    while True:
        message = await upstream.receive()
        match message.type:
            case aiohttp.WSMsgType.BINARY:
                await socket.send_bytes(message.data)
            case aiohttp.WSMsgType.TEXT:
                await socket.send_text(message.data)
            case aiohttp.WSMsgType.CLOSE:
                await sockets.close(socket, message.data or 1000, message.extra or "")
                return
            case _:  # the copy died
                await sockets.close(socket, sockets.TRY_AGAIN_LATER)
                return


async def _to_copy(socket: WebSocket, upstream: aiohttp.ClientWebSocketResponse) -> None:
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        try:
            if content := message.get("bytes"):
                await upstream.send_bytes(content)
            elif text := message.get("text"):
                await upstream.send_str(text)
        except ConnectionError:  # the other direction tells the client
            return
