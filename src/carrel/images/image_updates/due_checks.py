"""What the leader reads and writes while it checks the tags of watched images."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import ImageId, RegistryId
from carrel.images import watched_images
from carrel.images.image_updates.daily_window import opened_at
from carrel.site import service as site
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


async def due(tx: AsyncSession, now: datetime) -> Sequence[DueCheck]:
    """What is to be checked now, by registry; outside of the daily hours, only what was requested."""
    hours = await site.settings(tx)
    opened = opened_at(now, hours.image_watch_start, hours.image_watch_end, hours.image_watch_timezone)
    tried = or_(
        ImageWatch.tried_at.is_(None), ImageWatch.problem.is_(None), ImageWatch.tried_at <= now - RETRY
    )
    # An offered update that is not taken yet: the leader before was killed, or a scan has seen it.
    to_take = ImageWatch.offered.is_not(None) & (ImageSettings.watch == WatchRule.TAKE)
    is_due = or_(ImageWatch.take, ImageWatch.check)
    if opened:
        is_due = or_(is_due, ImageWatch.checked_at.is_(None), ImageWatch.checked_at < opened, to_take)
    rows = await tx.execute(
        select(
            Image.id,
            Image.registry_id,
            Image.repository,
            Image.tag,
            ImageWatch.take,
            ImageWatch.offered,
            ImageSettings.watch,
        )
        .join(ImageSettings, ImageSettings.image == shown_name())
        .outerjoin(ImageWatch, ImageWatch.image_id == Image.id)
        .where(watched_images.is_watched(), is_due, tried)
        .order_by(Image.registry_id, ImageWatch.tried_at.asc().nulls_first(), Image.id)
    )
    return [
        DueCheck(
            image=image,
            registry=RegistryId(registry or ""),
            repository=repository,
            tag=tag,
            take=offered if take else None,
            automatic=rule == WatchRule.TAKE and opened is not None,
        )
        for image, registry, repository, tag, take, offered, rule in rows
    ]


async def not_checked(
    tx: AsyncSession, images: Collection[ImageId], problem: str, now: datetime, *, missing: bool = False
) -> None:
    """The checks did not work. missing: as the registry does not have the tag, which ends the check."""
    changed = []
    for image, row in await watched_images.all_locked(tx, images):
        before = (row.problem, row.missing)
        row.tried_at, row.problem = now, problem
        if missing:
            row.news = row.news or not row.missing
            row.check, row.missing, row.checked_at = False, True, now
        if before != (row.problem, row.missing):
            changed.append(image)
    await tx.flush()
    for image in changed:
        await watched_images.published(tx, image)


async def not_taken(tx: AsyncSession, image_id: ImageId, digest: str, problem: str, now: datetime) -> None:
    """The registry no longer has this digest, which was to be taken: see what the tag means now."""
    image, row = await watched_images.locked(tx, image_id)
    if image is None or row is None or row.offered != digest:
        return
    row.offered, row.offered_at, row.take, row.check, row.news = None, None, False, True, False
    row.tried_at, row.problem = now, problem
    await tx.flush()
    await watched_images.published(tx, image)
