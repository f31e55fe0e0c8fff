"""Where an environment may be pushed: registries whose scope the actor is a member of, and repositories there."""

import re
from collections.abc import Sequence
from contextlib import suppress

from sqlalchemy import Select, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import CarrelError, Conflict, Forbidden, Invalid, NotFound
from carrel.core.ids import UserId
from carrel.engines.references import LOCAL, registry_of
from carrel.environments import environment_access as access
from carrel.environments.pushes.schemas import REPOSITORY
from carrel.images import availability
from carrel.images.registries.repositories import matches
from carrel.permissions.decide import Actor, Target, require
from carrel.tables.environments import Environment
from carrel.tables.registries import ImageRegistry, MayPush
from carrel.tables.tenancy import Domain, User
from carrel.tenancy import service as tenancy

ACTION = "environment.push"
_LONGEST_NAME = 255
"""Of an image, with its registry: what engines accept."""


async def permitted(tx: AsyncSession, actor: Actor, environment: Environment) -> list[ImageRegistry]:
    """The registries to which the actor may push, by name; without those that the domain does not permit."""
    open_ones = _of_actor(actor).where(ImageRegistry.push == MayPush.MEMBERS)
    rows = (await tx.execute(open_ones.order_by(ImageRegistry.name, ImageRegistry.id))).scalars()
    allowed = await availability.registries_of(tx, environment.domain_id)
    return [one for one in rows if allowed is None or one.host in allowed]


async def chosen(tx: AsyncSession, actor: Actor, environment: Environment, ref: str | None) -> ImageRegistry:
    """The registry with this id or name, or the only one. Raises: NotFound, Forbidden, Conflict, Invalid."""
    if ref is None:
        return _only(await permitted(tx, actor, environment))
    named = or_(ImageRegistry.id == ref, ImageRegistry.name == ref)
    rows = list((await tx.execute(_of_actor(actor).where(named))).scalars())
    rows_named = [one for one in rows if one.id == ref] or rows
    if not rows_named:
        raise NotFound(
            "registry.not_found",
            f"There is no registry {ref} for you.",
            hint=f"See `carrel environment push {environment.name} --list`.",
        )
    if len(rows_named) > 1:
        raise Conflict(
            "registry.ambiguous",
            f"Several registries have the name {ref}.",
            hint="Use the id.",
            details={"ids": [one.id for one in rows_named]},
        )
    if refusal := closed(rows_named[0]):
        raise refusal
    return rows_named[0]


def closed(registry: ImageRegistry) -> Forbidden | None:
    """The error if nobody may push there."""
    if registry.push == MayPush.MEMBERS:
        return None
    return Forbidden(
        "push.not_permitted",
        f"Nobody may push to the registry {registry.name}.",
        hint="Choose another registry, or ask whoever administers it to permit it: "
        f"`carrel registry set {registry.name} --push members --push-repository 'team/*'`.",
        field="registry",
    )


async def require_requester(
    tx: AsyncSession, requested_by: UserId | None, environment: Environment, registry: ImageRegistry
) -> None:
    """Check that who requested a push may still do so. Raises: Forbidden."""
    active = select(User).join(Domain, Domain.id == User.domain_id).where(User.active, Domain.active)
    user = (await tx.execute(active.where(User.id == requested_by))).scalar()
    with suppress(NotFound, Forbidden):
        if user:
            actor = await tenancy.actor_of(tx, user, credential="push", address="")
            require_builder(actor)
            await access.find(tx, actor, environment.id, ACTION)
            if (await tx.execute(_of_actor(actor).where(ImageRegistry.id == registry.id))).first():
                return
    raise Forbidden(
        "push.not_permitted",
        f"Who requested the push may not push to the registry {registry.name} any more.",
        hint="Push it again as somebody who may.",
    )


def require_builder(actor: Actor) -> None:
    """Raises: Forbidden."""
    require(actor, "environment.build", Target(actor.user_id, domain_id=actor.domain_id))


async def reference(
    tx: AsyncSession, environment: Environment, registry: ImageRegistry, repository: str | None, tag: str
) -> str:
    """What the image is called there. Raises: Forbidden for a repository or registry that is not permitted; Invalid."""
    repository = repository or suggested(registry, environment)
    if refusal := outside(registry, repository):
        raise refusal
    name = f"{prefix(registry)}/{repository}:{tag}"
    if registry_of(name) != registry.host or registry.host == LOCAL:
        raise Invalid(
            "push.address",
            f"{registry.host} cannot be the registry of an image reference.",
            hint="A registry's address has a dot or a port, such as https://registry.example.org.",
            field="registry",
        )
    if len(name) - len(tag) - 1 > _LONGEST_NAME:
        raise Invalid(
            "push.name_too_long",
            f"{name} has more than {_LONGEST_NAME} characters before the tag.",
            hint="Choose a shorter repository.",
            field="repository",
        )
    await availability.require_registry(tx, environment.domain_id, name, field="registry")
    return name


def outside(registry: ImageRegistry, repository: str) -> CarrelError | None:
    """The error for a repository to which members may not push. repository: without the namespace."""
    globs = registry.push_repositories
    if globs and matches(repository, globs):
        return None
    return Forbidden(
        "push.repository_not_permitted",
        f"You may not push to {repository} in the registry {registry.name}.",
        hint=f"Choose a repository that matches {' or '.join(globs)}.",
        field="repository",
        details={"repositories": globs},
    )


def prefix(registry: ImageRegistry) -> str:
    """The beginning of references: host and namespace."""
    return f"{registry.host}/{registry.namespace}".rstrip("/")


def suggested(registry: ImageRegistry, environment: Environment) -> str:
    """A repository for the environment, permitted if there is one."""
    name = re.sub(r"[^a-z0-9]+", "-", environment.name.lower()).strip("-") or "environment"
    for glob in registry.push_repositories:
        candidate = f"{glob[:-1]}{name}" if glob.endswith("*") else glob
        if re.fullmatch(REPOSITORY, candidate) and outside(registry, candidate) is None:
            return candidate
    return name


def _only(registries: Sequence[ImageRegistry]) -> ImageRegistry:
    if not registries:
        raise Forbidden(
            "push.no_registry",
            "There is no registry to which you may push.",
            hint="Ask whoever administers a registry of your project, or an administrator, to permit it.",
            field="registry",
        )
    if len(registries) > 1:
        raise Invalid(
            "push.registry_needed",
            "You may push to several registries.",
            hint="Specify one of them.",
            field="registry",
            details={"registries": [one.name for one in registries]},
        )
    return registries[0]


def _of_actor(actor: Actor) -> Select[ImageRegistry]:
    scope = availability.of_scope(actor.domain_id, actor.projects | actor.administers)
    return select(ImageRegistry).where(scope)
