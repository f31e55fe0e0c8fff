"""Use cases of scans of images: request and cancel them, and exempt images from the rule."""

from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Conflict, Invalid
from carrel.core.ids import ImageScanId, new_id
from carrel.db.database import notify
from carrel.image_scans import queries
from carrel.image_scans.schemas import ScanExemptionUpdate
from carrel.permissions.decide import Actor, Target, require
from carrel.tables.image_scans import TOPIC, ImageScan
from carrel.tables.registries import ScanState

_SCAN, _EXEMPT = "image.scan", "image.exempt"
_LONGEST = timedelta(days=366)


async def request(tx: AsyncSession, clock: Clock, actor: Actor, image: str) -> ImageScanId:
    """Have an image scanned now; while its scan is waiting or running, that one. Raises: NotFound, Forbidden."""
    require(actor, _SCAN, Target())
    reference = await queries.reference_of(tx, actor, image)
    now = clock.now()
    added = insert(ImageScan).values(id=ImageScanId(new_id()), reference=reference, requested_at=now)
    await tx.execute(added.on_conflict_do_nothing())
    statement = select(ImageScan).where(ImageScan.reference == reference).with_for_update()
    scan = (await tx.execute(statement)).scalar_one()
    if scan.requested_by is None or scan.ended_at:
        if scan.ended_at:
            scan.state, scan.ended_at, scan.problem, scan.requested_at = ScanState.WAITING, None, None, now
        scan.requested_by = actor.user_id
        audit.record(
            tx, actor, _SCAN, scan.id, name=scan.reference, target=Target(), details={"what": "requested"}
        )
        await tx.flush()
        await notify(tx, TOPIC)
    return scan.id


async def cancel(tx: AsyncSession, actor: Actor, scan_id: ImageScanId) -> None:
    """Cancel a scan that is waiting or running; the former result stays. Raises: NotFound, Forbidden, Conflict."""
    scan = await _locked(tx, actor, scan_id, _SCAN)
    if scan.ended_at:
        raise Conflict(
            "image_scan.not_open", f"{scan.reference} is not being scanned.", hint="See its latest scan."
        )
    if not scan.cancel:
        scan.cancel = True
        audit.record(
            tx, actor, _SCAN, scan.id, name=scan.reference, target=Target(), details={"what": "cancelled"}
        )
        await tx.flush()
        await notify(tx, TOPIC)


async def exempt(
    tx: AsyncSession, clock: Clock, actor: Actor, scan_id: ImageScanId, body: ScanExemptionUpdate
) -> None:
    """Exempt an image from the rule until a date. Raises: NotFound, Forbidden, Invalid."""
    scan = await _locked(tx, actor, scan_id, _EXEMPT)
    now = clock.now()
    if not now < body.until <= now + _LONGEST:
        raise Invalid(
            "image_scan.exempt_until",
            "An exemption ends in the future, and within a year.",
            hint="Choose another date; it can be renewed.",
            field="until",
        )
    _set(tx, actor, scan, until=body.until, reason=body.reason, by=actor.email)


async def end_exemption(tx: AsyncSession, actor: Actor, scan_id: ImageScanId) -> None:
    """End an exemption. Twice: no-op. Raises: NotFound, Forbidden."""
    scan = await _locked(tx, actor, scan_id, _EXEMPT)
    if scan.exempt_until:
        _set(tx, actor, scan, until=None, reason="", by="")


async def _locked(tx: AsyncSession, actor: Actor, scan_id: ImageScanId, action: str) -> ImageScan:
    require(actor, action, Target())
    statement = select(ImageScan).where(ImageScan.id == scan_id).with_for_update()
    scan = (await tx.execute(statement)).scalar()
    if scan is None:
        raise queries.missing(scan_id)
    return scan


def _set(
    tx: AsyncSession, actor: Actor, scan: ImageScan, *, until: datetime | None, reason: str, by: str
) -> None:
    before = _exemption(scan)
    scan.exempt_until, scan.exempt_reason, scan.exempted_by = until, reason, by
    details = {"before": before, "after": _exemption(scan)}
    audit.record(tx, actor, _EXEMPT, scan.id, name=scan.reference, target=Target(), details=details)


def _exemption(scan: ImageScan) -> dict[str, object]:
    until = scan.exempt_until
    return {"until": until.isoformat(), "reason": scan.exempt_reason} if until else {}
