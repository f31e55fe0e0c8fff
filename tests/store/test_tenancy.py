"""People in a real database: founding, passwords, keypairs, and who somebody is."""

import pytest
from people import PASSWORD, People
from sqlalchemy import text

from carrel.core.clock import SystemClock
from carrel.core.errors import NotFound, Unauthorized
from carrel.db.database import Database
from carrel.keypairs import service as keypairs
from carrel.logins import service as logins
from carrel.logins.authenticator import Authenticator
from carrel.policy.actions import Role
from carrel.tenancy import service as tenancy

EMAIL = "user@example.org"


async def sign_in(database: Database, password: str, email: str = EMAIL) -> str:
    return await logins.sign_in(
        database, SystemClock(), email=email, password=password, address="192.0.2.1", device="test"
    )


async def test_an_installation_is_founded_once(database: Database):
    async with database.transaction() as tx:
        assert await tenancy.found(tx, SystemClock(), email="a@example.org", password="one")
        assert not await tenancy.found(tx, SystemClock(), email="b@example.org", password="two")
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


async def test_another_password_ends_all_sign_ins_and_the_lock(database: Database, people: People):
    authenticator = Authenticator(database, SystemClock())
    token = await sign_in(database, PASSWORD)
    for _ in range(logins.MAX_ATTEMPTS):
        with pytest.raises(Unauthorized):
            await sign_in(database, "wrong")
    with pytest.raises(logins.TooManyAttempts):
        await sign_in(database, PASSWORD)
    async with database.transaction() as tx:
        await logins.set_password(tx, SystemClock(), email=EMAIL, password="another")
    assert await authenticator.by_cookie(token, "") is None
    await sign_in(database, "another")
    with pytest.raises(Unauthorized):
        await sign_in(database, PASSWORD)


async def test_another_password_for_nobody_is_an_error(database: Database, people: People):
    async with database.transaction() as tx:
        with pytest.raises(NotFound):
            await logins.set_password(tx, SystemClock(), email="nobody@example.org", password="x")


async def test_tokens_and_secrets_are_stored_as_hashes_only(database: Database, people: People):
    token = await sign_in(database, PASSWORD)
    async with database.transaction() as tx:
        pair = await keypairs.create(tx, SystemClock(), people.user)
    async with database.transaction() as tx:
        stored = ""
        for table in ("logins", "keypairs", "users", "audit", "login_attempts"):
            stored += (
                await tx.execute(text(f"SELECT coalesce(json_agg(t)::text, '') FROM {table} t"))
            ).scalar_one()
    assert pair.access_key in stored
    for secret in (token, pair.secret_key, PASSWORD):
        assert secret not in stored
        assert secret.encode().hex() not in stored


async def test_nobody_removes_anothers_keypair(database: Database, people: People):
    async with database.transaction() as tx:
        pair = await keypairs.create(tx, SystemClock(), people.user)
    async with database.transaction() as tx:
        with pytest.raises(NotFound):
            await keypairs.remove(tx, people.colleague, pair.access_key)
        await keypairs.remove(tx, people.user, pair.access_key)
        with pytest.raises(NotFound):
            await keypairs.remove(tx, people.user, pair.access_key)


async def test_refused_and_successful_sign_ins_are_in_the_audit_trail(database: Database, people: People):
    with pytest.raises(Unauthorized):
        await sign_in(database, "wrong")
    with pytest.raises(Unauthorized):
        await sign_in(database, "wrong", "nobody@example.org")
    await sign_in(database, PASSWORD)
    async with database.transaction() as tx:
        rows = await tx.execute(
            text(
                "SELECT object_id, outcome, actor_id, address FROM audit WHERE action = 'auth.login' ORDER BY id"
            )
        )
        assert [tuple(row) for row in rows] == [
            (EMAIL, "refused", people.user.user_id, "192.0.2.1"),
            ("nobody@example.org", "refused", None, "192.0.2.1"),
            (EMAIL, "done", people.user.user_id, "192.0.2.1"),
        ]


async def test_attempts_that_are_over_are_forgotten(database: Database, people: People):
    for number in range(3):
        with pytest.raises(Unauthorized):
            await sign_in(database, "wrong", f"nobody{number}@example.org")
    async with database.transaction() as tx:
        await tx.execute(text("UPDATE login_attempts SET at = at - interval '21 minutes'"))
    await sign_in(database, PASSWORD)
    async with database.transaction() as tx:
        assert (await tx.execute(text("SELECT count(*) FROM login_attempts"))).scalar_one() == 0
