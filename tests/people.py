"""Who is in the fixtures, and how tests wait for them."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

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
        await tenancy.found(tx, SystemClock(), email="admin@example.org", password=PASSWORD)
    async with database.transaction() as tx:
        admin = await tenancy.user_by_email(tx, "admin@example.org")
        assert admin is not None
        return await tenancy.actor_of(tx, admin, credential="test", address="127.0.0.1")


async def eventually(
    claim: Callable[[], Awaitable[T]], *, within_s: float = 60.0, every_s: float = 0.02
) -> T:
    """The first true answer of the claim; fails when there is none in time."""
    deadline = asyncio.get_running_loop().time() + within_s
    while True:
        answer = await claim()
        if answer:
            return answer
        assert asyncio.get_running_loop().time() < deadline, f"not in {within_s} s: {claim}"
        await asyncio.sleep(every_s)
