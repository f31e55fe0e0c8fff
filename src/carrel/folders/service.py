"""Use cases of folders. Each starts with an authorization check.

Every change locks the folder's row first, which serializes concurrent changes and mounts.
"""

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import exists, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import CarrelError, Conflict, Invalid, Refused
from carrel.core.ids import DomainId, FolderId, FolderTaskId, ProjectId, StorageHostId, UserId, new_id
from carrel.db.database import Database
from carrel.db.scope import permitted
from carrel.folders import quotas, tasks
from carrel.folders.access import find as find_held
from carrel.folders.access import target
from carrel.folders.hosts import service as hosts
from carrel.folders.hosts.storages import Storages
from carrel.folders.mounted import require_unmounted
from carrel.folders.recipients import folder_changed
from carrel.folders.schemas import VFolderCreate, VFolderUpdate
from carrel.permissions.decide import Actor, Target, require
from carrel.storage.port import FolderLocation
from carrel.tables.folder_states import LIFECYCLE, FolderState, remedy
from carrel.tables.folders import FolderShare, Permission, TaskKind, VFolder
from carrel.tenancy import queries as tenancy

LEFT_ALONE = timedelta(seconds=30)
"""Time for the request to create the folder before the leader takes over."""
GONE_FROM_USE = frozenset({FolderState.TRASHED, FolderState.FAILED, FolderState.DELETING})


@dataclass(frozen=True)
class NewOwner:
    """The owner of a new folder."""

    owner: UserId | None
    project: ProjectId | None
    domain: DomainId

    @property
    def scope(self) -> str:
        return quotas.scope_of(owner=self.owner, project=self.project)


def place_of(folder: VFolder) -> FolderLocation:
    """Its location on its host."""
    return FolderLocation(folder.scope, folder.id)


async def find(tx: AsyncSession, actor: Actor, ref: str) -> VFolder:
    """A folder for reading; see `access.find`. Raises: NotFound, Forbidden, Conflict."""
    return (await find_held(tx, actor, ref, "vfolder.read")).folder


async def create(
    database: Database,
    storages: Storages,
    clock: Clock,
    actor: Actor,
    request: VFolderCreate,
    *,
    idempotency_key: str | None,
) -> FolderId:
    """Create a folder of the actor's, or of a project that they administer.

    Twice with the same idempotency key: the id of the first one. If the process dies, `controllers.folder_tasks`
    completes the row.
    Raises: NotFound, Forbidden, Invalid; Conflict when the name is taken; Refused by a limit; Unavailable.
    """
    # 1. insert the row
    if first := await _first(database, actor, idempotency_key):
        return first
    try:
        folder = await _remember(database, clock, actor, request, idempotency_key)
    except (Conflict, Refused):
        # The same request may have taken the name or the last free place.
        if first := await _first(database, actor, idempotency_key):
            return first
        raise
    # 2. create the directory
    storage = await storages.of(folder.host_id)

    def make() -> bool:
        # After a delay the leader takes over; the folder may be gone by now.
        in_time = clock.now() - folder.created_at < LEFT_ALONE
        if in_time:
            storage.backend.create(place_of(folder))
        return in_time

    try:
        made = await storage.call(make)
    except CarrelError as error:
        await give_up(database, clock, folder.id, error.message)
        raise
    # 3. mark it ready
    if made:
        async with database.transaction() as tx:
            await settle(tx, folder.id, FolderState.READY)
    return folder.id


async def _remember(
    database: Database, clock: Clock, actor: Actor, request: VFolderCreate, key: str | None
) -> VFolder:
    async with database.transaction() as tx:
        belonging = await belonging_of(tx, actor, request.project)
        require_fitting_name(request.name, belonging)
        host = await hosts.choose(tx, actor, request.host, belonging.project)
        await quotas.require_folder(tx, belonging.scope)
        folder = new_folder(clock, actor, request.name, belonging, host.id, FolderState.CREATING)
        folder.usage_mode, folder.permission = request.usage_mode, request.permission
        folder.idempotency_key = key
        tx.add(folder)
        await flush(tx, folder)
        after = {**request.model_dump(mode="json"), "host": host.name}
        await record(tx, actor, "vfolder.create", folder, after=after)
    return folder


async def _first(database: Database, actor: Actor, key: str | None) -> FolderId | None:
    """The folder that an earlier request with this key created, if the actor may still create one."""
    if key is None:
        return None
    same = (VFolder.created_by == actor.user_id) & (VFolder.idempotency_key == key)
    still = permitted(
        actor, "vfolder.create", owner=VFolder.owner_id, domain=VFolder.domain_id, project=VFolder.project_id
    )
    async with database.transaction() as tx:
        return (await tx.execute(select(VFolder.id).where(same, still))).scalar()


