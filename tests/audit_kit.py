"""What tests of the audit trail write, seal, alter and look through."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from sqlalchemy import text

from carrel.audit import proof, sealing, service
from carrel.audit.chain import ChainLink
from carrel.audit.proof import Fault
from carrel.db.database import Database
from carrel.permissions.decide import Actor


async def write(database: Database, actor: Actor, count: int, *, name: str = "desk") -> None:
    """Entries, each in a transaction of its own."""
    for number in range(count):
        async with database.transaction() as tx:
            service.record(
                tx,
                actor,
                "session.create",
                f"session{number}",
                name=f"{name}-{number}",
                details={"image": "debian:12", "share": 0.30, "text": 'é\n한\u2028"\\', "n": number},
            )


async def seal(database: Database) -> None:
    """All that can be sealed, without a leader."""
    while True:
        async with database.transaction() as tx:
            unsealed = await sealing.load(tx)
            if not unsealed.entries:
                return
            assert await sealing.apply(tx, unsealed, sealing.decide(unsealed))


async def sealed(database: Database, actor: Actor, count: int) -> None:
    await write(database, actor, count)
    await seal(database)


async def faults(
    database: Database, *, expected: ChainLink | None = None, batch: int = proof.BATCH
) -> list[Fault]:
    """What is wrong with the whole chain."""
    faults_of_parts: list[Fault] = []
    after = 0
    while True:
        async with database.transaction() as tx:
            part = await proof.check(tx, after=after, expected=expected, batch=batch)
        faults_of_parts += part.faults
        if part.done:
            return faults_of_parts
        assert part.reached > after
        after = part.reached


async def places(database: Database, *, batch: int = proof.BATCH) -> list[tuple[str, int]]:
    """Kind and position of each fault."""
    return [(str(fault.kind), fault.position) for fault in await faults(database, batch=batch)]


async def links(database: Database) -> list[ChainLink]:
    """Every sealed place, in order."""
    async with database.transaction() as tx:
        rows = await tx.execute(
            text("SELECT position, hash FROM audit WHERE position IS NOT NULL ORDER BY position")
        )
        return [ChainLink(row.position, bytes(row.hash)) for row in rows]


@contextmanager
def intruder(url: str) -> Iterator[psycopg.Connection]:  # type: ignore[type-arg]
    """A superuser of the database who has switched the triggers off for themselves."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        yield connection
