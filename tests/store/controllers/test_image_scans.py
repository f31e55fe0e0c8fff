"""Images are scanned when they are new, change or are due; and no output of a scanner stops that."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from controller_kit import tools
from databases import scalar, sql
from fake_scanner import FakeScanner
from installation import only
from node_kit import join, machine
from people import People, eventually

from carrel.controllers.image_scanning import ImageScanning
from carrel.core.clock import SystemClock
from carrel.core.ids import ImageScanId
from carrel.db.database import Database
from carrel.db.leader import Leader, lead
from carrel.engines.fake import FakeEngine
from carrel.image_scans import catalogue_digests, service
from carrel.image_scans.catalogue_digests import CatalogueDigest
from carrel.images import service as images
from carrel.scanners.scanner import Scanner

DEBIAN = "docker.io/library/debian:12"


@pytest.fixture
async def leader(database: Database) -> AsyncIterator[Leader]:
    leading = await lead(database.url)
    yield leading
    await leading.resign()


@pytest.fixture
def scanner(tmp_path: Path) -> FakeScanner:
    return FakeScanner(tmp_path / "scanner")


@pytest.fixture
async def engine(database: Database) -> FakeEngine:
    engine = FakeEngine()
    engine.world.local_images |= {"debian:12", "other:1"}
    await join(database, replace(machine(), images=frozenset({"debian:12", "other:1"})))
    await register(database, "debian:12")
    return engine


async def register(database: Database, reference: str) -> None:
    async with database.transaction() as tx:
        await images.register(
            tx,
            name=reference.replace(":", "-"),
            reference=reference,
            title="",
            description="",
            size_bytes=None,
            architecture=None,
            apps=[],
            min_slots={},
        )


def scans(
    database: Database, leader: Leader, engine: FakeEngine, scanner: FakeScanner | None
) -> ImageScanning:
    command = Scanner(scanner.command, 20.0, 1 << 30) if scanner else None
    return ImageScanning(replace(tools(database, leader), engines=only(database, engine), scanner=command))


async def step(controller: ImageScanning) -> None:
    await controller.step()
    await controller.drain()


async def rows(database: Database) -> list[tuple[str, str, str | None]]:
    return [
        tuple(row)
        for row in await sql(database, "SELECT reference, state, problem FROM image_scans ORDER BY 1")
    ]


async def later(database: Database, hours: float) -> None:
    """Scans and reports are that much older."""
    by = timedelta(hours=hours)
    await sql(database, "UPDATE image_scans SET ended_at = ended_at - :by", by=by)
    await sql(database, "UPDATE image_reports SET scanned_at = scanned_at - :by", by=by)


async def request(database: Database, people: People, image: str) -> ImageScanId:
    async with database.transaction() as tx:
        return await service.request(tx, SystemClock(), people.superadmin, image)


async def test_an_image_of_the_catalogue_is_scanned_once_until_it_is_due(
    database: Database, people: People, leader: Leader, engine: FakeEngine, scanner: FakeScanner
):
    scanner.reports(("CVE-1", "CRITICAL"), ("CVE-2", "LOW"))
    controller = scans(database, leader, engine, scanner)
    await step(controller)
    # Nothing of Carrel's uses other:1.
    assert await rows(database) == [(DEBIAN, "done", None)]
    # What the engine has, whatever the tag means while the scanner reads.
    assert [line.split()[0] for line in scanner.seen] == ["fake:debian:12"]
    [report] = await sql(database, "SELECT scanner, packages, first_found FROM image_reports")
    today = SystemClock().now().date().isoformat()
    assert report == ("trivy 0.68", 2, {"critical": {today: 1}, "low": {today: 1}})
    await step(controller)
    assert len(scanner.seen) == 1
    await later(database, 25)
    await step(controller)
    assert len(scanner.seen) == 2


async def test_a_changed_image_is_scanned_at_once(
    database: Database, people: People, leader: Leader, engine: FakeEngine, scanner: FakeScanner
):
    controller = scans(database, leader, engine, scanner)
    await step(controller)
    engine.world.image_ids["debian:12"] = "sha256:new"
    await step(controller)
    assert len(scanner.seen) == 2
    assert await scalar(database, "SELECT digest FROM image_scans") == "sha256:new"
    await step(controller)
    # The report of the old image goes with its last reference.
    assert await scalar(database, "SELECT count(*) FROM image_reports") == 1


OLD, NEW = f"sha256:{'a' * 64}", f"sha256:{'b' * 64}"


async def pin(database: Database, digest: str) -> None:
    """Sessions of debian:12 start from the digest."""
    await sql(
        database,
        "INSERT INTO registries (id, name, kind, url, host) VALUES ('r', 'r', 'generic', 'https://x', 'docker.io')"
        " ON CONFLICT DO NOTHING",
    )
    await sql(
        database,
        "UPDATE images SET registry_id = 'r', full_name = reference, repository = 'library/debian', tag = '12',"
        " digest = :digest",
        digest=digest,
    )
    await sql(
        database,
        "INSERT INTO image_settings (image, watch) VALUES ('debian:12', 'offer') ON CONFLICT DO NOTHING",
    )


async def test_a_pinned_image_is_scanned_by_its_digest(
    database: Database, people: People, leader: Leader, engine: FakeEngine, scanner: FakeScanner
):
    await pin(database, OLD)
    controller = scans(database, leader, engine, scanner)
    await step(controller)
    # The node has what the tag means now, but not what sessions start from.
    assert scanner.seen == []
    engine.world.local_images.add("kept:1")
    engine.world.image_digests |= {
        "fake:kept:1": (f"debian@{OLD}",),
        "fake:debian:12": (f"debian@{NEW}",),
    }
    names = {"debian:12", f"debian@{OLD}", f"debian@{NEW}"}
    await join(database, replace(machine(), images=frozenset(names)))
    await step(controller)
    assert [line.split()[0] for line in scanner.seen] == [f"docker.io/library/debian@{OLD}"]
    scan = "SELECT target || ' ' || digest FROM image_scans"
    assert await scalar(database, scan) == f"docker.io/library/debian@{OLD} fake:kept:1"
    await pin(database, NEW)
    await step(controller)
    assert await scalar(database, scan) == f"docker.io/library/debian@{NEW} fake:debian:12"


async def test_what_others_have_in_their_registries_redirects_no_scan(
    database: Database, people: People, engine: FakeEngine
):
    await pin(database, OLD)
    await sql(
        database,
        """
        INSERT INTO registries (id, name, kind, url, host, domain_id, project_id) VALUES
            ('d', 'd', 'generic', 'https://x', 'docker.io', :domain, NULL),
            ('p', 'p', 'generic', 'https://x', 'docker.io', NULL, :project),
            ('q', 'q', 'generic', 'https://x', 'docker.io', NULL, :project)
        """,
        domain=people.domain,
        project=people.project,
    )
    for registry in "dpq":
        await sql(
            database,
            "INSERT INTO images (id, name, full_name, reference, host, repository, tag, title, description, present,"
            " min_slots, apps, registry_id, digest, scanned_at) SELECT :r, :r, full_name, reference, host, repository,"
            " tag, '', '', false, '{}', '[]', :r, :digest, now() + interval '1 hour' FROM images"
            " WHERE registry_id = 'r'",
            r=registry,
            digest=f"sha256:{registry * 64}",
        )
    for registry, digest in (("r", OLD), ("d", f"sha256:{'d' * 64}"), ("p", f"sha256:{'p' * 64}")):
        async with database.transaction() as tx:
            known = await catalogue_digests.read(tx, [DEBIAN])
        assert known == {DEBIAN: CatalogueDigest(digest, pinned=True)}
        await sql(database, "DELETE FROM registries WHERE id = :id", id=registry)


async def test_references_of_one_image_share_its_report(
    database: Database, people: People, leader: Leader, engine: FakeEngine, scanner: FakeScanner
):
    engine.world.image_ids |= {"debian:12": "sha256:same", "other:1": "sha256:same"}
    await register(database, "other:1")
    controller = scans(database, leader, engine, scanner)
    await step(controller)
    await step(controller)
    assert len(scanner.seen) == 1
    assert await rows(database) == [(DEBIAN, "done", None), ("docker.io/library/other:1", "done", None)]


async def test_the_day_on_which_a_vulnerability_was_found_stays(
    database: Database, people: People, leader: Leader, engine: FakeEngine, scanner: FakeScanner
):
    scanner.reports(("CVE-1", "HIGH"))
    controller = scans(database, leader, engine, scanner)
    tomorrow = SystemClock().now() + timedelta(days=1)
    await step(controller)

    class Tomorrow(SystemClock):
        def now(self):  # type: ignore[no-untyped-def]
            return super().now() + timedelta(days=1)

    scanner.reports(("CVE-1", "HIGH"), ("CVE-2", "HIGH"))
    controller._tools = replace(controller._tools, clock=Tomorrow())
    await step(controller)
    today = (tomorrow - timedelta(days=1)).date().isoformat()
    result = await scalar(database, "SELECT first_found FROM image_reports")
    assert result == {"high": {today: 1, tomorrow.date().isoformat(): 1}}


@pytest.mark.parametrize(
    "output", ["", "panic: ✗", "[" * 5000, '{"bomFormat":"CycloneDX","components":{"a":[1]}}']
)
async def test_odd_output_ends_the_scan_and_the_former_result_stays(
    database: Database, people: People, leader: Leader, engine: FakeEngine, scanner: FakeScanner, output: str
):
    controller = scans(database, leader, engine, scanner)
    scanner.prints(output)
    await step(controller)
    [(_, state, problem)] = await rows(database)
    assert state in ("failed", "done")
    assert (problem is None) is (state == "done")
    await later(database, 0.5)
    await step(controller)
    assert len(scanner.seen) == 1
    scanner.reports()
    await later(database, 25)
    await step(controller)
    assert await rows(database) == [(DEBIAN, "done", None)]


async def test_a_request_comes_first_and_without_a_scanner_it_fails(
    database: Database, people: People, leader: Leader, engine: FakeEngine
):
    await request(database, people, "debian:12")
    await step(scans(database, leader, engine, None))
    [(_, state, problem)] = await rows(database)
    assert (state, "CARREL_IMAGE_SCANNER" in str(problem)) == ("failed", True)


async def test_a_cancelled_scan_ends_with_its_processes(
    database: Database, people: People, leader: Leader, engine: FakeEngine, scanner: FakeScanner
):
    scanner.hold(held=True)
    controller = scans(database, leader, engine, scanner)
    scan = await request(database, people, "debian:12")
    await controller.step()
    await eventually(lambda: bool(scanner.seen))
    async with database.transaction() as tx:
        await service.cancel(tx, people.superadmin, scan)
    await asyncio.wait_for(step(controller), 20)
    assert await rows(database) == [(DEBIAN, "cancelled", None)]


async def test_a_scan_begins_again_with_the_next_leader(
    database: Database, people: People, leader: Leader, engine: FakeEngine, scanner: FakeScanner
):
    scanner.hold(held=True)
    first = scans(database, leader, engine, scanner)
    await first.step()
    await eventually(lambda: bool(scanner.seen))
    await first.close()
    assert await rows(database) == [(DEBIAN, "running", None)]
    scanner.hold(held=False)
    await step(scans(database, leader, engine, scanner))
    assert await rows(database) == [(DEBIAN, "done", None)]


async def test_scans_of_images_that_are_gone_are_forgotten_unless_they_are_exempt(
    database: Database, people: People, leader: Leader, engine: FakeEngine, scanner: FakeScanner
):
    controller = scans(database, leader, engine, scanner)
    await step(controller)
    await join(database, machine())
    await later(database, 24 * 31)
    await sql(database, "UPDATE image_scans SET exempt_until = now() + interval '1 day'")
    await step(controller)
    assert len(await rows(database)) == 1
    await sql(database, "UPDATE image_scans SET exempt_until = now() - interval '1 day'")
    await step(controller)
    assert (await rows(database), await scalar(database, "SELECT count(*) FROM image_reports")) == ([], 0)
