"""Who may use an image: conditions for lists, and the same for one image with the reason why not."""

from collections.abc import Collection

from sqlalchemy import ColumnElement, and_, func, or_, select, true
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import CarrelError, Forbidden
from carrel.core.ids import DomainId, ProjectId
from carrel.engines.references import LOCAL, canonical_host, registry_of, repository_of
from carrel.nodes.groups import service as groups
from carrel.permissions.decide import Actor
from carrel.tables.groups import ResourceGroup
from carrel.tables.images import Image, ImageSettings
from carrel.tables.registries import ImageRegistry
from carrel.tables.tenancy import Domain


def is_enabled() -> ColumnElement[bool]:
    """A condition for images, joined with their settings and registries, as those below."""
    return func.coalesce(ImageSettings.enabled, ImageRegistry.images_enabled, true())


def is_permitted(actor: Actor) -> ColumnElement[bool]:
    """A condition for images that the actor may start in one of their projects and one of
    the resource groups that they may use.
    """
    usable = select(ResourceGroup.id).where(groups.may_use(actor.user_id, actor.domain_id, actor.projects))
    # As an array, the groups are found once instead of for each image.
    shared = ImageSettings.groups.overlap(func.array(usable.scalar_subquery()))
    return and_(
        is_for(actor.domain_id, actor.projects),
        or_(ImageSettings.image.is_(None), ImageSettings.groups == [], shared),
    )


def is_for(domain: DomainId, projects: Collection[ProjectId]) -> ColumnElement[bool]:
    """The same for sessions of one of the projects, whatever their resource group."""
    return and_(
        is_enabled(),
        or_(
            ImageSettings.image.is_(None),
            and_(ImageSettings.domains == [], ImageSettings.projects == []),
            ImageSettings.domains.contains([domain]),
            ImageSettings.projects.overlap(sorted(projects)),
        ),
    )


def is_shown() -> ColumnElement[bool]:
    """A condition for images that users are offered."""
    return func.coalesce(ImageSettings.hidden, False).is_(False)


def refusal(image: Image, *, domain: DomainId, project: ProjectId) -> CarrelError | None:
    """Why no session of the project may use the image; None: it may."""
    if not image.enabled:
        return Forbidden(
            "image.disabled",
            f"The image {image.shown_name} is disabled.",
            hint="Choose another image, see `carrel image ls`, or ask an administrator to enable it.",
            field="image",
            details={"image": image.shown_name},
        )
    limits = image.settings
    limited = limits.domains or limits.projects
    if limited and domain not in limits.domains and project not in limits.projects:
        return Forbidden(
            "image.not_permitted",
            f"The image {image.shown_name} may not be used in this project.",
            hint="Choose another project or image, see `carrel image ls`, or ask an administrator to permit it.",
            field="image",
            details={"image": image.shown_name},
        )
    return None


async def reference_refusal(
    tx: AsyncSession, reference: str, *, domain: DomainId, project: ProjectId
) -> CarrelError | None:
    """The same for a reference that is not in the catalogue, such as another tag or digest of a repository that is.

    It may be used if an image of its repository may; without one, unless its registry's images are enabled one by one.
    """
    host, repository = registry_of(reference), repository_of(reference)
    rows = select(Image).where(Image.repository == repository, Image.host == host, scoped(domain, [project]))
    refusals = [
        refusal(image, domain=domain, project=project) for image in (await tx.execute(rows)).scalars()
    ]
    if refusals:
        return None if None in refusals else refusals[0]
    prefixed = func.starts_with(f"{repository}/", func.concat(ImageRegistry.namespace, "/"))
    covering = select(ImageRegistry.name).where(
        ImageRegistry.host == host,
        of_scope(domain, [project]),
        or_(ImageRegistry.namespace == "", prefixed),
        ~ImageRegistry.images_enabled,
    )
    if (await tx.execute(covering.limit(1))).first() is None:
        return None
    return Forbidden(
        "image.not_enabled",
        f"Images from {host} can be used only after an administrator has enabled them.",
        hint="Choose another image, see `carrel image ls`, or ask an administrator to enable it.",
        field="image",
        details={"registry": host},
    )


def scoped(domain: DomainId, projects: Collection[ProjectId]) -> ColumnElement[bool]:
    """A condition for registered images, and those of registries of the installation, the domain and the projects."""
    theirs = select(ImageRegistry.id).where(of_scope(domain, projects))
    return or_(Image.registry_id.is_(None), Image.registry_id.in_(theirs))


def of_scope(domain: DomainId, projects: Collection[ProjectId]) -> ColumnElement[bool]:
    """A condition for the registries of the installation, the domain and the projects."""
    return or_(
        and_(ImageRegistry.domain_id.is_(None), ImageRegistry.project_id.is_(None)),
        ImageRegistry.domain_id == domain,
        ImageRegistry.project_id.in_(sorted(projects)),
    )


async def may_pull(tx: AsyncSession, domain: DomainId, reference: str) -> bool:
    """True if the image is in a registry, and one that the domain permits."""
    registry = registry_of(reference)
    return registry != LOCAL and _may_use(await registries_of(tx, domain), registry)


async def require_registry(
    tx: AsyncSession, domain: DomainId, reference: str, *, field: str = "image"
) -> None:
    """Check the registry of an image reference. Raises: Forbidden when the domain does not permit it."""
    registry, allowed = registry_of(reference), await registries_of(tx, domain)
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


async def registries_of(tx: AsyncSession, domain: DomainId) -> list[str] | None:
    """The registries that the domain permits, as `registry_of` names them; None: all."""
    allowed = (await tx.execute(select(Domain.registries).where(Domain.id == domain))).scalar_one()
    return None if allowed is None else list(dict.fromkeys(map(canonical_host, allowed)))
