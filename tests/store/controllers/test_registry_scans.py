"""A scan continues after its leader was killed, and ends when it is cancelled."""

from collections.abc import AsyncIterator

import pytest
from controller_kit import tools
from databases import sql
from fake_registry import FakeRegistry
from people import People, eventually

from carrel.controllers.registry_scans import RegistryScans
from carrel.core.clock import SystemClock
from carrel.db.database import Database
from carrel.db.encryption import SecretBox
from carrel.db.leader import Leader, lead
from carrel.images.registries import scans, service
from carrel.images.registries.schemas import RegistryCreate

CONFIG = {"architecture": "amd64", "os": "linux", "config": {}}


@pytest.fixture
async def fake() -> AsyncIterator[FakeRegistry]:
    async with FakeRegistry() as running:
        for name in ("a", "b"):
            running.answers(f"/v2/{name}/tags/list", {"tags": ["1"]})
            digest = "sha256:" + name * 64
            manifest = {"schemaVersion": 2, "config": {"digest": digest}, "layers": [{"size": 7}]}
            running.answers(f"/v2/{name}/manifests/1", manifest)
            running.answers(f"/v2/{name}/blobs/{digest}", CONFIG)
        yield running


@pytest.fixture
async def leader(database: Database) -> AsyncIterator[Leader]:
    leading = await lead(database.url)
    yield leading
    await leading.resign()


async def request(database: Database, people: People, fake: FakeRegistry) -> None:
    body = RegistryCreate(name="fake", url=fake.url, repositories=["a", "b"])
    clock, admin = SystemClock(), people.superadmin
    async with database.transaction() as tx:
        registry = await service.create(tx, SecretBox(b"0" * 32), clock, admin, body)
        await scans.request(tx, clock, admin, registry)


async def row(database: Database) -> tuple[object, ...]:
    columns = "state, repositories, repositories_done, added"
    [only] = await sql(database, f"SELECT {columns} FROM registry_scans")
    return tuple(only)


async def test_a_killed_scan_continues_with_the_repositories_that_are_left(
    database: Database, people: People, fake: FakeRegistry, leader: Leader
):
    await request(database, people, fake)
    hanging = fake.block("/v2/b/tags/list")
    first = RegistryScans(tools(database, leader))
    await first.step()

    async def one_done() -> bool:
        return await row(database) == ("running", 2, 1, 1) and "/v2/b/tags/list?n=1000" in fake.paths

    await eventually(one_done)
    await first.close()
    hanging.set()
    before = len(fake.seen)
    second = RegistryScans(tools(database, leader))
    await second.step()
    await second.drain()
    assert await row(database) == ("done", 2, 2, 2)
    assert not [path for path in fake.paths[before:] if "/v2/a/" in path]
    assert await sql(database, "SELECT count(*) FROM registry_scan_repositories") == [(0,)]


async def test_a_running_scan_ends_when_it_is_cancelled(
    database: Database, people: People, fake: FakeRegistry, leader: Leader
):
    await request(database, people, fake)
    fake.block("/v2/a/manifests/1")
    controller = RegistryScans(tools(database, leader))
    await controller.step()

    async def asks() -> bool:
        return "/v2/a/manifests/1" in fake.paths

    await eventually(asks)
    async with database.transaction() as tx:
        await scans.cancel(tx, people.superadmin, "fake")
    await controller.step()
    assert (await row(database))[0] == "cancelled"
    await controller.drain()
    await controller.step()
    await controller.drain()
    assert (await row(database))[0] == "cancelled"
