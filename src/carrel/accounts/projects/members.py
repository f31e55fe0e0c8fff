"""Use cases of project members. Each starts with an authorization check."""

from collections.abc import Sequence

from sqlalchemy import func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.accounts.projects.schemas import MemberAdded, MemberRemoved, MembersAdded, MemberView
from carrel.accounts.projects.service import record
from carrel.core.errors import NotFound
from carrel.core.ids import ProjectId, UserId
from carrel.events import service as events
from carrel.folders.access_list import still_held
from carrel.permissions.decide import Actor
from carrel.tables.tenancy import Membership, Project, User, UserState
from carrel.tenancy import queries as tenancy
from carrel.tenancy.queries import user_data
from carrel.tenancy.schemas import Trouble


async def add(tx: AsyncSession, actor: Actor, ref: str, users: Sequence[str], *, admin: bool) -> MembersAdded:
    """Add users of its domain to a project; existing members are unchanged, unless admin is true.

    Users who cannot be added are reported with the reason; the others are added. Raises: NotFound, Forbidden.
    """
    project = await tenancy.project(tx, actor, ref, "project.enrol")
    by_ref = await _users_by_ref(tx, project, users)
    present = await _present(tx, project, [user.id for user in by_ref.values()])
    items: list[MemberAdded] = []
    changed: dict[str, User] = {}
    for each_ref in users:
        user = by_ref.get(each_ref.strip().lower()) or by_ref.get(each_ref)
        if user is None:
            items.append(MemberAdded(user=each_ref, status="failed", problem=_unknown(each_ref)))
            continue
        membership = present.get(user.id)
        status = "already" if membership and (membership.admin or not admin) else "added"
        if membership is None:
            membership = present[user.id] = Membership(project_id=project.id, user_id=user.id, admin=admin)
            tx.add(membership)
        if status == "added":
            membership.admin = admin
            changed[user.email] = user
        items.append(MemberAdded(user=each_ref, status=status, member=_view(user, membership)))
    if changed:
        await tx.flush()
        await record(tx, actor, "project.enrol", project, after=dict.fromkeys(changed, _office(admin)))
        await _publish(tx, *changed.values())
    failed = sum(item.status == "failed" for item in items)
    return MembersAdded(items=items, added=len(changed), failed=failed)


async def appoint(
    tx: AsyncSession, actor: Actor, ref: str, user: str, *, admin: bool
) -> tuple[ProjectId, UserId]:
    """Grant or revoke the project administrator role. Raises: NotFound, Forbidden."""
    project, membership, person = await _member(tx, actor, ref, user)
    if membership.admin != admin:
        before, membership.admin = membership.admin, admin
        await record(
            tx,
            actor,
            "project.enrol",
            project,
            before={person.email: _office(before)},
            after={person.email: _office(admin)},
        )
        await _publish(tx, person)
    return project.id, person.id


async def remove(tx: AsyncSession, actor: Actor, ref: str, user: str) -> MemberRemoved:
    """Remove a member from a project; their sessions in it continue. Raises: NotFound, Forbidden."""
    project, membership, person = await _member(tx, actor, ref, user)
    await tx.delete(membership)
    await record(tx, actor, "project.enrol", project, before={person.email: _office(membership.admin)})
    await _publish(tx, person)
    await tx.flush()
    return MemberRemoved(still_mounted=await still_held(tx, actor, person.id))


async def _publish(tx: AsyncSession, *users: User) -> None:
    """Publish the memberships of these users to their pages."""
    for person in users:
        await events.record(
            tx, "user.updated", person.id, target=tenancy.user_target(person), data=user_data(person)
        )


def _office(admin: bool) -> str:
    return "administrator" if admin else "member"


async def _member(tx: AsyncSession, actor: Actor, ref: str, user: str) -> tuple[Project, Membership, User]:
    project = await tenancy.project(tx, actor, ref, "project.enrol")
    row = (
        await tx.execute(
            select(Membership, User)
            .join(User, User.id == Membership.user_id)
            .where(
                Membership.project_id == project.id,
                or_(User.id == user, func.lower(User.email) == user.strip().lower()),
            )
            .order_by((User.id == user).desc())
            .limit(1)
            .with_for_update(of=Membership)
        )
    ).first()
    if row is None:
        raise NotFound(
            "member.not_found", f"{user} is not in {project.name}.", hint="See `carrel project members`."
        )
    return project, row.Membership, row.User


async def _users_by_ref(tx: AsyncSession, project: Project, users: Sequence[str]) -> dict[str, User]:
    """Those of the project's domain, by what they were asked for with: an id, or an e-mail in lower case.

    Shared locks: nobody of them is moved or purged meanwhile.
    """
    emails = {user.strip().lower() for user in users}
    rows = await tx.execute(
        select(User)
        .where(
            User.domain_id == project.domain_id,
            User.state != UserState.PURGED,
            or_(User.id.in_(users), func.lower(User.email).in_(emails)),
        )
        .order_by(User.id)
        .with_for_update(read=True)
    )
    by_ref: dict[str, User] = {}
    for user in rows.scalars():
        by_ref[user.id] = user
        by_ref[user.email.lower()] = user
    return by_ref


async def _present(tx: AsyncSession, project: Project, users: Sequence[UserId]) -> dict[UserId, Membership]:
    rows = await tx.execute(
        select(Membership)
        .where(Membership.project_id == project.id, Membership.user_id.in_(users))
        .with_for_update()
    )
    return {membership.user_id: membership for membership in rows.scalars()}


def _unknown(user: str) -> Trouble:
    return Trouble(
        code="user.not_found",
        detail=f"The domain of this project has no user {user[:254]}.",
        hint="Only users of its own domain can be members of a project.",
        field="users",
    )


def _view(user: User, membership: Membership) -> MemberView:
    return MemberView(id=user.id, email=user.email, name=user.name, state=user.state, admin=membership.admin)
