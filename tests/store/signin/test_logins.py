"""What is good once is good once, however many come at the same time."""

import asyncio
from datetime import UTC, datetime, timedelta

import pyotp
import pytest
from people import People

from carrel.core.errors import NotFound
from carrel.db.database import Database
from carrel.db.encryption import SecretBox
from carrel.signin.logins import attempts, factors, one_time_links
from carrel.site.schemas import SiteSettings

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
SEAL = SecretBox(bytes(32))


async def test_a_code_is_good_for_one_of_many(database: Database, people: People):
    async with database.transaction() as tx:
        secret = (await factors.offer_totp(tx, SEAL, people.user)).secret
        app = pyotp.TOTP(secret)
        codes = await factors.confirm_totp(tx, SEAL, people.user, app.at(NOW), NOW)
    later = NOW + timedelta(seconds=30)

    async def use(code: str | None) -> bool:
        async with database.transaction() as tx:
            if code:
                return await factors.use_recovery_code(tx, people.user.user_id, code)
            return await factors.use_code(tx, SEAL, people.user.user_id, app.at(later), later)

    for code in (None, codes[0]):
        assert sum(await asyncio.gather(*(use(code) for _ in range(8)))) == 1
    # One's own code is nobody else's.
    async with database.transaction() as tx:
        assert not await factors.use_recovery_code(tx, people.colleague.user_id, codes[1])


async def test_the_secret_of_a_device_opens_for_its_owner_alone(database: Database, people: People):
    async with database.transaction() as tx:
        await factors.offer_totp(tx, SEAL, people.user)
        shown = await factors.show(tx, people.user.user_id)
    assert shown == factors.Factors(totp_since=None, passkeys=[], recovery_codes_left=0)


async def test_a_link_is_good_for_one_of_many(database: Database, people: People):
    async with database.transaction() as tx:
        link = await one_time_links.issue(
            tx,
            people.user.user_id,
            one_time_links.PASSWORD,
            NOW,
            lifetime=timedelta(minutes=1),
            public_url="http://x/",
        )
    token = link.url.split("token=")[1]
    assert link.url.startswith("http://x/reset-password#token=")

    async def spend() -> bool:
        try:
            async with database.transaction() as tx:
                return (
                    await one_time_links.spend(tx, token, one_time_links.PASSWORD, NOW) == people.user.user_id
                )
        except NotFound:
            return False

    assert sum(await asyncio.gather(*(spend() for _ in range(8)))) == 1


async def test_attempts_during_a_lock_do_not_prolong_it(database: Database):
    settings = SiteSettings(lock_attempts=3, lock_minutes=20)

    async def attempt(at: datetime, address: str = "") -> bool:
        try:
            async with database.transaction() as tx:
                await attempts.count(tx, settings, at, email="a@example.org", address=address)
            return True
        except attempts.TooManyAttempts:
            return False

    assert [await attempt(NOW) for _ in range(4)] == [True, True, True, False]
    for minute in range(1, 20):
        assert not await attempt(NOW + timedelta(minutes=minute))
    assert await attempt(NOW + timedelta(minutes=20, seconds=1))


async def test_two_who_share_an_address_and_an_account_never_wait_for_each_other(database: Database):
    settings = SiteSettings(lock_attempts=100, lock_address_attempts=1000)

    async def attempt(number: int) -> None:
        async with database.transaction() as tx:
            email, address = f"{number % 2}@example.org", f"192.0.2.{number % 3}"
            await attempts.count(tx, settings, NOW, email=email, address=address)

    async with asyncio.timeout(20):
        await asyncio.gather(*(attempt(number) for number in range(30)))


@pytest.mark.parametrize("address", ["", "192.0.2.1"])
async def test_what_succeeds_forgives_the_account_and_not_the_address(database: Database, address: str):
    settings = SiteSettings(lock_attempts=5, lock_address_attempts=5)
    async with database.transaction() as tx:
        for _ in range(4):
            await attempts.count(tx, settings, NOW, email="a@example.org", address=address)
        await attempts.count(tx, settings, NOW, email="a@example.org", address=address)
        await attempts.forgive(tx, email="a@example.org", address=address)
        await attempts.count(tx, settings, NOW, email="b@example.org", address=address)
    if address:
        with pytest.raises(attempts.TooManyAttempts):
            async with database.transaction() as tx:
                await attempts.count(tx, settings, NOW, email="c@example.org", address=address)
