"""Use cases of images."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, and_, func, or_, select, true
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import Forbidden
from carrel.core.ids import DomainId, ImageId, ProjectId, new_id
from carrel.db.search import has_part
from carrel.engines.references import LOCAL, registry_of
from carrel.http import paging
from carrel.http.paging import Sort
from carrel.images.schemas import ImageList, ImageQuery, ImageView
from carrel.permissions.decide import Actor
from carrel.permissions.roles import sees_everything
from carrel.tables.images import Image
from carrel.tables.registries import ImageRegistry
from carrel.tables.tenancy import Domain

_SORT = Sort(
    {"name": func.coalesce(Image.full_name, Image.name), "version": Image.version_key},
    tie=Image.id,
    default="name",
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
    on hosts that their domain permits; for a superadmin all.
    """
    chosen = select(Image).where(await _usable(tx, actor))
    if query.q:
        chosen = chosen.where(
            has_part("coalesce(images.full_name, images.name) || ' ' || images.title", query.q)
        )
    if query.family:
        chosen = chosen.where(Image.family == query.family)
    if query.registry:
        chosen = chosen.where(Image.registry_id == query.registry)
    if query.scanned is not None:
        chosen = chosen.where(
            Image.registry_id.is_not(None) if query.scanned else Image.registry_id.is_(None)
        )
    rows = await paging.page(tx, chosen, _SORT, query)
    items = [ImageView.model_validate(row.Image, from_attributes=True) for row in rows.rows]
    return ImageList(items=items, next_cursor=rows.next_cursor)


async def usable(tx: AsyncSession, actor: Actor) -> list[Image]:
    """The images registered under a name that the actor may use, by name."""
    named = select(Image).where(Image.registry_id.is_(None), await _usable(tx, actor))
    return list((await tx.execute(named.order_by(Image.name))).scalars())


async def references(tx: AsyncSession, actor: Actor) -> list[str]:
    """The references of all images that the actor may use."""
    return list((await tx.execute(select(Image.reference).where(await _usable(tx, actor)))).scalars())


async def _usable(tx: AsyncSession, actor: Actor) -> ColumnElement[bool]:
    if sees_everything(actor):
        return true()
    scoped = _scoped(actor.domain_id, actor.projects)
    allowed = await _registries(tx, actor.domain_id)
    return scoped if allowed is None else and_(scoped, Image.host.in_([LOCAL, *allowed]))


def _scoped(domain: DomainId, projects: Collection[ProjectId]) -> ColumnElement[bool]:
    """A condition for registered images, and those of registries of the installation, the domain and the projects."""
    theirs = select(ImageRegistry.id).where(
        or_(
            and_(ImageRegistry.domain_id.is_(None), ImageRegistry.project_id.is_(None)),
            ImageRegistry.domain_id == domain,
            ImageRegistry.project_id.in_(sorted(projects)),
        )
    )
    return or_(Image.registry_id.is_(None), Image.registry_id.in_(theirs))


async def may_pull(tx: AsyncSession, domain: DomainId, reference: str) -> bool:
    """True if the image is in a registry, and one that the domain permits."""
    registry = registry_of(reference)
    return registry != LOCAL and _may_use(await _registries(tx, domain), registry)


async def require_registry(
    tx: AsyncSession, domain: DomainId, reference: str, *, field: str = "image"
) -> None:
    """Check the registry of an image reference. Raises: Forbidden when the domain does not permit it."""
    registry, allowed = registry_of(reference), await _registries(tx, domain)
    if not _may_use(allowed, registry):
        others = (
            f"Use an image from {' or '.join(allowed)}" if allowed else "Use an image that was built here"
        )
        raise Forbidden(
            "image.registry_not_allowed",
            f"Your domain may not use images from {registry}.",
            hint=f"{others}, or ask an administrator to allow {registry} for your domain.",
            field=field,
            details={"registry": registry, "registries": allowed},
        )


def _may_use(allowed: list[str] | None, registry: str) -> bool:
    return allowed is None or registry in (LOCAL, *allowed)


async def _registries(tx: AsyncSession, domain: DomainId) -> list[str] | None:
    return (await tx.execute(select(Domain.registries).where(Domain.id == domain))).scalar_one()


async def find(
    tx: AsyncSession, name_or_reference: str, *, domain: DomainId, projects: Collection[ProjectId]
) -> Image | None:
    """The catalogue entry for a name or a full reference, for a session of the domain and one of the projects.

    A registered one comes before scanned ones; of these, the one of the registry from which it is pulled.
    """
    named = or_(Image.name == name_or_reference, Image.reference == name_or_reference)
    result = await tx.execute(
        select(Image)
        .outerjoin(ImageRegistry, ImageRegistry.id == Image.registry_id)
        .where(named, _scoped(domain, projects))
        .order_by(
            Image.registry_id.is_not(None),
            ImageRegistry.project_id.is_(None),
            ImageRegistry.domain_id.is_(None),
            func.length(ImageRegistry.namespace).desc(),
            ImageRegistry.id.desc(),
        )
        .limit(1)
    )
    return result.scalar()
