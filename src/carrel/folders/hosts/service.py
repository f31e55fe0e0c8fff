"""Use cases of storage hosts. Each starts with an authorization check."""

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from carrel import plugins
from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Conflict, Forbidden, Invalid, NotFound, Unavailable
from carrel.core.ids import ProjectId, StorageHostId, new_id
from carrel.db.database import Database, notify
from carrel.events import service as events
from carrel.folders.hosts import queries, roots
from carrel.folders.hosts.schemas import StorageHostAccessUpdate, StorageHostCreate, StorageHostUpdate
from carrel.folders.hosts.storages import Storages
from carrel.limits import service as limits
from carrel.permissions.decide import Actor, Target, require
from carrel.plugins import Port
from carrel.storage.make import make
from carrel.storage.port import Capacity, StorageError
from carrel.tables.storage_hosts import (
    POSIX,
    TOPIC,
    HostScopeKind,
    HostState,
    StorageHost,
    StorageHostAccess,
    StorageHostLocation,
)
from carrel.tables.tenancy import Domain
from carrel.tenancy import queries as tenancy

LOCAL = "local"
"""Name of the storage host that a single-machine installation starts with."""
_ROOTS = 0x526F6F7473
_CHANGES = "storage_host.update"
_ADDED, _CHANGED, _REMOVED = "storage_host.created", "storage_host.updated", "storage_host.removed"


async def ensure_local(database: Database, data_dir: Path) -> None:
    """Create the host `local` in the data directory, once: a removed or renamed one is not created again.

    data_dir: without symlinks.
    """
    root = data_dir / roots.FOLDERS
    if root.exists():
        return
    host = StorageHost(
        id=StorageHostId(new_id()),
        name=LOCAL,
        description="On the disk of the server.",
        backend=POSIX,
        root=str(root),
    )
    async with database.transaction() as tx:
        await _one_at_a_time(tx)
        taken = select(StorageHost.id).where(or_(StorageHost.name == LOCAL, StorageHost.root == str(root)))
        if (await tx.execute(taken)).first() is None:
            tx.add(host)
            await notify(tx, TOPIC)
    # This also records that the host exists: created last, so that an interrupted call starts over.
    root.mkdir(mode=0o700, exist_ok=True)
    make(POSIX, root).claim()


async def follow(tx: AsyncSession, old: Path, new: Path) -> None:
    """Update the root of the host in the data directory after a move.

    old, new: the data directory, without symlinks.
    """
    there = StorageHost.root == str(old / roots.FOLDERS)
    await tx.execute(update(StorageHost).where(there).values(root=str(new / roots.FOLDERS)))
    await notify(tx, TOPIC)


async def part_from_the_original(tx: AsyncSession, data_dir: Path) -> None:
    """In a copy of an installation, detach storage hosts from the original's folders.

    A host outside the data directory was not copied; its root becomes `not-copied/<name>` in the data directory.
    """
    hosts = await tx.execute(select(StorageHost).where(StorageHost.root != str(data_dir / roots.FOLDERS)))
    for host in hosts.scalars():
        host.root = str(data_dir / roots.NOT_COPIED / host.name)
    # Volumes of engines were not copied either.
    await tx.execute(delete(StorageHostLocation))
    await tx.flush()
    await notify(tx, TOPIC)


async def create(
    database: Database,
    storages: Storages,
    clock: Clock,
    actor: Actor,
    request: StorageHostCreate,
    *,
    data_dir: Path,
) -> StorageHostId:
    """Create a host that was just checked and has no folders.

    Raises: Forbidden; Invalid for an unsuitable root; Conflict when the name or the root is taken.
    """
    require(actor, _CHANGES, Target())
    plugins.require_kind(Port.STORAGE, request.backend, field="backend")
    root, capacity = await _tried(database, storages, request, data_dir)
    now = clock.now()
    id_ = StorageHostId(new_id())
    host = StorageHost(
        **request.model_dump(exclude={"root", "settings"}),
        id=id_,
        root=str(root),
        state=HostState.OK,
        settings=storages.sealed(id_, request.settings),
        total_bytes=capacity.total_bytes,
        free_bytes=capacity.free_bytes,
        checked_at=now,
        created_at=now,
    )
    async with database.transaction() as tx:
        await _one_at_a_time(tx)
        roots.require_fit(root, data_dir=data_dir, others=await _roots(tx))
        tx.add(host)
        await _flush(tx, request.name)
        after = {**request.model_dump(mode="json", exclude={"settings"}), "root": str(root)}
        await _record(tx, actor, _ADDED, host, after=after)
    return host.id


