"""Use cases of scans: request, cancel and list them; and what the leader writes while it scans."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import NotFound
from carrel.core.ids import ScanId, new_id
from carrel.db.database import notify
from carrel.events import service as events
from carrel.http import paging
from carrel.http.paging import PageQuery, Sort
from carrel.images import rescan_progress
from carrel.images.registries import service
from carrel.images.registries.queries import ScopedRegistry
from carrel.images.registries.schemas import RegistryScanList, RegistryScanView
from carrel.permissions.decide import Actor, Target
from carrel.tables.registries import TOPIC, ImageRegistry, RegistryScan, ScannedRepository, ScanState
from carrel.tables.tenancy import Project

_UPDATE, _EVENT = "registry.update", "registry_scan.updated"
_SORT = Sort({"created_at": RegistryScan.created_at}, tie=RegistryScan.id, default="-created_at")
_KEPT = timedelta(days=90)


@dataclass(frozen=True)
class Counts:
    """What a scanned repository adds to the counts of its scan. problem: why it could not be read."""

    tags: int = 0
    added: int = 0
    updated: int = 0
    removed: int = 0
    problem: str | None = None


async def request(tx: AsyncSession, clock: Clock, actor: Actor, ref: str) -> RegistryScanView:
    """Start a scan; while one is waiting or running, that one. Raises: NotFound, Forbidden."""
    row = await service.find(tx, actor, ref, _UPDATE)
    scan = ScanId(new_id())
    made = await tx.execute(
        insert(RegistryScan)
        .values(id=scan, registry_id=row.registry.id, requested_by=actor.user_id, created_at=clock.now())
        .on_conflict_do_nothing(
            index_elements=[RegistryScan.registry_id], index_where=RegistryScan.ended_at.is_(None)
        )
        .returning(RegistryScan.id)
    )
    if made.scalar() is not None:
        _note(tx, actor, row, "scan requested")
        await notify(tx, TOPIC)
    latest = select(RegistryScan).where(
        RegistryScan.registry_id == row.registry.id, RegistryScan.ended_at.is_(None)
    )
    return _view((await tx.execute(latest)).scalar_one())


async def cancel(tx: AsyncSession, actor: Actor, ref: str) -> RegistryScanView:
    """Cancel the open scan; what it has read stays. Raises: NotFound, Forbidden."""
    row = await service.find(tx, actor, ref, _UPDATE)
    scan = (
        await tx.execute(
            select(RegistryScan)
            .where(RegistryScan.registry_id == row.registry.id, RegistryScan.ended_at.is_(None))
            .with_for_update()
        )
    ).scalar()
    if scan is None:
        raise NotFound(
            "registry.no_scan", f"{row.registry.name} is not being scanned.", hint="See its latest scans."
        )
    if not scan.cancel:
        scan.cancel = True
        await tx.flush()
        _note(tx, actor, row, "scan cancelled")
        await notify(tx, TOPIC)
    return _view(scan)


async def page(tx: AsyncSession, actor: Actor, ref: str, query: PageQuery) -> RegistryScanList:
    """The scans of a registry, the latest first. Raises: NotFound."""
    row = await service.find(tx, actor, ref)
    chosen = select(RegistryScan).where(RegistryScan.registry_id == row.registry.id)
    rows = await paging.page(tx, chosen, _SORT, query)
    return RegistryScanList(
        items=[_view(one.RegistryScan) for one in rows.rows], next_cursor=rows.next_cursor
    )


async def open_scans(tx: AsyncSession) -> Sequence[RegistryScan]:
    """Those to work on, the oldest first."""
    opened = select(RegistryScan).where(RegistryScan.ended_at.is_(None))
    return (await tx.execute(opened.order_by(RegistryScan.created_at, RegistryScan.id))).scalars().all()


async def begin(tx: AsyncSession, scan: ScanId, now: datetime) -> ImageRegistry | None:
    """Note that a scan runs, also again after a crash; None: it has ended."""
    row = await _open(tx, scan)
    if row is None:
        return None
    row.state, row.started_at = ScanState.RUNNING, row.started_at or now
    await tx.flush()
    await _publish(tx, row)
    return await tx.get_one(ImageRegistry, row.registry_id)


async def list_repositories(tx: AsyncSession, scan: ScanId, names: Sequence[str], *, removed: int) -> None:
    """Keep the repositories of a scan. removed: images of repositories that are gone. Twice: no-op."""
    row = await _open(tx, scan)
    if row is None or row.repositories is not None:
        return
    for start in range(0, len(names), 1000):
        values = [{"scan_id": scan, "repository": name} for name in names[start : start + 1000]]
        await tx.execute(insert(ScannedRepository), values)
    row.repositories, row.removed = len(names), removed
    await tx.flush()
    await _publish(tx, row)


async def left(tx: AsyncSession, scan: ScanId) -> list[str] | None:
    """The repositories that are not done; None: they are not listed yet."""
    listed = select(RegistryScan.repositories).where(RegistryScan.id == scan)
    if (await tx.execute(listed)).scalar() is None:
        return None
    rows = await tx.execute(
        select(ScannedRepository.repository)
        .where(ScannedRepository.scan_id == scan, ~ScannedRepository.done)
        .order_by(ScannedRepository.repository)
    )
    return list(rows.scalars())


async def is_cancelled(tx: AsyncSession, scan: ScanId) -> bool:
    """True if it was cancelled, or removed with its registry."""
    row = await tx.execute(select(RegistryScan.cancel).where(RegistryScan.id == scan))
    return row.scalar() is not False


async def settle(tx: AsyncSession, scan: ScanId, repository: str, counts: Counts) -> bool:
    """Note that a repository is done; False: the scan has ended, or the repository was done before."""
    row = await _open(tx, scan)
    if row is None:
        return False
    done = await tx.execute(
        update(ScannedRepository)
        .where(
            ScannedRepository.scan_id == scan,
            ScannedRepository.repository == repository,
            ~ScannedRepository.done,
        )
        .values(done=True)
        .returning(ScannedRepository.repository)
    )
    if done.scalar() is None:
        return False
    row.repositories_done += 1
    row.repositories_failed += counts.problem is not None
    row.tags += counts.tags
    row.added += counts.added
    row.updated += counts.updated
    row.removed += counts.removed
    row.problem = counts.problem or row.problem
    await tx.flush()
    await _publish(tx, row)
    return True


async def count_layer(tx: AsyncSession, scan: ScanId, size_bytes: int) -> None:
    """Count a downloaded layer."""
    if row := await _open(tx, scan):
        row.layers += 1
        row.layer_bytes += size_bytes
        await tx.flush()
        await _publish(tx, row)


async def note_problem(tx: AsyncSession, scan: ScanId, problem: str) -> None:
    """Keep why the packages of an image could not be read."""
    if row := await _open(tx, scan):
        row.problem = problem


async def finish(
    tx: AsyncSession,
    scan: ScanId,
    state: ScanState,
    now: datetime,
    *,
    requests: int,
    problem: str | None = None,
) -> None:
    """End a scan. Twice: no-op."""
    row = await _open(tx, scan)
    if row is None:
        return
    row.state, row.ended_at, row.requests = state, now, row.requests + requests
    row.problem = problem or row.problem
    if row.rescan_id:
        await rescan_progress.add(tx, row.rescan_id, state, now, problem)
        row.rescan_id = None
    await tx.execute(delete(ScannedRepository).where(ScannedRepository.scan_id == scan))
    await tx.execute(
        delete(RegistryScan).where(
            RegistryScan.registry_id == row.registry_id, RegistryScan.created_at < now - _KEPT
        )
    )
    await tx.flush()
    await _publish(tx, row)


async def _open(tx: AsyncSession, scan: ScanId) -> RegistryScan | None:
    statement = select(RegistryScan).where(RegistryScan.id == scan, RegistryScan.ended_at.is_(None))
    return (await tx.execute(statement.with_for_update())).scalar()


async def _publish(tx: AsyncSession, scan: RegistryScan) -> None:
    place = (
        select(ImageRegistry.project_id, func.coalesce(ImageRegistry.domain_id, Project.domain_id))
        .outerjoin(Project, Project.id == ImageRegistry.project_id)
        .where(ImageRegistry.id == scan.registry_id)
    )
    project, domain = (await tx.execute(place)).one()
    data = _view(scan).model_dump(mode="json")
    target = Target(project_id=project, domain_id=domain)
    await events.record(tx, _EVENT, scan.id, target=target, data=data)


def _note(tx: AsyncSession, actor: Actor, row: ScopedRegistry, what: str) -> None:
    audit.record(
        tx,
        actor,
        _UPDATE,
        row.registry.id,
        name=row.registry.name,
        target=row.target,
        details={"what": what},
    )


def _view(scan: RegistryScan) -> RegistryScanView:
    return RegistryScanView.model_validate(scan, from_attributes=True)
