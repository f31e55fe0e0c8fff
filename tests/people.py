"""Who is in the fixtures, and how tests wait for them."""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar, overload

from sqlalchemy import text

from carrel.core.clock import SystemClock
from carrel.core.ids import DomainId, ProjectId
from carrel.db.database import Database
from carrel.permissions.decide import Actor
from carrel.tenancy import service as tenancy

PASSWORD = "correct horse 9"

T = TypeVar("T")


@dataclass(frozen=True)
class People:
    """One of each: a superadmin and two users of different projects, and one of another domain."""

    domain: DomainId
    project: ProjectId
    other_project: ProjectId
    superadmin: Actor
    user: Actor
    colleague: Actor
    stranger: Actor
    foreigner: Actor


async def first_administrator(database: Database) -> Actor:
    """The superadmin of an installation, admin@example.org with PASSWORD; founded if there is nobody yet."""
    async with database.transaction() as tx:
        await tenancy.bootstrap(tx, SystemClock(), email="admin@example.org", password=PASSWORD)
    async with database.transaction() as tx:
        admin = await tenancy.user_by_email(tx, "admin@example.org")
        assert admin is not None
        return await tenancy.actor_of(tx, admin, credential="test", address="127.0.0.1")


@overload
async def eventually(
    claim: Callable[[], Awaitable[T]], *, within_s: float = 60.0, every_s: float = 0.02
) -> T: ...


@overload
async def eventually(claim: Callable[[], T], *, within_s: float = 60.0, every_s: float = 0.02) -> T: ...


async def eventually(
    claim: Callable[[], Awaitable[T] | T], *, within_s: float = 60.0, every_s: float = 0.02
) -> T:
    """The first true answer of the claim; fails when there is none in time."""
    deadline = asyncio.get_running_loop().time() + within_s
    while True:
        answer = claim()
        if inspect.isawaitable(answer):
            answer = await answer
        if answer:
            return answer
        assert asyncio.get_running_loop().time() < deadline, f"not in {within_s} s: {claim}"
        await asyncio.sleep(every_s)


def wait_until(claim: Callable[[], T], *, within_s: float = 60.0, every_s: float = 0.02) -> T:
    """`eventually` where there is no event loop."""
    deadline = time.monotonic() + within_s
    while True:
        answer = claim()
        if answer:
            return answer
        assert time.monotonic() < deadline, f"not in {within_s} s: {claim}"
        time.sleep(every_s)


async def stops_growing(count: Callable[[], int]) -> int:
    """The count, once it is more than 0 and stays the same for a while."""
    before = 0

    def stands_still() -> int:
        nonlocal before
        last, before = before, count()
        return before if before == last else 0

    return await eventually(stands_still, every_s=0.4)


async def waiting_for_locks(database: Database, count: int = 1) -> None:
    """Until so many connections to this database wait for a lock."""
    waiting = text(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    )

    async def wait() -> bool:
        async with database.transaction() as tx:
            return bool((await tx.execute(waiting)).scalar_one() >= count)

    await eventually(wait)
