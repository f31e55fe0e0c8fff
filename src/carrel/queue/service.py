"""Why a session is pending, and dry runs of requests, computed on the scheduler's own plan."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.clock import Clock
from carrel.core.ids import GroupId, NodeId
from carrel.environments import session_images as environments
from carrel.images import service as images
from carrel.nodes.groups import service as groups
from carrel.permissions.decide import Actor
from carrel.permissions.roles import sees_everything
from carrel.queue import loading
from carrel.queue.pull_costs import PullCost, pull_cost
from carrel.scheduling.awaiting import without_limit
from carrel.scheduling.changes import SuggestedChange, changes
from carrel.scheduling.forecast import forecast
from carrel.scheduling.plan import Planning
from carrel.scheduling.reasons import Blocked
from carrel.scheduling.snapshot import Awaited, Cause, PendingSession, Snapshot
from carrel.sessions import admission, dependencies, machines
from carrel.sessions import service as sessions
from carrel.sessions.dependencies import Dependency
from carrel.tables.images import Image
from carrel.tables.session_states import LAUNCHING, SessionState
from carrel.tables.sessions import Session

HORIZON = timedelta(days=30)


@dataclass(frozen=True)
class InQueue:
    """Why a session does not start in one of its groups. position: in its queue, which has `length` entries."""

    group: GroupId
    blockers: Sequence[Blocked]
    position: int
    length: int


@dataclass(frozen=True)
class Answer:
    """blockers, position, length: in the preferred group, as in `InQueue`. blockers empty: it starts now. no_estimate:
    why there is no expected start, if that is for the sessions that it waits for or for the length of the queue.
    queues: of all groups, the preferred first. starts_in: the group in which it starts now. starts_on: its nodes there.
    pull: of its image.
    """

    blockers: Sequence[Blocked]
    position: int | None
    length: int
    changes: Sequence[SuggestedChange]
    expected_start: datetime | None
    no_estimate: str = ""
    queues: Sequence[InQueue] = ()
    starts_in: GroupId | None = None
    starts_on: tuple[NodeId, ...] = ()
    pull: PullCost | None = None


async def why(tx: AsyncSession, clock: Clock, actor: Actor, ref: str) -> tuple[Session, Answer | None]:
    """Why a session is pending, or waits for a machine of its elastic group; None if it does neither.

    Raises: NotFound, Forbidden, Conflict when several match.
    """
    session, now = await sessions.find(tx, actor, ref), clock.now()
    if session.state in LAUNCHING:
        return session, await _machine(tx, session, now)
    if session.state != SessionState.PENDING:
        return session, None
    waiting = await loading.waiting(tx, now)
    one = next((one for one in waiting if one.id == session.id), None)
    if one is None:
        # It was placed or has ended since it was looked up.
        await tx.refresh(session)
        return session, None
    snapshot = await loading.snapshot(tx, now, waiting, running=True)
    offered = await _offered(tx, actor, session)
    listed = await images.find(tx, session.image, domain=session.domain_id, projects=[session.project_id])
    image = listed or await environments.of_reference(tx, session.image)
    least = least_of(image)
    after = await dependencies.of_session(tx, session.id) if one.after else ()
    # A plan takes milliseconds; several of them would block the event loop for too long.
    answer = await asyncio.to_thread(explain, snapshot, one, offered, least, after)
    return session, replace(answer, pull=await pull_cost(tx, snapshot, one, answer.starts_on))


async def _machine(tx: AsyncSession, session: Session, now: datetime) -> Answer | None:
    """Why a session that starts waits for a machine; None if it does not."""
    awaited = await machines.awaited_by(tx, session.id, session.group_id)
    if awaited is None or session.reason is None:
        return None
    expected = max(awaited.expected_at, now) if awaited.expected_at else None
    return Answer((Blocked(Cause.MACHINE, session.reason),), None, 0, (), expected)


async def _offered(tx: AsyncSession, actor: Actor, session: Session) -> list[GroupId]:
    """The groups in which its owner may request it, among those that the actor may see."""
    place = session.domain_id, session.project_id
    usable = [group.id for group in await admission.usable_groups(tx, session.owner_id, *place, session.kind)]
    if actor.user_id == session.owner_id or sees_everything(actor):
        return usable
    known = {group.id for group in await groups.usable(tx, actor.user_id, *place)}
    return [group for group in usable if group in known]


def explain(
    snapshot: Snapshot,
    one: PendingSession,
    usable: Iterable[GroupId] = (),
    least: Mapping[str, int] | None = None,
    after: Sequence[Dependency] = (),
) -> Answer:
    """Pure. one: a pending session of the snapshot. after: its dependencies."""
    planning = Planning(snapshot)
    decided = planning.run()
    lengths = Counter(refusal.group for refusal in decided.refusals)
    positions = {refusal.group: refusal.position for refusal in decided.refusals if refusal.session == one.id}
    if not positions:
        placed = next(each for each in decided.placements if each.session == one.id)
        return Answer(
            (),
            None,
            lengths[one.group],
            (),
            snapshot.now,
            starts_in=placed.group,
            starts_on=tuple(part.node for part in placed.parts),
        )
    expected = forecast(snapshot, {one.id}, HORIZON)
    start = expected.starts.get(one.id)
    if after and one.aside == dependencies.sentence(after):
        one = replace(one, aside=dependencies.sentence(after, progress=True))
    queues = [
        InQueue(group, planning.blockers(one.in_group(group)), positions[group], lengths[group])
        for group in one.groups
    ]
    return Answer(
        queues[0].blockers,
        queues[0].position,
        queues[0].length,
        () if one.aside else changes(snapshot, one, groups=usable, least=least),
        start,
        "" if start else _no_estimate(snapshot, one, after, complete=expected.complete),
        queues,
    )


def _no_estimate(
    snapshot: Snapshot, one: PendingSession, after: Sequence[Dependency], *, complete: bool
) -> str:
    """The sentence, if one of those before it has no time limit, or the queue is too long."""
    endless = without_limit(snapshot, one)
    if endless is None:
        return "" if complete else "There is no estimate, because the queue is too long."
    key, itself = endless
    name = next((each.name for each in after if Awaited(each.id, each.array is not None) == key), key.id)
    if itself:
        return f"There is no estimate, because {name} has no time limit."
    return f"There is no estimate, because {name} waits for a session without a time limit."


def least_of(image: Image | None) -> Mapping[str, int]:
    """The minimum slots of a session with this image. None: not in the catalogue."""
    return image.least_slots if image else images.DEFAULT_MIN_SLOTS
