"""Registers images in the catalogue, with their metadata from labels."""

import json

from carrel.core.units import parse_cpu, parse_size
from carrel.db.database import Database
from carrel.engines.optional import ImageStore
from carrel.images import service as images


async def register(database: Database, engine: ImageStore, *, name: str, reference: str) -> bool:
    """Add an image of the engine to the catalogue under this name; returns whether it replaces another."""
    details = await engine.image(reference)
    labels = details.labels
    async with database.transaction() as tx:
        previous = await images.registered(tx, name)
        replaced = previous is not None and previous.reference != reference
        await images.register(
            tx,
            name=name,
            reference=reference,
            title=labels.get("carrel.title", name),
            description=labels.get("carrel.description", ""),
            size_bytes=details.size_bytes,
            architecture=details.architecture,
            apps=json.loads(labels.get("carrel.apps", "[]")),
            min_slots={
                "cpu": parse_cpu(labels.get("carrel.min_cpu", "0.01")),
                "mem": parse_size(labels.get("carrel.min_mem", "16m")),
            },
        )
    return replaced
