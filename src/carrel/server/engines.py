"""The engines of an installation, as its processes find them when they start."""

from carrel.accelerators.make import make
from carrel.db.database import Database
from carrel.db.encryption import SecretBox
from carrel.engines.context import EngineContext
from carrel.nodes.engines import service
from carrel.nodes.engines.connections import Connector
from carrel.server import claim
from carrel.server.settings import Settings


async def ensure_local(settings: Settings, database: Database) -> None:
    """The local engine is where CARREL_ENGINE_URL says. Twice: no-op."""
    async with database.transaction() as tx:
        await service.ensure_local(tx, "docker", {"url": settings.engine_url})


async def connector(settings: Settings, database: Database) -> Connector:
    """What makes engines from their rows, for this installation."""
    accelerators = make(settings.effective_accelerators)
    label = await claim.label(settings, database)
    return Connector(SecretBox(settings.key()), EngineContext(label, claim.claimant(settings), accelerators))
