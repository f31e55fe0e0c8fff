"""The chain of the audit trail: what is sealed, in which order, and what gives an alteration away."""

import hashlib

import psycopg
import pytest
from audit_kit import faults, intruder, links, places, seal, sealed, write
from databases import sql
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from carrel.audit import chain, proof, sealing, service
from carrel.audit.chain import ChainLink
from carrel.db.database import Database
from carrel.tables.audit import AuditEntry

_FIELDS = {column.name for column in AuditEntry.__table__.columns} - {"position", "hash"}
_CHANGES = {
    "id": "id + 1000000",
    "xid": "(xid::text::bigint + 1)::text::xid8",
    "at": "at + interval '1 microsecond'",
    "details": "details || '{\"n\": 99}'",
}


async def test_a_hash_is_of_the_line_that_the_reference_describes(database: Database, people):
    await sealed(database, people.user, 3)
    async with database.transaction() as tx:
        rows = (
            await tx.execute(text(f"SELECT hash, {chain.ENTRY} AS entry FROM audit a ORDER BY position"))
        ).all()
    before = "0" * 64
    for position, row in enumerate(rows, 1):
        before = hashlib.sha256(f"{before} {position} {row.entry}".encode()).hexdigest()
        assert row.hash.hex() == before


async def test_what_is_sealed_is_proven(database: Database, people):
    await sealed(database, people.user, 7)
    for batch in (1, 2, 3, 7, 100):
        assert await faults(database, batch=batch) == []
    async with database.transaction() as tx:
        complete = await proof.check(tx, after=0)
    assert (complete.checked, complete.reached, complete.done, complete.waiting) == (7, 7, True, 0)
    assert complete.head == (await links(database))[-1]


async def test_an_empty_trail_is_proven(database: Database):
    async with database.transaction() as tx:
        empty = await proof.check(tx, after=0)
    assert (empty.checked, empty.done, empty.head, empty.faults) == (0, True, chain.START, [])


@pytest.mark.parametrize("field", sorted(_FIELDS))
async def test_an_altered_field_is_found_where_it_is(database: Database, people, field: str):
    await sealed(database, people.user, 5)
    with intruder(database.url) as connection:
        change = _CHANGES.get(field, f"coalesce({field}, '') || 'x'")
        connection.execute(f"UPDATE audit SET {field} = {change} WHERE position = 3")
    assert await places(database) == [("altered", 3)]
    assert await places(database, batch=1) == [("altered", 3)]


async def test_a_row_altered_and_hashed_anew_breaks_the_link_to_the_next(database: Database, people):
    await sealed(database, people.user, 5)
    with intruder(database.url) as connection:
        connection.execute("UPDATE audit SET object_name = 'other' WHERE position = 3")
        connection.execute(f"""UPDATE audit a SET hash = sha256(convert_to(
            (SELECT encode(hash, 'hex') FROM audit WHERE position = 2) || ' 3 ' || {chain.ENTRY}, 'UTF8'))
            WHERE position = 3""")
    assert await places(database) == [("altered", 4)]


@pytest.mark.parametrize("batch", [1, 2, 100])
async def test_a_deleted_row_is_missing_where_it_was(database: Database, people, batch: int):
    await sealed(database, people.user, 9)
    with intruder(database.url) as connection:
        connection.execute("DELETE FROM audit WHERE position IN (1, 4, 6, 7)")
    reported = await faults(database, batch=batch)
    assert [(fault.kind, fault.position) for fault in reported] == [
        ("missing", 1),
        ("missing", 4),
        ("missing", 6),
    ]
    assert reported[2].sentence == "Entries 6 to 7 are missing."


async def test_a_long_gap_is_one_fault_whatever_the_batch(database: Database, people):
    await sealed(database, people.user, 9)
    with intruder(database.url) as connection:
        connection.execute("DELETE FROM audit WHERE position BETWEEN 2 AND 8")
    assert await places(database, batch=2) == [("missing", 2)]


async def test_rows_that_changed_places_are_found_at_both(database: Database, people):
    await sealed(database, people.user, 6)
    with intruder(database.url) as connection:
        connection.execute("UPDATE audit SET position = -1 WHERE position = 2")
        connection.execute("UPDATE audit SET position = 2 WHERE position = 4")
        connection.execute("UPDATE audit SET position = 4 WHERE position = -1")
    assert {("altered", 2), ("altered", 4)} <= set(await places(database))


async def test_a_row_added_behind_the_end_is_found(database: Database, people):
    await sealed(database, people.user, 4)
    with intruder(database.url) as connection:
        connection.execute("""INSERT INTO audit
            (action, object_id, outcome, credential, address, details, position, hash)
            VALUES ('user.appoint', 'me', 'done', '', '', '{}', 5, sha256('x'))""")
    assert await places(database) == [("altered", 5)]


