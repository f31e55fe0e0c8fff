"""One SSH connection: authentication, and the channels that it may open."""

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

import asyncssh
from asyncssh.kex import get_kex_algs

from carrel.core.errors import CarrelError
from carrel.core.ids import ContainerId, UserId
from carrel.engines.port import Engine, EngineError
from carrel.gateway import metrics, ssh_bounds, ssh_forwarding
from carrel.gateway.ssh_access import Entrance, SshAccess, SshProof
from carrel.gateway.ssh_processes import ProcessSession
from carrel.gateway.ssh_remote_forwarding import AGENT, Open, RemoteListener, listening
from carrel.signin.keypairs import ssh_certificates
from carrel.usage.idle.activity import Activity

MAX_CHANNELS = 100
MAX_OFFERED_KEYS = 20
_CIPHERS = ("aes128-gcm@openssh.com", "aes256-gcm@openssh.com")
"""The first one of the client's list would be chosen; these are many times faster here than all others."""
_KEY_EXCHANGES = (
    "mlkem768x25519-sha256",
    "sntrup761x25519-sha512@openssh.com",
    "curve25519-sha256",
    "curve25519-sha256@libssh.org",
    "ecdh-sha2-nistp256",
    "ecdh-sha2-nistp384",
)
"""Without those that cost a server much more time than a client that has not authenticated."""
_WINDOW_BYTES = 4 << 20
_LOGIN_S = 30
_KEEP_ALIVE_S = 30
_UNANSWERED = 4
_VERSION = "Carrel"
_FAREWELL_S = 2.0
_ENDED = "Your access to this session has ended."

asyncssh.set_log_level(logging.ERROR)  # below, it logs commands
ssh_bounds.install()


@dataclass(frozen=True)
class Surroundings:
    """What all connections share. engine_of: the engine that has a container. authority: the public key that signs
    certificates. refused: called for a connection that has not authenticated, with its address.
    """

    access: SshAccess
    activity: Activity
    engine_of: Callable[[ContainerId], Awaitable[Engine]]
    authority: str
    port_forwarding: bool
    agent_forwarding: bool
    refused: Callable[[str], None]


async def serve(
    end: socket.socket, around: Surroundings, options: dict[str, object], peer: str, proof: SshProof | None
) -> None:
    """Serve a client until it leaves; closes the socket."""
    with end, suppress(OSError, asyncssh.Error, TimeoutError):
        server = SshConnection(around, peer, proof)
        connection = await asyncssh.run_server(end, **options, server_factory=lambda: server)
        try:
            await connection.wait_closed()
        finally:
            connection.abort()
            await server.listeners_closed()


def options_of(host_key: bytes) -> dict[str, object]:
    """Options of all connections. host_key: in the format of OpenSSH."""
    available = {name.decode() for name in get_kex_algs()}  # some need a library of the host
    return {
        "server_host_keys": [asyncssh.import_private_key(host_key)],
        "kex_algs": [name for name in _KEY_EXCHANGES if name in available],
        "encryption_algs": _CIPHERS,
        "compression_algs": ["none"],
        "server_version": _VERSION,
        "password_auth": False,
        "kbdint_auth": False,
        "host_based_auth": False,
        "gss_auth": False,
        "gss_kex": False,
        "line_editor": False,
        "encoding": None,
        "window": _WINDOW_BYTES,
        "login_timeout": _LOGIN_S,
        "keepalive_interval": _KEEP_ALIVE_S,
        "keepalive_count_max": _UNANSWERED,
        "config": None,
    }


class Trusted:
    """Certificates of our authority, for `set_authorized_keys`; remembers whom the last one names."""

    def __init__(self, authority: str) -> None:
        self._authority = asyncssh.import_public_key(authority)
        self.principals: list[str] = []

    def validate(
        self,
        key: asyncssh.SSHKey,
        client_host: str,
        client_addr: str,
        cert_principals: list[str] | None = None,
        ca: bool = False,
    ) -> dict[str, object] | None:
        """The options of the key; None: `validate_public_key` decides."""
        if not ca or key != self._authority:
            return None
        self.principals = list(cert_principals or [])
        # The user name is that of a session, which certificates do not name.
        return {"principals": self.principals}

    def validate_x509(self, cert: object, client_host: str, client_addr: str) -> tuple[None, None]:
        return None, None


