"""The digests that the catalogue has of images, by canonical reference."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.engines.references import canonical, repository_of
from carrel.images.watched_images import is_watched
from carrel.tables.images import Image, ImageSettings, shown_name


@dataclass(frozen=True, slots=True)
class CatalogueDigest:
    """pinned: sessions of the image start from it; otherwise it is what the tag meant when its registry was read."""

    digest: str
    pinned: bool


async def read(tx: AsyncSession, references: Collection[str] | None = None) -> Mapping[str, CatalogueDigest]:
    """Those of images of registries. references: canonical; None: all."""
    statement = (
        select(Image.reference, Image.digest, is_watched())
        .outerjoin(ImageSettings, ImageSettings.image == shown_name())
        .where(Image.digest.is_not(None))
        # Of several registries with the same image, a pin counts, and else what was read last.
        .order_by(is_watched().is_(True), Image.scanned_at.nulls_first())
    )
    if references is not None:
        statement = statement.where(Image.repository.in_({repository_of(one) for one in references}))
    return {
        canonical(reference): CatalogueDigest(digest, bool(pinned))
        for reference, digest, pinned in await tx.execute(statement)
        if digest
    }
