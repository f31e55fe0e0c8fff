"""What is known of packages: by layer, and of the images that have these layers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta

from sqlalchemy import ARRAY, String, any_, cast, delete, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import RegistryId
from carrel.images.registries.layer_reading import LayerDatabases
from carrel.tables.images import Image, LayerPackages

_KEPT = timedelta(days=180)


async def unread(tx: AsyncSession, registry: RegistryId) -> list[tuple[str, str]]:
    """Repositories and digests of the images of a registry whose packages are not known."""
    rows = await tx.execute(
        select(Image.repository, Image.digest)
        .where(
            Image.registry_id == registry,
            Image.digest.is_not(None),
            Image.packages_digest.is_distinct_from(Image.digest),
        )
        .distinct()
        .order_by(Image.repository, Image.digest)
    )
    return [(repository, digest) for repository, digest in rows if digest]


async def known(tx: AsyncSession, digests: Iterable[str], now: datetime) -> set[str]:
    """Those layers that have been read; they are kept while an image is described by them."""
    among = LayerPackages.digest == any_(cast(list(digests), ARRAY(String)))
    # In order, since images that are read side by side share layers.
    locked = select(LayerPackages.digest).where(among).order_by(LayerPackages.digest).with_for_update()
    read = set((await tx.execute(locked)).scalars())
    await tx.execute(update(LayerPackages).where(among).values(used_at=now))
    return read


async def keep(
    tx: AsyncSession, digest: str, layer: LayerDatabases, problem: str | None, now: datetime
) -> None:
    """Keep what a layer has. Twice: no-op."""
    row = {"digest": digest, "problem": problem, "used_at": now, **asdict(layer)}
    await tx.execute(insert(LayerPackages).values(row).on_conflict_do_nothing())


async def forget(tx: AsyncSession, now: datetime) -> None:
    """Drop layers that no image has needed for long: they would be read again."""
    await tx.execute(delete(LayerPackages).where(LayerPackages.used_at < now - _KEPT))


async def stored(tx: AsyncSession, digest: str) -> tuple[LayerDatabases, str | None] | None:
    """What a layer has, and why it cannot be read; None: it has not been read."""
    row = await tx.get(LayerPackages, digest)
    return (LayerDatabases(row.databases, row.removed, row.opaque), row.problem) if row else None


async def describe(
    tx: AsyncSession,
    image: tuple[RegistryId, str, str],
    contents: Mapping[str, Sequence[str]],
    problem: str | None,
    *,
    again: bool,
) -> None:
    """Write the contents of an image. image: its registry, repository and digest. problem: why not all of it is read.
    again: the next scan tries it once more.
    """
    registry, repository, digest = image
    of_it = Image.registry_id == registry, Image.repository == repository, Image.digest == digest
    values = {"package_contents": dict(contents), "packages_problem": problem}
    await tx.execute(update(Image).where(*of_it).values(**values, packages_digest=None if again else digest))
