"""Use cases of updates: take, skip and check; and which digest of an image sessions start from."""

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import ColumnElement, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.errors import Conflict
from carrel.core.ids import DomainId, ImageId, ProjectId
from carrel.db.database import notify
from carrel.engines.references import with_digest
from carrel.events import service as events
from carrel.images.availability import scoped
from carrel.images.updates.schemas import ImageWatchView, WatchState
from carrel.permissions.decide import Actor, Target, require
from carrel.tables.images import WATCH_TOPIC, Image, ImageSettings, ImageWatch, WatchRule, shown_name
from carrel.tables.registries import ImageRegistry

_ACTION = "image.update"
_LONGEST_REFERENCE = 512


def is_watched() -> ColumnElement[bool]:
    """A condition for images, joined with their settings."""
    return (ImageSettings.watch != WatchRule.OFF) & Image.registry_id.is_not(None)


async def pinned(
    tx: AsyncSession, references: Collection[str], *, domain: DomainId, project: ProjectId
) -> Mapping[str, str]:
    """By reference of a watched image, the same with the digest that its sessions start from."""
    statement = (
        select(Image.reference, Image.digest)
        .join(ImageSettings, ImageSettings.image == shown_name())
        .join(ImageRegistry, ImageRegistry.id == Image.registry_id)
        .where(Image.reference.in_(references), is_watched(), scoped(domain, [project]))
        # The registry that the image is pulled from is the last one.
        .order_by(
            ImageRegistry.project_id.is_not(None), ImageRegistry.domain_id.is_not(None), ImageRegistry.id
        )
    )
    pins = {ref: with_digest(ref, digest) for ref, digest in await tx.execute(statement) if digest}
    return {reference: pin for reference, pin in pins.items() if len(pin) <= _LONGEST_REFERENCE}


async def views(tx: AsyncSession, images: Sequence[Image]) -> Mapping[ImageId, ImageWatchView]:
    """Of those that are watched."""
    watched = {one.id: one.settings.watch for one in images if watches(one)}
    if not watched:
        return {}
    rows = (await tx.execute(select(ImageWatch).where(ImageWatch.image_id.in_(watched)))).scalars()
    known = {row.image_id: row for row in rows}
    return {one: _view(rule, known.get(one)) for one, rule in watched.items()}


def watches(image: Image) -> bool:
    """True if its tag is watched."""
    return image.registry_id is not None and image.settings.watch != WatchRule.OFF


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
    await _decided(tx, actor, image, "update skipped", digest=skipped)


async def request_check(tx: AsyncSession, actor: Actor, image: Image | None) -> int:
    """Have the tag checked soon; image None: all that are watched. How many that is. Raises: Forbidden, Conflict."""
    require(actor, _ACTION, Target())
    if image is not None:
        _require_watched(image)
    joined = select(Image.id).join(ImageSettings, ImageSettings.image == shown_name()).where(is_watched())
    chosen = list(
        (await tx.execute(joined if image is None else joined.where(Image.id == image.id))).scalars()
    )
    await _check_soon(tx, chosen)
    if image is not None:
        await _decided(tx, actor, image, "check requested")
    else:
        details = {"what": "checks requested", "images": len(chosen)}
        audit.record(tx, actor, _ACTION, "", target=Target(), details=details)
        await notify(tx, WATCH_TOPIC)
    return len(chosen)


async def rule_changed(tx: AsyncSession, image: Image, rule: WatchRule) -> None:
    """Follow another rule: check soon, or forget what is known."""
    if rule == WatchRule.OFF:
        row = await tx.get(ImageWatch, image.id)
        if row is not None:
            await tx.delete(row)
        return
    await _check_soon(tx, [image.id])
    await notify(tx, WATCH_TOPIC)


async def published(tx: AsyncSession, image: Image) -> None:
    """Publish that an image has changed."""
    data = {"id": image.id, "name": image.shown_name}
    await events.record(tx, "image.updated", image.id, target=Target(), data=data)


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


async def _check_soon(tx: AsyncSession, images: Sequence[ImageId]) -> None:
    soon = {"check": True, "tried_at": None}
    for image in images:
        await tx.execute(
            insert(ImageWatch)
            .values(image_id=image, **soon)
            .on_conflict_do_update(index_elements=[ImageWatch.image_id], set_=soon)
        )


def _require_watched(image: Image) -> None:
    if not watches(image):
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
    await published(tx, image)
    await notify(tx, WATCH_TOPIC)


def _view(rule: WatchRule, row: ImageWatch | None) -> ImageWatchView:
    row = row or ImageWatch(offered=None, take=False, missing=False)
    return ImageWatchView(
        rule=rule,
        state=_state(row),
        available=row.offered,
        available_since=row.offered_at,
        skipped=row.skipped,
        checked_at=row.checked_at,
        taken_at=row.taken_at,
        problem=row.problem,
    )


def _state(row: ImageWatch) -> WatchState:
    """The first that applies."""
    states = (
        (WatchState.TAKING, row.take),
        (WatchState.AVAILABLE, row.offered),
        (WatchState.MISSING, row.missing),
        (WatchState.FAILED, row.problem),
        (WatchState.SKIPPED, row.skipped),
        (WatchState.CURRENT, row.checked_at),
    )
    return next((state for state, applies in states if applies), WatchState.UNCHECKED)


def has_update() -> ColumnElement[bool]:
    """A condition for images, joined with their settings."""
    offered = select(ImageWatch.image_id).where(ImageWatch.offered.is_not(None))
    return is_watched() & Image.id.in_(offered)
