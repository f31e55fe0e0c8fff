"""What is read from the formats of scanners, and that no output breaks the reader."""

from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.scanners import cyclonedx
from carrel.scanners.parsing import parse
from carrel.scanners.reports import ImagePackage, ReportError, Severity, Vulnerability

REPORTS = Path(__file__).parents[2] / "scanner_reports"
OPENSSL = "CVE-2024-5535"


def report(name: str) -> bytes:
    return (REPORTS / f"{name}.json").read_bytes()


def test_cyclonedx_has_packages_licences_and_the_severity_of_the_distribution():
    result = parse(report("cyclonedx"))
    assert result.tool == "trivy 0.68.1"
    assert [(one.name, one.type, one.license) for one in result.packages] == [
        ("@types/node", "npm", "MIT OR Apache-2.0"),
        ("inner", "library", ""),
        ("libssl3", "deb", "Apache-2.0, GPL-1.0-or-later"),
    ]
    assert [(one.id, one.package, one.severity) for one in result.vulnerabilities] == [
        ("GHSA-xxxx-yyyy-zzzz", "@types/node", Severity.HIGH),
        ("GHSA-xxxx-yyyy-zzzz", "inner", Severity.HIGH),
        (OPENSSL, "libssl3", Severity.LOW),
    ]
    last = result.vulnerabilities[-1]
    assert (last.fixed, last.version) == ("3.0.15-1~deb12u1", "3.0.13-1~deb12u1")
    assert "\n" not in last.title
    assert result.counts == {"high": 2, "low": 1}
    assert result.sbom == report("cyclonedx")


def test_trivys_own_format():
    result = parse(report("trivy"))
    assert result.tool == "trivy 0.68.1"
    assert result.packages[0] == ImagePackage(
        "libssl3",
        "3.0.13",
        "debian",
        "Apache-2.0, GPL-1.0-or-later",
        "pkg:deb/debian/libssl3@3.0.13-1~deb12u1?arch=amd64&distro=debian-12.7",
    )
    assert result.vulnerabilities[0] == Vulnerability(
        OPENSSL,
        Severity.CRITICAL,
        "libssl3",
        "3.0.13-1~deb12u1",
        "3.0.15-1~deb12u1",
        "openssl: SSL_select_next_proto buffer overread",
        "https://avd.aquasec.com/nvd/cve-2024-5535",
    )
    assert result.counts == {"critical": 1, "low": 1}


def test_grypes_own_format():
    result = parse(report("grype"))
    assert result.tool == "grype 0.104.0"
    assert [(one.id, one.severity, one.fixed) for one in result.vulnerabilities] == [
        (OPENSSL, Severity.CRITICAL, "3.0.15-1~deb12u1"),
        ("CVE-2011-3374", Severity.LOW, ""),
    ]
    assert [one.type for one in result.packages] == ["deb", "deb"]


def test_cyclonedx_of_grype_has_the_fixed_version():
    result = parse(report("grype-0.121-cyclonedx"))
    assert result.tool == "grype 0.121.2"
    assert [(one.name, one.type) for one in result.packages] == [("tar", "deb")]
    [vulnerability] = result.vulnerabilities
    assert (vulnerability.severity, vulnerability.package, vulnerability.fixed) == (
        Severity.HIGH,
        "tar",
        "2.0",
    )


@pytest.mark.parametrize("name", ["trivy", "grype"])
def test_an_sbom_is_written_for_the_other_formats(name: str):
    result = parse(report(name))
    again = parse(cyclonedx.write(result))
    assert [(one.name, one.version) for one in again.packages] == [
        (one.name, one.version) for one in result.packages
    ]
    assert again.counts == result.counts
    assert again.vulnerabilities[0].fixed == result.vulnerabilities[0].fixed


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        (b"", "not JSON"),
        (b"FATAL image scan error", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"a": "\xff"}', "not JSON"),
        (b"[]", "no report"),
        (b"{}", "neither"),
        (b'{"bomFormat": "SPDX"}', "neither"),
    ],
)
def test_other_output_is_a_clear_error(raw: bytes, complaint: str):
    with pytest.raises(ReportError, match=complaint):
        parse(raw)


def test_too_many_are_an_error():
    components = [{"name": str(number)} for number in range(200_001)]
    with pytest.raises(ReportError, match="more than 200000"):
        parse(orjson.dumps({"bomFormat": "CycloneDX", "components": components}))


def test_links_are_web_addresses_and_texts_are_cut():
    entry = {"VulnerabilityID": "x" * 1000, "PrimaryURL": "javascript:alert(1)", "Title": "a\0b\nc"}
    trivy = {"SchemaVersion": 2, "ArtifactName": "x", "Results": [{"Vulnerabilities": [entry]}]}
    [result] = parse(orjson.dumps(trivy)).vulnerabilities
    assert (len(result.id), result.link, result.title) == (100, "", "ab c")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


def odd(names: list[str]) -> st.SearchStrategy[object]:
    """Objects with these keys and values of any type."""
    return JSON | st.fixed_dictionaries({}, optional={name: JSON | st.lists(JSON) for name in names})


CYCLONEDX = [
    "id",
    "source",
    "ratings",
    "severity",
    "affects",
    "ref",
    "analysis",
    "advisories",
    "licenses",
    "license",
]


@given(
    st.lists(odd([*CYCLONEDX, "components", "type", "purl"]), max_size=3),
    st.lists(odd(CYCLONEDX), max_size=3),
    JSON,
)
def test_no_cyclonedx_breaks_the_reader(components: object, vulnerabilities: object, metadata: object):
    document = {"components": components, "vulnerabilities": vulnerabilities, "metadata": metadata}
    parse(orjson.dumps({"bomFormat": "CycloneDX", **document}))


@given(st.lists(odd(["Packages", "Vulnerabilities", "Type"]), max_size=3) | JSON, JSON)
def test_no_trivy_report_breaks_the_reader(results: object, trivy: object):
    parse(orjson.dumps({"SchemaVersion": 2, "ArtifactName": "", "Results": results, "Trivy": trivy}))


@given(st.lists(odd(["vulnerability", "artifact"]), max_size=3) | JSON, JSON)
def test_no_grype_report_breaks_the_reader(matches: object, descriptor: object):
    parse(orjson.dumps({"matches": matches, "descriptor": descriptor}))
