"""Use cases that continue a session: restart it in place, extend its time limit, start it again."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import undefer

from carrel.core.clock import Clock
from carrel.core.errors import Conflict, Invalid
from carrel.core.ids import DEFAULT_GROUP, SessionId
from carrel.core.units import Slots
from carrel.db.database import Database
from carrel.engines.references import with_digest
from carrel.images import service as images
from carrel.limits.scopes import policy_of
from carrel.permissions.decide import Actor
from carrel.sessions import admission, containers, queries, service, transitions, updates
from carrel.sessions.spec import SessionSpec
from carrel.tables.groups import ResourceGroup
from carrel.tables.session_states import LIFECYCLE, SessionKind, SessionState
from carrel.tables.sessions import IS_LIVE, Container, Session


async def restart(tx: AsyncSession, clock: Clock, actor: Actor, ref: str) -> SessionId:
    """Restart a running interactive session in place, with new containers of the same definition on the same nodes.

    It keeps its slots and folders; files outside of these are lost. Raises: Conflict if it does not run.
    """
    session = await service.find(tx, actor, ref, "session.restart")
    if session.kind != SessionKind.INTERACTIVE:
        raise Conflict(
            "session.not_interactive",
            f"{session.name} is a batch session, whose command must not run twice.",
            hint="Start it again as another session.",
        )
    moved = await transitions.move(
        tx,
        [session.id],
        SessionState.TERMINATING,
        sources=[SessionState.RUNNING],
        outcome=SessionState.SCHEDULED,
        cause="restart",
        reason=f"Restarted by {actor.email}.",
        actor=actor.user_id,
        now=clock.now(),
    )
    if not moved:
        raise Conflict(
            "session.not_running",
            f"{session.name} is {session.state}; only a running session can be restarted.",
            details={"state": session.state},
        )
    service.note(tx, actor, "session.restart", session, details={})
    return session.id


async def place_again(tx: AsyncSession, clock: Clock, session: SessionId) -> None:
    """Record that all containers of a session that restarts are removed. No-op if it is to end meanwhile."""
    statement = select(Session.reason).where(
        Session.id == session,
        Session.state == SessionState.TERMINATING,
        Session.outcome == SessionState.SCHEDULED,
    )
    if row := (await tx.execute(statement.with_for_update())).first():
        await transitions.move(
            tx,
            [session],
            SessionState.SCHEDULED,
            sources=[SessionState.TERMINATING],
            cause="restart",
            reason=row.reason,
            now=clock.now(),
        )


async def extend(tx: AsyncSession, clock: Clock, actor: Actor, ref: str, limit_s: int) -> SessionId:
    """Set a longer time limit of a live session, within the actor's policy. Restarts count. Twice: no-op.

    Raises: Conflict if it ends or has none; Invalid if it is shorter, or longer than allowed.
    """
    session = await service.find(tx, actor, ref, "session.update")
    await queries.lock(tx, session.id)
    await tx.refresh(session, ["state", "outcome", "time_limit_s"])
    # One that restarts or is requeued terminates first, and goes on.
    if LIFECYCLE.final & {session.state, session.outcome}:
        raise Conflict("session.ended", f"{session.name} has ended and cannot be extended.")
    before = session.time_limit_s
    if before is None:
        raise Conflict("session.no_time_limit", f"{session.name} has no time limit.")
    if limit_s < before:
        raise Invalid(
            "session.not_longer",
            f"The time limit of {session.name} is {before} s already.",
            hint="Give a longer one.",
            field="time_limit_s",
            details={"least": before},
        )
    admission.time_limit(limit_s, await policy_of(tx, actor))
    if limit_s == before:
        return session.id
    reason = f"Its time limit is {timedelta(seconds=limit_s)} now."
    await updates.extend(tx, session.id, limit_s, reason=reason, actor=actor.user_id, now=clock.now())
    details = {"before": {"time_limit_s": before}, "after": {"time_limit_s": limit_s}}
    service.note(tx, actor, "session.update", session, details=details)
    return session.id


async def again(
    database: Database,
    clock: Clock,
    actor: Actor,
    ref: str,
    *,
    exact_image: bool = False,
    idempotency_key: str | None,
) -> SessionId:
    """Start one of the actor's sessions again: another session with its present definition, and its name if it is free.
    exact_image: by the digests of what it ran, whatever the tags mean now.

    Twice with the same idempotency key: the first one's id. Raises: as `service.enqueue`; Conflict for a digest that is
    not known.
    """
    async with database.transaction() as tx:
        session = await service.find(tx, actor, ref, "session.again")
        spec = await _definition(tx, actor, session.id)
        if exact_image:
            spec = _with_images(spec, await _images_of(tx, session))
    return await service.enqueue(
        database,
        clock,
        actor,
        spec,
        idempotency_key=idempotency_key,
        template=session.template,
        repeated=True,
    )


async def portable_definition(tx: AsyncSession, actor: Actor, session: Session) -> SessionSpec:
    """The definition of a session for others to use: without its name, and without what its owner's policy set."""
    spec = await _definition(tx, actor, session.id)
    accepted = session.accepted_groups or [session.group_id]
    existing = await tx.execute(select(ResourceGroup).where(ResourceGroup.id.in_(accepted)))
    group, *others = sorted(existing.scalars(), key=lambda one: accepted.index(one.id))
    lifetime = (await policy_of(tx, actor)).lifetime_s
    return replace(
        spec,
        name=None,
        group=None if group.id == DEFAULT_GROUP and not others else group.name,
        alternative_groups=tuple([other.name for other in others]),
        priority=None,
        node=None,
        time_limit_s=None if spec.time_limit_s == lifetime else spec.time_limit_s,
        containers=1 if spec.roles else spec.containers,
    )


