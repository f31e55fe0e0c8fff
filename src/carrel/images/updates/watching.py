"""What the leader reads and writes while it checks the tags of watched images."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.ids import ImageId, RegistryId
from carrel.images.updates import service
from carrel.tables.images import Image, ImageSettings, ImageWatch, WatchRule, shown_name

RETRY = timedelta(minutes=15)
"""After a check that did not work."""


@dataclass(frozen=True, slots=True)
class DueCheck:
    """A tag to check. take: this digest is to be taken. automatic: a new one is
    taken in the same check.
    """

    image: ImageId
    registry: RegistryId
    repository: str
    tag: str
    take: str | None
    automatic: bool


async def due(tx: AsyncSession, opened: datetime | None, now: datetime) -> Sequence[DueCheck]:
    """What is to be checked now. opened: when the daily hours began; None: outside of them, only what was requested."""
    tried = or_(
        ImageWatch.tried_at.is_(None), ImageWatch.problem.is_(None), ImageWatch.tried_at <= now - RETRY
    )
    # An offered update that is not taken yet: the leader before was killed, or a scan has seen it.
    to_take = ImageWatch.offered.is_not(None) & (ImageSettings.watch == WatchRule.TAKE)
    is_due = or_(ImageWatch.take, ImageWatch.check)
    if opened:
        is_due = or_(is_due, ImageWatch.checked_at.is_(None), ImageWatch.checked_at < opened, to_take)
    rows = await tx.execute(
        select(Image, ImageWatch, ImageSettings.watch)
        .join(ImageSettings, ImageSettings.image == shown_name())
        .outerjoin(ImageWatch, ImageWatch.image_id == Image.id)
        .where(service.is_watched(), is_due, tried)
        .order_by(Image.registry_id, ImageWatch.tried_at.asc().nulls_first(), Image.id)
    )
    return [
        DueCheck(
            image=image.id,
            registry=RegistryId(image.registry_id or ""),
            repository=image.repository,
            tag=image.tag,
            take=row.offered if row and row.take else None,
            automatic=rule == WatchRule.TAKE and opened is not None,
        )
        for image, row, rule in rows
    ]


async def checked(tx: AsyncSession, image_id: ImageId, digest: str, now: datetime) -> bool:
    """The tag has this digest; offer it if it is another one. True: it is offered."""
    image, row = await locked(tx, image_id)
    if image is None or row is None:
        return False
    before = (row.offered, row.problem, row.missing)
    row.checked_at = row.tried_at = now
    row.check, row.missing, row.problem = False, False, None
    if digest in (image.digest, row.skipped):
        row.offered, row.offered_at, row.take = None, None, False
    elif digest != row.offered:
        row.offered, row.offered_at, row.take, row.news = digest, now, False, True
        row.skipped = None
        _note(tx, image, "update available", digest)
    await tx.flush()
    if before != (row.offered, row.problem, row.missing):
        await service.published(tx, image)
    return row.offered is not None


async def not_checked(
    tx: AsyncSession, images: Collection[ImageId], problem: str, now: datetime, *, missing: bool = False
) -> None:
    """The checks did not work. missing: as the registry does not have the tag, which ends the check."""
    for one in sorted(images):
        image, row = await locked(tx, one)
        if image is None or row is None:
            continue
        before = (row.problem, row.missing)
        row.tried_at, row.problem = now, problem
        if missing:
            row.news = row.news or not row.missing
            row.check, row.missing, row.checked_at = False, True, now
        await tx.flush()
        if before != (row.problem, row.missing):
            await service.published(tx, image)


async def not_taken(tx: AsyncSession, image_id: ImageId, digest: str, problem: str, now: datetime) -> None:
    """The registry no longer has this digest, which was to be taken: see what the tag means now."""
    image, row = await locked(tx, image_id)
    if image is None or row is None or row.offered != digest:
        return
    row.offered, row.offered_at, row.take, row.check = None, None, False, True
    row.tried_at, row.problem = now, problem
    await tx.flush()
    await service.published(tx, image)


async def of_repository(tx: AsyncSession, registry: RegistryId, repository: str) -> Mapping[str, ImageId]:
    """The watched images of a repository, by tag."""
    rows = await tx.execute(
        select(Image.tag, Image.id)
        .join(ImageSettings, ImageSettings.image == shown_name())
        .where(Image.registry_id == registry, Image.repository == repository, service.is_watched())
        .order_by(Image.id)
    )
    return {tag: image for tag, image in rows}


async def locked(tx: AsyncSession, image: ImageId) -> tuple[Image | None, ImageWatch | None]:
    """An image that is still watched and its row, which is added if there is none."""
    statement = (
        select(Image)
        .join(ImageSettings, ImageSettings.image == shown_name())
        .where(Image.id == image, service.is_watched())
        .execution_options(populate_existing=True)
        .with_for_update(of=Image)
    )
    watched = (await tx.execute(statement)).scalar()
    if watched is None:
        return None, None
    await tx.execute(insert(ImageWatch).values(image_id=image).on_conflict_do_nothing())
    row = select(ImageWatch).where(ImageWatch.image_id == image).with_for_update()
    return watched, (await tx.execute(row.execution_options(populate_existing=True))).scalar_one()


def _note(tx: AsyncSession, image: Image, what: str, digest: str) -> None:
    details = {"what": what, "digest": digest}
    audit.record_own(tx, "image.update", image.id, name=image.shown_name, details=details)
