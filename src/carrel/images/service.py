"""Use cases of images."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, any_, func, or_, select, true, tuple_
from sqlalchemy.dialects.postgresql import distinct_on, insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import contains_eager, joinedload

from carrel.core.ids import DomainId, ImageId, ProjectId, new_id
from carrel.db.search import has_part
from carrel.engines.references import LOCAL, digest_of, registry_of, repository_of, spellings, tag_of
from carrel.http import paging
from carrel.http.paging import Sort, Sortable
from carrel.images import cuda_nodes
from carrel.images import watched_images as updates
from carrel.images.availability import (
    is_enabled,
    is_for,
    is_permitted,
    is_shown,
    registries_of,
    scoped,
)
from carrel.images.schemas import (
    ImageFamily,
    ImageFamilyList,
    ImageFamilyQuery,
    ImageList,
    ImageQuery,
    ImageState,
    ImageView,
)
from carrel.permissions.decide import Actor, Target, allows
from carrel.permissions.roles import sees_everything
from carrel.tables.images import Image, ImageSettings, shown_name
from carrel.tables.registries import ImageRegistry

_SORT = Sort(
    {"name": shown_name(), "version": Image.version_key},
    tie=Image.id,
    default="name",
)
_FAMILY_SORT = Sort({"family": Image.family}, tie=Image.family, default="family")
_SEARCHED = "coalesce(images.full_name, images.name) || ' ' || images.title"
# Deprecated versions last, the newest first.
_VERSION_ORDER = (
    func.coalesce(ImageSettings.preferred, False).desc(),
    func.coalesce(ImageSettings.deprecated, False),
    Image.version_key.desc(),
    Image.registry_id.is_not(None),
    Image.id,
)
DEFAULT_MIN_SLOTS = {"cpu": 10, "mem": 16 << 20}


async def register(
    tx: AsyncSession,
    *,
    name: str,
    reference: str,
    title: str,
    description: str,
    size_bytes: int | None,
    architecture: str | None,
    apps: Sequence[Mapping[str, Any]],
    min_slots: Mapping[str, int],
) -> None:
    """Add an image to the catalogue, or update its entry."""
    values = {
        "reference": reference,
        "host": registry_of(reference),
        "title": title,
        "description": description,
        "size_bytes": size_bytes,
        "architecture": architecture,
        "architectures": [architecture] if architecture else [],
        "present": True,
        "family": name,
        "apps": [dict(app) for app in apps],
        "min_slots": dict(min_slots),
    }
    await tx.execute(
        insert(Image)
        .values(id=ImageId(new_id()), name=name, **values)
        .on_conflict_do_update(index_elements=[Image.name], set_=values)
    )


async def registered(tx: AsyncSession, name: str) -> Image | None:
    """The image that was registered under this name."""
    return (await tx.execute(select(Image).where(Image.name == name))).scalar()


async def page(tx: AsyncSession, actor: Actor, query: ImageQuery) -> ImageList:
    """A page of the images that the actor may use: of registries of the installation, of their domain and projects,
    on hosts that their domain permits, enabled for them and not hidden; for a superadmin all, unless offered is asked.
    """
    if query.name is not None:
        image = await seen(tx, actor, query.name)
        return ImageList(items=await _views(tx, actor, [image] if image else []), next_cursor=None)
    chosen = await _listed(tx, actor, offered=query.offered)
    if query.q:
        chosen = chosen.where(has_part(_SEARCHED, query.q))
    if query.family is not None:
        chosen = chosen.where(Image.family == query.family)
    if query.registry:
        chosen = chosen.where(Image.registry_id == query.registry)
    if query.scanned is not None:
        chosen = chosen.where(
            Image.registry_id.is_not(None) if query.scanned else Image.registry_id.is_(None)
        )
    if query.state:
        chosen = chosen.where(_STATES[query.state])
    rows = await paging.page(tx, chosen.options(*_EAGER, _WITH_WATCH), _SORT, query)
    images = [row.Image for row in rows.rows]
    items = await _views(tx, actor, images)
    if allows(actor, "image.update", Target()):
        pairs = zip(items, images, strict=True)
        items = [item.model_copy(update={"update": updates.view(image)}) for item, image in pairs]
    return ImageList(items=items, next_cursor=rows.next_cursor)


async def _views(tx: AsyncSession, actor: Actor, images: Sequence[Image]) -> list[ImageView]:
    nodes = await cuda_nodes.counted(tx, actor, images)
    return [view(one).model_copy(update={"cuda_nodes": nodes.get(one.id)}) for one in images]


_STATES: Mapping[ImageState, ColumnElement[bool]] = {
    ImageState.ENABLED: is_enabled(),
    ImageState.DISABLED: ~is_enabled(),
    ImageState.HIDDEN: ImageSettings.hidden.is_(True),
    ImageState.DEPRECATED: ImageSettings.deprecated.is_(True),
    ImageState.LIMITED: func.cardinality(
        ImageSettings.domains.op("||")(ImageSettings.projects).op("||")(ImageSettings.groups)
    )
    > 0,
    ImageState.WATCHED: updates.is_watched(),
    ImageState.UPDATE: updates.has_update(),
}


def view(image: Image) -> ImageView:
    """What users see of an image."""
    return ImageView.model_validate(image, from_attributes=True)


async def seen(tx: AsyncSession, actor: Actor, ref: str) -> Image | None:
    """The image with this id, or what a request of the actor means by this name, if they may use it."""
    image = await _first(tx, Image.id == ref, ()) or await find(
        tx, ref, domain=actor.domain_id, projects=actor.projects
    )
    if image is None and sees_everything(actor):
        image = await _first(tx, Image.full_name == ref, ())
    if image is None or sees_everything(actor):
        return image
    permitted = (await _listed(tx, actor, hidden=True)).where(Image.id == image.id)
    return image if (await tx.execute(permitted)).first() else None


async def families(tx: AsyncSession, actor: Actor, query: ImageFamilyQuery) -> ImageFamilyList:
    """A page of the families of images that the actor is offered, each with the version that its name means."""
    offered = await _listed(tx, actor, offered=True)
    counted = offered.with_only_columns(
        Image.family, func.count().label("versions"), _best_key(), maintain_column_froms=True
    ).group_by(Image.family)
    if query.q:
        matching = offered.where(has_part(_SEARCHED, query.q)).with_only_columns(
            Image.family, maintain_column_froms=True
        )
        # As an array, they are found once.
        counted = counted.where(Image.family == any_(func.array(matching.correlate(None).scalar_subquery())))
    rows = await paging.page(tx, counted, _FAMILY_SORT, query)
    best = tuple_(Image.family, Image.version_key).in_([(row.family, row.version_key) for row in rows.rows])
    first = offered.where(best).options(*_EAGER).ext(distinct_on(Image.family))
    versions = await tx.execute(first.order_by(Image.family, *_VERSION_ORDER))
    default = {one.family: one for one in versions.scalars()}
    return ImageFamilyList(
        items=[
            ImageFamily(family=row.family, versions=row.versions, default=view(default[row.family]))
            for row in rows.rows
        ],
        next_cursor=rows.next_cursor,
    )


def _best_key() -> ColumnElement[str]:
    """The version_key of a family's first version by _VERSION_ORDER, without sorting all of them."""
    return func.coalesce(
        func.max(Image.version_key).filter(ImageSettings.preferred),
        func.max(Image.version_key).filter(ImageSettings.deprecated.is_not(True)),
        func.max(Image.version_key),
    ).label("version_key")