async def _definition(tx: AsyncSession, actor: Actor, session: SessionId) -> SessionSpec:
    """The stored spec with what was changed since: slots, and the time limit as far as the actor's policy allows it.
    Without an earliest start. That of a session of an array is the whole array.
    """
    statement = select(Session).where(Session.id == session).options(undefer(Session.spec))
    row = (await tx.execute(statement.execution_options(populate_existing=True))).scalar_one()
    name, holders = row.name, Session.name == row.name
    if row.array_id:
        name, holders = name.removesuffix(f"-{row.array_index}"), Session.array_id == row.array_id
    taken = await tx.execute(
        select(Session.id).where(Session.owner_id == actor.user_id, holders, IS_LIVE).limit(1)
    )
    named = row.image_name
    if named and not await images.find(tx, named, domain=actor.domain_id, projects=actor.projects):
        named = None
    sizes = select(Container.slots).where(Container.session_id == session).order_by(Container.index)
    most = (await policy_of(tx, actor)).lifetime_s
    limit = row.time_limit_s
    return replace(
        _resized(SessionSpec.from_json(row.spec), (await tx.execute(sizes)).scalars().all()),
        name=None if taken.first() else name,
        image=named or row.image,
        time_limit_s=min(limit, most) if limit and most else limit,
        start_at=None,
    )


async def _images_of(tx: AsyncSession, session: Session) -> Sequence[str]:
    """References with the digests of what its containers ran, the main one first. Raises: Conflict."""
    ran = await containers.of(tx, session.id)
    if any(one.image_digest is None for one in ran):
        raise Conflict(
            "session.image_not_pinned",
            f"The digest of an image of {session.name} is not known: it has not started, or no registry has the image.",
            hint="Start it again by the name of its image.",
        )
    return [with_digest(one.image, one.image_digest or "") for one in ran]


def _with_images(spec: SessionSpec, images: Sequence[str]) -> SessionSpec:
    """The spec with these images, one for each container."""
    left = iter(images)
    ran = {role.name: [next(left) for _ in range(role.count)] for role in spec.roles_in_order}
    shared = [ran[role.name][0] for role in spec.roles_in_order if not role.image]
    roles = [replace(role, image=ran[role.name][0]) if role.image else role for role in spec.roles]
    return replace(spec, image=shared[0] if shared else spec.image, roles=tuple(roles))


def _resized(spec: SessionSpec, sizes: Sequence[Slots]) -> SessionSpec:
    """The spec with the present slots of its containers, the main one first; as requested where containers of one role
    differ.
    """
    if not spec.roles:
        return spec if any(one != sizes[0] for one in sizes) else replace(spec, slots=sizes[0])
    left, roles = iter(sizes), []
    for role in spec.roles_in_order:
        own = [next(left) for _ in range(role.count)]
        alike = all(one == own[0] for one in own)
        roles.append(replace(role, slots=own[0]) if alike and own[0] != (role.slots or spec.slots) else role)
    return spec if roles == list(spec.roles_in_order) else replace(spec, roles=tuple(roles))
