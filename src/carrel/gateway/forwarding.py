"""The engines of the gateway: for containers whose address it cannot reach, and for SSH."""

import socket
from collections.abc import Awaitable, Callable

from carrel.apps.container_engines import ContainerEngines
from carrel.core.errors import Unavailable
from carrel.core.ids import ContainerId
from carrel.db.database import Database
from carrel.engines.port import Engine
from carrel.nodes.engines.connections import Engines, Make

Connector = Callable[[Database], Awaitable[Make]]


class Forwarding:
    """Engines are opened when one is first used. connector: what creates them."""

    def __init__(self, database: Database, connector: Connector) -> None:
        self._database = database
        self._connector = connector
        self._engines: Engines | None = None

    async def connect(self, container: ContainerId, port: int) -> socket.socket:
        """As `ContainerEngines.connect`. Raises: ConnectionError."""
        try:
            engines = await self._opened()
        except Unavailable as error:
            raise ConnectionError(error.message) from error
        return await engines.connect(container, port)

    async def engine_of(self, container: ContainerId) -> Engine:
        """As `ContainerEngines.of`."""
        return await (await self._opened()).of(container)

    async def _opened(self) -> ContainerEngines:
        """Raises: Unavailable."""
        if self._engines is None:
            made = await self._connector(self._database)
            self._engines = self._engines or Engines(self._database, made)
        return ContainerEngines(self._database, self._engines)

    def forget(self) -> None:
        """The rows of engines have changed."""
        if self._engines:
            self._engines.forget()

    async def close(self) -> None:
        """Twice: no-op."""
        if self._engines:
            await self._engines.close()
