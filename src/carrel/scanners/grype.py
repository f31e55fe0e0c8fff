"""Grype's own JSON: `grype IMAGE -o json`. It names only the packages that have vulnerabilities.

Source: https://github.com/anchore/grype/tree/main/schema/grype/db-search and `grype/presenter/models`.
"""

from collections.abc import Iterator

from carrel.scanners.cvss import HIGHEST, CvssRating, decisive
from carrel.scanners.json_reads import Document, link, named, number, part, parts, text, words
from carrel.scanners.reports import ImagePackage, ScannerReport, Vulnerability, report, severity_of


def read(document: Document) -> ScannerReport:
    """The report in a document."""
    matches = list(parts(document, "matches"))
    packages = [_package(part(one, "artifact")) for one in matches]
    vulnerabilities = [_vulnerability(one) for one in matches]
    return report(named(part(document, "descriptor")), packages, vulnerabilities, None)


def _package(entry: Document) -> ImagePackage:
    return ImagePackage(
        name=text(entry, "name", "name"),
        version=text(entry, "version", "version"),
        type=text(entry, "type", "type"),
        license=words(entry, "licenses", "license"),
        purl=text(entry, "purl", "link"),
    )


def _vulnerability(match: Document) -> Vulnerability:
    entry, artifact = part(match, "vulnerability"), part(match, "artifact")
    # Distributions seldom have scores; those of the NVD are related.
    related = list(parts(match, "relatedVulnerabilities"))
    ratings = list(_ratings(entry)) or [one for each in related for one in _ratings(each)]
    cvss = decisive(ratings, "")
    return Vulnerability(
        id=text(entry, "id", "id") or "unknown",
        severity=severity_of(entry.get("severity")),
        package=text(artifact, "name", "name"),
        version=text(artifact, "version", "version"),
        fixed=words(part(entry, "fix"), "versions", "version"),
        title=text(entry, "description", "title"),
        link=link(entry, "dataSource"),
        cvss_score=cvss.score if cvss else None,
        cvss_vector=cvss.vector if cvss else "",
        epss=max((value for one in (entry, *related) for value in _epss(one)), default=None),
    )


def _ratings(entry: Document) -> Iterator[CvssRating]:
    for one in parts(entry, "cvss"):
        score = number(part(one, "metrics"), "baseScore", HIGHEST)
        if score is not None:
            yield CvssRating(text(one, "source", "name").lower(), score, text(one, "vector", "vector"))


def _epss(entry: Document) -> Iterator[float]:
    for one in parts(entry, "epss"):
        probability = number(one, "epss", 1.0)
        if probability is not None:
            yield probability
