"""Use cases of images."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import ImageId, new_id
from carrel.images.model import Image

DEFAULT_MIN_SLOTS = {"cpu": 10, "mem": 16 << 20}


async def register(
    tx: AsyncSession,
    *,
    name: str,
    reference: str,
    title: str,
    description: str,
    size_bytes: int | None,
    architecture: str | None,
    apps: Sequence[Mapping[str, Any]],
    min_slots: Mapping[str, int],
) -> None:
    """Put an image into the catalogue, or bring its entry up to date."""
    values = {
        "reference": reference,
        "title": title,
        "description": description,
        "size_bytes": size_bytes,
        "architecture": architecture,
        "present": True,
        "apps": [dict(app) for app in apps],
        "min_slots": dict(min_slots),
    }
    await tx.execute(
        insert(Image)
        .values(id=ImageId(new_id()), name=name, **values)
        .on_conflict_do_update(index_elements=[Image.name], set_=values)
    )


async def catalogue(tx: AsyncSession) -> list[Image]:
    """All images, by name."""
    return list((await tx.execute(select(Image).order_by(Image.name))).scalars())


async def find(tx: AsyncSession, name_or_reference: str) -> Image | None:
    """The catalogue's entry for a name or a full reference."""
    found = await tx.execute(
        select(Image).where(or_(Image.name == name_or_reference, Image.reference == name_or_reference))
    )
    return found.scalars().first()
