"""Lists of sessions read what they show, not every session that there ever was."""

from session_kit import fill_history

from carrel.sessions import queries
from carrel.sessions.schemas import SessionQuery

_READ = """
    SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::text FROM pg_stat_user_tables
    WHERE relname IN ('sessions', 'containers')
"""


async def test_a_page_reads_few_rows_of_a_long_history(database, people):
    await fill_history(database, people, 20_000)

    async def rows_read() -> int:
        # The same connection that reads the page: it keeps its counts to itself for a second.
        await database.texts("SELECT pg_stat_force_next_flush()::text", {})
        return int((await database.texts(_READ, {}))[0])

    for actor, owner in ((people.user, "me"), (people.superadmin, "all")):
        before = await rows_read()
        await queries.page(database, actor, SessionQuery(state="all", owner=owner, limit=20))
        assert await rows_read() - before < 100, owner
