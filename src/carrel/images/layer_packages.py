"""What is known of packages: by layer, and of the images that have these layers."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta

from sqlalchemy import ARRAY, String, any_, cast, delete, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import RegistryId
from carrel.images.registries.layer_reading import LayerDatabases
from carrel.images.registries.package_databases import Packages, contents_of
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


async def known(tx: AsyncSession, digests: Iterable[str]) -> set[str]:
    """Those layers that have been read."""
    among = LayerPackages.digest == any_(cast(list(digests), ARRAY(String)))
    return set((await tx.execute(select(LayerPackages.digest).where(among))).scalars())


async def keep(
    tx: AsyncSession, digest: str, layer: LayerDatabases, problem: str | None, now: datetime
) -> None:
    """Keep what a layer has. Twice: no-op."""
    row = {"digest": digest, "problem": problem, "used_at": now, **asdict(layer)}
    await tx.execute(insert(LayerPackages).values(row).on_conflict_do_nothing())


async def forget(tx: AsyncSession, now: datetime) -> None:
    """Drop layers that no image has needed for long: they would be read again."""
    await tx.execute(delete(LayerPackages).where(LayerPackages.used_at < now - _KEPT))


async def describe(
    tx: AsyncSession,
    registry: RegistryId,
    repository: str,
    digest: str,
    layers: Sequence[str],
    *,
    now: datetime,
) -> str | None:
    """Write the contents of an image from its layers, the lowest first; the problem if some are not known."""
    among = LayerPackages.digest == any_(cast(list(layers), ARRAY(String)))
    # In order, since images that are described side by side share layers.
    locked = select(LayerPackages).where(among).order_by(LayerPackages.digest).with_for_update()
    rows = {row.digest: row for row in (await tx.execute(locked)).scalars()}
    databases: dict[str, Packages] = {}
    problem = None
    for layer in layers:
        row = rows[layer]
        row.used_at = now
        databases = LayerDatabases(row.databases, row.removed, row.opaque).over(databases)
        if row.problem:
            problem = f"Layer {layer[:19]} is not read: {row.problem}."
    contents = {name: list(read) for name, read in contents_of(databases).items()}
    await _write(tx, registry, repository, digest, contents, problem)
    return problem


async def give_up(tx: AsyncSession, registry: RegistryId, repository: str, digest: str, problem: str) -> None:
    """Keep why an image is never read."""
    await _write(tx, registry, repository, digest, {}, problem)


async def _write(
    tx: AsyncSession,
    registry: RegistryId,
    repository: str,
    digest: str,
    contents: dict[str, list[str]],
    problem: str | None,
) -> None:
    of_it = Image.registry_id == registry, Image.repository == repository, Image.digest == digest
    await tx.execute(
        update(Image)
        .where(*of_it)
        .values(package_contents=contents, packages_digest=digest, packages_problem=problem)
    )
