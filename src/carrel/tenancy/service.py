"""Use cases of tenants: bootstrap of the installation, user profiles and membership."""

from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.clock import Clock
from carrel.core.errors import Forbidden, NotFound
from carrel.core.ids import DomainId, ProjectId, UserId, new_id
from carrel.identity.passwords import hash_password
from carrel.permissions.actions import Role
from carrel.permissions.decide import Actor
from carrel.permissions.roles import outranks
from carrel.tables.tenancy import Domain, Membership, Project, User, UserState


async def bootstrap(tx: AsyncSession, clock: Clock, *, email: str, password: str) -> bool:
    """Create the first domain, project and superadmin. False if the installation already has users."""
    if (await tx.execute(select(func.count()).select_from(User))).scalar_one():
        return False
    domain = Domain(id=DomainId(new_id()), name="default")
    project = Project(id=ProjectId(new_id()), domain_id=domain.id, name="default")
    tx.add(domain)
    await tx.flush()
    tx.add(project)
    await tx.flush()
    await add_user(
        tx,
        clock,
        email=email,
        name="Administrator",
        password=password,
        role=Role.SUPERADMIN,
        domain_id=domain.id,
        projects=[project.id],
    )
    return True


async def add_user(
    tx: AsyncSession,
    clock: Clock,
    *,
    email: str,
    name: str,
    role: Role,
    domain_id: DomainId,
    projects: list[ProjectId],
    password: str | None = None,
    state: UserState = UserState.ACTIVE,
) -> User:
    """Create a user in a domain and in some of its projects. password None: no password sign-in.

    Raises: NotFound when the domain was removed meanwhile.
    """
    there = select(Domain.id).where(Domain.id == domain_id, Domain.removed_at.is_(None))
    if (await tx.execute(there.with_for_update(read=True, key_share=True))).scalar() is None:
        raise NotFound("domain.not_found", "The domain has just been removed.", hint="Ask an administrator.")
    now = clock.now()
    user = User(
        id=UserId(new_id()),
        domain_id=domain_id,
        email=email,
        name=name,
        role=role,
        state=state,
        password_hash=await hash_password(password) if password else None,
        password_set_at=now if password else None,
        created_at=now,
    )
    tx.add(user)
    await tx.flush()
    tx.add_all(Membership(project_id=project, user_id=user.id) for project in projects)
    await tx.flush()
    return user


def require_rank(actor: Actor, user: User) -> None:
    """Check that the user does not rank above the actor. Raises: Forbidden."""
    if user.id != actor.user_id and outranks(user.role, actor.role):
        raise Forbidden(
            "user.ranks_higher",
            f"{user.email} has a higher role than you.",
            hint="Ask an administrator with a higher role.",
        )


async def user_by_email(tx: AsyncSession, email: str) -> User | None:
    """The user with this e-mail, case-insensitive."""
    return (await tx.execute(select(User).where(func.lower(User.email) == email.strip().lower()))).scalar()


@dataclass(frozen=True)
class UserWithProjects:
    """A user's own profile. projects: their projects that are not archived, by name."""

    user: User
    domain: Domain
    projects: list[tuple[Project, Membership]]


async def profile(tx: AsyncSession, user_id: UserId) -> UserWithProjects:
    """The profile of an existing user."""
    user, domain = (
        await tx.execute(
            select(User, Domain).join(Domain, Domain.id == User.domain_id).where(User.id == user_id)
        )
    ).one()
    projects = await tx.execute(
        select(Project, Membership)
        .join(Membership, Membership.project_id == Project.id)
        .where(Membership.user_id == user_id, Project.archived_at.is_(None))
        .order_by(Project.name)
    )
    return UserWithProjects(user, domain, [(row.Project, row.Membership) for row in projects])


async def own_projects(tx: AsyncSession, user_id: UserId) -> list[Project]:
    """A user's projects for starting a session, by name, archived ones last.

    The user and these projects are locked until the transaction ends, so that none is disabled or archived. Empty if
    the user or their domain is inactive.
    """
    rows = await tx.execute(
        select(Project)
        .join(Membership, Membership.project_id == Project.id)
        .join(User, User.id == Membership.user_id)
        .join(Domain, Domain.id == User.domain_id)
        .where(User.id == user_id, User.active, Domain.active)
        .order_by(Project.archived_at.is_not(None), Project.name)
        .with_for_update(read=True, of=(User, Project))
    )
    return list(rows.scalars())


async def actor_of(
    tx: AsyncSession, user: User, *, credential: str, address: str, login_id: bytes | None = None
) -> Actor:
    """The user as an actor."""
    memberships = list((await tx.execute(select(Membership).where(Membership.user_id == user.id))).scalars())
    return Actor(
        user_id=user.id,
        email=user.email,
        role=Role(user.role),
        domain_id=user.domain_id,
        projects=frozenset(m.project_id for m in memberships),
        administers=frozenset(m.project_id for m in memberships if m.admin),
        credential=credential,
        address=address,
        login_id=login_id,
    )
