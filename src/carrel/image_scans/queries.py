"""Reads of scans of images: those of the images that the actor may use; for superadmins all."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import Select, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import undefer

from carrel.core.errors import NotFound
from carrel.core.ids import ImageScanId
from carrel.db.search import has_part
from carrel.engines.references import canonical
from carrel.environments import environment_access as access
from carrel.environments import session_images as environments
from carrel.http import paging, spreadsheet
from carrel.http.paging import Sort
from carrel.image_scans import catalogue_digests, scan_targets, stored_reports, vulnerability_rules
from carrel.image_scans.catalogue_digests import CatalogueDigest
from carrel.image_scans.schemas import (
    HasFix,
    ImagePackageList,
    ImagePackageQuery,
    ImagePackageView,
    ImageScanList,
    ImageScanQuery,
    ImageScanView,
    ScanExemptionView,
    SeverityCounts,
    VulnerabilityFilter,
    VulnerabilityList,
    VulnerabilityQuery,
    VulnerabilityView,
)
from carrel.images import service as images
from carrel.permissions.decide import Actor
from carrel.permissions.roles import sees_everything
from carrel.scanners.reports import Severity
from carrel.site import service as site
from carrel.site.schemas import SiteSettings
from carrel.tables.environments import REPOSITORY, Environment, EnvironmentVersion
from carrel.tables.image_scans import ImageReport, ImageScan

_SORT = Sort(
    {"reference": ImageScan.reference, "ended_at": ImageScan.ended_at}, tie=ImageScan.id, default="reference"
)


async def reference_of(tx: AsyncSession, actor: Actor, image: str) -> str:
    """The canonical reference of what a session request would call so. Raises: NotFound, Conflict."""
    if not image.startswith(f"{REPOSITORY}/"):
        row = None
        if not environments.is_environment(image):
            row = await images.find(tx, image, domain=actor.domain_id, projects=actor.projects)
        row = row or await environments.image_of(tx, actor, image)
        if row is not None:
            return canonical(row.reference)
    return canonical(image)


async def page(tx: AsyncSession, actor: Actor, query: ImageScanQuery, now: datetime) -> ImageScanList:
    """A page of the scans."""
    chosen = await _visible(tx, actor)
    if query.q:
        chosen = chosen.where(has_part("image_scans.reference", query.q))
    if query.image is not None:
        names = [await _named(tx, actor, one) for one in query.image]
        chosen = chosen.where(ImageScan.reference.in_([one for one in names if one]))
    if query.severity:
        severe = [
            ImageReport.first_found.has_key(one.value) for one in Severity if one.at_least(query.severity)
        ]
        chosen = chosen.where(or_(*severe))
    rows = await paging.page(tx, chosen, _SORT, query)
    settings = await site.settings(tx)
    catalogue = await catalogue_digests.read(tx, [row.ImageScan.reference for row in rows.rows])
    items = [_view(scan, report, settings, catalogue.get(scan.reference), now) for scan, report in rows.rows]
    return ImageScanList(items=items, next_cursor=rows.next_cursor)


async def show(tx: AsyncSession, actor: Actor, scan_id: ImageScanId, now: datetime) -> ImageScanView:
    """One scan. Raises: NotFound."""
    scan, report = await _visible_scan(tx, actor, scan_id)
    catalogue = await catalogue_digests.read(tx, [scan.reference])
    return _view(scan, report, await site.settings(tx), catalogue.get(scan.reference), now)


async def vulnerabilities(
    tx: AsyncSession, actor: Actor, scan_id: ImageScanId, query: VulnerabilityQuery
) -> Callable[[], VulnerabilityList]:
    """The vulnerabilities in an image, once the answer is called; that takes long if there are many.

    Raises: NotFound.
    """
    report = await _report(tx, actor, scan_id)

    def answer() -> VulnerabilityList:
        shown, cursor = _cut(_chosen(report, query), query)
        items = [VulnerabilityView(**one) for one in shown]
        return VulnerabilityList(items=items, counts=_counts(report), next_cursor=cursor)

    return answer


async def vulnerabilities_csv(
    tx: AsyncSession, actor: Actor, scan_id: ImageScanId, query: VulnerabilityFilter
) -> Callable[[], str]:
    """All of them as CSV, as `vulnerabilities`. Raises: NotFound."""
    report = await _report(tx, actor, scan_id)
    names = list(VulnerabilityView.model_fields)
    return lambda: spreadsheet.table(names, ([one[name] for name in names] for one in _chosen(report, query)))


async def packages(
    tx: AsyncSession, actor: Actor, scan_id: ImageScanId, query: ImagePackageQuery
) -> Callable[[], ImagePackageList]:
    """The packages in an image, as `vulnerabilities`. Raises: NotFound."""
    report = await _report(tx, actor, scan_id)

    def answer() -> ImagePackageList:
        part = (query.q or "").lower()
        chosen = [
            one
            for one in stored_reports.stored(report.report).packages
            if part in one["name"].lower() or part in one["license"].lower()
        ]
        shown, cursor = _cut(chosen, query)
        return ImagePackageList(items=[ImagePackageView(**one) for one in shown], next_cursor=cursor)

    return answer


async def sbom(tx: AsyncSession, actor: Actor, scan_id: ImageScanId) -> bytes:
    """The CycloneDX document, compressed as it is stored. Raises: NotFound."""
    return (await _report(tx, actor, scan_id)).sbom


def missing(ref: str) -> NotFound:
    return NotFound("image_scan.not_found", f"There is no scan {ref}.", hint="See `carrel image scans`.")


async def _named(tx: AsyncSession, actor: Actor, image: str) -> str | None:
    try:
        return await reference_of(tx, actor, image)
    except NotFound:
        return None


async def _visible(tx: AsyncSession, actor: Actor) -> Select[ImageScan, ImageReport]:
    chosen = select(ImageScan, ImageReport).outerjoin(ImageReport, ImageReport.digest == ImageScan.digest)
    if sees_everything(actor):
        return chosen
    theirs = (
        select(EnvironmentVersion.reference)
        .join(Environment, Environment.id == EnvironmentVersion.environment_id)
        .where(access.IN_USE, access.visible(actor))
    )
    references = [*await images.references(tx, actor), *(await tx.execute(theirs)).scalars()]
    return chosen.where(ImageScan.reference.in_({canonical(one) for one in references}))


async def _visible_scan(
    tx: AsyncSession, actor: Actor, scan_id: ImageScanId
) -> tuple[ImageScan, ImageReport | None]:
    row = (await tx.execute((await _visible(tx, actor)).where(ImageScan.id == scan_id))).one_or_none()
    if row is None:
        raise missing(scan_id)
    return row.ImageScan, row.ImageReport


async def _report(tx: AsyncSession, actor: Actor, scan_id: ImageScanId) -> ImageReport:
    scan, report = await _visible_scan(tx, actor, scan_id)
    if report is None:
        raise NotFound(
            "image_scan.no_report",
            f"{scan.reference} has not been scanned yet.",
            hint=scan.problem or "Wait until its scan has ended.",
        )
    whole = select(ImageReport).where(ImageReport.digest == report.digest)
    options = undefer(ImageReport.report), undefer(ImageReport.sbom)
    again = whole.options(*options).execution_options(populate_existing=True)
    return (await tx.execute(again)).scalar_one()


def _chosen(report: ImageReport, query: VulnerabilityFilter) -> list[dict[str, Any]]:
    part = (query.q or "").lower()
    return [
        one
        for one in stored_reports.stored(report.report).vulnerabilities
        if (query.severity is None or Severity(one["severity"]).at_least(query.severity))
        and (query.fixable is None or bool(one["fixed"]) is (query.fixable == HasFix.YES))
        and (part in one["id"].lower() or part in one["package"].lower())
    ]


def _cut(chosen: list[dict[str, Any]], query: Any) -> tuple[list[dict[str, Any]], str | None]:
    begin = int(query.cursor or 0)
    end = begin + query.limit
    return chosen[begin:end], str(end) if end < len(chosen) else None


def _view(
    scan: ImageScan,
    report: ImageReport | None,
    settings: SiteSettings,
    known: CatalogueDigest | None,
    now: datetime,
) -> ImageScanView:
    exemption = None
    if scan.exempt_until and vulnerability_rules.is_exempt(scan, now):
        exemption = ScanExemptionView(reason=scan.exempt_reason, until=scan.exempt_until, by=scan.exempted_by)
    return ImageScanView(
        id=scan.id,
        reference=scan.reference,
        state=scan.state,
        cancel=scan.cancel,
        problem=scan.problem,
        requested_at=scan.requested_at,
        ended_at=scan.ended_at,
        scanned_at=report.scanned_at if report else None,
        scanner=report.scanner if report else "",
        digest=report.digest if report else None,
        target=scan.target,
        outdated=scan_targets.is_outdated(scan.target, known),
        packages=report.packages if report else 0,
        counts=_counts(report),
        effect=vulnerability_rules.effect(settings, scan, report, now),
        exemption=exemption,
    )


def _counts(report: ImageReport | None) -> SeverityCounts:
    counts = report.counts if report else {}
    return SeverityCounts(**{severity.value: counts.get(severity, 0) for severity in Severity})