class SshConnection(asyncssh.SSHServer):
    """One client. proof: of a request that the API has authenticated; None: it must authenticate.

    peer: the client's address.
    """

    def __init__(self, around: Surroundings, peer: str, proof: SshProof | None) -> None:
        self._around = around
        self._peer = peer
        self._given = proof
        self._trusted = Trusted(around.authority)
        self._by_key: dict[str, list[SshProof]] = {}
        self._offered = ""
        self._entering: asyncio.Task[Entrance] | None = None
        self._ended = asyncio.Event()
        self._watch: asyncio.Task[None] | None = None
        self._processes: set[ProcessSession] = set()
        self._forwards = 0
        self._listeners: set[RemoteListener] = set()
        self._noted: set[tuple[str, int]] = set()
        self._ref = ""
        self._record: Callable[[], None] = lambda: None
        self._conn: asyncssh.SSHServerConnection
        self.room = asyncio.Event()
        self.room.set()

    # Authentication

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._conn = conn
        # asyncssh does nothing there: only windows would limit what waits for a client, and clients choose them.
        conn.pause_writing = self.room.clear  # type: ignore[method-assign]
        conn.resume_writing = self.room.set  # type: ignore[method-assign]
        # asyncssh would listen on this machine.
        conn.create_agent_listener = self._listen_for_agent  # type: ignore[method-assign]
        metrics.SSH_CONNECTIONS.inc()

    def begin_auth(self, username: str) -> bool:
        self._ref = username
        self._conn.set_authorized_keys(self._trusted)  # type: ignore[arg-type]  # it only calls these two methods
        return self._given is None

    def public_key_auth_supported(self) -> bool:
        return True

    async def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        self._trusted.principals = []
        self._offered = key.get_fingerprint()
        if self._offered not in self._by_key:
            if len(self._by_key) >= MAX_OFFERED_KEYS:
                self._conn.abort()
                return False
            try:
                self._by_key[self._offered] = await self._around.access.by_key(self._offered)
            except CarrelError:
                return False
        return bool(self._by_key[self._offered])

    def auth_completed(self) -> None:
        self._entering = asyncio.create_task(self._enter())
        self._entering.add_done_callback(lambda done: done.cancelled() or done.exception())

    def connection_lost(self, exc: Exception | None) -> None:
        metrics.SSH_CONNECTIONS.dec()
        self._ended.set()
        if self._entering is None:
            self._around.refused(self._peer)

    def _proofs(self) -> list[SshProof]:
        if self._given:
            return [self._given]
        if self._trusted.principals:
            user, credential = ssh_certificates.named(self._trusted.principals)
            return [SshProof(UserId(user), credential=credential)]
        return self._by_key.get(self._offered, [])

    async def _enter(self) -> Entrance:
        entrance = await self._around.access.enter(self._proofs(), self._ref, self._peer)
        self._record = self._around.activity.recorder_of(entrance.session.id)
        self._watch = asyncio.create_task(self._stay(entrance))
        return entrance

    async def _stay(self, entrance: Entrance) -> None:
        with self._around.access.watching(entrance, self._cut):
            await self._ended.wait()

    def _cut(self) -> None:
        # A client that does not read would otherwise stay.
        asyncio.get_running_loop().call_later(_FAREWELL_S, self._conn.abort)
        for session in list(self._processes):
            session.end(_ENDED)
        self._conn.disconnect(asyncssh.DISC_BY_APPLICATION, _ENDED)

    # What its channels use

    @property
    def client(self) -> str:
        return f"{self._peer} 0 127.0.0.1 22"

    async def entrance(self) -> Entrance:
        assert self._entering
        return await asyncio.shield(self._entering)

    async def engine(self, entrance: Entrance) -> Engine:
        return await self._around.engine_of(entrance.container)

    async def note(self, entrance: Entrance, details: dict[str, object]) -> None:
        await self._around.access.note(entrance, details)

    def record_activity(self) -> None:
        self._record()

    def leave(self, session: object) -> None:
        if isinstance(session, ProcessSession):
            self._processes.discard(session)
        else:
            self._forwards -= 1
        if isinstance(session, RemoteListener):
            self._listeners.discard(session)

    # Channels

    def session_requested(self) -> ProcessSession:
        self._require_room()
        session = ProcessSession(self)
        self._processes.add(session)
        return session

    def connection_requested(
        self, dest_host: str, dest_port: int, orig_host: str, orig_port: int
    ) -> "Awaitable[ssh_forwarding.ForwardSession]":
        if not self._around.port_forwarding:
            raise asyncssh.ChannelOpenError(
                asyncssh.OPEN_ADMINISTRATIVELY_PROHIBITED, "Port forwarding is disabled in this installation."
            )
        self.take_room()  # not in the coroutine, which starts only after other requests
        return self._forward(dest_host, dest_port)

    async def _forward(self, host: str, port: int) -> ssh_forwarding.ForwardSession:
        """Raises: ChannelOpenError."""
        try:
            session = await ssh_forwarding.opened(self, host, port, self._noted)
        except BaseException:
            self._forwards -= 1
            raise
        if self._ended.is_set():  # nobody takes it over
            session.close()
        return session

    async def server_requested(self, listen_host: str, listen_port: int) -> asyncssh.SSHListener | bool:
        """Listens on the loopback of the session, whatever listen_host is, as OpenSSH does by default."""

        if not self._around.port_forwarding:
            return False
        place = listen_port

        def opened(session: Callable[[], ssh_forwarding.ForwardSession]) -> Awaitable[object]:
            return self._conn.create_connection(session, listen_host, place)

        listener = await self._listen(str(listen_port), opened)
        if listener is None:
            return False
        place = listener.get_port()
        return listener

    async def _listen_for_agent(self) -> bool:
        if not self._around.agent_forwarding:
            return False
        if self._conn._agent_listener is None:
            listener = await self._listen(AGENT, self._conn.create_agent_connection)  # type: ignore[arg-type]
            self._conn._agent_listener = listener  # type: ignore[assignment]  # it only calls get_path and close
        return self._conn._agent_listener is not None

    async def _listen(self, what: str, opened: Open) -> RemoteListener | None:
        """None if it fails, or if there are too many channels."""
        try:
            self.take_room()
        except asyncssh.ChannelOpenError:
            return None
        try:
            listener = await listening(self, what, opened)
        except (CarrelError, EngineError, OSError):
            self._forwards -= 1
            return None
        self._listeners.add(listener)
        if self._ended.is_set():
            listener.close()
        return listener

    def take_room(self) -> None:
        self._require_room()
        self._forwards += 1

    async def listeners_closed(self) -> None:
        """Close what listens in the session, and wait for it."""
        for listener in list(self._listeners):
            listener.close()
            await listener.wait_closed()

    def _require_room(self) -> None:
        """Raises: ChannelOpenError."""
        if len(self._processes) + self._forwards >= MAX_CHANNELS:
            raise asyncssh.ChannelOpenError(
                asyncssh.OPEN_RESOURCE_SHORTAGE, f"The limit is {MAX_CHANNELS} channels per connection."
            )
