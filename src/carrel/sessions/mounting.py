"""Folder mounts of sessions, held from the request until the session has ended.

A folder that a live session mounts cannot be trashed, moved or transferred. `transitions.move` releases the mounts
when the session ends.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import CarrelError, Conflict, NotFound, Refused
from carrel.core.ids import FolderId, SessionId, StorageHostId
from carrel.folders import access, quotas
from carrel.folders.access import FolderRights
from carrel.folders.mounted import mounts_of
from carrel.folders.schemas import MountedIn
from carrel.permissions.decide import Actor, allows
from carrel.scheduling.snapshot import Without
from carrel.sessions import mount_paths, updates
from carrel.sessions.spec import MountRequest
from carrel.storage.port import FolderLocation
from carrel.tables.folder_states import FolderState, remedy
from carrel.tables.folders import FolderMount, Permission, VFolder
from carrel.tables.sessions import Session
from carrel.tables.storage_hosts import HostState, StorageHost, StorageHostLocation

_AWAY = (HostState.UNAVAILABLE, HostState.UNUSABLE)
LEFT_OUT, READ_ONLY = "folders_left_out", "folders_read_only"


@dataclass(frozen=True)
class PlannedMount:
    """A planned mount. field: of the request; "mounts" for an automatic one."""

    held: FolderRights
    path: str
    subpath: str
    read_only: bool
    field: str

    @property
    def folder(self) -> VFolder:
        return self.held.folder

    @property
    def automatic(self) -> bool:
        return _is_automatic(self.folder.name)


@dataclass(frozen=True)
class MountPlan:
    """The mounts of a session and the warnings for its owner: code and sentence."""

    mounts: Sequence[PlannedMount] = ()
    warnings: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class MountedFolder:
    """A folder mounted by a session."""

    host: StorageHostId
    place: FolderLocation
    folder: str
    path: str
    subpath: str
    read_only: bool

    @property
    def automatic(self) -> bool:
        return _is_automatic(self.folder)


def _is_automatic(folder: str) -> bool:
    """Also if the request lists the folder, which has then another path or is read-only."""
    return folder.startswith(".")


_Kept = Callable[[AsyncSession, Iterable[FolderId]], Awaitable[set[FolderId]]]


async def plan(tx: AsyncSession, actor: Actor, requests: Sequence[MountRequest]) -> MountPlan:
    """The mounts of a session with these requests. The folders are locked until the transaction ends.

    The actor's own folders whose name starts with a dot are mounted automatically. Of those, a folder whose storage
    is unavailable is skipped and one over quota is read-only, so that they never block a session.
    Raises: NotFound, Forbidden, Invalid; Conflict for a state or an overlap; Refused by a quota.
    """
    return await _plan(tx, actor, requests, _keep)


async def foresee(tx: AsyncSession, actor: Actor, requests: Sequence[MountRequest]) -> MountPlan:
    """As `plan`, but without locks, for a check."""
    return await _plan(tx, actor, requests, _leave)


async def _plan(tx: AsyncSession, actor: Actor, requests: Sequence[MountRequest], keep: _Kept) -> MountPlan:
    # 1. requested and automatic mounts
    named = [await _named(tx, actor, each, f"mounts.{number}") for number, each in enumerate(requests)]
    own, away = await _automatic(tx, actor, [each.folder.id for each in named])
    # 2. lock the folders
    kept = await keep(tx, [each.folder.id for each in (*named, *own)])
    for each in named:
        _require_ready(each, kept)
    own = [each for each in own if each.folder.id in kept and each.folder.state == FolderState.READY]
    # 3. paths and permissions
    mount_paths.require_apart([(each.path, f"{each.field}.path") for each in (*own, *named)])
    for each in named:
        if not each.read_only:
            await _require_room(tx, each)
    own, full = await _with_room(tx, own)
    return MountPlan([*named, *own], [*away, *full])


async def hold(tx: AsyncSession, session: Session, planned: MountPlan, now: datetime) -> None:
    """Store the planned mounts of a new session."""
    for position, each in enumerate(planned.mounts):
        tx.add(
            FolderMount(
                session_id=session.id,
                position=position,
                folder_id=each.folder.id,
                folder_name=each.folder.name,
                owner_id=session.owner_id,
                path=each.path,
                subpath=each.subpath,
                read_only=each.read_only,
            )
        )
    await tx.flush()
    for word, sentence in planned.warnings:
        await updates.warn(tx, session.id, cause=word, reason=sentence, now=now)


async def held_by(
    tx: AsyncSession, sessions: Iterable[SessionId]
) -> Mapping[SessionId, Sequence[MountedFolder]]:
    """The mounts of each of these sessions; sessions without mounts are omitted."""
    rows = await tx.execute(
        select(FolderMount, VFolder)
        .join(VFolder, VFolder.id == FolderMount.folder_id)
        .where(FolderMount.session_id.in_(list(sessions)), FolderMount.released_at.is_(None))
        .order_by(FolderMount.session_id, FolderMount.position)
    )
    by_session: defaultdict[SessionId, list[MountedFolder]] = defaultdict(list)
    for mount, folder in rows:
        place = FolderLocation(folder.scope, folder.id)
        by_session[mount.session_id].append(
            MountedFolder(
                folder.host_id, place, mount.folder_name, mount.path, mount.subpath, mount.read_only
            )
        )
    return by_session


@dataclass(frozen=True)
class MissingStorage:
    """Why pending sessions cannot start because of their folders.

    away: a sentence for those with a storage host that is unavailable. without: engines that do not have a storage host
    of theirs, with its name; those of automatic mounts do not count, because they are left out there.
    """

    away: Mapping[SessionId, str]
    without: Mapping[SessionId, Without]


# Built once: every scheduler pass starts with it.
_MISSING = text("""
    SELECT DISTINCT m.session_id, h.name, h.state = ANY(:away) AS away,
        CASE WHEN m.folder_name NOT LIKE '.%' THEN l.engine_id END AS engine_id
    FROM storage_hosts h
    LEFT JOIN storage_host_locations l ON l.host_id = h.id AND l.location IS NULL
    JOIN vfolders f ON f.host_id = h.id
    JOIN vfolder_mounts m ON m.folder_id = f.id AND m.released_at IS NULL
    JOIN sessions s ON s.id = m.session_id AND s.state = 'PENDING'
    WHERE (h.state = ANY(:away) OR l.engine_id IS NOT NULL)
        AND (h.state = ANY(:away) OR m.folder_name NOT LIKE '.%')
    ORDER BY h.name, engine_id
