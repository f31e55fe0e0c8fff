"""Grype's own JSON: `grype IMAGE -o json`. It names only the packages that have vulnerabilities.

Source: https://github.com/anchore/grype/tree/main/schema/grype/db-search and `grype/presenter/models`.
"""

from carrel.scanners.json_reads import Document, link, named, part, parts, text, words
from carrel.scanners.reports import ImagePackage, ScannerReport, Vulnerability, report, severity_of


def read(document: Document) -> ScannerReport:
    """The report in a document."""
    matches = list(parts(document, "matches"))
    packages = [_package(part(one, "artifact")) for one in matches]
    vulnerabilities = [_vulnerability(part(one, "vulnerability"), part(one, "artifact")) for one in matches]
    return report(named(part(document, "descriptor")), packages, vulnerabilities, None)


def _package(entry: Document) -> ImagePackage:
    return ImagePackage(
        name=text(entry, "name", "name"),
        version=text(entry, "version", "version"),
        type=text(entry, "type", "type"),
        license=words(entry, "licenses", "license"),
        purl=text(entry, "purl", "link"),
    )


def _vulnerability(entry: Document, artifact: Document) -> Vulnerability:
    return Vulnerability(
        id=text(entry, "id", "id") or "unknown",
        severity=severity_of(entry.get("severity")),
        package=text(artifact, "name", "name"),
        version=text(artifact, "version", "version"),
        fixed=words(part(entry, "fix"), "versions", "version"),
        title=text(entry, "description", "title"),
        link=link(entry, "dataSource"),
    )
