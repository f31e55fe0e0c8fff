"""The SSH port, and its limits.

asyncssh is loaded with the first connection: an installation that does not use SSH does not need the memory.
"""

import asyncio
import importlib
import os
import socket
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import structlog

from carrel.core.ids import ContainerId
from carrel.db.encryption import SecretBox
from carrel.engines.port import Engine
from carrel.gateway.ssh_access import SshAccess, SshProof
from carrel.http.guard import ConnectionLimit
from carrel.signin.keypairs import ssh_identity
from carrel.usage.idle.activity import Activity

if TYPE_CHECKING:
    from carrel.gateway.ssh_connections import Surroundings

log = structlog.get_logger()

FAILURES = 30
"""Connections of an address that end without authentication, before others are refused for a while."""
FORGIVEN_S = 600.0
_ADDRESSES = 10_000
_BACKLOG = 256
_PAUSE_S = 0.5
_PART = "carrel.gateway.ssh_connections"


class SshServer:
    """Serves SSH on sockets."""

    def __init__(
        self,
        access: SshAccess,
        activity: Activity,
        box: SecretBox,
        engine_of: Callable[[ContainerId], Awaitable[Engine]],
        *,
        port_forwarding: bool = True,
        agent_forwarding: bool = True,
    ) -> None:
        self._access = access
        self._activity = activity
        self._box = box
        self._engine_of = engine_of
        self._port_forwarding = port_forwarding
        self._agent_forwarding = agent_forwarding
        self._around: Surroundings | None = None
        self._options: dict[str, object] = {}
        self.failures = Failures()

    async def serve(self, end: socket.socket, peer: str, proof: SshProof | None = None) -> None:
        """Serve one connection until it ends; closes the socket. peer: the client's address.

        proof: of a request that the API has authenticated; None: the client must authenticate.
        """
        connections = await asyncio.to_thread(importlib.import_module, _PART)
        if self._around is None:
            self._options = connections.options_of(
                ssh_identity.private_text(ssh_identity.host_key(self._box))
            )
            self._around = connections.Surroundings(
                access=self._access,
                activity=self._activity,
                engine_of=self._engine_of,
                authority=ssh_identity.public_line(ssh_identity.authority(self._box)),
                port_forwarding=self._port_forwarding,
                agent_forwarding=self._agent_forwarding,
                refused=self.failures.count,
            )
        await connections.serve(end, self._around, self._options, peer, proof)


class Failures:
    """Connections per client that did not authenticate. client_of: which one has an address; "": not counted."""

    def __init__(self) -> None:
        self.client_of: Callable[[str], str] = str
        self._counts: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def too_many(self, address: str) -> bool:
        count, since = self._counts.get(self.client_of(address), (0, 0.0))
        return count >= FAILURES and time.monotonic() - since < FORGIVEN_S

    def count(self, address: str) -> None:
        """A connection of the address ended without authentication."""
        client = self.client_of(address)
        if not client:
            return
        count, since = self._counts.pop(client, (0, 0.0))
        now = time.monotonic()
        if now - since >= FORGIVEN_S:
            count, since = 0, now
        self._counts[client] = count + 1, since
        while len(self._counts) > _ADDRESSES:
            self._counts.popitem(last=False)


class SshListener:
    """The port. limit: on connections per address; failures to authenticate are counted likewise."""

    def __init__(self, server: SshServer, limit: ConnectionLimit) -> None:
        self._server = server
        self._limit = limit
        server.failures.client_of = limit.client_of
        self._open: set[asyncio.Task[None]] = set()
        self._socket: socket.socket | None = None
        self._accepting: asyncio.Task[None] | None = None

    def start(self, host: str, port: int) -> int | None:
        """Listen; the port, or None if another program has it."""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            self._socket = socket.create_server((host, port), family=family, backlog=_BACKLOG)
        except OSError as error:
            log.warning("ssh.port_closed", port=port, error=os.strerror(error.errno or 0))
            return None
        self._socket.setblocking(False)
        self._accepting = asyncio.create_task(self._accept(self._socket))
        return int(self._socket.getsockname()[1])

    async def close(self) -> None:
        """Close the port and all connections. Never started: no-op."""
        tasks = [task for task in (self._accepting, *self._open) if task]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        if self._socket:
            self._socket.close()

    async def _accept(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                end, peer = await loop.sock_accept(listening)
            except OSError as error:  # no more open files
                log.warning("ssh.accept_failed", error=os.strerror(error.errno or 0))
                await asyncio.sleep(_PAUSE_S)
                continue
            address = str(peer[0])
            if self._server.failures.too_many(address) or self._limit.enter(address):
                end.close()
                continue
            task = asyncio.create_task(self._serve(end, address))
            self._open.add(task)
            task.add_done_callback(self._ended)

    async def _serve(self, end: socket.socket, address: str) -> None:
        try:
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await self._server.serve(end, address)
        finally:
            self._limit.leave(address)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._open.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error("ssh.connection_failed", exc_info=error)
