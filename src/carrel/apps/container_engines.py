"""The engine that has a container, and connections to ports of containers without an address."""

import socket

from carrel.core.errors import CarrelError
from carrel.core.ids import ContainerId
from carrel.db.database import Database
from carrel.engines.optional import PortForwarding
from carrel.engines.port import ContainerGone, Engine, EngineError
from carrel.nodes.engines.connections import Engines, in_time
from carrel.sessions import containers

CONNECT_S = 10.0
"""Timeout of connections through an engine."""


class ContainerEngines:
    """Finds the engine of a container by its node."""

    def __init__(self, database: Database, engines: Engines) -> None:
        self._database = database
        self._engines = engines

    async def of(self, container: ContainerId) -> Engine:
        """Raises: ContainerGone if it is not placed; EngineUnavailable; Unavailable (the database)."""
        async with self._database.transaction() as tx:
            engine = await containers.engine_of(tx, container)
        if engine is None:
            raise ContainerGone(f"The container {container} is not placed on a node.")
        return await self._engines.of(engine)

    async def connect(self, container: ContainerId, port: int) -> socket.socket:
        """A connection through the engine, as in `PortForwarding`. Raises: ConnectionError."""
        try:
            engine = await self.of(container)
            if isinstance(engine, PortForwarding):
                return await in_time(engine.connect_port(container, port), CONNECT_S)
        except (CarrelError, EngineError) as error:
            raise ConnectionError(error.message) from error
        raise ConnectionError(f"The container {container} has no address.")
