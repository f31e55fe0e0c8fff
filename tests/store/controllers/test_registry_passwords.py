"""Passwords of ECR: renewed before they end, and what is shown and pulled with meanwhile."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta

import pytest
from controller_kit import tools
from databases import sql
from fake_aws import ACCESS_KEY, SECRET_KEY, FakeAws
from people import People

from carrel.controllers.loop import Tools
from carrel.controllers.registry_passwords import AGAIN, RegistryPasswords
from carrel.core.errors import Invalid
from carrel.db.database import Database
from carrel.db.leader import lead
from carrel.engines.fake import VirtualClock
from carrel.engines.port import PullCredentials
from carrel.images.registries import aws_requests, ecr_tokens, pulls, registry_credentials, service
from carrel.images.registries.schemas import RegistryCreate, RegistryUpdate
from carrel.tables.registries import ImageRegistry, RegistryKind

HOST = "123456789012.dkr.ecr.eu-central-1.amazonaws.com"
IMAGE = f"{HOST}/team/tools:1"


@dataclass
class Renewing:
    tools: Tools
    clock: VirtualClock
    aws: FakeAws
    people: People

    async def add(self, **fields: object) -> str:
        keys = {"username": ACCESS_KEY, "secret": SECRET_KEY}
        body = {"name": "ours", "kind": RegistryKind.ECR, "url": f"https://{HOST}", **keys, **fields}
        async with self.tools.database.transaction() as tx:
            request = RegistryCreate.model_validate(body)
            return await service.create(tx, self.tools.seal, self.clock, self.people.superadmin, request)

    async def step(self) -> ImageRegistry:
        self.aws.now = self.clock.now()
        await RegistryPasswords(self.tools).step()
        return await self.row()

    async def row(self) -> ImageRegistry:
        async with self.tools.database.transaction() as tx:
            row = (await service.find(tx, self.people.superadmin, "ours")).registry
            tx.expunge(row)
            return row

    async def pulled_with(self) -> PullCredentials | None:
        async with self.tools.database.transaction() as tx:
            return (await pulls.source(tx, self.tools.seal, IMAGE, project=None)).credentials


@pytest.fixture
async def renewing(
    database: Database, people: People, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Renewing]:
    leader, clock = await lead(database.url), VirtualClock()
    async with FakeAws() as aws:
        place = ecr_tokens.place
        monkeypatch.setattr(ecr_tokens, "place", lambda host: (place(host)[0], f"{aws.url}/"))
        monkeypatch.setattr(aws_requests, "INSTANCE", aws.url)
        yield Renewing(tools(database, leader, clock=clock), clock, aws, people)
    await leader.resign()


async def test_a_password_is_had_by_the_keys_and_renewed_when_half_of_its_time_is_over(
    renewing: Renewing,
) -> None:
    await renewing.add()
    assert await renewing.pulled_with() is None
    row = await renewing.step()
    assert renewing.aws.regions == ["eu-central-1"]
    assert row.password_until == renewing.clock.now() + timedelta(hours=12)
    assert await renewing.pulled_with() == PullCredentials(HOST, "AWS", "password-1")
    # Scans and checks sign in with it, too, and it is not readable in the database.
    async with renewing.tools.database.transaction() as tx:
        connection = await service.connection(tx, renewing.tools.seal, row)
    assert (connection.username, connection.password) == ("AWS", "password-1")
    [(stored,)] = await sql(renewing.tools.database, "SELECT password FROM registries")
    assert b"password-1" not in bytes(stored)
    await renewing.clock.advance(timedelta(hours=5, minutes=59).total_seconds())
    await renewing.step()
    assert len(renewing.aws.regions) == 1
    await renewing.clock.advance(120)
    await renewing.step()
    assert await renewing.pulled_with() == PullCredentials(HOST, "AWS", "password-2")


async def test_a_renewal_that_fails_is_shown_and_tried_again_while_the_password_is_valid(
    renewing: Renewing,
) -> None:
    await renewing.add()
    await renewing.step()
    renewing.aws.keys[ACCESS_KEY] = "rotated"
    await renewing.clock.advance(timedelta(hours=6, minutes=1).total_seconds())
    row = await renewing.step()
    assert "InvalidSignatureException" in str(row.password_problem)
    assert row.password_due == renewing.clock.now() + AGAIN
    assert await renewing.pulled_with() == PullCredentials(HOST, "AWS", "password-1")
    # 1. Once it has expired, nothing is pulled with it.
    await renewing.clock.advance(timedelta(hours=6).total_seconds())
    row = await renewing.step()
    assert (row.password, row.password_until) == (None, None)
    assert await renewing.pulled_with() is None
    # 2. New keys are tried at once.
    renewing.aws.keys[ACCESS_KEY] = SECRET_KEY
    async with renewing.tools.database.transaction() as tx:
        changes = RegistryUpdate.model_validate({"secret": SECRET_KEY})
        admin = renewing.people.superadmin
        await service.update(tx, renewing.tools.seal, renewing.clock, admin, "ours", changes)
    row = await renewing.step()
    assert (row.password_problem, await renewing.pulled_with()) == (
        None,
        PullCredentials(HOST, "AWS", "password-2"),
    )


async def test_keys_that_aws_does_not_know_are_a_sentence(renewing: Renewing) -> None:
    await renewing.add(username="AKIAUNKNOWNUNKNOWN00")
    row = await renewing.step()
    assert row.password_problem == (
        "AWS refuses a password (UnrecognizedClientException): "
        "The security token included in the request is invalid."
    )
    async with renewing.tools.database.transaction() as tx:
        registry = (await service.find(tx, renewing.people.superadmin, "ours", "registry.update")).registry
        await registry_credentials.again(tx, registry, renewing.clock.now())
    assert (await renewing.row()).password_due == renewing.clock.now()


async def test_the_installation_uses_the_role_of_its_machine(renewing: Renewing) -> None:
    await renewing.add(username="instance-role", secret="")
    await renewing.step()
    assert await renewing.pulled_with() == PullCredentials(HOST, "AWS", "password-1")
    with pytest.raises(Invalid, match="Only registries of the installation"):
        await renewing.add(
            name="theirs", username="instance-role", secret="", project=renewing.people.project
        )


async def test_a_password_of_ones_own_is_not_renewed_and_keys_need_an_address_of_ecr(
    renewing: Renewing,
) -> None:
    await renewing.add(username="AWS", secret="from aws ecr get-login-password")
    row = await renewing.step()
    assert (row.password_due, renewing.aws.regions) == (None, [])
    assert await renewing.pulled_with() == PullCredentials(HOST, "AWS", "from aws ecr get-login-password")
    with pytest.raises(Invalid, match="not the address of an ECR registry"):
        await renewing.add(name="other", url="https://registry.example.org")
