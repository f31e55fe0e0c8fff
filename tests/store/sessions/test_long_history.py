"""Lists of sessions read what they show, not every session that there ever was."""

import orjson
from databases import sql
from session_kit import fill_history

from carrel.db.database import Database
from carrel.sessions import arrays, session_json
from carrel.sessions.schemas import CountQuery, SessionQuery

_READ = """
    SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::text FROM pg_stat_user_tables
    WHERE relname IN ('sessions', 'containers')
"""


async def _rows_read(database: Database) -> int:
    # The same connection that reads the page: it keeps its counts to itself for a second.
    await database.texts("SELECT pg_stat_force_next_flush()::text", {})
    return int((await database.texts(_READ, {}))[0])


async def test_a_page_reads_few_rows_of_a_long_history(database, people):
    await fill_history(database, people, 20_000)
    for actor, owner in ((people.user, "me"), (people.superadmin, "all")):
        before = await _rows_read(database)
        await session_json.page(database, actor, SessionQuery(state="all", owner=owner, limit=20))
        assert await _rows_read(database) - before < 100, owner


async def test_counts_read_the_newest_rows_of_a_long_history(database, people):
    await fill_history(database, people, 20_000)
    for state in ("ended", "all", "ERROR"):
        for actor, owner in ((people.user, "me"), (people.superadmin, "all")):
            before = await _rows_read(database)
            counted = await session_json.counts(database, actor, CountQuery(state=state, owner=owner))
            assert await _rows_read(database) - before < session_json.COUNTED + 100, (state, owner)
            assert not counted.complete
            assert [one.count for one in counted.kinds] == (
                [] if state == "ERROR" else [session_json.COUNTED]
            )


_TO_ARRAYS = """
    WITH numbered AS (
        SELECT id, row_number() OVER (ORDER BY created_at DESC) - 1 AS n FROM sessions
    ), arrays AS (
        INSERT INTO session_arrays (id, name, first_index, last_index)
        SELECT id, 'a-' || n, 0, 999 FROM numbered WHERE n % 1000 = 0 RETURNING id
    )
    UPDATE sessions s SET array_index = m.n % 1000, array_id = f.id
    FROM numbered m JOIN numbered f ON f.n = m.n - m.n % 1000 WHERE m.id = s.id
"""


async def test_a_page_of_arrays_reads_none_of_their_other_sessions(database, people):
    await fill_history(database, people, 20_000)
    await sql(database, _TO_ARRAYS)
    async with database.transaction() as tx:
        await arrays.add_up_counts(tx)
    for state in ("all", "ended", "live"):
        for actor, owner in ((people.user, "me"), (people.superadmin, "all")):
            before = await _rows_read(database)
            page = await session_json.page(database, actor, SessionQuery(state=state, owner=owner, limit=1))
            assert len(orjson.loads(page)["items"]) == (state != "live")
            assert await _rows_read(database) - before < 100, (state, owner)