async def usable(tx: AsyncSession, actor: Actor) -> list[Image]:
    """The images registered under a name that the actor is offered, by name."""
    named = (await _listed(tx, actor, offered=True)).where(Image.registry_id.is_(None))
    return list((await tx.execute(named.options(*_EAGER).order_by(Image.name))).scalars())


async def references(tx: AsyncSession, actor: Actor) -> list[str]:
    """The references of all images that the actor may use."""
    listed = await _listed(tx, actor, hidden=True)
    return list((await tx.execute(listed.with_only_columns(Image.reference))).scalars())


async def _listed(
    tx: AsyncSession, actor: Actor, *, offered: bool = False, hidden: bool = False
) -> Select[Image]:
    """The images that the actor may use. offered: also for superadmins. hidden: with those that are not shown."""
    chosen = _with_settings()
    if sees_everything(actor) and not offered:
        return chosen
    return chosen.where(
        true() if sees_everything(actor) else scoped(actor.domain_id, actor.projects),
        await _on_permitted_hosts(tx, actor),
        is_permitted(actor),
        true() if hidden else is_shown(),
    )


_EAGER = (contains_eager(Image.own_settings), contains_eager(Image.scanned_in))
_WITH_WATCH = joinedload(Image.watched)
"""In the same statement: an update that is taken changes both."""


