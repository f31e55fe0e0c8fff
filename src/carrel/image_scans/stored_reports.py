"""Stored reports and SBOMs: compressed JSON."""

import zlib
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

import orjson

from carrel.image_scans import risks
from carrel.scanners import cyclonedx
from carrel.scanners.reports import ScannerReport

_ADDED_LATER = {"cvss_score": None, "cvss_vector": "", "epss": None}
MOST_BYTES = 32 << 20
"""Of a compressed document."""


class TooLargeToKeep(Exception):
    """The compressed documents are too large."""


@dataclass(frozen=True)
class StoredReport:
    """packages, vulnerabilities: as in `scanners.reports`; vulnerabilities also have since, the day (ISO) on which
    they were first found in the image.
    """

    packages: list[dict[str, Any]]
    vulnerabilities: list[dict[str, Any]]


@dataclass(frozen=True)
class Documents:
    """The columns of an `ImageReport`."""

    scanner: str
    packages: int
    first_found: Mapping[str, Mapping[str, int]]
    risks: list[dict[str, Any]]
    report: bytes
    sbom: bytes


def documents(report: ScannerReport, before: bytes | None, today: date) -> Documents:
    """What is kept of a report. before: the stored report of the scan before. Raises: TooLargeToKeep."""
    known = {_key(one): one["since"] for one in stored(before).vulnerabilities} if before else {}
    vulnerabilities = [asdict(one) for one in report.vulnerabilities]
    by_day: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for one in vulnerabilities:
        one["since"] = known.get(_key(one), today.isoformat())
        by_day[str(one["severity"])][one["since"]] += 1
    kept = StoredReport([asdict(one) for one in report.packages], vulnerabilities)
    packed, sbom = (
        zlib.compress(raw, 6) for raw in (orjson.dumps(kept), report.sbom or cyclonedx.write(report))
    )
    if max(len(packed), len(sbom)) > MOST_BYTES:
        raise TooLargeToKeep
    first_found = {severity: dict(days) for severity, days in by_day.items()}
    return Documents(
        report.tool, len(report.packages), first_found, risks.written(vulnerabilities), packed, sbom
    )


def stored(report: bytes) -> StoredReport:
    """The report in these bytes."""
    content = orjson.loads(zlib.decompress(report))
    return StoredReport(content["packages"], [_ADDED_LATER | one for one in content["vulnerabilities"]])


def sbom_of(sbom: bytes) -> bytes:
    """The CycloneDX document in these bytes."""
    return zlib.decompress(sbom)


def _key(vulnerability: Mapping[str, Any]) -> tuple[str, str]:
    return vulnerability["id"], vulnerability["package"]
