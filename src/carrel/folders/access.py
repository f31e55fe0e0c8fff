"""Permissions on a folder: as owner, project member, by a share, or as administrator."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ARRAY, ColumnElement, String, case, exists, func, literal, literal_column, or_, select
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from carrel.core.errors import Conflict, Forbidden, NotFound
from carrel.core.ids import FolderId
from carrel.db.scope import permitted
from carrel.permissions.decide import Actor, Target, allows, refusal, within
from carrel.tables.folder_states import FolderState, remedy
from carrel.tables.folders import FolderShare, Permission, ShareState, VFolder

IN_USE = frozenset(FolderState) - {FolderState.TRASHED, FolderState.DELETING}
"""States in which a folder occupies its name."""
ORDER = list(Permission)
_NAMED = 6


@dataclass(frozen=True)
class FolderRights:
    """A folder and the actor's permission on its files; None: administration only."""

    folder: VFolder
    permission: Permission | None

    def can(self, needed: Permission) -> bool:
        return self.permission is not None and ORDER.index(self.permission) >= ORDER.index(needed)


def target(folder: VFolder) -> Target:
    return Target(folder.owner_id, folder.project_id, folder.domain_id)


def missing(ref: str) -> NotFound:
    return NotFound("vfolder.not_found", f"There is no folder {ref}.", hint="See `carrel vfolder ls`.")


def shared_with(actor: Actor) -> ColumnElement[bool]:
    """A condition for active shares with the actor."""
    return _given_to(FolderShare, literal(actor.user_id), literal(sorted(actor.projects), ARRAY(String)))


def accepted(folder: FolderId) -> ColumnElement[bool]:
    """A condition for active shares of the folder."""
    return (FolderShare.folder_id == folder) & (FolderShare.state == ShareState.ACCEPTED)


def given_as_text() -> str:
    """The permissions of `shared_with` as a JSON array: an SQL fragment for a folder with alias f; input of `most`.

    Bind parameters: user, projects.
    """
    share = aliased(FolderShare, name="s")
    given = select(func.coalesce(func.json_agg(share.permission), literal_column("'[]'"))).where(
        share.folder_id == literal_column("f.id"),
        _given_to(share, literal_column("%(user)s"), literal_column("%(projects)s")),
    )
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    text = str(given.compile(dialect=dialect, compile_kwargs={"literal_binds": True}))
    return f"({text.replace('%%', '%')})"


def _given_to(
    share: type[FolderShare], user: ColumnElement[Any], projects: ColumnElement[Any]
) -> ColumnElement[bool]:
    """True if the share is active for this user or one of these projects."""
    theirs = or_(share.user_id == user, share.project_id == func.any(projects))
    return (share.state == ShareState.ACCEPTED) & theirs


def owned_by(actor: Actor) -> ColumnElement[bool]:
    """A condition for the actor's own folders."""
    return VFolder.owner_id == actor.user_id


def of_projects(actor: Actor) -> ColumnElement[bool]:
    """A condition for folders of the actor's projects."""
    return VFolder.project_id.in_(sorted(actor.projects))


def shared_to(actor: Actor) -> ColumnElement[bool]:
    """A condition for folders shared with the actor."""
    return exists().where(FolderShare.folder_id == VFolder.id, shared_with(actor))


def held_by(actor: Actor) -> ColumnElement[bool]:
    """A condition for folders whose files the actor can access: own, of their projects, shared."""
    return or_(owned_by(actor), of_projects(actor), shared_to(actor))


def seen_by(actor: Actor) -> ColumnElement[bool]:
    """A condition for folders that the actor may see: accessible or administered ones."""
    administered = permitted(
        actor, "vfolder.read", owner=VFolder.owner_id, domain=VFolder.domain_id, project=VFolder.project_id
    )
    return or_(administered, held_by(actor)) if within(actor.scopes, "vfolder.read") else administered


