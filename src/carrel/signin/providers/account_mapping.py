"""Mapping of external identities to users, and of their groups to projects and roles."""

from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Conflict, Forbidden
from carrel.core.ids import ProjectId
from carrel.events import service as events
from carrel.identity.port import Claims
from carrel.identity.settings import SharedSettings
from carrel.permissions.actions import Role
from carrel.permissions.decide import Actor
from carrel.permissions.roles import highest, is_administrator, is_superadmin, outranks
from carrel.signin.providers.setup import shared_of
from carrel.tables.providers import ExternalIdentity, Provider
from carrel.tables.tenancy import Membership, Project, User
from carrel.tenancy.queries import project_target, superadmin_left, user_data, user_target
from carrel.tenancy.schemas import Email
from carrel.tenancy.service import actor_of, add_user, user_by_email

_LONGEST_NAME = 64
_EMAIL: TypeAdapter[str] = TypeAdapter(Email)


@dataclass(frozen=True)
class _Given:
    """Grants of the groups. projects: project -> whether it is administered."""

    projects: dict[ProjectId, bool]
    role: Role


async def receive(
    tx: AsyncSession, clock: Clock, provider: Provider, claims: Claims, *, address: str
) -> User:
    """The user of an external identity, created or linked at the first sign-in.

    Raises: Forbidden; Conflict when another user has the e-mail.
    """
    settings = shared_of(provider)
    identity = await _known(tx, provider, claims)
    fresh = identity is None
    if identity is None:
        identity = await _first_time(tx, clock, provider, settings, claims)
    user = await tx.get_one(User, identity.user_id, with_for_update={"key_share": True})
    identity.seen_at = clock.now()
    if not user.active:
        return user  # a denied user is not updated
    actor = await actor_of(tx, user, credential=f"{provider.kind}:{provider.name}", address=address)
    if fresh:
        _note_link(tx, actor, user, provider)
    await _rename(tx, actor, user, claims.name)
    # The provider's attributes are authoritative in its own domain.
    if user.domain_id == provider.domain_id:
        given = await _given(tx, provider, settings, claims)
        await _apply_projects(tx, actor, user, identity, given.projects)
        await _apply_role(tx, actor, user, identity, given.role)
    await tx.flush()
    return user


async def _known(tx: AsyncSession, provider: Provider, claims: Claims) -> ExternalIdentity | None:
    statement = select(ExternalIdentity).where(
        ExternalIdentity.provider_id == provider.id, ExternalIdentity.subject == claims.subject
    )
    return (await tx.execute(statement.with_for_update())).scalar()


async def _first_time(
    tx: AsyncSession,
    clock: Clock,
    provider: Provider,
    settings: SharedSettings,
    claims: Claims,
) -> ExternalIdentity:
    email = _proven_email(provider, settings, claims)
    user = await user_by_email(tx, email)
    if user is not None:
        _require_trusted(provider, settings, user)
        # The e-mail was reassigned at the provider.
        old = delete(ExternalIdentity).where(
            ExternalIdentity.provider_id == provider.id, ExternalIdentity.user_id == user.id
        )
        await tx.execute(old)
    elif not settings.create_users:
        raise Forbidden(
            "provider.not_invited",
            "You have no account here yet.",
            hint=f"Ask an administrator to create one for {email}.",
        )
    else:
        user = await add_user(
            tx,
            clock,
            email=email,
            name=_name(claims.name) or email.split("@")[0][:_LONGEST_NAME],
            role=Role.USER,
            domain_id=provider.domain_id,
            projects=[],
        )
        await events.record(tx, "user.created", user.id, target=user_target(user), data=user_data(user))
    identity = ExternalIdentity(
        provider_id=provider.id,
        subject=claims.subject,
        user_id=user.id,
        projects=[],
        role=None,
        seen_at=clock.now(),
    )
    tx.add(identity)
    await tx.flush()
    return identity


def _proven_email(provider: Provider, settings: SharedSettings, claims: Claims) -> str:
    """The e-mail verified by the provider. Raises: Forbidden."""
    if not claims.email or not _is_email(claims.email):
        raise Forbidden(
            "provider.no_email",
            f"{provider.name} does not provide your e-mail address.",
            hint="Ask an administrator to check the scope email of the provider.",
        )
    trusted = _is_trusted(settings, claims.email)
    if not claims.email_verified and not trusted:
        raise Forbidden(
            "provider.email_unverified",
            f"{provider.name} has not verified the e-mail address {claims.email}.",
            hint="Verify it there, then sign in again.",
        )
    return claims.email


def _require_trusted(provider: Provider, settings: SharedSettings, user: User) -> None:
    """Check that the provider may claim this account. Raises: Conflict."""
    above = is_superadmin(user.role) and not settings.may_appoint_superadmins
    if _is_trusted(settings, user.email) and not above:
        return
    raise Conflict(
        "provider.email_taken",
        f"An account with the e-mail {user.email} already exists, independent of {provider.name}.",
        hint="Sign in to it as before. An administrator can let the provider link accounts by e-mail.",
    )


