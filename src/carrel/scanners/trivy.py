"""Trivy's own JSON: `trivy image --format json --list-all-pkgs`, or `trivy sbom` with the same options.

Source: https://trivy.dev/docs/latest/configuration/reporting/#json, schema version 2.
"""

from collections.abc import Iterator

from carrel.scanners import cvss
from carrel.scanners.json_reads import Document, link, number, part, parts, purl_type, text, words
from carrel.scanners.reports import ImagePackage, ScannerReport, Vulnerability, report, severity_of

_CVSS = ("V2", "V3", "V40")


def read(document: Document) -> ScannerReport:
    """The report in a document."""
    packages, vulnerabilities = [], []
    for result in parts(document, "Results"):
        kind = text(result, "Type", "type")
        packages += [_package(one, kind) for one in parts(result, "Packages")]
        vulnerabilities += [_vulnerability(one) for one in parts(result, "Vulnerabilities")]
    tool = f"trivy {text(part(document, 'Trivy'), 'Version', 'version')}".strip()
    return report(tool, packages, vulnerabilities, None)


def _package(entry: Document, kind: str) -> ImagePackage:
    purl = text(part(entry, "Identifier"), "PURL", "link")
    return ImagePackage(
        name=text(entry, "Name", "name"),
        version=_version(entry),
        type=purl_type(purl) or kind,
        license=words(entry, "Licenses", "license"),
        purl=purl,
    )


def _version(entry: Document) -> str:
    """As vulnerabilities name it: of packages of Debian and Red Hat, epoch and release are apart."""
    version, release = text(entry, "Version", "version"), text(entry, "Release", "version")
    epoch = entry.get("Epoch")
    before = f"{epoch}:" if isinstance(epoch, int) and epoch > 0 else ""
    return f"{before}{version}-{release}" if release else f"{before}{version}"


def _vulnerability(entry: Document) -> Vulnerability:
    rating = cvss.decisive(_ratings(part(entry, "CVSS")), text(entry, "SeveritySource", "name"))
    return Vulnerability(
        id=text(entry, "VulnerabilityID", "id") or "unknown",
        severity=severity_of(entry.get("Severity")),
        package=text(entry, "PkgName", "name"),
        version=text(entry, "InstalledVersion", "version"),
        fixed=text(entry, "FixedVersion", "version"),
        title=text(entry, "Title", "title") or text(entry, "Description", "title"),
        link=link(entry, "PrimaryURL"),
        cvss_score=rating.score if rating else None,
        cvss_vector=rating.vector if rating else "",
    )


def _ratings(by_source: Document) -> Iterator[cvss.CvssRating]:
    for source in by_source:
        for version in _CVSS:
            score = number(part(by_source, source), f"{version}Score", cvss.HIGHEST)
            if score is not None:
                yield cvss.CvssRating(
                    source, score, text(part(by_source, source), f"{version}Vector", "vector")
                )
