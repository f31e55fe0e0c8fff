"""Lists of sessions read what they show, not every session that there ever was."""

from sqlalchemy import text

from carrel.server import metadata as metadata  # all tables, because of foreign keys
from carrel.sessions import queries

_FILL = """
    WITH filled AS (
        INSERT INTO sessions (id, name, kind, owner_id, project_id, domain_id, image, apps, slots, spec, state,
            warnings, force, attempts, restarts, created_at, ended_at)
        SELECT 'a' || translate(lpad(to_hex(n), 11, '0'), '0189', 'ghij'), 'desk-' || n, 'interactive', :user,
            :project, :domain, 'debian:12', '[]', '{}', '{}', 'TERMINATED', '[]', false, 0, 0,
            now() - n * interval '30 s', now()
        FROM generate_series(1, 20000) n RETURNING *
    )
    INSERT INTO containers (id, session_id, role, index, image, slots, state, ended_at)
    SELECT id, id, 'main', 0, image, slots, 'GONE', ended_at FROM filled
"""
_READ = """
    SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::text FROM pg_stat_user_tables
    WHERE relname IN ('sessions', 'containers')
"""


async def test_a_page_reads_few_rows_of_a_long_history(database, people):
    async with database.transaction() as tx:
        await tx.execute(
            text(_FILL),
            {"user": people.user.user_id, "project": people.project, "domain": people.domain},
        )
    async with database.transaction() as tx:
        await tx.execute(text("ANALYZE sessions, containers"))

    async def rows_read() -> int:
        # The same connection that reads the page: it keeps its counts to itself for a second.
        await database.texts("SELECT pg_stat_force_next_flush()::text", {})
        return int((await database.texts(_READ, {}))[0])

    for actor, owner in ((people.user, "me"), (people.superadmin, "all")):
        before = await rows_read()
        await queries.page(database, actor, states=None, search=None, owner=owner, limit=20, cursor=None)
        assert await rows_read() - before < 100, owner
