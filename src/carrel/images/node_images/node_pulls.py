"""Pulls of images to nodes ahead of sessions: request, cancel and list them; and what the leader writes meanwhile."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Row, delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Conflict, Invalid, NotFound
from carrel.core.ids import EngineId, ImagePullId, NodeId, ProjectId, UserId, new_id
from carrel.db.database import notify
from carrel.engines.references import LOCAL, registry_of
from carrel.events import service as events
from carrel.http import paging
from carrel.http.paging import PageQuery, Sort
from carrel.images.node_images.schemas import (
    ImagePullCreate,
    ImagePullList,
    ImagePullView,
    NodePullView,
    NodeRef,
)
from carrel.nodes import queries as nodes
from carrel.nodes.groups import service as groups
from carrel.permissions.decide import Actor, Target, require
from carrel.tables.node_images import PULL_TOPIC, ImagePull, NodePull, PullState
from carrel.tables.nodes import IS_MACHINE, Node
from carrel.tables.tenancy import Project, User
from carrel.tenancy import queries as tenancy
from carrel.tenancy.schemas import ProjectRef, UserRef

_ACTION, _EVENT = "image.pull", "image_pull.updated"
_SORT = Sort({"created_at": ImagePull.created_at}, tie=ImagePull.id, default="-created_at")
_KEPT = timedelta(days=90)
_LISTED = 100
_STEP = 0.01
"""The least progress that is stored."""
_OPEN = NodePull.ended_at.is_(None)


@dataclass(frozen=True)
class DuePull:
    """An open pull on a node. engine: None: the node is gone."""

    pull: ImagePull
    node: NodeId
    engine: EngineId | None
    cancel: bool

    @property
    def key(self) -> tuple[ImagePullId, NodeId]:
        return self.pull.id, self.node


async def request(tx: AsyncSession, clock: Clock, actor: Actor, body: ImagePullCreate) -> ImagePullView:
    """Request a pull. Raises: Forbidden, NotFound, Invalid, Conflict."""
    require(actor, _ACTION, Target())
    if registry_of(body.reference) == LOCAL:
        raise Invalid(
            "image.local",
            f"{body.reference} was built here; no registry has it.",
            hint="Write an image of a registry, such as python:3.12.",
            field="reference",
        )
    project = await tenancy.project(tx, actor, body.project, _ACTION) if body.project else None
    chosen = await _chosen(tx, actor, body)
    pull = await add(
        tx,
        clock,
        body.reference,
        chosen,
        project=project.id if project else None,
        requested_by=actor.user_id,
    )
    _note(tx, actor, pull, "requested", nodes=len(chosen))
    return await _view(tx, pull.id)


async def add(
    tx: AsyncSession,
    clock: Clock,
    reference: str,
    chosen: Sequence[NodeId],
    *,
    project: ProjectId | None,
    requested_by: UserId | None = None,
) -> ImagePull:
    """Add a pull to these nodes. project: whose credentials serve. requested_by: None: Carrel itself."""
    now = clock.now()
    await tx.execute(delete(ImagePull).where(ImagePull.created_at < now - _KEPT))
    pull = ImagePull(
        id=ImagePullId(new_id()),
        reference=reference,
        project_id=project,
        requested_by=requested_by,
        created_at=now,
    )
    tx.add(pull)
    await tx.flush()
    await tx.execute(insert(NodePull), [{"pull_id": pull.id, "node_id": node} for node in chosen])
    await notify(tx, PULL_TOPIC)
    await _publish(tx, pull.id)
    return pull


async def cancel(tx: AsyncSession, clock: Clock, actor: Actor, pull_id: str) -> ImagePullView:
    """Cancel what is not done; layers that are there stay. Raises: Forbidden, NotFound, Conflict if it has ended."""
    require(actor, _ACTION, Target())
    pull = await _find(tx, pull_id)
    mine = NodePull.pull_id == pull.id, _OPEN
    changed = await tx.execute(update(NodePull).where(*mine).values(cancel=True).returning(NodePull.node_id))
    if not changed.scalars().all():
        raise Conflict("image_pull.ended", "This pull has ended.", hint="See `carrel image pulls`.")
    waiting = {"state": PullState.CANCELLED, "ended_at": clock.now()}
    await tx.execute(update(NodePull).where(*mine, NodePull.state == PullState.WAITING).values(waiting))
    _note(tx, actor, pull, "cancelled")
    await notify(tx, PULL_TOPIC)
    return await _published(tx, pull.id)


async def show(tx: AsyncSession, actor: Actor, pull_id: str) -> ImagePullView:
    """One pull with all its nodes. Raises: Forbidden, NotFound."""
    require(actor, _ACTION, Target())
    return await _view(tx, (await _find(tx, pull_id)).id)


async def page(tx: AsyncSession, actor: Actor, query: PageQuery) -> ImagePullList:
    """The latest pulls. Raises: Forbidden."""
    require(actor, _ACTION, Target())
    rows = await paging.page(tx, select(ImagePull), _SORT, query)
    items = await _views(tx, ImagePull.id.in_([row.ImagePull.id for row in rows.rows]))
    by_id = {one.id: one.model_copy(update={"nodes": one.nodes[:_LISTED]}) for one in items}
    return ImagePullList(items=[by_id[row.ImagePull.id] for row in rows.rows], next_cursor=rows.next_cursor)


async def due(tx: AsyncSession) -> Sequence[DuePull]:
    """The open pulls, the oldest first."""
    rows = await tx.execute(
        select(ImagePull, NodePull.node_id, Node.engine_id, NodePull.cancel, Node.forgotten_at)
        .join(NodePull, NodePull.pull_id == ImagePull.id)
        .join(Node, Node.id == NodePull.node_id)
        .where(_OPEN)
        .order_by(ImagePull.created_at, ImagePull.id, Node.name)
    )
    return [
        DuePull(pull, node, None if forgotten_at else engine, cancelled)
        for pull, node, engine, cancelled, forgotten_at in rows
    ]


async def begin(tx: AsyncSession, one: DuePull, now: datetime) -> bool:
    """Note that it runs, also again after a crash; False: it has ended or is to be cancelled."""
    row = await _open(tx, one)
    if row is None or row.cancel:
        return False
    row.state, row.started_at = PullState.RUNNING, row.started_at or now
    await _flush(tx, row)
    return True


async def advanced(
    tx: AsyncSession, one: DuePull, progress: float | None, problem: str | None = None
) -> bool:
    """Store the progress; False: it is not to go on."""
    row = await _open(tx, one)
    if row is None or row.cancel:
        return False
    if row.problem != problem or abs((progress or 0.0) - (row.progress or 0.0)) >= _STEP:
        row.progress, row.problem = progress, problem
        await _flush(tx, row)
    return True


async def finish(
    tx: AsyncSession,
    one: DuePull,
    state: PullState,
    now: datetime,
    *,
    problem: str | None = None,
    size_bytes: int | None = None,
) -> None:
    """End it. Twice: no-op."""
    row = await _open(tx, one)
    if row is None:
        return
    row.state, row.ended_at, row.problem, row.size_bytes = state, now, problem, size_bytes
    row.progress = 1.0 if state == PullState.DONE else row.progress
    await _flush(tx, row)


async def _chosen(tx: AsyncSession, actor: Actor, body: ImagePullCreate) -> Sequence[NodeId]:
    if bool(body.nodes) == (body.group is not None):
        raise Invalid(
            "image_pull.where",
            "Choose nodes, or a resource group.",
            hint="carrel image pull python:3.12 --node gpu-1, or --group gpu.",
            field="nodes",
        )
    if body.group is None:
        return list(dict.fromkeys([await nodes.find(tx, actor, ref) for ref in body.nodes]))
    group = await groups.find(tx, body.group)
    rows = await tx.execute(select(Node.id).where(Node.group_id == group.id, IS_MACHINE).order_by(Node.name))
    if not (chosen := list(rows.scalars())):
        raise Conflict(
            "image_pull.no_nodes", f"The group {group.name} has no nodes.", hint="See `carrel node ls`."
        )
    return chosen


async def _find(tx: AsyncSession, pull_id: str) -> ImagePull:
    pull = await tx.get(ImagePull, pull_id)
    if pull is None:
        raise NotFound(
            "image_pull.not_found", f"There is no pull {pull_id}.", hint="See `carrel image pulls`."
        )
    return pull


async def _open(tx: AsyncSession, one: DuePull) -> NodePull | None:
    mine = (NodePull.pull_id == one.pull.id) & (NodePull.node_id == one.node)
    return (await tx.execute(select(NodePull).where(mine, _OPEN).with_for_update())).scalar()


async def _flush(tx: AsyncSession, row: NodePull) -> None:
    await tx.flush()
    await _publish(tx, row.pull_id)


async def _published(tx: AsyncSession, pull: ImagePullId) -> ImagePullView:
    await _publish(tx, pull)
    return await _view(tx, pull)


async def _publish(tx: AsyncSession, pull: ImagePullId) -> None:
    of_nodes = select(
        ImagePull.reference,
        func.array_agg(NodePull.state.distinct()),
        func.avg(func.coalesce(NodePull.progress, 0.0)),
        func.count(),
        func.count().filter(NodePull.state == PullState.DONE),
        func.count().filter(NodePull.state == PullState.FAILED),
    ).join(NodePull, NodePull.pull_id == ImagePull.id)
    row = (await tx.execute(of_nodes.where(ImagePull.id == pull).group_by(ImagePull.reference))).one()
    name, states, progress, total, done, failed = row
    data = {"name": name, "state": _state({*map(PullState, states)}), "progress": float(progress)}
    counts = {"total": total, "done": done, "failed": failed}
    await events.record(tx, _EVENT, pull, target=Target(), data={**data, **counts})


def _note(tx: AsyncSession, actor: Actor, pull: ImagePull, what: str, **details: object) -> None:
    facts = {"what": what, **details}
    audit.record(tx, actor, _ACTION, pull.id, name=pull.reference, target=Target(), details=facts)


async def _view(tx: AsyncSession, pull: ImagePullId) -> ImagePullView:
    [view] = await _views(tx, ImagePull.id == pull)
    return view


async def _views(tx: AsyncSession, which: ColumnElement[bool]) -> list[ImagePullView]:
    rows = await tx.execute(
        select(ImagePull, Project.name, User.email)
        .outerjoin(Project, Project.id == ImagePull.project_id)
        .outerjoin(User, User.id == ImagePull.requested_by)
        .where(which)
        .execution_options(populate_existing=True)
    )
    pulls = rows.all()
    on_nodes = await tx.execute(
        select(NodePull, Node.name)
        .join(Node, Node.id == NodePull.node_id)
        .where(NodePull.pull_id.in_([pull.id for pull, _, _ in pulls]))
        .order_by(NodePull.ended_at.is_not(None), NodePull.state != PullState.FAILED, Node.name)
    )
    by_pull: defaultdict[ImagePullId, list[Row[NodePull, str]]] = defaultdict(list)
    for row in on_nodes:
        by_pull[row.NodePull.pull_id].append(row)
    return [_pull_view(pull, project, email, by_pull[pull.id]) for pull, project, email in pulls]


def _pull_view(
    pull: ImagePull, project: str | None, email: str | None, rows: Sequence[Row[NodePull, str]]
) -> ImagePullView:
    parts = [one for one, _ in rows]
    ended = all(one.ended_at for one in parts)
    return ImagePullView(
        id=pull.id,
        reference=pull.reference,
        project=ProjectRef(id=pull.project_id, name=project) if pull.project_id and project else None,
        requested_by=UserRef(id=pull.requested_by, email=email) if pull.requested_by and email else None,
        state=_state({one.state for one in parts}),
        cancel=any(one.cancel for one in parts),
        progress=sum(one.progress or 0.0 for one in parts) / max(len(parts), 1),
        total=len(parts),
        done=sum(one.state == PullState.DONE for one in parts),
        failed=sum(one.state == PullState.FAILED for one in parts),
        created_at=pull.created_at,
        ended_at=max((one.ended_at for one in parts if one.ended_at), default=pull.created_at)
        if ended
        else None,
        nodes=[
            NodePullView(
                node=NodeRef(id=one.node_id, name=name),
                state=one.state,
                progress=one.progress,
                problem=one.problem,
                size_bytes=one.size_bytes,
                started_at=one.started_at,
                ended_at=one.ended_at,
            )
            for one, name in rows
        ],
    )


def _state(states: set[PullState]) -> PullState:
    """Of all nodes together."""
    if states & {PullState.WAITING, PullState.RUNNING}:
        return PullState.WAITING if states == {PullState.WAITING} else PullState.RUNNING
    order = (PullState.FAILED, PullState.CANCELLED)
    return next((state for state in order if state in states), PullState.DONE)
