"""Use cases of nodes. Each starts with an authorization check."""

from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Conflict, Invalid
from carrel.core.ids import NodeId
from carrel.core.units import format_slot
from carrel.db.database import notify
from carrel.nodes import queries
from carrel.nodes.groups import membership
from carrel.nodes.groups import service as groups
from carrel.nodes.schemas import DrainedSession, DrainOutcome, DrainRequest, DrainView, Forgotten, NodeUpdate
from carrel.permissions.decide import Actor, Target, require
from carrel.tables.nodes import FORGOTTEN, Draining, Node
from carrel.tables.session_states import SessionKind, SessionState
from carrel.tables.sessions import Session
from carrel.tables.tenancy import User
from carrel.tenancy.schemas import UserRef

_SENTENCES = {
    DrainOutcome.STAYS: "It continues to run until it ends by itself; the node is empty only then.",
    DrainOutcome.ENDS: "It is terminated: its processes are asked to stop, and files outside mounted "
    "folders are lost.",
    DrainOutcome.MOVES: "It is requeued and restarts on another node: its processes end, and files "
    "outside mounted folders are lost.",
    DrainOutcome.REQUEUES: "It does not run yet: it is requeued and starts on another node.",
    DrainOutcome.IS_ENDING: "It is already terminating.",
}
_OF_RUNNING = {
    Draining.WAIT: DrainOutcome.STAYS,
    Draining.END: DrainOutcome.ENDS,
    Draining.MOVE: DrainOutcome.MOVES,
}


def drain_outcome(session: Session, how: Draining) -> DrainOutcome:
    """What a drain of this kind does to a session on the node."""
    if session.state == SessionState.TERMINATING:
        return DrainOutcome.IS_ENDING
    if how == Draining.MOVE and session.kind == SessionKind.BATCH and not session.retries_left:
        # Its command must not run twice.
        how = Draining.WAIT
    # A session being restarted after an engine restart has files to lose, like a running one.
    return _OF_RUNNING[how] if session.started_at else DrainOutcome.REQUEUES


async def update(tx: AsyncSession, actor: Actor, ref: str, changes: NodeUpdate) -> NodeId:
    """Update the given fields, effective at the next scheduling decision. Raises: NotFound, Forbidden, Invalid."""
    node = await _find(tx, actor, ref)
    given: dict[str, object] = changes.model_dump(exclude_unset=True)
    group = await groups.find(tx, changes.group) if changes.group else None
    if "group" in given:
        given["group_fixed"] = given.pop("group") is not None
    if group:
        given["group_id"] = group.id
    if "own_labels" in given:
        labels = {**node.own_labels, **changes.own_labels}
        given["own_labels"] = {key: value for key, value in labels.items() if value is not None}
    _require_there(node, changes)
    after = {field: value for field, value in given.items() if value != getattr(node, field)}
    if after.get("cordoned") is False and node.draining:
        after["draining"] = None
    to = {"to": group.name} if group and "group_id" in after else {}
    await _change(tx, actor, node, after, **to)
    return node.id


async def drain(tx: AsyncSession, actor: Actor, ref: str, request: DrainRequest) -> DrainView:
    """Report what happens to each session on the node and, unless it is a dry run, start the drain for the
    controllers.

    Raises: NotFound, Forbidden.
    """
    node = await _find(tx, actor, ref)
    # not narrowed: only superadmins drain nodes, and they see every session
    rows = await tx.execute(
        select(Session, User.email)
        .join(User, User.id == Session.owner_id)
        .where(queries.is_on(node.id), queries.ON_IT)
        .order_by(Session.created_at, Session.id)
    )
    sessions = [_drained(session, email, request.how) for session, email in rows]
    if not request.dry_run:
        target = {"cordoned": True, "draining": request.how}
        await _change(tx, actor, node, {field: v for field, v in target.items() if v != getattr(node, field)})
    view = await queries.view(tx, actor, node.id)
    return DrainView(how=request.how, dry_run=request.dry_run, node=view, sessions=sessions)


async def forget(tx: AsyncSession, clock: Clock, actor: Actor, ref: str, *, confirm: str) -> Forgotten:
    """Forget a node that the engine no longer reports: it counts as lost and is no longer listed.

    If the engine reports it again, it returns with its settings; still cordoned if it was, but not draining.
    Raises: NotFound, Forbidden; Invalid when confirm is not its name; Conflict when it may still exist.
    """
    node = await _find(tx, actor, ref)
    if confirm.strip() != node.name:
        raise Invalid(
            "node.unconfirmed",
            "The confirmation does not match the node's name.",
            hint=f"Write {node.name} to confirm.",
            field="confirm",
        )
    if node.down_since is None:
        raise Conflict(
            "node.not_gone",
            f"{node.name} is not gone: its engine reports it, or does not respond.",
            hint="Only a node that is DOWN while its engine responds can be forgotten; use "
            "`carrel node drain` to drain one.",
        )
    # not narrowed: only superadmins forget nodes, and they see every session
    there = select(Session.id).where(queries.is_on(node.id), queries.ON_IT).order_by(Session.id)
    sessions = list((await tx.execute(there)).scalars())
    node.forgotten_at, node.draining = clock.now(), None
    await tx.flush()
    details = {"after": {"forgotten": True}, "sessions": sessions}
    audit.record(tx, actor, "node.update", node.id, name=node.name, target=Target(), details=details)
    await membership.announce(tx, [node], "node.removed")
    await notify(tx, FORGOTTEN)
    return Forgotten(id=node.id, name=node.name, sessions=sessions)


def _drained(session: Session, email: str, how: Draining) -> DrainedSession:
    becomes = drain_outcome(session, how)
    return DrainedSession(
        id=session.id,
        name=session.name,
        owner=UserRef(id=session.owner_id, email=email),
        state=session.state,
        becomes=becomes,
        sentence=_SENTENCES[becomes],
    )


async def _find(tx: AsyncSession, actor: Actor, ref: str) -> Node:
    """The node, locked, if the actor may change it."""
    require(actor, "node.update", Target())
    await membership.keep_selectors(tx)
    return await tx.get_one(
        Node, await queries.find(tx, actor, ref), with_for_update={"key_share": True}, populate_existing=True
    )


def _require_there(node: Node, changes: NodeUpdate) -> None:
    for slot, amount in changes.reserved.items():
        if slot not in node.slots:
            raise Invalid(
                "node.no_such_slot",
                f"{node.name} has no {slot}.",
                hint="It has " + ", ".join(sorted(node.slots)) + ".",
                field=f"reserved.{slot}",
            )
        if amount > node.slots[slot]:
            raise Invalid(
                "node.reserve_too_large",
                f"{node.name} has {format_slot(slot, node.slots[slot])}; you cannot reserve more.",
                hint="To keep all new sessions away from it, cordon it.",
                field=f"reserved.{slot}",
            )


async def _change(tx: AsyncSession, actor: Actor, node: Node, after: dict[str, object], **more: str) -> None:
    """Write the audit entry, publish an event and wake the scheduler; no-op without changes.

    more: further details of the audit entry.
    """
    if not after:
        return
    before: dict[str, Any] = {field: getattr(node, field) for field in after}
    for field, value in after.items():
        setattr(node, field, value)
    former = before.get("group_id", node.group_id)
    await tx.flush()
    if await membership.assign(tx, [node.id]):
        await tx.refresh(node)
        before["group_id"], after["group_id"] = former, node.group_id
    details = {"before": before, "after": after, **more}
    audit.record(tx, actor, "node.update", node.id, name=node.name, target=Target(), details=details)
    await membership.announce(tx, [node], left={node.id: former})
