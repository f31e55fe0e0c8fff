"""Use cases of updates: take, skip and check."""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.errors import Conflict
from carrel.db.database import notify
from carrel.images import watched_images
from carrel.permissions.decide import Actor, Target, require
from carrel.tables.images import WATCH_TOPIC, Image, ImageWatch

_ACTION = "image.update"


async def take(tx: AsyncSession, actor: Actor, image: Image, digest: str | None) -> None:
    """Have the available update taken. Twice: no-op. Raises: Forbidden, Conflict."""
    row = await _available(tx, actor, image, digest)
    if not row.take:
        row.take, row.problem, row.tried_at = True, None, None
        await _decided(tx, actor, image, "update requested", digest=row.offered)


async def skip(tx: AsyncSession, actor: Actor, image: Image, digest: str | None) -> None:
    """Do not offer this digest again, also if it is to be taken. Raises: Forbidden, Conflict."""
    row = await _available(tx, actor, image, digest)
    skipped = row.offered
    row.skipped, row.offered, row.offered_at, row.take, row.problem = skipped, None, None, False, None
    row.news = False
    await _decided(tx, actor, image, "update skipped", digest=skipped)


async def request_check(tx: AsyncSession, actor: Actor, image: Image | None) -> int:
    """Have the tag checked soon; image None: all that are watched. How many that is. Raises: Forbidden, Conflict."""
    require(actor, _ACTION, Target())
    if image is not None:
        _require_watched(image)
    count = await watched_images.check_soon(tx, *([Image.id == image.id] if image else []))
    if image is not None:
        await _decided(tx, actor, image, "check requested")
    else:
        details = {"what": "checks requested", "images": count}
        audit.record(tx, actor, _ACTION, "", target=Target(), details=details)
        await notify(tx, WATCH_TOPIC)
    return count


async def _available(tx: AsyncSession, actor: Actor, image: Image, digest: str | None) -> ImageWatch:
    require(actor, _ACTION, Target())
    _require_watched(image)
    statement = select(ImageWatch).where(ImageWatch.image_id == image.id).with_for_update()
    row = (await tx.execute(statement.execution_options(populate_existing=True))).scalar()
    if row is None or row.offered is None:
        raise Conflict(
            "image.no_update",
            f"No update of {image.shown_name} is available.",
            hint="See `carrel image ls --state update`, or check now with `carrel image check`.",
        )
    if digest not in (None, row.offered):
        raise Conflict(
            "image.update_changed",
            f"The tag of {image.shown_name} has another digest by now.",
            hint="Look at the present one and decide again.",
            details={"available": row.offered},
        )
    return row


def _require_watched(image: Image) -> None:
    if not watched_images.watches(image):
        raise Conflict(
            "image.not_watched",
            f"{image.shown_name} is not watched for updates.",
            hint=f"carrel image watch {image.shown_name} --rule offer",
        )


async def _decided(
    tx: AsyncSession, actor: Actor, image: Image, what: str, *, digest: str | None = None
) -> None:
    await tx.flush()
    details = {"what": what} | ({"digest": digest} if digest else {})
    audit.record(tx, actor, _ACTION, image.id, name=image.shown_name, target=Target(), details=details)
    await watched_images.published(tx, image)
    await notify(tx, WATCH_TOPIC)
