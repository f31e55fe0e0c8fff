"""Resolve what a session request refers to: its project and its images."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import Conflict, Forbidden, Invalid, NotFound
from carrel.core.host_names import architecture
from carrel.core.ids import DomainId, GroupId, ProjectId
from carrel.core.units import Slots, format_slot
from carrel.environments import image_origins
from carrel.environments import session_images as environments
from carrel.image_scans import vulnerability_rules
from carrel.images import availability, watched_images
from carrel.images import service as images
from carrel.permissions.decide import Actor
from carrel.sessions.spec import SessionSpec
from carrel.tables.images import Image
from carrel.tenancy import service as tenancy

REFERENCE = re.compile(
    r"^(?:(?:localhost|[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)+|[a-zA-Z0-9.-]+(?=:\d+/))(?::\d+)?/)?[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
    r"(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*(?::[\w][\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$"
)


@dataclass(frozen=True)
class ImageGroups:
    """The resource groups in which images may be used. images: their names."""

    groups: frozenset[GroupId]
    images: tuple[str, ...]


async def project_of(tx: AsyncSession, actor: Actor, ref: str | None) -> ProjectId:
    """The requested project, among those of the actor. It and the actor's user stay locked until the transaction
    ends, so that neither is archived or disabled before the session is created.
    """
    projects = await tenancy.own_projects(tx, actor.user_id)
    if not projects:
        raise Forbidden(
            "project.none",
            "You are not a member of any project.",
            hint="Ask an administrator to add you to one.",
        )
    if ref is None:
        projects = [project for project in projects if project.archived_at is None] or projects[:1]
    for project in projects:
        only = ref is None and (len(projects) == 1 or project.name == "default")
        if ref in (project.id, project.name) or only:
            if project.archived_at is not None:
                raise Conflict(
                    "project.archived",
                    f"{project.name} is archived and takes no new sessions.",
                    hint="Use another project, or ask an administrator to restore it.",
                    field="project",
                )
            return project.id
    if ref is None:
        raise Invalid(
            "invalid.project",
            "You are a member of several projects.",
            hint="Specify one.",
            field="project",
            details={"projects": [project.name for project in projects]},
        )
    raise NotFound("project.not_found", f"You are not a member of a project {ref}.", field="project")


async def image_of(
    tx: AsyncSession, actor: Actor, project: ProjectId, ref: str, slots: Slots
) -> Image | None:
    """The image of the catalogue, or of an environment; None: an image reference.

    Raises: as `named_image` and `require_usable`.
    """
    image = await named_image(tx, actor, ref)
    await require_usable(tx, actor, project, image, ref, slots)
    return image


async def named_image(tx: AsyncSession, actor: Actor, ref: str) -> Image | None:
    """The same, whatever may be started from it.

    Raises: Invalid; NotFound or Conflict for an environment from which the actor cannot start sessions.
    """
    image = None
    if not environments.is_environment(ref):
        image = await images.find(tx, ref, domain=actor.domain_id, projects=actor.projects)
    image = image or await environments.image_of(tx, actor, ref)
    if image is None and not REFERENCE.match(ref):
        raise Invalid(
            "invalid.image",
            f"{ref} is neither an image in the catalogue nor an image reference.",
            hint="See `carrel image ls`; a reference looks like registry.example.org/team/name:tag.",
            field="image",
        )
    return image


async def require_usable(
    tx: AsyncSession, actor: Actor, project: ProjectId, image: Image | None, ref: str, slots: Slots
) -> None:
    """Raises: Forbidden if the actor's domain may not use its registry, the project the image, or for its
    vulnerabilities; Invalid for too few slots.
    """
    await require_permitted(tx, actor, project, image, ref)
    if too_few := too_few_for(image, slots):
        raise too_few


async def require_permitted(
    tx: AsyncSession, actor: Actor, project: ProjectId, image: Image | None, ref: str
) -> None:
    """The same, whatever the slots. For an environment, the limits of the images that it is made of hold."""
    reference = image.reference if image else ref
    await _require_allowed(tx, actor, project, image, reference)
    for origin in await image_origins.origins_of(tx, reference):
        entry = await image_origins.catalogued(
            tx, origin, domain=actor.domain_id, projects=[project, *actor.projects]
        )
        try:
            await _require_allowed(tx, actor, project, entry, origin.reference)
        except Forbidden as refused:
            refused.message = (
                f"{image.shown_name if image else ref} is made of another image. {refused.message}"
            )
            raise
    await vulnerability_rules.require(tx, reference)


async def _require_allowed(
    tx: AsyncSession, actor: Actor, project: ProjectId, image: Image | None, reference: str
) -> None:
    await availability.require_registry(tx, actor.domain_id, reference)
    if image:
        refused = availability.refusal(image, domain=actor.domain_id, project=project)
    else:
        refused = await availability.reference_refusal(tx, reference, domain=actor.domain_id, project=project)
    if refused:
        raise refused


async def with_role_images(
    tx: AsyncSession, actor: Actor, project: ProjectId, image: Image | None, spec: SessionSpec
) -> tuple[SessionSpec, ImageGroups | None]:
    """The spec with references for the images of its roles, and the resource groups to which its images are limited;
    None: they are not. image: the session's own.

    Raises: as `image_of`; Invalid if they are for different architectures.
    """
    roles, limited = [], [image]
    for role in spec.roles:
        slots = role.slots or spec.slots
        own = await image_of(tx, actor, project, role.image, slots) if role.image else image
        limited.append(own)
        if not role.image and role.slots and (too_few := too_few_for(image, role.slots)):
            raise too_few
        built_for = {architecture(one.architecture) for one in (own, image) if one} - {""}
        if len(built_for) > 1:
            raise Invalid(
                "session.mixed_architectures",
                f"The images of {role.name} and of the session are for {' and '.join(sorted(built_for))}.",
                hint="Choose images for the same architecture.",
                field="roles",
            )
        roles.append(replace(role, image=own.reference) if role.image and own else role)
    groups: dict[str, frozenset[GroupId]] = {}
    for one in limited:
        groups |= await _groups_of(tx, actor, project, one) if one else {}
    only = ImageGroups(frozenset.intersection(*groups.values()), tuple(groups)) if groups else None
    return replace(spec, roles=tuple(roles)), only


async def _groups_of(
    tx: AsyncSession, actor: Actor, project: ProjectId, image: Image
) -> dict[str, frozenset[GroupId]]:
    """The groups to which the image is limited, by its name; of an environment, those of what it is made of."""
    groups = {image.shown_name: frozenset(image.settings.groups)}
    for origin in await image_origins.origins_of(tx, image.reference):
        entry = await image_origins.catalogued(
            tx, origin, domain=actor.domain_id, projects=[project, *actor.projects]
        )
        if entry:
            groups[f"{image.shown_name} (made of {entry.shown_name})"] = frozenset(entry.settings.groups)
    return {name: limit for name, limit in groups.items() if limit}


async def image_pins(
    tx: AsyncSession, domain: DomainId, project: ProjectId, spec: SessionSpec
) -> Mapping[str, str]:
    """By reference of the spec's images that are watched, what is started instead: the digest that was taken."""
    return await watched_images.pinned(
        tx, {one.image for one in spec.container_requests}, domain=domain, project=project
    )


def too_few_for(image: Image | None, slots: Slots) -> Invalid | None:
    """The error if the slots are less than the image needs; None: sufficient. image None: not in the catalogue."""
    least = image.least_slots if image else images.DEFAULT_MIN_SLOTS
    for slot, amount in least.items():
        if slots.get(slot, 0) < amount:
            return Invalid(
                "invalid.slots",
                f"{image.shown_name if image else 'A session'} needs at least {format_slot(slot, amount)}.",
                hint="Request more.",
                field=f"slots.{slot}",
            )
    return None
