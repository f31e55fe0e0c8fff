"""Use cases of environments. Each starts with an authorization check."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import func, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Conflict, Invalid, NotFound
from carrel.core.ids import EnvironmentId, EnvironmentVersionId, ShareId, UserId, new_id
from carrel.environments import environment_access as access
from carrel.environments import environment_events as recipients
from carrel.environments import environment_views as views
from carrel.environments import making
from carrel.environments.environment_access import find, target_of
from carrel.environments.schemas import (
    EnvironmentShareCreate,
    EnvironmentShareView,
    EnvironmentUpdate,
    EnvironmentView,
)
from carrel.permissions.decide import Actor
from carrel.tables.environments import (
    REPOSITORY,
    Environment,
    EnvironmentShare,
    EnvironmentVersion,
    VersionState,
)
from carrel.tables.session_states import LIFECYCLE
from carrel.tables.sessions import Container, Session, state_in
from carrel.tables.tenancy import Project, User
from carrel.tenancy.schemas import ProjectRef, UserRef
from carrel.tenancy.share_recipients import project_to_share_with, user_to_share_with

_AGAIN = (VersionState.FAILED, VersionState.CANCELLED)


async def update(
    tx: AsyncSession, clock: Clock, actor: Actor, ref: str, changes: EnvironmentUpdate
) -> EnvironmentView:
    """Change the given fields. Raises: NotFound, Forbidden; Conflict when the name is taken."""
    environment = await find(tx, actor, ref, "environment.update")
    after = changes.model_dump(exclude_none=True)
    if changes.default_version is not None:
        version = await access.version_of(tx, environment, changes.default_version)
        if version.state != VersionState.READY:
            raise Conflict(
                "environment.not_ready",
                f"Version {version.name} of {environment.name} is not ready.",
                field="default_version",
            )
    before = {field: getattr(environment, field) for field in after}
    for field, value in after.items():
        setattr(environment, field, value)
    environment.updated_at = clock.now()
    await flush(tx, environment.name)
    record(tx, actor, "environment.update", environment, {"before": before, "after": after})
    await recipients.changed(tx, "environment.updated", environment)
    return await views.show(tx, actor, environment.id)


async def note(
    tx: AsyncSession, clock: Clock, actor: Actor, ref: str, name: str, text: str
) -> EnvironmentView:
    """Change the note of a version. Raises: NotFound, Forbidden."""
    environment = await find(tx, actor, ref, "environment.update")
    version = await access.version_of(tx, environment, name)
    before, version.note = version.note, text
    environment.updated_at = clock.now()
    await tx.flush()
    details = {"version": version.name, "before": {"note": before}, "after": {"note": text}}
    record(tx, actor, "environment.update", environment, details)
    await recipients.changed(tx, "environment.updated", environment)
    return await views.show(tx, actor, environment.id)


async def remove(tx: AsyncSession, clock: Clock, actor: Actor, ref: str, version: str | None = None) -> None:
    """Delete a version, or the environment with all of them; images follow soon. With its last version, an
    environment is deleted.

    Raises: NotFound, Forbidden; Conflict while live sessions use it.
    """
    environment = await find(tx, actor, ref, "environment.remove")
    versions = await _versions(tx, environment)
    going = [one for one in versions if version in (None, one.name)]
    if version is not None and not going:
        await access.version_of(tx, environment, version)
    await _require_unused(tx, environment, going)
    if len(going) < len(versions):
        await _let_go(tx, environment, going, clock.now())
    else:
        await _let_go(tx, environment, versions, clock.now(), whole=True)
    record(tx, actor, "environment.remove", environment, {"version": version} if version else {})


async def _versions(tx: AsyncSession, environment: Environment) -> list[EnvironmentVersion]:
    table = EnvironmentVersion
    there = (table.environment_id == environment.id) & (table.state != VersionState.REMOVING)
    return list((await tx.execute(select(table).where(there).with_for_update())).scalars())


async def _let_go(
    tx: AsyncSession,
    environment: Environment,
    versions: Sequence[EnvironmentVersion],
    now: datetime,
    *,
    whole: bool = False,
) -> None:
    """Have the leader remove the images. whole: and the environment."""
    names = [one.name for one in versions]
    for one in versions:
        one.state, one.cancel, one.problem, one.progress = VersionState.REMOVING, True, None, None
        # Its name is free for another.
        one.name = f"-{one.id}"
    if environment.default_version in names:
        environment.default_version = None
    environment.updated_at = now
    environment.removed_at = now if whole else None
    await tx.flush()
    await recipients.changed(tx, "environment.removed" if whole else "environment.updated", environment)
    await making.wake(tx)


async def _require_unused(
    tx: AsyncSession, environment: Environment, versions: Sequence[EnvironmentVersion]
) -> None:
    users = (
        select(func.count(Session.id.distinct()))
        .join(Container, Container.session_id == Session.id)
        .where(state_in(LIFECYCLE.live), Container.image.in_([one.reference for one in versions]))
    )
    if count := (await tx.execute(users)).scalar_one():
        sessions = "1 live session uses it" if count == 1 else f"{count} live sessions use it"
        raise Conflict(
            "environment.in_use",
            f"{environment.name} cannot be deleted: {sessions}.",
            hint="End them first, or wait until they have ended.",
            details={"sessions": count},
        )


async def cancel(tx: AsyncSession, actor: Actor, ref: str, name: str) -> None:
    """Stop making a version. Twice, or when it is made: no-op. Raises: NotFound, Forbidden."""
    environment = await find(tx, actor, ref, "environment.update")
    version = await access.version_of(tx, environment, name)
    if version.state in (VersionState.WAITING, VersionState.RUNNING) and not version.cancel:
        version.cancel = True
        await tx.flush()
        record(tx, actor, "environment.update", environment, {"version": name, "cancel": True})
        await making.wake(tx)


async def shares(tx: AsyncSession, actor: Actor, ref: str) -> list[EnvironmentShareView]:
    """With whom it is shared, oldest first. Raises: NotFound, Forbidden."""
    environment = await find(tx, actor, ref, "environment.share")
    return await _shares(tx, environment)


async def share(
    tx: AsyncSession, clock: Clock, actor: Actor, ref: str, request: EnvironmentShareCreate
) -> EnvironmentShareView:
    """Share it with a user, or with the members of a project. Twice: no-op.

    Raises: NotFound, Forbidden, Invalid, Conflict.
    """
    environment = await find(tx, actor, ref, "environment.share")
    grant, recipient = await _recipient(tx, actor, environment, request)
    if grant.id is None:
        grant.id, grant.environment_id, grant.created_at = ShareId(new_id()), environment.id, clock.now()
        tx.add(grant)
        await tx.flush()
        record(tx, actor, "environment.share", environment, {"with": recipient, "after": {"shared": True}})
        await recipients.changed(tx, "environment.updated", environment)
    return next(one for one in await _shares(tx, environment) if one.id == grant.id)


async def revoke(tx: AsyncSession, actor: Actor, ref: str, share: str) -> None:
    """Stop sharing; sessions that run already are unaffected. share: its id, or the user or project.

    Raises: NotFound, Forbidden.
    """
    environment = await find(tx, actor, ref, "environment.share")
    named = or_(
        EnvironmentShare.id == share,
        EnvironmentShare.user_id == share,
        func.lower(User.email) == share.strip().lower(),
        EnvironmentShare.project_id == share,
        Project.name == share,
    )
    statement = (
        select(EnvironmentShare, func.coalesce(User.email, Project.name))
        .outerjoin(User, User.id == EnvironmentShare.user_id)
        .outerjoin(Project, Project.id == EnvironmentShare.project_id)
        .where(EnvironmentShare.environment_id == environment.id, named)
    )
    rows = (await tx.execute(statement)).all()
    if not rows:
        raise NotFound(
            "share.not_found",
            f"{environment.name} is not shared with {share}.",
            hint=f"See `carrel environment shares {environment.name}`.",
        )
    for grant, recipient in rows:
        await tx.delete(grant)
        await tx.flush()
        record(tx, actor, "environment.share", environment, {"with": recipient, "after": {"shared": False}})
        await recipients.changed(tx, "environment.updated", environment, also=grant)


async def _recipient(
    tx: AsyncSession, actor: Actor, environment: Environment, request: EnvironmentShareCreate
) -> tuple[EnvironmentShare, str]:
    """The share with the recipient, new or existing, and the recipient's name."""
    if (request.user is None) == (request.project is None):
        raise Invalid(
            "share.recipient",
            "An environment is shared with a user or with a project.",
            hint="Specify exactly one of them.",
        )
    domain, shared = environment.domain_id, environment.name
    if request.user is not None:
        person = await user_to_share_with(
            tx, request.user, domain=domain, owner=environment.owner_id, shared=shared, things="environments"
        )
        same, grant, name = (
            EnvironmentShare.user_id == person.id,
            EnvironmentShare(user_id=person.id),
            person.email,
        )
    else:
        project = await project_to_share_with(
            tx, actor, request.project or "", domain=domain, owner=environment.project_id, shared=shared
        )
        same, grant, name = (
            EnvironmentShare.project_id == project.id,
            EnvironmentShare(project_id=project.id),
            project.name,
        )
    existing = select(EnvironmentShare).where(EnvironmentShare.environment_id == environment.id, same)
    return (await tx.execute(existing)).scalar() or grant, name