def _is_trusted(settings: SharedSettings, email: str) -> bool:
    return email.rsplit("@", 1)[-1].lower() in settings.trusted_email_domains


def _note_link(tx: AsyncSession, actor: Actor, user: User, provider: Provider) -> None:
    audit.record(
        tx,
        actor,
        "user.update",
        user.id,
        name=user.email,
        target=user_target(user),
        details={"after": {"provider": provider.name}},
    )


async def _rename(tx: AsyncSession, actor: Actor, user: User, name: str) -> None:
    new_name = _name(name)
    if new_name and new_name != user.name:
        before, user.name = user.name, new_name
        await _note_user(tx, actor, user, before={"name": before}, after={"name": new_name})


async def _given(tx: AsyncSession, provider: Provider, settings: SharedSettings, claims: Claims) -> _Given:
    projects: dict[ProjectId, bool] = {}
    roles = {Role.USER}
    for rule in provider.mapping:
        if claims.group_key(rule["group"]) not in claims.groups:
            continue
        if project := rule["project"]:
            projects[project] = projects.get(project, False) or rule["admin"]
        if rule["role"] and (not is_superadmin(rule["role"]) or settings.may_appoint_superadmins):
            roles.add(Role(rule["role"]))
    there = await tx.execute(
        select(Project.id).where(Project.id.in_(projects), Project.domain_id == provider.domain_id)
    )
    return _Given({project: projects[project] for project in there.scalars()}, highest(roles))


async def _apply_projects(
    tx: AsyncSession, actor: Actor, user: User, identity: ExternalIdentity, desired: dict[ProjectId, bool]
) -> None:
    """Add and remove memberships; manually granted ones are kept."""
    rows = await tx.execute(select(Membership).where(Membership.user_id == user.id).with_for_update())
    present = {membership.project_id: membership for membership in rows.scalars()}
    ours = set(identity.projects)
    before: dict[ProjectId, str] = {}
    after: dict[ProjectId, str] = {}
    for project in ours - desired.keys():
        if membership := present.get(project):
            before[project] = _office(membership.admin)
            await tx.delete(membership)
    for project, admin in desired.items():
        membership = present.get(project)
        if membership is None:
            tx.add(Membership(project_id=project, user_id=user.id, admin=admin))
        elif project not in ours:
            continue
        elif membership.admin != admin:
            before[project], membership.admin = _office(membership.admin), admin
        else:
            continue
        after[project] = _office(admin)
    # Memberships from other sources are kept.
    identity.projects = sorted(project for project in desired if project in ours or project not in present)
    await _note_projects(tx, actor, user, before, after)


async def _note_projects(
    tx: AsyncSession, actor: Actor, user: User, before: dict[ProjectId, str], after: dict[ProjectId, str]
) -> None:
    # not narrowed: the provider's mapping determines the projects, and nothing is displayed
    projects = await tx.execute(select(Project).where(Project.id.in_([*before, *after])).order_by(Project.id))
    for project in projects.scalars():
        details = {
            moment: {user.email: offices[project.id]}
            for moment, offices in (("before", before), ("after", after))
            if project.id in offices
        }
        audit.record(
            tx,
            actor,
            "project.enrol",
            project.id,
            name=project.name,
            target=project_target(project),
            details=details,
        )
        data = {"id": project.id, "name": project.name, "archived": project.archived_at is not None}
        await events.record(tx, "project.updated", project.id, target=project_target(project), data=data)


async def _apply_role(
    tx: AsyncSession, actor: Actor, user: User, identity: ExternalIdentity, role: Role
) -> None:
    """Grant the role, or revoke one granted by groups; a manually granted role is not lowered."""
    lower = outranks(user.role, role)
    if role == user.role or (lower and identity.role != user.role):
        return
    if is_superadmin(user.role) and not await superadmin_left(tx, without=User.id == user.id):
        return  # nobody would be left to administer the installation
    before, user.role = user.role, role
    identity.role = role if is_administrator(role) else None
    await _note_user(tx, actor, user, before={"role": before}, after={"role": role})


async def _note_user(tx: AsyncSession, actor: Actor, user: User, **details: object) -> None:
    target = user_target(user)
    audit.record(tx, actor, "user.update", user.id, name=user.email, target=target, details=details)
    await events.record(tx, "user.updated", user.id, target=target, data=user_data(user))


def _office(admin: bool) -> str:
    return "administrator" if admin else "member"


def _is_email(text: str) -> bool:
    try:
        _EMAIL.validate_python(text)
    except ValidationError:
        return False
    return True


def _name(text: str) -> str:
    """A valid display name: one line, limited in length."""
    line = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(line.split())[:_LONGEST_NAME].strip()
