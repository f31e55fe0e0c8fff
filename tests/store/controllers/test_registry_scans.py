"""A scan continues after its leader was killed, and ends when it is cancelled or whatever goes wrong."""

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from controller_kit import tools
from databases import sql
from fake_registry import FakeRegistry, digest_of, written
from layer_kit import layer, metadata
from people import People, eventually
from sqlalchemy import select

from carrel.controllers import registry_packages, registry_scans
from carrel.controllers.registry_scans import RegistryScans
from carrel.core.clock import SystemClock
from carrel.db.database import Database
from carrel.db.encryption import SecretBox
from carrel.db.leader import Leader, lead
from carrel.images import layer_packages, scanned
from carrel.images.image_facts import ImageFacts, facts_of
from carrel.images.registries import layer_reading, repositories, scans, service
from carrel.images.registries.layer_reading import LayerDatabases
from carrel.images.registries.schemas import RegistryCreate
from carrel.tables.registries import ImageRegistry

CONFIG = {"architecture": "amd64", "os": "linux", "config": {}}


@pytest.fixture
async def fake() -> AsyncIterator[FakeRegistry]:
    async with FakeRegistry() as running:
        for name in ("a", "b"):
            running.answers(f"/v2/{name}/tags/list", {"tags": ["1"]})
            digest = running.blob(name, CONFIG)
            manifest = {"schemaVersion": 2, "config": {"digest": digest}, "layers": [{"size": 7}]}
            running.answers(f"/v2/{name}/manifests/1", manifest)
        yield running


@pytest.fixture
async def leader(database: Database) -> AsyncIterator[Leader]:
    leading = await lead(database.url)
    yield leading
    await leading.resign()


async def request(database: Database, people: People, fake: FakeRegistry, *names: str, **fields: Any) -> None:
    fields = {"name": "fake", "url": fake.url, "repositories": list(names or ("a", "b")), **fields}
    body = RegistryCreate(**fields)
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
    hanging = fake.block("/v2/a/manifests/1")
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
    hanging.set()


async def scan(database: Database, leader: Leader) -> None:
    controller = RegistryScans(tools(database, leader))
    await controller.step()
    await controller.drain()


async def test_an_image_with_impossible_facts_is_stored_without_them(
    database: Database, people: People, leader: Leader
):
    async with FakeRegistry() as fake:
        for name in ("a", "b"):
            apps = [{"name": "app", "title": "an\0app", "port": 1, "command": ["\ud800"]}]
            labels = {
                "carrel.apps": json.dumps(apps) if name == "a" else "[" * 200_000,
                "carrel.version": "1a" * 64,
                "carrel.k\0ey": "a",
            }
            config = {"architecture": "a\0" * 64, "config": {"Labels": labels}}
            layers = [{"size": (1 << 63) - 1}] * 2
            digest = fake.blob(name, config)
            fake.answers(f"/v2/{name}/tags/list", {"tags": ["1"]})
            fake.answers(f"/v2/{name}/manifests/1", {"config": {"digest": digest}, "layers": layers})
        await request(database, people, fake)
        await scan(database, leader)
    assert await row(database) == ("done", 2, 2, 2)
    columns = "apps #>> '{0,title}', labels ->> 'carrel.key', length(architecture)"
    rows = await sql(
        database, f"SELECT {columns} FROM images WHERE registry_id IS NOT NULL ORDER BY tag, repository"
    )
    assert [tuple(one) for one in rows] == [("anapp", "a", 30), (None, "a", 30)]
    assert await sql(database, "SELECT problem FROM registry_scans") == [(None,)]


async def test_a_repository_that_cannot_be_stored_fails_alone(
    database: Database,
    people: People,
    fake: FakeRegistry,
    leader: Leader,
    monkeypatch: pytest.MonkeyPatch,
):
    def impossible(repository: str, *others: Any) -> ImageFacts:
        facts = facts_of(repository, *others)
        return replace(facts, licenses="x" * 501) if repository == "a" else facts

    monkeypatch.setattr(scanned, "facts_of", impossible)
    await request(database, people, fake)
    await scan(database, leader)
    assert await row(database) == ("done", 2, 2, 1)
    assert await sql(database, "SELECT repositories_failed FROM registry_scans") == [(1,)]


