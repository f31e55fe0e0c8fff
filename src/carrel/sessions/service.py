"""Use cases of sessions. Each starts with an authorization check."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Conflict, Invalid, NotFound
from carrel.core.ids import NodeId, ProjectId, SessionId, new_id
from carrel.db.database import Database
from carrel.engines.references import digest_of
from carrel.events import service as events
from carrel.limits.scopes import policy_of
from carrel.nodes.groups import service as groups
from carrel.permissions.decide import Actor, Target, allows, refusal, require, within
from carrel.sessions import (
    admission,
    arrays,
    containers,
    dependencies,
    mounting,
    queries,
    removal,
    resolution,
    startup,
    transitions,
    updates,
)
from carrel.sessions.admission import AdmittedSpec
from carrel.sessions.names import generated_name
from carrel.sessions.spec import SessionSpec
from carrel.sessions.visibility import SHARED_ACTIONS, audience_as_text, shared_as
from carrel.tables.images import Image
from carrel.tables.session_shares import AccessLevel
from carrel.tables.session_states import (
    LIFECYCLE,
    Rights,
    SessionKind,
    SessionState,
)
from carrel.tables.sessions import Session
from carrel.tables.tenancy import User

GRACE_S = 10
"""Unless a session requests another."""


async def enqueue(
    database: Database,
    clock: Clock,
    actor: Actor,
    spec: SessionSpec,
    *,
    replaces: str | None = None,
    idempotency_key: str | None = None,
    template: Mapping[str, Any] | None = None,
    repeated: bool = False,
) -> SessionId:
    """Create a PENDING session with its event and audit entry, in one transaction.

    replaces: a pending session to cancel in the same transaction; the new one takes its name unless the spec has one,
    and its place for the sessions that are to start after it. template: as `Session.template` has it.
    repeated: the spec is an earlier one, so leave out those of its resource groups that the actor cannot use any more.
    Twice with the same idempotency key: the first one's id.
    Raises: Forbidden, Invalid, Conflict (name taken; replaces is not pending), Refused (can never start).
    """
    try:
        async with database.transaction() as tx:
            return await create(
                tx,
                clock,
                actor,
                spec,
                replaces=replaces,
                key=idempotency_key,
                template=template,
                repeated=repeated,
            )
    except IntegrityError as error:
        # Two unique indexes can fail: the idempotency key (a concurrent retry), or the name.
        if idempotency_key:
            async with database.transaction() as tx:
                first = await queries.by_idempotency_key(tx, actor.user_id, idempotency_key)
            if first:
                return first
        if "name_live" not in str(error.orig):
            raise
        if spec.name:
            raise _name_taken(arrays.display_name(spec.name, spec.array)) from None
    # The generated name was taken.
    return await enqueue(
        database,
        clock,
        actor,
        spec,
        replaces=replaces,
        idempotency_key=idempotency_key,
        template=template,
        repeated=repeated,
    )


def _name_taken(name: str) -> Conflict:
    return Conflict(
        "session.name_taken",
        f"You already have a session named {name}.",
        hint="Choose another name, or terminate that session first.",
        field="name",
    )


async def create(
    tx: AsyncSession,
    clock: Clock,
    actor: Actor,
    spec: SessionSpec,
    *,
    replaces: str | None = None,
    key: str | None = None,
    template: Mapping[str, Any] | None = None,
    repeated: bool = False,
) -> SessionId:
    """As `enqueue`, in a transaction of the caller. Raises: IntegrityError too, when the name is taken."""
    if key:
        first = await queries.by_idempotency_key(tx, actor.user_id, key)
        if first:
            return first
    former = await _cancel_replaced(tx, clock, actor, replaces) if replaces else None
    if former:
        spec = replace(spec, name=spec.name or former.name)
    project = await resolution.project_of(tx, actor, spec.project)
    require(
        actor,
        "session.create",
        Target(actor.user_id, project, actor.domain_id),
        read="session.create",
        missing=NotFound("project.not_found", f"You are not a member of a project {spec.project}."),
    )
    require_command(spec)
    arrays.require_possible(spec)
    startup.require(spec)
    spec = startup.preferred(spec, (await tx.get_one(User, actor.user_id)).preferences)
    image = await resolution.image_of(tx, actor, project, spec.image, spec.slots)
    spec, only_in = await resolution.with_role_images(tx, actor, project, image, spec)
    replaced = former.id if former else None
    admitted = await admission.admit(
        tx, actor, project, image, spec, only_in=only_in, replaced=replaced, repeated=repeated
    )
    mounts = await mounting.plan(tx, actor, spec.mounts)
    # They have no foreign keys, which would lock them.
    if admitted.accepted_groups:
        await groups.keep(tx, admitted.accepted_groups)
    session = _row(actor, project, admitted, image, key, clock.now())
    session.template = dict(template) if template else None
    ids = await arrays.begin(tx, session, spec.array)
    tx.add(session)
    await tx.flush()
    pins = await resolution.image_pins(tx, actor.domain_id, project, admitted.spec)
    tx.add_all(containers.make(session.id, admitted.spec, pins))
    dependencies.add(tx, session.id, admitted.after)
    await tx.flush()
    if replaced:
        await dependencies.inherit(tx, replaced, session.id, array=bool(spec.array))
    await updates.announce_created(tx, [session.id], actor=actor.user_id)
    await mounting.hold(tx, session, mounts, clock.now())
    after: dict[str, object] = {"image": session.image, "slots": dict(spec.slots)}
    if admitted.spec.containers > 1:
        after["containers"] = [one.host for one in admitted.spec.container_requests]
    if spec.array:
        await arrays.complete(tx, session, ids, containers=admitted.spec.containers, actor=actor.user_id)
        after["array"] = asdict(spec.array)
    if mounts.mounts:
        after["mounts"] = [{"folder": one.folder.name, "path": one.path} for one in mounts.mounts]
    if template:
        after["template"] = f"{template['name']}, revision {template['revision']}"
    if spec.rights == Rights.ROOT:
        after["rights"] = spec.rights
    if spec.disk_bytes:
        after["disk_bytes"] = spec.disk_bytes
    note(tx, actor, "session.create", session, details={"after": after})
    return session.id


def require_command(spec: SessionSpec) -> None:
    """Only a batch session has a command, and it needs one; sub containers of others may have one as well.

    Raises: Invalid.
    """
    command = spec.container_requests[0].command
    if spec.kind == SessionKind.BATCH and not any(command[:1]):
        raise Invalid(
            "session.no_command",
            "A batch session needs a command.",
            hint='Give the program and its arguments, such as ["python", "train.py"].',
            field="command",
        )
    if spec.kind == SessionKind.INTERACTIVE and (command or spec.retries):
        raise Invalid(
            "session.not_batch",
            "Only a batch session has a command and retries.",
            hint="Set kind to batch, or leave these out.",
            field="command" if command else "retries",
        )


def _row(
    actor: Actor,
    project: ProjectId,
    admitted: AdmittedSpec,
    image: Image | None,
    key: str | None,
    now: datetime,
) -> Session:
    spec = admitted.spec
    return Session(
        id=SessionId(new_id()),
        name=spec.name or generated_name(),
        owner_id=actor.user_id,
        project_id=project,
        domain_id=actor.domain_id,
        group_id=admitted.group.id,
        accepted_groups=admitted.accepted_groups,
        access_key=admitted.access_key,
        priority=admitted.priority,
        kind=spec.kind,
        retries_left=spec.retries,
        stop_signal=spec.stop_signal or "SIGTERM",
        grace_s=GRACE_S if spec.grace_s is None else spec.grace_s,
        not_before=spec.start_at,
        reason=admission.not_before(spec.start_at) if spec.start_at else None,
        time_limit_s=spec.time_limit_s,
        wanted_node=NodeId(spec.node) if spec.node else None,
        image=spec.image,
        # A digest is kept: the name may mean something else the next time.
        image_name=image.name if image and not image.registry_id and not digest_of(image.reference) else None,
        apps=image.apps if image else [],
        slots=dict(spec.sizes[0]),
        mixed=bool(spec.mixed),
        placement=spec.placement,
        topology=spec.topology,
        on_failure=spec.on_failure,
        rights=spec.rights,
        disk_limit_bytes=admitted.disk_limit_bytes,
        spec=spec.to_json(),
        idempotency_key=key,
        created_at=now,
    )


async def find(tx: AsyncSession, actor: Actor, ref: str, action: str = "session.read") -> Session:
    """The session with this id, unique id prefix or name, not locked.

    Raises: NotFound (also if the actor may not see it), Forbidden, Conflict if several match.
    """
    session = await queries.resolve(tx, actor, ref)
    if is_by_share(actor, session, action):
        await _require_share(tx, actor, session, action, missing=queries.not_found(ref))
    return session


def is_by_share(actor: Actor, session: Session, action: str) -> bool:
    """True if neither ownership nor a role permits the actor to do this."""
    return not allows(actor, action, _target(session))


async def _require_share(
    tx: AsyncSession, actor: Actor, session: Session, action: str, *, missing: NotFound
) -> None:
    """Raises: NotFound, Forbidden."""
    level = await shared_as(tx, actor, session.id)
    if not level or not within(actor.scopes, "session.read"):
        require(actor, action, _target(session), read="session.read", missing=missing)
    least = SHARED_ACTIONS.get(action)
    if not least or (least, level) == (AccessLevel.USE, AccessLevel.LOOK) or not within(actor.scopes, action):
        raise refusal(actor, action)


async def find_any(
    tx: AsyncSession, actor: Actor, ref: str, action: str = "session.read"
) -> tuple[Session, bool]:
    """As `find`; or the first session of the array with this name, and True."""
    try:
        return await find(tx, actor, ref, action), False
    except NotFound:
        first = await queries.first_of_array(tx, actor, ref)
        if first is None:
            raise
        return await find(tx, actor, first, action), True


def note(
    tx: AsyncSession, actor: Actor, action: str, session: Session, *, details: Mapping[str, object]
) -> None:
    """Add an audit entry for an action on, or in, the session."""
    audit.record(tx, actor, action, session.id, name=session.name, target=_target(session), details=details)


async def apps_changed(tx: AsyncSession, session: Session) -> None:
    """Publish that an app of the session begins to start, has started or failed, or was stopped, added or removed."""
    shared = text(f"SELECT {audience_as_text('s')} FROM sessions s WHERE s.id = :id")  # noqa: S608 - no input in it
    audience = (await tx.execute(shared, {"id": session.id})).scalar_one()
    data = {"id": session.id}
    await events.record(tx, "session.apps", session.id, target=_target(session), data=data, audience=audience)


def _target(session: Session) -> Target:
    return Target(session.owner_id, session.project_id, session.domain_id)


async def remove(
    tx: AsyncSession,
    clock: Clock,
    actor: Actor,
    ref: str,
    *,
    force: bool = False,
    array: bool = False,
    signal: str | None = None,
    grace_s: int | None = None,
) -> SessionId:
    """End a session: cancel it if it has not run, otherwise terminate it. Ended: no-op; terminating: only force has
    an effect.

    force: end it now; its containers are killed, and hold their slots until the engine confirms that they are gone.
    signal, grace_s: how its main processes are asked to end; None: as requested with the session.
    array, or ref is the name of an array: all sessions of the array.
    """
    session, whole = await find_any(tx, actor, ref, "session.remove")
    if array and not session.array_id:
        raise Invalid("session.no_array", f"{session.name} is not a session of an array.")
    # Without the lock one could change state between the two transitions below such that neither matches, and the
    # request would be lost.
    if whole or array:
        members = await arrays.lock_live(tx, session)
    else:
        members = [session.id] if await queries.lock(tx, session.id) else []
    now = clock.now()
    cause, reason = "user", f"Ended by {actor.email}."
    cancelled = await transitions.move(
        tx,
        members,
        SessionState.CANCELLED,
        sources=[SessionState.PENDING],
        cause=cause,
        reason=reason,
        actor=actor.user_id,
        now=now,
    )
    placed = [one for one in members if one not in set(cancelled)]
    if placed:
        await transitions.stop_by(tx, placed, signal, grace_s)
        await transitions.terminate(tx, placed, cause=cause, reason=reason, actor=actor.user_id, now=now)
        if force:
            await removal.abandon(tx, placed, actor, now)
    details: dict[str, object] = {"force": force}
    if whole or array:
        details["array"] = len(members)
    details |= {name: one for name, one in (("signal", signal), ("grace_s", grace_s)) if one is not None}
    note(tx, actor, "session.remove", session, details=details)
    return session.id


async def _cancel_replaced(tx: AsyncSession, clock: Clock, actor: Actor, ref: str) -> Session:
    session = await find(tx, actor, ref, "session.remove")
    cancelled = await transitions.move(
        tx,
        [session.id],
        SessionState.CANCELLED,
        sources=[SessionState.PENDING],
        cause="user",
        reason=f"Replaced by {actor.email}.",
        actor=actor.user_id,
        now=clock.now(),
    )
    if not cancelled:
        raise Conflict(
            "session.not_waiting",
            f"{session.name} is no longer pending.",
            hint="Terminate it first, or start another one beside it.",
            field="replaces",
        )
    note(tx, actor, "session.remove", session, details={"force": False})
    return session


async def rename(database: Database, actor: Actor, ref: str, name: str) -> SessionId:
    """Rename a live session. Raises: Conflict when the name is taken or the session has ended."""
    try:
        async with database.transaction() as tx:
            session = await find(tx, actor, ref, "session.update")
            if session.state in LIFECYCLE.final:
                raise Conflict(
                    "session.ended", f"{session.name} has ended and cannot be renamed.", field="name"
                )
            before = session.name
            await updates.rename(tx, session.id, name)
            note(
                tx,
                actor,
                "session.update",
                session,
                details={"before": {"name": before}, "after": {"name": name}},
            )
            return session.id
    except IntegrityError:
        raise _name_taken(name) from None


async def prioritise(
    tx: AsyncSession, actor: Actor, ref: str, priority: int, *, array: bool = False
) -> SessionId:
    """Change the priority of a pending session. Raises: Conflict if it is not pending; Forbidden.

    array, or ref is the name of an array: of all pending sessions of the array.
    """
    session, whole = await find_any(tx, actor, ref, "session.update")
    if array and not session.array_id:
        raise Invalid("session.no_array", f"{session.name} is not a session of an array.")
    whole = whole or array
    if whole:
        pending = await arrays.lock_pending(tx, session)
    else:
        pending = [session.id] if await queries.lock(tx, session.id, SessionState.PENDING) else []
    if not pending:
        raise Conflict("session.not_waiting", f"{session.name} is no longer pending.", field="priority")
    most = (await policy_of(tx, actor)).max_priority
    admission.require_priority(actor, _target(session), priority, most)
    before = session.priority
    await updates.prioritise(tx, pending, priority)
    details: dict[str, object] = {"before": {"priority": before}, "after": {"priority": priority}}
    if whole:
        details["array"] = len(pending)
    note(tx, actor, "session.update", session, details=details)
    return session.id