def _with_settings() -> Select[Image]:
    return select(Image).outerjoin(Image.own_settings).outerjoin(Image.scanned_in)


async def _on_permitted_hosts(tx: AsyncSession, actor: Actor) -> ColumnElement[bool]:
    allowed = await registries_of(tx, actor.domain_id)
    return true() if allowed is None else Image.host.in_([LOCAL, *allowed])


async def find(
    tx: AsyncSession, ref: str, *, domain: DomainId, projects: Collection[ProjectId]
) -> Image | None:
    """The catalogue entry for a name, a reference in any spelling, an alias or a family, for a session of the domain
    and one of the projects; whether it may be used is not checked.

    A registered one comes before scanned ones; of these, the one of the registry from which it is pulled. A reference
    with a digest means that of the digest or, if that is not known, of its tag; the entry then has this reference and
    is no row.
    """
    seen = scoped(domain, projects)
    image = await _first(tx, and_(_named(ref), seen), _nearest(ref))
    if image is None and is_plain(ref):
        alias = and_(ImageSettings.aliases.contains([ref]), seen)
        version = and_(Image.family == ref, seen, is_for(domain, projects), is_shown())
        image = await _first(tx, alias, _nearest(ref)) or await _first(tx, version, _VERSION_ORDER)
    if image is None and not digest_of(ref):
        image = await _first(tx, and_(Image.reference.in_(spellings(ref)), seen), _nearest(ref))
    if image is not None and digest_of(ref):
        tx.expunge(image)
        image.reference = ref
    return image


def is_plain(ref: str) -> bool:
    """True for what can be an alias or a family, but no reference with a registry, tag or digest."""
    return not {"/", ":", "@"} & {*ref}


def _named(ref: str) -> ColumnElement[bool]:
    if digest := digest_of(ref):
        there = and_(Image.repository == repository_of(ref), Image.host == registry_of(ref))
        return and_(there, or_(Image.digest == digest, Image.tag == tag_of(ref)))
    return or_(Image.name == ref, Image.reference == ref)


def _nearest(ref: str) -> Sequence[Sortable]:
    return (
        (func.coalesce(Image.digest, "") == digest_of(ref)).desc(),
        (Image.tag == tag_of(ref)).desc(),
        Image.registry_id.is_not(None),
        ImageRegistry.project_id.is_(None),
        ImageRegistry.domain_id.is_(None),
        func.length(ImageRegistry.namespace).desc(),
        ImageRegistry.id.desc(),
    )


async def _first(tx: AsyncSession, condition: ColumnElement[bool], order: Sequence[Sortable]) -> Image | None:
    statement = _with_settings().options(*_EAGER, _WITH_WATCH).where(condition)
    statement = statement.order_by(*order).limit(1).execution_options(populate_existing=True)
    return (await tx.execute(statement)).scalar()
