"""What is read from the formats of scanners, and that no output breaks the reader."""

from dataclasses import replace
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
        "3.0.13-1~deb12u1",
        "deb",
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


VECTOR = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:N"
TAR = "1.34+dfsg-1.2+deb12u1"
PURL = "pkg:deb/debian/tar@1.34%2Bdfsg-1.2%2Bdeb12u1?arch=amd64&distro=debian-12.15"


@pytest.mark.parametrize("name", ["trivy-0.74", "trivy-0.74-sbom", "trivy-0.74-cyclonedx"])
def test_what_trivy_prints_is_read_completely(name: str):
    result = parse(report(name))
    assert result.tool == "trivy 0.74.0"
    tar, zlib = result.packages
    assert (tar.name, tar.version, tar.type, tar.purl) == ("tar", TAR, "deb", PURL)
    assert tar.license.startswith("GPL-3.0-or-later, GPL-3.0-only")
    assert (zlib.name, zlib.version.removeprefix("1:")) == ("zlib1g", "1.2.13.dfsg-1")
    [vulnerability] = result.vulnerabilities
    assert replace(vulnerability, title="") == Vulnerability(
        "CVE-2026-0001",
        Severity.HIGH,
        "tar",
        TAR,
        "9.0",
        "",
        "https://avd.aquasec.com/nvd/cve-2026-0001",
        9.1,
        VECTOR,
        None,
    )


@pytest.mark.parametrize("name", ["grype-0.121", "grype-0.121-cyclonedx"])
def test_what_grype_prints_is_read_completely(name: str):
    result = parse(report(name))
    [tar] = result.packages
    assert (tar.name, tar.version, tar.type, tar.purl) == ("tar", TAR, "deb", PURL)
    assert result.vulnerabilities == [
        Vulnerability(
            "CVE-2026-0001",
            Severity.HIGH,
            "tar",
            TAR,
            "2.0",
            "A test: tar reads too far.",
            "https://security-tracker.debian.org/tracker/CVE-2026-0001",
            9.1,
            VECTOR,
            0.42,
        )
    ]


def trivy_with(*entries: object) -> bytes:
    document = {"SchemaVersion": 2, "ArtifactName": "x", "Results": [{"Vulnerabilities": entries}]}
    return orjson.dumps(document)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        # The newest version counts, then the source of the severity, then the NVD.
        ({"nvd": {"V2Score": 9.0, "V3Score": 5.0, "V3Vector": "CVSS:3.1/x"}}, 5.0),
        (
            {"nvd": {"V3Score": 9.0, "V3Vector": "CVSS:3.1/x", "V40Score": 3.0, "V40Vector": "CVSS:4.0/x"}},
            3.0,
        ),
        ({"nvd": {"V3Score": 9.0}, "debian": {"V3Score": 4.0}}, 4.0),
        ({"nvd": {"V3Score": 4.0}, "ghsa": {"V3Score": 9.0}}, 4.0),
        ({"ghsa": {"V3Score": 9.0}, "redhat": {"V3Score": 7.0}}, 9.0),
        ({"nvd": {"V3Score": 11}, "x": {"V3Score": "9"}, "y": {"V3Score": True}, "z": 3}, None),
    ],
)
def test_one_of_several_scores_counts(scores: object, expected: float | None):
    entry = {"VulnerabilityID": "CVE-1", "SeveritySource": "debian", "CVSS": scores}
    assert parse(trivy_with(entry)).vulnerabilities[0].cvss_score == expected


def test_scores_of_related_vulnerabilities_count_where_a_distribution_has_none():
    related = {
        "id": "CVE-1",
        "cvss": [{"vector": "v", "metrics": {"baseScore": 7.5}}],
        "epss": [{"epss": 0.3}],
    }
    match = {
        "vulnerability": {"id": "CVE-1", "cvss": []},
        "relatedVulnerabilities": [related],
        "artifact": {},
    }
    [one] = parse(orjson.dumps({"matches": [match], "descriptor": {}})).vulnerabilities
    assert (one.cvss_score, one.cvss_vector, one.epss) == (7.5, "v", 0.3)


def test_the_most_probably_exploited_of_a_severity_come_first():
    def match(name: str, severity: str, *epss: float) -> object:
        entry = {"id": name, "severity": severity, "epss": [{"epss": one} for one in epss]}
        return {"vulnerability": entry, "artifact": {"name": "x"}}

    matches = [match("a", "High"), match("b", "High", 0.0), match("c", "High", 0.5), match("d", "Critical")]
    result = parse(orjson.dumps({"matches": matches, "descriptor": {}}))
    assert [one.id for one in result.vulnerabilities] == ["d", "c", "b", "a"]


@pytest.mark.parametrize("name", ["trivy-0.74", "grype-0.121"])
def test_a_written_sbom_has_the_scores_and_refers_to_packages(name: str):
    result = parse(report(name))
    again = parse(cyclonedx.write(result))
    assert again.vulnerabilities == result.vulnerabilities


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
    "score",
    "method",
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


@given(st.lists(odd(["Packages", "Vulnerabilities", "CVSS", "Type"]), max_size=3) | JSON, JSON)
def test_no_trivy_report_breaks_the_reader(results: object, trivy: object):
    parse(orjson.dumps({"SchemaVersion": 2, "ArtifactName": "", "Results": results, "Trivy": trivy}))


@given(
    st.lists(odd(["vulnerability", "artifact", "relatedVulnerabilities", "cvss", "epss"]), max_size=3) | JSON,
    JSON,
)
def test_no_grype_report_breaks_the_reader(matches: object, descriptor: object):
    parse(orjson.dumps({"matches": matches, "descriptor": descriptor}))
