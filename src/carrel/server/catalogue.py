"""Registers images in the catalogue, with their metadata from labels."""

from dataclasses import asdict

from carrel.db.database import Database
from carrel.engines.optional import ImageStore
from carrel.images import labels
from carrel.images import service as images


async def register(database: Database, engine: ImageStore, *, name: str, reference: str) -> bool:
    """Add an image of the engine to the catalogue under this name; returns whether it replaces another."""
    details = await engine.image(reference)
    declared = labels.parse(details.labels)
    async with database.transaction() as tx:
        previous = await images.registered(tx, name)
        replaced = previous is not None and previous.reference != reference
        await images.register(
            tx,
            name=name,
            reference=reference,
            title=declared.title or name,
            description=declared.description,
            size_bytes=details.size_bytes,
            architecture=details.architecture,
            apps=[asdict(app) for app in declared.apps],
            min_slots={**images.DEFAULT_MIN_SLOTS, **declared.min_slots},
        )
    return replaced
