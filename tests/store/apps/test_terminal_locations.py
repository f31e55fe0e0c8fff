"""Which copy of the API is found for a terminal."""

from datetime import timedelta

from databases import scalar, sql
from people import People
from session_kit import enqueue

from carrel.apps.terminal_locations import TerminalLocations
from carrel.core.clock import SystemClock
from carrel.core.ids import new_id
from carrel.db.database import Database


async def test_a_copy_that_confirms_no_longer_is_not_found(
    database: Database, people: People, clock: SystemClock
):
    await enqueue(database, people.user)
    container = await scalar(database, "SELECT id FROM containers")
    terminal, user = new_id(), people.user.user_id
    owner, other = (TerminalLocations(database, clock, f"http://10.0.0.{number}") for number in (1, 2))
    await owner.record(terminal, container, user)
    there = (owner.copy_id, "http://10.0.0.1")
    assert await other.elsewhere(terminal, container, user) == there
    assert await owner.elsewhere(terminal, container, user) is None
    await sql(database, "UPDATE terminals SET seen_at = seen_at - :age", age=timedelta(minutes=3))
    assert await other.elsewhere(terminal, container, user) is None
    await owner.confirm()
    assert await other.elsewhere(terminal, container, user) == there
