"""Checks of watched images go on after their leader was killed, and news are announced once."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import pytest
from controller_kit import tools
from databases import sql
from fake_registry import FakeRegistry, digest_of
from node_kit import join, machine
from people import People, eventually
from sqlalchemy import event

from carrel.controllers.update_checks import UpdateChecks
from carrel.core.clock import SystemClock
from carrel.core.ids import RegistryId
from carrel.db.database import Database
from carrel.db.encryption import SecretBox
from carrel.db.leader import Leader, lead
from carrel.images import image_settings
from carrel.images.image_updates import service as updates
from carrel.images.registries import service
from carrel.images.registries.schemas import RegistryCreate
from carrel.images.schemas import ImageUpdate
from carrel.site import service as site
from carrel.site.schemas import SiteUpdate
from carrel.tables.images import WatchRule

CONFIG = {"architecture": "amd64", "os": "linux", "config": {}}
MANIFEST = json.dumps({"config": {"digest": digest_of(CONFIG)}, "layers": [{"size": 7}]}).encode()


@pytest.fixture
async def fake() -> AsyncIterator[FakeRegistry]:
    async with FakeRegistry() as running:
        yield running


@pytest.fixture
async def leader(database: Database) -> AsyncIterator[Leader]:
    leading = await lead(database.url)
    yield leading
    await leading.resign()


class SetClock:
    def __init__(self, time: str) -> None:
        self.time = datetime.fromisoformat(time).replace(tzinfo=UTC)

    def now(self) -> datetime:
        return self.time


async def watched(
    database: Database, people: People, fake: FakeRegistry, rule: WatchRule, *names: str
) -> RegistryId:
    """Images on the fake registry, and a node that has them."""
    async with database.transaction() as tx:
        body = RegistryCreate(name="fake", url=fake.url)
        registry = await service.create(tx, SecretBox(b"0" * 32), SystemClock(), people.superadmin, body)
    host = fake.url.removeprefix("http://")
    await join(database, machine("local"))
    for name in names:
        await sql(
            database,
            "INSERT INTO images (id, name, full_name, reference, host, repository, tag, title, description, present,"
            " min_slots, apps, registry_id, family, digest) VALUES (:name, :name, :ref, :ref, :host, :name, '1', '',"
            " '', false, '{\"cpu\": 10, \"mem\": 1000}', '[]', :registry, :name, :digest)",
            name=name,
            ref=f"{host}/{name}:1",
            host=host,
            registry=registry,
            digest="sha256:" + "0" * 64,
        )
        async with database.transaction() as tx:
            await image_settings.change(
                tx, people.superadmin, name, ImageUpdate(watch=rule, pull_nodes=["local"])
            )
    # The checks that a new rule requests are not what these tests are about.
    await sql(database, 'UPDATE image_watches SET "check" = false')
    return registry


def answers(fake: FakeRegistry, name: str, digest: str) -> None:
    fake.answers(f"/v2/{name}/manifests/1", headers={"Docker-Content-Digest": digest})
    fake.answers(f"/v2/{name}/manifests/{digest}", MANIFEST)
    fake.blob(name, CONFIG)


async def rows(database: Database, columns: str) -> list[tuple[Any, ...]]:
    joined = "images i JOIN image_watches w ON w.image_id = i.id ORDER BY i.id"
    return await sql(database, f"SELECT {columns} FROM {joined}")


async def step(database: Database, leader: Leader, clock: SetClock) -> None:
    controller = UpdateChecks(tools(database, leader, clock=clock))
    await controller.step()
    await controller.drain()


@contextmanager
def noted(database: Database) -> Iterator[list[str]]:
    """The statements that are sent meanwhile."""
    sent: list[str] = []

    def note(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
        sent.append(statement)

    engine = database._engine.sync_engine
    event.listen(engine, "before_cursor_execute", note)
    yield sent
    event.remove(engine, "before_cursor_execute", note)


@pytest.fixture
def digest() -> str:
    return f"sha256:{sha256(MANIFEST).hexdigest()}"


async def test_each_tag_is_checked_once_in_the_daily_hours_with_one_request(
    database: Database, people: People, fake: FakeRegistry, leader: Leader
):
    await watched(database, people, fake, WatchRule.OFFER, "a", "b")
    for name in ("a", "b"):
        answers(fake, name, "sha256:" + "0" * 64)
    clock = SetClock("2026-03-01T01:00")
    await step(database, leader, clock)
    assert fake.paths == []
    for moment in ("2026-03-01T02:00", "2026-03-01T02:01", "2026-03-01T04:59", "2026-03-01T05:00"):
        clock.time = datetime.fromisoformat(moment).replace(tzinfo=UTC)
        await step(database, leader, clock)
    assert [(one.method, one.path) for one in fake.seen] == [
        ("HEAD", "/v2/a/manifests/1"),
        ("HEAD", "/v2/b/manifests/1"),
    ]
    clock.time += timedelta(days=1, hours=-1)
    await step(database, leader, clock)
    assert len(fake.seen) == 4


async def test_a_killed_check_is_made_by_the_next_leader_and_takes_what_is_new_once(
    database: Database, people: People, fake: FakeRegistry, leader: Leader, digest: str
):
    await watched(database, people, fake, WatchRule.TAKE, "a", "b")
    for name in ("a", "b"):
        answers(fake, name, digest)
    hanging = fake.block(f"/v2/b/manifests/{digest}")
    clock = SetClock("2026-03-01T02:00")
    first = UpdateChecks(tools(database, leader, clock=clock))
    await first.step()

    async def reads_the_second() -> bool:
        return f"/v2/b/manifests/{digest}" in fake.paths

    await eventually(reads_the_second)
    # As if it was killed: the second update is offered and not taken.
    await first.close()
    hanging.set()
    assert [one == digest for (one,) in await rows(database, "i.digest")] == [True, False]
    assert [one for (one,) in await rows(database, "w.offered")] == [None, digest]
    clock.time += timedelta(minutes=1)
    await step(database, leader, clock)
    assert [one == digest for (one,) in await rows(database, "i.digest")] == [True, True]
    pulled = await sql(database, "SELECT split_part(reference, '@', 2) FROM image_pulls")
    assert pulled == [(digest,), (digest,)]


async def test_a_registry_that_is_down_is_tried_again_after_a_while_and_its_other_tags_wait(
    database: Database, people: People, fake: FakeRegistry, leader: Leader
):
    await watched(database, people, fake, WatchRule.OFFER, "a", "b")
    for _ in range(5):
        fake.answers("/v2/a/manifests/1", status=429, headers={"Retry-After": "0"})
    for name in ("a", "b"):
        answers(fake, name, "sha256:" + "0" * 64)
    clock = SetClock("2026-03-01T02:00")
    await step(database, leader, clock)
    assert all("rate limit" in problem for (problem,) in await rows(database, "w.problem"))
    requests = len(fake.seen)
    clock.time += timedelta(minutes=14)
    await step(database, leader, clock)
    assert (requests, len(fake.seen)) == (5, 5)
    clock.time += timedelta(minutes=1)
    await step(database, leader, clock)
    assert await rows(database, "w.problem") == [(None,), (None,)]


async def test_an_answer_that_cannot_be_stored_ends_only_its_own_check(
    database: Database, people: People, fake: FakeRegistry, leader: Leader, digest: str
):
    await watched(database, people, fake, WatchRule.TAKE, "a", "b")
    long = "r" * 190
    await sql(database, "UPDATE registries SET host = repeat('h', 300)")
    await sql(database, "UPDATE images SET repository = :long WHERE id = 'a'", long=long)
    answers(fake, long, digest)
    answers(fake, "b", digest)
    clock = SetClock("2026-03-01T02:00")
    await step(database, leader, clock)
    assert [one == digest for (one,) in await rows(database, "i.digest")] == [False, True]
    [(problem,), (none,)] = await rows(database, "w.problem")
    assert "unexpected" in problem
    assert none is None
    requests = len(fake.seen)
    await step(database, leader, clock)
    assert len(fake.seen) == requests
    assert await rows(database, "w.news") == [(False,), (False,)]


async def test_many_checks_are_requested_failed_and_read_in_few_statements(
    database: Database, people: People, fake: FakeRegistry, leader: Leader
):
    names = [f"image{number}" for number in range(20)]
    await watched(database, people, fake, WatchRule.OFFER, *names)
    await sql(database, "UPDATE registries SET url = 'http://127.0.0.1:1'")
    async with database.transaction() as tx:
        with noted(database) as statements:
            assert await updates.request_check(tx, people.superadmin, None) == 20
    assert [one for one in statements if "image_watches" in one][1:] == []
    clock = SetClock("2026-03-01T00:00")
    with noted(database) as statements:
        await step(database, leader, clock)
    about_images = [one for one in statements if "FROM images" in one or "image_watches" in one]
    assert len(about_images) < 10
    assert "min_slots" not in about_images[0]
    problems = [problem for (problem,) in await rows(database, "w.problem")]
    assert len(problems) == 20
    assert all(problems)


async def test_superadmins_get_one_letter_about_all_that_is_new(
    database: Database, people: People, fake: FakeRegistry, leader: Leader, digest: str
):
    await watched(database, people, fake, WatchRule.OFFER, "a", "b")
    answers(fake, "a", digest)
    settings = SiteUpdate(mail_host="mail.example.org", mail_sender="carrel@example.org")
    async with database.transaction() as tx:
        await site.update(tx, SecretBox(b"0" * 32), people.superadmin, settings)
    clock = SetClock("2026-03-01T02:00")
    for _ in range(3):
        await step(database, leader, clock)
    letters = await sql(database, "SELECT recipient FROM outbox")
    assert letters == [("admin@example.org",)]
    assert await rows(database, "w.news, w.missing") == [(False, False), (False, True)]


async def test_what_was_requested_is_not_taken_after_the_rule_is_off(
    database: Database, people: People, fake: FakeRegistry, leader: Leader, digest: str
):
    await watched(database, people, fake, WatchRule.OFFER, "a")
    answers(fake, "a", digest)
    clock = SetClock("2026-03-01T02:00")
    await step(database, leader, clock)
    async with database.transaction() as tx:
        image = await image_settings.to_change(tx, people.superadmin, "a")
        await updates.take(tx, people.superadmin, image, digest)
        await image_settings.change(tx, people.superadmin, "a", ImageUpdate(watch=WatchRule.OFF))
    await step(database, leader, clock)
    assert await sql(database, "SELECT digest = :new FROM images WHERE id = 'a'", new=digest) == [(False,)]
    assert await sql(database, "SELECT count(*) FROM image_watches") == [(0,)]
