"""With whom something is shared: an active user or a project of its domain."""

from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import Conflict, NotFound
from carrel.core.ids import DomainId, ProjectId, UserId
from carrel.permissions.decide import Actor
from carrel.tables.tenancy import Project, User
from carrel.tenancy import queries


async def user_to_share_with(
    tx: AsyncSession, ref: str, *, domain: DomainId, owner: UserId | None, shared: str, things: str
) -> User:
    """The active user with this e-mail or id. owner: of what is shared. shared: its name. things: its kind, plural.

    Raises: NotFound; Conflict for its owner.
    """
    user = await queries.active_user(tx, ref, domain)
    if user is None:
        raise NotFound(
            "share.no_such_person",
            f"There is no user {ref} with whom {things} can be shared.",
            hint="They need an active account in the same domain. Ask them or an administrator.",
            field="user",
        )
    if user.id == owner:
        raise Conflict("share.own", f"{shared} already belongs to {user.email}.", field="user")
    return user


async def project_to_share_with(
    tx: AsyncSession, actor: Actor, ref: str, *, domain: DomainId, owner: ProjectId | None, shared: str
) -> Project:
    """The project with this id or name. owner, shared: as above.

    Raises: NotFound; Conflict for its owner and projects of other domains.
    """
    project = await queries.project(tx, actor, ref, domain=domain)
    if project.domain_id != domain:
        raise Conflict("share.other_domain", f"{project.name} is in another domain.", field="project")
    if project.id == owner:
        raise Conflict("share.own", f"{shared} already belongs to {project.name}.", field="project")
    return project