async def _shares(tx: AsyncSession, environment: Environment) -> list[EnvironmentShareView]:
    rows = await tx.execute(
        select(EnvironmentShare, User, Project)
        .outerjoin(User, User.id == EnvironmentShare.user_id)
        .outerjoin(Project, Project.id == EnvironmentShare.project_id)
        .where(EnvironmentShare.environment_id == environment.id)
        .order_by(EnvironmentShare.created_at, EnvironmentShare.id)
    )
    return [
        EnvironmentShareView(
            id=one.id,
            user=UserRef(id=person.id, email=person.email) if person else None,
            project=ProjectRef(id=project.id, name=project.name) if project else None,
            created_at=one.created_at,
        )
        for one, person, project in rows
    ]


async def for_saving(
    tx: AsyncSession, actor: Actor, name: str, project: Project | None, now: datetime
) -> Environment:
    """The environment of that name of the actor or the project, new if there is none, locked."""
    owner = Environment.project_id == project.id if project else access.own(actor)
    statement = select(Environment).where(owner, Environment.name == name, access.IN_USE)
    environment = (await tx.execute(statement.with_for_update())).scalar()
    if environment is None:
        environment = Environment(
            id=EnvironmentId(new_id()),
            name=name,
            description="",
            owner_id=None if project else actor.user_id,
            project_id=project.id if project else None,
            domain_id=project.domain_id if project else actor.domain_id,
            created_by=actor.user_id,
            last_number=0,
            created_at=now,
            updated_at=now,
        )
        tx.add(environment)
        await flush(tx, name)
    return environment


