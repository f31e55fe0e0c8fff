"""People in a real database: founding, passwords, keypairs, and who somebody is."""

import pytest
from people import People

from carrel.core.clock import SystemClock
from carrel.core.errors import NotFound
from carrel.db.database import Database
from carrel.permissions.actions import Role
from carrel.signin.keypairs import service as keypairs
from carrel.tenancy import service as tenancy

EMAIL = "user@example.org"


async def test_an_installation_is_founded_once(database: Database):
    async with database.transaction() as tx:
        assert await tenancy.bootstrap(tx, SystemClock(), email="a@example.org", password="one")
        assert not await tenancy.bootstrap(tx, SystemClock(), email="b@example.org", password="two")
        user = await tenancy.user_by_email(tx, "a@example.org")
        assert user is not None
        assert (user.role, await tenancy.user_by_email(tx, "b@example.org")) == (Role.SUPERADMIN, None)


async def test_an_email_belongs_to_one_person_in_any_case(database: Database, people: People):
    with pytest.raises(Exception, match="uq_users_email"):
        async with database.transaction() as tx:
            await tenancy.add_user(
                tx,
                SystemClock(),
                email=EMAIL.upper(),
                name="Other",
                password="x",
                role=Role.USER,
                domain_id=people.domain,
                projects=[],
            )


async def test_nobody_removes_anothers_keypair(database: Database, people: People):
    async with database.transaction() as tx:
        pair = await keypairs.create(tx, SystemClock(), people.user)
    async with database.transaction() as tx:
        with pytest.raises(NotFound):
            await keypairs.remove(tx, people.colleague, pair.access_key)
        await keypairs.remove(tx, people.user, pair.access_key)
        with pytest.raises(NotFound):
            await keypairs.remove(tx, people.user, pair.access_key)