async def give_up(database: Database, clock: Clock, folder: FolderId, reason: str) -> None:
    """Undo a failed creation; a storage that responds late may still have created part of it."""
    async with database.transaction() as tx:
        failed = await settle(tx, folder, FolderState.FAILED, reason=reason)
        if failed is not None:
            failed.idempotency_key = None  # a repeated request creates a new one
            await begin_removal(tx, clock, None, failed)


async def settle(
    tx: AsyncSession, folder: FolderId, state: FolderState, *, reason: str | None = None
) -> VFolder | None:
    """Transition a folder to this state; None if the state does not permit it because of a concurrent change."""
    statement = select(VFolder).where(
        VFolder.id == folder, VFolder.state.in_(sorted(LIFECYCLE.sources(state)))
    )
    row = (await tx.execute(statement.with_for_update())).scalar()
    if row is not None:
        row.state, row.reason = state, reason
        await tx.flush()
        await folder_changed(tx, "vfolder.updated", row)
    return row


async def update(tx: AsyncSession, actor: Actor, ref: str, changes: VFolderUpdate) -> FolderId:
    """Update the given fields. Raises: NotFound, Forbidden, Invalid; Conflict when the name is taken."""
    folder = (await find_held(tx, actor, ref, "vfolder.update", lock=True)).folder
    given = changes.model_dump(exclude_unset=True)
    after = {field: value for field, value in given.items() if value != getattr(folder, field)}
    if not after:
        return folder.id
    require_state(folder, FolderState.READY)
    if "name" in after:
        require_fitting_name(changes.name, NewOwner(folder.owner_id, folder.project_id, folder.domain_id))
        if changes.name.startswith(".") and await _is_shared(tx, folder):
            raise Conflict(
                "vfolder.shared",
                f"{folder.name} is shared, so its name cannot begin with a dot.",
                hint="Stop sharing it first, or choose another name.",
                field="name",
            )
    before = {field: getattr(folder, field) for field in after}
    for field, value in after.items():
        setattr(folder, field, value)
    await flush(tx, folder)
    await record(tx, actor, "vfolder.update", folder, before=before, after=after)
    return folder.id


async def trash(tx: AsyncSession, clock: Clock, actor: Actor, ref: str) -> FolderId:
    """Move a folder to the trash and release its name. Twice: no-op.

    Raises: NotFound, Forbidden; Conflict while it is mounted or copied.
    """
    folder = (await find_held(tx, actor, ref, "vfolder.update", lock=True)).folder
    if folder.state == FolderState.TRASHED:
        return folder.id
    require_state(folder, FolderState.READY)
    await tasks.require_idle(tx, folder)
    await require_unmounted(tx, actor, folder)
    folder.state, folder.trashed_at = FolderState.TRASHED, clock.now()
    await tx.flush()
    await record_state(tx, actor, folder, FolderState.READY)
    return folder.id


async def restore(tx: AsyncSession, actor: Actor, ref: str) -> FolderId:
    """Restore a folder from the trash. Twice: no-op.

    Raises: NotFound, Forbidden; Conflict when another folder has its name by now.
    """
    trashed = frozenset({FolderState.TRASHED})
    folder = (await find_held(tx, actor, ref, "vfolder.update", lock=True, among=trashed)).folder
    if folder.state == FolderState.READY:
        return folder.id
    require_state(folder, FolderState.TRASHED)
    folder.state, folder.trashed_at = FolderState.READY, None
    await flush(tx, folder, hint="Rename the other one or move it to the trash, then restore this one.")
    await record_state(tx, actor, folder, FolderState.TRASHED)
    return folder.id


async def remove(tx: AsyncSession, clock: Clock, actor: Actor, ref: str, name: str) -> FolderTaskId:
    """Start a task that permanently deletes a folder. name: its name, as confirmation. Twice: the first one's task.

    Raises: NotFound, Forbidden; Invalid when the name does not match; Conflict when it is not in the trash.
    """
    held = await find_held(tx, actor, ref, "vfolder.remove", lock=True, among=GONE_FROM_USE)
    folder = held.folder
    if name != folder.name:
        raise Invalid(
            "vfolder.unconfirmed",
            "The confirmation does not match the folder's name.",
            hint=f"Write {folder.name} to confirm.",
            field="name",
        )
    if folder.state == FolderState.DELETING and (under_way := await tasks.removal_of(tx, folder)):
        return under_way.id
    if folder.state not in GONE_FROM_USE:
        raise Conflict(
            "vfolder.not_trashed",
            f"{folder.name} is not in the trash.",
            hint="Move it to the trash first.",
            details={"state": folder.state},
        )
    await tasks.require_idle(tx, folder)
    held_then = {"state": folder.state, "used_bytes": folder.used_bytes, "files": folder.files}
    await record(tx, actor, "vfolder.remove", folder, before=held_then)
    return await begin_removal(tx, clock, actor, folder)


