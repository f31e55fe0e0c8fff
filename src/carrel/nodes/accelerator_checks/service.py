"""Use cases of checks: request, cancel and list them, and put a device back without one."""

from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Conflict, NotFound
from carrel.core.ids import AcceleratorCheckId, NodeId, UserId, new_id
from carrel.db.database import notify
from carrel.events import service as events
from carrel.http import paging
from carrel.http.paging import Sort
from carrel.nodes import device_conditions, queries
from carrel.nodes.accelerator_checks import check_devices
from carrel.nodes.accelerator_checks.schemas import (
    AcceleratorCheckCreate,
    AcceleratorCheckList,
    AcceleratorCheckQuery,
    AcceleratorCheckView,
    CheckedNodeRef,
    DeviceResult,
    PutBack,
)
from carrel.permissions.decide import Actor, Target, require
from carrel.tables.accelerator_checks import TOPIC, AcceleratorCheck, CheckedOutcome, CheckState
from carrel.tables.nodes import Node, NodeState
from carrel.tables.tenancy import User
from carrel.tenancy.schemas import UserRef

_ACTION, _EVENT = "node.update", "accelerator_check.updated"
_SORT = Sort({"created_at": AcceleratorCheck.created_at}, tie=AcceleratorCheck.id, default="-created_at")
_KEPT = 50
"""Checks of each node."""


async def request(
    tx: AsyncSession, clock: Clock, actor: Actor, body: AcceleratorCheckCreate
) -> AcceleratorCheckView:
    """Request a check.

    Raises: Forbidden, NotFound; Conflict if the node is being checked, is not ready, or has nothing free to check.
    """
    require(actor, _ACTION, Target())
    node = await _node(tx, await queries.find(tx, actor, body.node))
    await _require_free(tx, node, body.device, clock.now())
    check = await add(tx, clock, node.id, device=body.device, image=body.image, requested_by=actor.user_id)
    if check is None:
        raise Conflict(
            "accelerator_check.running",
            f"The accelerators of {node.name} are being checked.",
            hint=f"See `carrel node accelerator-checks {node.name}`, or cancel it with `carrel node cancel-check`.",
        )
    _note(tx, actor, node, {"accelerator_check": "requested", "device": body.device})
    return await view(tx, check.id)


async def add(
    tx: AsyncSession,
    clock: Clock,
    node: NodeId,
    *,
    device: str | None,
    image: str | None = None,
    requested_by: UserId | None = None,
) -> AcceleratorCheck | None:
    """Add a check, and forget the oldest ones of the node. None: the node is being checked. requested_by: None: Carrel
    itself.
    """
    # Two requests at once: the second one waits here, and then finds the first.
    await tx.execute(select(Node.id).where(Node.id == node).with_for_update(key_share=True))
    mine = AcceleratorCheck.node_id == node
    if (await tx.execute(select(AcceleratorCheck.id).where(mine, check_devices.OPEN))).first():
        return None
    newest = select(AcceleratorCheck.id).where(mine).order_by(AcceleratorCheck.created_at.desc())
    await tx.execute(
        delete(AcceleratorCheck).where(mine, AcceleratorCheck.id.not_in(newest.limit(_KEPT - 1)))
    )
    check = AcceleratorCheck(
        id=AcceleratorCheckId(new_id()),
        node_id=node,
        device=device,
        image=image,
        requested_by=requested_by,
        state=CheckState.WAITING,
        created_at=clock.now(),
    )
    tx.add(check)
    await tx.flush()
    await notify(tx, TOPIC)
    await publish(tx, check)
    return check


async def cancel(tx: AsyncSession, actor: Actor, check_id: str) -> AcceleratorCheckView:
    """Cancel a check; its containers are removed, and then its devices are free. Twice: no-op.

    Raises: Forbidden, NotFound; Conflict if it has ended.
    """
    require(actor, _ACTION, Target())
    check = await _find(tx, check_id)
    if check.ended_at is not None:
        raise Conflict(
            "accelerator_check.ended", "This check has ended.", hint="See `carrel node accelerator-checks`."
        )
    check.cancel = True
    await tx.flush()
    _note(tx, actor, await _node(tx, check.node_id), {"accelerator_check": "cancelled"})
    await notify(tx, TOPIC)
    await publish(tx, check)
    return await view(tx, check.id)


async def show(tx: AsyncSession, actor: Actor, check_id: str) -> AcceleratorCheckView:
    """One check with its results. Raises: Forbidden, NotFound."""
    require(actor, _ACTION, Target())
    return await view(tx, (await _find(tx, check_id)).id)


