"""Trivy's own JSON: `trivy image --format json --list-all-pkgs`.

Source: https://trivy.dev/docs/latest/configuration/reporting/#json, schema version 2.
"""

from carrel.scanners.json_reads import Document, link, part, parts, text, words
from carrel.scanners.reports import ImagePackage, ScannerReport, Vulnerability, report, severity_of


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
    return ImagePackage(
        name=text(entry, "Name", "name"),
        version=text(entry, "Version", "version"),
        type=kind,
        license=words(entry, "Licenses", "license"),
        purl=text(part(entry, "Identifier"), "PURL", "link"),
    )


def _vulnerability(entry: Document) -> Vulnerability:
    return Vulnerability(
        id=text(entry, "VulnerabilityID", "id") or "unknown",
        severity=severity_of(entry.get("Severity")),
        package=text(entry, "PkgName", "name"),
        version=text(entry, "InstalledVersion", "version"),
        fixed=text(entry, "FixedVersion", "version"),
        title=text(entry, "Title", "title") or text(entry, "Description", "title"),
        link=link(entry, "PrimaryURL"),
    )