""")


async def missing_storage(tx: AsyncSession) -> MissingStorage:
    """The pending sessions with storage that is unavailable or not there on an engine."""
    rows = (await tx.execute(_MISSING, {"away": [str(state) for state in _AWAY]})).all()
    without: defaultdict[SessionId, list[tuple[str, str]]] = defaultdict(list)
    for row in rows:
        if row.engine_id:
            without[row.session_id].append((row.engine_id, _called(row.name)))
    return MissingStorage(
        {
            row.session_id: f"It is waiting for the storage host {row.name}, which does not respond."
            for row in rows
            if row.away
        },
        {session: tuple(pairs) for session, pairs in without.items()},
    )


async def without(tx: AsyncSession, planned: MountPlan) -> Without:
    """The engines that do not have a storage host of these mounts, with that as a clause, as in `MissingStorage`."""
    nowhere = (
        select(StorageHostLocation.engine_id, StorageHost.name)
        .join(StorageHost, StorageHost.id == StorageHostLocation.host_id)
        .where(
            StorageHostLocation.location.is_(None),
            StorageHost.id.in_({each.folder.host_id for each in planned.mounts if not each.automatic}),
        )
        .order_by(StorageHost.name, StorageHostLocation.engine_id)
    )
    return tuple([(engine, _called(name)) for engine, name in await tx.execute(nowhere)])


def _called(host: str) -> str:
    return f"cannot reach the storage host {host}"


async def is_away(tx: AsyncSession, host: StorageHostId) -> bool:
    """The last check of the host failed."""
    state = select(StorageHost.state).where(StorageHost.id == host)
    return (await tx.execute(state)).scalar() in _AWAY


async def leave_out(
    tx: AsyncSession, session: SessionId, folders: Sequence[MountedFolder], now: datetime
) -> None:
    """Warn its owner that it starts without these automatic mounts, because its engine does not have their storage."""
    names = ", ".join(each.folder for each in folders)
    reason = f"It started without {names}: the storage cannot be reached from its node."
    await updates.warn(tx, session, cause=LEFT_OUT, reason=reason, now=now)


async def mounted_in(tx: AsyncSession, actor: Actor, ref: str) -> list[MountedIn]:
    """The live sessions that mount a folder. Raises: NotFound, Forbidden, Conflict."""
    held = await access.find(tx, actor, ref, "vfolder.read")
    return await mounts_of(tx, actor, held.folder)


async def _named(tx: AsyncSession, actor: Actor, request: MountRequest, field: str) -> PlannedMount:
    try:
        held = await access.find(tx, actor, request.folder, "vfolder.use")
        access.require(held, Permission.READ)
    except CarrelError as error:
        error.field = f"{field}.folder"
        raise
    return PlannedMount(
        held,
        mount_paths.place(request.path, held.folder.name, field=f"{field}.path"),
        mount_paths.part(request.subpath, field=f"{field}.subpath"),
        request.read_only or not _writable(held),
        field,
    )


def _writable(held: FolderRights) -> bool:
    return held.can(Permission.WRITE) and held.folder.permission != Permission.READ


async def _automatic(
    tx: AsyncSession, actor: Actor, named: Sequence[FolderId]
) -> tuple[list[PlannedMount], list[tuple[str, str]]]:
    """The actor's automatic mounts, and a warning about those that are unavailable."""
    rows = await tx.execute(
        select(VFolder, StorageHost.name, StorageHost.state)
        .join(StorageHost, StorageHost.id == VFolder.host_id)
        .where(
            VFolder.owner_id == actor.user_id,
            VFolder.name.startswith("."),
            VFolder.state == FolderState.READY,
            VFolder.id.not_in(named),
        )
        .order_by(VFolder.name)
    )
    own: list[PlannedMount] = []
    away: list[str] = []
    for folder, host, state in rows:
        held = FolderRights(folder, Permission.DELETE)
        if not allows(actor, "vfolder.use", access.target(folder)):
            continue
        if state in _AWAY:
            away.append(f"{folder.name} (on {host})")
            continue
        path = mount_paths.place(None, folder.name, field="mounts")
        own.append(PlannedMount(held, path, "", not _writable(held), "mounts"))
    message = f"It started without {', '.join(away)}: the storage does not respond."
    return own, [(LEFT_OUT, message)] if away else []


