"""Writes what a scan finds out about the images of a repository."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any

from sqlalchemy import ARRAY, String, all_, any_, cast, delete, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import ImageId, RegistryId, new_id
from carrel.images import watched_images
from carrel.images.image_facts import facts_of
from carrel.images.registries.manifests import ImageDescription
from carrel.images.registries.scans import Counts
from carrel.tables.images import Image
from carrel.tables.registries import ImageRegistry


async def digests(tx: AsyncSession, registry: RegistryId, repository: str) -> dict[str, str]:
    """The known digests of a repository, by tag, without those of which something is to be read again."""
    read = select(Image.tag, Image.digest).where(*_of(registry, repository), Image.requires_cuda.is_not(None))
    rows = await tx.execute(read)
    return {tag: digest for tag, digest in rows if digest}


async def store(
    tx: AsyncSession,
    registry: ImageRegistry,
    repository: str,
    *,
    tags: Sequence[str],
    changed: Mapping[str, ImageDescription],
    now: datetime,
) -> Counts:
    """Add and update the changed images, and remove those whose tags are gone. Watched ones stay as they are: their new
    digests are offered.

    tags: all of the repository; those that could not be read keep what is known.
    """
    scanned = select(Image.tag).where(*_of(registry.id, repository), Image.digest.is_not(None))
    known = set((await tx.execute(scanned)).scalars())
    watched = await watched_images.of_repository(tx, registry.id, repository)
    for tag in sorted(watched.keys() & changed.keys()):
        await watched_images.checked(tx, watched[tag], changed[tag].digest, now)
        await _read_again(tx, watched[tag], _values(registry, repository, tag, changed[tag]))
    changed = {tag: described for tag, described in changed.items() if tag not in watched}
    for tag, described in sorted(changed.items()):
        values = _values(registry, repository, tag, described)
        await tx.execute(
            insert(Image)
            .values(id=ImageId(new_id()), present=False, scanned_at=now, **values)
            .on_conflict_do_update(
                index_elements=[Image.name],
                # Not by the names of attributes: one is not that of its column.
                set_={getattr(Image, name): value for name, value in values.items()}
                | {Image.scanned_at: now},
            )
        )
    gone = [tag for tag in known if tag not in tags and tag not in watched]
    if gone:
        await tx.execute(delete(Image).where(*_of(registry.id, repository), Image.tag == any_(_array(gone))))
    same = [tag for tag in tags if tag not in changed]
    await tx.execute(
        update(Image)
        .where(*_of(registry.id, repository), Image.tag == any_(_array(same)))
        .values(scanned_at=now)
    )
    added = sum(tag not in known for tag in changed)
    return Counts(tags=len(tags), added=added, updated=len(changed) - added, removed=len(gone))


async def _read_again(tx: AsyncSession, image: ImageId, values: Mapping[str, Any]) -> None:
    """Write what an earlier version did not read of the image that a watched one still is."""
    unread = Image.id == image, Image.digest == values["digest"], Image.requires_cuda.is_(None)
    await tx.execute(update(Image).where(*unread).values(requires_cuda=values["requires_cuda"]))


async def replace_with(
    tx: AsyncSession, registry: ImageRegistry, image: Image, described: ImageDescription, now: datetime
) -> None:
    """Write what is known of an image whose tag means another one."""
    values = _values(registry, image.repository, image.tag, described)
    await tx.execute(update(Image).where(Image.id == image.id).values(**values, scanned_at=now))


async def drop_others(tx: AsyncSession, registry: RegistryId, repositories: Sequence[str]) -> int:
    """Remove the images of repositories that the registry no longer lists, except watched ones; their number."""
    others = Image.registry_id == registry, Image.repository != all_(_array(repositories))
    unwatched = Image.id.not_in(watched_images.ids(registry))
    return len((await tx.execute(delete(Image).where(*others, unwatched).returning(Image.id))).all())


def _array(names: Sequence[str]) -> Any:
    """One parameter: a statement has at most 65,535."""
    return cast(list(names), ARRAY(String))


def _unique(registry: RegistryId, repository: str, tag: str) -> str:
    return sha256(f"{registry}/{repository}:{tag}".encode()).hexdigest()


def _of(registry: RegistryId, repository: str) -> tuple[Any, ...]:
    return Image.registry_id == registry, Image.repository == repository


def _values(
    registry: ImageRegistry, repository: str, tag: str, described: ImageDescription
) -> dict[str, Any]:
    facts = facts_of(repository, tag, described.labels, described.env)
    reference = f"{registry.host}/{repository}:{tag}"
    only = described.architectures[0] if len(described.architectures) == 1 else None
    return {
        "name": _unique(registry.id, repository, tag),
        "full_name": reference,
        "reference": reference,
        "registry_id": registry.id,
        "host": registry.host,
        "repository": repository,
        "tag": tag,
        "digest": described.digest,
        "architecture": only or None,
        "architectures": list(described.architectures),
        "size_bytes": described.size_bytes,
        "layers": described.layers,
        "built_at": described.built_at,
        "family": facts.family,
        "version": facts.version,
        "version_key": facts.version_key,
        "title": facts.title,
        "description": facts.description,
        "min_slots": facts.min_slots,
        "apps": facts.apps,
        "requires_cuda": facts.requires_cuda,
        "declared_contents": facts.contents,
        "package_contents": {},
        "packages_digest": None,
        "packages_problem": None,
        "accelerators": facts.accelerators,
        "licenses": facts.licenses,
        "labels": facts.labels,
    }