async def test_a_scan_that_goes_wrong_unexpectedly_fails(
    database: Database,
    people: People,
    fake: FakeRegistry,
    leader: Leader,
    monkeypatch: pytest.MonkeyPatch,
):
    async def broken(*_: object) -> None:
        raise KeyError("unexpected")

    monkeypatch.setattr(repositories, "tags", broken)
    await request(database, people, fake)
    await scan(database, leader)
    assert (await row(database))[0] == "failed"


async def test_a_scan_whose_secret_cannot_be_decrypted_fails_and_says_so(
    database: Database, people: People, fake: FakeRegistry, leader: Leader
):
    await request(database, people, fake)
    await sql(database, "UPDATE registries SET secret = 'sealed with another key'")
    await scan(database, leader)
    [(state, problem)] = await sql(database, "SELECT state, problem FROM registry_scans")
    assert state == "failed"
    assert "cannot be decrypted" in problem
    assert fake.seen == []


async def test_a_repository_has_as_many_tags_as_a_registry_lists(
    database: Database, people: People, fake: FakeRegistry, leader: Leader
):
    await request(database, people, fake)
    await scan(database, leader)
    names = [str(number) for number in range(70_000)]
    async with database.transaction() as tx:
        registry = (await tx.execute(select(ImageRegistry))).scalar_one()
        now = SystemClock().now()
        counts = await scanned.store(tx, registry, "a", tags=names, changed={}, now=now)
        assert (counts.tags, counts.removed) == (70_000, 0)
        assert await scanned.drop_others(tx, registry.id, ["a", *names]) == 1


async def test_a_scan_that_takes_too_long_fails(
    database: Database,
    people: People,
    fake: FakeRegistry,
    leader: Leader,
    monkeypatch: pytest.MonkeyPatch,
):
    hanging = fake.block("/v2/a/tags/list")
    monkeypatch.setattr(registry_scans, "_LONGEST_S", 0.1)
    await request(database, people, fake)
    await scan(database, leader)
    hanging.set()
    [(state, problem)] = await sql(database, "SELECT state, problem FROM registry_scans")
    assert (state, "It took more than" in problem) == ("failed", True)


def serve(fake: FakeRegistry, repository: str, *layers: bytes, size_bytes: int = 10_000) -> None:
    """An image with these layers."""
    served = [{"digest": fake.blob(repository, one), "size": size_bytes} for one in layers]
    manifest = written({"config": {"digest": fake.blob(repository, CONFIG)}, "layers": served})
    fake.answers(f"/v2/{repository}/tags/list", {"tags": ["1"]})
    for reference in ("1", digest_of(manifest)):
        fake.answers(f"/v2/{repository}/manifests/{reference}", manifest)


async def contents(database: Database) -> dict[str, list[str]]:
    rows = await sql(
        database, "SELECT repository, package_contents FROM images WHERE packages_digest IS NOT NULL"
    )
    return {repository: list(read) for repository, read in rows}


@pytest.mark.parametrize(("size_bytes", "problem"), [(100, "another digest"), (2, "more of a layer")])
async def test_a_layer_that_is_another_one_is_not_kept(
    database: Database, people: People, leader: Leader, size_bytes: int, problem: str
):
    async with FakeRegistry() as fake:
        # The first answer is given once.
        fake.answers(f"/v2/a/blobs/{digest_of(b'right')}", b"other")
        serve(fake, "a", b"right", size_bytes=size_bytes)
        await request(database, people, fake, "a", read_packages=True)
        await scan(database, leader)
    [(state, why, read)] = await sql(database, "SELECT state, problem, layers FROM registry_scans")
    assert (state, read, problem in why) == ("done", 0, True)
    assert await sql(database, "SELECT count(*) FROM layer_packages") == [(0,)]
    [(digest,)] = await sql(database, "SELECT packages_digest FROM images WHERE repository = 'a'")
    assert digest is None


