"""Watched images: which digest their sessions start from, and what is known of their tags."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Select, null, select, true
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.ids import DomainId, ImageId, ProjectId, RegistryId
from carrel.db.database import notify
from carrel.engines.references import with_digest
from carrel.events import service as events
from carrel.images.availability import scoped
from carrel.images.schemas import ImageWatchView, WatchState
from carrel.permissions.decide import Target
from carrel.tables.images import WATCH_TOPIC, Image, ImageSettings, ImageWatch, WatchRule, shown_name
from carrel.tables.registries import ImageRegistry

_LONGEST_REFERENCE = 512


def is_watched() -> ColumnElement[bool]:
    """A condition for images, joined with their settings."""
    return (ImageSettings.watch != WatchRule.OFF) & Image.registry_id.is_not(None)


def has_update() -> ColumnElement[bool]:
    """A condition for images, joined with their settings."""
    offered = select(ImageWatch.image_id).where(ImageWatch.offered.is_not(None))
    return is_watched() & Image.id.in_(offered)


def watches(image: Image) -> bool:
    """True if its tag is watched."""
    return image.registry_id is not None and image.settings.watch != WatchRule.OFF


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


def view(image: Image) -> ImageWatchView | None:
    """None if it is not watched."""
    return _view(image.settings.watch, image.watched) if watches(image) else None


async def counts(tx: AsyncSession) -> Mapping[WatchState, int]:
    """How many watched images are in each state."""
    rows = await tx.execute(
        select(ImageWatch)
        .select_from(Image)
        .join(ImageSettings, ImageSettings.image == shown_name())
        .outerjoin(ImageWatch, ImageWatch.image_id == Image.id)
        .where(is_watched())
    )
    images = Counter(_state(row or _unchecked()) for row in rows.scalars())
    return {state: images[state] for state in WatchState}


async def rule_changed(tx: AsyncSession, image: Image, rule: WatchRule) -> None:
    """Follow another rule: check soon, or forget what is known."""
    if rule == WatchRule.OFF:
        row = await tx.get(ImageWatch, image.id)
        if row is not None:
            await tx.delete(row)
        return
    await check_soon(tx, Image.id == image.id)
    await notify(tx, WATCH_TOPIC)


async def checked(tx: AsyncSession, image_id: ImageId, digest: str, now: datetime) -> bool:
    """The tag has this digest; offer it if it is another one. True: it is offered."""
    image, row = await locked(tx, image_id)
    if image is None or row is None:
        return False
    before = (row.offered, row.problem, row.missing)
    row.checked_at = row.tried_at = now
    row.check, row.missing, row.problem = False, False, None
    if digest in (image.digest, row.skipped):
        row.news = row.news and before == (None, None, False)
        row.offered, row.offered_at, row.take = None, None, False
    elif digest != row.offered:
        row.offered, row.offered_at, row.take, row.news = digest, now, False, True
        row.skipped = None
        _note(tx, image, "update available", digest)
    await tx.flush()
    if before != (row.offered, row.problem, row.missing):
        await published(tx, image)
    return row.offered is not None


async def of_repository(tx: AsyncSession, registry: RegistryId, repository: str) -> Mapping[str, ImageId]:
    """The watched images of a repository, by tag."""
    rows = await tx.execute(
        select(Image.tag, Image.id)
        .join(ImageSettings, ImageSettings.image == shown_name())
        .where(Image.registry_id == registry, Image.repository == repository, is_watched())
        .order_by(Image.id)
    )
    return {tag: image for tag, image in rows}


def ids(registry: RegistryId) -> Select[ImageId]:
    """Of the watched images of a registry."""
    settings = ImageSettings.image == shown_name()
    return select(Image.id).join(ImageSettings, settings).where(Image.registry_id == registry, is_watched())


async def locked(tx: AsyncSession, image: ImageId) -> tuple[Image | None, ImageWatch | None]:
    """An image that is still watched and its row, which is added if there is none."""
    return next(iter(await all_locked(tx, [image])), (None, None))


async def all_locked(tx: AsyncSession, images: Collection[ImageId]) -> Sequence[tuple[Image, ImageWatch]]:
    """The same of several, by id."""
    statement = (
        select(Image)
        .join(ImageSettings, ImageSettings.image == shown_name())
        .where(Image.id.in_(images), is_watched())
        .order_by(Image.id)
        .execution_options(populate_existing=True)
        .with_for_update(of=Image)
    )
    watched = {image.id: image for image in (await tx.execute(statement)).scalars()}
    if not watched:
        return ()
    new = insert(ImageWatch).values([{"image_id": one} for one in watched])
    await tx.execute(new.on_conflict_do_nothing())
    rows = select(ImageWatch).where(ImageWatch.image_id.in_(watched)).order_by(ImageWatch.image_id)
    locking = rows.with_for_update().execution_options(populate_existing=True)
    return [(watched[row.image_id], row) for row in (await tx.execute(locking)).scalars()]


async def check_soon(tx: AsyncSession, *conditions: ColumnElement[bool]) -> int:
    """Have watched images that meet the conditions checked soon; their number."""
    # As in `locked`: images before their rows, by id.
    chosen = (
        select(Image.id, true(), null())
        .join(ImageSettings, ImageSettings.image == shown_name())
        .where(is_watched(), *conditions)
        .order_by(Image.id)
        .with_for_update(of=Image, read=True, key_share=True)
    )
    statement = (
        insert(ImageWatch)
        .from_select(["image_id", "check", "tried_at"], chosen)
        .on_conflict_do_update(index_elements=[ImageWatch.image_id], set_={"check": True, "tried_at": None})
        .returning(ImageWatch.image_id)
    )
    return len((await tx.execute(statement)).all())


async def published(tx: AsyncSession, image: Image) -> None:
    """Publish that an image has changed."""
    data = {"id": image.id, "name": image.shown_name}
    await events.record(tx, "image.updated", image.id, target=Target(), data=data)


def _note(tx: AsyncSession, image: Image, what: str, digest: str) -> None:
    details = {"what": what, "digest": digest}
    audit.record_own(tx, "image.update", image.id, name=image.shown_name, details=details)


def _view(rule: WatchRule, row: ImageWatch | None) -> ImageWatchView:
    row = row or _unchecked()
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


def _unchecked() -> ImageWatch:
    return ImageWatch(offered=None, take=False, missing=False)


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
