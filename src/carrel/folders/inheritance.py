"""Transfer or deletion of a user's folders when the user is deleted or changes domain."""

import itertools
from collections.abc import Sequence

from sqlalchemy import and_, delete, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Conflict
from carrel.core.ids import DomainId
from carrel.folders import tasks
from carrel.folders.access import IN_USE, target
from carrel.folders.mounted import require_unmounted
from carrel.folders.moving import give
from carrel.folders.service import begin_removal, require_state
from carrel.permissions.decide import Actor
from carrel.tables.folder_states import FolderState
from carrel.tables.folders import FolderShare, VFolder
from carrel.tables.tenancy import Project, User

_NAMED = 20
_LONGEST = 64


async def require_choice(tx: AsyncSession, person: User) -> None:
    """Check that the user has no folders. Raises: Conflict naming them."""
    folders = await _folders(tx, person)
    if folders:
        used = sum(folder.used_bytes for folder in folders)
        raise Conflict(
            "user.has_folders",
            f"{person.email} has {len(folders)} folder{'s' if len(folders) > 1 else ''}.",
            hint="Specify a new owner (folders_to), or delete them (delete_folders).",
            field="folders_to",
            details={
                "folders": [{"id": folder.id, "name": folder.name} for folder in folders[:_NAMED]],
                "count": len(folders),
                "used_bytes": used,
            },
        )


async def inherit(tx: AsyncSession, clock: Clock, actor: Actor, person: User, new_owner: User) -> int:
    """Transfer the user's folders; those in the trash or never completed are deleted. Returns the number of folders.

    A name that the new owner already uses gets a number; a leading dot is removed, so that no folder is mounted
    automatically into the sessions of a user who did not create it.
    Raises: Conflict while one is mounted by others, or copied; Refused by a limit of the new owner.
    """
    folders = await _folders(tx, person)
    taken = set(
        (
            await tx.execute(
                select(VFolder.name).where(
                    VFolder.owner_id == new_owner.id, VFolder.state.in_(sorted(IN_USE))
                )
            )
        ).scalars()
    )
    for folder in folders:
        if folder.state in (FolderState.TRASHED, FolderState.FAILED):
            await _delete(tx, clock, actor, folder)
            continue
        await _require_free(tx, actor, person, folder)
        folder.name = _free_name(folder.name.removeprefix("."), taken)
        taken.add(folder.name)
        await give(tx, clock, actor, folder, new_owner)
    await _forget_shares(tx, person)
    return len(folders)


async def abandon(tx: AsyncSession, clock: Clock, actor: Actor, person: User) -> int:
    """Permanently delete all folders of the user. Returns their number. Raises: as `inherit`, except for limits."""
    folders = await _folders(tx, person)
    for folder in folders:
        if folder.state not in (FolderState.TRASHED, FolderState.FAILED):
            await _require_free(tx, actor, person, folder)
        await _delete(tx, clock, actor, folder)
    await _forget_shares(tx, person)
    return len(folders)


async def follow(tx: AsyncSession, person: User, domain: DomainId) -> None:
    """Move a user's folders to another domain. Shares that would cross domains are revoked."""
    theirs = select(VFolder.id).where(VFolder.owner_id == person.id)
    strangers = or_(
        FolderShare.user_id.in_(select(User.id).where(User.domain_id != domain)),
        FolderShare.project_id.in_(select(Project.id).where(Project.domain_id != domain)),
    )
    given = and_(FolderShare.folder_id.in_(theirs), strangers)
    elsewhere = select(VFolder.id).where(VFolder.domain_id != domain, VFolder.owner_id != person.id)
    of_projects = select(VFolder.id).where(VFolder.domain_id != domain, VFolder.project_id.is_not(None))
    had = and_(
        FolderShare.user_id == person.id,
        or_(FolderShare.folder_id.in_(elsewhere), FolderShare.folder_id.in_(of_projects)),
    )
    for gone in (given, had):
        await tx.execute(delete(FolderShare).where(gone).execution_options(synchronize_session=False))
    moved = update(VFolder).where(VFolder.owner_id == person.id).values(domain_id=domain)
    await tx.execute(moved.execution_options(synchronize_session=False))


async def _folders(tx: AsyncSession, person: User) -> Sequence[VFolder]:
    """The user's folders, locked, except those being deleted."""
    theirs = (VFolder.owner_id == person.id) & (VFolder.state != FolderState.DELETING)
    return (
        (await tx.execute(select(VFolder).where(theirs).order_by(VFolder.id).with_for_update()))
        .scalars()
        .all()
    )


async def _require_free(tx: AsyncSession, actor: Actor, person: User, folder: VFolder) -> None:
    """Mounts in the user's own sessions, which end now, are waited for; mounts in other sessions are a conflict."""
    require_state(folder, FolderState.READY)
    await tasks.require_idle(tx, folder)
    await require_unmounted(tx, actor, folder, but_by=person.id)


async def _delete(tx: AsyncSession, clock: Clock, actor: Actor, folder: VFolder) -> None:
    audit.record(
        tx,
        actor,
        "vfolder.remove",
        folder.id,
        name=folder.name,
        target=target(folder),
        details={"before": {"state": folder.state, "used_bytes": folder.used_bytes}},
    )
    await begin_removal(tx, clock, actor, folder)


async def _forget_shares(tx: AsyncSession, person: User) -> None:
    await tx.execute(delete(FolderShare).where(FolderShare.user_id == person.id))
    await tasks.forget(tx, person.id)


def _free_name(name: str, taken: set[str]) -> str:
    """The name, or the name with the first number that makes it unique."""
    if name not in taken:
        return name
    numbered = (f"{name[: _LONGEST - len(mark)]}{mark}" for mark in (f"-{n}" for n in itertools.count(2)))
    return next(each for each in numbered if each not in taken)
