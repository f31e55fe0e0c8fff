"""The digests that the catalogue has of images, by canonical reference."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import ARRAY, String, any_, cast, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.engines.references import canonical, repository_of
from carrel.images.watched_images import is_watched
from carrel.tables.images import Image, ImageSettings, shown_name
from carrel.tables.registries import ImageRegistry


@dataclass(frozen=True, slots=True)
class CatalogueDigest:
    """pinned: sessions of the image start from it; otherwise it is what the tag meant when its registry was read."""

    digest: str
    pinned: bool


async def read(tx: AsyncSession, references: Collection[str]) -> Mapping[str, CatalogueDigest]:
    """Those of images of registries in the repositories of these references, which are canonical."""
    repositories = sorted({repository_of(one) for one in references})
    statement = (
        select(Image.reference, Image.digest, is_watched())
        .outerjoin(ImageSettings, ImageSettings.image == shown_name())
        .outerjoin(ImageRegistry, ImageRegistry.id == Image.registry_id)
        .where(Image.digest.is_not(None), Image.repository == any_(cast(repositories, ARRAY(String))))
        # Of several registries with the same image, one of the installation counts, then of a domain, and the oldest:
        # what others write into theirs changes nothing.
        .order_by(
            ImageRegistry.project_id.is_(None),
            ImageRegistry.domain_id.is_(None),
            ImageRegistry.id.desc(),
            Image.scanned_at.nulls_first(),
        )
    )
    return {
        canonical(reference): CatalogueDigest(digest, bool(pinned))
        for reference, digest, pinned in await tx.execute(statement)
        if digest
    }
