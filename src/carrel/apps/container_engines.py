"""The engine that has a container."""

from carrel.core.ids import ContainerId
from carrel.db.database import Database
from carrel.engines.port import ContainerGone, Engine
from carrel.nodes.engines.connections import Engines
from carrel.sessions import containers


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
