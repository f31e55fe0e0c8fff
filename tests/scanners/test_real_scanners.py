"""Trivy and Grype find a known vulnerability in real images, without a network, by what sessions start from."""

import io
import tarfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import aiodocker
import pytest
from controller_kit import tools
from databases import scalar, sql
from installation import only
from node_kit import join, machine
from own_registry import plain_registry
from scanner_programs import GRYPE, TRIVY, ScannerProgram
from tiny_image import docker_url

from carrel.controllers.image_scanning import ImageScanning
from carrel.db.database import Database
from carrel.db.leader import Leader, lead
from carrel.engines.docker import DockerEngine
from carrel.image_scans.stored_reports import stored
from carrel.images import service as images
from carrel.scanners.scanner import Scanner

VECTOR = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:N"
PACKAGE = """Package: {package}
Status: install ok installed
Priority: required
Section: utils
Maintainer: Somebody <somebody@example.org>
Architecture: amd64
Version: 1.34+dfsg-1.2+deb12u1
Description: a program

"""
RELEASE = (
    'ID=debian\nVERSION_ID="12"\nVERSION_CODENAME=bookworm\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n'
)


def archive(package: str) -> bytes:
    """What scanners read of a Debian that has only this package."""
    files = {
        "etc/os-release": RELEASE,
        "etc/debian_version": "12.15\n",
        "var/lib/dpkg/status": PACKAGE.format(package=package),
    }
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as written:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            written.addfile(entry, io.BytesIO(content.encode()))
    return out.getvalue()


@pytest.fixture
async def docker() -> AsyncIterator[aiodocker.Docker]:
    async with aiodocker.Docker(url=docker_url()) as client:
        yield client


@pytest.fixture
async def engine() -> AsyncIterator[DockerEngine]:
    engine = DockerEngine(docker_url(), "scanners")
    yield engine
    await engine.close()


@pytest.fixture
async def leader(database: Database) -> AsyncIterator[Leader]:
    leading = await lead(database.url)
    yield leading
    await leading.resign()


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[str]:
    with plain_registry(tmp_path) as address:
        yield address


async def imported(docker: aiodocker.Docker, reference: str, package: str) -> None:
    repository, _, tag = reference.rpartition(":")
    url = f"{docker.docker_host}/{docker.api_version}/images/create"
    params = {"fromSrc": "-", "repo": repository, "tag": tag}
    headers = {"Content-Type": "application/x-tar"}
    async with docker.session.post(url, params=params, data=archive(package), headers=headers) as answer:
        assert "errorDetail" not in await answer.text()


async def pushed(docker: aiodocker.Docker, reference: str) -> str:
    """Its digest."""
    answers = await docker.images.push(reference)
    [digest] = [answer["aux"]["Digest"] for answer in answers if "Digest" in (answer.get("aux") or {})]
    return str(digest)


async def scanned(
    database: Database, leader: Leader, engine: DockerEngine, program: ScannerProgram, form: str
) -> None:
    """One step of the leader, with all scans that it begins."""
    scanner = Scanner(program.command(form), 120.0, 8 << 30)
    controller = ImageScanning(
        replace(tools(database, leader), engines=only(database, engine), scanner=scanner)
    )
    await controller.step()
    await controller.drain()


async def on_a_node(database: Database, *names: str, catalogued: str) -> None:
    await join(database, replace(machine(), images=frozenset(names)))
    async with database.transaction() as tx:
        await images.register(
            tx,
            name="image",
            reference=catalogued,
            title="",
            description="",
            size_bytes=None,
            architecture=None,
            apps=[],
            min_slots={},
        )


@pytest.mark.parametrize("form", ["json", "cyclonedx"])
@pytest.mark.parametrize(("program", "epss"), [(TRIVY, None), (GRYPE, 0.42)], ids=["trivy", "grype"])
async def test_a_vulnerable_package_of_an_image_is_found(
    database: Database,
    leader: Leader,
    engine: DockerEngine,
    docker: aiodocker.Docker,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    program: ScannerProgram,
    epss: float | None,
    form: str,
):
    for name, value in program.variables(tmp_path / "database").items():
        monkeypatch.setenv(name, value)
    reference = f"localhost/carrel-test/scanned:{program.name}-{form}"
    await imported(docker, reference, "tar")
    await on_a_node(database, reference, catalogued=reference)
    await scanned(database, leader, engine, program, form)
    [scan] = await sql(database, "SELECT state, problem, target, digest FROM image_scans")
    image = await docker.images.inspect(reference)
    assert tuple(scan) == ("done", None, image["Id"], image["Id"])
    assert await scalar(database, "SELECT scanner FROM image_reports") == f"{program.name} {program.version}"
    report = stored(await scalar(database, "SELECT report FROM image_reports"))
    [package] = [one for one in report.packages if one["name"] == "tar"]
    assert (package["version"], package["type"]) == ("1.34+dfsg-1.2+deb12u1", "deb")
    [vulnerability] = report.vulnerabilities
    assert (vulnerability["id"], vulnerability["severity"], vulnerability["fixed"]) == (
        "CVE-2026-0001",
        "high",
        "2.0",
    )
    assert (vulnerability["cvss_score"], vulnerability["cvss_vector"], vulnerability["epss"]) == (
        9.1,
        VECTOR,
        epss,
    )
    assert "cve-2026-0001" in vulnerability["link"].lower()


@pytest.mark.parametrize("program", [TRIVY, GRYPE], ids=["trivy", "grype"])
async def test_the_digest_that_sessions_start_from_is_scanned_after_its_tag_has_moved(
    database: Database,
    leader: Leader,
    engine: DockerEngine,
    docker: aiodocker.Docker,
    registry: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    program: ScannerProgram,
):
    for name, value in program.variables(tmp_path / "database").items():
        monkeypatch.setenv(name, value)
    reference = f"{registry}/lab/tools:1"
    digests = []
    for package in ("tar", "harmless"):
        await imported(docker, reference, package)
        digests.append(await pushed(docker, reference))
    pinned, moved = (f"{registry}/lab/tools@{digest}" for digest in digests)
    await on_a_node(database, reference, pinned, moved, catalogued=reference)
    await sql(
        database,
        "INSERT INTO registries (id, name, kind, url, host) VALUES ('r', 'r', 'generic', 'http://x', :host)",
        host=registry,
    )
    await sql(
        database,
        "UPDATE images SET registry_id = 'r', full_name = reference, repository = 'lab/tools', tag = '1',"
        " digest = :digest",
        digest=digests[0],
    )
    await sql(database, "INSERT INTO image_settings (image, watch) VALUES (:image, 'offer')", image=reference)
    await scanned(database, leader, engine, program, "json")
    query = "SELECT target, problem, first_found FROM image_scans JOIN image_reports USING (digest)"
    [(target, problem, severities)] = await sql(database, query)
    assert (target, problem, list(severities)) == (pinned, None, ["high"])
    # The update is taken.
    await sql(database, "UPDATE images SET digest = :digest", digest=digests[1])
    await scanned(database, leader, engine, program, "json")
    [(target, problem, severities)] = await sql(database, query)
    assert (target, problem, severities) == (moved, None, {})