async def _tried(
    database: Database, storages: Storages, request: StorageHostCreate, data_dir: Path
) -> tuple[Path, Capacity]:
    """The root without symlinks, and its capacity."""
    storage = storages.tried(request.name, request.backend, Path(request.root), request.settings)
    try:
        root = Path(await storage.threads.call(os.path.realpath, request.root))
        # Check before anything is written there.
        async with database.transaction() as tx:
            roots.require_fit(root, data_dir=data_dir, others=await _roots(tx))
        backend = storages.tried(request.name, request.backend, root, request.settings).backend
        capacity = await storage.threads.call(backend.probe)
        # Otherwise a directory that was never created could not be distinguished from one on a lost disk.
        await storage.threads.call(backend.claim)
        return root, capacity
    except (StorageError, OSError) as error:
        reason = error.message if isinstance(error, StorageError) else f"{request.root}: {error.strerror}."
        raise Invalid(
            "storage_host.unusable", reason, hint="Fix it on the server, then try again.", field="root"
        ) from error
    finally:
        storage.threads.close()


async def update_host(tx: AsyncSession, actor: Actor, ref: str, changes: StorageHostUpdate) -> StorageHostId:
    """Update the given fields. Raises: NotFound, Forbidden; Conflict when the name is taken."""
    host = await changing(tx, actor, ref)
    given = changes.model_dump(exclude_unset=True)
    after = {field: value for field, value in given.items() if value != getattr(host, field)}
    if not after:
        return host.id
    before = {field: getattr(host, field) for field in after}
    for field, value in after.items():
        setattr(host, field, value)
    await _flush(tx, changes.name)
    if "name" in after:
        await _rename(tx, before["name"], after["name"])
    await _record(tx, actor, _CHANGED, host, before=before, after=after)
    return host.id


async def remove(tx: AsyncSession, actor: Actor, ref: str) -> None:
    """Remove a host without folders. Raises: NotFound, Forbidden; Conflict with the number of its folders."""
    host = await changing(tx, actor, ref)
    # Exclusive lock, so that no folder is created on it concurrently.
    await tx.execute(select(StorageHost.id).where(StorageHost.id == host.id).with_for_update())
    if folders := await queries.folders_on(tx, host.id):
        raise Conflict(
            "storage_host.in_use",
            f"{host.name} has {folders} folder{'s' * (folders > 1)}, including trashed ones.",
            hint="Move them to another storage host, or deactivate this one so that it accepts no new folders.",
            details={"folders": folders},
        )
    await tx.delete(host)
    await tx.flush()
    await _rename(tx, host.name, None)
    before = {"name": host.name, "backend": host.backend, "root": host.root}
    await _record(tx, actor, _REMOVED, host, before=before)


async def open_to(tx: AsyncSession, actor: Actor, ref: str, access: StorageHostAccessUpdate) -> StorageHostId:
    """Replace the access list of a host that is not public.

    Raises: NotFound (also for an entry of the list), Forbidden.
    """
    host = await changing(tx, actor, ref)
    named = {
        *[(HostScopeKind.DOMAIN, (await tenancy.domain(tx, actor, each)).id) for each in access.domains],
        *[(HostScopeKind.PROJECT, (await tenancy.project(tx, actor, each)).id) for each in access.projects],
    }
    ours = StorageHostAccess.host_id == host.id
    rows = (await tx.execute(select(StorageHostAccess).where(ours))).scalars()
    before = {(one.kind, one.scope_id) for one in rows}
    await tx.execute(delete(StorageHostAccess).where(ours))
    if named:
        values = [{"host_id": host.id, "kind": kind, "scope_id": scope} for kind, scope in named]
        await tx.execute(insert(StorageHostAccess), values)
    await _record(
        tx,
        actor,
        _CHANGED,
        host,
        before={"access": sorted(map(":".join, before))},
        after={"access": sorted(map(":".join, named))},
    )
    return host.id


async def find(tx: AsyncSession, actor: Actor, ref: str) -> StorageHost:
    """The host with this id or name, among those that the actor may see. Raises: NotFound."""
    named = or_(StorageHost.id == ref, StorageHost.name == ref)
    result = await tx.execute(
        select(StorageHost)
        .where(named, await queries.seen(tx, actor))
        .order_by((StorageHost.id == ref).desc())
        .limit(1)
    )
    host = result.scalar()
    if host is None:
        raise _missing(ref)
    return host


async def usable(tx: AsyncSession, actor: Actor, project: ProjectId | None = None) -> Sequence[StorageHost]:
    """The hosts where the actor may create a folder, for themselves or the project; best first.

    Healthy hosts come first, then hosts with the most free space.
    """
    result = await tx.execute(
        select(StorageHost)
        .where(await queries.may_use(tx, actor, project), StorageHost.active)
        .order_by(
            StorageHost.state.in_((HostState.UNAVAILABLE, HostState.UNUSABLE)),
            StorageHost.free_bytes.desc().nulls_last(),
            StorageHost.name,
        )
    )
    return result.scalars().all()


