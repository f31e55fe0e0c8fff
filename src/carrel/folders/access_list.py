"""Everybody with access to the files of a folder: the inverse of `access`."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Select, String, and_, cast, func, literal, null, select, union_all
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import UserId
from carrel.folders import access as rights
from carrel.folders.access import ORDER
from carrel.folders.mounted import mounts_beyond
from carrel.folders.schemas import AccessEntry, MountedIn
from carrel.permissions.decide import Actor, refusal
from carrel.tables.folders import FolderMount, FolderShare, Permission, VFolder
from carrel.tables.tenancy import Membership, Project, User, UserState


async def access(tx: AsyncSession, actor: Actor, ref: str) -> list[AccessEntry]:
    """Everybody with access to the files, by e-mail, once per grant. Raises: NotFound, Forbidden."""
    folder = (await rights.find(tx, actor, ref, "vfolder.read")).folder
    require_administration(actor, folder)
    return await entries(tx, folder)


def require_administration(actor: Actor, folder: VFolder) -> None:
    """Check that the actor may see who has access. Raises: Forbidden."""
    if not rights.administers(actor, folder):
        raise refusal(actor, "vfolder.share")


async def entries(tx: AsyncSession, folder: VFolder) -> list[AccessEntry]:
    """Active users with access to the files, by e-mail, once per grant."""
    ways = union_all(*_ways(folder)).subquery()
    rows = await tx.execute(
        select(ways, User.email, Project.name.label("project_name"))
        .join(User, and_(User.id == ways.c.user_id, User.state == UserState.ACTIVE))
        .outerjoin(Project, Project.id == ways.c.project_id)
        .order_by(func.lower(User.email), ways.c.via)
    )
    return [
        AccessEntry(
            user={"id": row.user_id, "email": row.email},
            permission=row.permission,
            via=row.via,
            project={"id": row.project_id, "name": row.project_name} if row.project_id else None,
            since=row.since,
        )
        for row in rows
    ]


async def permissions(tx: AsyncSession, folder: VFolder) -> Mapping[UserId, Permission]:
    """The highest permission of each of these users."""
    most: dict[UserId, Permission] = {}
    for entry in await entries(tx, folder):
        known = most.get(entry.user.id, entry.permission)
        most[entry.user.id] = max(known, entry.permission, key=ORDER.index)
    return most


async def still_held(tx: AsyncSession, actor: Actor, person: UserId) -> list[MountedIn]:
    """Live sessions whose mount exceeds the owner's current permission."""
    theirs = select(FolderMount.folder_id).where(
        FolderMount.owner_id == person, FolderMount.released_at.is_(None)
    )
    # no visibility filter: the actor who removed a member may see the affected sessions
    folders = await tx.execute(select(VFolder).where(VFolder.id.in_(theirs)).order_by(VFolder.id))
    held: list[MountedIn] = []
    for folder in folders.scalars().all():
        may = await permissions(tx, folder)
        held += await mounts_beyond(tx, actor, folder, may, by=person)
    return held


def _ways(folder: VFolder) -> list[Select[*tuple[Any, ...]]]:
    given = rights.accepted(folder.id)
    since = func.coalesce(FolderShare.accepted_at, FolderShare.created_at)
    shared = select(
        FolderShare.user_id.label("user_id"),
        FolderShare.permission.label("permission"),
        literal("share").label("via"),
        cast(null(), String).label("project_id"),
        since.label("since"),
    ).where(given, FolderShare.user_id.is_not(None))
    by_project = (
        select(
            Membership.user_id,
            FolderShare.permission,
            literal("shared_project"),
            Membership.project_id,
            func.greatest(since, Membership.since),
        )
        .join(FolderShare, FolderShare.project_id == Membership.project_id)
        .where(given)
    )
    ways: list[Select[*tuple[Any, ...]]] = [shared, by_project]
    began: datetime = folder.owned_at
    joined = func.greatest(literal(began), Membership.since)
    if folder.owner_id is not None:
        ways.append(
            select(
                literal(folder.owner_id),
                literal(Permission.DELETE.value),
                literal("owner"),
                cast(null(), String),
                literal(began),
            )
        )
    else:
        ways.append(
            select(
                Membership.user_id,
                literal(folder.permission),
                literal("project"),
                Membership.project_id,
                joined,
            ).where(Membership.project_id == folder.project_id, ~Membership.admin)
        )
        ways.append(
            select(
                Membership.user_id,
                literal(Permission.DELETE.value),
                literal("project"),
                Membership.project_id,
                joined,
            ).where(Membership.project_id == folder.project_id, Membership.admin)
        )
    return ways
