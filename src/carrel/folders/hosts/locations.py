"""Where the containers of each engine have the root of a storage host."""

from pathlib import Path

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from carrel import plugins
from carrel.core.errors import Invalid, Unavailable
from carrel.core.ids import LOCAL_ENGINE, StorageHostId
from carrel.db.database import notify
from carrel.engines import volumes
from carrel.folders.hosts import roots, service
from carrel.folders.hosts.schemas import StorageHostLocationUpdate
from carrel.nodes.engines import queries as engines
from carrel.permissions.decide import Actor
from carrel.plugins import Port
from carrel.tables.engines import EngineRow
from carrel.tables.storage_hosts import TOPIC, StorageHost, StorageHostLocation

NOWHERE = "nowhere"


async def change(
    tx: AsyncSession, actor: Actor, ref: str, engine: str, update: StorageHostLocationUpdate
) -> StorageHostId:
    """Change where the engine has the host. Raises: NotFound, Forbidden; Invalid for a location it cannot have."""
    host = await service.changing(tx, actor, ref)
    row = await engines.find(tx, actor, engine)
    if update.location:
        _require_mountable(row, update.location)
    known = await tx.get(StorageHostLocation, (host.id, row.id))
    before = known.location if known else ""
    if update.location == before:
        return host.id
    await tx.merge(StorageHostLocation(host_id=host.id, engine_id=row.id, location=update.location))
    await service.record_change(
        tx,
        actor,
        host,
        before={"locations": {row.name: before}},
        after={"locations": {row.name: update.location}},
    )
    return host.id


async def ensure_local(tx: AsyncSession, data_dir: Path, location: str) -> None:
    """Set where the local engine has the host of the data directory, if there is that host. Twice: no-op.

    location: NOWHERE only if none is known. Raises: Invalid for a location that the engine cannot have.
    """
    root = str(data_dir / roots.FOLDERS)
    host = (await tx.execute(select(StorageHost.id).where(StorageHost.root == root))).scalar()
    if host is None:
        return
    row = insert(StorageHostLocation).values(host_id=host, engine_id=LOCAL_ENGINE)
    if location == NOWHERE:
        change = row.on_conflict_do_nothing()
    else:
        _require_mountable(await tx.get_one(EngineRow, LOCAL_ENGINE), location)
        change = row.values(location=location).on_conflict_do_update(
            index_elements=["host_id", "engine_id"],
            set_={"location": location},
            where=StorageHostLocation.location.is_distinct_from(location),
        )
    if (await tx.execute(change.returning(StorageHostLocation.host_id))).first():
        await notify(tx, TOPIC)


def _require_mountable(engine: EngineRow, text: str) -> None:
    try:
        location = volumes.parse(text)
    except ValueError as error:
        raise Invalid("storage_host.location", str(error), field="location") from None
    if location.volume and location.volume.kind not in _volume_kinds(engine.kind):
        raise Invalid(
            "storage_host.location",
            f"The engine {engine.name} does not mount {location.volume.kind}:// volumes.",
            hint="Mount the storage on its nodes, and give the path there.",
            field="location",
        )


def _volume_kinds(kind: str) -> frozenset[str]:
    """The kinds of volumes that engines of this kind mount."""
    try:
        made = plugins.find(Port.ENGINE, kind).makes
    except Unavailable:
        return frozenset()
    return getattr(made, "volume_kinds", frozenset())