async def _keep(tx: AsyncSession, folders: Iterable[FolderId]) -> set[FolderId]:
    """Lock the folders and read them again; omits those that are gone."""
    kept = await tx.execute(
        select(VFolder)
        .where(VFolder.id.in_(sorted(set(folders))))
        .order_by(VFolder.id)
        .with_for_update(read=True)
        .execution_options(populate_existing=True)
    )
    return {folder.id for folder in kept.scalars()}


async def _leave(_: AsyncSession, folders: Iterable[FolderId]) -> set[FolderId]:
    """As `_keep`, for folders already locked."""
    return set(folders)


def _require_ready(planned: PlannedMount, kept: set[FolderId]) -> None:
    folder, field = planned.folder, f"{planned.field}.folder"
    if folder.id not in kept:
        raise NotFound("vfolder.not_found", f"The folder {folder.name} no longer exists.", field=field)
    if folder.state != FolderState.READY:
        raise Conflict(
            "vfolder.state",
            f"{folder.name} cannot be mounted now: it is {folder.state.lower()}.",
            hint=remedy(FolderState(folder.state)),
            field=field,
            details={"state": folder.state},
        )


async def _require_room(tx: AsyncSession, planned: PlannedMount) -> None:
    try:
        await quotas.require_room(tx, planned.folder)
    except Refused as error:
        error.field = f"{planned.field}.read_only"
        error.hint = f"Mount it read-only, or: {error.hint[:1].lower()}{error.hint[1:]}"
        raise


async def _with_room(
    tx: AsyncSession, own: Sequence[PlannedMount]
) -> tuple[list[PlannedMount], list[tuple[str, str]]]:
    """The automatic mounts, read-only if their owner's quota is used up."""
    if all(each.read_only for each in own):
        return list(own), []
    try:
        await quotas.require_room(tx, own[0].folder)
    except Refused as error:
        return [replace(each, read_only=True) for each in own], [
            (READ_ONLY, f"Automatically mounted folders are read-only. {error.message}")
        ]
    return list(own), []
