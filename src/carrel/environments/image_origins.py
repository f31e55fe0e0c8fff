"""What an environment is made of: images of the catalogue and others, whose limits hold for it as well.

They are stored with each version, those of an environment below included: it may be deleted.
"""

from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import DomainId, ProjectId
from carrel.engines.references import canonical
from carrel.images import availability
from carrel.images import service as images
from carrel.tables.environments import REPOSITORY, EnvironmentVersion
from carrel.tables.images import Image, ImageSettings, shown_name


@dataclass(frozen=True)
class Origin:
    """name: in the catalogue; None: it was not in it. below: the environment is built on it or
    saved from a session of it, and does not only have files of it.
    """

    reference: str
    name: str | None
    below: bool = True


async def origins_of(tx: AsyncSession, reference: str) -> list[Origin]:
    """What the image of an environment is made of; of any other image: nothing."""
    if not reference.startswith(f"{REPOSITORY}/"):
        return []
    stored = select(EnvironmentVersion.origins).where(EnvironmentVersion.reference == reference)
    return _read((await tx.execute(stored)).scalar() or ())


async def with_image(
    tx: AsyncSession, image: Image | None, reference: str, *, below: bool = True
) -> list[Origin]:
    """The origins of what is made of this image. image: its entry in the catalogue, if it has one."""
    if reference.startswith(f"{REPOSITORY}/"):
        own = await origins_of(tx, reference)
        return [replace(one, below=one.below and below) for one in own]
    return [Origin(reference, image.shown_name if image else None, below)]


def to_json(origins: Iterable[Origin]) -> list[dict[str, Any]]:
    """For `EnvironmentVersion.origins`, each once."""
    return [asdict(one) for one in dict.fromkeys(origins)]


async def least_slots(tx: AsyncSession, version: EnvironmentVersion) -> dict[str, int]:
    """The minimum slots of sessions of the version: those of the image below as they are now."""
    least = dict(version.min_slots)
    for origin in _read(version.origins):
        if not origin.below or origin.name is None:
            continue
        image = await _named(tx, origin.name, [])
        least = dict(image.least_slots) if image else least
    return least


async def catalogued(
    tx: AsyncSession, origin: Origin, *, domain: DomainId, projects: Collection[ProjectId]
) -> Image | None:
    """Its entry in the catalogue, for a session of the domain and one of the projects.

    The entry under which it was used counts, also if it is of a registry that they do not see, and what is set for it
    also while a scan does not see it: such an entry is no row.
    """
    if origin.name is None:
        return await images.find(tx, canonical(origin.reference), domain=domain, projects=projects)
    if image := await _named(tx, origin.name, [availability.scoped(domain, projects).desc()]):
        return image
    settings = await tx.get(ImageSettings, origin.name)
    if settings is None:
        return None
    return Image(name=origin.name, reference=origin.reference, min_slots={}, own_settings=settings)


async def _named(tx: AsyncSession, name: str, order: Collection[Any]) -> Image | None:
    rows = select(Image).where(shown_name() == name).order_by(*order, Image.id).limit(1)
    return (await tx.execute(rows)).scalar()


def _read(stored: Iterable[dict[str, Any]]) -> list[Origin]:
    return [Origin(**one) for one in stored]
