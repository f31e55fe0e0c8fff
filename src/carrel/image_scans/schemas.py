"""API types of scans of images."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, Field, StringConstraints

from carrel.core.ids import ImageScanId
from carrel.http.paging import PageQuery
from carrel.http.query import QueryInt
from carrel.http.validation import says
from carrel.image_scans.vulnerability_rules import ScanEffect
from carrel.scanners.reports import Severity
from carrel.tables.registries import ScanState
from carrel.tables.rescans import RescanKind

ImageName = Annotated[
    str,
    StringConstraints(max_length=512, pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/@-]*$"),
    says(
        "An image is a name in the catalogue, env:NAME, or a reference such as registry.example.org/team/name:tag."
    ),
]


class SeverityCounts(BaseModel):
    """Number of vulnerabilities by severity."""

    critical: int
    high: int
    medium: int
    low: int
    unknown: int


class ScanExemptionView(BaseModel):
    """by: e-mail of who made it."""

    reason: str
    until: datetime
    by: str


class ImageScanView(BaseModel):
    """reference: with registry and tag. state: of the latest scan; problem: why that failed. scanned_at, scanner,
    digest, packages, counts: of the latest that succeeded; null, empty or 0 before. target: what that read: the
    reference with its digest, or the engine's image id; outdated: the catalogue has another digest by now. effect: of
    the installation's rule on new sessions. exemption: from the rule, while it holds.
    """

    id: ImageScanId
    reference: str
    state: ScanState
    cancel: bool
    problem: str | None
    requested_at: datetime
    ended_at: datetime | None
    scanned_at: datetime | None
    scanner: str
    digest: str | None
    target: str
    outdated: bool
    packages: int
    counts: SeverityCounts
    effect: ScanEffect
    exemption: ScanExemptionView | None


class ImageScanList(BaseModel):
    items: list[ImageScanView]
    next_cursor: str | None = None


class ImageScanQuery(PageQuery):
    """Which scans to list. sort: reference, or ended_at: of the latest scan."""

    q: str | None = Field(default=None, max_length=100, description="part of the reference")
    image: list[ImageName] | None = Field(
        default=None,
        max_length=200,
        description="names or references of images, repeatable; those without a scan are left out",
    )
    severity: Severity | None = Field(
        default=None, description="only images with a vulnerability that is at least as severe"
    )


class ImageScanCreate(BaseModel):
    """image: name in the catalogue, env:NAME, or reference."""

    model_config = {"extra": "forbid"}

    image: ImageName


class VulnerabilityView(BaseModel):
    """fixed: versions of the package without it; empty: none is known. since: day on which it was first found in the
    image. cvss_score: 0 to 10, of cvss_vector. epss: how probable it is that it is exploited within 30 days, 0 to 1.
    null or empty: the scanner does not tell.
    """

    id: str
    severity: Severity
    package: str
    version: str
    fixed: str
    title: str
    link: str
    since: str
    cvss_score: float | None
    cvss_vector: str
    epss: float | None


class VulnerabilityList(BaseModel):
    """The most severe first, of these the most probably exploited. counts: of all that the scan found, whatever
    is asked for.
    """

    items: list[VulnerabilityView]
    counts: SeverityCounts
    next_cursor: str | None = None


class HasFix(StrEnum):
    """Whether a fixed version is known."""

    YES = "yes"
    NO = "no"


class VulnerabilityFilter(BaseModel):
    severity: Severity | None = Field(default=None, description="only those that are at least as severe")
    fixable: HasFix | None = Field(default=None, description="only those with or without a fixed version")
    q: str | None = Field(default=None, max_length=100, description="part of the id or of the package's name")


class VulnerabilityQuery(VulnerabilityFilter):
    limit: QueryInt = Field(default=100, ge=1, le=1000)
    cursor: str | None = Field(default=None, pattern=r"^[0-9]{1,7}$")


class ImagePackageView(BaseModel):
    """type: of the package system, such as deb, apk or pypi. purl: package URL."""

    name: str
    version: str
    type: str
    license: str
    purl: str


class ImagePackageList(BaseModel):
    """By name."""

    items: list[ImagePackageView]
    next_cursor: str | None = None


class ImagePackageQuery(BaseModel):
    q: str | None = Field(default=None, max_length=100, description="part of the name or licence")
    limit: QueryInt = Field(default=100, ge=1, le=1000)
    cursor: str | None = Field(default=None, pattern=r"^[0-9]{1,7}$")


class ScanExemptionUpdate(BaseModel):
    """until: at most a year from now."""

    model_config = {"extra": "forbid"}

    reason: Annotated[
        str,
        StringConstraints(min_length=3, max_length=500, strip_whitespace=True),
        says("An exemption needs a reason of 3 to 500 characters."),
    ]
    until: AwareDatetime


class RescanView(BaseModel):
    """A scan of all registries, or of all images that a node has. total: number of scans, of which done, failed and
    cancelled have ended. problem: why the last that failed did. cancel: what is left is being cancelled.
    """

    kind: RescanKind
    requested_by: str | None
    requested_at: datetime
    ended_at: datetime | None
    cancel: bool
    total: int
    waiting: int
    running: int
    done: int
    failed: int
    cancelled: int
    problem: str | None


class RescanList(BaseModel):
    """The latest of each kind that was requested."""

    items: list[RescanView]


class RescanCreate(BaseModel):
    model_config = {"extra": "forbid"}

    kind: RescanKind
