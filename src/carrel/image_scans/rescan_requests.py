"""Use cases of scans of all registries or all images: request, cancel and list them."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime

from sqlalchemy import ARRAY, String, any_, cast, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Conflict
from carrel.core.ids import ImageScanId, RescanId, ScanId, new_id
from carrel.db.database import notify
from carrel.events import service as events
from carrel.image_scans import scan_tasks
from carrel.image_scans.schemas import RescanList, RescanView
from carrel.permissions.decide import Actor, Target, require
from carrel.tables import image_scans, registries
from carrel.tables.image_scans import ImageScan
from carrel.tables.registries import ImageRegistry, RegistryScan, ScanState
from carrel.tables.rescans import Rescan, RescanKind
from carrel.tables.tenancy import User

_ACTION, _EVENT = "image.scan", "rescan.updated"
_ROWS: Mapping[RescanKind, type[ImageScan] | type[RegistryScan]] = {
    RescanKind.IMAGES: ImageScan,
    RescanKind.REGISTRIES: RegistryScan,
}
_TOPICS = {RescanKind.IMAGES: image_scans.TOPIC, RescanKind.REGISTRIES: registries.TOPIC}


async def listed(tx: AsyncSession, actor: Actor) -> RescanList:
    """The latest of each kind. Raises: Forbidden."""
    require(actor, _ACTION, Target())
    kinds = (await tx.execute(select(Rescan.kind).order_by(Rescan.kind.desc()))).scalars()
    return RescanList(items=[await _view(tx, kind) for kind in kinds])


async def request(tx: AsyncSession, clock: Clock, actor: Actor, kind: RescanKind) -> RescanView:
    """Have everything scanned; while the former scan of this kind is not done, that one. Raises: Forbidden."""
    require(actor, _ACTION, Target())
    latest = (await tx.execute(select(Rescan).where(Rescan.kind == kind).with_for_update())).scalar()
    if latest is not None:
        if await _open(tx, latest):
            return await _view(tx, kind)
        await tx.delete(latest)
        await tx.flush()
    now = clock.now()
    values = {"id": RescanId(new_id()), "kind": kind, "requested_by": actor.user_id, "total": 0}
    added = insert(Rescan).values(**values, requested_at=now, updated_at=now).on_conflict_do_nothing()
    rescan = (await tx.execute(added.returning(Rescan))).scalar()
    if rescan is not None:
        await _MEMBERS[kind](tx, rescan, now)
        rescan.total = await _open(tx, rescan)
        await _note(tx, actor, rescan, "requested")
    return await _view(tx, kind)


async def cancel(tx: AsyncSession, actor: Actor, kind: RescanKind) -> RescanView:
    """Cancel what is left of the latest of this kind; what was scanned stays. Raises: Forbidden, Conflict."""
    require(actor, _ACTION, Target())
    latest = (await tx.execute(select(Rescan).where(Rescan.kind == kind))).scalar()
    if latest is None or not await _open(tx, latest):
        raise Conflict(
            "rescan.not_open", "Not everything is being scanned.", hint="See `carrel image scan --all`."
        )
    row = _ROWS[kind]
    cancelled = update(row).where(row.rescan_id == latest.id, row.ended_at.is_(None)).values(cancel=True)
    await tx.execute(cancelled)
    await _note(tx, actor, latest, "cancelled")
    return await _view(tx, kind)


async def _add_images(tx: AsyncSession, rescan: Rescan, now: datetime) -> None:
    there = list(await scan_tasks.present(tx))
    for start in range(0, len(there), 1000):
        new = [
            {"id": ImageScanId(new_id()), "reference": one, "requested_at": now}
            for one in there[start : start + 1000]
        ]
        await tx.execute(insert(ImageScan).values(new).on_conflict_do_nothing())
    member = {"rescan_id": rescan.id, "requested_by": rescan.requested_by}
    again = {"state": ScanState.WAITING, "ended_at": None, "problem": None, "requested_at": now}
    present = ImageScan.reference == any_(cast(there, ARRAY(String)))
    await tx.execute(update(ImageScan).where(present, ImageScan.ended_at.is_not(None)).values(**again))
    await tx.execute(update(ImageScan).where(present).values(**member))


async def _add_registries(tx: AsyncSession, rescan: Rescan, now: datetime) -> None:
    ids = (await tx.execute(select(ImageRegistry.id))).scalars().all()
    member = {"rescan_id": rescan.id, "requested_by": rescan.requested_by}
    if ids:
        new = [{"id": ScanId(new_id()), "registry_id": one, "created_at": now, **member} for one in ids]
        await tx.execute(insert(RegistryScan).values(new).on_conflict_do_nothing())
    await tx.execute(update(RegistryScan).where(RegistryScan.ended_at.is_(None)).values(rescan_id=rescan.id))


_MEMBERS: Mapping[RescanKind, Callable[[AsyncSession, Rescan, datetime], Awaitable[None]]] = {
    RescanKind.IMAGES: _add_images,
    RescanKind.REGISTRIES: _add_registries,
}


async def _open(tx: AsyncSession, rescan: Rescan) -> int:
    """The number of its scans that have not ended."""
    row = _ROWS[rescan.kind]
    return (await tx.execute(select(func.count()).where(row.rescan_id == rescan.id))).scalar_one()


async def _view(tx: AsyncSession, kind: RescanKind) -> RescanView:
    await tx.flush()
    scan = _ROWS[kind]
    scans = select(func.count()).where(scan.rescan_id == Rescan.id).correlate(Rescan)
    # In one statement: a scan that ends meanwhile is in one of the numbers.
    row = (
        await tx.execute(
            select(
                Rescan,
                User.email,
                scans.scalar_subquery().label("left"),
                scans.where(scan.state == ScanState.RUNNING).scalar_subquery().label("running"),
                scans.where(~scan.cancel).scalar_subquery().label("wanted"),
            )
            .outerjoin(User, User.id == Rescan.requested_by)
            .where(Rescan.kind == kind)
            .execution_options(populate_existing=True)
        )
    ).one()
    rescan = row.Rescan
    return RescanView(
        kind=kind,
        requested_by=row.email,
        requested_at=rescan.requested_at,
        ended_at=None if row.left else rescan.updated_at,
        cancel=row.left > 0 and row.wanted == 0,
        total=rescan.total,
        waiting=row.left - row.running,
        running=row.running,
        done=rescan.done,
        failed=rescan.failed,
        cancelled=rescan.cancelled,
        problem=rescan.problem,
    )


async def _note(tx: AsyncSession, actor: Actor, rescan: Rescan, what: str) -> None:
    await tx.flush()
    details = {"what": what, "kind": rescan.kind}
    audit.record(tx, actor, _ACTION, rescan.id, name=f"all {rescan.kind}", target=Target(), details=details)
    data = {"kind": rescan.kind, "total": rescan.total}
    await events.record(tx, _EVENT, rescan.id, target=Target(), data=data)
    await notify(tx, _TOPICS[rescan.kind])
