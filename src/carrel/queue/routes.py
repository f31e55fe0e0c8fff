"""Queries on the scheduler: why, check, queue and shares."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Response
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import Forbidden, NotFound
from carrel.core.units import format_slot
from carrel.http.auth import CurrentActor, names
from carrel.http.services import ServicesOf
from carrel.nodes import node_devices
from carrel.nodes.groups.schemas import GroupRef
from carrel.permissions.decide import Actor
from carrel.queue import check as checking
from carrel.queue import queue, resize_requests, service
from carrel.queue.schemas import (
    ChangeView,
    CheckRequest,
    CheckView,
    CheckWarning,
    DiskRangeView,
    GroupRoom,
    GroupWhyView,
    ImagePullCostView,
    LimitView,
    NodeCauseView,
    PresetRoom,
    QueueQuery,
    QueueView,
    ScopeRoom,
    SharesQuery,
    SharesView,
    SlotRoomView,
    Verdict,
    WhyView,
)
from carrel.queue.services import QueueServices
from carrel.scheduling.changes import Kind, SuggestedChange
from carrel.scheduling.estimate import StartEstimate
from carrel.scheduling.reasons import Blocked
from carrel.sessions import service as sessions
from carrel.sessions import session_json, topology
from carrel.sessions.routes import Ref
from carrel.sessions.schemas import SessionDetail, SessionResize
from carrel.sessions.spec import SessionSpec
from carrel.tables.groups import ResourceGroup
from carrel.tables.session_states import Rights, SessionState
from carrel.tables.sessions import Session
from carrel.tables.tenancy import Project
from carrel.tenancy.schemas import ProjectRef

router = APIRouter(tags=["scheduler"])


@router.get(
    "/sessions/{ref}/why",
    operation_id="sessions.why",
    summary="Explain why a session is pending",
    openapi_extra=names("session.read"),
)
async def why(services: ServicesOf[QueueServices], actor: CurrentActor, ref: Ref) -> WhyView:
    """Why a session is pending, what would start it now, and its expected start if known."""
    async with services.database.transaction() as tx:
        session, answer = await service.why(tx, services.clock, actor, ref)
        group = await tx.get_one(ResourceGroup, session.group_id)
        alternatives = await _alternatives(tx, answer)
        changed = await _changes(tx, actor, answer)
    blockers = answer.blockers if answer else ()
    return WhyView(
        session=session.id,
        waiting=answer is not None or session.state == SessionState.PENDING,
        group=_group(group),
        position=answer.position if answer else None,
        queue_length=answer.length if answer else 0,
        cause=blockers[0].cause if blockers else None,
        reason=_reason(session, answer),
        also=[one.sentence for one in blockers[1:]],
        limits=_limits(blockers),
        nodes=_nodes(blockers),
        alternatives=alternatives,
        changes=changed,
        expected_start=answer.expected_start if answer else None,
        no_estimate=answer.no_estimate if answer else "",
        image_pull=_pull(answer),
    )


@router.post(
    "/sessions/{ref}/resize",
    operation_id="sessions.resize",
    summary="Change the CPU and memory of a running session",
    openapi_extra=names("session.update"),
    status_code=202,
    response_model=SessionDetail,
)
async def resize_session(
    services: ServicesOf[QueueServices], actor: CurrentActor, ref: Ref, body: SessionResize
) -> Response:
    """Change the CPU and memory of a running container, where its engine can, within your limits and what its node has
    free. The change is made within seconds: `resize` of the container is null then, and its slots are the new ones
    unless the history says why not.
    """
    slots = {slot: amount for slot, amount in (("cpu", body.cpu), ("mem", body.mem)) if amount is not None}
    async with services.database.transaction() as tx:
        session = await resize_requests.request(tx, services.clock, actor, ref, body.container, slots)
    async with services.database.transaction() as tx:
        detail = await session_json.detail(tx, services.seal, actor, session)
    return Response(detail, status_code=202, media_type="application/json")


@router.post(
    "/sessions/check",
    operation_id="sessions.check",
    summary="Check a session request without creating it",
    openapi_extra=names("session.create"),
)
async def check(services: ServicesOf[QueueServices], actor: CurrentActor, body: CheckRequest) -> CheckView:
    """The result of creating such a session and your remaining capacity, without creating it."""
    spec = SessionSpec(**{**vars(body), "image": body.image or ""})
    async with services.database.transaction() as tx:
        result = await checking.check(tx, services.clock, actor, spec)
        project = await tx.get_one(Project, result.project)
        answer = result.answer
        alternatives = await _alternatives(tx, answer)
        changed = await _changes(tx, actor, answer)
        device_mem_bytes = await node_devices.mem_bytes(tx, result.group.id)
    blockers = answer.blockers if answer else ()
    return CheckView(
        verdict=Verdict.NEVER if result.refused else Verdict.WAITS if blockers else Verdict.STARTS,
        reason=result.refused.message if result.refused else blockers[0].sentence if blockers else "",
        code=result.refused.code if result.refused else "",
        field=result.refused.field if result.refused else None,
        group=_group(result.group),
        starts_in=_group(result.starts_in) if result.starts_in else None,
        project=ProjectRef(id=project.id, name=project.name),
        position=answer.position if answer else None,
        limits=_limits(blockers),
        nodes=_nodes(blockers),
        alternatives=alternatives,
        changes=changed,
        expected_start=answer.expected_start if answer else None,
        no_estimate=answer.no_estimate if answer else "",
        image_pull=_pull(answer),
        slots={
            slot: SlotRoomView.model_validate(room, from_attributes=True)
            for slot, room in result.slots.items()
        },
        device_mem_bytes=device_mem_bytes,
        scopes=[
            ScopeRoom(scope=key, label=one.label, ceiling=dict(one.ceiling), used=dict(one.used))
            for key, one in result.scopes.items()
        ],
        groups=[
            GroupRoom(
                id=one.id,
                name=one.name,
                topology=[topology.NODE, *one.topology],
                verdict=_verdict(estimate),
                reason=estimate.reason,
            )
            for one, estimate in result.groups
        ],
        presets=[
            PresetRoom(
                id=one.id, name=one.name, slots=one.slots, verdict=_verdict(estimate), reason=estimate.reason
            )
            for one, estimate in result.presets
        ],
        most_rights=Rights.PLAIN if result.root_refused else Rights.ROOT,
        root_refused=result.root_refused.message if result.root_refused else "",
        disk=DiskRangeView.model_validate(result.disk, from_attributes=True),
        warnings=[CheckWarning.model_validate(one, from_attributes=True) for one in result.warnings],
    )


@router.get(
    "/scheduler/queue",
    operation_id="scheduler.queue",
    summary="Show the queue of a resource group",
    openapi_extra=names("queue.read"),
)
async def show_queue(
    services: ServicesOf[QueueServices], actor: CurrentActor, query: Annotated[QueueQuery, Query()]
) -> QueueView:
    """The pending sessions of a resource group in queue order. Sessions that you may not see are anonymous."""
    planned = await services.plans.latest()
    async with services.database.transaction() as tx:
        return await queue.queue(tx, actor, query, planned)


@router.get(
    "/scheduler/shares",
    operation_id="scheduler.shares",
    summary="Show fair shares of a resource group",
    openapi_extra=names("share.read"),
)
async def show_shares(
    services: ServicesOf[QueueServices], actor: CurrentActor, query: Annotated[SharesQuery, Query()]
) -> SharesView:
    """Current and past usage of a resource group per domain, project and user, with their entitled shares."""
    async with services.database.transaction() as tx:
        return await queue.shares(tx, services.clock, actor, query.group)


def _group(group: ResourceGroup) -> GroupRef:
    return GroupRef(id=group.id, name=group.name)


def _verdict(estimate: StartEstimate) -> Verdict:
    return Verdict.STARTS if estimate.starts else Verdict.NEVER if estimate.never else Verdict.WAITS


def _reason(session: Session, answer: service.Answer | None) -> str:
    if answer is None:
        return f"It is not pending: it is {session.state}."
    return (
        answer.blockers[0].sentence
        if answer.blockers
        else "There is free capacity: it starts in the next scheduling cycle."
    )


def _pull(answer: service.Answer | None) -> ImagePullCostView | None:
    cost = answer.pull if answer else None
    return None if cost is None else ImagePullCostView.model_validate(cost, from_attributes=True)


def _limits(blockers: Sequence[Blocked]) -> list[LimitView]:
    return [LimitView.model_validate(limit, from_attributes=True) for one in blockers for limit in one.limits]


def _nodes(blockers: Sequence[Blocked]) -> list[NodeCauseView]:
    return [
        NodeCauseView.model_validate(cause, from_attributes=True) for one in blockers for cause in one.nodes
    ]


async def _alternatives(tx: AsyncSession, answer: service.Answer | None) -> list[GroupWhyView]:
    """Why it does not start in the groups besides the preferred one."""
    return [
        GroupWhyView(
            group=_group(await tx.get_one(ResourceGroup, one.group)),
            position=one.position,
            queue_length=one.length,
            cause=one.blockers[0].cause,
            reason=one.blockers[0].sentence,
            also=[blocked.sentence for blocked in one.blockers[1:]],
            limits=_limits(one.blockers),
            nodes=_nodes(one.blockers),
        )
        for one in (answer.queues[1:] if answer else ())
    ]


async def _changes(tx: AsyncSession, actor: Actor, answer: service.Answer | None) -> list[ChangeView]:
    """The changes that the actor may make; they may see only some sessions of other users."""
    changes = []
    for change in answer.changes if answer else ():
        try:
            others = [await sessions.find(tx, actor, other, "session.remove") for other in change.sessions]
        except (NotFound, Forbidden):
            continue
        changes.append(await _change(tx, actor, change, others))
    return changes


async def _change(
    tx: AsyncSession, actor: Actor, change: SuggestedChange, others: Sequence[Session]
) -> ChangeView:
    """The change as a sentence, and as a command if there is one. others: sessions of one owner to end."""
    group = await tx.get_one(ResourceGroup, change.group) if change.group else None
    names = [other.name for other in others]
    amounts = ", ".join(format_slot(slot, amount) for slot, amount in sorted(change.slots.items()))
    match change.kind:
        case Kind.GROUP:
            text = f"Request it in {group.name if group else ''} instead."
        case Kind.ANY_NODE:
            text = "Allow any node."
        case Kind.SMALLER:
            text = f"Request {amounts} instead."
        case Kind.END_OWN:
            whose = "your" if others[0].owner_id == actor.user_id else "their"
            text = f"End {whose} session{'s' * (len(names) > 1)} {', '.join(names)}."
    return ChangeView(
        kind=change.kind,
        cost=change.cost,
        text=text,
        slots=dict(change.slots),
        group=_group(group) if group else None,
        sessions=list(change.sessions),
        command=f"carrel session rm {' '.join(names)}" if names else "",
    )