async def page(tx: AsyncSession, actor: Actor, query: AcceleratorCheckQuery) -> AcceleratorCheckList:
    """The checks, the latest first. Raises: Forbidden, NotFound."""
    require(actor, _ACTION, Target())
    chosen = select(AcceleratorCheck, Node.name, User.email).join(Node, Node.id == AcceleratorCheck.node_id)
    chosen = chosen.outerjoin(User, User.id == AcceleratorCheck.requested_by)
    if query.node:
        chosen = chosen.where(AcceleratorCheck.node_id == await queries.find(tx, actor, query.node))
    rows = await paging.page(tx, chosen, _SORT, query)
    return AcceleratorCheckList(
        items=[_view(row.AcceleratorCheck, row.name, row.email) for row in rows.rows],
        next_cursor=rows.next_cursor,
    )


async def put_back(tx: AsyncSession, actor: Actor, ref: str, device: str) -> PutBack:
    """Offer a device again that has no problem any more, without a check of it. Twice: no-op.

    Raises: Forbidden, NotFound; Conflict if it still has a problem.
    """
    require(actor, _ACTION, Target())
    node = await _node(tx, await queries.find(tx, actor, ref))
    conditions = (await device_conditions.of_nodes(tx, [node.id])).get(node.id, {})
    if device not in conditions:
        raise _no_device(node, device)
    row = conditions[device].row
    if not row.healthy and row.cleared_at is None:
        raise Conflict(
            "device.unhealthy",
            f"{device} still has a problem: {row.problem}",
            hint="Reset or replace it first; it can be put back once its node reports it without a problem.",
        )
    await device_conditions.put_back(tx, node.id, [device])
    _note(tx, actor, node, {"put_back": device})
    return PutBack(node=CheckedNodeRef(id=node.id, name=node.name), device=device)


async def view(tx: AsyncSession, check: AcceleratorCheckId) -> AcceleratorCheckView:
    """One check that exists."""
    row = await tx.execute(
        select(AcceleratorCheck, Node.name, User.email)
        .join(Node, Node.id == AcceleratorCheck.node_id)
        .outerjoin(User, User.id == AcceleratorCheck.requested_by)
        .where(AcceleratorCheck.id == check)
        .execution_options(populate_existing=True)
    )
    return _view(*row.one())


async def publish(tx: AsyncSession, check: AcceleratorCheck) -> None:
    """Tell that a check has changed."""
    data = {"node": check.node_id, "state": check.state, "progress": check.progress, "step": check.step}
    await events.record(tx, _EVENT, check.id, target=Target(), data=data)


def _view(check: AcceleratorCheck, node: str, email: str | None) -> AcceleratorCheckView:
    results = [DeviceResult.model_validate(one) for one in check.results]
    fields = AcceleratorCheckView.model_fields.keys() - {"node", "requested_by", "outcome", "results"}
    return AcceleratorCheckView(
        **{name: getattr(check, name) for name in fields},
        node=CheckedNodeRef(id=check.node_id, name=node),
        requested_by=UserRef(id=check.requested_by, email=email) if check.requested_by and email else None,
        outcome=_outcome({one.outcome for one in results}),
        results=results,
    )


def _outcome(outcomes: set[CheckedOutcome]) -> CheckedOutcome | None:
    order = (CheckedOutcome.FAILED, CheckedOutcome.NOT_MEASURED, CheckedOutcome.PASSED)
    return next((one for one in order if one in outcomes), None)


async def _require_free(tx: AsyncSession, node: Node, device: str | None, now: datetime) -> None:
    if node.state != NodeState.READY:
        raise Conflict(
            "accelerator_check.not_ready",
            f"{node.name} is not ready.",
            hint=f"Check it when its engine reports it; see `carrel node show {node.name}`.",
        )
    devices = await check_devices.of_node(tx, node, now)
    if device is not None and device not in devices.all:
        raise _no_device(node, device)
    if not devices.all:
        raise Conflict(
            "accelerator_check.no_devices",
            f"{node.name} has no accelerator that can be checked.",
            hint=f"See `carrel node devices {node.name}`; one with a problem is checked once that is solved.",
        )
    if not (devices.free if device is None else {device} & devices.free.keys()):
        raise Conflict(
            "accelerator_check.held",
            f"Sessions hold {device or 'all accelerators of ' + node.name}.",
            hint=f"Cordon the node, and check it when they have ended; see `carrel node devices {node.name}`.",
        )


def _no_device(node: Node, device: str) -> NotFound:
    return NotFound(
        "device.not_found",
        f"{node.name} has no accelerator {device}.",
        hint=f"See `carrel node devices {node.name}`.",
    )


async def _node(tx: AsyncSession, node: NodeId) -> Node:
    return (await tx.execute(select(Node).where(Node.id == node))).scalar_one()


async def _find(tx: AsyncSession, check_id: str) -> AcceleratorCheck:
    check = await tx.get(AcceleratorCheck, check_id, with_for_update=True)
    if check is None:
        raise NotFound(
            "accelerator_check.not_found",
            f"There is no check {check_id}.",
            hint="See `carrel node accelerator-checks`.",
        )
    return check


def _note(tx: AsyncSession, actor: Actor, node: Node, after: dict[str, object]) -> None:
    details = {"after": after}
    audit.record(tx, actor, _ACTION, node.id, name=node.name, target=Target(), details=details)