async def add_version(
    tx: AsyncSession, environment: Environment, version: EnvironmentVersion, name: str | None
) -> EnvironmentVersion:
    """Give the version its name and reference, and have it made. One that was not made makes room for another.

    Raises: Conflict when the name is taken.
    """
    names = {
        one.name: one
        for one in (
            await tx.execute(
                select(EnvironmentVersion).where(EnvironmentVersion.environment_id == environment.id)
            )
        ).scalars()
    }
    if name is None:
        number = environment.last_number + 1
        while str(number) in names:
            number += 1
        environment.last_number, name = number, str(number)
    elif name in names and names[name].state in _AGAIN:
        await tx.delete(names[name])
        await tx.flush()
    elif name in names:
        raise Conflict(
            "environment.version_taken",
            f"{environment.name} already has a version {name}.",
            hint="Choose another one, or leave it out for the next number.",
            field="version",
        )
    version.id = EnvironmentVersionId(new_id())
    version.environment_id, version.name = environment.id, name
    version.reference = f"{REPOSITORY}/{version.id}:{name}"
    tx.add(version)
    await tx.flush()
    await recipients.changed(tx, "environment.updated", environment)
    await making.wake(tx)
    return version


async def flush(tx: AsyncSession, name: str) -> None:
    """Raises: Conflict when the name is taken."""
    try:
        await tx.flush()
    except IntegrityError as error:
        if "uq_environments" not in str(error.orig):
            raise
        raise Conflict(
            "environment.name_taken",
            f"There already is an environment named {name}.",
            hint="Choose another name.",
            field="name",
        ) from None


def record(
    tx: AsyncSession, actor: Actor, action: str, environment: Environment, details: Mapping[str, object]
) -> None:
    """Add an audit entry about the environment."""
    target = target_of(environment)
    audit.record(tx, actor, action, environment.id, name=environment.name, target=target, details=details)


async def remove_all_of(tx: AsyncSession, clock: Clock, user: UserId) -> None:
    """Delete the environments of a user who is deleted; images follow once no session uses them."""
    own = select(Environment).where(Environment.owner_id == user, access.IN_USE)
    for environment in (await tx.execute(own.with_for_update())).scalars().all():
        versions = await _versions(tx, environment)
        await _let_go(tx, environment, versions, clock.now(), whole=True)