async def choose(
    tx: AsyncSession, actor: Actor, ref: str | None, project: ProjectId | None = None
) -> StorageHost:
    """The host for a new folder of the actor's or of the project's: the one named, otherwise the best one.

    Raises: NotFound; Forbidden when the actor may use none; Conflict when it accepts no new folders; Unavailable.
    """
    hosts = await usable(tx, actor, project)
    if ref is None:
        if not hosts:
            raise Forbidden(
                "storage_host.none",
                "You have access to no storage host.",
                hint="Ask an administrator for access to one.",
            )
        return _answering(hosts[0])
    for host in hosts:
        if ref in (host.id, host.name):
            return _answering(host)
    host = await find(tx, actor, ref)
    if host.active:
        raise _missing(ref)
    raise Conflict(
        "storage_host.inactive",
        f"{host.name} accepts no new folders.",
        hint="Use another storage host; see `carrel storage-host ls`.",
        field="host",
    )


async def ids(tx: AsyncSession) -> set[StorageHostId]:
    """The ids of all hosts."""
    return set((await tx.execute(select(StorageHost.id))).scalars())


async def observe(
    tx: AsyncSession,
    host: StorageHostId,
    state: HostState,
    now: datetime,
    *,
    capacity: Capacity | None = None,
    problem: str | None = None,
) -> bool:
    """Record the observed state of the host; True if it changed. capacity None: keep the last known one."""
    result = await tx.execute(
        select(StorageHost).where(StorageHost.id == host).with_for_update(key_share=True)
    )
    row = result.scalar()
    if row is None:
        return False
    changed = (row.state, row.problem) != (state, problem)
    row.state, row.problem, row.checked_at = state, problem, now
    if capacity:
        row.total_bytes, row.free_bytes = capacity.total_bytes, capacity.free_bytes
    await tx.flush()
    if changed:
        await publish(tx, row)
    return changed


def _answering(host: StorageHost) -> StorageHost:
    if host.state in (HostState.UNAVAILABLE, HostState.UNUSABLE):
        raise Unavailable(
            f"storage.{host.state}",
            f"The storage host {host.name} cannot be used now.",
            hint="Use another one, or try again later.",
            field="host",
        )
    return host


def _missing(ref: str) -> NotFound:
    return NotFound(
        "storage_host.not_found",
        f"There is no storage host {ref} that you may use for this.",
        hint="See `carrel storage-host ls`.",
        field="host",
    )


async def changing(tx: AsyncSession, actor: Actor, ref: str) -> StorageHost:
    """The host, locked, if the actor may change it. Raises: NotFound, Forbidden."""
    host = await find(tx, actor, ref)
    require(actor, _CHANGES, Target())
    await tx.refresh(host, with_for_update={"key_share": True})
    return host


async def _one_at_a_time(tx: AsyncSession) -> None:
    """Serialize additions of hosts until the transaction ends, so that no root overlaps a concurrent one."""
    await tx.execute(select(func.pg_advisory_xact_lock(_ROOTS)))


async def _roots(tx: AsyncSession) -> list[tuple[str, Path]]:
    rows = await tx.execute(select(StorageHost.name, StorageHost.root))
    return [(name, Path(root)) for name, root in rows]


async def _rename(tx: AsyncSession, old: str, new: str | None) -> None:
    """Rename the host in domains and policies, which refer to it by name. new: None when it is removed."""
    listed = func.array_position(Domain.storage_hosts, old).is_not(None)
    names = (
        func.array_replace(Domain.storage_hosts, old, new)
        if new
        else func.array_remove(Domain.storage_hosts, old)
    )
    await tx.execute(update(Domain).where(listed).values(storage_hosts=names))
    await limits.rename_host(tx, old, new)


async def _flush(tx: AsyncSession, name: str) -> None:
    try:
        await tx.flush()
    except IntegrityError as error:
        if "uq_storage_hosts_name" not in str(error.orig):
            raise
        raise Conflict(
            "storage_host.name_taken",
            f"A storage host named {name} already exists.",
            hint="Choose another name.",
            field="name",
        ) from None


async def record_change(tx: AsyncSession, actor: Actor, host: StorageHost, **details: object) -> None:
    """Write the audit entry of a change, and publish it."""
    await _record(tx, actor, _CHANGED, host, **details)


async def _record(tx: AsyncSession, actor: Actor, event: str, host: StorageHost, **details: object) -> None:
    """Write the audit entry, publish an event and trigger a check of the host."""
    audit.record(tx, actor, _CHANGES, host.id, name=host.name, target=Target(), details=details)
    await publish(tx, host, event)


async def publish(tx: AsyncSession, host: StorageHost, event: str = _CHANGED) -> None:
    """Publish the host to storage administrators."""
    data = {"id": host.id, "name": host.name, "state": host.state, "active": host.active}
    await events.record(tx, event, host.id, target=Target(), data=data)
    await notify(tx, TOPIC)