async def test_an_image_whose_layers_cannot_be_stored_fails_alone(
    database: Database, people: People, leader: Leader, monkeypatch: pytest.MonkeyPatch
):
    torch, impossible = layer(metadata("torch", "2.0")), layer(metadata("jax", "1.0"))
    read_layer = layer_reading.read_layer

    def reading(digest: str, more: Callable[[], bytes]) -> LayerDatabases:
        read = read_layer(digest, more)
        return LayerDatabases({"\0": {}}) if digest == digest_of(impossible) else read

    monkeypatch.setattr(layer_reading, "read_layer", reading)
    async with FakeRegistry() as fake:
        serve(fake, "a", impossible)
        serve(fake, "b", torch)
        await request(database, people, fake, read_packages=True)
        await scan(database, leader)
    assert await sql(database, "SELECT state FROM registry_scans") == [("done",)]
    assert await contents(database) == {"b": ["pytorch"]}


async def test_packages_of_images_with_too_many_layers_or_databases_are_not_read(
    database: Database, people: People, leader: Leader, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(registry_packages, "MOST_DATABASES", 2)
    many = [layer(metadata(name, "1.0")) for name in ("torch", "jax", "vllm")]
    async with FakeRegistry() as fake:
        serve(fake, "a", *[many[0]] * 513)
        serve(fake, "b", *many)
        await request(database, people, fake, read_packages=True)
        await scan(database, leader)
        assert f"/v2/a/blobs/{digest_of(many[0])}" not in fake.paths
    assert await contents(database) == {"a": [], "b": []}
    problems = await sql(
        database, "SELECT packages_problem FROM images WHERE repository <> '' ORDER BY tag, repository"
    )
    assert ["512 layers" in problems[0][0], "2 package databases" in problems[1][0]] == [True, True]


async def test_a_layer_is_kept_while_images_are_described_by_it(database: Database, people: People):
    now = SystemClock().now()
    async with database.transaction() as tx:
        await layer_packages.keep(tx, "sha256:a", LayerDatabases(), None, now - timedelta(days=200))
        assert await layer_packages.known(tx, ["sha256:a", "sha256:b"], now) == {"sha256:a"}
        await layer_packages.forget(tx, now)
        assert await layer_packages.stored(tx, "sha256:a") == (LayerDatabases(), None)


async def test_registries_are_scanned_while_packages_of_another_one_are_read(
    database: Database,
    people: People,
    fake: FakeRegistry,
    leader: Leader,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(registry_scans, "_SCANS_AT_ONCE", 1)
    torch = layer(metadata("torch", "2.0"))
    path = f"/v2/c/blobs/{digest_of(torch)}"
    serve(fake, "c", torch)
    hanging = fake.block(path)
    await request(database, people, fake, "c", name="slow", read_packages=True)
    await request(database, people, fake)
    controller = RegistryScans(tools(database, leader))

    async def states() -> tuple[str, ...]:
        await controller.step()
        rows = (
            "SELECT s.state FROM registry_scans s JOIN registries r ON r.id = s.registry_id ORDER BY r.name"
        )
        return tuple(state for (state,) in await sql(database, rows))

    async def one_done() -> bool:
        return await states() == ("done", "running") and path in fake.paths

    await eventually(one_done)
    hanging.set()
    await controller.drain()
    assert await states() == ("done", "done")
    assert await contents(database) == {"c": ["pytorch"]}


@pytest.mark.parametrize(
    ("limit", "problem"), [("_SLACK_S", "too slowly"), ("_LONGEST_S", "the next scan continues")]
)
async def test_layers_that_come_too_slowly_are_left_to_another_scan(
    database: Database,
    people: People,
    fake: FakeRegistry,
    leader: Leader,
    monkeypatch: pytest.MonkeyPatch,
    limit: str,
    problem: str,
):
    monkeypatch.setattr(registry_packages, limit, 0.1)
    torch = layer(metadata("torch", "2.0"))
    serve(fake, "c", torch, size_bytes=1)
    hanging = fake.block(f"/v2/c/blobs/{digest_of(torch)}")
    await request(database, people, fake, "c", read_packages=True)
    await scan(database, leader)
    hanging.set()
    [(state, why)] = await sql(database, "SELECT state, problem FROM registry_scans")
    assert (state, problem in why) == ("done", True)
    assert await contents(database) == {}
