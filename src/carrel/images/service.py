"""Use cases of images."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import Forbidden
from carrel.core.ids import DomainId, ImageId, new_id
from carrel.engines.references import LOCAL, registry_of
from carrel.permissions.decide import Actor
from carrel.permissions.roles import sees_everything
from carrel.tables.images import Image
from carrel.tables.tenancy import Domain

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
    """Add an image to the catalogue, or update its entry."""
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


async def usable(tx: AsyncSession, actor: Actor) -> list[Image]:
    """The images from registries that the actor's domain permits, by name; all of them for a superadmin."""
    images = await catalogue(tx)
    allowed = None if sees_everything(actor) else await _registries(tx, actor.domain_id)
    return [image for image in images if _may_use(allowed, registry_of(image.reference))]


async def require_registry(tx: AsyncSession, domain: DomainId, reference: str) -> None:
    """Check the registry of an image reference. Raises: Forbidden when the domain does not permit it."""
    registry, allowed = registry_of(reference), await _registries(tx, domain)
    if not _may_use(allowed, registry):
        others = (
            f"Use an image from {' or '.join(allowed)}" if allowed else "Use an image that was built here"
        )
        raise Forbidden(
            "image.registry_not_allowed",
            f"Your domain may not use images from {registry}.",
            hint=f"{others}, or ask an administrator to allow {registry} for your domain.",
            field="image",
            details={"registry": registry, "registries": allowed},
        )


def _may_use(allowed: list[str] | None, registry: str) -> bool:
    return allowed is None or registry in (LOCAL, *allowed)


async def _registries(tx: AsyncSession, domain: DomainId) -> list[str] | None:
    return (await tx.execute(select(Domain.registries).where(Domain.id == domain))).scalar_one()


async def find(tx: AsyncSession, name_or_reference: str) -> Image | None:
    """The catalogue entry for a name or a full reference."""
    result = await tx.execute(
        select(Image).where(or_(Image.name == name_or_reference, Image.reference == name_or_reference))
    )
    return result.scalars().first()
