"""What a scanner found in an image."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

LONGEST = {
    "id": 100,
    "name": 200,
    "version": 120,
    "type": 40,
    "license": 200,
    "title": 300,
    "link": 500,
    "vector": 200,
}
"""Characters that are kept of each text."""
_MOST = 200_000


class Severity(StrEnum):
    """From the most to the least severe."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    UNKNOWN = "unknown"

    @property
    def rank(self) -> int:
        """0: the most severe."""
        return _RANKS[self]

    def at_least(self, other: "Severity") -> bool:
        """True if it is as severe as the other, or more."""
        return self.rank <= other.rank


_RANKS = {severity: rank for rank, severity in enumerate(Severity)}
_SYNONYMS = {"negligible": Severity.LOW, "info": Severity.LOW, "informational": Severity.LOW}


class ReportError(Exception):
    """Output that cannot be used; the message is for people."""


@dataclass(frozen=True, slots=True)
class ImagePackage:
    """type: of the package system, such as deb, apk or pypi. purl: its package URL; "": unknown."""

    name: str
    version: str
    type: str
    license: str
    purl: str


@dataclass(frozen=True, slots=True)
class Vulnerability:
    """Of one package. fixed: the versions that do not have it; "": none is known. cvss_score: 0 to 10. epss: how
    probable it is that it is exploited within 30 days, 0 to 1. None: the scanner does not tell.
    """

    id: str
    severity: Severity
    package: str
    version: str
    fixed: str
    title: str
    link: str
    cvss_score: float | None = None
    cvss_vector: str = ""
    epss: float | None = None


@dataclass(frozen=True)
class ScannerReport:
    """tool: name and version of the scanner. vulnerabilities: the most severe first, of these the most
    probably exploited. sbom: the scanner's own CycloneDX
    document; None: its output has another format.
    """

    tool: str
    packages: Sequence[ImagePackage]
    vulnerabilities: Sequence[Vulnerability]
    sbom: bytes | None = None

    @property
    def counts(self) -> Mapping[str, int]:
        """Vulnerabilities by severity, without zeros."""
        return dict(Counter(one.severity.value for one in self.vulnerabilities))


def report(
    tool: str, packages: Sequence[ImagePackage], vulnerabilities: Sequence[Vulnerability], sbom: bytes | None
) -> ScannerReport:
    """Each package and vulnerability once, in order. Raises: ReportError if there are too many."""
    if max(len(packages), len(vulnerabilities)) > _MOST:
        raise ReportError(f"It names more than {_MOST} packages or vulnerabilities.")
    return ScannerReport(
        tool or "unknown",
        sorted({(one.type, one.name, one.version): one for one in packages}.values(), key=_by_name),
        sorted(
            {(one.id, one.package, one.version): one for one in vulnerabilities}.values(), key=_by_severity
        ),
        sbom,
    )


def severity_of(word: object) -> Severity:
    """As scanners write it: "High", "CRITICAL", "Negligible"."""
    lowered = word.lower() if isinstance(word, str) else ""
    return _SYNONYMS.get(lowered) or (Severity(lowered) if lowered in _RANKS else Severity.UNKNOWN)


def _by_name(package: ImagePackage) -> tuple[str, str, str]:
    return package.name.lower(), package.version, package.type


def _by_severity(one: Vulnerability) -> tuple[int, float, str, str]:
    return one.severity.rank, 1.0 if one.epss is None else -one.epss, one.package, one.id
