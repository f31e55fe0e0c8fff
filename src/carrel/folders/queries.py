"""Queries of folders, access and tasks, without a query per row."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, func, or_, select, true
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from carrel.core.ids import FolderId
from carrel.db.search import escaped
from carrel.folders import access as rights
from carrel.folders import tasks as work
from carrel.folders.access import administers, held_by, owned_by, seen_by, shared_with
from carrel.folders.schemas import TaskList, TaskQuery, TaskView, VFolderList, VFolderQuery, VFolderView
from carrel.http import paging
from carrel.http.paging import Sort
from carrel.permissions.decide import Actor
from carrel.site import service as site
from carrel.tables.folder_states import FolderState
from carrel.tables.folders import FolderMount, FolderShare, FolderTask, Permission, TaskKind, VFolder
from carrel.tables.storage_hosts import StorageHost
from carrel.tables.tenancy import Domain, Project, User
from carrel.tenancy.queries import is_domain

_SORT = Sort(
    {
        "name": VFolder.name,
        "created_at": VFolder.created_at,
        "used_bytes": VFolder.used_bytes,
        "trashed_at": VFolder.trashed_at,
    },
    tie=VFolder.id,
    default="name",
)
_TASK_SORT = Sort({"created_at": FolderTask.created_at}, tie=FolderTask.id, default="-created_at")
_IN_TRASH = VFolder.state.in_(sorted(set(FolderState) - rights.IN_USE))


async def page(tx: AsyncSession, actor: Actor, query: VFolderQuery) -> VFolderList:
    """The folders that the actor may see, filtered as requested."""
    chosen = _views(actor).where(_of(actor, query), *_filters(actor, query))
    page = await paging.page(tx, chosen, _SORT, query)
    kept = await _kept(tx)
    return VFolderList(items=[_view(actor, row, kept) for row in page.rows], next_cursor=page.next_cursor)


async def detail(tx: AsyncSession, actor: Actor, folder: FolderId) -> VFolderView:
    """One folder. Raises: NotFound when it was deleted meanwhile."""
    row = (await tx.execute(_views(actor).where(VFolder.id == folder))).one_or_none()
    if row is None:
        raise rights.missing(folder)
    return _view(actor, row, await _kept(tx))


async def tasks(tx: AsyncSession, actor: Actor, query: TaskQuery) -> TaskList:
    """Tasks that the actor requested; with a folder, all its tasks, for its administrators.

    A copy from or into a folder belongs to the other folder, and is listed until it has ended.
    """
    chosen = select(FolderTask)
    whose = FolderTask.actor_id == actor.user_id
    if query.folder:
        folder = (await rights.find(tx, actor, query.folder, "vfolder.read")).folder
        its = or_(FolderTask.folder_id == folder.id, work.IS_OPEN & work.concerning(folder.id))
        chosen = chosen.where(its)
        if administers(actor, folder):
            whose = its
    chosen = chosen.where(whose)
    if query.open:
        chosen = chosen.where(FolderTask.ended_at.is_(None))
    page = await paging.page(tx, chosen, _TASK_SORT, query)
    return TaskList(items=[_task(row.FolderTask) for row in page.rows], next_cursor=page.next_cursor)


async def task(tx: AsyncSession, actor: Actor, ref: str) -> TaskView:
    """One task. Raises: NotFound."""
    return _task(await work.find(tx, actor, ref))


def _task(task: FolderTask) -> TaskView:
    return TaskView.model_validate(task, from_attributes=True)


def _of(actor: Actor, query: VFolderQuery) -> ColumnElement[bool]:
    """The ownership filter. Shared folders in the trash are hidden from their recipients."""
    mine, project, shared = owned_by(actor), rights.of_projects(actor), rights.shared_to(actor)
    match query.of:
        case "mine":
            return mine
        case "project":
            return project
        case "shared":
            # With a null owner or project these comparisons are null, neither true nor false.
            return and_(shared, mine.is_not(true()), project.is_not(true()))
        case "me":
            return held_by(actor) if query.state == "active" else or_(mine, project)
        case "all":
            return seen_by(actor)


def _filters(actor: Actor, query: VFolderQuery) -> Iterable[ColumnElement[bool]]:
    # not narrowed: ids to compare with those of folders, which `page` filters
    yield _IN_TRASH if query.state == "trash" else ~_IN_TRASH
    if query.domain is not None:
        yield VFolder.domain_id.in_(select(Domain.id).where(is_domain(query.domain)))
    if query.project is not None:
        named = select(Project.id).where(or_(Project.id == query.project, Project.name == query.project))
        yield VFolder.project_id.in_(named)
    if query.owner is not None:
        person = or_(User.id == query.owner, func.lower(User.email) == query.owner.strip().lower())
        yield VFolder.owner_id.in_(select(User.id).where(person))
    if query.host is not None:
        host = or_(StorageHost.id == query.host, func.lower(StorageHost.name) == query.host.lower())
        yield VFolder.host_id.in_(select(StorageHost.id).where(host))
    if query.usage_mode is not None:
        yield VFolder.usage_mode == query.usage_mode
    if query.automatic is not None:
        begins = VFolder.name.startswith(".")
        yield begins if query.automatic else ~begins
    if query.mountable:
        yield and_(VFolder.state == FolderState.READY, held_by(actor))
    if query.q:
        yield VFolder.name.ilike(f"%{escaped(query.q)}%")


def _views(actor: Actor) -> Select[*tuple[Any, ...]]:
    """Rows for `_view`: folder, location, owner and shares."""
    latest = aliased(FolderTask)
    given = (
        select(func.array_agg(FolderShare.permission))
        .where(FolderShare.folder_id == VFolder.id, shared_with(actor))
        .scalar_subquery()
    )
    shared = select(func.count(FolderShare.id)).where(FolderShare.folder_id == VFolder.id).scalar_subquery()
    mounted = (
        select(func.count(FolderMount.session_id.distinct()))
        .where(FolderMount.folder_id == VFolder.id, FolderMount.released_at.is_(None))
        .scalar_subquery()
    )
    task = (
        select(latest.id)
        .where(latest.folder_id == VFolder.id, latest.ended_at.is_(None), latest.kind != TaskKind.CLEAN)
        .order_by(latest.created_at.desc())
        .limit(1)
        .scalar_subquery()
    )
    return (
        select(
            VFolder,
            FolderTask,
            StorageHost.name.label("host_name"),
            User.email.label("owner_email"),
            Project.name.label("project_name"),
            given.label("given"),
            shared.label("shared"),
            mounted.label("mounted"),
        )
        .join(StorageHost, StorageHost.id == VFolder.host_id)
        .outerjoin(User, User.id == VFolder.owner_id)
        .outerjoin(Project, Project.id == VFolder.project_id)
        .outerjoin(FolderTask, FolderTask.id == task)
    )


def _view(actor: Actor, row: Row[Any], kept: timedelta | None) -> VFolderView:
    folder: VFolder = row.VFolder
    given = [Permission(each) for each in row.given or []]
    return VFolderView(
        id=folder.id,
        name=folder.name,
        host={"id": folder.host_id, "name": row.host_name},
        owner={"id": folder.owner_id, "email": row.owner_email} if folder.owner_id else None,
        project={"id": folder.project_id, "name": row.project_name} if folder.project_id else None,
        usage_mode=folder.usage_mode,
        permission=folder.permission,
        my_permission=rights.most(actor, folder, given),
        mine=folder.owner_id == actor.user_id or folder.project_id in actor.administers,
        automatic=folder.name.startswith("."),
        state=folder.state,
        reason=folder.reason,
        used_bytes=folder.used_bytes,
        files=folder.files,
        measured_at=folder.measured_at,
        shared=row.shared,
        mounted=row.mounted,
        task=_task(row.FolderTask) if row.FolderTask else None,
        created_at=folder.created_at,
        trashed_at=folder.trashed_at,
        expires_at=_expiry(folder, kept),
    )


def _expiry(folder: VFolder, kept: timedelta | None) -> datetime | None:
    if folder.state != FolderState.TRASHED or folder.trashed_at is None or kept is None:
        return None
    return folder.trashed_at + kept


async def _kept(tx: AsyncSession) -> timedelta | None:
    """Retention of the trash; None: until deleted by a user."""
    days = (await site.settings(tx)).trash_days
    return timedelta(days=days) if days else None