async def test_a_cut_end_is_found_by_who_kept_a_head(database: Database, people):
    await sealed(database, people.user, 6)
    kept = (await links(database))[-1]
    with intruder(database.url) as connection:
        connection.execute("DELETE FROM audit WHERE position > 4")
    assert await places(database) == []
    for batch in (2, 100):
        reported = await faults(database, expected=kept, batch=batch)
        assert [(fault.kind, fault.position) for fault in reported] == [("cut", 5)]


async def test_a_chain_made_anew_is_found_by_who_kept_a_head(database: Database, people):
    await sealed(database, people.user, 6)
    kept = await links(database)
    with intruder(database.url) as connection:
        connection.execute("UPDATE audit SET position = NULL, hash = NULL, address = '' WHERE position >= 3")
    await seal(database)
    assert await faults(database) == []
    assert await faults(database, expected=kept[1]) == []
    reported = await faults(database, expected=kept[4])
    assert [(fault.kind, fault.position) for fault in reported] == [("rewritten", 5)]


async def test_a_kept_head_holds_as_the_chain_grows(database: Database, people):
    await sealed(database, people.user, 3)
    kept = (await links(database))[-1]
    await sealed(database, people.user, 3)
    assert await faults(database, expected=kept, batch=2) == []
    assert [f.kind for f in await faults(database, expected=ChainLink(3, bytes(32)))] == ["rewritten"]


@pytest.mark.parametrize("trigger", ["audit_is_kept", "audit_is_never_emptied"])
async def test_a_guard_that_was_switched_off_is_told(database: Database, people, trigger: str):
    await sealed(database, people.user, 1)
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute(f"ALTER TABLE audit DISABLE TRIGGER {trigger}")
    assert [kind for kind, _ in await places(database)] == ["unguarded"]


async def test_a_beginning_that_retention_did_not_cut_is_told(database: Database, people):
    await sealed(database, people.user, 6)
    third = (await links(database))[2]
    with intruder(database.url) as connection:
        connection.execute("DELETE FROM audit WHERE position <= 3")
        connection.execute("INSERT INTO audit_anchor VALUES (1, 3, %s, now())", (third.hash,))
    assert await places(database) == [("cut", 3)]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit SET address = 'x'",
        "UPDATE audit SET position = NULL, hash = NULL",
        "UPDATE audit SET position = position + 100",
        "UPDATE audit SET hash = sha256('x')",
        "UPDATE audit SET position = 99, address = 'x' WHERE position IS NULL",
        "DELETE FROM audit",
        "DELETE FROM audit WHERE position IS NULL",
        "TRUNCATE audit",
    ],
)
async def test_nobody_alters_the_trail_through_the_product(database: Database, people, statement: str):
    await sealed(database, people.user, 2)
    await write(database, people.user, 1)
    with pytest.raises(DBAPIError, match="never altered"):
        await sql(database, statement)
    await seal(database)
    assert len(await links(database)) == 3
    assert await faults(database) == []


async def test_entries_wait_for_an_older_transaction_that_may_still_write(database: Database, people):
    async with database.transaction() as older:
        service.record(older, people.user, "session.create", "first")
        await older.flush()
        await write(database, people.user, 1)
        async with database.transaction() as tx:
            waiting = await sealing.load(tx)
        assert (list(waiting.entries), waiting.held) == ([], True)
    await seal(database)
    async with database.transaction() as tx:
        order = await tx.execute(text("SELECT object_id FROM audit ORDER BY position"))
        assert list(order.scalars()) == ["first", "session0"]


async def test_entries_of_another_servers_dump_are_sealed(database: Database, people):
    await write(database, people.user, 3)
    with intruder(database.url) as connection:
        connection.execute("UPDATE audit SET xid = '99999999999'::xid8 WHERE object_id = 'session1'")
    await seal(database)
    assert len(await links(database)) == 3


async def test_of_two_who_seal_the_same_one_does(database: Database, people):
    await write(database, people.user, 4)
    async with database.transaction() as tx:
        unsealed = await sealing.load(tx)
    seals = sealing.decide(unsealed)
    async with database.transaction() as tx:
        assert await sealing.apply(tx, unsealed, seals)
    async with database.transaction() as tx:
        assert not await sealing.apply(tx, unsealed, seals)
    assert await faults(database) == []


async def test_a_batch_that_is_not_all_there_is_not_sealed_at_all(database: Database, people):
    await write(database, people.user, 4)
    async with database.transaction() as tx:
        unsealed = await sealing.load(tx)
    with intruder(database.url) as connection:
        connection.execute("DELETE FROM audit WHERE object_id = 'session2'")
    async with database.transaction() as tx:
        assert not await sealing.apply(tx, unsealed, sealing.decide(unsealed))
    assert await links(database) == []