async def begin_removal(tx: AsyncSession, clock: Clock, actor: Actor | None, folder: VFolder) -> FolderTaskId:
    """Start the permanent deletion of a folder in the trash or failed. actor None: the installation itself."""
    folder.state, folder.trashed_at = FolderState.DELETING, folder.trashed_at or clock.now()
    await tx.flush()
    await folder_changed(tx, "vfolder.updated", folder)
    return (await tasks.enqueue(tx, clock, actor, TaskKind.REMOVE, folder, {})).id


async def belonging_of(tx: AsyncSession, actor: Actor, project: str | None) -> NewOwner:
    """The owner of a new folder of the actor's. Raises: NotFound, Forbidden, Conflict."""
    if project is None:
        require(actor, "vfolder.create", Target(owner_id=actor.user_id, domain_id=actor.domain_id))
        return NewOwner(actor.user_id, None, actor.domain_id)
    target = await tenancy.project(tx, actor, project)
    require(actor, "vfolder.create", tenancy.project_target(target))
    if target.archived_at is not None:
        raise Conflict(
            "project.archived", f"{target.name} is archived.", hint="Restore it first.", field="project"
        )
    return NewOwner(None, target.id, target.domain_id)


def require_state(folder: VFolder, state: FolderState) -> None:
    """Check that the folder is in this state. Raises: Conflict."""
    if folder.state != state:
        raise Conflict(
            "vfolder.state",
            f"{folder.name} cannot be changed like that now: it is {folder.state.lower()}.",
            hint=remedy(FolderState(folder.state)),
            details={"state": folder.state},
        )


async def record(tx: AsyncSession, actor: Actor, action: str, folder: VFolder, **details: object) -> None:
    """Record a change in the audit trail and publish it to everybody with access."""
    audit.record(tx, actor, action, folder.id, name=folder.name, target=target(folder), details=details)
    kind = "vfolder.created" if action == "vfolder.create" else "vfolder.updated"
    await folder_changed(tx, kind, folder)


async def record_state(tx: AsyncSession, actor: Actor, folder: VFolder, before: FolderState) -> None:
    """As `record`, for a change of state."""
    await record(tx, actor, "vfolder.update", folder, before={"state": before}, after={"state": folder.state})


async def flush(tx: AsyncSession, folder: VFolder, *, hint: str = "Choose another name.") -> None:
    """Write the folder. Raises: Conflict when another folder of the owner has its name."""
    name = folder.name
    try:
        await tx.flush()
    except IntegrityError as error:
        if "uq_vfolders_" not in str(error.orig):
            raise
        raise Conflict(
            "vfolder.name_taken", f"A folder named {name} already exists.", hint=hint, field="name"
        ) from None


def require_fitting_name(name: str, belonging: NewOwner) -> None:
    """Check a folder name. Raises: Invalid."""
    if name.startswith(".") and belonging.project is not None:
        raise Invalid(
            "vfolder.automatic_of_project",
            "A folder whose name begins with a dot is mounted automatically and belongs to a user.",
            hint="Choose a name without the leading dot.",
            field="name",
        )


def new_folder(
    clock: Clock, actor: Actor, name: str, belonging: NewOwner, host: StorageHostId, state: FolderState
) -> VFolder:
    """A folder row, not yet added to the session."""
    now = clock.now()
    return VFolder(
        id=FolderId(new_id()),
        name=name,
        host_id=host,
        owner_id=belonging.owner,
        project_id=belonging.project,
        domain_id=belonging.domain,
        scope=belonging.scope,
        permission=Permission.WRITE,
        state=state,
        used_bytes=0,
        files=0,
        created_by=actor.user_id,
        created_at=now,
        owned_at=now,
    )


async def _is_shared(tx: AsyncSession, folder: VFolder) -> bool:
    return bool((await tx.execute(select(exists().where(FolderShare.folder_id == folder.id)))).scalar())