async def find(
    tx: AsyncSession,
    actor: Actor,
    ref: str,
    action: str,
    *,
    lock: bool = False,
    among: frozenset[FolderState] = IN_USE,
) -> FolderRights:
    """The folder with this id or name, if the actor may perform the action on it.

    A name resolves to an own folder first, then to an accessible one, then to a visible one; and to a folder in one
    of the states `among` before others. lock: prevent changes and mounts until the transaction ends.
    Raises: NotFound, also if the actor may not see it; Forbidden; Conflict when several have the name.
    """
    folder = await _meant(tx, actor, ref, among)
    if lock:
        again = select(VFolder).where(VFolder.id == folder.id).with_for_update()
        locked = (await tx.execute(again.execution_options(populate_existing=True))).scalar()
        if locked is None:
            raise missing(ref)
        folder = locked
    permission = await permission_of(tx, actor, folder)
    shares = action in ("vfolder.read", "vfolder.use") and permission is not None
    if not allows(actor, action, target(folder)) and not (shares and within(actor.scopes, action)):
        raise refusal(actor, action)
    return FolderRights(folder, permission)


def administers(actor: Actor, folder: VFolder) -> bool:
    """True for its owner and for administrators of its project or domain."""
    return allows(actor, "vfolder.update", target(folder))


async def permission_of(tx: AsyncSession, actor: Actor, folder: VFolder) -> Permission | None:
    """The actor's permission on the files: the highest over all their grants."""
    rows = await tx.execute(
        select(FolderShare.permission).where(FolderShare.folder_id == folder.id, shared_with(actor))
    )
    return most(actor, folder, [Permission(each) for each in rows.scalars()])


def most(actor: Actor, folder: VFolder, given: Sequence[Permission]) -> Permission | None:
    """As `permission`, with known shares."""
    if folder.owner_id == actor.user_id or folder.project_id in actor.administers:
        return Permission.DELETE
    of_project = [Permission(folder.permission)] if folder.project_id in actor.projects else []
    return max([*given, *of_project], key=ORDER.index, default=None)


def require(held: FolderRights, needed: Permission) -> None:
    """Check that the files may be used with this permission now. Raises: Forbidden, Conflict."""
    folder = held.folder
    if not held.can(needed):
        raise Forbidden(
            "vfolder.permission",
            f"You may only read {folder.name}."
            if held.permission
            else f"You may not see what is in {folder.name}.",
            hint="Ask its owner for more.",
            details={"permission": held.permission, "needed": needed},
        )
    usable = {FolderState.READY} if needed is not Permission.READ else {FolderState.READY, FolderState.MOVING}
    if folder.state not in usable:
        raise Conflict(
            "vfolder.state",
            f"{folder.name} cannot be used now: it is {folder.state.lower()}.",
            hint=remedy(FolderState(folder.state)),
            details={"state": folder.state},
        )


async def _meant(tx: AsyncSession, actor: Actor, ref: str, among: frozenset[FolderState]) -> VFolder:
    preferred = VFolder.state.in_(sorted(among))
    rank = case(
        (VFolder.id == ref, 0),
        (preferred & owned_by(actor), 1),
        (preferred & held_by(actor), 2),
        (preferred, 3),
        (owned_by(actor), 4),
        else_=5,
    )
    statement = select(VFolder, rank).where(or_(VFolder.id == ref, VFolder.name == ref), seen_by(actor))
    rows = (await tx.execute(statement.order_by(rank, VFolder.id).limit(_NAMED))).all()
    first = [folder for folder, place in rows if place == rows[0][1]]
    if not first:
        raise missing(ref)
    if len(first) > 1:
        raise Conflict(
            "vfolder.ambiguous",
            f"Several folders have the name {ref}.",
            hint="Use the id: " + ", ".join(row.id for row in first) + ".",
            details={"ids": [row.id for row in first]},
        )
    meant: VFolder = first[0]
    return meant
