"""Clones of folders for the actor, a project, or another user."""

from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.clock import Clock
from carrel.core.errors import Invalid
from carrel.core.ids import FolderId
from carrel.folders import quotas, tasks
from carrel.folders.access import find
from carrel.folders.access import require as require_permission
from carrel.folders.grantees import recipient
from carrel.folders.hosts import service as hosts
from carrel.folders.schemas import VFolderClone
from carrel.folders.service import (
    NewOwner,
    belonging_of,
    flush,
    new_folder,
    record,
    require_fitting_name,
    require_state,
)
from carrel.permissions.decide import Actor, Target, require
from carrel.tables.folder_states import FolderState
from carrel.tables.folders import Permission, TaskKind


async def clone(tx: AsyncSession, clock: Clock, actor: Actor, ref: str, request: VFolderClone) -> FolderId:
    """Create a folder that a task fills with a copy.

    It belongs to the actor, to a project that they administer, or to a user to whom they could transfer it, within the
    limits of the new owner.
    Raises: NotFound, Forbidden, Invalid; Conflict when the name is taken; Refused by a limit.
    """
    # 1. authorization and owner
    held = await find(tx, actor, ref, "vfolder.use", lock=True)
    require_permission(held, Permission.READ)
    source = held.folder
    require_state(source, FolderState.READY)
    belonging = await _belonging(tx, actor, request)
    require_fitting_name(request.name, belonging)
    # 2. quota
    host = await hosts.choose(tx, actor, request.host or source.host_id, belonging.project)
    await quotas.require_folder(tx, belonging.scope)
    folder = new_folder(clock, actor, request.name, belonging, host.id, FolderState.COPYING)
    folder.usage_mode = source.usage_mode
    # It counts immediately, not only after its measurement.
    folder.used_bytes, folder.files = source.used_bytes, source.files
    await quotas.require_room_in(tx, belonging.scope, source.used_bytes)
    # 3. create the task
    tx.add(folder)
    await flush(tx, folder)
    after = {**request.model_dump(mode="json"), "host": host.name, "source": source.id}
    await record(tx, actor, "vfolder.create", folder, after=after)
    await tasks.enqueue(tx, clock, actor, TaskKind.CLONE, folder, {"source": source.id})
    return folder.id


async def _belonging(tx: AsyncSession, actor: Actor, request: VFolderClone) -> NewOwner:
    if request.owner is None:
        return await belonging_of(tx, actor, request.project)
    if request.project is not None:
        raise Invalid(
            "vfolder.heir",
            "A copy belongs to a user or a project, not both.",
            hint="Specify one of them.",
            field="owner",
        )
    mine = await belonging_of(tx, actor, None)
    person = await recipient(tx, request.owner, mine.domain, field="owner")
    if person.id == actor.user_id:
        return mine
    require(actor, "vfolder.hand_over", Target(owner_id=actor.user_id, domain_id=actor.domain_id))
    if request.name.startswith("."):
        raise Invalid(
            "vfolder.automatic",
            f"{request.name} would be mounted automatically into every session of its owner.",
            hint="Choose a name without the leading dot.",
            field="name",
        )
    return NewOwner(person.id, None, person.domain_id)
