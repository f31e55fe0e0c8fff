"""Sealing at work: woken by commits, beside writers, through crashes; and retention."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
from audit_kit import faults, intruder, links, places, seal, write
from controller_kit import tools
from databases import scalar
from people import eventually
from sqlalchemy import text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import DBAPIError

from carrel.audit import retention, sealing, service
from carrel.controllers import audit_sealing as sealing_controller
from carrel.controllers import loop
from carrel.controllers.audit_sealing import AuditSealing
from carrel.controllers.housekeeping import Housekeeping
from carrel.core.clock import SystemClock
from carrel.db.database import Database
from carrel.db.leader import Leader, LeadershipLost, lead
from carrel.db.listener import Listener
from carrel.tables.site import SiteRow

NOW = datetime(2026, 6, 15, 13, 30, tzinfo=UTC)


@pytest.fixture
async def leader(database: Database) -> AsyncIterator[Leader]:
    leader = await lead(database.url)
    yield leader
    await leader.resign()


def _controller(database: Database, leader: Leader) -> AuditSealing:
    return AuditSealing(tools(database, leader))


async def _count(database: Database, where: str = "true") -> int:
    return int(await scalar(database, f"SELECT count(*) FROM audit WHERE {where}"))


async def test_a_commit_wakes_the_sealer(
    database: Database, leader: Leader, people, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sealing_controller, "_TICK_S", 3600.0)
    listener = Listener(database.url)
    controller = _controller(database, leader)
    tasks = [asyncio.create_task(listener.run()), asyncio.create_task(loop.run(controller, listener))]
    await listener.connected.wait()

    async def all_sealed() -> bool:
        return await _count(database, "position IS NULL") == 0 and await _count(database) > 0

    try:
        for _ in range(3):
            await write(database, people.user, 1)
            await eventually(all_sealed)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def test_many_writers_are_sealed_without_a_hole_while_they_write(
    database: Database, leader: Leader, people
):
    controller = _controller(database, leader)
    busy = True

    async def writer(number: int) -> None:
        for each in range(25):
            async with database.transaction() as tx:
                service.record(tx, people.user, "session.create", f"{number}-{each}")
                await tx.flush()
                await tx.execute(text("SELECT pg_sleep(:s)"), {"s": 0.002 * (number % 3)})
                if each % 7 == 0:
                    # Ids are used up without a row.
                    await tx.rollback()

    async def sealer() -> None:
        while busy:
            await controller.step()
            await asyncio.sleep(0)

    sealing_beside = asyncio.create_task(sealer())
    await asyncio.gather(*(writer(number) for number in range(8)))
    busy = False
    await sealing_beside
    await controller.step()
    written = await _count(database)
    assert written == 8 * 21
    assert [link.position for link in await links(database)] == list(range(1, written + 1))
    assert await faults(database) == []


async def test_more_than_a_batch_is_sealed_in_one_step(
    database: Database, leader: Leader, people, monkeypatch
):
    await write(database, people.user, 25)
    monkeypatch.setattr(sealing, "_UNSEALED", text(sealing._UNSEALED.text.replace("LIMIT 1000", "LIMIT 10")))
    monkeypatch.setattr(sealing, "BATCH", 10)
    await _controller(database, leader).step()
    assert len(await links(database)) == 25
    assert await faults(database) == []


@pytest.mark.parametrize("point", range(1, 10))
async def test_a_sealer_that_dies_at_any_commit_leaves_a_whole_chain(
    database: Database, leader: Leader, people, point: int, monkeypatch
):
    monkeypatch.setattr(sealing, "_UNSEALED", text(sealing._UNSEALED.text.replace("LIMIT 1000", "LIMIT 2")))
    monkeypatch.setattr(sealing, "BATCH", 2)
    await write(database, people.user, 4)
    reached = 0

    class Died(BaseException):
        pass

    def fate(_: str) -> None:
        nonlocal reached
        reached += 1
        if reached == point:
            raise Died

    mortal = Database(database.url, commit_hook=fate)
    with pytest.raises(Died):
        await _controller(mortal, leader).step()
    await mortal.close()
    assert await faults(database) == []
    await _controller(database, leader).step()
    assert [link.position for link in await links(database)] == [1, 2, 3, 4]
    assert await faults(database) == []


async def test_a_sealer_who_was_replaced_seals_nothing(database: Database, leader: Leader, people):
    await write(database, people.user, 2)
    old = _controller(database, leader)
    await leader.resign()
    new = await lead(database.url)
    with pytest.raises(LeadershipLost):
        await old.step()
    assert await links(database) == []
    await _controller(database, new).step()
    assert len(await links(database)) == 2
    await new.resign()


async def test_what_is_held_back_is_looked_at_again_soon(database: Database, leader: Leader, people):
    controller = _controller(database, leader)
    async with database.transaction() as older:
        await older.execute(text("SELECT pg_current_xact_id()"))
        await write(database, people.user, 1)
        pauses = []
        for _ in range(10):
            await controller.step()
            pauses.append(controller.tick_s)
    assert pauses[0] < 0.1
    assert pauses == sorted(pauses)
    assert pauses[-1] == 1.0
    await controller.step()
    assert len(await links(database)) == 1
    assert controller.tick_s == 5.0


async def _aged(database: Database, people, days: list[int]) -> None:
    """Sealed entries of that age."""
    for age in days:
        await write(database, people.user, 1)
        with intruder(database.url) as connection:
            connection.execute(
                "UPDATE audit SET at = %s WHERE position IS NULL", (NOW - timedelta(days=age),)
            )
        await seal(database)


async def _cut(database: Database, days: int = 30) -> bool:
    async with database.transaction() as tx:
        return await retention.cut(tx, before=retention.oldest_kept(NOW, days), now=NOW)


async def test_retention_cuts_the_oldest_and_says_so(database: Database, people):
    await _aged(database, people, [90, 60, 40, 20, 1])
    kept = await links(database)
    assert not await _cut(database)
    async with database.transaction() as tx:
        noted = (await tx.execute(text("SELECT * FROM audit WHERE action = 'audit.prune'"))).one()
    assert noted.details["entries"] == 3
    assert (noted.details["position"], noted.details["hash"]) == (3, kept[2].hash.hex())
    await seal(database)
    assert [link.position for link in await links(database)] == [4, 5, 6]
    for batch in (1, 100):
        assert await faults(database, batch=batch) == []
    assert await faults(database, expected=kept[2]) == []
    assert await faults(database, expected=kept[3]) == []
    assert [f.kind for f in await faults(database, expected=kept[1])] == ["cut"]


async def test_retention_goes_on_in_batches_until_nothing_is_old(database: Database, people, monkeypatch):
    await _aged(database, people, [90, 80, 70, 60, 50, 1])
    monkeypatch.setattr(retention, "BATCH", 2)
    more = [await _cut(database) for _ in range(4)]
    assert more == [True, True, False, False]
    await seal(database)
    assert [link.position for link in await links(database)] == [6, 7, 8, 9]
    assert await faults(database) == []


async def test_retention_never_reaches_over_an_entry_that_is_kept(database: Database, people):
    await _aged(database, people, [90, 10, 80, 1])
    await _cut(database)
    await seal(database)
    assert [link.position for link in await links(database)] == [2, 3, 4, 5]


async def test_retention_leaves_what_is_not_sealed(database: Database, people):
    await write(database, people.user, 2)
    with intruder(database.url) as connection:
        connection.execute("UPDATE audit SET at = at - interval '90 days'")
    assert not await _cut(database)
    assert await _count(database) == 2


async def test_a_trail_that_is_cut_to_nothing_goes_on_where_it_was(database: Database, people):
    await _aged(database, people, [90, 80])
    await _cut(database)
    await seal(database)
    assert [link.position for link in await links(database)] == [3]
    assert await faults(database) == []


async def test_one_who_deletes_after_retention_is_refused(database: Database, people):
    await _aged(database, people, [90, 1])
    async with database.transaction() as tx:
        await retention.cut(tx, before=retention.oldest_kept(NOW, 30), now=NOW)
        with pytest.raises(DBAPIError, match="never altered"):
            await tx.execute(text("DELETE FROM audit"))
        await tx.rollback()
    assert await places(database) == []


async def test_housekeeping_keeps_as_long_as_the_site_says(
    database: Database, leader: Leader, people, monkeypatch
):
    now = SystemClock().now()
    await _aged(database, people, [90, 60, 0])
    with intruder(database.url) as connection:
        shift = now - NOW
        connection.execute("UPDATE audit SET at = at + %s, position = NULL, hash = NULL", (shift,))
    await seal(database)
    housekeeping = Housekeeping(tools(database, leader))
    await housekeeping.step()
    assert len(await links(database)) == 3
    async with database.transaction() as tx:
        await tx.execute(
            insert(SiteRow)
            .values(id=1, values={"audit_retention_days": 30})
            .on_conflict_do_update(index_elements=["id"], set_={"values": {"audit_retention_days": 30}})
        )
    monkeypatch.setattr(retention, "BATCH", 1)
    await housekeeping.step()
    await seal(database)
    assert [link.position for link in await links(database)] == [3, 4, 5]
    assert await faults(database) == []
    await housekeeping.step()
    assert await _count(database) == 3


def test_retention_counts_whole_days():
    assert retention.oldest_kept(NOW, 30) == datetime(2026, 5, 16, tzinfo=UTC)
