"""Use cases of users. Each starts with an authorization check."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.accounts.users.drafts import (
    Draft,
    check,
    draft_context,
    email_taken,
    generated_password,
    password_problems,
    unknown_project,
)
from carrel.accounts.users.schemas import ProfileUpdate, UserCreate, UserUpdate
from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Conflict
from carrel.core.ids import UserId, new_id
from carrel.db.database import Database
from carrel.events import service as events
from carrel.folders import inheritance
from carrel.identity.passwords import hash_password
from carrel.permissions.actions import Role
from carrel.permissions.decide import Actor, Target, require
from carrel.permissions.roles import is_domain_admin, is_superadmin
from carrel.sessions import live_sessions
from carrel.signin.logins import one_time_links
from carrel.signin.logins.one_time_links import LoginLink
from carrel.signin.logins.service import end_all
from carrel.site import service as site
from carrel.tables.apps import AppGrant
from carrel.tables.sessions import Session
from carrel.tables.tenancy import Domain, Membership, Project, User, UserState
from carrel.tenancy import queries as tenancy
from carrel.tenancy import service as places
from carrel.tenancy.schemas import SessionsChoice

_PLAIN = {"name", "description", "state", "role", "must_change_password", "addresses"}


@dataclass(frozen=True)
class UserServices:
    """With what users are made. public_url: where one-time links lead."""

    database: Database
    clock: Clock
    public_url: str


@dataclass(frozen=True)
class CreatedUser:
    """password: the generated one; link: to set one; each if it was wanted."""

    id: UserId
    email: str
    password: str | None
    link: LoginLink | None


async def create(services: UserServices, actor: Actor, request: UserCreate) -> CreatedUser:
    """A new user. Raises: NotFound, Forbidden, Invalid; Conflict when the e-mail is taken."""
    async with services.database.transaction() as tx:
        draft, problems = check(actor, request, await draft_context(tx, actor, [request]))
        settings = await site.settings(tx)
    problems += await password_problems(settings, request)
    if draft is None or problems:
        raise problems[0]
    return await make(services, actor, draft)


async def make(services: UserServices, actor: Actor, draft: Draft) -> CreatedUser:
    """The user of a checked draft. Raises: Conflict when somebody was faster."""
    request, now = draft.request, services.clock.now()
    password = generated_password() if request.generate_password else request.password
    # Hashing takes long: no transaction waits for it.
    hashed = await hash_password(password) if password else None
    try:
        async with services.database.transaction() as tx:
            user = _row(draft, hashed, now)
            tx.add(user)
            await tx.flush()
            tx.add_all(Membership(project_id=project.id, user_id=user.id) for project in draft.projects)
            await tx.flush()
            after = {
                **request.model_dump(mode="json", exclude={"password", "generate_password"}),
                "domain": draft.domain.name,
                "projects": [project.name for project in draft.projects],
            }
            await record(tx, actor, "user.create", user, after=after)
            link = await _link(tx, services, user, now) if request.link else None
    except IntegrityError as error:
        if "uq_users_email" in str(error.orig):
            raise email_taken(request.email) from None
        if "fk_memberships_project_id" in str(error.orig):
            raise Conflict(
                "project.gone", "One of the projects has just been removed.", field="projects"
            ) from None
        raise
    return CreatedUser(user.id, user.email, password if request.generate_password else None, link)


async def _link(tx: AsyncSession, services: UserServices, user: User, now: datetime) -> LoginLink:
    return await one_time_links.issue(
        tx,
        user.id,
        one_time_links.PASSWORD,
        now,
        lifetime=one_time_links.HANDED_LIFETIME,
        public_url=services.public_url,
    )


def _row(draft: Draft, password_hash: str | None, now: datetime) -> User:
    request = draft.request
    return User(
        id=UserId(new_id()),
        domain_id=draft.domain.id,
        email=request.email,
        name=request.name,
        description=request.description,
        role=request.role,
        state=request.state,
        password_hash=password_hash,
        password_set_at=now if password_hash else None,
        must_change_password=request.must_change_password and password_hash is not None,
        addresses=request.addresses,
        preferences={},
        created_at=now,
    )


async def update(tx: AsyncSession, clock: Clock, actor: Actor, ref: str, changes: UserUpdate) -> UserId:
    """Change what is given. Disabled: signed out at once, everywhere.

    Raises: NotFound, Forbidden; Conflict when nobody were left to administer everything, or naming live
    sessions when nothing is chosen for them.
    """
    # 1. may they
    user = await tenancy.user(tx, actor, ref, "user.update")
    places.require_rank(actor, user)
    if user.state == UserState.PURGED:
        raise Conflict("user.purged", "This user was permanently deleted.", hint="Create a new user.")
    given = changes.model_dump(exclude_unset=True)
    domain = await _target_domain(tx, actor, user, changes)
    if domain and "role" not in given and is_domain_admin(user.role):
        # Who was trusted with one domain is not thereby trusted with another.
        given["role"] = Role.USER
    after = {field: given[field] for field in _PLAIN & given.keys() if given[field] != getattr(user, field)}
    if "role" in after and not domain:
        require(actor, "user.appoint", Target())
    await _require_others(tx, actor, user, after, domain)
    # 2. write the person first: whoever asks for a session waits for this row
    before: dict[str, object] = {field: getattr(user, field) for field in after}
    for field, value in after.items():
        setattr(user, field, value)
    if domain:
        before["domain"] = (await tx.get_one(Domain, user.domain_id)).name
        after["domain"] = domain.name
        user.domain_id = domain.id
    await tx.flush()
    if domain:
        await inheritance.follow(tx, user, domain.id)
    if domain or "projects" in given:
        await _change_projects(tx, user, given.get("projects", []), before, after)
    # 3. what they had
    ended = await _end(tx, clock, actor, user, after, changes.sessions)
    if "role" in after:
        # A cookie that was there before shall not be worth more, or other things, now.
        await end_all(tx, user.id, but=actor.login_id)
    if after:
        await record(tx, actor, "user.update", user, before=before, after=after, **ended)
    return user.id


async def _target_domain(tx: AsyncSession, actor: Actor, user: User, changes: UserUpdate) -> Domain | None:
    """Where they move; None: they stay."""
    if not changes.domain:
        return None
    domain = await tenancy.domain(tx, actor, changes.domain, field="domain")
    if domain.id == user.domain_id:
        return None
    require(actor, "user.update", tenancy.domain_target(domain))
    return domain


async def _require_others(
    tx: AsyncSession, actor: Actor, user: User, after: Mapping[str, object], domain: Domain | None
) -> None:
    """Somebody must be left to administer everything; nobody shuts themselves out."""
    disabled = after.get("state", user.state) != UserState.ACTIVE
    loses = disabled or "role" in after or (domain is not None and not domain.active)
    was = is_superadmin(user.role) and user.state == UserState.ACTIVE
    if was and loses and not await tenancy.superadmin_left(tx, without=User.id == user.id):
        raise Conflict(
            "user.last_superadmin",
            f"{user.email} is the last superadmin.",
            hint="Make another user superadmin first.",
            field="role" if "role" in after else "state",
        )
    if disabled and "state" in after and user.id == actor.user_id:
        raise Conflict(
            "user.self", "You cannot disable yourself.", hint="Ask another administrator.", field="state"
        )


async def _change_projects(
    tx: AsyncSession,
    user: User,
    refs: Sequence[str],
    before: dict[str, object],
    after: dict[str, object],
) -> None:
    """Make them a member of exactly these; who stays in one keeps their office there."""
    domain = await tx.get_one(Domain, user.domain_id)
    named = (
        (
            await tx.execute(
                select(Project).where(
                    Project.domain_id == domain.id, or_(Project.id.in_(refs), Project.name.in_(refs))
                )
            )
        )
        .scalars()
        .all()
    )
    for ref in refs:
        if not any(ref in (project.id, project.name) for project in named):
            raise unknown_project(ref, domain)
    had = (
        await tx.execute(
            select(Membership, Project)
            .join(Project, Project.id == Membership.project_id)
            .where(Membership.user_id == user.id)
            .with_for_update(of=Membership)
        )
    ).all()
    desired = {project.id: project.name for project in named}
    present = {row.Project.id: row.Project.name for row in had}
    if desired.keys() == present.keys():
        return
    before["projects"], after["projects"] = sorted(present.values()), sorted(desired.values())
    for row in had:
        if row.Project.id not in desired:
            await tx.delete(row.Membership)
    tx.add_all(
        Membership(project_id=project, user_id=user.id) for project in desired if project not in present
    )
    await tx.flush()


async def _end(
    tx: AsyncSession,
    clock: Clock,
    actor: Actor,
    user: User,
    after: Mapping[str, object],
    choice: SessionsChoice | None,
) -> dict[str, object]:
    """End sign-ins of somebody who is disabled, and sessions as chosen; give what the audit trail says of it."""
    disabled = "state" in after and user.state != UserState.ACTIVE
    if not disabled and "domain" not in after:
        return {}
    if disabled:
        await end_sign_ins(tx, user.id)
    if "domain" in after and choice is SessionsChoice.KEEP:
        # They would hold what the former domain has.
        choice = None
    reason = f"{user.email} {'was disabled' if disabled else 'moved to another domain'}."
    ended = await live_sessions.keep_or_end(
        tx, clock, actor, Session.owner_id == user.id, choice, code="user.has_sessions", reason=reason
    )
    return {"ended": ended} if ended else {}


async def end_sign_ins(tx: AsyncSession, user: UserId) -> None:
    """Sign somebody out everywhere, out of the apps that they have open too."""
    await tx.execute(delete(AppGrant).where(AppGrant.user_id == user))
    await end_all(tx, user)


async def update_profile(tx: AsyncSession, actor: Actor, changes: ProfileUpdate) -> UserId:
    """Change one's own name and preferences."""
    user = await tx.get_one(User, actor.user_id, with_for_update={"key_share": True})
    require(actor, "profile.update", tenancy.user_target(user))
    given = changes.model_dump(exclude_unset=True)
    if "preferences" in given:
        changed = {**user.preferences, **given["preferences"]}
        given["preferences"] = {name: value for name, value in changed.items() if value is not None}
    after = {field: value for field, value in given.items() if value != getattr(user, field)}
    if after:
        before = {field: getattr(user, field) for field in after}
        for field, value in after.items():
            setattr(user, field, value)
        await record(tx, actor, "profile.update", user, before=before, after=after)
    return user.id


async def record(tx: AsyncSession, actor: Actor, action: str, user: User, **details: object) -> None:
    """Write a change of a user to the audit trail, and tell those who may see them."""
    target = tenancy.user_target(user)
    audit.record(tx, actor, action, user.id, name=user.email, target=target, details=details)
    kind = "user.created" if action == "user.create" else "user.updated"
    await events.record(tx, kind, user.id, target=target, data=tenancy.user_data(user))
