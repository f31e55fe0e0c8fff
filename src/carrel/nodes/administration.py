"""Use cases of nodes. Each starts with the decision whether the actor may."""

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
from carrel.nodes import service as ledger
from carrel.nodes.groups import service as groups
from carrel.nodes.schemas import DrainedSession, DrainOutcome, DrainRequest, DrainView, Forgotten, NodeUpdate
from carrel.permissions.decide import Actor, Target, require
from carrel.tables.nodes import Draining, Node
from carrel.tables.session_states import SessionState
from carrel.tables.sessions import Session
from carrel.tables.tenancy import User
from carrel.tenancy.schemas import UserRef

_SENTENCES = {
    DrainOutcome.STAYS: "It runs on until it ends by itself; the node is empty only then.",
    DrainOutcome.ENDS: "It is ended: its processes are asked to stop, and files outside mounted folders are lost.",
    DrainOutcome.MOVES: "It goes back to the queue and starts again elsewhere: its processes end, and files outside "
    "mounted folders are lost.",
    DrainOutcome.REQUEUES: "It does not run yet: it goes back to the queue and starts elsewhere.",
    DrainOutcome.IS_ENDING: "It is ending already.",
}
_OF_RUNNING = {
    Draining.WAIT: DrainOutcome.STAYS,
    Draining.END: DrainOutcome.ENDS,
    Draining.MOVE: DrainOutcome.MOVES,
}


def leaving(session: Session, how: Draining) -> DrainOutcome:
    """What becomes of a session on a node that is emptied like this."""
    if session.state == SessionState.TERMINATING:
        return DrainOutcome.IS_ENDING
    # One that is being started again after its engine's restart has files to lose, as one that runs.
    return _OF_RUNNING[how] if session.started_at else DrainOutcome.REQUEUES


async def update(tx: AsyncSession, actor: Actor, ref: str, wanted: NodeUpdate) -> NodeId:
    """Change what is given; the next decision of the scheduler goes by it. Raises: NotFound, Forbidden, Invalid."""
    node = await _found(tx, actor, ref)
    given: dict[str, object] = wanted.model_dump(exclude_unset=True)
    if "group" in given:
        given["group_id"] = (await groups.find(tx, str(given.pop("group")))).id
    _require_there(node, wanted)
    after = {field: value for field, value in given.items() if value != getattr(node, field)}
    if after.get("cordoned") is False and node.draining:
        after["draining"] = None
    await _change(tx, actor, node, after)
    return node.id


async def drain(tx: AsyncSession, actor: Actor, ref: str, wanted: DrainRequest) -> DrainView:
    """Say what becomes of each session on the node; unless it is only asked about, begin. The controllers do it.

    Raises: NotFound, Forbidden.
    """
    node = await _found(tx, actor, ref)
    # not narrowed: whoever may empty a node, a superadmin, sees every session.
    rows = await tx.execute(
        select(Session, User.email)
        .join(User, User.id == Session.owner_id)
        .where(queries.is_on(node.id), queries.ON_IT)
        .order_by(Session.created_at, Session.id)
    )
    sessions = [_drained(session, email, wanted.how) for session, email in rows]
    if not wanted.dry_run:
        target = {"cordoned": True, "draining": wanted.how}
        await _change(tx, actor, node, {field: v for field, v in target.items() if v != getattr(node, field)})
    view = await queries.view(tx, node.id)
    return DrainView(how=wanted.how, dry_run=wanted.dry_run, node=view, sessions=sessions)


async def forget(tx: AsyncSession, clock: Clock, actor: Actor, ref: str, *, confirm: str) -> Forgotten:
    """Give up a node that the engine no longer names: it is lost from now on, and is not listed any more.

    Should the engine name it again, it is back, with the settings that it had; cordoned, if it was, and not emptied.
    Raises: NotFound, Forbidden; Invalid when confirm is not its name; Conflict when it may be there yet.
    """
    node = await _found(tx, actor, ref)
    if confirm.strip() != node.name:
        raise Invalid(
            "node.unconfirmed",
            "The name that confirms it is not the node's.",
            hint=f"Write {node.name}, if this is the one you mean.",
            field="confirm",
        )
    if node.down_since is None:
        raise Conflict(
            "node.not_gone",
            f"{node.name} is not gone: its engine names it, or does not answer.",
            hint="Only a node that is DOWN while its engine answers can be forgotten; `carrel node drain` empties one.",
        )
    # not narrowed: whoever may give up a node, a superadmin, sees every session.
    there = select(Session.id).where(queries.is_on(node.id), queries.ON_IT).order_by(Session.id)
    sessions = list((await tx.execute(there)).scalars())
    node.forgotten_at, node.draining = clock.now(), None
    await tx.flush()
    details = {"after": {"forgotten": True}, "sessions": sessions}
    audit.record(tx, actor, "node.update", node.id, name=node.name, target=Target(), details=details)
    await ledger.announce(tx, [node], "node.removed")
    await notify(tx, ledger.FORGOTTEN)
    return Forgotten(id=node.id, name=node.name, sessions=sessions)


def _drained(session: Session, email: str, how: Draining) -> DrainedSession:
    becomes = leaving(session, how)
    return DrainedSession(
        id=session.id,
        name=session.name,
        owner=UserRef(id=session.owner_id, email=email),
        state=session.state,
        becomes=becomes,
        sentence=_SENTENCES[becomes],
    )


async def _found(tx: AsyncSession, actor: Actor, ref: str) -> Node:
    """The node, locked, for a change that the actor may make."""
    require(actor, "node.update", Target())
    return await tx.get_one(
        Node, await queries.find(tx, actor, ref), with_for_update={"key_share": True}, populate_existing=True
    )


def _require_there(node: Node, wanted: NodeUpdate) -> None:
    for slot, amount in wanted.reserved.items():
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
                f"{node.name} has {format_slot(slot, node.slots[slot])}: more cannot be reserved.",
                hint="To keep all new sessions away from it, cordon it.",
                field=f"reserved.{slot}",
            )


async def _change(tx: AsyncSession, actor: Actor, node: Node, after: dict[str, object]) -> None:
    """Write it down, tell pages, and have the scheduler look again; nothing when nothing changes."""
    if not after:
        return
    before: dict[str, Any] = {field: getattr(node, field) for field in after}
    for field, value in after.items():
        setattr(node, field, value)
    await tx.flush()
    details = {"before": before, "after": after}
    audit.record(tx, actor, "node.update", node.id, name=node.name, target=Target(), details=details)
    await ledger.announce(tx, [node], left=before.get("group_id"))
