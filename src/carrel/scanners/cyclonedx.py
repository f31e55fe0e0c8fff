"""CycloneDX in JSON, versions 1.2 to 1.7.

Source: https://cyclonedx.org/docs/1.6/json; `trivy image --format cyclonedx --scanners vuln`, `grype -o
cyclonedx-json`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

import orjson

from carrel.scanners import cvss
from carrel.scanners.json_reads import Document, link, named, number, part, parts, purl_type, text, words
from carrel.scanners.reports import ImagePackage, ScannerReport, Severity, Vulnerability, report, severity_of

_NO_PACKAGES = ("operating-system", "file", "container")
_NOT_AFFECTED = ("resolved", "resolved_with_pedigree", "false_positive", "not_affected")
_FIX = re.compile(r"to version (.+?)\.?$")
_FIXED_FROM = re.compile(r"(?:^|[/|])>=([^|]+)")
_DEEPEST = 20
_EPSS = {"name": "FIRST", "url": "https://www.first.org/epss/"}
"""The source of a rating that is a probability, as Grype writes it."""


def read(document: Document, raw: bytes) -> ScannerReport:
    """The report in a document. raw: the same as bytes, which are kept."""
    by_ref: dict[str, ImagePackage] = {}
    packages = []
    for component in _components(document):
        if text(component, "type", "type") in _NO_PACKAGES:
            continue
        package = _package(component)
        packages.append(package)
        for key in ("bom-ref", "purl"):
            by_ref.setdefault(text(component, key, "link"), package)
    vulnerabilities = [
        one for each in parts(document, "vulnerabilities") for one in _vulnerabilities(each, by_ref)
    ]
    return report(_tool(part(document, "metadata")), packages, vulnerabilities, raw)


def write(content: ScannerReport) -> bytes:
    """A document with what is known of the packages and vulnerabilities, for scanners with another format."""
    refs = {(one.name, one.version): f"package-{number}" for number, one in enumerate(content.packages)}
    components = [
        {
            "type": "library",
            "bom-ref": refs[one.name, one.version],
            "name": one.name,
            "version": one.version,
            **({"purl": one.purl} if one.purl else {}),
            **({"licenses": [{"license": {"name": one.license}}]} if one.license else {}),
        }
        for one in content.packages
    ]
    vulnerabilities = [
        {
            "id": one.id,
            "ratings": list(_written_ratings(one)),
            "description": one.title,
            "affects": [{"ref": refs.get((one.package, one.version), one.package)}],
            **({"recommendation": f"Upgrade {one.package} to version {one.fixed}"} if one.fixed else {}),
            **({"advisories": [{"url": one.link}]} if one.link else {}),
        }
        for one in content.vulnerabilities
    ]
    name, _, version = content.tool.partition(" ")
    return orjson.dumps(
        {
            "bomFormat": "CycloneDX",
            "specVersion": "1.6",
            "version": 1,
            "metadata": {
                "tools": {"components": [{"type": "application", "name": name, "version": version}]}
            },
            "components": components,
            "vulnerabilities": vulnerabilities,
        }
    )


def _written_ratings(one: Vulnerability) -> Iterator[Document]:
    yield {"severity": one.severity.value}
    if one.cvss_score is not None:
        method = cvss.method(one.cvss_vector)
        vector = {"vector": one.cvss_vector} if one.cvss_vector else {}
        yield {"score": one.cvss_score, "method": method, **vector}
    if one.epss is not None:
        yield {"source": _EPSS, "score": one.epss, "method": "other"}


def _components(document: Document, depth: int = 0) -> Iterator[Document]:
    for component in parts(document, "components"):
        yield component
        if depth < _DEEPEST:
            yield from _components(component, depth + 1)


def _package(component: Document) -> ImagePackage:
    purl = text(component, "purl", "link")
    name, group = text(component, "name", "name"), text(component, "group", "name")
    return ImagePackage(
        name=f"{group}/{name}"[:200] if group else name,
        version=text(component, "version", "version"),
        type=purl_type(purl) or text(component, "type", "type"),
        license=", ".join(filter(None, map(_license, parts(component, "licenses"))))[:200],
        purl=purl,
    )


def _license(entry: Document) -> str:
    inner = part(entry, "license")
    return (
        text(inner, "id", "license") or text(inner, "name", "license") or text(entry, "expression", "license")
    )


def _vulnerabilities(entry: Document, by_ref: Mapping[str, ImagePackage]) -> Iterator[Vulnerability]:
    if text(part(entry, "analysis"), "state", "type") in _NOT_AFFECTED:
        return
    severity = _severity(entry)
    fix = _FIX.search(text(entry, "recommendation", "title"))
    ratings = list(parts(entry, "ratings"))
    rating = cvss.decisive(_cvss(ratings), text(part(entry, "source"), "name", "name").lower())
    epss = next(_epss(ratings), None)
    for affected in list(parts(entry, "affects")) or [{}]:
        ref = text(affected, "ref", "link")
        package = by_ref.get(ref) if ref else None
        yield Vulnerability(
            id=text(entry, "id", "id") or "unknown",
            severity=severity,
            package=package.name if package else ref[:200],
            version=package.version if package else "",
            fixed=fix[1][:120] if fix else _fixed(affected),
            title=text(entry, "description", "title") or words(entry, "cwes", "title"),
            link=_link(entry),
            cvss_score=rating.score if rating else None,
            cvss_vector=rating.vector if rating else "",
            epss=epss,
        )


def _cvss(ratings: Iterable[Document]) -> Iterator[cvss.CvssRating]:
    for one in ratings:
        score = number(one, "score", cvss.HIGHEST)
        if score is not None and text(one, "method", "type").startswith("CVSS"):
            source = text(part(one, "source"), "name", "name").lower()
            yield cvss.CvssRating(source, score, text(one, "vector", "vector"))


def _epss(ratings: Iterable[Document]) -> Iterator[float | None]:
    for one in ratings:
        if part(one, "source").get("name") == _EPSS["name"]:
            yield number(one, "score", 1.0)


def _link(entry: Document) -> str:
    """The first that names the vulnerability, else the first: that of the source may be of all that it has."""
    sources = part(entry, "source"), *parts(entry, "advisories")
    links = list(filter(None, (link(one, "url") for one in sources)))
    name = text(entry, "id", "id").lower()
    return next((one for one in links if name and name in one.lower()), links[0] if links else "")


def _fixed(affected: Document) -> str:
    """The versions from which on a package is not affected, as Grype writes them: `vers:deb/>=2.0`."""
    ranges = [
        text(one, "range", "link") for one in parts(affected, "versions") if one.get("status") == "unaffected"
    ]
    return ", ".join(version for one in ranges for version in _FIXED_FROM.findall(one))[:120]


def _severity(entry: Document) -> Severity:
    """That of the vulnerability's own source, such as the distribution; else the highest."""
    ratings = list(parts(entry, "ratings"))
    source = text(part(entry, "source"), "name", "name").lower()
    own = [one for one in ratings if source and text(part(one, "source"), "name", "name").lower() == source]
    known = [severity_of(one.get("severity")) for one in own or ratings]
    return min(known, key=lambda one: one.rank, default=Severity.UNKNOWN)


def _tool(metadata: Document) -> str:
    tools = metadata.get("tools")
    listed = (
        parts(metadata, "tools") if isinstance(tools, list) else parts(part(metadata, "tools"), "components")
    )
    return next(map(named, listed), "")
