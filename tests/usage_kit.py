"""Sessions that ran in the past, with their allocations and samples, written straight to the database."""

from datetime import datetime, timedelta
from typing import Any

from databases import sql
from people import People
from session_kit import main_of, rows

from carrel.db.database import Database
from carrel.permissions.decide import Actor
from carrel.tables.session_states import SessionState
from carrel.usage import packing

GIB = 1 << 30
SLOTS = {"cpu": 2000, "mem": 4 * GIB}


async def ran(
    database: Database,
    people: People,
    start: datetime,
    end: datetime | None,
    *,
    slots: dict[str, int] = SLOTS,
    owner: Actor | None = None,
    waited_s: float = 0,
    **values: Any,
) -> tuple[str, str]:
    """The ids of a session and its container. end: None while it runs; values: columns of the session."""
    session, main = rows(
        people,
        slots=slots,
        state=SessionState.TERMINATED if end else SessionState.RUNNING,
        created_at=start - timedelta(seconds=waited_s),
        ended_at=end,
        **({"owner_id": owner.user_id, "domain_id": owner.domain_id} if owner else {}),
        **values,
    )
    async with database.transaction() as tx:
        tx.add(session)
        await tx.flush()
        tx.add(main)
    await allocated(database, session.id, start, end, slots)
    return session.id, main_of(session.id)


async def allocated(
    database: Database, session: str, start: datetime, end: datetime | None, slots: dict[str, int] = SLOTS
) -> None:
    """One allocation per slot of its main container."""
    await sql(
        database,
        "INSERT INTO nodes (id, engine_id, name, architecture, engine_version, slots, capabilities, state, seen_at)"
        " VALUES ('n1', 'local', 'n1', 'x86_64', 'Fake 1', '{}', '[]', 'READY', now()) ON CONFLICT DO NOTHING",
    )
    for slot, amount in slots.items():
        await sql(
            database,
            "INSERT INTO allocations (session_id, container_id, node_id, slot, amount, created_at, released_at)"
            " SELECT session_id, id, 'n1', :slot, :amount, :start, :end FROM containers WHERE session_id = :session",
            slot=slot,
            amount=amount,
            start=start,
            end=end,
            session=session,
        )


async def sampled(
    database: Database, container: str, start: datetime, end: datetime, **measures: int | None
) -> None:
    """A sample every ten seconds, all alike."""
    values = {"cpu_millis": 0, "mem_bytes": 0, **measures}
    await sql(
        database,
        f"INSERT INTO usage_samples (container_id, at, {', '.join(values)})"
        f" SELECT :container, at, {', '.join(f':{name}' for name in values)}"
        " FROM generate_series(CAST(:start AS timestamptz), CAST(:end AS timestamptz) - interval '1 second',"
        " interval '10 seconds') at",
        container=container,
        start=start,
        end=end,
        **values,
    )


async def packed(database: Database, now: datetime) -> None:
    """Pack all hours that have ended, as the controller does."""
    more = True
    while more:
        async with database.transaction() as tx:
            more = await packing.advance(tx, now)
