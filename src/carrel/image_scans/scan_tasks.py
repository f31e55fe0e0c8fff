"""What the leader does with scans of images: which are due, and how they end."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import EngineId, ImageScanId, new_id
from carrel.db.database import notify
from carrel.engines.references import canonical, with_digest
from carrel.events import service as events
from carrel.image_scans import catalogue_digests
from carrel.image_scans.scan_targets import ScanTarget
from carrel.image_scans.stored_reports import Documents
from carrel.images import rescan_progress
from carrel.permissions.decide import Target
from carrel.site import service as site
from carrel.tables.engines import EngineRow
from carrel.tables.environments import EnvironmentVersion, VersionState
from carrel.tables.image_scans import TOPIC, ImageReport, ImageScan
from carrel.tables.images import Image
from carrel.tables.nodes import IS_KNOWN, Node
from carrel.tables.registries import ScanState
from carrel.tables.session_states import ENDED
from carrel.tables.sessions import Container

EVENT = "image_scan.updated"
_KEPT = timedelta(days=30)
"""After its image is gone, unless it is exempt."""
_AFTER_FAILURE = timedelta(hours=1)


@dataclass(frozen=True)
class BegunScan:
    """engine_url: of the settings of the engine that has the image; "": none. before: the
    stored report of the scan before.
    """

    reference: str
    engine_url: str
    before: bytes | None


async def present(tx: AsyncSession) -> dict[str, EngineId]:
    """The images that sessions use or can use and that a node has, with an engine of each: those of the catalogue and
    of environments, those of live sessions, and those that were scanned before. A node has a pinned image only if it
    has this digest.
    """
    on_nodes: dict[str, EngineId] = {}
    for engine, images in await tx.execute(
        select(Node.engine_id, Node.images).where(IS_KNOWN).order_by(Node.id)
    ):
        for reference in map(canonical, images):
            if engine:
                on_nodes.setdefault(reference, engine)
    catalogue = await catalogue_digests.read(tx, on_nodes)
    without_digest = select(Image.reference).where(Image.digest.is_(None))
    used = without_digest.union(
        select(EnvironmentVersion.reference).where(EnvironmentVersion.state == VersionState.READY),
        select(Container.image).where(Container.state.not_in(ENDED)),
        select(ImageScan.reference),
    )
    names = {canonical(reference) for reference in (await tx.execute(used)).scalars()} | catalogue.keys()
    pins = {
        canonical(with_digest(reference, one.digest)): reference
        for reference, one in catalogue.items()
        if one.pinned
    }
    names -= set(pins.values())
    there: dict[str, EngineId] = {}
    for reference, engine in on_nodes.items():
        if reference in names:
            there.setdefault(reference, engine)
        if pinned := pins.get(reference):
            there.setdefault(pinned, engine)
    return there


async def due(
    tx: AsyncSession, there: Mapping[str, EngineId], targets: Mapping[str, ScanTarget], now: datetime
) -> Sequence[ImageScan]:
    """The open scans, those that somebody requested first, for single images before all; with those of images that are
    new, have changed or were last scanned long ago.

    there: as `present` returns it. targets: by reference.
    """
    known = set((await tx.execute(select(ImageScan.reference))).scalars())
    new = [reference for reference in there if reference not in known]
    for start in range(0, len(new), 1000):
        values = [
            {"id": ImageScanId(new_id()), "reference": one, "requested_at": now}
            for one in new[start : start + 1000]
        ]
        await tx.execute(insert(ImageScan).values(values).on_conflict_do_nothing())
    await _forget(tx, there, now)
    hours = timedelta(hours=(await site.settings(tx)).image_scan_hours)
    ended = select(ImageScan).where(ImageScan.ended_at.is_not(None), ImageScan.reference.in_(there))
    for scan in (await tx.execute(ended)).scalars():
        target = targets.get(scan.reference)
        if _is_due(scan, target.content if target else None, hours, now):
            scan.state, scan.ended_at, scan.requested_at = ScanState.WAITING, None, now
            scan.requested_by = None
    await tx.flush()
    opened = select(ImageScan).where(ImageScan.ended_at.is_(None))
    return (
        (
            await tx.execute(
                opened.order_by(
                    ImageScan.requested_by.is_(None),
                    ImageScan.rescan_id.is_not(None),
                    ImageScan.requested_at,
                    ImageScan.id,
                )
            )
        )
        .scalars()
        .all()
    )


def _is_due(scan: ImageScan, digest: str | None, hours: timedelta, now: datetime) -> bool:
    assert scan.ended_at
    age = now - scan.ended_at
    if scan.state == ScanState.FAILED:
        return age >= _AFTER_FAILURE
    return age >= hours or (scan.state == ScanState.DONE and digest is not None and digest != scan.digest)


async def _forget(tx: AsyncSession, there: Mapping[str, EngineId], now: datetime) -> None:
    """Remove scans of images that are gone for long, and reports that no scan has any more."""
    exempt = ImageScan.exempt_until.is_not(None) & (ImageScan.exempt_until > now)
    old = ImageScan.ended_at < now - _KEPT
    await tx.execute(delete(ImageScan).where(old, ~exempt, ImageScan.reference.not_in(there)))
    linked = select(ImageScan.digest).where(ImageScan.digest.is_not(None))
    await tx.execute(delete(ImageReport).where(ImageReport.digest.not_in(linked)))


async def begin(tx: AsyncSession, scan_id: ImageScanId, engine: EngineId | None) -> BegunScan | None:
    """Note that a scan runs, also again after a crash. None: it has ended."""
    scan = await _open(tx, scan_id)
    if scan is None:
        return None
    scan.state = ScanState.RUNNING
    await _publish(tx, scan)
    before = select(ImageReport.report).where(ImageReport.digest == scan.digest)
    row = await tx.get(EngineRow, engine) if engine else None
    url = str(row.settings.get("url", "")) if row else ""
    return BegunScan(scan.reference, url, (await tx.execute(before)).scalar())


async def reuse(tx: AsyncSession, scan_id: ImageScanId, target: ScanTarget, now: datetime) -> bool:
    """End a scan with the report that another reference of the same image has; False: there is none that is recent
    enough, or not since somebody requested a scan.
    """
    scan = await _open(tx, scan_id)
    hours = timedelta(hours=(await site.settings(tx)).image_scan_hours)
    report = await tx.get(ImageReport, target.content) if target.content else None
    if scan is None or report is None or report.scanned_at <= now - hours:
        return False
    if scan.requested_by and report.scanned_at < scan.requested_at:
        return False
    scan.digest, scan.target = report.digest, target.reference
    await _end(tx, scan, ScanState.DONE, report.scanned_at)
    return True


async def complete(
    tx: AsyncSession, scan_id: ImageScanId, target: ScanTarget, kept: Documents, now: datetime
) -> None:
    """End a scan with what was found. Twice: no-op."""
    scan = await _open(tx, scan_id)
    if scan is None:
        return
    digest = target.content or f"ref:{hashlib.sha256(scan.reference.encode()).hexdigest()}"
    values = {**vars(kept), "scanned_at": now}
    await tx.execute(
        insert(ImageReport)
        .values(digest=digest, **values)
        .on_conflict_do_update(index_elements=[ImageReport.digest], set_=values)
    )
    # Its other references have the new report as well.
    others = (ImageScan.digest == digest) & (ImageScan.state == ScanState.DONE)
    await tx.execute(update(ImageScan).where(others).values(ended_at=now))
    scan.digest, scan.target = digest, target.reference
    await _end(tx, scan, ScanState.DONE, now)


async def give_up(
    tx: AsyncSession, scan_id: ImageScanId, state: ScanState, now: datetime, problem: str | None = None
) -> None:
    """End a scan without a result; the former one stays. Twice: no-op."""
    if scan := await _open(tx, scan_id):
        await _end(tx, scan, state, now, problem)


async def _open(tx: AsyncSession, scan_id: ImageScanId) -> ImageScan | None:
    statement = select(ImageScan).where(ImageScan.id == scan_id, ImageScan.ended_at.is_(None))
    return (await tx.execute(statement.with_for_update())).scalar()


async def _end(
    tx: AsyncSession,
    scan: ImageScan,
    state: ScanState,
    ended_at: datetime,
    problem: str | None = None,
) -> None:
    scan.state, scan.ended_at, scan.problem, scan.cancel = state, ended_at, problem, False
    if scan.rescan_id:
        await rescan_progress.add(tx, scan.rescan_id, state, ended_at, problem)
        scan.rescan_id = None
    await _publish(tx, scan)
    # The next one can begin.
    await notify(tx, TOPIC)


async def _publish(tx: AsyncSession, scan: ImageScan) -> None:
    await tx.flush()
    data = {"name": scan.reference, "state": scan.state}
    await events.record(tx, EVENT, scan.id, target=Target(), data=data)
