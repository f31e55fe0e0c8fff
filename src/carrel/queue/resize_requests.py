"""Change the CPU and memory of a running session: the request, and whether its node and its limits have room."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.clock import Clock
from carrel.core.errors import Conflict, Refused
from carrel.core.ids import NodeId, SessionId
from carrel.core.units import Slots, format_size
from carrel.engines.optional import LIVE_LIMITS
from carrel.environments import session_images as environments
from carrel.images import service as images
from carrel.limits.scopes import scopes_of
from carrel.permissions.decide import Actor
from carrel.queue import loading
from carrel.scheduling.plan import plan
from carrel.scheduling.snapshot import SESSIONS, PendingSession
from carrel.sessions import containers, queries, resizing, resolution, service, startup
from carrel.sessions.spec import SessionSpec
from carrel.tables.nodes import Node
from carrel.tables.session_states import ContainerState, SessionState
from carrel.tables.sessions import Container, Session
from carrel.tables.usage import Sample

_ITSELF = SessionId("resize")
"""Placeholder id of what a session is to have in addition."""
_RECENT = timedelta(minutes=1)


async def request(
    tx: AsyncSession, clock: Clock, actor: Actor, ref: str, name: str | None, slots: Mapping[str, int]
) -> SessionId:
    """Request other amounts of CPU and memory for a running container; the leader changes them. name: of the
    container; None: the main one.

    Raises: Conflict if it does not run or uses more memory; Refused if there is no room.
    """
    session = await service.find(tx, actor, ref, "session.update")
    runs = await queries.lock(tx, session.id, SessionState.RUNNING)
    container = await containers.named(tx, session, name)
    if not runs or container.state != ContainerState.RUNNING or container.node_id is None:
        raise Conflict(
            "session.not_running",
            f"{session.name} does not run; only a running session can be resized.",
            details={"state": session.state},
        )
    new = {**container.slots, **slots}
    if new == container.slots and container.resize is None:
        return session.id
    await _require_able(tx, container.node_id)
    await _require_enough(tx, clock.now(), session, container, new)
    missing = {slot: amount - container.slots[slot] for slot, amount in new.items()}
    missing = {slot: amount for slot, amount in missing.items() if amount > 0}
    if reason := await refusal(tx, session.id, container.node_id, missing, clock.now()):
        raise Refused(
            "session.no_room_to_grow", reason, hint="Request less, or try again later.", field="slots"
        )
    await resizing.request(tx, container, new)
    before = {slot: container.slots[slot] for slot in slots}
    details = {"before": {"slots": before}, "after": {"slots": dict(slots)}, "container": container.name}
    service.note(tx, actor, "session.update", session, details=details)
    return session.id


async def refusal(
    tx: AsyncSession, session: SessionId, node: NodeId, missing: Slots, now: datetime
) -> str | None:
    """Why the node, or a limit of the session, has no room for this in addition; None if there is room."""
    if not missing:
        return None
    row = await tx.get_one(Session, session)
    path = (row.domain_id, row.project_id, row.owner_id)
    more = PendingSession(
        _ITSELF,
        missing,
        now,
        group=row.group_id,
        path=path,
        scopes=scopes_of(row.access_key, path),
        node=node,
    )
    snapshot = await loading.snapshot(tx, now, [more])
    # It is no further session.
    scopes = {
        key: replace(scope, ceiling={slot: most for slot, most in scope.ceiling.items() if slot != SESSIONS})
        for key, scope in snapshot.scopes.items()
    }
    refusals = plan(replace(snapshot, scopes=scopes)).refusals
    return refusals[0].reason if refusals else None


async def _require_able(tx: AsyncSession, node: NodeId) -> None:
    if LIVE_LIMITS not in (await tx.get_one(Node, node)).capabilities:
        raise Refused(
            "session.cannot_resize",
            "The engine of its node cannot change the limits of running sessions.",
            hint="Start another session with more.",
            details={"needed": LIVE_LIMITS},
        )


async def _require_enough(
    tx: AsyncSession, now: datetime, session: Session, container: Container, slots: Slots
) -> None:
    """Check that the amounts suffice for the image, /dev/shm, and the memory in use. Raises: Conflict, Invalid."""
    image = None
    if session.image_name:
        image = await images.find(
            tx, session.image_name, domain=session.domain_id, projects=[session.project_id]
        )
        image = image or await environments.of_reference(tx, session.image)
    if too_few := resolution.too_few_for(image, slots):
        raise too_few
    spec = (await tx.execute(select(Session.spec).where(Session.id == session.id))).scalar_one()
    own = SessionSpec.from_json(spec).container_requests[container.index]
    startup.require_shared_memory(own.shm_bytes, slots["mem"])
    recent = select(func.max(Sample.mem_bytes)).where(
        Sample.container_id == container.id, Sample.at > now - _RECENT
    )
    used = (await tx.execute(recent)).scalar()
    if used is not None and slots["mem"] < used:
        raise Conflict(
            "session.memory_in_use",
            f"It uses {format_size(used)} of memory now, more than it would have.",
            hint="Free memory first, or request more.",
            field="slots.mem",
            details={"used": used},
        )
