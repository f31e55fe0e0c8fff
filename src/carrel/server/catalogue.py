"""Reads what an image says about itself (its labels) into the catalogue."""

import json
from typing import Any

import aiodocker

from carrel.core.units import parse_cpu, parse_size
from carrel.db.database import Database
from carrel.images import service as images


async def register(database: Database, engine_url: str, *, name: str, reference: str) -> bool:
    """Put an image that the engine has into the catalogue under this name; whether it replaces another."""
    async with aiodocker.Docker(url=engine_url) as engine:
        found: dict[str, Any] = await engine.images.inspect(reference)
    labels: dict[str, str] = found["Config"].get("Labels") or {}
    async with database.transaction() as tx:
        before = {image.reference for image in await images.catalogue(tx) if image.name == name}
        await images.register(
            tx,
            name=name,
            reference=reference,
            title=labels.get("carrel.title", name),
            description=labels.get("carrel.description", ""),
            size_bytes=found["Size"],
            architecture=found["Architecture"],
            apps=json.loads(labels.get("carrel.apps", "[]")),
            min_slots={
                "cpu": parse_cpu(labels.get("carrel.min_cpu", "0.01")),
                "mem": parse_size(labels.get("carrel.min_mem", "16m")),
            },
        )
    return bool(before - {reference})
